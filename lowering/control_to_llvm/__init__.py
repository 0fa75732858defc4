"""Functions that branch and call become one function over frames and a heap."""

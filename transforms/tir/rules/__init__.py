"""Schedule rules: each looks at the accesses of a function's blocks, never at what operator they come from."""

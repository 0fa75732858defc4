"""A graph of kernel calls becomes a sequence of calls over one planned arena."""

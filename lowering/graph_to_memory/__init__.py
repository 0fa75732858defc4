"""A graph of kernel calls becomes one over buffers."""

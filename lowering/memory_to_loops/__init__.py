"""A graph over buffers with places becomes a sequence of calls on one arena."""

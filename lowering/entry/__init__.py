"""The function that the runtime calls."""

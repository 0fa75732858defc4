"""How threads share the work of a loop, and where they come from."""

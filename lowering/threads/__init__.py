"""How threads share the work of a loop."""

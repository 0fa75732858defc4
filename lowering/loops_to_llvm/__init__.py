"""Loops to the `llvm` dialect."""

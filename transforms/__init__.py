"""Passes that keep their dialect, and the infrastructure that runs them."""

"""Relay -> Relay passes."""

PASSES: dict[str, str] = {}
"""Pass name -> `module:Class`, the module relative to this package."""

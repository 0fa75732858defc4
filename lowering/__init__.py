"""Passes that change dialect, the phases, targets, and the emission of machine code."""

PASSES: dict[str, str] = {}
"""Pass name -> `module:Class`, the module relative to this package."""

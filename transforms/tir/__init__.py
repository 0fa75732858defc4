"""TIR -> TIR passes and the schedule primitives."""

PASSES: dict[str, str] = {}
"""Pass name -> `module:Class`, the module relative to this package."""

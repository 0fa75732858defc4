"""Passes on graphs over buffers: which copies are needed, and where buffers lie."""

PASSES: dict[str, str] = {
    "elide-copies": "elide_copies:ElideCopiesPass",
    "write-in-place": "write_in_place:WriteInPlacePass",
    "plan-memory": "plan_memory:PlanMemoryPass",
}
"""Pass name -> `module:Class`, the module relative to this package."""

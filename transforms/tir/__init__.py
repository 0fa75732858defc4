"""TIR -> TIR passes and the schedule primitives."""

PASSES: dict[str, str] = {
    "apply-schedule": "apply_schedule:ApplySchedulePass",
    "insert-bounds-checks": "insert_bounds_checks:InsertBoundsChecksPass",
    "loop-partition": "loop_partition:LoopPartitionPass",
    "schedule-rules": "schedule_rules:ScheduleRulesPass",
}
"""Pass name -> `module:Class`, the module relative to this package."""

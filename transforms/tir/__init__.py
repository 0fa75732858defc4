"""TIR -> TIR passes and the schedule primitives."""

PASSES: dict[str, str] = {
    "apply-schedule": "apply_schedule:ApplySchedulePass",
    "convert-for-loops-to-serial": "convert_for_loops_to_serial:ConvertForLoopsToSerialPass",
    "insert-bounds-checks": "insert_bounds_checks:InsertBoundsChecksPass",
    "loop-partition": "loop_partition:LoopPartitionPass",
    "schedule-rules": "schedule_rules:ScheduleRulesPass",
    "unroll-loop": "unroll_loop:UnrollLoopPass",
}
"""Pass name -> `module:Class`, the module relative to this package."""

"""TIR -> TIR passes and the schedule primitives."""

PASSES: dict[str, str] = {
    "apply-schedule": "apply_schedule:ApplySchedulePass",
    "attach-tuned-schedules": "attach_tuned_schedules:AttachTunedSchedulesPass",
    "bind-target": "bind_target:BindTargetPass",
    "common-subexpr-elim-tir": "common_subexpr_elim_tir:CommonSubexprElimTIRPass",
    "compact-buffer-allocation": "compact_buffer_allocation:CompactBufferAllocationPass",
    "convert-blocks-to-opaque": "convert_blocks_to_opaque:ConvertBlocksToOpaquePass",
    "convert-for-loops-to-serial": "convert_for_loops_to_serial:ConvertForLoopsToSerialPass",
    "flatten-buffer": "flatten_buffer:FlattenBufferPass",
    "gpu-schedule-rules": "gpu_schedule_rules:GPUScheduleRulesPass",
    "inject-virtual-thread": "inject_virtual_thread:InjectVirtualThreadPass",
    "hoist-expression": "hoist_expression:HoistExpressionPass",
    "hoist-if-then-else": "hoist_if_then_else:HoistIfThenElsePass",
    "inject-software-pipeline": "inject_software_pipeline:InjectSoftwarePipelinePass",
    "insert-bounds-checks": "insert_bounds_checks:InsertBoundsChecksPass",
    "keep-roundings": "keep_roundings:KeepRoundingsPass",
    "loop-partition": "loop_partition:LoopPartitionPass",
    "lower-cross-thread-reduction": "lower_cross_thread_reduction:LowerCrossThreadReductionPass",
    "lower-init-block": "lower_init_block:LowerInitBlockPass",
    "lower-opaque-block": "lower_opaque_block:LowerOpaqueBlockPass",
    "plan-and-update-buffer-allocation-location": (
        "plan_and_update_buffer_allocation_location:PlanAndUpdateBufferAllocationLocationPass"
    ),
    "reduce-branching-through-overcompute": (
        "reduce_branching_through_overcompute:ReduceBranchingThroughOvercomputePass"
    ),
    "remove-assume": "remove_assume:RemoveAssumePass",
    "remove-no-op": "remove_no_op:RemoveNoOpPass",
    "remove-store-undef": "remove_store_undef:RemoveStoreUndefPass",
    "schedule-rules": "schedule_rules:ScheduleRulesPass",
    "simplify": "simplify:SimplifyPass",
    "skip-assert": "skip_assert:SkipAssertPass",
    "storage-flatten": "storage_flatten:StorageFlattenPass",
    "storage-rewrite": "storage_rewrite:StorageRewritePass",
    "thread-sync": "thread_sync:ThreadSyncPass",
    "unify-thread-binding": "unify_thread_binding:UnifyThreadBindingPass",
    "unroll-loop": "unroll_loop:UnrollLoopPass",
    "vectorize-loop": "vectorize_loop:VectorizeLoopPass",
    "verify-gpu-code": "verify_gpu_code:VerifyGPUCodePass",
    "verify-memory": "verify_memory:VerifyMemoryPass",
}
"""Pass name -> `module:Class`, the module relative to this package."""

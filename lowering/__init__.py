"""Passes that change dialect, the phases, targets, and the emission of machine code."""

PASSES: dict[str, str] = {
    "attach-schedules": "relay_to_tir.attach_schedules:AttachSchedulesPass",
    "lower-te": "relay_to_tir.lower_te:LowerTEPass",
    "convert-tir-to-loops": "tir_to_loops.convert_tir_to_loops:ConvertTirToLoopsPass",
    "convert-tir-to-gpu": "tir_to_gpu.convert_tir_to_gpu:ConvertTirToGPUPass",
    "prefetch-streams": "tir_to_loops.prefetch_streams:PrefetchStreamsPass",
    "verify-loop-accesses": "verify_loop_accesses:VerifyLoopAccessesPass",
    "insert-loop-checks": "insert_loop_checks:InsertLoopChecksPass",
    "bufferize-graph": "graph_to_memory.bufferize_graph:BufferizeGraphPass",
    "materialize-memory": "memory_to_loops.materialize_memory:MaterializeMemoryPass",
    "convert-control-to-llvm": "control_to_llvm.convert_control_to_llvm:ConvertControlToLLVMPass",
    "expand-math": "math.expand_math:ExpandMathPass",
    "convert-loops-to-llvm": "loops_to_llvm.convert_loops_to_llvm:ConvertLoopsToLLVMPass",
    "add-entry-point": "entry.add_entry_point:AddEntryPointPass",
}
"""Pass name -> `module:Class`, the module relative to this package."""

"""Relay -> Relay passes."""

PASSES: dict[str, str] = {
    "alter-op-layout": "alter_op_layout:AlterOpLayoutPass",
    "backward-fold-scale-axis": "backward_fold_scale_axis:BackwardFoldScaleAxisPass",
    "dead-code-elimination": "dead_code_elimination:DeadCodeEliminationPass",
    "defuse-ops": "defuse_ops:DefuseOpsPass",
    "eliminate-common-subexpr": "eliminate_common_subexpr:EliminateCommonSubexprPass",
    "fold-constant": "fold_constant:FoldConstantPass",
    "fold-scale-axis": "fold_scale_axis:FoldScaleAxisPass",
    "forward-fold-scale-axis": "forward_fold_scale_axis:ForwardFoldScaleAxisPass",
    "fuse-ops": "fuse_ops:FuseOpsPass",
    "infer-type": "infer_type:InferTypePass",
    "outline-primitives": "outline_primitives:OutlinePrimitivesPass",
    "remove-unused-functions": "remove_unused_functions:RemoveUnusedFunctionsPass",
    "simplify-inference": "simplify_inference:SimplifyInferencePass",
}
"""Pass name -> `module:Class`, the module relative to this package."""

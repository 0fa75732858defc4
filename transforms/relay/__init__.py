"""Relay -> Relay passes."""

PASSES: dict[str, str] = {
    "alter-op-layout": "alter_op_layout:AlterOpLayoutPass",
    "backward-fold-scale-axis": "backward_fold_scale_axis:BackwardFoldScaleAxisPass",
    "canonicalize-cast": "canonicalize_cast:CanonicalizeCastPass",
    "canonicalize-ops": "canonicalize_ops:CanonicalizeOpsPass",
    "dead-code-elimination": "dead_code_elimination:DeadCodeEliminationPass",
    "defuse-ops": "defuse_ops:DefuseOpsPass",
    "eliminate-common-subexpr": "eliminate_common_subexpr:EliminateCommonSubexprPass",
    "fold-constant": "fold_constant:FoldConstantPass",
    "fold-explicit-padding": "fold_explicit_padding:FoldExplicitPaddingPass",
    "fold-scale-axis": "fold_scale_axis:FoldScaleAxisPass",
    "forward-fold-scale-axis": "forward_fold_scale_axis:ForwardFoldScaleAxisPass",
    "fuse-ops": "fuse_ops:FuseOpsPass",
    "infer-type": "infer_type:InferTypePass",
    "inline": "inline:InlinePass",
    "lambda-lift": "lambda_lift:LambdaLiftPass",
    "outline-primitives": "outline_primitives:OutlinePrimitivesPass",
    "outline-segments": "outline_segments:OutlineSegmentsPass",
    "plan-devices": "plan_devices:PlanDevicesPass",
    "remove-unused-functions": "remove_unused_functions:RemoveUnusedFunctionsPass",
    "simplify-expr": "simplify_expr:SimplifyExprPass",
    "simplify-inference": "simplify_inference:SimplifyInferencePass",
    "sink-reshape": "sink_reshape:SinkReshapePass",
}
"""Pass name -> `module:Class`, the module relative to this package."""

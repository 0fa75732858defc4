"""Relay -> Relay passes."""

PASSES: dict[str, str] = {
    "dead-code-elimination": "dead_code_elimination:DeadCodeEliminationPass",
    "eliminate-common-subexpr": "eliminate_common_subexpr:EliminateCommonSubexprPass",
    "infer-type": "infer_type:InferTypePass",
    "remove-unused-functions": "remove_unused_functions:RemoveUnusedFunctionsPass",
}
"""Pass name -> `module:Class`, the module relative to this package."""

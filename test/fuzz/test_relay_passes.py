"""Passes of `relay` in any order on random graphs: what they leave is valid, and computes the same."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np
from mutate import run_cases
from random_networks import arrays_of, enclose, random_network
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic
from weft.testing.agreement import Expectation, Undetermined
from weft.transforms.infra.registry import get_pass_type, new_ir_context

PASSES: Mapping[str, list[dict[str, object]]] = {
    "alter-op-layout": [{}, {"winograd": 0}],
    "backward-fold-scale-axis": [{}],
    "batching-ops": [{}],
    "canonicalize-cast": [{}],
    "canonicalize-ops": [{}],
    "combine-parallel-batch-matmul": [{"min_num_branches": 2}],
    "combine-parallel-conv2d": [{"min_num_branches": 2}],
    "combine-parallel-dense": [{"min_num_branches": 2}, {"min_num_branches": 2, "to_batch": False}],
    "conv-to-conv2d": [{}],
    "convert-layout": [{"desired_layouts": {"nn.conv2d": ["NHWC", "default"]}},
                       {"desired_layouts": {"nn.conv2d": ["NCHW", "default"], "nn.max_pool2d": ["NHWC"]}}],
    "dead-code-elimination": [{}],
    "defunctionalization": [{}],
    "defuse-ops": [{}],
    "dynamic-to-static": [{}],
    "eliminate-common-subexpr": [{}],
    "eta-expand": [{}],
    "fake-quantization-to-integer": [{}],
    "fast-math": [{}],
    "flatten-atrous-conv": [{}],
    "fold-constant": [{}],
    "fold-explicit-padding": [{}],
    "fold-scale-axis": [{}],
    "forward-fold-scale-axis": [{}],
    "fuse-ops": [{}, {"fuse_opt_level": 0}, {"fuse_opt_level": 1}, {"max_depth": 2}, {"link_params": True}],
    "infer-type": [{}],
    "inline": [{}],
    "interleave-transposed-conv": [{}],
    "label-ops": [{}],
    "lambda-lift": [{}],
    "legalize": [{}],
    "outline-primitives": [{}],
    "partial-evaluate": [{}],
    "plan-devices": [{}],
    "remove-unused-functions": [{}],
    "separate-pools": [{}],
    "simplify-expr": [{}],
    "simplify-fc-transpose": [{}],
    "simplify-inference": [{}],
    "dense-to-sparse": [{}],
    "simplify-quantize": [{}],
    "sink-dequantize": [{}, {"data": "uint8"}],
    "sink-reshape": [{}],
    "sink-transpose": [{}],
    "specialize-functions": [{}],
    "unroll-scans": [{}],
    "widen-products": [{}, {"types": ("bfloat16",)}],
    "split-args": [{"max_function_args": 3}],
    "tabulate-bytes": [{}],
    "to-a-normal-form": [{}],
    "to-basic-block-normal-form": [{}],
    "to-graph-normal-form": [{}],
}  # fmt: skip


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def run(case: int) -> None:
    random = Random(case)
    module = random_network(random)
    given = arrays_of(main_of(module), case)
    with np.errstate(all="ignore"):
        try:
            expected = Expectation(module, given)
        except Undetermined:
            return
    if random.random() < 0.3:
        enclose(module, random)
    done: list[str] = []
    for _ in range(random.randint(1, 5)):
        name = random.choice(list(PASSES))
        options = random.choice(PASSES[name])
        before = module.clone()
        try:
            get_pass_type(name)(**options).apply(new_ir_context(), module)
        except Diagnostic as error:
            raise AssertionError(f"{name} {options} after {done} refused: {error}\n{before}") from error
        done.append(f"{name}{options or ''}")
        try:
            module.verify()
            with np.errstate(all="ignore"):
                found = evaluate_function(main_of(module), given)
        except Exception as error:
            raise AssertionError(f"{done}: {error}\n{before}\nis now\n{module}") from error
        difference = expected.difference(found)
        assert difference is None, f"{done}: {difference}\n{before}\nis now\n{module}"


def test_passes_in_any_order_keep_what_is_computed(relay_pass_cases: range) -> None:
    wrong = run_cases(relay_pass_cases, run)
    assert not wrong, f"{len(wrong)} of {len(relay_pass_cases)}:\n" + "\n".join(wrong[:20])

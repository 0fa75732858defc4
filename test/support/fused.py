"""What becomes of small modules in fusion: the kernels, and what they compute."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from evaluate import NDArray
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.relay.core import PrimitiveOp, YieldOp
from weft.dialects.support.parser import parse_module
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.fuse_ops import FuseOpsPass


def module_of(text: str) -> ModuleOp:
    return parse_module(text, new_ir_context(), "m.mlir")


def kernels(text: str, strategy: str = "weft", max_depth: int = 256, machine: str | None = None) -> list[str]:
    """The names of the operators of each kernel, with the number of its results where there are several."""
    fused = FuseOpsPass(strategy=strategy, max_depth=max_depth, machine=machine)(module_of(text))
    fused.verify()
    return [
        " ".join(inner.name.removeprefix("relay.") for inner in op.body.block.ops if not isinstance(inner, YieldOp))
        + (f" -> {len(op.results)}" if len(op.results) > 1 else "")
        for op in fused.walk()
        if isinstance(op, PrimitiveOp)
    ]


def arrays(text: str) -> list[NDArray]:
    """Normally distributed inputs of @main, of open extents with 7 rows."""
    rng = np.random.default_rng(0)
    types = re.findall(r"%\w+: tensor<([\d?x]+)xf(\d+)>", text[: text.index("->")])
    shapes = [[7 if extent == "?" else int(extent) for extent in dims.split("x")] for dims, _ in types]
    return [
        rng.standard_normal(shape).astype(f"f{int(bits) // 8}") for shape, (_, bits) in zip(shapes, types, strict=True)
    ]


def assert_close(actual: Sequence[NDArray], expected: Sequence[NDArray]) -> None:
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one.astype("f8"), other.astype("f8"), rtol=2e-5, atol=2e-6)

"""Fix extents that turn out to be known: fold constants and infer types in turns, until nothing new comes of it.

    %n = relay.ndarray_size %x : (tensor<4xf32>) -> tensor<i32>               %n = relay.constant dense<4>
    %r = relay.arange %zero, %n, %one : (..) -> tensor<?xi32>           ->    %r = relay.arange ... -> tensor<4xi32>
    %y = relay.exp (relay.cast %r) : tensor<?xf32>                            %y = relay.exp ... : tensor<4xf32>

What is known of types makes more constants, and these make types more exact. An operator of `relay.dyn`, which is told
by data what it gives, becomes the one that is told by properties where the data is known: `fold-constant` does that.

Counterpart of TVM's `DynamicToStatic`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ..infra import ModulePass, report_changed
from ..infra.execution import run
from ..infra.walk import walk
from .fold_constant import FoldConstantPass
from .infer_type import InferTypePass


@dataclass(frozen=True)
class DynamicToStaticPass(ModulePass):
    """No options."""

    name = "dynamic-to-static"
    opt_level: ClassVar[int] = 2
    tvm_name: ClassVar[str | None] = "DynamicToStatic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        first = before = _types(op)
        while True:
            for part in (FoldConstantPass(), InferTypePass()):
                run(part, op, ctx, force=True)
            if (now := _types(op)) == before:
                break
            before = now
        report_changed(first != before)


def _types(module: ModuleOp) -> list[Attribute]:
    """The types of all results, which become more exact, and fewer."""
    return [result.type for op in walk(module) for result in op.results]

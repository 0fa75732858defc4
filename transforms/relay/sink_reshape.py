"""Move reshapes behind the arithmetic on the result of a product, so that FuseOps can take that into the product.

    %0 = relay.nn.dense %x, %w : ... -> tensor<128x64xf32>          %0 = relay.nn.dense %x, %w : ...
    %1 = relay.reshape %0 : ... -> tensor<1x128x64xf32>         ->  %1 = relay.add %0, %b : ... -> tensor<128x64xf32>
    %2 = relay.add %1, %b : ... -> tensor<1x128x64xf32>             %2 = relay.reshape %1 : ... -> tensor<1x128x64xf32>

A product or convolution is fused with the elementwise and broadcasting operators behind it, but a reshape, which costs
nothing by itself, ends that (it is injective, and FuseOps, here as in TVM, stops there). Importers put one behind every
matrix product that has other than two dimensions.

One walk in the order of the block. A reshape moves on as long as its users are such operators; their other operands
must be as large as the result, at least along all dimensions that the reshape changes (they are reshaped too, to no
cost), or vary only along last dimensions that it keeps. It also moves behind reductions and softmax along such
dimensions, so that rows are counted in one way from product to product. Only static shapes. TVM has no such pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import (
    Fusion,
    Pointwise,
    RelayOp,
    ReshapeLike,
    Value,
    fusion_pattern,
    is_static,
    normalize_axis,
    shape_of,
)
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.nn.activation import SoftmaxOp
from ...dialects.relay.ops.reduce import ReduceOp, Reduction
from ...dialects.relay.ops.transform import ReshapeOp
from ..infra import FunctionPass, report_changed


@dataclass(frozen=True)
class SinkReshapePass(FunctionPass):
    """No options."""

    name = "sink-reshape"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(sink_reshapes(func.body.block))


def sink_reshapes(block: Block) -> bool:
    """Move the reshapes of `block` as far down as they go; return whether any has moved."""
    fusable: set[SSAValue] = set()
    """Results of products and convolutions, and of the arithmetic on them."""
    reshaped: dict[SSAValue, SSAValue] = {}
    """What reshapes have made of such, and what it was."""
    changed = False
    for op in list(block.ops):
        if not isinstance(op, RelayOp) or not all(map(is_static, op.result_types)):
            continue
        if isinstance(op, ReduceOp | SoftmaxOp) and op.data in reshaped:
            if (view := _sink_rows(op, reshaped)) is not None:
                fusable.add(view.data)
                reshaped[view.result] = view.data
                changed = True
        elif fusion_pattern(type(op)) == Fusion.OUT_ELEMWISE_FUSABLE:
            fusable.update(op.results)
        elif op.has_trait(ReshapeLike):
            if op.operands[0] in fusable:
                reshaped[op.results[0]] = op.operands[0]
        elif op.has_trait(Pointwise):
            whole = shape_of(op.results[0])
            source = next((reshaped[o] for o in op.operands if o in reshaped and shape_of(o) == whole), None)
            if source is None:
                if not fusable.isdisjoint(op.operands):
                    fusable.update(op.results)
            elif (view := _sink(op, source, reshaped)) is not None:
                fusable.add(view.data)
                reshaped[view.result] = view.data
                changed = True
    return changed


def _sink(op: RelayOp, source: SSAValue, reshaped: dict[SSAValue, SSAValue]) -> ReshapeOp | None:
    """Compute `op` in the shape of `source`, and reshape its result; `None` where an operand does not fit."""
    inner, outer = shape_of(source), shape_of(op.results[0])
    shapes: list[Sequence[int]] = []
    for operand in op.operands:
        original = reshaped.get(operand)
        known = original is not None and shape_of(original) == inner
        fitting = inner if known else _fitting(shape_of(operand), inner, outer)
        if fitting is None:
            return None
        shapes.append(fitting)
    return _replace(op, op.properties, shapes, reshaped)


def _sink_rows(op: ReduceOp | SoftmaxOp, reshaped: dict[SSAValue, SSAValue]) -> ReshapeOp | None:
    """Compute `op`, along dimensions that the reshape of its data keeps, before that; `None` where it does not."""
    inner, outer = shape_of(reshaped[op.data]), shape_of(op.data)
    more = len(inner) - len(outer)
    if isinstance(op, SoftmaxOp):
        axes: tuple[int, ...] = (normalize_axis(op.axis.value.data, len(outer)),)
        changed: dict[str, Value] = {"axis": axes[0] + more}
    else:
        axes = op.reduction(len(outer)).axes
        changed = {"axis": [axis + more for axis in axes], "exclude": False}
    if not axes or axes[0] + more < 0 or inner[axes[0] + more :] != outer[axes[0] :]:
        return None
    means = Reduction(len(inner), tuple(axis + more for axis in axes), keepdims=True).shape(inner)
    shapes = [inner, *(means for _ in op.operands[1:])]
    return _replace(op, {**op.properties, **changed}, shapes, reshaped)


def _replace(
    op: RelayOp, properties: Mapping[str, Value], shapes: Sequence[Sequence[int]], reshaped: dict[SSAValue, SSAValue]
) -> ReshapeOp:
    """Put `op` with operands of other `shapes`, and a reshape of its result, in the place of `op`."""
    block, outer = op.parent, shape_of(op.results[0])
    assert block is not None
    added: list[Operation] = []
    operands: list[SSAValue] = []
    for operand, shape in zip(op.operands, shapes, strict=True):
        original = reshaped.get(operand, operand)
        if shape_of(original) != tuple(shape):
            added.append(ReshapeOp(operand, newshape=shape, allowzero=True))
            original = added[-1].results[0]
        operands.append(original)
    new = type(op)(*operands, **properties)
    view = ReshapeOp(new.results[0], newshape=outer, allowzero=True)
    new.results[0].name_hint = view.result.name_hint = op.results[0].name_hint
    for created in (*added, new, view):
        created.location = op.location
        block.insert_op_before(created, op)
    op.results[0].replace_all_uses_with(view.result)
    op.detach()
    op.erase()
    return view


def _fitting(shape: Sequence[int], inner: Sequence[int], outer: Sequence[int]) -> Sequence[int] | None:
    """The shape in which an operand of `shape`, which broadcasts to `outer`, broadcasts to `inner` alike."""
    kept = 0
    while kept < min(len(inner), len(outer)) and inner[-1 - kept] == outer[-1 - kept]:
        kept += 1
    before, changed = inner[: len(inner) - kept], outer[: len(outer) - kept]
    if len(shape) == len(outer) and tuple(shape[: len(changed)]) == tuple(changed) and prod(before) == prod(changed):
        return [*before, *shape[len(changed) :]]
    if len(shape) <= kept:
        return shape
    return shape[len(shape) - kept :] if all(n == 1 for n in shape[: len(shape) - kept]) else None

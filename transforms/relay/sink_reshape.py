"""Move reshapes behind the arithmetic on the result of a product, so that FuseOps can take that into the product.

    %0 = relay.nn.dense %x, %w : ... -> tensor<128x64xf32>          %0 = relay.nn.dense %x, %w : ...
    %1 = relay.reshape %0 : ... -> tensor<1x128x64xf32>         ->  %1 = relay.add %0, %b : ... -> tensor<128x64xf32>
    %2 = relay.add %1, %b : ... -> tensor<1x128x64xf32>             %2 = relay.reshape %1 : ... -> tensor<1x128x64xf32>

A product or convolution is fused with the elementwise and broadcasting operators behind it, but a reshape, which costs
nothing by itself, ends that (it is injective, and FuseOps, here as in TVM, stops there). Importers put one behind every
matrix product that has other than two dimensions.

One walk in the order of the block. A reshape moves on as long as its users are such operators; their other operands
must be as large as the result, at least along all dimensions that the reshape changes (they are reshaped too, to no
cost), or vary only along last dimensions that it keeps, or along one of two dimensions that it has split the first one
into, as a mask for each sequence of a batch and all heads does (`repeat`, `tile`). It also moves behind reductions and
softmax along such dimensions, so that rows are counted in one way from product to product.

Where extents are open, a reshape moves that only joins two dimensions or takes one apart, and keeps the others
(`newshape` of 0, -3 and -4); what it meets varies along last dimensions that it keeps, or the reshape is about
dimensions of one, and may be of its whole shape. One that undoes another, which
it now stands behind, goes with it. TVM has no such pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import (
    DYNAMIC,
    Fusion,
    Pointwise,
    RelayOp,
    ReshapeLike,
    Value,
    fusion_pattern,
    ints,
    is_static,
    is_true,
    normalize_axis,
    shape_of,
)
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.nn.activation import SoftmaxOp
from ...dialects.relay.ops.reduce import ReduceOp, Reduction
from ...dialects.relay.ops.tiling import RepeatOp, TileOp
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


@dataclass(frozen=True)
class Spread:
    """An operand's first two dimensions as one: `whole` copies, in each of which every element stands `each` times."""

    whole: int
    each: int

    def ops(self, operand: SSAValue) -> list[Operation]:
        """What makes that of `operand`; it costs no more than finding the element."""
        rank = len(shape_of(operand)) - 1
        made: list[Operation] = [ReshapeOp(operand, newshape=[-3, *[0] * (rank - 1)])]
        if self.each > 1:
            made.append(RepeatOp(made[-1].results[0], repeats=self.each, axis=0))
        if self.whole > 1:
            made.append(TileOp(made[-1].results[0], reps=[self.whole, *[1] * (rank - 1)]))
        return made


@dataclass(frozen=True)
class Undone:
    """An operand of open extents as it was before a reshape, which put in dimensions of one or left such out."""

    newshape: tuple[int, ...]

    def ops(self, operand: SSAValue) -> list[Operation]:
        """What makes that of `operand`."""
        return [ReshapeOp(operand, newshape=self.newshape)]


def sink_reshapes(block: Block) -> bool:
    """Move the reshapes of `block` as far down as they go; return whether any has moved."""
    fusable: set[SSAValue] = set()
    """Results of products and convolutions, and of the arithmetic on them."""
    reshaped: dict[SSAValue, SSAValue] = {}
    """What reshapes have made of such, and what it was."""
    changed = False
    for op in list(block.ops):
        if not isinstance(op, RelayOp) or not all(isinstance(type, TensorType) for type in op.result_types):
            continue
        if op.operands and op.operands[0] in reshaped and undoes(op, op.operands[0]):
            op.results[0].replace_all_uses_with(reshaped[op.operands[0]])
            op.detach()
            op.erase()
            changed = True
            continue
        if isinstance(op, ReduceOp | SoftmaxOp) and op.data in reshaped:
            if (view := _sink_rows(op, reshaped)) is not None:
                fusable.add(view.data)
                reshaped[view.result] = view.data
                changed = True
        elif fusion_pattern(type(op)) == Fusion.OUT_ELEMWISE_FUSABLE:
            fusable.update(op.results)
        elif op.has_trait(ReshapeLike):
            if op.operands[0] in fusable and (is_static(op.result_types[0]) or grouping(op) is not None):
                reshaped[op.results[0]] = op.operands[0]
        elif op.has_trait(Pointwise):
            whole = shape_of(op.results[0])
            source = next((o for o in op.operands if o in reshaped and shape_of(o) == whole), None)
            if source is None:
                if not fusable.isdisjoint(op.operands):
                    fusable.update(op.results)
            elif (view := _sink(op, source, reshaped)) is not None:
                fusable.add(view.data)
                reshaped[view.result] = view.data
                changed = True
    for view in reversed(reshaped):
        if changed and not any(True for _ in view.uses) and isinstance(view.owner, Operation):
            view.owner.detach()
            view.owner.erase()
    return changed


def _sink(op: RelayOp, source: SSAValue, reshaped: dict[SSAValue, SSAValue]) -> ReshapeOp | None:
    """Compute `op` in the shape of `source`, and reshape its result; `None` where an operand does not fit."""
    inner, outer = shape_of(reshaped[source]), shape_of(op.results[0])
    if not is_static(op.results[0].type):
        views = [inner if operand is source else _open_view(operand, source, reshaped) for operand in op.operands]
    else:
        views = [
            inner if operand in reshaped and shape_of(reshaped[operand]) == inner else _fitting(shape, inner, outer)
            for operand, shape in zip(op.operands, map(shape_of, op.operands), strict=True)
        ]
        views = [
            _spread(shape_of(operand), source) if view is None else view
            for operand, view in zip(op.operands, views, strict=True)
        ]
    found = [view for view in views if view is not None]
    return _replace(op, op.properties, found, reshaped, source) if len(found) == len(views) else None


def _open_view(
    operand: SSAValue, source: SSAValue, reshaped: Mapping[SSAValue, SSAValue]
) -> Sequence[int] | Spread | Undone | None:
    """How an operand becomes one that broadcasts to what a reshape of open extents was given as it does to `source`."""
    shape, made = shape_of(operand), source.owner
    assert isinstance(made, Operation)
    if len(shape) <= _kept(made):
        return shape
    if (units := _units(made)) is None:
        return _spread(shape, source)
    if operand.type == source.type:
        before, other = reshaped.get(operand), operand.owner
        alike = isinstance(other, Operation) and grouping(made) == grouping(other)
        undone = before is not None and alike and before.type == reshaped[source].type
        return shape_of(reshaped[source]) if undone else Undone(units)
    padded = (1,) * (len(shape_of(source)) - len(shape)) + tuple(shape)
    extents, found = iter(padded), list[int]()
    for what in grouping(made) or ():
        if what == "keep":
            found.append(next(extents))
        elif what == "join":
            found += [1, next(extents)]
        else:
            found += [n for n in (next(extents), next(extents)) if n != 1] or [1]
    return None if DYNAMIC in found or prod(found) != prod(shape) else found


def _units(made: Operation) -> tuple[int, ...] | None:
    """The `newshape` that undoes a reshape which, beside what it keeps, only joins a first dimension of one to another,
    or splits one off; nothing where it does anything else."""
    inner, outer = (list(shape_of(value)) for value in (made.operands[0], made.results[0]))
    found: list[int] = []
    for what in grouping(made) or ("other",):
        taken, given = (2 if what == "join" else 1), (2 if what == "split" else 1)
        split = (inner, outer)[what == "split"]
        if what not in ("keep", "join", "split") or (what != "keep" and split[0] != 1):
            return None
        found += {"keep": [0], "join": [-4, 1, -1], "split": [-3]}[what]
        del inner[:taken], outer[:given]
    return None if 0 not in found or len(found) == found.count(0) else tuple(found)


def _spread(shape: Sequence[int], source: SSAValue) -> Spread | None:
    """How an operand of `shape`, which broadcasts to that of `source`, becomes one that broadcasts alike to what a
    reshape has split the first dimension of; `None` where that has done something else."""
    outer, made = shape_of(source), source.owner
    assert isinstance(made, Operation)
    inner = shape_of(made.operands[0])
    split = grouping(made) == ["split", *["keep"] * (len(inner) - 1)] or (is_static(source.type) and 0 not in outer)
    if not split or len(shape) != len(outer) or inner[1:] != outer[2:]:
        return None
    times = [whole if n == 1 else 1 for n, whole in zip(shape[:2], outer, strict=False)]
    if list(shape[:2]) == [1, 1]:
        times = [1, 1]
    return None if DYNAMIC in times or (shape[0] != 1 != times[0]) else Spread(*times)


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
    if not is_static(op.data.type):
        # Of a reduction another rank follows, and other reshapes: softmax is what stands between products.
        if not isinstance(op, SoftmaxOp) or axes[0] < len(outer) - _kept(op.data.owner):
            return None
    means = Reduction(len(inner), tuple(axis + more for axis in axes), keepdims=True).shape(inner)
    shapes = [inner, *(means for _ in op.operands[1:])]
    return _replace(op, {**op.properties, **changed}, shapes, reshaped, op.data)


def _replace(
    op: RelayOp,
    properties: Mapping[str, Value],
    shapes: Sequence[Sequence[int] | Spread | Undone],
    reshaped: dict[SSAValue, SSAValue],
    source: SSAValue,
) -> ReshapeOp:
    """Put `op` with operands of other `shapes`, and a reshape of its result, in the place of `op`; where extents are
    open, that which has made `source`."""
    block, outer = op.parent, shape_of(op.results[0])
    assert block is not None
    added: list[Operation] = []
    operands: list[SSAValue] = []
    for operand, shape in zip(op.operands, shapes, strict=True):
        original = reshaped.get(operand, operand)
        if isinstance(shape, Spread | Undone):
            added += shape.ops(operand)
            original = added[-1].results[0]
        elif shape_of(original) != tuple(shape):
            added.append(ReshapeOp(operand, newshape=shape, allowzero=True))
            original = added[-1].results[0]
        operands.append(original)
    new = type(op)(*operands, **properties)
    told = source.owner
    if is_static(op.results[0].type) or not isinstance(told, ReshapeOp):
        view = ReshapeOp(new.results[0], newshape=outer, allowzero=True)
    else:
        view = ReshapeOp(new.results[0], newshape=ints(told.newshape))
    new.results[0].name_hint = view.result.name_hint = op.results[0].name_hint
    for created in (*added, new, view):
        created.location = op.location
        block.insert_op_before(created, op)
    op.results[0].replace_all_uses_with(view.result)
    op.detach()
    op.erase()
    return view


def grouping(op: Operation) -> list[str] | None:
    """What a reshape does to the dimensions of its data one after the other, where it keeps them, joins two or splits
    one; nothing where it does anything else."""
    if not isinstance(op, ReshapeOp) or is_true(op.allowzero):
        return None
    told, found = list(ints(op.newshape)), list[str]()
    while told:
        match told.pop(0):
            case 0:
                found.append("keep")
            case -3:
                found.append("join")
            case -4:
                found.append("split")
                del told[:2]
            case _:
                return None
    return found


def _kept(op: Operation | Block) -> int:
    """How many last dimensions a reshape keeps that only keeps, joins and splits."""
    found = grouping(op) if isinstance(op, Operation) else None
    return 0 if found is None else next((n for n, what in enumerate(reversed(found)) if what != "keep"), len(found))


def undoes(op: Operation, view: SSAValue) -> bool:
    """Whether a reshape of `view`, which another has made, gives what that one was given."""
    made = view.owner
    if isinstance(made, ReshapeOp) and isinstance(op, ReshapeOp) and is_static(op.result.type):
        return op.result.type == made.data.type
    first = grouping(made) if isinstance(made, ReshapeOp) else None
    second = grouping(op)
    if not isinstance(made, ReshapeOp) or first is None or second is None or op.results[0].type != made.data.type:
        return False
    opposite = {"keep": "keep", "join": "split", "split": "join"}
    return second == [opposite[what] for what in first]


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
    if all(n == 1 for n in shape[: len(shape) - kept]):
        return shape[len(shape) - kept :]
    if [n for n in inner if n != 1] != [n for n in outer if n != 1]:
        return None
    # Dimensions of one come and go; along the others it is as large as it was.
    padded = (1,) * (len(outer) - len(shape)) + tuple(shape)
    extents = iter([n for n, whole in zip(padded, outer, strict=True) if whole != 1])
    return [1 if whole == 1 else next(extents) for whole in inner]

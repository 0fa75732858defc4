"""The accesses of functions at the phase `loops`: which of them are always inside of their buffers, which are not.

What an index may be follows from the loops around it, whose bounds are known or come from the share of a loop that
threads divide (`rt.share`), from the branches, and from what was done with data that leads there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import arith, func, memref, scf, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, VectorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ..dialects.rt import checks as rt
from ..dialects.rt.core import ShareOp
from ..dialects.rt.tiles import TileLoadOp, TileStoreOp
from ..dialects.tir.affine import Range, affine_of, expr_range
from ..dialects.tir.buffers import memref_of
from ..dialects.tir.conditions import Conditions
from ..dialects.tir.integers import value_range
from ..dialects.tir.legality.decide import Answer, Space, Verdict, within
from ..dialects.tir.symbols import depends_on_symbols, dimension


@dataclass(frozen=True)
class Judgement:
    """What is known of the index of an access in a dimension."""

    op: Operation
    buffer: SSAValue
    index: SSAValue
    dimension: int
    lanes: int
    """How many elements from there on are touched."""
    answer: Answer
    is_sure: bool
    """Whether the access is made wherever its loops run."""
    names: tuple[str, ...]
    """Of the variables of the loops around, by dimension."""


@dataclass(frozen=True)
class _Around:
    """What is known at a place: the values that are affine in the loops around, these loops, and the branches."""

    values: Mapping[SSAValue, AffineExpr] = field(default_factory=dict[SSAValue, AffineExpr])
    ranges: tuple[Range, ...] = ()
    conditions: tuple[AffineExpr, ...] = ()
    names: tuple[str, ...] = ()
    is_sure: bool = True

    @property
    def space(self) -> Space:
        return Space(self.ranges, self.conditions)

    def affine(self, value: SSAValue) -> AffineExpr | None:
        """A value over the loops around, if it is affine."""
        expr = affine_of(value, self.values)
        return None if expr is None or depends_on_symbols(expr) else expr

    def unsure(self) -> _Around:
        """The same, where the place is perhaps not reached."""
        return replace(self, is_sure=False)


def judge_accesses(module: ModuleOp) -> Iterator[Judgement]:
    """All accesses in the functions of `module`, dimension by dimension, to buffers of known extents."""
    shares = _shares(module)
    for function in module.body.block.ops:
        if isinstance(function, func.FuncOp) and function.body.blocks:
            bounds: dict[SSAValue, AffineExpr] = {
                argument: count
                for number, argument in enumerate(function.body.block.args)
                if (count := shares.get((function.sym_name.data, number))) is not None
            }
            yield from _Judge(bounds).block(function.body.block, _Around())


def _shares(module: ModuleOp) -> dict[tuple[str, int], AffineExpr]:
    """The arguments of functions that are the bounds of a share wherever they are called: as what they are the least
    and the greatest, 0 and the number of iterations that are divided."""
    found: dict[tuple[str, int], AffineExpr | None] = {}
    for call in module.walk():
        if not isinstance(call, func.CallOp):
            continue
        for number, value in enumerate(call.arguments):
            key, bound = (call.callee.string_value(), number), _share_bound(value)
            found[key] = bound if found.setdefault(key, bound) == bound else None
    return {key: bound for key, bound in found.items() if bound is not None}


def _share_bound(value: SSAValue) -> AffineExpr | None:
    share = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    if not isinstance(share, ShareOp) or share.extent is None:
        return None
    assert isinstance(value, BlockArgument)
    return AffineConstantExpr(0) if value.index == 0 else affine_of(share.extent, {})


class _Judge:
    """Walks one function."""

    def __init__(self, bounds: Mapping[SSAValue, AffineExpr]):
        self.bounds = bounds
        """What a loop that begins or ends there begins or ends with, all shares taken together."""

    def block(self, block: Block, around: _Around) -> Iterator[Judgement]:
        for op in block.ops:
            match op:
                case scf.ForOp():
                    yield from self.block(op.body.block, self._in_loop(op, around))
                case scf.IfOp():
                    yield from self.block(op.true_region.block, _where(op.cond, around, holds=True))
                    if op.false_region.blocks:
                        yield from self.block(op.false_region.block, _where(op.cond, around, holds=False))
                case memref.LoadOp() | memref.StoreOp():
                    yield from self._access(op, op.memref, op.indices, 1, around)
                case vector.LoadOp() | vector.StoreOp() | vector.MaskedLoadOp() | vector.MaskedStoreOp():
                    yield from self._vector(op, around)
                case TileLoadOp() | TileStoreOp():
                    yield from self._access(op, op.memory, [op.start], op.reach, around)
                case _:
                    for region in op.regions:
                        for inner in region.blocks:
                            yield from self.block(inner, around if isinstance(op, ShareOp) else around.unsure())

    def _bound(self, value: SSAValue, around: _Around) -> AffineExpr | None:
        if (bound := self.bounds.get(value)) is not None:
            return bound
        if isinstance(op := value.owner, arith.AddiOp) and not self.bounds.keys().isdisjoint(op.operands):
            lhs, rhs = self._bound(op.lhs, around), self._bound(op.rhs, around)
            return None if lhs is None or rhs is None else lhs + rhs
        return around.affine(value)

    def _in_loop(self, loop: scf.ForOp, around: _Around) -> _Around:
        lower, upper = self._bound(loop.lb, around), self._bound(loop.ub, around)
        step = around.affine(loop.step)
        if lower is None or upper is None or not isinstance(step, AffineConstantExpr) or step.value < 1:
            return around.unsure()
        lows, highs = (expr_range(expr, around.space.by_dimension) for expr in (lower, upper))
        if lows is None or highs is None:
            return around.unsure()
        iteration = dimension(len(around.ranges))
        is_plain = isinstance(lower, AffineConstantExpr) and step.value == 1
        value = iteration if is_plain else lower + iteration * step.value
        last = (highs[1] - 1) if is_plain else (highs[1] - 1 - lows[0]) // step.value
        conditions = [] if isinstance(upper, AffineConstantExpr) and is_plain else [upper + value * -1 - 1]
        return replace(
            around,
            values={**around.values, loop.body.block.args[0]: value},
            ranges=(*around.ranges, (lows[0] if is_plain else 0, last)),
            conditions=(*around.conditions, *conditions),
            names=(*around.names, f"%{loop.body.block.args[0].name_hint or 'i'}"),
        )

    def _vector(
        self,
        op: vector.LoadOp | vector.StoreOp | vector.MaskedLoadOp | vector.MaskedStoreOp,
        around: _Around,
    ) -> Iterator[Judgement]:
        base = op.operands[1] if isinstance(op, vector.StoreOp) else op.operands[0]
        type = op.operands[0].type if isinstance(op, vector.StoreOp) else None
        if isinstance(op, vector.MaskedStoreOp):
            type = op.value_to_store.type
        elif type is None:
            type = op.results[0].type
        assert isinstance(type, VectorType)
        lanes = type.get_shape()[-1]
        if isinstance(op, vector.MaskedLoadOp | vector.MaskedStoreOp):
            known = _lanes(op.mask)
            around = around if known is not None else around.unsure()
            lanes = lanes if known is None else known
        if lanes:
            yield from self._access(op, base, op.indices, lanes, around)

    def _access(
        self, op: Operation, buffer: SSAValue, indices: Sequence[SSAValue], lanes: int, around: _Around
    ) -> Iterator[Judgement]:
        for number, (index, extent) in enumerate(zip(indices, memref_of(buffer).get_shape(), strict=True)):
            if extent < 0:
                continue
            wide = lanes if number == len(indices) - 1 else 1
            answer = self._inside(index, extent - wide + 1, around)
            yield Judgement(op, buffer, index, number, wide, answer, around.is_sure, around.names)

    def _inside(self, index: SSAValue, extent: int, around: _Around) -> Answer:
        """Whether an index is always from 0 to below `extent`."""
        if (expr := around.affine(index)) is not None:
            return within(expr, extent, around.space)
        known: dict[SSAValue, Range] = {}
        space = around.space.by_dimension
        for value, expr in around.values.items():
            if (bounds := expr_range(expr, space)) is not None:
                known[value] = bounds
        low, high = _range(index, known)
        return Answer(Verdict.PROVED if 0 <= low and high < extent else Verdict.UNKNOWN)


def _range(value: SSAValue, known: dict[SSAValue, Range]) -> Range:
    """Between which values an index lies that is computed from data."""
    pending = [value]
    while pending:
        op = pending.pop().owner
        if isinstance(op, rt.CheckOp):
            if op.extent is not None:
                known[op.result] = (0, max(op.extent.value.data - 1, 0))
        elif isinstance(op, Operation):
            pending.extend(op.operands)
    return value_range(value, known)


def _where(condition: SSAValue, around: _Around, *, holds: bool) -> _Around:
    """What is known where a condition holds, or does not."""
    guard = Conditions(around.affine, around.space.by_dimension).of(condition, holds)
    is_sure = around.is_sure and guard.whole
    return replace(around, conditions=(*around.conditions, *guard.conditions), is_sure=is_sure)


def _lanes(mask: SSAValue) -> int | None:
    """The lanes up to the last one that a mask lets through; `None` where that is not known."""
    op = mask.owner
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, DenseIntOrFPElementsAttr):
        return None
    bits = [bool(bit) for bit in op.value.get_values()]
    return max((number + 1 for number, bit in enumerate(bits) if bit), default=0)

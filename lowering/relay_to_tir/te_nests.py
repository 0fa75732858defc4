"""One computation of a tensor expression as a `tir.block` in loops over its axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DictionaryAttr, IndexType, UnitAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ...dialects import te
from ...dialects.support.name_hints import name_hint
from ...dialects.tir.core import BlockOp, ForOp, IterKind
from ...dialects.tir.loops import INDEPENDENT
from .te_expressions import BodyEmitter
from .te_statements import emit_statements
from .te_symbols import Symbols


class _Computation:
    """What a computation writes, and over which axes: those of its result first."""

    def __init__(
        self,
        targets: Sequence[SSAValue],
        compute: te.Compute,
        buffers: dict[te.Tensor, SSAValue],
        arguments: Mapping[te.Var, BlockArgument],
    ):
        self.targets, self.buffers, self.arguments = targets, buffers, arguments
        formula = compute.body
        own = compute.axes
        if isinstance(formula, te.Filled):
            assert isinstance(formula.procedure, te.Procedure)
            own = formula.procedure.axes
        if isinstance(formula, te.Reduce) and any(axis.dim == 0 for axis in formula.axes):
            formula = te.first_value(formula)  # of no terms
        self.formula = formula
        self.rank = len(own)
        """The number of axes of the result."""
        self.is_empty_fold = isinstance(formula, te.Fold) and any(axis.dim == 0 for axis in formula.axes)
        """Whether it is a reduction of one's own, of no terms."""
        folded = formula.axes if isinstance(formula, te.Reduce | te.Fold) and not self.is_empty_fold else ()
        self.axes: Sequence[te.IterVar] = (*own, *folded)

    def block(self) -> Block:
        """A block without operations, with an argument for each axis."""
        block = Block(arg_types=[IndexType()] * len(self.axes))
        for argument, axis in zip(block.args, self.axes, strict=True):
            argument.name_hint = name_hint(f"v{axis.name}")
        return block

    def emitter(self, block: Block) -> BodyEmitter:
        """What writes expressions of the axes into a block."""
        known: dict[te.IterVar | te.Var, SSAValue] = {**self.arguments, **dict(zip(self.axes, block.args, strict=True))}
        return BodyEmitter(block, known, self.buffers)

    def write(self, body: Block) -> Block | None:
        """Compute one element, or one step of it, in `body`; gives what a reduction begins with."""
        formula, emitter = self.formula, self.emitter(body)
        for axis, argument in zip(self.axes, body.args, strict=True):
            if axis.start:
                emitter.memo[axis] = emitter.insert(arith.AddiOp(argument, emitter.constant(axis.start, te.index)))
        match formula:
            case te.Reduce():
                return self._reduce(formula, body, emitter)
            case te.Fold() if self.is_empty_fold:
                self._store(body, emitter, te.first_values(formula))
            case te.Fold():
                return self._fold(formula, body, emitter)
            case te.Filled():
                assert isinstance(formula.procedure, te.Procedure)
                emit_statements(formula.procedure.statements, emitter)
            case _:
                self._store(body, emitter, [formula])
        return None

    def _store(self, block: Block, emitter: BodyEmitter, values: Sequence[te.Expr]) -> None:
        """Store a value of each result."""
        for value, target in zip(values, self.targets, strict=True):
            operands = (emitter.value(value), target, *block.args[: self.rank])
            emitter.insert(memref.StoreOp.create(operands=operands))

    def _start(self, values: Sequence[te.Expr]) -> Block:
        """The block that stores what a reduction begins with."""
        block = self.block()
        self._store(block, self.emitter(block), values)
        return block

    def _reduce(self, reduce: te.Reduce, body: Block, emitter: BodyEmitter) -> Block:
        target, indices = self.targets[0], body.args[: self.rank]
        step = emitter.value(reduce.operand)
        partial = emitter.insert(memref.LoadOp.get(target, indices))
        combined = emitter.binary(te.COMBINER[reduce.kind], partial, step, reduce.type, reduction=True)
        emitter.insert(memref.StoreOp.get(combined, target, indices))
        return self._start([te.first_value(reduce)])

    def _fold(self, fold: te.Fold, body: Block, emitter: BodyEmitter) -> Block:
        """A step of a reduction of one's own, of one or several results."""
        combiner, indices = fold.combiner, body.args[: self.rank]
        for slot, operand in zip(combiner.step, fold.operands, strict=True):
            emitter.memo[slot] = emitter.value(operand)
        for slot, target in zip(combiner.so_far, self.targets, strict=True):
            emitter.memo[slot] = emitter.insert(memref.LoadOp.get(target, indices))
        results = [emitter.value(each) for each in combiner.results]
        for result, target in zip(results, self.targets, strict=True):
            emitter.insert(memref.StoreOp.get(result, target, indices))
        return self._start(te.first_values(fold))


@dataclass(frozen=True)
class Part:
    """A computation whose block is to be called `name`; it writes `targets`, one for each of its results."""

    name: str
    targets: Sequence[SSAValue]
    compute: te.Compute


def nest_of(
    parts: Sequence[Part],
    buffers: dict[te.Tensor, SSAValue],
    symbols: Symbols,
    arguments: Mapping[te.Var, BlockArgument],
    unit_loops: bool = False,
) -> Operation:
    """Loops over axes with a block for each of the `parts` inside, which are several only where all are over axes of
    the same extents and nothing is reduced; an axis of one value has a loop with `unit_loops` only.

    They read `buffers`."""
    computations = [_Computation(each.targets, each.compute, buffers, arguments) for each in parts]
    first = computations[0]
    loops: list[ForOp] = []
    bindings: list[AffineExpr] = []
    for axis in first.axes:
        if axis.dim == 1 and not unit_loops:
            bindings.append(AffineConstantExpr(0))
            continue
        bindings.append(AffineExpr.dimension(len(loops)))
        loops.append(ForOp(symbols.extent(axis.dim), name_hint=axis.name))
        if isinstance(first.formula, te.Filled):  # which element of its part a point touches, data says
            loops[-1].annotations = DictionaryAttr({INDEPENDENT: UnitAttr()})
    nest: list[Operation] = []
    for part, computation in zip(parts, computations, strict=True):
        body = computation.block()
        start = computation.write(body)
        nest.append(
            BlockOp(
                part.name,
                [(IterKind.REDUCE if a.reduce else IterKind.SPATIAL, symbols.extent(a.dim)) for a in computation.axes],
                AffineMap(len(loops), 0, tuple(bindings)),
                [loop.var for loop in loops],
                Region(body),
                None if start is None else Region(start),
            )
        )
    for loop in reversed(loops):
        loop.body.block.add_ops(nest)
        nest = [loop]
    assert len(nest) == 1, "several blocks stand in a loop"
    return nest[0]

"""Emission of loops: `tir.for` and `tir.block` become `scf`, `vector`, `arith` and `memref` operations."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IndexType, IntegerAttr, VectorType, i1, i64
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)

from ...dialects.extensions import arith as arith_extensions
from ...dialects.extensions.llvm_loop_annotation import LoopAnnotationAttr, LoopUnrollAttr
from ...dialects.tir.affine import Linear, Range, access_map, affine_of, expr_range, linear, substitute
from ...dialects.tir.core import BlockOp, ForKind, ForOp, IterKind
from ...transforms.infra.remarks import missed
from .flat_buffers import FlatBuffer, next_power_of_two

index = IndexType()

UNROLL_FULLY = LoopAnnotationAttr.of(unroll=LoopUnrollAttr.of(disable=False, full=True))
_ON_VECTORS = {op.name: op for op in arith_extensions.OPERATIONS}


@dataclass(frozen=True)
class Lanes:
    """A loop that runs as vector lanes: its dimension and its number of iterations."""

    dim: AffineExpr
    extent: int

    @property
    def width(self) -> int:
        """The vector's length: the next power of two; lanes beyond `extent` are masked off."""
        return next_power_of_two(self.extent)

    @property
    def is_masked(self) -> bool:
        return self.width != self.extent


@dataclass
class BlockScope:
    """What is known while a block's body is emitted: its iterators as expressions over the loops, the values already
    emitted, the operations that are wanted, and the lanes, if the block runs as vectors."""

    iters: dict[SSAValue, AffineExpr]
    values: dict[SSAValue, SSAValue]
    needed: set[Operation]
    lanes: Lanes | None


class LoopEmitter:
    """Appends lowered operations at a moving insertion point.

    Every loop variable of the function has one affine dimension for good, so index expressions of different blocks can
    be compared and added.
    """

    def __init__(self, entry: Block, buffers: dict[SSAValue, FlatBuffer]):
        self.entry = entry
        self.block = entry
        self.buffers = buffers
        self.dims: dict[SSAValue, AffineExpr] = {}
        self.ranges: dict[AffineExpr, Range] = {}
        self.index_values: dict[AffineExpr, SSAValue] = {}
        self.constants: dict[int, SSAValue] = {}

    # Insertion.

    def insert(self, op: Operation) -> None:
        self.block.add_op(op)

    def emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Append to `block` meanwhile; index values computed there are forgotten afterwards."""
        saved = self.block, dict(self.index_values)
        self.block = block
        yield
        self.block, self.index_values = saved

    def constant(self, value: int) -> SSAValue:
        """An index constant, at the function's entry."""
        if (known := self.constants.get(value)) is None:
            op = arith.ConstantOp(IntegerAttr(value, index))
            first = self.entry.first_op
            if first is None:
                self.entry.add_op(op)
            else:
                self.entry.insert_op_before(op, first)
            op.result.name_hint = f"c{value}" if value >= 0 else f"cm{-value}"
            known = self.constants[value] = op.result
        return known

    # Index arithmetic.

    def dim(self, var: SSAValue) -> AffineExpr:
        """The dimension that stands for a loop variable."""
        if (known := self.dims.get(var)) is None:
            known = self.dims[var] = AffineExpr.dimension(len(self.dims))
            loop = var.owner
            assert isinstance(loop, Block)
            parent = loop.parent_op()
            assert isinstance(parent, ForOp)
            self.ranges[known] = (parent.start, parent.start + parent.trip_count - 1)
        return known

    def index_value(self, form: Linear) -> SSAValue:
        """The SSA value of an index expression in normal form."""
        total: SSAValue | None = None
        for atom, factor in form.terms.items():
            key = atom * factor
            if (term := self.index_values.get(key)) is None:
                term = self._atom(atom)
                if factor != 1:
                    term = self.emit(arith.MuliOp(term, self.constant(factor)))
                self.index_values[key] = term
            total = term if total is None else self.emit(arith.AddiOp(total, term))
        if total is None:
            return self.constant(form.constant)
        return self.emit(arith.AddiOp(total, self.constant(form.constant))) if form.constant else total

    def _atom(self, atom: AffineExpr) -> SSAValue:
        if (known := self.index_values.get(atom)) is not None:
            return known
        assert isinstance(atom, AffineBinaryOpExpr) and isinstance(atom.rhs, AffineConstantExpr), atom
        inner = expr_range(atom.lhs, self.ranges)
        dividend = self.index_value(linear(atom.lhs, self.ranges))
        divisor = self.constant(atom.rhs.value)
        if inner is not None and inner[0] >= 0:
            op = arith.DivUIOp if atom.kind == AffineBinaryOpKind.FloorDiv else arith.RemUIOp
            value = self.emit(op(dividend, divisor))
        else:
            value = self.emit(arith.FloorDivSIOp(dividend, divisor))
            if atom.kind == AffineBinaryOpKind.Mod:
                value = self.emit(arith.SubiOp(dividend, self.emit(arith.MuliOp(value, divisor))))
        self.index_values[atom] = value
        return value

    # Loops.

    def _guarded(self, condition: SSAValue, emit: Callable[[], None]) -> None:
        block = Block()
        with self.into(block):
            emit()
            self.insert(scf.YieldOp())
        self.insert(scf.IfOp(condition, [], Region(block)))

    def statement(self, op: Operation) -> None:
        """One loop or block."""
        if isinstance(op, ForOp):
            if op.for_kind == ForKind.VECTORIZED and self._vectorized(op):
                return
            if op.trip_count == 1:
                self.dim(op.var)
                self.index_values[self.dim(op.var)] = self.constant(op.start)
                for inner in op.body.block.ops:
                    self.statement(inner)
                return
            self.loop(op, self.constant(op.start), self.constant(op.start + op.trip_count))
        elif isinstance(op, BlockOp):
            self._block(op, None)

    def loop(self, loop: ForOp, lower: SSAValue, upper: SSAValue) -> None:
        """Run `loop` from `lower` to below `upper`."""
        block = Block(arg_types=[index])
        block.args[0].name_hint = loop.var.name_hint
        with self.into(block):
            self.index_values[self.dim(loop.var)] = block.args[0]
            for inner in loop.body.block.ops:
                self.statement(inner)
            self.insert(scf.YieldOp())
        op = scf.ForOp(lower, upper, self.constant(1), [], block)
        if loop.for_kind == ForKind.UNROLLED:
            op.attributes["loop_annotation"] = UNROLL_FULLY
        self.insert(op)

    def _vectorized(self, loop: ForOp) -> bool:
        """Emit a loop's blocks as vector operations; say so and do nothing where one of them cannot be."""
        lanes = Lanes(self.dim(loop.var), loop.trip_count)
        blocks = [op for op in loop.body.block.ops if isinstance(op, BlockOp)]
        if len(blocks) != len(list(loop.body.block.ops)) or loop.start != 0 or loop.trip_count == 1:
            return False
        for block in blocks:
            if (reason := self._why_not_vector(block, lanes)) is not None:
                missed(
                    "convert-tir-to-loops",
                    block,
                    f"block @{block.block_name} is not vectorized: {reason}",
                    "vectorize a loop along which every access is contiguous or stands still",
                )
                return False
        for block in blocks:
            self._block(block, lanes)
        return True

    # Blocks.

    def _block(self, block: BlockOp, lanes: Lanes | None) -> None:
        bindings = self._bindings(block)
        conditions: list[AffineExpr] = []
        for condition in block.conditions:
            bounds = expr_range(condition := self._over_loops(block, condition), self.ranges)
            if bounds is None or bounds[0] < 0:
                conditions.append(condition)

        def emit() -> None:
            if block.init is not None:
                self._init(block, bindings, lanes)
            self._body(block.body.block, bindings, lanes)

        if not conditions:
            emit()
            return
        test: SSAValue | None = None
        for condition in conditions:
            holds = self.emit(arith.CmpiOp(self.index_value(linear(condition, self.ranges)), self.constant(0), "sge"))
            test = holds if test is None else self.emit(arith.AndIOp(test, holds))
        assert test is not None
        self._guarded(test, emit)

    def _over_loops(self, block: BlockOp, expr: AffineExpr) -> AffineExpr:
        return substitute(expr, [self.dim(v) for v in block.loop_vars])

    def _bindings(self, block: BlockOp) -> list[AffineExpr]:
        return [self._over_loops(block, expr) for expr in block.bindings.data.results]

    def _init(self, block: BlockOp, bindings: Sequence[AffineExpr], lanes: Lanes | None) -> None:
        """Run `init` where every reduction iterator has its first value."""
        assert block.init is not None
        test: SSAValue | None = None
        for kind, binding in zip(block.kinds, bindings, strict=True):
            if isinstance(binding, AffineConstantExpr):
                if kind == IterKind.REDUCE and binding.value != 0:
                    return
            elif kind == IterKind.REDUCE:
                first = self.emit(arith.CmpiOp(self.index_value(linear(binding, self.ranges)), self.constant(0), "eq"))
                test = first if test is None else self.emit(arith.AndIOp(test, first))
        init = block.init.block
        if test is None:
            self._body(init, bindings, lanes)
        else:
            self._guarded(test, lambda: self._body(init, bindings, lanes))

    def _body(self, body: Block, bindings: Sequence[AffineExpr], lanes: Lanes | None) -> None:
        iters: dict[SSAValue, AffineExpr] = dict(zip(body.args, bindings, strict=True))
        scope = BlockScope(iters, {}, _needed(body), lanes)
        self._operations(body, scope)

    def _operations(self, body: Block, scope: BlockScope) -> None:
        for op in body.ops:
            if op in scope.needed:
                self._operation(op, scope)

    def _operation(self, op: Operation, scope: BlockScope) -> None:
        if isinstance(op, memref.LoadOp):
            scope.values[op.res] = self._load(op, scope)
        elif isinstance(op, memref.StoreOp):
            self._store(op, scope)
        elif isinstance(op, scf.IfOp):
            self._if(op, scope)
        elif isinstance(op, scf.YieldOp):
            self.insert(scf.YieldOp(*(self._value(v, scope) for v in op.operands)))
        else:
            operands = [self._value(v, scope) for v in op.operands]
            if any(isinstance(v.type, VectorType) for v in operands):
                self._on_vectors(op, operands, scope)
                return
            new = op.clone(dict(zip(op.operands, operands, strict=True)))
            self.insert(new)
            scope.values.update(zip(op.results, new.results, strict=True))

    def _on_vectors(self, op: Operation, operands: Sequence[SSAValue], scope: BlockScope) -> None:
        """The same operation lane by lane."""
        assert scope.lanes is not None
        width = scope.lanes.width
        wide = [self._broadcast(v, width) for v in operands]
        new = _ON_VECTORS.get(op.name, type(op)).create(
            operands=wide,
            result_types=[VectorType(r.type, [width]) for r in op.results],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        self.insert(new)
        scope.values.update(zip(op.results, new.results, strict=True))

    def _broadcast(self, value: SSAValue, width: int) -> SSAValue:
        if isinstance(value.type, VectorType):
            return value
        return self.emit(vector.BroadcastOp(value, VectorType(value.type, [width])))

    def _if(self, op: scf.IfOp, scope: BlockScope) -> None:
        condition = self._value(op.cond, scope)
        blocks: list[Block] = []
        for region in (op.true_region, op.false_region):
            block = Block()
            if region.blocks:
                inner = BlockScope(scope.iters, dict(scope.values), scope.needed, scope.lanes)
                with self.into(block):
                    self._operations(region.block, inner)
            blocks.append(block)
        types = [r.type for r in op.results]
        if scope.lanes is not None and types:
            yields = [block.last_op for block in blocks]
            for position in range(len(types)):
                if any(y is not None and isinstance(y.operands[position].type, VectorType) for y in yields):
                    for block, end in zip(blocks, yields, strict=True):
                        assert end is not None
                        with self.into(block):
                            end.detach()
                            end.operands[position] = self._broadcast(end.operands[position], scope.lanes.width)
                            self.insert(end)
                    types[position] = VectorType(types[position], [scope.lanes.width])
        regions = [Region(block) if block.ops else None for block in blocks]
        new = scf.IfOp(condition, types, regions[0] or Region(), regions[1])
        self.insert(new)
        scope.values.update(zip(op.results, new.results, strict=True))

    def _value(self, value: SSAValue, scope: BlockScope) -> SSAValue:
        """The lowered value of a value in a block's body: an index expression is built from the loops directly."""
        if (known := scope.values.get(value)) is not None:
            return known
        if value.type == index and (expr := affine_of(value, scope.iters)) is not None:
            result = self._index(linear(expr, self.ranges), scope.lanes)
        else:
            assert isinstance(value, OpResult), value
            self._operation(value.op, scope)
            return scope.values[value]
        scope.values[value] = result
        return result

    def _index(self, form: Linear, lanes: Lanes | None) -> SSAValue:
        """An index expression as a value; a vector of them where it differs from lane to lane."""
        if lanes is None or lanes.dim not in form.terms:
            return self.index_value(form)
        factor = form.terms[lanes.dim]
        base = self.index_value(Linear({a: f for a, f in form.terms.items() if a != lanes.dim}, form.constant))
        steps = DenseIntOrFPElementsAttr.from_list(
            VectorType(index, [lanes.width]), [factor * lane for lane in range(lanes.width)]
        )
        return self.emit(arith.AddiOp(self._broadcast(base, lanes.width), self.emit(arith.ConstantOp(steps))))

    def _position(self, op: memref.LoadOp | memref.StoreOp, scope: BlockScope) -> tuple[FlatBuffer, Linear | None]:
        """The buffer that an access touches, and where, if that follows from the iterators."""
        buffer = self.buffers[op.memref]
        iters = list(scope.iters)
        map = access_map(op, iters)  # pyright: ignore[reportArgumentType]
        if map is None:
            return buffer, None
        return buffer, buffer.position(map, list(scope.iters.values()), self.ranges)

    def _data_dependent(self, op: memref.LoadOp | memref.StoreOp, buffer: FlatBuffer, scope: BlockScope) -> SSAValue:
        total = self.constant(0)
        for value, stride, offset in zip(op.indices, buffer.strides, buffer.offsets, strict=True):
            assert offset == AffineConstantExpr(0), "a data-dependent access is to a whole buffer"
            term = self._value(value, scope)
            if stride != 1:
                term = self.emit(arith.MuliOp(term, self.constant(stride)))
            total = self.emit(arith.AddiOp(total, term))
        return total

    def _load(self, op: memref.LoadOp, scope: BlockScope) -> SSAValue:
        buffer, form = self._position(op, scope)
        if form is None:
            return self.emit(memref.LoadOp.get(buffer.memory, [self._data_dependent(op, buffer, scope)]))
        lanes = scope.lanes
        if lanes is None or lanes.dim not in form.terms:
            return self.emit(memref.LoadOp.get(buffer.memory, [self.index_value(form)]))
        start = self.index_value(Linear({a: f for a, f in form.terms.items() if a != lanes.dim}, form.constant))
        type = VectorType(buffer.element_type, [lanes.width])
        if (step := form.terms[lanes.dim]) != 1:
            return self._gather(buffer, start, step, type, lanes)
        if not lanes.is_masked or buffer.has_room:
            return self.emit(vector.LoadOp(buffer.memory, [start], type))
        passthrough = self.emit(arith.ConstantOp(_zeros(type)))
        return self.emit(vector.MaskedLoadOp(buffer.memory, [start], self._mask(lanes), passthrough, type))

    def _gather(
        self, buffer: FlatBuffer, start: SSAValue, step: int, type: VectorType[Attribute], lanes: Lanes
    ) -> SSAValue:
        """A vector of elements `step` apart, put together one by one."""
        gathered = self.emit(arith.ConstantOp(_zeros(type)))
        for lane in range(lanes.extent):
            position = self.emit(arith.AddiOp(start, self.constant(lane * step))) if lane else start
            element = self.emit(memref.LoadOp.get(buffer.memory, [position]))
            gathered = self.emit(
                vector.InsertOp.build(
                    operands=[element, gathered, []],
                    result_types=[type],
                    properties={"static_position": DenseArrayBase.from_list(i64, [lane])},
                )
            )
        return gathered

    def _store(self, op: memref.StoreOp, scope: BlockScope) -> None:
        value = self._value(op.value, scope)
        buffer, form = self._position(op, scope)
        if form is None:
            self.insert(memref.StoreOp.get(value, buffer.memory, [self._data_dependent(op, buffer, scope)]))
            return
        lanes = scope.lanes
        if lanes is None:
            self.insert(memref.StoreOp.get(value, buffer.memory, [self.index_value(form)]))
            return
        start = self.index_value(Linear({a: f for a, f in form.terms.items() if a != lanes.dim}, form.constant))
        wide = self._broadcast(value, lanes.width)
        if lanes.is_masked and not buffer.has_room:
            self.insert(vector.MaskedStoreOp(buffer.memory, [start], self._mask(lanes), wide))
        else:
            self.insert(vector.StoreOp(wide, buffer.memory, [start]))

    def _mask(self, lanes: Lanes) -> SSAValue:
        bits = [int(lane < lanes.extent) for lane in range(lanes.width)]
        return self.emit(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(VectorType(i1, [lanes.width]), bits)))

    # What can run as vectors.

    def _why_not_vector(self, block: BlockOp, lanes: Lanes) -> str | None:
        """Why a block cannot run with `lanes` as vector lanes; `None` where it can."""
        bindings = self._bindings(block)

        def moves(expr: AffineExpr) -> bool:
            return any(AffineExpr.dimension(d) == lanes.dim for d in expr.used_dims())

        if any(moves(self._over_loops(block, condition)) for condition in block.conditions):
            return "its predicate differs between lanes"
        if any(k == IterKind.REDUCE and moves(b) for k, b in zip(block.kinds, bindings, strict=True)):
            return "the lanes are steps of its reduction"
        for region in (block.body, *([block.init] if block.init is not None else [])):
            iters: dict[SSAValue, AffineExpr] = dict(zip(region.block.args, bindings, strict=True))
            varying = {v for v, expr in iters.items() if moves(expr)}
            if (reason := self._varies(region.block, iters, varying, lanes)) is not None:
                return reason
        return None

    def _varies(
        self, body: Block, iters: Mapping[SSAValue, AffineExpr], varying: set[SSAValue], lanes: Lanes
    ) -> str | None:
        needed = _needed(body)
        for op in body.walk():
            if op not in needed:
                if any(v in varying for v in op.operands):
                    varying.update(op.results)
                continue
            if isinstance(op, memref.LoadOp | memref.StoreOp):
                scope = BlockScope(dict(iters), {}, needed, lanes)
                _, form = self._position(op, scope)
                stride: int | None = None
                if form is None:
                    stride = None if any(v in varying for v in op.indices) else 0
                elif not any(
                    atom != lanes.dim and AffineExpr.dimension(d) == lanes.dim
                    for atom in form.terms
                    for d in atom.used_dims()
                ):
                    stride = form.coefficient(lanes.dim)
                if isinstance(op, memref.StoreOp):
                    if stride != 1:
                        return "it does not write neighbouring elements"
                elif stride is None:
                    return "it reads elements whose distance differs"
                elif stride:
                    varying.add(op.res)
            elif isinstance(op, scf.IfOp):
                if op.cond in varying:
                    return "it takes different branches in different lanes"
                varying.update(op.results)
            elif any(v in varying for v in op.operands):
                if any(v.type == index and not isinstance(op, arith.CmpiOp | arith.IndexCastOp) for v in op.results):
                    value = op.results[0]
                    expr = affine_of(value, iters)
                    form = None if expr is None else linear(expr, self.ranges)
                    if form is None or any(
                        atom != lanes.dim and AffineExpr.dimension(d) == lanes.dim
                        for atom in form.terms
                        for d in atom.used_dims()
                    ):
                        return "it computes with an index that is not linear in the lane"
                varying.update(op.results)
        return None


def _zeros(type: VectorType[Attribute]) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr.from_list(type, [0] * type.get_shape()[0])  # pyright: ignore


def _needed(body: Block) -> set[Operation]:
    """The operations of a block's body that lowering emits: stores and what they need, without the arithmetic that only
    served to address elements (addresses are built anew from the loops)."""
    iters = list(body.args)
    needed: set[Operation] = set()
    work: list[Operation] = [op for op in body.walk() if isinstance(op, memref.StoreOp)]
    while work:
        op = work.pop()
        if op in needed:
            continue
        needed.add(op)
        parent = op.parent_op()
        if isinstance(parent, scf.IfOp):
            work.append(parent)
        operands: Sequence[SSAValue] = op.operands
        if isinstance(op, memref.LoadOp | memref.StoreOp) and access_map(op, iters) is not None:
            operands = [op.value] if isinstance(op, memref.StoreOp) else []
        elif isinstance(op, scf.IfOp):
            for region in op.regions:
                if region.blocks and (end := region.block.last_op) is not None:
                    work.append(end)
        work.extend(v.op for v in operands if isinstance(v, OpResult))
    return needed

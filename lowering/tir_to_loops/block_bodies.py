"""A block's body, operation by operation: scalars as they are, or all lanes of a vector at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, StridedLayoutAttr, VectorType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.traits import is_side_effect_free

from ...dialects.extensions import arith as arith_extensions
from ...dialects.rt import calls as rt_calls
from ...dialects.rt import checks as rt
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import dtype_name
from ...dialects.support.facts import remembered
from ...dialects.support.interned import index, vector_of
from ...dialects.support.vector_unit import VectorUnit
from ...dialects.support.walking import in_order
from ...dialects.tir.affine import Linear, affine_of, linear, over_dimensions
from ...dialects.tir.assumptions import UndefOp, values_of
from ...dialects.tir.buffers import memref_of, shape_of
from ...dialects.tir.calls import Convention
from ...dialects.tir.core import AddressOfOp, AssertOp, AssumeOp, CallOp, CheckOp, DotOp
from ..abi import CONST
from ..check_sites import Checked
from .accesses import AccessEmitter
from .dots import DotEmitter
from .flat_buffers import row_major_strides
from .index_values import IndexBuilder
from .lanes import Lanes

BRANCHING = scf.IfOp | scf.WhileOp
_EFFECTS = (memref.StoreOp, CheckOp, AssertOp, scf.WhileOp)
_PLAIN = (memref.LoadOp, memref.StoreOp, scf.YieldOp, scf.ConditionOp)
CHECKED = AssertOp | AssumeOp | CallOp | CheckOp

_ON_VECTORS = {op.name: op for op in arith_extensions.OPERATIONS}


@dataclass
class BlockScope:
    """What is known while a block's body is emitted: its iterators as expressions over the loops, the values already
    emitted, the operations that are wanted, and the lanes, if the block runs as vectors."""

    iters: Mapping[SSAValue, AffineExpr]
    values: dict[SSAValue, SSAValue]
    needed: set[Operation]
    lanes: Lanes | None


@dataclass(frozen=True)
class Checks:
    """The record of a kernel, and the numbers of its checks."""

    record: SSAValue
    numbers: Mapping[Checked, int]


class BodyEmitter:
    """Appends what a block's body does, its iterators replaced by expressions over the loops."""

    def __init__(
        self, at: IndexBuilder, accesses: AccessEmitter, checks: Checks | None = None, unit: VectorUnit | None = None
    ):
        self.at = at
        self.accesses = accesses
        self.checks = checks
        self.ready: Mapping[memref.LoadOp, SSAValue] = {}
        """What loads give that have been done before."""
        self.dots = DotEmitter(accesses, unit or VectorUnit())

    def emit(self, body: Block, bindings: Sequence[AffineExpr], lanes: Lanes | None) -> None:
        """Append `body`, whose arguments have the values `bindings`.

        Raises:
            Diagnostic: an operation in it is none that a block's body may have.
        """
        check_operations(body)
        iters: Mapping[SSAValue, AffineExpr] = dict(zip(body.args, bindings, strict=True))
        self._operations(body, BlockScope(iters, {}, needed_operations(body), lanes))

    def value(self, body: Block, bindings: Sequence[AffineExpr], value: SSAValue, lanes: Lanes | None) -> SSAValue:
        """Append what one value in `body` needs, and give it.

        Raises:
            Diagnostic: as `emit` does.
        """
        check_operations(body)
        iters: Mapping[SSAValue, AffineExpr] = dict(zip(body.args, bindings, strict=True))
        return self._value(value, BlockScope(iters, {}, needed_operations(body), lanes))

    def _operations(self, body: Block, scope: BlockScope) -> None:
        for op in body.ops:
            if op in scope.needed and not _is_read_later(op):
                self._operation(op, scope)

    def _operation(self, op: Operation, scope: BlockScope) -> None:
        if isinstance(op, memref.LoadOp):
            self._load(op, scope)
        elif isinstance(op, memref.StoreOp):
            value = self._value(op.value, scope)
            buffer, form = self.accesses.position(op, scope.iters)
            if form is None:
                place = self.accesses.data_dependent(buffer, [self._value(v, scope) for v in op.indices])
                self.at.insert(memref.StoreOp.get(value, buffer.memory, [place]))
            else:
                self.accesses.store(value, buffer, form, scope.lanes)
        elif isinstance(op, scf.IfOp):
            self._if(op, scope)
        elif isinstance(op, DotOp):
            scope.values[op.result] = self.dots.emit(
                op, scope.iters, scope.lanes, lambda value: self._value(value, scope), _is_read_later
            )
        elif isinstance(op, scf.WhileOp):
            self._while(op, scope)
        elif isinstance(op, CallOp):
            self._call(op, scope)
        elif isinstance(op, AddressOfOp):
            self._address(op, scope)
        elif isinstance(op, AssertOp):
            zero, one = self.at.constant(0), self.at.constant(1)
            self._check(op, self.at.emit(arith.SelectOp(self._value(op.condition, scope), zero, one)))
        elif isinstance(op, CheckOp):
            assert self.checks is not None
            at, given = self._value(op.at, scope), self._value(op.given, scope)
            extent = op.limit if isinstance(op.limit, int) else self._value(op.limit, scope)
            check = rt.CheckOp(at, given, extent, self.checks.record, self.checks.numbers[op])
            check.location = op.location
            scope.values[op.result] = self.at.emit(check)
        elif isinstance(op, scf.ConditionOp):
            self.at.insert(scf.ConditionOp(self._value(op.condition, scope), *(self._value(v, scope) for v in op.args)))
        elif isinstance(op, scf.YieldOp):
            self.at.insert(scf.YieldOp(*(self._value(v, scope) for v in op.operands)))
        elif any(isinstance(v.type, MemRefType) for v in op.operands):
            raise Diagnostic.at(op, "takes a buffer, and in a block only loads, stores and calls do")
        else:
            operands = [self._value(v, scope) for v in op.operands]
            if any(isinstance(v.type, VectorType) for v in operands):
                self._on_vectors(op, operands, scope)
                return
            new = op.clone(dict(zip(op.operands, operands, strict=True)))
            self.at.insert(new)
            scope.values.update(zip(op.results, new.results, strict=True))

    def _load(self, op: memref.LoadOp, scope: BlockScope) -> None:
        if (known := self.ready.get(op)) is not None:
            scope.values[op.res] = known
            return
        buffer, form = self.accesses.position(op, scope.iters)
        if form is not None:
            scope.values[op.res] = self.accesses.load(buffer, form, scope.lanes)
            return
        place = self.accesses.data_dependent(buffer, [self._first(v, scope) for v in op.indices])
        lanes = scope.lanes
        step = self.accesses.step_beside(op, scope.iters, lanes.dim, ()) if lanes is not None else 0
        if lanes is not None and step:
            scope.values[op.res] = self.accesses.load_lanes(buffer, place, step, lanes)
        else:
            scope.values[op.res] = self.at.emit(memref.LoadOp.get(buffer.memory, [place]))

    def _first(self, value: SSAValue, scope: BlockScope) -> SSAValue:
        """An index in the first of the lanes."""
        if scope.lanes is None or (expr := affine_of(value, scope.iters)) is None:
            return self._value(value, scope)
        return self.accesses.first_of(linear(expr, self.at.ranges), scope.lanes)

    def _check(self, op: AssertOp | CallOp, status: SSAValue) -> None:
        """Make the run fail unless `status` is 0."""
        assert self.checks is not None
        check = rt.CheckOp(status, status, 1, self.checks.record, self.checks.numbers[op])
        check.location = op.location
        self.at.insert(check)

    def _while(self, op: scf.WhileOp, scope: BlockScope) -> None:
        before, after = (Block(arg_types=list(region.block.arg_types)) for region in op.regions)
        initial = [self._value(v, scope) for v in op.arguments]
        for region, block in zip(op.regions, (before, after), strict=True):
            values = {**scope.values, **dict(zip(region.block.args, block.args, strict=True))}
            with self.at.into(block):
                self._operations(region.block, BlockScope(scope.iters, values, scope.needed, scope.lanes))
        new = scf.WhileOp(initial, [r.type for r in op.results], Region(before), Region(after))
        self.at.insert(new)
        scope.values.update(zip(op.results, new.results, strict=True))

    def _address(self, op: AddressOfOp, scope: BlockScope) -> None:
        """The flat memory of a buffer from an element on."""
        buffer = self.accesses.buffers[op.memref]
        start = self.accesses.data_dependent(buffer, [self._value(v, scope) for v in op.indices])
        source = memref_of(buffer.memory)
        layout = StridedLayoutAttr([1], None)
        type = MemRefType[Attribute](source.element_type, [1], layout)
        view = memref.SubviewOp.get(buffer.memory, [start], [1], [1], type)
        scope.values[op.result] = self.at.emit(view)

    def _call(self, op: CallOp, scope: BlockScope) -> None:
        arguments: list[SSAValue] = []
        for value in op.arguments:
            whole = self.accesses.buffers.get(value)
            if whole is not None and whole.strides != row_major_strides(shape_of(value)):
                raise Diagnostic.at(op, "is handed a buffer whose rows lie apart: the function would not know")
            arguments.append(self._value(value, scope) if whole is None else whole.memory)
            if op.kind == Convention.PACKED and whole is not None:
                arguments += self._open_extents(value)
        result = op.results[0].type if op.results else None
        if op.kind != Convention.PACKED:
            new = rt_calls.CallOp(op.callee.data, arguments, result)
            new.location = op.location
            self.at.insert(new)
            if op.results:
                scope.values[op.results[0]] = new.results[0]
            return
        packed = rt_calls.CallPackedOp(_signature(op), arguments, result)
        packed.location = op.location
        self.at.insert(packed)
        if op.results:
            scope.values[op.results[0]] = packed.results[1]
        self._check(op, packed.status)

    def _open_extents(self, buffer: SSAValue) -> list[SSAValue]:
        """The extents of a buffer that its type does not say."""
        extents = [extent for extent in shape_of(buffer) if isinstance(extent, AffineExpr)]
        return [self.at.index_value(linear(extent, self.at.ranges)) for extent in extents]

    def _on_vectors(self, op: Operation, operands: Sequence[SSAValue], scope: BlockScope) -> None:
        """The same operation lane by lane."""
        assert scope.lanes is not None
        width = scope.lanes.width
        wide = [self.accesses.broadcast(v, width) for v in operands]
        new = _ON_VECTORS.get(op.name, type(op)).create(
            operands=wide,
            result_types=[vector_of(r.type, width) for r in op.results],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        self.at.insert(new)
        scope.values.update(zip(op.results, new.results, strict=True))

    def _if(self, op: scf.IfOp, scope: BlockScope) -> None:
        condition = self._value(op.cond, scope)
        blocks: list[Block] = []
        for region in (op.true_region, op.false_region):
            block = Block()
            if region.blocks:
                inner = BlockScope(scope.iters, dict(scope.values), scope.needed, scope.lanes)
                with self.at.into(block):
                    self._operations(region.block, inner)
            blocks.append(block)
        types = [r.type for r in op.results]
        if scope.lanes is not None and types:
            yields = [block.last_op for block in blocks]
            for position in range(len(types)):
                if any(y is not None and isinstance(y.operands[position].type, VectorType) for y in yields):
                    for block, end in zip(blocks, yields, strict=True):
                        assert end is not None
                        with self.at.into(block):
                            end.detach()
                            end.operands[position] = self.accesses.broadcast(end.operands[position], scope.lanes.width)
                            self.at.insert(end)
                    types[position] = vector_of(types[position], scope.lanes.width)
        regions = [Region(block) if block.ops else None for block in blocks]
        new = scf.IfOp(condition, types, regions[0] or Region(), regions[1])
        self.at.insert(new)
        scope.values.update(zip(op.results, new.results, strict=True))

    def _value(self, value: SSAValue, scope: BlockScope) -> SSAValue:
        """The lowered value of a value in a block's body: an index expression is built from the loops directly."""
        if (known := scope.values.get(value)) is not None:
            return known
        if value.type == index and (expr := affine_of(value, scope.iters)) is not None:
            result = self._index(linear(expr, self.at.ranges), scope.lanes)
        else:
            assert isinstance(value, OpResult), value
            self._operation(value.op, scope)
            return scope.values[value]
        scope.values[value] = result
        return result

    def _index(self, form: Linear, lanes: Lanes | None) -> SSAValue:
        """An index expression as a value; a vector of them where it differs from lane to lane."""
        if lanes is None or lanes.dim not in form.terms:
            return self.at.index_value(form)
        factor = form.terms[lanes.dim]
        base = self.accesses.first_of(form, lanes)
        steps = DenseIntOrFPElementsAttr.from_list(
            VectorType(index, [lanes.width]), [factor * lane for lane in range(lanes.width)]
        )
        wide = self.accesses.broadcast(base, lanes.width)
        return self.at.emit(arith.AddiOp(wide, self.at.emit(arith.ConstantOp(steps))))


def _is_read_later(op: Operation) -> bool:
    """Whether a load serves dot products only, which read it with its neighbours, and nothing is stored before that."""
    if not isinstance(op, memref.LoadOp) or not op.res.uses:
        return False
    users = [use.operation for use in op.res.uses]
    if any(not isinstance(user, DotOp) or user.parent is not op.parent for user in users):
        return False
    between = op.next_op
    while between is not None and users:
        users = [user for user in users if user is not between]
        if isinstance(between, memref.StoreOp | scf.IfOp) and users:
            return False
        between = between.next_op
    return True


def _has_effect(op: Operation) -> bool:
    """Whether something is done besides computing a value; a loop may never end."""
    if type(op) is CallOp:
        return not op.is_pure
    return type(op) in _EFFECTS


def _signature(op: CallOp) -> str:
    """What a packed function is called with, as `rt.call_packed` says it: open extents as `?`, which it is given behind
    their buffer, and what it only reads as `const`."""
    types: list[str] = []
    effects = iter(op.buffers)
    for value in op.arguments:
        is_buffer = isinstance(value.type, MemRefType)
        dtype = _dtype(memref_of(value).element_type if is_buffer else value.type)
        if is_buffer:
            shape = ("?" if extent < 0 else str(extent) for extent in memref_of(value).get_shape())
            _, effect = next(effects)
            dtype = f"{'' if effect.writes else CONST}{dtype}[{'x'.join(shape)}]"
        types.append(dtype)
    return f"{op.callee.data}|{','.join(types)}|{_dtype(op.results[0].type) if op.results else ''}"


def _dtype(type: Attribute) -> str:
    return "int64" if type == index else dtype_name(type)


def check_operations(body: Block) -> None:
    """What a block's body may hold: element accesses, branches, and what only computes values.

    Raises:
        Diagnostic: there is something else, which would be lost.
    """
    for op in in_order(body):
        if type(op) in _PLAIN or isinstance(op, BRANCHING | CHECKED):
            continue
        computes = op.name.startswith(("arith.", "math.")) or is_side_effect_free(op)
        gives = bool(op.results) or isinstance(op, UndefOp)
        if op.regions or not computes or not gives:
            raise Diagnostic.at(
                op,
                "cannot be lowered in a tir.block",
                hint="a block's body loads and stores elements, branches with scf.if, and computes with arith and math",
            )


@remembered
def needed_operations(body: Block) -> set[Operation]:
    """The operations of a block's body that lowering emits: stores, checks, and what they need, without the arithmetic
    that only served to address elements (addresses are built anew from the loops), and without what is assumed and
    stores of what may be any."""
    iters = over_dimensions(body.args)
    needed: set[Operation] = set()
    work: list[Operation] = []
    undefined: set[SSAValue] = set()
    for op in in_order(body):
        if isinstance(op, UndefOp):
            undefined |= values_of(op)
        elif _has_effect(op) and not (isinstance(op, memref.StoreOp) and op.value in undefined):
            work.append(op)
    while work:
        op = work.pop()
        if op in needed:
            continue
        needed.add(op)
        parent = op.parent_op()
        if isinstance(parent, BRANCHING):
            work.append(parent)
        operands: Sequence[SSAValue] = op.operands
        if isinstance(op, memref.LoadOp | memref.StoreOp):
            operands = [op.value] if isinstance(op, memref.StoreOp) else []
            operands = [*operands, *(v for v in op.indices if affine_of(v, iters) is None)]
        elif isinstance(op, BRANCHING):
            for region in op.regions:
                if region.blocks and (end := region.block.last_op) is not None:
                    work.append(end)
        work.extend(v.op for v in operands if isinstance(v, OpResult))
    return needed

"""From tensor expressions to TIR: each `compute` becomes one `tir.block` in a loop nest over its axes.

Counterpart of TVM's `te.create_prim_func`. The expression becomes the block's body: `arith`, `math`, and loads of the
tensors it reads; a reduction becomes a block with an `init` and a body that combines one step. Loops of extent one are
left out. Signed and unsigned integers are both signless in memory; the operations chosen keep them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefType,
    Signedness,
    UnitAttr,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ...dialects import te
from ...dialects.extensions.arith import RemFOp
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import is_small_float
from ...dialects.support.hints import isa
from ...dialects.support.interned import shaped_memref
from ...dialects.te.bounds import bounds, greatest
from ...dialects.te.dims import surely_at_most, to_text
from ...dialects.te.expr import BinaryKind as B
from ...dialects.te.expr import UnaryKind as U
from ...dialects.tir.affine import linear
from ...dialects.tir.core import AllocBufferOp, BlockOp, CheckOp, ForOp, IterKind, PrimFuncOp
from ...dialects.tir.float_flags import CONTRACT, NO_SIGNED_ZERO, REASSOCIATE
from ...dialects.tir.loops import INDEPENDENT
from ...dialects.tir.symbols import Extent, as_extent
from . import te_integers
from .te_external import emit_external
from .te_statements import emit_statements


def signless(type: Attribute) -> Attribute:
    """The type that `arith` works on: an unsigned integer's bits without the sign."""
    return IntegerType(type.width.data) if isa(type, IntegerType) else type


def buffer_type(tensor: te.Tensor) -> MemRefType[Attribute]:
    """The memref that holds `tensor`: same shape, signless elements, row-major."""
    shape = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in tensor.dims]
    return shaped_memref(signless(tensor.element_type), tuple(shape))


@dataclass(frozen=True)
class Symbols:
    """The symbols of a computation, by the numbers that affine expressions have for them. An extent that is no affine
    expression of symbols has a number of its own."""

    numbers: Mapping[te.Expr, int] | Mapping[te.Var, int]

    def extent(self, dim: te.Dim) -> Extent:
        """An extent as `tir` has it.

        Raises:
            Diagnostic: it is no affine expression.
        """
        return dim if isinstance(dim, int) else as_extent(linear(self._affine(dim)).to_expr())

    def is_affine(self, dim: te.Dim) -> bool:
        """Whether `tir` has such an extent."""
        try:
            self.extent(dim)
        except Diagnostic:
            return False
        return True

    def difference(self, a: te.Dim, b: te.Dim) -> Extent:
        """`a - b` as `tir` has it.

        Raises:
            Diagnostic: one of them is no affine expression.
        """
        return as_extent(linear(self._affine(te.dim_expr(a)) - self._affine(te.dim_expr(b))).to_expr())

    def shape(self, tensor: te.Tensor) -> tuple[Extent, ...]:
        """The extents of a tensor's buffer."""
        return tuple(map(self.extent, tensor.dims))

    def _affine(self, dim: te.Expr) -> AffineExpr:
        if (number := cast("Mapping[te.Expr, int]", self.numbers).get(dim)) is not None:
            return AffineExpr.symbol(number)
        match dim:
            case te.Const(value):
                return AffineConstantExpr(int(value))
            case te.Binary(kind, lhs, rhs):
                a, b = self._affine(lhs), self._affine(rhs)
                if isinstance(a, AffineConstantExpr) and kind == B.MUL:
                    a, b = b, a
                match kind:
                    case B.ADD:
                        return a + b
                    case B.SUB:
                        return a - b
                    case B.MUL if isinstance(b, AffineConstantExpr):
                        return a * b
                    case B.FLOORDIV if isinstance(b, AffineConstantExpr) and b.value > 0:
                        return a // b
                    case B.FLOORMOD if isinstance(b, AffineConstantExpr) and b.value > 0:
                        return a % b
                    case _:
                        pass
            case _:
                pass
        raise Diagnostic(
            f"the extent {to_text(dim)} cannot be that of a loop or a buffer",
            hint="extents are sums of symbols times numbers, and quotients and remainders of such by numbers",
        )


def is_unsigned(type: Attribute) -> bool:
    """Whether values of `type` are compared and widened as unsigned; `i1` is."""
    return isa(type, IntegerType) and (type.signedness.data == Signedness.UNSIGNED or type.width.data == 1)


def create_prim_func(
    name: str,
    inputs: Sequence[te.Tensor],
    outputs: Sequence[te.Tensor],
    locations: Mapping[te.Tensor, LocationAttr] | None = None,
    symbols: Sequence[te.Expr] = (),
    nests: dict[object, Operation] | None = None,
) -> PrimFuncOp:
    """The function `name(inputs..., outputs...)` that computes `outputs`. `locations` says where what a tensor is
    computed by comes from. `nests` takes the loops of each computation (`computation_of`) that is not a function's.

    An output that is an input, or that stands twice in the list, is copied. Nothing is done for a tensor without
    elements.

    The symbols of their extents are `index` arguments after these: first those that are given as `symbols`, then the
    others in order of first use. Among `symbols` may be extents that are no affine expressions (`opaque_extents`).
    """
    results: list[te.Tensor] = []
    for output in outputs:
        results.append(_identity(output) if output.producer is None or output in results else output)
    tensors = te.topological_order(results)
    variables = list(dict.fromkeys([*symbols, *_variables([*inputs, *results, *tensors])]))
    func = PrimFuncOp(name, [*(buffer_type(t) for t in [*inputs, *results]), *(te.index for _ in variables)])
    block = func.body.block
    arguments = dict(zip(variables, block.args[len(block.args) - len(variables) :], strict=True))
    numbers = Symbols({variable: argument.index for variable, argument in arguments.items()})
    variable_arguments = {each: argument for each, argument in arguments.items() if isinstance(each, te.Var)}
    if variables:
        for variable, argument in arguments.items():
            argument.name_hint = variable.name if isinstance(variable, te.Var) else "extent"
        func.set_shapes([*(numbers.shape(t) for t in [*inputs, *results]), *(None for _ in variables)])
    buffers: dict[te.Tensor, SSAValue] = {}
    for position, tensor in enumerate([*inputs, *results]):
        argument = block.args[position]
        argument.name_hint = f"p{position}" if position < len(inputs) else f"out{position - len(inputs) or ''}"
        buffers[tensor] = argument
    names: set[str] = set()
    groups: dict[object, list[te.Tensor]] = {}
    for tensor in tensors:
        groups.setdefault(computation_of(tensor), []).append(tensor)
    for tensor in tensors:
        if tensor.producer is None:
            if tensor not in buffers:
                raise ValueError(f"te: '{tensor.name}' is read but is not an input of @{name}")
            continue
        if tensor not in buffers:
            alloc = AllocBufferOp.of(signless(tensor.element_type), numbers.shape(tensor))
            alloc.buffer.name_hint = tensor.name
            block.add_op(alloc)
            buffers[tensor] = alloc.buffer
        group = groups[computation_of(tensor)]
        if isinstance(filled := tensor.producer.body, te.Filled) and isinstance(filled.procedure, te.External):
            if tensor is group[0] and any(0 not in each.dims for each in group):
                _emit_external(filled.procedure, group, buffers, numbers, variable_arguments, block, names)
            continue
        if 0 not in tensor.dims and tensor is group[0]:
            for each in group[1:]:
                if each not in buffers:
                    alloc = AllocBufferOp.of(signless(each.element_type), numbers.shape(each))
                    alloc.buffer.name_hint = each.name
                    block.add_op(alloc)
                    buffers[each] = alloc.buffer
            targets = [buffers[tensor]]
            if isinstance(filled := tensor.producer.body, te.Filled) and isinstance(filled.procedure, te.Procedure):
                for each in (*filled.procedure.results, *filled.procedure.scratch):
                    if each not in buffers:
                        alloc = AllocBufferOp.of(signless(each.element_type), numbers.shape(each))
                        alloc.buffer.name_hint = each.name
                        block.add_op(alloc)
                        buffers[each] = alloc.buffer
                for each in filled.procedure.results:
                    zeros = te.compute(each.dims, lambda *_, t=each.element_type: te.const(0, t)).producer
                    assert zeros is not None
                    if 0 not in each.dims:
                        name_of_zeros = _unique(f"{each.name}_zero", names)
                        block.add_op(_nest([buffers[each]], zeros, name_of_zeros, buffers, numbers, variable_arguments))
            if isinstance(fold := tensor.producer.body, te.Fold):
                targets = _targets(fold, group, buffers, numbers, block)
            name_of_block = _unique(tensor.name.removesuffix(".v0") if len(targets) > 1 else tensor.name, names)
            nest = _nest(targets, tensor.producer, name_of_block, buffers, numbers, variable_arguments)
            if locations is not None and (location := locations.get(tensor)) is not None:
                _place(nest, location)
            block.add_op(nest)
            if nests is not None:
                nests[computation_of(tensor)] = nest
    return func


def _emit_external(
    external: te.External,
    group: Sequence[te.Tensor],
    buffers: dict[te.Tensor, SSAValue],
    symbols: Symbols,
    arguments: Mapping[te.Var, BlockArgument],
    block: Block,
    names: set[str],
) -> None:
    """What a function does that fills tensors; results that nobody asks for get buffers of their own."""
    found: dict[int, SSAValue] = {}
    for number, result in enumerate(external.results()):
        asked = [t for t in group if t.producer and isinstance(f := t.producer.body, te.Filled) and f.number == number]
        tensor = asked[0] if asked else result
        if tensor not in buffers:
            alloc = AllocBufferOp.of(signless(tensor.element_type), symbols.shape(tensor))
            alloc.buffer.name_hint = tensor.name
            block.add_op(alloc)
            buffers[tensor] = alloc.buffer
        found[number] = buffers[tensor]
    given = [*(buffers[each] for each in external.inputs), *(found[number] for number in range(len(found)))]
    emit_external(external, given, arguments, block, lambda name: _unique(name, names))


def computation_of(tensor: te.Tensor) -> object:
    """What a tensor has in common with those that are computed with it: the results of one reduction."""
    body = None if tensor.producer is None else tensor.producer.body
    if isinstance(body, te.Filled):
        return body.procedure
    return (body.combiner, tensor.producer.axes) if isinstance(body, te.Fold) and tensor.producer else tensor


def _targets(
    fold: te.Fold, group: Sequence[te.Tensor], buffers: dict[te.Tensor, SSAValue], symbols: Symbols, block: Block
) -> list[SSAValue]:
    """The buffers of all results of a reduction; those that nobody asks for get one of their own."""
    found: dict[int, SSAValue] = {}
    for tensor in group:
        assert tensor.producer is not None and isinstance(tensor.producer.body, te.Fold)
        found[tensor.producer.body.number] = buffers[tensor]
    for number, result in enumerate(fold.combiner.results):
        if number not in found:
            alloc = AllocBufferOp.of(signless(result.type), symbols.shape(group[0]))
            block.add_op(alloc)
            found[number] = alloc.buffer
    return [found[number] for number in range(len(found))]


def _place(nest: Operation, location: LocationAttr) -> None:
    """Say of the blocks and checks of a nest where they come from."""
    for op in nest.walk():
        if isinstance(op, BlockOp | CheckOp):
            op.location = location


def _variables(tensors: Sequence[te.Tensor]) -> list[te.Var]:
    """The symbols in extents of tensors and of reductions, each once."""
    return te.variables(_dims(tensors))


def _dims(tensors: Sequence[te.Tensor]) -> list[te.Expr]:
    """The extents of tensors and of reductions that are no integers."""
    dims: list[te.Dim] = []
    for tensor in tensors:
        dims += tensor.dims
        if tensor.producer is not None:
            dims += (axis.dim for axis in tensor.producer.reduce_axes)
            if isinstance(filled := tensor.producer.body, te.Filled) and isinstance(filled.procedure, te.External):
                dims += filled.procedure.symbols
    return [dim for dim in dims if not isinstance(dim, int)]


def opaque_extents(outputs: Sequence[te.Tensor]) -> list[te.Expr]:
    """Extents of what computes `outputs` that are no affine expressions of symbols, such as the lesser of two, each
    once: whoever calls the function has to say what they are."""
    dims = _dims(te.topological_order(outputs))
    numbers = Symbols({symbol: number for number, symbol in enumerate(te.variables(dims))})
    found: dict[te.Expr, None] = {}
    pending: list[te.Dim] = [*dims[::-1]]
    while pending:
        dim = pending.pop()
        if isinstance(dim, int) or numbers.is_affine(dim):
            continue
        match dim:
            case te.Binary(B.ADD | B.SUB, lhs, rhs):
                pending += [rhs, lhs]
            case te.Binary(B.MUL | B.FLOORDIV | B.FLOORMOD, lhs, te.Const()):
                pending.append(lhs)
            case _:
                found[dim] = None
    return list(found)


def _identity(tensor: te.Tensor) -> te.Tensor:
    return te.compute(tensor.dims, lambda *i: tensor[i], "copy")


def _unique(name: str, taken: set[str]) -> str:
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    taken.add(candidate)
    return candidate


def _nest(
    targets: Sequence[SSAValue],
    compute: te.Compute,
    name: str,
    buffers: dict[te.Tensor, SSAValue],
    symbols: Symbols,
    arguments: Mapping[te.Var, BlockArgument],
) -> Operation:
    """The loops over a compute's axes with its block inside; only the block where all extents are one."""
    formula = compute.body
    if isinstance(formula, te.Filled):
        assert isinstance(formula.procedure, te.Procedure)
        compute = te.Compute(formula.procedure.axes, formula)
    if isinstance(formula, te.Reduce) and any(axis.dim == 0 for axis in formula.axes):
        formula = te.reduce_identity(formula.kind, formula.type)  # of no terms
    empty = isinstance(formula, te.Fold) and any(axis.dim == 0 for axis in formula.axes)
    axes = (*compute.axes, *(formula.axes if isinstance(formula, te.Reduce | te.Fold) and not empty else ()))
    iters = [(axis, IterKind.REDUCE if axis.reduce else IterKind.SPATIAL) for axis in axes]
    loops: list[ForOp] = []
    bindings: list[AffineExpr] = []
    for axis, _ in iters:
        if axis.dim == 1:
            bindings.append(AffineConstantExpr(0))
        else:
            bindings.append(AffineExpr.dimension(len(loops)))
            loops.append(ForOp(symbols.extent(axis.dim), name_hint=axis.name))
            if isinstance(formula, te.Filled):  # which element of its part a point touches, data says
                loops[-1].annotations = DictionaryAttr({INDEPENDENT: UnitAttr()})
    body = Block(arg_types=[IndexType()] * len(iters))
    for argument, (axis, _) in zip(body.args, iters, strict=True):
        argument.name_hint = f"v{axis.name}"
    known: dict[te.IterVar | te.Var, SSAValue] = {**arguments}
    known.update(zip((a for a, _ in iters), body.args, strict=True))
    emitter = BodyEmitter(body, known, buffers)
    for axis, argument in zip((a for a, _ in iters), body.args, strict=True):
        if axis.start:
            emitter.memo[axis] = emitter.insert(arith.AddiOp(argument, emitter.constant(axis.start, te.index)))
    target = targets[0]
    indices = body.args[: len(compute.axes)]
    init: Region | None = None
    if isinstance(formula, te.Reduce):
        step = emitter.value(formula.operand)
        partial = emitter.insert(memref.LoadOp.get(target, indices))
        combined = emitter.binary(te.COMBINER[formula.kind], partial, step, formula.type, reduction=True)
        emitter.insert(memref.StoreOp.get(combined, target, indices))
        init_block = Block(arg_types=[IndexType()] * len(iters))
        for argument, named in zip(init_block.args, body.args, strict=True):
            argument.name_hint = named.name_hint
        init_emitter = BodyEmitter(init_block, {}, buffers)
        identity = init_emitter.value(te.reduce_identity(formula.kind, formula.type))
        init_emitter.insert(memref.StoreOp.get(identity, target, init_block.args[: len(compute.axes)]))
        init = Region(init_block)
    elif isinstance(formula, te.Fold) and empty:
        for identity, each in zip(formula.combiner.identity, targets, strict=True):
            emitter.insert(memref.StoreOp.get(emitter.value(identity), each, indices))
    elif isinstance(formula, te.Filled):
        assert isinstance(formula.procedure, te.Procedure)
        emit_statements(formula.procedure.statements, emitter)
    elif isinstance(formula, te.Fold):
        init = Region(_fold(formula, emitter, targets, body, len(compute.axes), buffers))
    else:
        emitter.insert(memref.StoreOp.get(emitter.value(formula), target, indices))
    block = BlockOp(
        name,
        [(kind, symbols.extent(axis.dim)) for axis, kind in iters],
        AffineMap(len(loops), 0, tuple(bindings)),
        [loop.var for loop in loops],
        Region(body),
        init,
    )
    nest: Operation = block
    for loop in reversed(loops):
        loop.body.block.add_op(nest)
        nest = loop
    return nest


def _fold(
    fold: te.Fold,
    emitter: BodyEmitter,
    targets: Sequence[SSAValue],
    body: Block,
    rank: int,
    buffers: dict[te.Tensor, SSAValue],
) -> Block:
    """A step of a reduction of one's own, at the end of `body`; gives the block that stores what it starts from."""
    combiner, indices = fold.combiner, body.args[:rank]
    for slot, operand in zip(combiner.step, fold.operands, strict=True):
        emitter.memo[slot] = emitter.value(operand)
    for slot, target in zip(combiner.so_far, targets, strict=True):
        emitter.memo[slot] = emitter.insert(memref.LoadOp.get(target, indices))
    results = [emitter.value(each) for each in combiner.results]
    for result, target in zip(results, targets, strict=True):
        emitter.insert(memref.StoreOp.get(result, target, indices))
    start = Block(arg_types=[IndexType()] * len(body.args))
    for argument, named in zip(start.args, body.args, strict=True):
        argument.name_hint = named.name_hint
    first = BodyEmitter(start, {}, buffers)
    for identity, target in zip(combiner.identity, targets, strict=True):
        first.insert(memref.StoreOp.get(first.value(identity), target, start.args[:rank]))
    return start


class BodyEmitter:
    """Emits scalar expressions at the end of a block, each shared subexpression once."""

    def __init__(self, block: Block, axes: Mapping[te.IterVar | te.Var, SSAValue], buffers: dict[te.Tensor, SSAValue]):
        self.block = block
        self.axes = axes
        self.buffers = buffers
        self.memo: dict[te.Expr, SSAValue] = {**axes}
        self.constants: dict[tuple[float, Attribute], SSAValue] = {}

    def within(self, block: Block, names: Mapping[te.Slot, SSAValue]) -> BodyEmitter:
        """What emits at the end of another block, where names have values."""
        inner = BodyEmitter(block, self.axes, self.buffers)
        inner.memo = {**inner.memo, **names}
        return inner

    def forget(self, names: Mapping[te.Slot, SSAValue]) -> None:
        """Forget all values but those of axes and names: an element may be another now."""
        self.memo = {**self.axes, **names}

    def add(self, op: Operation) -> None:
        """Append `op`."""
        self.block.add_op(op)

    def insert(self, op: Operation) -> SSAValue:
        """Append `op`; its result, if it has one (a store has none, and gives its operand)."""
        self.block.add_op(op)
        return op.results[0] if op.results else op.operands[0]

    def value(self, expr: te.Expr) -> SSAValue:
        """The SSA value of `expr`."""
        if (known := self.memo.get(expr)) is None:
            known = self.memo[expr] = self._emit(expr)
        return known

    def constant(self, value: float, type: Attribute) -> SSAValue:
        """A literal of the signless scalar `type`."""
        key = (value, type)
        if (known := self.constants.get(key)) is None or value != value:
            attribute = (
                FloatAttr(float(value), type) if isinstance(type, AnyFloat) else _integer_attribute(int(value), type)
            )
            op = arith.ConstantOp(attribute)
            if (first := self.block.first_op) is not None:
                self.block.insert_op_before(op, first)  # before every use, also one inside an earlier region
            else:
                self.block.add_op(op)
            known = self.constants[key] = op.result
        return known

    def _emit(self, expr: te.Expr) -> SSAValue:
        match expr:
            case te.Const(value, element):
                return self.constant(value, signless(element))
            case te.Read(tensor, indices):
                return self.insert(memref.LoadOp.get(self.buffers[tensor], [self.value(i) for i in indices]))
            case te.Unary(kind, operand, _):
                return self.unary(kind, self.value(operand), operand.type)
            case te.Binary(kind, lhs, rhs, _):
                if lhs.type == te.index and kind in (B.FLOORDIV, B.FLOORMOD) and _is_natural(lhs) and _is_positive(rhs):
                    op = arith.DivUIOp if kind == B.FLOORDIV else arith.RemUIOp
                    return self.insert(op(self.value(lhs), self.value(rhs)))
                return self.binary(kind, self.value(lhs), self.value(rhs), lhs.type)
            case te.Select(condition, then, otherwise, _):
                return self._select(condition, then, otherwise)
            case te.Check(operand, given, extent, text):
                limit = extent if isinstance(extent, int) else self.value(extent)
                return self.insert(CheckOp(self.value(operand), self.value(given), limit, text))
            case te.Cast(operand, element):
                return self.cast(self.value(operand), operand.type, element)
            case te.Bitcast(operand, element):
                x, to = self.value(operand), signless(element)
                return x if x.type == to else self.insert(arith.BitcastOp(x, to))
            case _:
                raise TypeError(f"te: {type(expr).__name__} cannot stand inside an expression")

    def _select(self, condition: te.Expr, then: te.Expr, otherwise: te.Expr) -> SSAValue:
        test = self.value(condition)
        if is_speculatable(then) and is_speculatable(otherwise):
            return self.insert(arith.SelectOp(test, self.value(then), self.value(otherwise)))
        regions: list[Region] = []
        for side in (then, otherwise):
            block = Block()
            inner = BodyEmitter(block, self.axes, self.buffers)
            inner.memo = dict(self.memo)
            block.add_op(scf.YieldOp(inner.value(side)))
            regions.append(Region(block))
        return self.insert(scf.IfOp(test, [signless(then.type)], regions[0], regions[1]))

    def unary(self, kind: U, x: SSAValue, type: Attribute) -> SSAValue:
        """`kind(x)`, where `x` is of the (signed or unsigned) scalar `type`."""
        if isinstance(type, AnyFloat):
            return self._unary_float(kind, x)
        match kind:
            case U.NEG:
                return self.insert(arith.SubiOp(self.constant(0, x.type), x))
            case U.NOT:
                return self.insert(arith.XOrIOp(x, self.constant(1 if x.type == i1 else -1, x.type)))
            case U.ABS:
                return x if is_unsigned(type) else self.insert(math.AbsIOp(x))
            case U.SIGN:
                zero, one = self.constant(0, x.type), self.constant(1, x.type)
                positive = self.binary(B.GT, x, zero, type)
                if is_unsigned(type):
                    return self.insert(arith.SelectOp(positive, one, zero))
                below = self.insert(arith.SelectOp(self.binary(B.LT, x, zero, type), self.constant(-1, x.type), zero))
                return self.insert(arith.SelectOp(positive, one, below))
            case U.FLOOR | U.CEIL | U.ROUND | U.TRUNC:
                return x
            case U.ISNAN | U.ISINF:
                return self.constant(0, i1)
            case U.ISFINITE:
                return self.constant(1, i1)
            case _:
                raise TypeError(f"te: {kind} of {type}")

    def _unary_float(self, kind: U, x: SSAValue) -> SSAValue:
        if (op := _FLOAT_UNARY.get(kind)) is not None:
            return self.insert(op(x))
        match kind:
            case U.NEG:
                return self.insert(arith.NegfOp(x))
            case U.SIGN:
                zero = self.constant(0.0, x.type)
                unsigned = self.insert(arith.AddfOp(x, zero))  # a zero's sign goes, a NaN stays
                below = self.insert(
                    arith.SelectOp(self._compare(x, "olt", zero), self.constant(-1.0, x.type), unsigned)
                )
                return self.insert(arith.SelectOp(self._compare(x, "ogt", zero), self.constant(1.0, x.type), below))
            case U.SIGMOID:
                one = self.constant(1.0, x.type)
                exponential = self.insert(math.ExpOp(self.insert(arith.NegfOp(x))))
                return self.insert(arith.DivfOp(one, self.insert(arith.AddfOp(one, exponential))))
            case U.ISNAN:
                return self._compare(x, "uno", x)
            case U.ISINF:
                return self._compare(self.insert(math.AbsFOp(x)), "oeq", self.constant(float("inf"), x.type))
            case U.ISFINITE:
                return self._compare(self.insert(math.AbsFOp(x)), "olt", self.constant(float("inf"), x.type))
            case _:
                raise TypeError(f"te: {kind} of {x.type}")

    def _compare(self, lhs: SSAValue, predicate: str, rhs: SSAValue) -> SSAValue:
        return self.insert(arith.CmpfOp(lhs, rhs, predicate))

    def binary(self, kind: B, lhs: SSAValue, rhs: SSAValue, type: Attribute, *, reduction: bool = False) -> SSAValue:
        """`kind(lhs, rhs)`, operands of the (signed or unsigned) scalar `type`."""
        if isinstance(type, AnyFloat):
            return self._binary_float(kind, lhs, rhs, reduction)
        unsigned = is_unsigned(type)
        if kind in _INT_COMPARE:
            return self.insert(arith.CmpiOp(lhs, rhs, _INT_COMPARE[kind][unsigned]))
        if (ops := _INT_BINARY.get(kind)) is not None:
            return self.insert(ops[unsigned](lhs, rhs))
        match kind:
            case B.DIV | B.FLOORDIV | B.TRUNCMOD | B.FLOORMOD:
                return te_integers.divide(self, kind, lhs, rhs, unsigned)
            case B.SHL | B.SHR:
                return te_integers.shift(self, kind, lhs, rhs, unsigned)
            case B.POW:
                return te_integers.power(self, lhs, rhs, unsigned)
            case _:
                raise TypeError(f"te: {kind} of {type}")

    def _binary_float(self, kind: B, lhs: SSAValue, rhs: SSAValue, reduction: bool) -> SSAValue:
        match kind:
            case B.ADD | B.MUL | B.SUB:
                op = {B.ADD: arith.AddfOp, B.MUL: arith.MulfOp, B.SUB: arith.SubfOp}[kind]
                return self.insert(op(lhs, rhs, REASSOCIATE if reduction else CONTRACT))
            case B.DIV:
                return self.insert(arith.DivfOp(lhs, rhs))
            case B.MAX | B.MIN:
                return self._extremum(kind, lhs, rhs)
            case B.POW:
                return self.insert(math.PowFOp(lhs, rhs))
            case B.FLOORDIV:
                return self.insert(math.FloorOp(self.insert(arith.DivfOp(lhs, rhs))))
            case B.TRUNCMOD:
                return self.insert(RemFOp(lhs, rhs))
            case B.FLOORMOD:  # of the divisor's sign: where the remainder has the other one, a divisor more
                rest = self.insert(RemFOp(lhs, rhs))
                zero = self.constant(0, rest.type)
                signs = arith.XOrIOp(self._compare(rest, "olt", zero), self._compare(rhs, "olt", zero))
                opposite = arith.AndIOp(self.insert(signs), self._compare(rest, "one", zero))
                return self.insert(arith.SelectOp(self.insert(opposite), self.insert(arith.AddfOp(rest, rhs)), rest))
            case _ if kind in _FLOAT_COMPARE:
                return self._compare(lhs, _FLOAT_COMPARE[kind], rhs)
            case _:
                raise TypeError(f"te: {kind} of {lhs.type}")

    def _extremum(self, kind: B, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """NaN goes through, as in NumPy. Against a literal, one compare-and-select does it (`maxps` in one step)."""
        for x, bound in ((lhs, rhs), (rhs, lhs)):
            if isinstance(bound.owner, arith.ConstantOp):
                beyond = self._compare(bound, "ogt" if kind == B.MAX else "olt", x)
                return self.insert(arith.SelectOp(beyond, bound, x))
        op = arith.MaximumfOp if kind == B.MAX else arith.MinimumfOp
        return self.insert(op(lhs, rhs, NO_SIGNED_ZERO))

    def cast(self, x: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
        """`x` of type `source` as `target`: to `i1` is `!= 0`, float to integer truncates, integers wrap."""
        to = signless(target)
        if x.type == to:
            return x
        if is_small_float(source):
            return self.cast(self.insert(arith.ExtFOp(x, f32)), f32, target)
        if is_small_float(to):  # by way of f32, as `ml_dtypes` does
            return self.insert(arith.TruncFOp(self.cast(x, source, f32), to))
        if to == i1:
            zero = self.constant(0, x.type)
            return self._compare(x, "une", zero) if isinstance(source, AnyFloat) else self.binary(B.NE, x, zero, source)
        if isinstance(source, IndexType) or isinstance(to, IndexType):
            if isinstance(source, AnyFloat) or isinstance(to, AnyFloat):
                return self.cast(self.cast(x, source, i64), i64, target)
            if is_unsigned(source):
                return self.insert(arith.IndexCastOp(self.cast(x, source, i64), to))
            return self.insert(arith.IndexCastOp(x, to))
        if isinstance(source, AnyFloat) and isinstance(to, AnyFloat):
            if source.bitwidth == to.bitwidth:  # f16 <-> bf16
                return self.insert(arith.TruncFOp(self.insert(arith.ExtFOp(x, f32)), to))
            return self.insert((arith.ExtFOp if to.bitwidth > source.bitwidth else arith.TruncFOp)(x, to))
        if isinstance(source, AnyFloat):
            assert isa(to, IntegerType)
            return self.insert((arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp)(x, to))
        if isinstance(to, AnyFloat):
            return self.insert((arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp)(x, to))
        assert isa(source, IntegerType) and isa(to, IntegerType)
        if to.width.data < source.width.data:
            return self.insert(arith.TruncIOp(x, to))
        return self.insert((arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp)(x, to))


_FLOAT_UNARY: dict[U, Callable[[SSAValue], Operation]] = {
    U.ABS: math.AbsFOp, U.EXP: math.ExpOp, U.LOG: math.LogOp, U.LOG2: math.Log2Op, U.LOG10: math.Log10Op,
    U.SQRT: math.SqrtOp, U.RSQRT: math.RsqrtOp, U.ERF: math.ErfOp, U.TANH: math.TanhOp, U.SIN: math.SinOp,
    U.COS: math.CosOp, U.TAN: math.TanOp, U.SINH: math.SinhOp, U.COSH: math.CoshOp, U.ASIN: math.AsinOp,
    U.ACOS: math.AcosOp, U.ATAN: math.AtanOp, U.ASINH: math.AsinhOp, U.ACOSH: math.AcoshOp, U.ATANH: math.AtanhOp,
    U.FLOOR: math.FloorOp, U.CEIL: math.CeilOp, U.ROUND: math.RoundEvenOp, U.TRUNC: math.TruncOp,
}  # fmt: skip

_FLOAT_COMPARE = {B.EQ: "oeq", B.NE: "une", B.LT: "olt", B.LE: "ole", B.GT: "ogt", B.GE: "oge"}

_IntBinary: TypeAlias = Callable[[SSAValue, SSAValue], Operation]
# Each pair: for signed, for unsigned integers.
_INT_COMPARE = {
    B.EQ: ("eq", "eq"), B.NE: ("ne", "ne"), B.LT: ("slt", "ult"), B.LE: ("sle", "ule"), B.GT: ("sgt", "ugt"),
    B.GE: ("sge", "uge"),
}  # fmt: skip
_INT_BINARY: dict[B, tuple[_IntBinary, _IntBinary]] = {
    B.ADD: (arith.AddiOp, arith.AddiOp), B.SUB: (arith.SubiOp, arith.SubiOp), B.MUL: (arith.MuliOp, arith.MuliOp),
    B.MIN: (arith.MinSIOp, arith.MinUIOp), B.MAX: (arith.MaxSIOp, arith.MaxUIOp), B.AND: (arith.AndIOp, arith.AndIOp),
    B.OR: (arith.OrIOp, arith.OrIOp), B.XOR: (arith.XOrIOp, arith.XOrIOp),
}  # fmt: skip


def _integer_attribute(value: int, type: Attribute) -> IntegerAttr[IntegerType | IndexType]:
    assert isa(type, IntegerType | IndexType)
    if isinstance(type, IntegerType) and type.width.data > 1 and value >= 1 << (type.width.data - 1):
        value -= 1 << type.width.data  # the bits of an unsigned literal
    return IntegerAttr(value, type)


def _is_natural(expr: te.Expr) -> bool:
    range = bounds(expr)
    return range is not None and range[0] >= 0


def _is_positive(expr: te.Expr) -> bool:
    range = bounds(expr)
    return range is not None and range[0] > 0


def _is_inside(position: te.Expr, size: te.Dim) -> bool:
    """Whether an index surely lies in a dimension."""
    if isinstance(position, te.IterVar) and position.start == 0 and te.same(position.dim, size):
        return True
    range = bounds(position)
    if range is None or range[0] < 0:
        return False
    if isinstance(size, int):
        return range[1] < size
    most = greatest(position)
    return most is not None and surely_at_most(most + 1, size)


def is_speculatable(expr: te.Expr) -> bool:
    """Whether `expr` may be evaluated where its value is not wanted: no read may lie outside its tensor,
    and no check fail."""
    stack, seen = [expr], set[te.Expr]()
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        match current:
            case te.Check():
                return False
            case te.Read(tensor, indices):
                for position, size in zip(indices, tensor.dims, strict=True):
                    if not _is_inside(position, size):
                        return False
            case _:
                pass
        stack.extend(te.operands_of(current))
    return True

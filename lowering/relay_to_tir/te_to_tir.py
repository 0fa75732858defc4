"""From tensor expressions to TIR: each `compute` becomes one `tir.block` in a loop nest over its axes.

Counterpart of TVM's `te.create_prim_func`. The expression becomes the block's body: `arith`, `math`, and loads of the
tensors it reads; a reduction becomes a block with an `init` and a body that combines one step. Loops of extent one are
left out. Signed and unsigned integers are both signless in memory; the operations chosen keep them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DictionaryAttr,
    IndexType,
    LocationAttr,
    MemRefType,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ...dialects import te
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.interned import shaped_memref
from ...dialects.support.walking import within
from ...dialects.te.dim_order import always_at_most
from ...dialects.te.dims import to_text
from ...dialects.te.expr import BinaryKind as B
from ...dialects.tir.affine import linear
from ...dialects.tir.core import AllocBufferOp, BlockOp, CheckOp, ForOp, IterKind, PrimFuncOp
from ...dialects.tir.loops import INDEPENDENT
from ...dialects.tir.symbols import Extent, as_extent
from .te_expressions import BodyEmitter, signless
from .te_external import emit_external
from .te_statements import emit_statements


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
        if tensor is group[0] and any(0 not in each.dims for each in group):
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
    for op in (nest, *within(nest)):
        if type(op) is BlockOp or type(op) is CheckOp:
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
    once: whoever calls the function has to say what they are. None is ever below 0."""
    dims = _dims(te.topological_order(outputs))
    numbers = Symbols({symbol: number for number, symbol in enumerate(te.variables(dims))})
    found: dict[te.Expr, None] = {}
    for dim in dims:
        atoms = _opaque_within(dim, numbers)
        whole = [te.dim_expr(dim)] if not all(always_at_most(0, atom) for atom in atoms) else atoms
        found |= dict.fromkeys(whole)
    return list(found)


def _opaque_within(dim: te.Dim, numbers: Symbols) -> list[te.Expr]:
    """The parts of an extent that are no affine expressions."""
    found: list[te.Expr] = []
    pending = [dim]
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
                found.append(dim)
    return found


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
        formula = te.first_value(formula)  # of no terms
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
        init_emitter = BodyEmitter(init_block, {**arguments, **dict(zip(axes, init_block.args, strict=True))}, buffers)
        identity = init_emitter.value(te.first_value(formula))
        init_emitter.insert(memref.StoreOp.get(identity, target, init_block.args[: len(compute.axes)]))
        init = Region(init_block)
    elif isinstance(formula, te.Fold) and empty:
        for identity, each in zip(te.first_values(formula), targets, strict=True):
            emitter.insert(memref.StoreOp.get(emitter.value(identity), each, indices))
    elif isinstance(formula, te.Filled):
        assert isinstance(formula.procedure, te.Procedure)
        emit_statements(formula.procedure.statements, emitter)
    elif isinstance(formula, te.Fold):
        init = Region(_fold(formula, emitter, targets, body, compute.axes, arguments, buffers))
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
    axes: Sequence[te.IterVar],
    arguments: Mapping[te.Var, BlockArgument],
    buffers: dict[te.Tensor, SSAValue],
) -> Block:
    """A step of a reduction of one's own, at the end of `body`; gives the block that stores what it starts from."""
    combiner, rank = fold.combiner, len(axes)
    indices = body.args[:rank]
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
    first = BodyEmitter(start, {**arguments, **dict(zip(axes, start.args, strict=False))}, buffers)
    for identity, target in zip(te.first_values(fold), targets, strict=True):
        first.insert(memref.StoreOp.get(first.value(identity), target, start.args[:rank]))
    return start

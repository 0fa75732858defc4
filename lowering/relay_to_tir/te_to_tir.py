"""From tensor expressions to TIR: each `compute` becomes one `tir.block` in a loop nest over its axes.

Counterpart of TVM's `te.create_prim_func`. The expression becomes the block's body: `arith`, `math`, and loads of the
tensors it reads; a reduction becomes a block with an `init` and a body that combines one step. Loops of extent one are
left out. Signed and unsigned integers are both signless in memory; the operations chosen keep them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    LocationAttr,
    MemRefType,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ...dialects import te
from ...dialects.support.interned import shaped_memref
from ...dialects.support.name_hints import name_hint
from ...dialects.support.unique_names import UniqueNames
from ...dialects.support.walking import within
from ...dialects.tir.core import AllocBufferOp, BlockOp, CheckOp, PrimFuncOp, blocks_under
from ...dialects.tir.symbols import assume, positive_divisors
from .te_expressions import signless
from .te_external import emit_external
from .te_nests import Part, nest_of
from .te_symbols import Symbols, variables_of


def buffer_type(tensor: te.Tensor) -> MemRefType[Attribute]:
    """The memref that holds `tensor`: same shape, signless elements, row-major."""
    shape = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in tensor.dims]
    return shaped_memref(signless(tensor.element_type), tuple(shape))


def create_prim_func(
    name: str,
    inputs: Sequence[te.Tensor],
    outputs: Sequence[te.Tensor],
    locations: Mapping[te.Tensor, LocationAttr] | None = None,
    symbols: Sequence[te.Expr] = (),
    nests: dict[object, Operation] | None = None,
    constants: Mapping[te.Tensor, DenseIntOrFPElementsAttr] | None = None,
    unit_loops: bool = False,
    sizes: dict[te.Expr, BlockArgument] | None = None,
) -> PrimFuncOp:
    """The function `name(inputs..., outputs...)` that computes `outputs`. `locations` says where what a tensor is
    computed by comes from. `nests` takes the loops of each computation (`computation_of`) that is not a function's, and
    the block of each formula that a scan computes step by step.
    `constants` are the values of placeholders that are no inputs. An axis of one value has a loop with
    `unit_loops` only, and with those the results of one function (`Compute.beside`) have one nest of loops.

    An output that is an input, or that stands twice in the list, is copied. Nothing is done for a tensor without
    elements.

    The symbols of their extents are `index` arguments after these: first those that are given as `symbols`, then the
    others in order of first use. Among `symbols` may be extents that are no affine expressions (`opaque_extents`).
    `sizes` takes the argument of each. With it symbols are multiplied, and divided by symbols, in extents: no graph
    calls such a function.
    """
    results: list[te.Tensor] = []
    for output in outputs:
        results.append(_identity(output) if output.producer is None or output in results else output)
    tensors = te.topological_order(results)
    beside = _beside(tensors) if unit_loops else {}
    if beside:
        tensors = _side_by_side(tensors, beside)
    function = _Function(name, inputs, results, tensors, symbols, unit_loops, sizes is not None)
    groups: dict[object, list[te.Tensor]] = {}
    for tensor in tensors:
        groups.setdefault(computation_of(tensor), []).append(tensor)
    for tensor in tensors:
        if tensor.producer is None:
            if constants is not None and tensor in constants:
                function.hold(tensor, constants[tensor])
            elif tensor not in function.buffers:
                raise ValueError(f"te: '{tensor.name}' is read but is not an input of @{name}")
            continue
        function.buffer(tensor)
        group = groups[computation_of(tensor)]
        if tensor is not group[0] or all(0 in each.dims for each in group):
            continue
        if (mates := beside.get(tensor.producer.beside)) is not None:
            if tensor is mates[0]:
                function.compute_in_one(mates, nests)
            continue
        nest = function.compute(tensor.producer, group)
        if nest is not None and locations is not None and (location := locations.get(tensor)) is not None:
            _place(nest, location)
        if nest is not None and nests is not None:
            nests[computation_of(tensor)] = nest
    if nests is not None:
        nests.update(function.steps.items())
    if sizes is not None:
        sizes.update(function.arguments)
        assume(function.func, positive_divisors(function.func))
    return function.func


def declare_prim_func(
    name: str, inputs: Sequence[te.Tensor], outputs: Sequence[te.Tensor], symbols: Sequence[te.Expr] = ()
) -> tuple[PrimFuncOp, dict[te.Expr, BlockArgument]]:
    """The function `name(inputs..., outputs..., symbols...)`, which does nothing yet, and its arguments for symbols."""
    function = _Function(name, inputs, outputs, (), symbols, unit_loops=False)
    return function.func, function.arguments


class _Function:
    """A function that is being made: its buffers, the numbers of its symbols, and the names of its blocks."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[te.Tensor],
        results: Sequence[te.Tensor],
        tensors: Sequence[te.Tensor],
        symbols: Sequence[te.Expr],
        unit_loops: bool,
        products: bool = False,
    ):
        self._unit_loops = unit_loops
        given = [*inputs, *results]
        variables = list(dict.fromkeys([*symbols, *variables_of([*given, *tensors])]))
        self.func = PrimFuncOp(name, [*map(buffer_type, given), *(te.index for _ in variables)])
        self._block = block = self.func.region.block
        self.arguments = arguments = dict(zip(variables, block.args[len(given) :], strict=True))
        self._arguments = {each: argument for each, argument in arguments.items() if isinstance(each, te.Var)}
        self._symbols = Symbols({each: argument.index for each, argument in arguments.items()}, products)
        self._names = UniqueNames()
        for variable, argument in arguments.items():
            argument.name_hint = name_hint(variable.name) if isinstance(variable, te.Var) else "extent"
        if variables:
            self.func.set_shapes([*map(self._symbols.shape, given), *(None for _ in variables)])
        self.buffers: dict[te.Tensor, SSAValue] = {}
        self.steps: dict[te.Tensor, BlockOp] = {}
        """The blocks of formulas that functions compute."""
        for position, tensor in enumerate(given):
            argument = block.args[position]
            argument.name_hint = f"p{position}" if position < len(inputs) else f"out{position - len(inputs) or ''}"
            self.buffers[tensor] = argument

    def buffer(self, tensor: te.Tensor) -> SSAValue:
        """Where a tensor stands: in memory of the function's own, if it is none of the arguments."""
        if tensor not in self.buffers:
            self.buffers[tensor] = self._allocated(tensor.element_type, tensor, tensor.name)
        return self.buffers[tensor]

    def hold(self, tensor: te.Tensor, value: DenseIntOrFPElementsAttr) -> None:
        """Let a tensor be a constant of the function's own."""
        alloc = AllocBufferOp(buffer_type(tensor), value=value)
        alloc.buffer.name_hint = name_hint(tensor.name)
        self._block.add_op(alloc)
        self.buffers[tensor] = alloc.buffer

    def _allocated(self, element: Attribute, shape: te.Tensor, name: str | None) -> SSAValue:
        alloc = AllocBufferOp.of(signless(element), self._symbols.shape(shape))
        alloc.buffer.name_hint = None if name is None else name_hint(name)
        self._block.add_op(alloc)
        return alloc.buffer

    def compute(self, producer: te.Compute, group: Sequence[te.Tensor]) -> Operation | None:
        """Compute the tensors of a group, which one computation gives; gives its loops, if it is not a function's."""
        first, formula = group[0], producer.body
        if isinstance(formula, te.Filled) and isinstance(formula.procedure, te.External):
            self._call(formula.procedure, group)
            return None
        for each in group:
            self.buffer(each)
        targets = [self.buffers[first]]
        if isinstance(formula, te.Filled) and isinstance(formula.procedure, te.Procedure):
            self._prepare(formula.procedure)
        if isinstance(formula, te.Fold):
            targets = self._targets(formula, group)
        name = first.name.removesuffix(".v0") if len(targets) > 1 else first.name
        return self._nest(targets, producer, name)

    def _nest(self, targets: Sequence[SSAValue], producer: te.Compute, name: str) -> Operation:
        unique = self._names.new(name)
        return self._loops([Part(unique, targets, producer)])

    def _loops(self, parts: Sequence[Part]) -> Operation:
        nest = nest_of(parts, self.buffers, self._symbols, self._arguments, unit_loops=self._unit_loops)
        self._block.add_op(nest)
        return nest

    def compute_in_one(self, tensors: Sequence[te.Tensor], nests: dict[object, Operation] | None) -> None:
        """Compute tensors in one nest of loops, a block for each; `nests` takes the block of each."""
        parts = [
            Part(self._names.new(each.name), [self.buffer(each)], each.producer)
            for each in tensors
            if each.producer is not None
        ]
        blocks = blocks_under(self._loops(parts))
        if nests is not None:
            nests.update(zip(map(computation_of, tensors), blocks, strict=True))

    def _prepare(self, procedure: te.Procedure) -> None:
        """Buffers for what statements fill and need besides; what they fill begins as it is said, or is zero before."""
        for each in (*procedure.results, *procedure.scratch):
            self.buffer(each)
        for number, each in enumerate(procedure.results):
            if 0 not in each.dims:
                kind = "zero" if procedure.begin[number] is None else "begin"
                self._nest([self.buffers[each]], procedure.begins_with(number), f"{each.name}_{kind}")

    def _targets(self, fold: te.Fold, group: Sequence[te.Tensor]) -> list[SSAValue]:
        """The buffers of all results of a reduction; those that nobody asks for get one of their own."""
        found: dict[int, SSAValue] = {}
        for tensor in group:
            assert tensor.producer is not None and isinstance(tensor.producer.body, te.Fold)
            found[tensor.producer.body.number] = self.buffers[tensor]
        for number, result in enumerate(fold.combiner.results):
            if number not in found:
                found[number] = self._allocated(result.type, group[0], None)
        return [found[number] for number in range(len(found))]

    def _call(self, external: te.External, group: Sequence[te.Tensor]) -> None:
        """What a function does that fills tensors; results that nobody asks for get buffers of their own."""
        results: list[SSAValue] = []
        for number, result in enumerate(external.results()):
            asked = (tensor for tensor in group if _number_of(tensor) == number)
            results.append(self.buffer(next(asked, result)))
        given = [*(self.buffers[each] for each in external.inputs), *results]
        blocks = emit_external(external, given, self._arguments, self._block, self._names.new)
        self.steps.update({tensor: blocks[name] for tensor, name in external.steps.items()})


def _beside(tensors: Sequence[te.Tensor]) -> dict[object, list[te.Tensor]]:
    """The results of functions that gave several formulas, by what those have in common: those that have loops, and
    reduce nothing."""
    found: dict[object, list[te.Tensor]] = {}
    for tensor in tensors:
        producer = tensor.producer
        if producer is not None and producer.beside is not None and producer.axes and not producer.reduce_axes:
            found.setdefault(producer.beside, []).append(tensor)
    return {common: mates for common, mates in found.items() if len(mates) > 1}


def _side_by_side(tensors: Sequence[te.Tensor], beside: Mapping[object, Sequence[te.Tensor]]) -> list[te.Tensor]:
    """`tensors`, inputs first, where those that are computed beside one another follow one another."""
    order: dict[te.Tensor, None] = {}

    def place(tensor: te.Tensor) -> None:
        mates: Sequence[te.Tensor] = () if tensor.producer is None else beside.get(tensor.producer.beside, ())
        if tensor not in mates:
            order[tensor] = None
            return
        for each in te.topological_order(mates):
            if each not in mates and each not in order:
                place(each)
        order.update(dict.fromkeys(mates))

    for tensor in tensors:
        if tensor not in order:
            place(tensor)
    return list(order)


def computation_of(tensor: te.Tensor) -> object:
    """What a tensor has in common with those that are computed with it: the results of one reduction."""
    body = None if tensor.producer is None else tensor.producer.body
    if isinstance(body, te.Filled):
        return body.procedure
    return (body.combiner, tensor.producer.axes) if isinstance(body, te.Fold) and tensor.producer else tensor


def _number_of(tensor: te.Tensor) -> int | None:
    """Which of a function's results a tensor is."""
    body = None if tensor.producer is None else tensor.producer.body
    return body.number if isinstance(body, te.Filled) else None


def _place(nest: Operation, location: LocationAttr) -> None:
    """Say of the blocks and checks of a nest where they come from."""
    for op in (nest, *within(nest)):
        if type(op) is BlockOp or type(op) is CheckOp:
            op.location = location


def _identity(tensor: te.Tensor) -> te.Tensor:
    return te.compute(tensor.dims, lambda *i: tensor[i], "copy")

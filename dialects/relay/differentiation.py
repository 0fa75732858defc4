"""Reverse-mode differentiation of graphs: each operation, from the last to the first, is asked for its `gradient`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import AnyFloat, TensorType, TupleType, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..support.diagnostics import Diagnostic
from ..support.dtypes import numpy_dtype
from . import Relay
from .base import DYNAMIC, RelayOp, Tensor, Value, broadcast_shapes, is_static, leaf_types
from .control import IfOp
from .core import CallOp, ConstantOp, TupleGetOp, TupleOp, YieldOp
from .gradient import Gradient, Maker, Term, Terms
from .interpreter import free_values

if TYPE_CHECKING:
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]

Emit: TypeAlias = Callable[[Operation], None]
Leaf: TypeAlias = tuple[SSAValue, tuple[int, ...]]
"""A tensor: a value, and the fields to take from it, one after the other, where it is a tuple."""


@dataclass(frozen=True, eq=False)
class OpMaker(Maker):
    """Makes operations, and hands them to `emit`, which puts them into a block or leaves them to what uses them."""

    emit: Emit

    def apply(self, op: type[Operation] | str, operands: Sequence[SSAValue], properties: Mapping[str, object]) -> Term:
        op_type = operators()[op] if isinstance(op, str) else op
        assert issubclass(op_type, RelayOp)
        made = op_type(*operands, **cast("Mapping[str, Value]", properties))
        self.emit(made)
        return Term(made.results[0], self)

    def constant(self, array: object, element: Attribute) -> Term:
        import numpy as np

        made = ConstantOp.from_numpy(np.asarray(array, numpy_dtype(element)))
        self.emit(made)
        return Term(made.result, self)

    def joined(self, fields: Sequence[SSAValue]) -> SSAValue:
        made = TupleOp(*fields)
        self.emit(made)
        return made.result


@cache
def operators() -> dict[str, type[RelayOp]]:
    """Relay's own operators by their names without `relay.`."""
    return {op.name.removeprefix("relay."): op for op in Relay.operations if issubclass(op, RelayOp)}


@dataclass(frozen=True)
class OpGradient(Gradient):
    """The gradient of `op`; operations are handed to `emit`."""

    op: RelayOp
    inputs: Sequence[Term]
    outputs: Sequence[Term]
    given: Sequence[Term | None]
    emit: Emit

    def static(self) -> None:
        if not all(is_static(term.value.type) for term in (*self.inputs, *self.outputs)):
            raise VerifyException("its gradient needs static shapes")

    def through(self, *formula: Term) -> Terms:
        stops = {term.value for term in self.inputs}
        seeds = [((term.value, ()), grad) for term, grad in zip(formula, self.given, strict=True) if grad is not None]
        ops = operations_between(stops, [term.value for term in formula])
        found = backpropagate(ops, seeds, self.emit, stops)
        return [found.get((term.value, ())) for term in self.inputs]

    def moved(self, sources: Sequence[int] = (0,), **properties: object) -> Terms:
        import numpy as np

        if not all(is_static(self.inputs[source].value.type) for source in sources):
            raise VerifyException("its gradient needs static shapes of what is moved")
        sizes = [prod(self.inputs[source].shape) for source in sources]
        starts = np.cumsum([0, *sizes])
        total = int(starts[-1])
        numbers = {
            source: np.arange(start + 1, start + size + 1, dtype=np.int32).reshape(self.inputs[source].shape)
            for source, start, size in zip(sources, starts, sizes, strict=False)
        }
        grad = _in_line(self.grads)
        known = {
            position: value
            for position, term in enumerate(self.inputs)
            if position not in numbers and (value := _constant(term)) is not None
        }
        if len(known) + len(numbers) == len(self.inputs):
            arrays = [numbers[p] if p in numbers else known[p] for p in range(len(self.inputs))]
            source = self._placed(arrays, properties)
            gathered = _gathered(grad, np.concatenate([each.reshape(-1) for each in source]) - 1, total)
        else:
            gathered = self._scattered(grad, numbers, properties, total)
        result: list[Term | None] = [None] * len(self.inputs)
        for source, start, size in zip(sources, starts, sizes, strict=False):
            part = gathered.slice([int(start)], [int(start) + size])
            result[source] = part.reshape(self.inputs[source].shape)
        return result

    def _placed(self, arrays: Sequence[Array], properties: Mapping[str, object]) -> list[Array]:
        """The operator on numbers that are known."""
        from .attributes import tensor_type_of
        from .reference import evaluate_op

        block = Block(arg_types=[tensor_type_of(array) for array in arrays])
        op, _ = self._applied([Term(value, OpMaker(_nowhere)) for value in block.args], properties, _nowhere)
        return evaluate_op(op, arrays)

    def _scattered(
        self, grad: Term, numbers: Mapping[int, Array], properties: Mapping[str, object], total: int
    ) -> Term:
        """The gradients, added where the operator, which runs on numbers too, takes elements from."""
        given = [
            self.constant(numbers[position], i32) if position in numbers else term
            for position, term in enumerate(self.inputs)
        ]
        _, results = self._applied(given, properties, self.emit)
        source = _in_line(results) - 1
        source = source.where(source >= 0, total)  # beyond the end, where nothing is added
        zeros = grad.filled(0, [total])
        added = {"axis": 0, "reduction": "add"}
        return zeros.op("scatter_elements", source, grad, **added)

    def _applied(
        self, inputs: Sequence[Term], properties: Mapping[str, object], emit: Emit
    ) -> tuple[RelayOp, list[Term]]:
        """The operator with other properties on other inputs, which are its operands' tensors in their order."""
        rest = iter(inputs)

        def packed(type: Attribute) -> SSAValue:
            if not isinstance(type, TupleType):
                return next(rest).value
            made = TupleOp(*(packed(each) for each in type.types.data))
            emit(made)
            return made.result

        operands = [packed(operand.type) for operand in self.op.operands]
        op = type(self.op)(*operands, **cast("Mapping[str, Value]", {**self.op.properties, **properties}))
        emit(op)
        return op, [term for result in op.results for term in leaf_terms(result, emit)]

    def linear(self) -> Terms:
        import numpy as np

        self.static()
        count = prod(self.input.shape[1:])
        units = np.eye(count).reshape([count, *self.input.shape[1:]])
        matrix = self._placed([units], {})[0].reshape(count, -1)
        flat = self.grad.reshape([self.grad.shape[0], matrix.shape[1]]).contract(1, matrix.T)
        return [flat.reshape(self.input.shape)]

    def separable(self, axes: Sequence[int], **properties: object) -> Terms:
        import numpy as np

        self.static()
        shape, rank = self.input.shape, len(self.input.shape)
        batch = next(d for d in range(rank) if d not in axes)

        def applied(lead: int, array: Array) -> Array:
            return np.moveaxis(self._placed([array], properties)[0], [batch, *axes], range(1 + len(axes))).reshape(
                lead, *(self.output.shape[d] for d in axes)
            )

        def probe(lead: int) -> Array:
            return np.ones([lead if d == batch else shape[d] if d in axes else 1 for d in range(rank)])

        whole = applied(1, probe(1))[0]
        best = np.unravel_index(int(np.abs(whole).argmax()), whole.shape)
        scale = whole[best] ** (len(axes) - 1)
        grad = self.grad
        for number, axis in enumerate(axes):
            extent = shape[axis]
            along = np.eye(extent).reshape([extent if d in (batch, axis) else 1 for d in range(rank)])
            found = applied(extent, probe(extent) * along)  # [from, *to]
            others = tuple(slice(None) if k == number else int(at) for k, at in enumerate(best))
            matrix = found[(slice(None), *others)]
            if number == 0 and scale:
                matrix = matrix / scale
            grad = grad.contract(axis, matrix.T)
        return [grad.cast(self.input.type.element_type)]


def _nowhere(op: Operation) -> None:
    """What is emitted is kept by those that use it."""


def _constant(term: Term) -> Array | None:
    """The value of a constant."""
    return term.value.owner.numpy() if isinstance(term.value.owner, ConstantOp) else None


def _in_line(terms: Sequence[Term]) -> Term:
    """All elements of all terms, in one line."""
    flat = [term.reshape([-1 if DYNAMIC in term.shape else prod(term.shape)]) for term in terms]
    return flat[0].concatenated(flat[1:], 0)


def _gathered(grad: Term, source: Array, total: int) -> Term:
    """For each of `total` elements the sum of the elements of `grad` that are taken from there."""
    import numpy as np

    taken = np.flatnonzero(source >= 0)
    order = taken[np.argsort(source[taken], kind="stable")]
    of = source[order]
    counts = np.bincount(of, minlength=total)
    nth = np.arange(len(order)) - (np.cumsum(counts) - counts)[of]
    table = np.full((total, max(1, int(counts.max(initial=0)))), len(source), np.int32)  # a zero behind all of `grad`
    table[of, nth] = order
    padded = grad.concatenated([grad.filled(0, [1])], 0)
    indices = grad.constant(table[:, 0] if table.shape[1] == 1 else table, i32)
    picked = padded.op("take", indices, axis=0)
    return picked if table.shape[1] == 1 else picked.sum([1])


def leaf_terms(value: SSAValue, emit: Emit) -> list[Term]:
    """The tensors of a value, taken out of it where it is a tuple."""
    if not isinstance(value.type, TupleType):
        return [Term(value, OpMaker(emit))]
    terms: list[Term] = []
    for index in range(len(value.type.types.data)):
        if isinstance(made := value.owner, TupleOp):
            terms += leaf_terms(made.fields[index], emit)
        else:
            get = TupleGetOp(value, index)
            emit(get)
            terms += leaf_terms(get.result, emit)
    return terms


def leaf_paths(type: Attribute) -> list[tuple[int, ...]]:
    """Where the tensors of a type are, in the order of `leaf_types`."""
    if not isinstance(type, TupleType):
        return [()]
    return [(index, *path) for index, each in enumerate(type.types.data) for path in leaf_paths(each)]


def is_differentiable(type: Attribute) -> bool:
    """Whether something changes by little where a tensor of this type does: it is one of floats."""
    return isinstance(type, TensorType) and isinstance(cast(Tensor, type).element_type, AnyFloat)


def operations_between(stops: set[SSAValue], values: Sequence[SSAValue]) -> list[Operation]:
    """The operations that `values` are made of, up to `stops`, each after those of its operands."""
    order: dict[Operation, None] = {}
    stack = [(value, False) for value in reversed(values)]
    while stack:
        value, ready = stack.pop()
        op = value.owner
        if value in stops or not isinstance(op, Operation) or op in order:
            continue
        if ready:
            order[op] = None
        else:
            stack.append((value, True))
            needed = [*op.operands, *(free_values(op) if op.regions else ())]
            stack.extend((operand, False) for operand in reversed(needed))
    return list(order)


Calls: TypeAlias = Callable[[CallOp, Sequence["Term | None"], Emit], "Sequence[Term]"]
"""What gives the gradients by the differentiable tensors among the arguments of a call, from those by all tensors that
it gives."""


def backpropagate(
    ops: Sequence[Operation],
    seeds: Iterable[tuple[Leaf, Term]],
    emit: Emit,
    sources: Iterable[SSAValue],
    calls: Calls | None = None,
) -> dict[Leaf, Term]:
    """The gradients by all tensors that `ops`, of one block and in its order, compute from `sources`, for those that
    `seeds` gives; tensors that nothing depends on are missing. Calls of functions are asked of `calls`.

    Raises:
        Diagnostic: an operation on the way has no gradient.
    """
    active = set(sources)
    on_the_way: list[Operation] = []
    for op in ops:
        seen = free_values(op) if op.regions else ()
        if not active.isdisjoint((*op.operands, *seen)):
            active.update(op.results)
            on_the_way.append(op)
    found: dict[Leaf, Term] = {}

    def add(leaf: Leaf, type: Attribute, term: Term) -> None:
        if leaf[0] not in active or not is_differentiable(type):
            return
        term = _fitted(term, lambda: taken(leaf, emit), cast(Tensor, type))
        found[leaf] = found[leaf] + term if leaf in found else term

    for (value, path), term in seeds:
        add((value, path), _field(value.type, path), term)
    for op in reversed(on_the_way):
        match op:
            case TupleOp():
                for index, value in enumerate(op.fields):
                    for path in leaf_paths(value.type):
                        if (term := found.get((op.result, (index, *path)))) is not None:
                            add((value, path), _field(value.type, path), term)
            case TupleGetOp():
                for path in leaf_paths(op.result.type):
                    if (term := found.get((op.result, path))) is not None:
                        index = op.index.value.data
                        add((op.tuple, (index, *path)), _field(op.result.type, path), term)
            case RelayOp():
                given = [found.get((result, path)) for result in op.results for path in leaf_paths(result.type)]
                if any(grad is not None for grad in given):
                    leaves = [(value, path) for value in op.operands for path in leaf_paths(value.type)]
                    types = leaf_types([operand.type for operand in op.operands])
                    for leaf, type, term in zip(leaves, types, _gradient(op, given, emit), strict=True):
                        if term is not None:
                            add(leaf, type, term)
            case IfOp():
                if given := {leaf: term for leaf, term in found.items() if leaf[0] in op.results}:
                    seen = [value for value in free_values(op) if value in active]
                    for (value, path), term in zip(*_branches(op, given, seen, emit, calls), strict=True):
                        add((value, path), _field(value.type, path), term)
            case CallOp() if calls is not None:
                given = [found.get((result, path)) for result in op.results for path in leaf_paths(result.type)]
                if any(grad is not None for grad in given):
                    leaves = differentiable_leaves(op.arguments)
                    for (value, path), term in zip(leaves, calls(op, given, emit), strict=True):
                        add((value, path), _field(value.type, path), term)
            case _:
                if any(key[0] in op.results for key in found):
                    raise Diagnostic.at(op, "has no gradient", hint=HINT)
    return found


def differentiable_leaves(values: Iterable[SSAValue]) -> list[Leaf]:
    """The tensors of floats among values, tuples opened."""
    paths = [(value, path) for value in values for path in leaf_paths(value.type)]
    return [(value, path) for value, path in paths if is_differentiable(_field(value.type, path))]


def _branches(
    op: IfOp, given: Mapping[Leaf, Term], seen: Sequence[SSAValue], emit: Emit, calls: Calls | None
) -> tuple[list[Leaf], list[Term]]:
    """The gradients by what the branches see: another `if`, whose branches compute what the first one's do once more,
    and go back through it."""
    leaves = differentiable_leaves(seen)
    blocks = [_backwards(op, region.block, given, leaves, calls) for region in (op.then_region, op.else_region)]
    types = [_field(value.type, path) for value, path in leaves]
    made = IfOp(op.condition, types, Region(blocks[0]), Region(blocks[1]))
    made.location = op.location
    emit(made)
    return leaves, [Term(result, OpMaker(emit)) for result in made.res]


def _backwards(
    op: IfOp, branch: Block, given: Mapping[Leaf, Term], leaves: Sequence[Leaf], calls: Calls | None
) -> Block:
    """A branch that gives the gradients by `leaves`, from those by what `branch` gives."""
    block, values = Block(), dict[SSAValue, SSAValue]()
    forwards: list[Operation] = []
    for inner in branch.ops:
        if not isinstance(inner, YieldOp):
            forwards.append(inner.clone(values))
            values.update(zip(inner.results, forwards[-1].results, strict=True))
    block.add_ops(forwards)

    def emit(made: Operation) -> None:
        block.add_op(made)

    end = branch.last_op
    assert isinstance(end, YieldOp)
    seeds: list[tuple[Leaf, Term]] = []
    for result, value in zip(op.res, end.operands, strict=True):
        for path in leaf_paths(result.type):
            if (term := given.get((result, path))) is not None:
                seeds.append(((values.get(value, value), path), Term(term.value, OpMaker(emit))))
    found = backpropagate(forwards, seeds, emit, {value for value, _ in leaves}, calls)
    terms = [found.get(leaf) or taken(leaf, emit).zeros() for leaf in leaves]
    block.add_op(YieldOp(*(term.value for term in terms)))
    return block


HINT = "the gradient goes back through operators, tuples, branches and calls, not through references or data types"


def _gradient(op: RelayOp, given: Sequence[Term | None], emit: Emit) -> Terms:
    """What the operator's facet gives, one for each tensor among its operands."""
    if not op.has_gradient():
        raise Diagnostic.at(op, "has no gradient", hint=f"{type(op).__name__} defines no `gradient`")

    def emit_here(made: Operation) -> None:
        made.location = op.location
        emit(made)

    maker = OpMaker(emit_here)
    inputs = [term for operand in op.operands for term in leaf_terms(operand, emit_here)]
    outputs = [term for result in op.results for term in leaf_terms(result, emit_here)]
    try:
        terms = op.gradient(OpGradient(op, inputs, outputs, [t and Term(t.value, maker) for t in given], emit_here))
    except VerifyException as error:
        raise Diagnostic.at(op, f"has no gradient here: {error}") from error
    if len(terms) != len(inputs):
        what = f"`gradient` of {type(op).__module__}.{type(op).__name__} gives {len(terms)} gradients"
        raise Diagnostic.at(op, f"{what}, but there are {len(inputs)} tensors among the operands")
    return terms


def taken(leaf: Leaf, emit: Emit) -> Term:
    """The tensor, taken out of its tuple."""
    value, path = leaf
    for index in path:
        get = TupleGetOp(value, index)
        emit(get)
        value = get.result
    return Term(value, OpMaker(emit))


def _field(type: Attribute, path: Sequence[int]) -> Attribute:
    for index in path:
        assert isinstance(type, TupleType)
        type = type.types.data[index]
    return type


def _fitted(term: Term, leaf: Callable[[], Term], type: Tensor) -> Term:
    """A gradient of the shape of a broadcast, summed up to that of the tensor; or one for all, repeated."""
    shape = type.get_shape()
    if term.shape == shape and is_static(type):
        return term
    if broadcast_shapes(term.shape, shape) == shape != term.shape:
        if is_static(type):
            return term.op("broadcast_to", shape=shape)
        return term.op("broadcast_to_like", leaf())
    if is_static(type):
        return term.op("collapse_sum_to", shape=shape)
    return term.op("collapse_sum_like", leaf())

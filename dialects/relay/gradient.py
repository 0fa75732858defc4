"""Gradients: what an operator's `gradient` writes its formula with, and how those of a graph are put together.

    class TanhOp(FloatFunction):
        gradient = slopes(lambda x, y: 1 - y * y)

    class ReverseOp(InjectiveOp):
        def gradient(self, g: Gradient) -> Terms:
            return [g.grad.op(ReverseOp, axis=self.axis)]

A gradient is reverse-mode: from how much what is asked for changes with each result of an operator (`g.grads`), the
operator says how much it changes with each tensor among its operands; tuples come flattened, as in `compute`, and `None`
is a gradient of zero. One that has the shape of a broadcast is summed up to the shape of the operand by whoever asked.

Two helpers serve operators for which a formula would be long: `g.through` differentiates other operators that compute
the same, and `g.moved` is the gradient of all that only move elements about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import AnyFloat, TensorType, TupleType, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..support.diagnostics import Diagnostic
from ..support.dtypes import dtype_name, numpy_dtype
from .base import RelayOp, Tensor, Value, broadcast_shapes, is_static, leaf_types, tensor
from .core import ConstantOp, TupleGetOp, TupleOp
from .interpreter import free_values
from .layout import Layout, LayoutTransformOp
from .ops import broadcast, creation, elementwise, gather, reduce, scan, scatter, slicing, tiling, transform
from .ops.nn.dense import MatmulOp
from .ops.nn.spatial import DilateOp, PadOp

if TYPE_CHECKING:
    from .base import NDArray

Emit: TypeAlias = "Callable[[Operation], None]"
Leaf: TypeAlias = "tuple[SSAValue, tuple[int, ...]]"
"""A tensor: a value, and the fields to take from it, one after the other, where it is a tuple."""

Terms: TypeAlias = "Sequence[Term | None]"


@dataclass(frozen=True, eq=False)
class Term:
    """A tensor in a formula. Python's arithmetic makes operations; numbers become constants of its element type."""

    value: SSAValue
    emit: Emit

    @property
    def type(self) -> Tensor:
        """Its type."""
        return tensor(self.value)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return self.type.get_shape()

    def op(self, op_type: type[RelayOp], *operands: Term | float, **properties: Value) -> Term:
        """`op_type` of this and further operands."""
        return self._made(op_type(self.value, *(self.like(each).value for each in operands), **properties))

    def like(self, operand: Term | float) -> Term:
        """A term as it is; a number as a constant of this one's element type."""
        return operand if isinstance(operand, Term) else self.constant(operand, self.type.element_type)

    def constant(self, array: NDArray | float | Sequence[int], element: Attribute) -> Term:
        """A constant with elements of the type `element`."""
        import numpy as np

        return self._made(ConstantOp.from_numpy(np.asarray(array, numpy_dtype(element))))

    def joined(self, others: Iterable[Term]) -> SSAValue:
        """The tuple of this and others."""
        op = TupleOp(self.value, *(other.value for other in others))
        self.emit(op)
        return op.result

    def from_tuple(self, op_type: type[RelayOp], fields: Sequence[Term], **properties: Value) -> Term:
        """`op_type`, whose one operand is a tuple, of `fields`."""
        first, *others = fields
        return self._made(op_type(first.joined(others), **properties))

    def _made(self, op: RelayOp | ConstantOp) -> Term:
        self.emit(op)
        return Term(op.results[0], self.emit)

    def __add__(self, other: Term | float) -> Term:
        return self.op(broadcast.AddOp, other)

    def __sub__(self, other: Term | float) -> Term:
        return self.op(broadcast.SubtractOp, other)

    def __mul__(self, other: Term | float) -> Term:
        return self.op(broadcast.MultiplyOp, other)

    def __truediv__(self, other: Term | float) -> Term:
        return self.op(broadcast.DivideOp, other)

    def __radd__(self, other: float) -> Term:
        return self.like(other) + self

    def __rsub__(self, other: float) -> Term:
        return self.like(other) - self

    def __rmul__(self, other: float) -> Term:
        return self.like(other) * self

    def __rtruediv__(self, other: float) -> Term:
        return self.like(other) / self

    def __neg__(self) -> Term:
        return self.op(elementwise.NegativeOp)

    def __gt__(self, other: Term | float) -> Term:
        return self.op(broadcast.GreaterOp, other)

    def __ge__(self, other: Term | float) -> Term:
        return self.op(broadcast.GreaterEqualOp, other)

    def __lt__(self, other: Term | float) -> Term:
        return self.op(broadcast.LessOp, other)

    def __le__(self, other: Term | float) -> Term:
        return self.op(broadcast.LessEqualOp, other)

    def equals(self, other: Term | float) -> Term:
        """Where both are the same number."""
        return self.op(broadcast.EqualOp, other)

    def where(self, condition: Term, otherwise: Term | float = 0) -> Term:
        """This where the condition holds, else zero, or something else."""
        return condition.op(broadcast.WhereOp, self, self.like(otherwise))

    def sum(self, axes: Sequence[int], *, keepdims: bool = False) -> Term:
        """The sum over axes; over none, this itself."""
        return self.op(reduce.SumOp, axis=axes, keepdims=keepdims) if axes else self

    def products_before(self, axis: int) -> Term:
        """For each element the product of those before it along an axis."""
        return self.op(scan.CumprodOp, axis=axis, exclusive=True)

    def reverse(self, axis: int) -> Term:
        """The elements along an axis in reverse."""
        return self.op(transform.ReverseOp, axis=axis)

    def prod(self, axes: Sequence[int]) -> Term:
        """The product over axes."""
        return self.op(reduce.ProdOp, axis=axes)

    def mean(self, axes: Sequence[int]) -> Term:
        """The mean over axes, which stay with extent one."""
        return self.op(reduce.MeanOp, axis=axes, keepdims=True) if axes else self

    def reshape(self, shape: Sequence[int]) -> Term:
        """The elements, row by row, in another static shape."""
        same = tuple(shape) == self.shape
        return self if same else self.op(transform.ReshapeOp, newshape=shape, allowzero=True)

    def transpose(self, axes: Sequence[int]) -> Term:
        """Dimension `axes[d]` in place of `d`."""
        return self if list(axes) == sorted(axes) else self.op(transform.TransposeOp, axes=axes)

    def rows(self) -> Term:
        """All dimensions but the last as one."""
        if len(self.shape) == 2:
            return self
        return self.op(transform.ReshapeOp, newshape=[-1, self.shape[-1]])

    def along(self, axis: int, rank: int) -> Term:
        """A vector in a shape that broadcasts along an axis of a tensor of that rank."""
        behind = rank - 1 - axis
        return self.op(transform.ExpandDimsOp, axis=1, num_newaxis=behind) if behind else self

    def contract(self, axis: int, matrix: NDArray | Sequence[Sequence[float]]) -> Term:
        """The product with `matrix` along an axis: `y[.., j, ..] = sum_i x[.., i, ..] * matrix[i, j]`."""
        import numpy as np

        rank, known = len(self.shape), np.asarray(matrix)
        order = [*(d for d in range(rank) if d != axis), axis]
        moved = self.transpose(order)
        product = moved.rows().op(MatmulOp, self.constant(known, self.type.element_type))
        back = product.reshape([*moved.shape[:-1], known.shape[1]])
        return back.transpose([order.index(d) for d in range(rank)])

    def spread(self, strides: Sequence[int]) -> Term:
        """The elements of each dimension as far apart as its stride, with zeros between them."""
        return self if set(strides) <= {1} else self.op(DilateOp, strides=strides)

    def pad(self, before: Sequence[int], after: Sequence[int]) -> Term:
        """With zeros around."""
        if not any(before) and not any(after):
            return self
        widths = [width for pair in zip(before, after, strict=True) for width in pair]
        return self.op(PadOp, 0, pad_width=widths)

    def relaid(self, src: Layout, dst: Layout) -> Term:
        """The tensor in another layout."""
        if src.text == dst.text:
            return self
        return self.op(LayoutTransformOp, src_layout=src.text, dst_layout=dst.text)

    def cast(self, element: Attribute) -> Term:
        """The elements as those of another type."""
        same = element == self.type.element_type
        return self if same else self.op(elementwise.CastOp, dtype=dtype_name(element))

    def slice(self, begin: Sequence[int], end: Sequence[int]) -> Term:
        """The box from `begin` to, not including, `end`."""
        whole = not any(begin) and tuple(end) == self.shape
        return self if whole else self.op(slicing.StridedSliceOp, begin=begin, end=end)

    def slice_along(self, axis: int, begin: int, end: int) -> Term:
        """The elements from `begin` to, not including, `end` of an axis."""
        return self.op(slicing.StridedSliceOp, begin=[begin], end=[end], axes=[axis])

    def concatenated(self, others: Sequence[Term], axis: int) -> Term:
        """This and others, one behind the other along an axis."""
        return self.from_tuple(slicing.ConcatenateOp, [self, *others], axis=axis) if others else self

    def filled(self, value: float, shape: Sequence[int]) -> Term:
        """A tensor of one number, of this one's element type."""
        return self.like(value).op(tiling.BroadcastToOp, shape=shape)

    def zeros(self) -> Term:
        """Zeros of the same type."""
        return self.op(creation.ZerosLikeOp)

    def ones(self) -> Term:
        """Ones of the same type."""
        return self.op(creation.OnesLikeOp)


@dataclass(frozen=True)
class Gradient:
    """What the gradient of one operation is made from."""

    op: RelayOp
    inputs: Sequence[Term]
    """The tensors among the operands, tuples flattened."""
    outputs: Sequence[Term]
    """The tensors among the results, tuples flattened."""
    given: Sequence[Term | None] = field(repr=False)

    @cached_property
    def grads(self) -> Sequence[Term]:
        """The gradient of each output; zeros where nothing depends on it."""
        return [out.zeros() if grad is None else grad for grad, out in zip(self.given, self.outputs, strict=True)]

    @property
    def grad(self) -> Term:
        """The gradient of the first output."""
        return self.grads[0]

    @property
    def input(self) -> Term:
        """The first input."""
        return self.inputs[0]

    @property
    def output(self) -> Term:
        """The first output."""
        return self.outputs[0]

    def constant(self, array: NDArray | float | Sequence[int], element: Attribute) -> Term:
        """A constant."""
        return self.outputs[0].constant(array, element)

    def static(self) -> None:
        """
        Raises:
            VerifyException: an input or output has an extent that is not known.
        """
        if not all(is_static(term.value.type) for term in (*self.inputs, *self.outputs)):
            raise VerifyException("its gradient needs static shapes")

    def through(self, *formula: Term) -> Terms:
        """The gradient of a formula over `inputs` that computes the same as the outputs.

        Raises:
            Diagnostic: an operator of the formula has none.
        """
        stops = {term.value for term in self.inputs}
        seeds = [((term.value, ()), grad) for term, grad in zip(formula, self.given, strict=True) if grad is not None]
        ops = operations_between(stops, [term.value for term in formula])
        found = backpropagate(ops, seeds, self.output.emit, stops)
        return [found.get((term.value, ())) for term in self.inputs]

    def moved(self, sources: Sequence[int] = (0,), **properties: Value) -> Terms:
        """The gradient of an operator that only moves elements of some of its inputs, `sources`, about, and puts others
        where there are none.

        The operator is applied to the numbers of the elements in place of them, which tells where each element of the
        results comes from. `properties` are to be other ones for that: what is put elsewhere must be no number, -1.

        Raises:
            VerifyException: a shape is not static.
        """
        import numpy as np

        self.static()
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

    def _placed(self, arrays: Sequence[NDArray], properties: Mapping[str, Value]) -> list[NDArray]:
        """The operator on numbers that are known."""
        from .attributes import tensor_type_of
        from .reference import evaluate_op

        block = Block(arg_types=[tensor_type_of(array) for array in arrays])
        op, _ = self._applied([Term(value, _nowhere) for value in block.args], properties)
        return evaluate_op(op, arrays)

    def _scattered(
        self, grad: Term, numbers: Mapping[int, NDArray], properties: Mapping[str, Value], total: int
    ) -> Term:
        """The gradients, added where the operator, which runs on numbers too, takes elements from."""
        given = [
            self.constant(numbers[position], i32) if position in numbers else term
            for position, term in enumerate(self.inputs)
        ]
        _, results = self._applied(given, properties)
        source = _in_line(results) - 1
        source = source.where(source >= 0, total)  # beyond the end, where nothing is added
        zeros = grad.filled(0, [total])
        added = {"axis": 0, "reduction": "add"}
        return zeros.op(scatter.ScatterElementsOp, source, grad, **added)

    def _applied(self, inputs: Sequence[Term], properties: Mapping[str, Value]) -> tuple[RelayOp, list[Term]]:
        """The operator with other properties on other inputs, which are its operands' tensors in their order."""
        emit = inputs[0].emit
        rest = iter(inputs)

        def packed(type: Attribute) -> SSAValue:
            if not isinstance(type, TupleType):
                return next(rest).value
            made = TupleOp(*(packed(each) for each in type.types.data))
            emit(made)
            return made.result

        operands = [packed(operand.type) for operand in self.op.operands]
        op = type(self.op)(*operands, **{**self.op.properties, **properties})
        emit(op)
        return op, [term for result in op.results for term in leaf_terms(result, emit)]

    def linear(self) -> Terms:
        """The gradient of an operator on one tensor that does the same linear thing to each index of its first
        dimension. What, is read off what it makes of the unit vectors."""
        import numpy as np

        self.static()
        count = prod(self.input.shape[1:])
        units = np.eye(count).reshape([count, *self.input.shape[1:]])
        matrix = self._placed([units], {})[0].reshape(count, -1)
        flat = self.grad.reshape([self.grad.shape[0], matrix.shape[1]]).contract(1, matrix.T)
        return [flat.reshape(self.input.shape)]

    def separable(self, axes: Sequence[int], **properties: Value) -> Terms:
        """The gradient of an operator on one tensor that is linear along each of `axes` by itself, the same everywhere
        else. The matrices are read off what it makes of ones along one axis; `properties` are other ones for that.

        Raises:
            VerifyException: a shape is not static.
        """
        import numpy as np

        self.static()
        shape, rank = self.input.shape, len(self.input.shape)
        batch = next(d for d in range(rank) if d not in axes)

        def applied(lead: int, array: NDArray) -> NDArray:
            return np.moveaxis(self._placed([array], properties)[0], [batch, *axes], range(1 + len(axes))).reshape(
                lead, *(self.output.shape[d] for d in axes)
            )

        def probe(lead: int) -> NDArray:
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


def _constant(term: Term) -> NDArray | None:
    """The value of a constant."""
    return term.value.owner.numpy() if isinstance(term.value.owner, ConstantOp) else None


def _in_line(terms: Sequence[Term]) -> Term:
    """All elements of all terms, in one line."""
    flat = [term.reshape([prod(term.shape)]) for term in terms]
    return flat[0].concatenated(flat[1:], 0)


def _gathered(grad: Term, source: NDArray, total: int) -> Term:
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
    picked = padded.op(gather.TakeOp, indices, axis=0)
    return picked if table.shape[1] == 1 else picked.sum([1])


def leaf_terms(value: SSAValue, emit: Emit) -> list[Term]:
    """The tensors of a value, taken out of it where it is a tuple."""
    if not isinstance(value.type, TupleType):
        return [Term(value, emit)]
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
            stack.extend((operand, False) for operand in reversed(op.operands))
    return list(order)


def backpropagate(
    ops: Sequence[Operation], seeds: Iterable[tuple[Leaf, Term]], emit: Emit, sources: Iterable[SSAValue]
) -> dict[Leaf, Term]:
    """The gradients by all tensors that `ops`, of one block and in its order, compute from `sources`, for those that
    `seeds` gives; tensors that nothing depends on are missing.

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
            case _:
                if any(key[0] in op.results for key in found):
                    raise Diagnostic.at(op, f"'{op.name}' has no gradient", hint=HINT)
    return found


HINT = "the gradient goes back through operators and tuples, not through what control flow or fuse-ops made"


def _gradient(op: RelayOp, given: Sequence[Term | None], emit: Emit) -> Terms:
    """What the operator's facet gives, one for each tensor among its operands."""
    if not op.has_gradient():
        raise Diagnostic.at(op, f"'{op.name}' has no gradient", hint=f"{type(op).__name__} defines no `gradient`")

    def emit_here(made: Operation) -> None:
        made.location = op.location
        emit(made)

    inputs = [term for operand in op.operands for term in leaf_terms(operand, emit_here)]
    outputs = [term for result in op.results for term in leaf_terms(result, emit_here)]
    try:
        terms = op.gradient(Gradient(op, inputs, outputs, [t and Term(t.value, emit_here) for t in given]))
    except VerifyException as error:
        raise Diagnostic.at(op, f"'{op.name}' has no gradient here: {error}") from error
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
    return Term(value, emit)


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
            return term.op(tiling.BroadcastToOp, shape=shape)
        return term.op(tiling.BroadcastToLikeOp, leaf())
    if is_static(type):
        return term.op(reduce.CollapseSumToOp, shape=shape)
    return term.op(reduce.CollapseSumLikeOp, leaf())

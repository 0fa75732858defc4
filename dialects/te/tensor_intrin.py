"""`te.decl_tensor_intrin`: what a processor computes at once, as a formula that says what, and statements that say how.

    def vadd(n):
        x, y = te.placeholder((n,), name="x"), te.placeholder((n,), name="y")
        z = te.compute((n,), lambda i: x[i] + y[i], name="z")

        def how(ins, outs):
            (a, b), (c,) = ins, outs
            return tir.call_extern("int32", "vadd", a.access_ptr("r"), b.access_ptr("r"), c.access_ptr("w"), n)

        return te.decl_tensor_intrin(z.op, how)

    s[C].tensorize(inner, vadd(16))                                                       # in place of loops
    C = te.compute((m, 16), lambda i: vadd(16)(A[i, 0:16], B[i, 0:16]), name="C")       # as the formula itself

Of a reduction there may be three ways: to do all of it, to begin it, and to go on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from ..support.arguments import checked
from ..support.diagnostics import UsageError
from ..support.hints import is_sequence
from ..tir.analyzer.nodes import Const as Integer
from ..tir.nodes.buffers import Buffer, decl_buffer
from ..tir.nodes.expressions import Call
from ..tir.nodes.statements import Evaluate, Stmt
from .dims import same
from .expr import Const, Dim, Expr, ExprLike, IterVar, Var, as_expr
from .integer_forms import integer_form
from .kinds import index
from .reduction import Fold, Reduce
from .tensor import Compute, Read, Tensor, TensorOp, TensorSlice, as_index

Way: TypeAlias = Callable[[list[Buffer], list[Buffer]], object]
"""Gives the statements, for the buffers of the inputs and of the result."""

WayOfNumbers: TypeAlias = Callable[[list[Buffer], list[Buffer], tuple[Var, ...]], object]
"""The same, for numbers too."""


@dataclass(frozen=True, eq=False)
class TensorIntrin:
    """What `decl_tensor_intrin` gives."""

    name: str
    op: TensorOp
    """What it computes, of placeholders."""
    inputs: tuple[Tensor, ...]
    buffers: tuple[Buffer, ...]
    """Those of the statements: of the inputs, then of the result."""
    scalar_params: tuple[Var, ...]
    body: Stmt
    """How it is computed, a reduction whole."""
    reduce_init: Stmt | None = None
    """How a reduction is begun."""
    reduce_update: Stmt | None = None
    """How one that has begun goes on."""

    @property
    def rank(self) -> int:
        """The number of dimensions of what it computes."""
        return len(self.op.axis)

    @property
    def reduce_rank(self) -> int:
        """How many variables it reduces over."""
        return len(self.op.reduce_axis)

    def __call__(
        self, *args: Tensor | TensorSlice | ExprLike, reduce_axis: IterVar | Sequence[IterVar] = ()
    ) -> IntrinsicCall:
        """The formula of `te.compute` that is the intrinsic on parts of tensors, such as `A[i, 0:16]`, and on numbers
        for its `scalar_params`, in whatever order. `reduce_axis` are variables over which its results are combined.

        Raises:
            UsageError: they are not as many, or not as large.
        """
        over = (reduce_axis,) if isinstance(reduce_axis, IterVar) else tuple(reduce_axis)
        parts = [each for each in args if isinstance(each, Tensor | TensorSlice)]
        numbers = [as_expr(each, index) for each in args if not isinstance(each, Tensor | TensorSlice)]
        if len(parts) != len(self.inputs) or len(numbers) != len(self.scalar_params):
            raise UsageError(
                f"te: the intrinsic '{self.name}' takes {len(self.inputs)} tensors and {len(self.scalar_params)} "
                f"numbers, not {len(parts)} and {len(numbers)}"
            )
        if over and not isinstance(self._formula.body, Reduce):
            raise UsageError(f"te: the intrinsic '{self.name}' does not reduce", hint="leave reduce_axis out")
        regions = [_Region.of(part, tensor, self.name) for part, tensor in zip(parts, self.inputs, strict=True)]
        return IntrinsicCall(self, tuple(regions), tuple(numbers), over)

    @property
    def _formula(self) -> Compute:
        compute = self.op.tensor.producer
        assert compute is not None
        return compute


def _extent(low: ExprLike, high: ExprLike) -> Dim:
    """How many elements a slice has: `i : i + 16` has 16."""
    form = integer_form(as_expr(high, index)) - integer_form(as_expr(low, index))
    return int(form.value) if isinstance(form, Integer) else cast("Dim", as_expr(high, index) - low)


def _is_same(extent: Dim, wanted: Dim) -> bool:
    """Whether a slice has as many elements as wanted, whatever the index that it speaks of."""
    try:
        return same(extent, wanted)
    except TypeError:  # it speaks of an index
        return False


@dataclass(frozen=True)
class _Region:
    """A part of a tensor that stands for an input of an intrinsic: where it begins, and which of the tensor's
    dimensions the input's are."""

    tensor: Tensor
    start: tuple[Expr, ...]
    dims: tuple[int, ...]

    @staticmethod
    def of(part: Tensor | TensorSlice, input: Tensor, name: str) -> _Region:
        """The part, of the shape of an input.

        Raises:
            UsageError: it is none.
        """
        tensor, given = (part, ()) if isinstance(part, Tensor) else (part.tensor, part.indices)
        given = (*given, *[slice(None)] * (tensor.rank - len(given)))
        start: list[Expr] = []
        dims: list[int] = []
        extents: list[Dim] = []
        for number, (place, dim) in enumerate(zip(given, tensor.dims, strict=True)):
            if not isinstance(place, slice):
                start.append(as_index(place))
                continue
            if place.step not in (None, 1):
                raise UsageError(f"te: the part of '{tensor.name}' has a step of {place.step}", hint="give all of it")
            low, high = (0 if place.start is None else place.start), (dim if place.stop is None else place.stop)
            start.append(as_index(low))
            dims.append(number)
            extents.append(_extent(low, high))
        if len(extents) > len(input.dims):  # dimensions of one element, of which the input knows nothing
            ones = [number for number, extent in enumerate(extents) if extent == 1]
            for number in reversed(ones[: len(extents) - len(input.dims)]):
                del extents[number], dims[number]
        if len(extents) != len(input.dims) or not all(map(_is_same, extents, input.dims)):
            raise UsageError(
                f"te: the intrinsic '{name}' takes '{input.name}' of the shape {input.dims}, and not {tuple(extents)}",
                hint="A[i, 0:16] is a row of 16 elements",
            )
        if tensor.element_type != input.element_type:
            raise UsageError(f"te: '{tensor.name}' is {tensor.dtype}, and '{input.name}' of '{name}' {input.dtype}")
        return _Region(tensor, tuple(start), tuple(dims))

    def element(self, indices: tuple[Expr, ...]) -> Read:
        """The element for one of the input."""
        places = list(self.start)
        for number, place in zip(self.dims, indices, strict=True):
            places[number] = places[number] + place
        return Read(self.tensor, tuple(places))


@dataclass(frozen=True, eq=False)
class IntrinsicCall:
    """The formula that is an intrinsic on parts of tensors."""

    intrin: TensorIntrin
    regions: tuple[_Region, ...]
    numbers: tuple[Expr, ...]
    over: tuple[IterVar, ...]

    def formula(self, outer: Sequence[IterVar], shape: Sequence[Dim], name: str) -> Compute:
        """What it computes: the intrinsic's formula over `outer`, and axes of its own.

        Raises:
            UsageError: a tensor of this shape is none of its results.
        """
        from .substitution import substitute

        compute = self.intrin._formula  # pyright: ignore[reportPrivateUsage]
        inner = tuple(IterVar(axis.name, axis.dim) for axis in compute.axes)
        rest = shape[len(outer) :]
        if len(rest) != len(inner) or not all(same(a.dim, b) for a, b in zip(inner, rest, strict=True)):
            what = f"'{self.intrin.name}' computes {tuple(axis.dim for axis in inner)}"
            raise UsageError(f"te: '{name}' is of the shape {tuple(shape)}, and the intrinsic {what} of it at once")
        values: dict[Expr, Expr] = dict(zip(compute.axes, inner, strict=True))
        values.update(zip(self.intrin.scalar_params, self.numbers, strict=True))
        steps = tuple(IterVar(axis.name, axis.dim, True, axis.start) for axis in compute.reduce_axes)
        values.update(zip(compute.reduce_axes, steps, strict=True))
        places = {tensor: region.element for tensor, region in zip(self.intrin.inputs, self.regions, strict=True)}
        body = substitute(compute.body, values, elsewhere=places)
        if isinstance(body, Reduce):
            body = Reduce(body.kind, body.operand, (*self.over, *steps), body.start)
        return Compute((*outer, *inner), body, by=self.intrin)


@checked
def decl_tensor_intrin(
    op: TensorOp,
    fcompute: Way | WayOfNumbers,
    name: str = "tensor_intrin",
    binds: Mapping[Tensor, Buffer] | None = None,
    scalar_params: Sequence[Var] | None = None,
    default_buffer_params: Mapping[str, object] | None = None,
) -> TensorIntrin:
    """A tensor intrinsic: what computes as `op` does, by the statement, or call, that `fcompute(ins, outs)` gives for a
    buffer of each input and of the result; `binds` says more of these. Where `fcompute` gives three of a reduction,
    they do all of it, begin it and go on with it; the second may be `None`.

    A stride of a buffer may be a `te.var`: it is the number that it has where the intrinsic is used. Where buffers have
    none, rows lie one after the other, as is checked there. With `scalar_params`, variables of the formula, `fcompute`
    takes them too.

    Raises:
        UsageError: `op` reads what is computed, `fcompute` gives something else, or a buffer is not of its shape.
    """
    compute = op.tensor.producer
    if compute is None:
        raise UsageError("te: a tensor intrinsic is of what te.compute gives, and not of an input")
    inputs = compute.inputs()
    if computed := [each.name for each in inputs if each.producer is not None]:
        raise UsageError(f"te: the intrinsic '{name}' reads '{computed[0]}', which is computed and no placeholder")
    if isinstance(compute.body, Fold) and compute.body.number != 0:
        raise UsageError(f"te: the intrinsic '{name}' is of one of several results of a reduction")
    tensors = [*inputs, op.tensor]
    given = dict(binds or {})
    buffers: list[Buffer] = []
    for tensor in tensors:
        if tensor not in given:
            more = cast("dict[str, str]", dict(default_buffer_params or {}))
            given[tensor] = decl_buffer(tensor.dims, tensor.dtype, name=tensor.name, **more)  # pyright: ignore[reportArgumentType]
        buffer = given[tensor]
        if len(buffer.shape) != tensor.rank or not all(map(same, buffer.shape, tensor.dims)):
            raise UsageError(f"te: the buffer '{buffer.name}' has the shape {buffer.shape}, and not {tensor.dims}")
        if buffer.type != tensor.element_type:
            raise UsageError(f"te: the buffer '{buffer.name}' is {buffer.dtype}, and '{tensor.name}' {tensor.dtype}")
        buffers.append(buffer)
    numbers = tuple(scalar_params or ())
    if numbers:
        result = cast("WayOfNumbers", fcompute)(buffers[:-1], buffers[-1:], numbers)
    else:
        result = cast("Way", fcompute)(buffers[:-1], buffers[-1:])
    several = result if is_sequence(result) else (result,)
    if len(several) not in (1, 3):
        raise UsageError(f"te: the intrinsic '{name}' is one statement, or three of a reduction, not {len(several)}")
    statements = [None if each is None else _statement(each, name) for each in several]
    if statements[0] is None:
        raise UsageError(f"te: nothing says how the intrinsic '{name}' is computed")
    if len(statements) == 3 and not compute.reduce_axes:
        raise UsageError(f"te: the intrinsic '{name}' does not reduce", hint="give one statement")
    return TensorIntrin(name, op, tuple(inputs), tuple(buffers), numbers, statements[0], *statements[1:])


def _statement(value: object, name: str) -> Stmt:
    if isinstance(value, Call):
        return Evaluate(value)
    if not isinstance(value, Stmt):
        raise UsageError(f"te: the intrinsic '{name}' is a {type(value).__name__}, and neither a statement nor a call")
    return value


def strides_of(buffer: Buffer) -> tuple[Dim, ...]:
    """How many elements lie from one element of a buffer to the next, along each dimension."""
    if buffer.strides is not None:
        return tuple(int(each.value) if isinstance(each, Const) else each for each in buffer.strides)
    steps: list[Dim] = [1]
    for extent in buffer.shape[:0:-1]:
        steps.insert(0, steps[0] * extent)
    return tuple(steps)[: len(buffer.shape)]

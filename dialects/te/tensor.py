"""Tensors and the two ways to get one: `placeholder` (an input) and `compute` (a formula for each element)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NoReturn, Protocol, TypeAlias, cast, overload

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from ..support.dtypes import dtype_name
from ..support.whole_number import WholeNumber
from .bounds import affine, affine_range, greatest, is_over_axes
from .calls import Call
from .dims import as_dim
from .expr import Binary, Bitcast, Cast, Check, Dim, Expr, ExprLike, IterVar, Select, Unary, as_expr, binary, index
from .expr import cast as convert
from .kinds import BinaryKind, ReduceKind
from .operators import TakesOver
from .reduction import Fold, Reduce

Part: TypeAlias = slice
"""A range of indices of a dimension."""


@dataclass(frozen=True, eq=False)
class Tensor(TakesOver):
    """A tensor of extents `dims`; `producer` is `None` for an input.

    `x[i, j]` is the scalar expression of one element; indices are `index` expressions or integers.
    """

    dims: tuple[Dim, ...]
    element_type: Attribute
    name: str
    producer: Compute | None = None

    __iter__ = None
    """Not a sequence: every index is an element, so that iterating by `__getitem__` would never end."""
    arithmetic: ClassVar[Callable[[BinaryKind, Tensor | ExprLike, Tensor | ExprLike], Tensor]]
    """What the operators make of whole tensors (`te.broadcast`)."""

    def __add__(self, other: Tensor | ExprLike) -> Tensor:
        return Tensor.arithmetic(BinaryKind.ADD, self, other)

    def __radd__(self, other: ExprLike) -> Tensor:
        return Tensor.arithmetic(BinaryKind.ADD, other, self)

    def __sub__(self, other: Tensor | ExprLike) -> Tensor:
        return Tensor.arithmetic(BinaryKind.SUB, self, other)

    def __rsub__(self, other: ExprLike) -> Tensor:
        return Tensor.arithmetic(BinaryKind.SUB, other, self)

    def __mul__(self, other: Tensor | ExprLike) -> Tensor:
        return Tensor.arithmetic(BinaryKind.MUL, self, other)

    def __rmul__(self, other: ExprLike) -> Tensor:
        return Tensor.arithmetic(BinaryKind.MUL, other, self)

    def __truediv__(self, other: Tensor | ExprLike) -> Tensor:
        return Tensor.arithmetic(BinaryKind.DIV, self, other)

    def __rtruediv__(self, other: ExprLike) -> Tensor:
        return Tensor.arithmetic(BinaryKind.DIV, other, self)

    def __getitem__(self, indices: ExprLike | Part | tuple[ExprLike | Part, ...]) -> Read:
        """One element; with fewer indices than dimensions the part that they begin: `x[i][j]` is `x[i, j]`. With
        slices it is a part for a tensor intrinsic (`te.decl_tensor_intrin`)."""
        given = indices if isinstance(indices, tuple) else (indices,)
        if 0 < len(given) < len(self.dims) or any(isinstance(each, slice) for each in given):
            return cast("Read", TensorSlice(self, given))  # an element, once the rest of its indices is given
        return self(*cast("tuple[ExprLike, ...]", given))

    def __call__(self, *indices: ExprLike) -> Read:
        """One element: `x(i, j)` is `x[i, j]`."""
        if len(indices) != len(self.dims):
            raise IndexError(wrong_rank(self, len(indices)))
        return Read(self, tuple(as_index(i) for i in indices))

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, for those who compute with them as with integers: what depends on symbols computes likewise, and
        refuses a question that has no answer before it runs (`te.dims`)."""
        return cast("tuple[int, ...]", tuple(WholeNumber(dim) if isinstance(dim, int) else dim for dim in self.dims))

    @property
    def is_symbolic(self) -> bool:
        """Whether an extent depends on symbols."""
        return not all(isinstance(dim, int) for dim in self.dims)

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def dtype(self) -> str:
        """NumPy's name of the element type."""
        return dtype_name(self.element_type)

    @property
    def value_index(self) -> int:
        """Which of the results it is, of what computes several."""
        body = None if self.producer is None else self.producer.body
        return body.number if isinstance(body, Fold | Filled) else 0

    @property
    def op(self) -> TensorOp:
        """What computes the tensor, as TVM has it: `C.op.axis`, `C.op.reduce_axis`."""
        return op_class(self.producer)(self)


def wrong_rank(tensor: Tensor, given: int) -> str:
    return f"te: tensor '{tensor.name}' has rank {len(tensor.dims)} but is read with {given} indices"


@dataclass(frozen=True)
class TensorSlice:
    """The part of a tensor that `indices`, of its first dimensions, begin: an element of it is one of the tensor's.
    Those that are slices are for a tensor intrinsic."""

    tensor: Tensor
    indices: tuple[ExprLike | Part, ...]

    __iter__ = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the other dimensions."""
        return self.tensor.shape[len(self.indices) :]

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Read:
        return self.tensor[(*self.indices, *(indices if isinstance(indices, tuple) else (indices,)))]

    def _refuse(self, other: object) -> NoReturn:
        raise IndexError(wrong_rank(self.tensor, len(self.indices)))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse


@dataclass(frozen=True)
class TensorOp:
    """What computes `tensor`; an input has neither axes nor a body."""

    tensor: Tensor

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def axis(self) -> tuple[IterVar, ...]:
        """One variable for each dimension."""
        return () if self.tensor.producer is None else self.tensor.producer.axes

    @property
    def reduce_axis(self) -> tuple[IterVar, ...]:
        """The variables that the body reduces over."""
        return () if self.tensor.producer is None else self.tensor.producer.reduce_axes

    @property
    def input_tensors(self) -> list[Tensor]:
        """The tensors that the body reads."""
        return [] if self.tensor.producer is None else self.tensor.producer.inputs()

    @property
    def body(self) -> list[Expr]:
        """The formula."""
        return [] if self.tensor.producer is None else [self.tensor.producer.body]

    @property
    def tag(self) -> str:
        """What the person who wrote it says that it is, for schedules of their own; `""` where nothing is said."""
        return "" if self.tensor.producer is None else self.tensor.producer.tag

    @property
    def attrs(self) -> dict[str, object]:
        """What else they say of it."""
        return {} if self.tensor.producer is None else {k: _told(v) for k, v in self.tensor.producer.attrs.items()}

    @property
    def num_outputs(self) -> int:
        return 1

    def output(self, number: int) -> Tensor:
        """The tensor.

        Raises:
            IndexError: `number` is not 0.
        """
        return (self.tensor,)[number]

    def same_as(self, other: object) -> bool:
        """Whether both are what computes one tensor."""
        return self == other


def _told(value: object) -> object:
    return WholeNumber(value) if isinstance(value, int) and not isinstance(value, bool) else value


@dataclass(frozen=True)
class PlaceholderOp(TensorOp):
    """What an input is said to be computed by."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        return self.tensor.dtype


@dataclass(frozen=True)
class ComputeOp(TensorOp):
    """A formula."""


@dataclass(frozen=True)
class ExternOp(TensorOp):
    """Statements, or a function, that fill tensors: `te.extern`, `te.scan`."""


def op_class(compute: Compute | None) -> type[TensorOp]:
    """TVM's class of what computes."""
    if compute is None:
        return PlaceholderOp
    return ExternOp if isinstance(compute.body, Filled) else ComputeOp


def as_index(value: ExprLike) -> Expr:
    """An index: what is of another integer type is converted.

    Raises:
        TypeError: it is no integer.
    """
    if not isinstance(value, Expr):
        if isinstance(value, float):
            raise TypeError(f"te: an index is an integer, not {value}")
        return as_expr(value, index)
    if value.type == index or not isinstance(value.type, IntegerType):
        return value
    return convert(value, index)


@dataclass(frozen=True, eq=False)
class Read(Expr):
    """One element of a tensor; `indices` have type `index`, one for each dimension."""

    tensor: Tensor
    indices: tuple[Expr, ...]

    is_read = True
    __iter__ = None

    @property
    def producer(self) -> Tensor:
        """The tensor, as TVM calls it."""
        return self.tensor

    @property
    def type(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.tensor.element_type

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Read:
        raise IndexError(wrong_rank(self.tensor, len(self.indices) + 1))


class Computed(Protocol):
    """What computes the last dimensions of a formula, and the last variables that it reduces over, at once
    (`te.decl_tensor_intrin`)."""

    @property
    def rank(self) -> int: ...
    @property
    def reduce_rank(self) -> int: ...


class Filling(Protocol):
    """Statements that fill tensors (`te.procedure`)."""

    def reads(self) -> list[Read]: ...


@dataclass(frozen=True, eq=False)
class Filled(Expr):
    """An element of result `number` of a procedure. Stands alone, as all of the body of a `compute`."""

    procedure: Filling
    number: int
    type: Attribute


def operands_of(expr: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions, in order."""
    match expr:
        case Unary(_, operand) | Cast(operand) | Bitcast(operand):
            return (operand,)
        case Binary(_, lhs, rhs):
            return (lhs, rhs)
        case Select(condition, then, otherwise):
            return (condition, then, otherwise)
        case Read(_, indices):
            return indices
        case Check(operand, given):
            return (operand, given)
        case Reduce(_, operand, _, start):
            return (operand,) if start is None else (operand, start)
        case Fold(_, operands, _, _, start):
            return (*operands, *(start or ()))
        case Filled(procedure):
            return tuple(procedure.reads())
        case Call():
            return expr.operands
        case _:
            return ()


@dataclass(frozen=True, eq=False)
class Compute:
    """`result[axes] = body`, where `body` may be one `Reduce` over further axes."""

    axes: tuple[IterVar, ...]
    body: Expr
    tag: str = ""
    attrs: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the person who wrote it says of it."""
    by: Computed | None = None
    """The intrinsic that computes its last dimensions."""
    beside: object = None
    """What the formulas that one function gave for several tensors have in common."""

    @property
    def reduce_axes(self) -> tuple[IterVar, ...]:
        return self.body.axes if isinstance(self.body, Reduce | Fold) else ()

    def reads(self) -> list[Read]:
        """Every read in the body, each once, operands before users."""
        seen: set[int] = set()
        found: list[Read] = []
        stack: list[tuple[Expr, bool]] = [(self.body, False)]
        while stack:
            expr, expanded = stack.pop()
            if expanded:
                if isinstance(expr, Read):
                    found.append(expr)
                continue
            if id(expr) in seen:
                continue
            seen.add(id(expr))
            stack.append((expr, True))
            stack.extend((operand, False) for operand in reversed(operands_of(expr)))
        return found

    def inputs(self) -> list[Tensor]:
        """The tensors read, each once, in order of first use."""
        return list(dict.fromkeys(read.tensor for read in self.reads()))


def placeholder(shape: Sequence[Dim], element_type: Attribute, name: str = "placeholder") -> Tensor:
    """An input tensor of `shape`, extents being integers or made of `te.var`s, with elements of the scalar type
    `element_type`.

    Raises:
        TypeError: an extent is something else.
    """
    return Tensor(tuple(map(as_dim, shape)), element_type, name)


_AXIS_NAMES = "ijklmnopqrst"


_I: TypeAlias = IterVar
FixedRankBody: TypeAlias = (
    Callable[[], ExprLike]
    | Callable[[_I], ExprLike]
    | Callable[[_I, _I], ExprLike]
    | Callable[[_I, _I, _I], ExprLike]
    | Callable[[_I, _I, _I, _I], ExprLike]
    | Callable[[_I, _I, _I, _I, _I], ExprLike]
)
"""A function of one index variable for each dimension; a lambda's parameters get their type from here."""


class AnyRankBody(Protocol):
    """A function of any number of index variables."""

    def __call__(self, *indices: IterVar) -> ExprLike: ...


@overload
def compute(
    shape: Sequence[Dim],
    body: AnyRankBody,
    name: str = "compute",
    axis_names: Sequence[str] = ...,
    may_scan: bool = ...,
) -> Tensor: ...


@overload
def compute(
    shape: Sequence[Dim],
    body: FixedRankBody,
    name: str = "compute",
    axis_names: Sequence[str] = ...,
    may_scan: bool = ...,
) -> Tensor: ...


def compute(
    shape: Sequence[Dim],
    body: FixedRankBody | AnyRankBody,
    name: str = "compute",
    axis_names: Sequence[str] = _AXIS_NAMES,
    may_scan: bool = False,
) -> Tensor:
    """The tensor of `shape` whose element at `(i, j, ...)` is `body(i, j, ...)`. Where it `may_scan`, that an input is
    read at steps below 0 is no mistake yet: it may be the state of a `te.scan`.

    `body` takes one index variable for each dimension and returns an `Expr` (or a reduction made by `sum`, `max`, ...).
    """
    dims = tuple(map(as_dim, shape))
    axes = tuple(IterVar(axis_names[d] if d < len(axis_names) else f"i{d}", n) for d, n in enumerate(dims))
    value = cast(Callable[..., object], body)(*axes)
    if isinstance(value, TensorSlice):
        raise IndexError(wrong_rank(value.tensor, len(value.indices)))
    if not isinstance(value, Expr):
        raise TypeError(f"te: the body of '{name}' is a Python number; give it a type with te.const(value, type)")
    producer = Compute(axes, value)
    for read in producer.reads():
        if any(isinstance(i, Reduce | Fold) for i in read.indices):
            raise TypeError(f"te: '{name}' has a reduction inside an index; reductions stand at the top of a body")
    check_checks(producer, name)
    check_reads(producer, name, may_scan)
    return Tensor(dims, value.type, name, producer)


def check_checks(compute: Compute, name: str) -> None:
    """Refuse a check that might not be made.

    Raises:
        TypeError: a `Select` chooses whether it is.
    """
    stack: list[tuple[Expr, bool]] = [(compute.body, False)]
    seen = set[tuple[Expr, bool]]()
    while stack:
        entry = expr, chosen = stack.pop()
        if entry in seen:
            continue
        seen.add(entry)
        if chosen and isinstance(expr, Check):
            raise TypeError(f"te: '{name}' makes a check on one side of a select; compute it as a tensor of its own")
        if isinstance(expr, Select):
            stack += [(expr.condition, chosen), (expr.then, True), (expr.otherwise, True)]
        else:
            stack += [(operand, chosen) for operand in operands_of(expr)]


def check_reads(compute: Compute, name: str, may_scan: bool = False) -> None:
    """Refuse a read that surely leaves its tensor: no `Select` guards it, and an affine index does for some element.

    Where extents depend on symbols, or statements read, that is seen when the function that computes it is verified.

    Raises:
        IndexError: there is one.
    """
    if isinstance(compute.body, Filled) or any(axis.dim == 0 for axis in (*compute.axes, *compute.reduce_axes)):
        return
    stack, seen = [compute.body], set[Expr]()
    while stack:
        expr = stack.pop()
        if expr in seen:
            continue
        seen.add(expr)
        if isinstance(expr, Read):
            for d, (position, extent) in enumerate(zip(expr.indices, expr.tensor.dims, strict=True)):
                form = affine(position)
                if form is None or not isinstance(extent, int) or any(not isinstance(a.dim, int) for a in form[0]):
                    continue
                low, high = affine_range(form)
                if may_scan and d == 0 and expr.tensor.producer is None and high < extent:
                    continue
                if low < 0 or high >= extent:
                    raise IndexError(
                        f"te: '{name}' reads '{expr.tensor.name}' outside of dimension {d}, whose extent is {extent}: "
                        f"its index there runs from {low} to {high}"
                    )
        stack.extend((expr.condition,) if isinstance(expr, Select) else operands_of(expr))


@dataclass(frozen=True, eq=False)
class LimitedAxis(IterVar):
    """A variable to reduce over whose values end before `limit`, which depends on other variables; `dim` is the most
    that there are. A reduction leaves the others out."""

    limit: Expr = field(kw_only=True)


def limits_of(axes: Sequence[IterVar]) -> list[Expr]:
    """The conditions under which values of axes are to be reduced."""
    return [binary(BinaryKind.LT, axis, axis.limit) for axis in axes if isinstance(axis, LimitedAxis)]


def reduce_axis(extent: Dim | tuple[int, Dim], name: str = "k") -> IterVar:
    """A variable to reduce over: `0 <= k < extent`, or `low <= k < high` where `extent` is `(low, high)`, as in TVM.
    `high` may depend on variables of the formula around.

    Raises:
        TypeError: `extent` is neither.
        ValueError: it is negative, or `high` below `low`.
    """
    given: object = extent
    if not isinstance(given, tuple):
        given = (0, given)
    match given:
        case (int() as low, Expr() as high) if not isinstance(low, bool):
            if is_over_axes(high) and (most := greatest(high)) is not None:
                dim = as_dim(most - low) if not isinstance(most, int) else most - low if most > low else 0
                return LimitedAxis(name, dim, True, low, limit=high)
            return IterVar(name, as_dim(high - low), reduce=True, start=low)
        case (int() as low, int() as high) if not isinstance(low, bool) and not isinstance(high, bool):
            if high < low:
                raise ValueError(f"te: reduce_axis({extent}) ends before it begins")
            return IterVar(name, high - low, reduce=True, start=low)
        case _:
            raise TypeError(f"te: reduce_axis takes an extent or a pair (low, high) of integers, not {extent!r}")


def reduce(kind: ReduceKind, operand: Expr, axes: Sequence[IterVar] | IterVar) -> Expr:
    """`operand` combined over `axes`; without axes, the operand itself."""
    axes = (axes,) if isinstance(axes, IterVar) else tuple(axes)
    return Reduce(kind, operand, axes) if axes else operand


def sum(operand: Expr, axes: Sequence[IterVar] | IterVar) -> Expr:
    return reduce("sum", operand, axes)


def prod(operand: Expr, axes: Sequence[IterVar] | IterVar) -> Expr:
    return reduce("prod", operand, axes)


def max(operand: Expr, axes: Sequence[IterVar] | IterVar) -> Expr:
    return reduce("max", operand, axes)


def min(operand: Expr, axes: Sequence[IterVar] | IterVar) -> Expr:
    return reduce("min", operand, axes)


def topological_order(outputs: Sequence[Tensor]) -> list[Tensor]:
    """All tensors that `outputs` are made of, inputs first, each once (depth first, in order of first use)."""
    order: dict[Tensor, None] = {}
    stack: list[tuple[Tensor, Iterator[Tensor]]] = []

    def push(tensor: Tensor) -> None:
        stack.append((tensor, iter(tensor.producer.inputs() if tensor.producer is not None else ())))

    for output in outputs:
        push(output)
        while stack:
            tensor, inputs = stack[-1]
            pending = next((i for i in inputs if i not in order), None)
            if pending is None:
                order[tensor] = None
                stack.pop()
            else:
                push(pending)
    return list(order)

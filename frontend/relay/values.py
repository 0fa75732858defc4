"""Relay expressions as values: an `Expr` is the value of an operation, whose type is known at once.

What is made of several, functions and branches and tuples, is in `expr.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ArrayAttr, FunctionType, LocationAttr, TensorType, TupleType, i1
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import DYNAMIC, RelayOp, Tensor
from ...dialects.relay.control import ApplyOp, ClosureOp, FnOp, IfOp
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, PrimitiveOp, TupleGetOp, TupleOp
from ...dialects.relay.functions import Trees, name_of
from ...dialects.relay.ops import broadcast, elementwise
from ...dialects.relay.types import IncompleteType, instance, is_complete
from ...dialects.support.arguments import checked
from ...dialects.support.blame import notes_of
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.dtypes import dtype_name, numpy_dtype
from ...dialects.support.nd import NDArray, as_nd
from ...dialects.support.retyping import retype
from ...transforms.relay.completion import own_params
from .attrs import Attrs
from .base import Span, span_of
from .constants import constant_array, held
from .extents import Extent, Shape, new_variable, tensor_type
from .function_values import function_value, given_by, region_function
from .generics import specialized, specialized_arguments
from .made_of import completed
from .op_class import Op

T = TypeVar("T", bound=Operation)

Operand: TypeAlias = "Expr | FuncOp | GlobalVar | SSAValue | Region | npt.ArrayLike"
"""What may stand where a value is wanted: an expression, a function, the body of one, which is what it gives, or a
number or an array, which becomes a constant."""


@dataclass(frozen=True, eq=False)
class Expr:
    """An expression: the value of an operation, or a variable. Operators of Python are Relay's."""

    value: SSAValue

    text_of: ClassVar[Callable[[SSAValue, bool], str]]
    """Writes a value in Relay's text; `text` says how."""

    @property
    def checked_type(self) -> Attribute:
        """The type: a tensor's, or a tuple's."""
        return self.value.type

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of a tensor; `-1` for one that is not known.

        Raises:
            UsageError: the expression is a tuple.
        """
        return tuple(-1 if extent == DYNAMIC else extent for extent in _tensor(self).get_shape())

    @property
    def dtype(self) -> str:
        """The name of a tensor's element type, as NumPy's.

        Raises:
            UsageError: the expression is a tuple.
        """
        return dtype_name(_tensor(self).element_type)

    @property
    def span(self) -> Span | None:
        """Where it was written; `None` where that is not known, as of every variable."""
        owner = self.value.owner
        return span_of(owner.location) if isinstance(owner, Operation) else None

    @property
    def op(self) -> Op | Expr | GlobalVar:
        """What is called: an operator, a function value, or the name of a function.

        Raises:
            AttributeError: the expression is no call.
        """
        match owner := self.value.owner:
            case RelayOp():
                return Op(owner.name.removeprefix("relay."))
            case ApplyOp():
                return expr_of(owner.callee)
            case PrimitiveOp():
                return Expr(region_function(owner))
            case CallOp():
                return GlobalVar(owner.callee.string_value())
            case _:
                raise AttributeError(f"{self!r} is no call")

    @property
    def args(self) -> list[Expr]:
        """The operands of an operator, or the arguments of a call."""
        owner = self._operation("args")
        return [expr_of(value) for value in (owner.arguments if isinstance(owner, ApplyOp) else owner.operands)]

    @property
    def params(self) -> list[Var]:
        """The parameters of a function value."""
        return [Var(argument) for argument in self._of_kind(FnOp, "a function").body.block.args]

    @property
    def body(self) -> Expr:
        """What a function value gives, as an expression of its parameters."""
        return _given(self._of_kind(FnOp, "a function").body)

    @property
    def ret_type(self) -> Attribute:
        """The type of what a function value gives."""
        return self._of_kind(FnOp, "a function").function_type.outputs.data[0]

    @property
    def type_args(self) -> list[Attribute]:
        """The types of the operands, or of the arguments of a call."""
        return [each.checked_type for each in self.args]

    @property
    def attrs(self) -> Any:
        """What an operator was called with beside its operands, under TVM's names: `call.attrs.strides`; or the
        attributes of a function value."""
        owner = self._operation("attrs")
        return Trees.attrs(owner) if isinstance(owner, FnOp) else Attrs(owner)

    @property
    def fields(self) -> list[Expr]:
        """The fields that a tuple is made of."""
        owner = self.value.owner
        if not isinstance(owner, TupleOp):
            raise AttributeError(f"{self!r} is not made as a tuple")
        return [expr_of(value) for value in owner.fields]

    @property
    def data(self) -> NDArray:
        """The array of a constant."""
        owner = self.value.owner
        if not isinstance(owner, ConstantOp) or (array := owner.numpy()) is None:
            raise AttributeError(f"{self!r} is no constant")
        return as_nd(array)

    @property
    def tuple_value(self) -> Expr:
        """The tuple that a field is taken of; of a tuple, which TVM gives in a wrapper where it is a result, itself."""
        if isinstance(self.value.type, TupleType) and not isinstance(self.value.owner, TupleGetOp):
            return self
        return expr_of(self._of_kind(TupleGetOp, "a field of a tuple").tuple)

    @property
    def index(self) -> int:
        """Which field of a tuple it is."""
        return self._of_kind(TupleGetOp, "a field of a tuple").index.value.data

    @property
    def cond(self) -> Expr:
        """The condition of an `If`."""
        return expr_of(self._of_kind(IfOp, "an If").condition)

    @property
    def true_branch(self) -> Expr:
        """What an `If` is where its condition holds."""
        return _given(self._of_kind(IfOp, "an If").then_region)

    @property
    def false_branch(self) -> Expr:
        """What an `If` is where its condition does not hold."""
        return _given(self._of_kind(IfOp, "an If").else_region)

    def _of_kind(self, kind: type[T], what: str) -> T:
        if not isinstance(owner := self.value.owner, kind):
            raise AttributeError(f"{self!r} is not {what}")
        return owner

    def astext(self, show_meta_data: bool = True) -> str:
        """What it is made of, in Relay's text, as `relay.parse_expr` reads it: with its arrays, unless these are not to
        be shown."""
        return Expr.text_of(self.value, show_meta_data)

    def astuple(self) -> Expr:
        """Itself: TVM's operators with several results give what has to be made a tuple."""
        return self

    def same_as(self, other: object) -> bool:
        """Whether it is the same expression, and not only an equal one."""
        return isinstance(other, Expr) and other.value is self.value

    def __eq__(self, other: object) -> bool:
        return self.same_as(other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __call__(self, *args: Operand) -> Expr:
        """A function value applied to arguments."""
        return apply(self, args)

    def _operation(self, what: str) -> Operation:
        owner = self.value.owner
        if not isinstance(owner, Operation):
            raise AttributeError(f"{self!r} has no '{what}'")
        return owner

    def __len__(self) -> int:
        if not isinstance(self.value.type, TupleType):
            raise UsageError(f"{self!r} is no tuple")
        return len(self.value.type.types.data)

    def __getitem__(self, index: int) -> Expr:
        """Field `index` of a tuple; of one that was made here, what it was made of."""
        if isinstance(owner := self.value.owner, TupleOp):
            return expr_of(owner.fields[_place(index, len(owner.fields))])
        return TupleGetItem(self, index)

    def __iter__(self) -> Iterator[Expr]:
        return (self[index] for index in range(len(self)))

    def __bool__(self) -> bool:
        """An expression is there, as any object.

        Raises:
            TypeError: it compares, or is made of what compares: whether that holds is known when it runs.
        """
        if isinstance(self.value.owner, RelayOp) and _is_truth(self.value.type):
            raise TypeError("an expression of Relay has no truth value before it runs; compare with relay.equal, ...")
        return True

    def __repr__(self) -> str:
        return f"relay expression of type {self.value.type}"

    def astype(self, dtype: str) -> Expr:
        """The elements converted to `dtype`."""
        return _applied(elementwise.CastOp, self.value, dtype=dtype)

    def __neg__(self) -> Expr:
        return _applied(elementwise.NegativeOp, self.value)

    def __add__(self, other: Operand) -> Expr:
        return _binary(broadcast.AddOp, self, other)

    def __radd__(self, other: Operand) -> Expr:
        return _binary(broadcast.AddOp, other, self)

    def __sub__(self, other: Operand) -> Expr:
        return _binary(broadcast.SubtractOp, self, other)

    def __rsub__(self, other: Operand) -> Expr:
        return _binary(broadcast.SubtractOp, other, self)

    def __mul__(self, other: Operand) -> Expr:
        return _binary(broadcast.MultiplyOp, self, other)

    def __rmul__(self, other: Operand) -> Expr:
        return _binary(broadcast.MultiplyOp, other, self)

    def __truediv__(self, other: Operand) -> Expr:
        return _binary(broadcast.DivideOp, self, other)

    def __rtruediv__(self, other: Operand) -> Expr:
        return _binary(broadcast.DivideOp, other, self)

    def __lt__(self, other: Operand) -> Expr:
        return _binary(broadcast.LessOp, self, other)

    def __le__(self, other: Operand) -> Expr:
        return _binary(broadcast.LessEqualOp, self, other)

    def __gt__(self, other: Operand) -> Expr:
        return _binary(broadcast.GreaterOp, self, other)

    def __ge__(self, other: Operand) -> Expr:
        return _binary(broadcast.GreaterEqualOp, self, other)


class Var(Expr):
    """A variable: a parameter of a function, or what a `let` names.

    Args:
        name_hint: its name, as for `var`; or the value that it is.
        type_annotation: its type, where it is a new one; without it, it has that of what it will be bound to.
    """

    def __init__(self, name_hint: str | SSAValue, type_annotation: Attribute | None = None):
        value = var(name_hint, type_annotation).value if isinstance(name_hint, str) else name_hint
        super().__init__(value)

    @property
    def name_hint(self) -> str:
        """Its name; a text may call it otherwise."""
        return name_of(self.value)

    @property
    def vid(self) -> Var:
        """What makes it this variable: itself, which answers `name_hint` and `same_as`."""
        return self

    @property
    def type_annotation(self) -> Attribute | None:
        """Its type, if it was given one."""
        return None if isinstance(self.value.type, IncompleteType) else self.value.type

    def __repr__(self) -> str:
        return f"relay variable %{self.name_hint} of type {self.value.type}"


def _is_truth(type: Attribute) -> bool:
    return isinstance(type, TensorType) and cast(Tensor, type).element_type == i1


def _given(region: Region) -> Expr:
    return expr_of(given_by(region))


def expr_of(value: SSAValue) -> Expr:
    """The expression of a value: a `Var` where it is one."""
    return Var(value) if isinstance(value, BlockArgument) else Expr(value)


class GlobalVar:
    """The name of a function of a module: `GlobalVar("f")(x)` calls it, and as an operand it is the function itself.

    Args:
        name_hint: the name.
        type_annot: the type of the function, where it has to be known before the function is there.
    """

    def __init__(self, name_hint: str, type_annot: FunctionType | None = None):
        self.name_hint, self.type_annotation = name_hint, type_annot

    def __call__(self, *args: Operand) -> Expr:
        """The function applied to arguments."""
        values = [as_value(arg) for arg in args]
        outputs: Sequence[Attribute] = [IncompleteType()]
        if (type := self.type_annotation) is not None:
            _, values = specialized_arguments(type, values) or ({}, values)
            given = [value.type for value in values]
            outputs = instance([*type.inputs, *type.outputs], given)[len(type.inputs) :]
        return Expr(CallOp(self.name_hint, values, outputs).results[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalVar) and other.name_hint == self.name_hint

    def __hash__(self) -> int:
        return hash(self.name_hint)

    def __repr__(self) -> str:
        return f"@{self.name_hint}"


def as_value(operand: Operand, like: Attribute | None = None) -> SSAValue:
    """The value of an operand. Numbers and arrays become constants; a number of the element type of `like`."""
    if isinstance(operand, Expr):
        return operand.value
    if isinstance(operand, SSAValue):
        return operand
    if isinstance(operand, FuncOp):
        return function_value(operand)
    if isinstance(operand, Region):
        return given_by(operand)
    if isinstance(operand, GlobalVar):
        type = operand.type_annotation or IncompleteType()
        return ClosureOp(operand.name_hint, [], type).result
    if np.isscalar(operand) and isinstance(like, TensorType):
        array = held(np.asarray(operand), numpy_dtype(cast(Tensor, like).element_type))
        return ConstantOp.from_numpy(array).result
    if isinstance(operand, np.ndarray | np.generic):
        array = cast("npt.NDArray[np.generic]", operand)
        return const(array, array.dtype.name).value
    return const(operand).value


def apply(function: Expr | FuncOp, args: Sequence[Operand]) -> Expr:
    """A function value applied to arguments; one for any types, for theirs.

    Raises:
        UsageError: it is no function, or takes other arguments.
    """
    callee, values = as_value(function), [as_value(arg) for arg in args]
    if not isinstance(callee.type, FunctionType | IncompleteType):
        raise UsageError(f"a value of type {callee.type} is no function")
    callee, values = specialized(callee, values)
    made = ApplyOp(callee, values)
    if isinstance(owner := callee.owner, FnOp) and own_params(callee):  # what it is called with is not known yet
        sides = [*owner.function_type.inputs, *owner.function_type.outputs]
        retype(made.res[0], instance(sides, [value.type for value in values])[-1])
    completed([made.res[0]])
    if is_complete(callee.type) and all(is_complete(value.type) for value in values):
        try:
            made.verify_()
        except VerifyException as error:
            raise UsageError(str(error), notes=notes_of(error)) from None
    return Expr(made.res[0])


def _binary(op_type: type[RelayOp], lhs: Operand, rhs: Operand) -> Expr:
    left = lhs.checked_type if isinstance(lhs, Expr) else None
    right = rhs.checked_type if isinstance(rhs, Expr) else None
    return _applied(op_type, as_value(lhs, right), as_value(rhs, left))


def _applied(op_type: type[RelayOp], *operands: SSAValue, **properties: str) -> Expr:
    """An operator that Python writes by a sign, or by a method.

    Raises:
        UsageError: the operands do not fit.
    """
    try:
        return Expr(op_type(*operands, **properties).results[0])
    except VerifyException as error:
        raise UsageError(f"{op_type.name}: {error}", notes=notes_of(error)) from None


def _tensor(expr: Expr) -> Tensor:
    type: Attribute = expr.value.type
    if not isinstance(type, TensorType):
        raise UsageError(f"{expr!r} is no tensor")
    return cast(Tensor, type)


@checked
def var(
    name_hint: str,
    type_annotation: Attribute | str | Sequence[Extent] | None = None,
    shape: Shape | None = None,
    dtype: str = "float32",
    span: Span | LocationAttr | None = None,
) -> Var:
    """A variable of the type given, or of a tensor of `shape` and `dtype`; a type that is a dtype is that of a scalar.

    An extent may be a variable of `te`, such as `te.var("n")`: those of a function that are the same are one extent.

    With neither a type nor a shape it stands for whatever a `Let` binds it to, or a call of a function gives it: what
    is computed from it has no type until then. Patterns match it all the same. `span` is taken as TVM takes it, and not
    kept: a variable has no place of its own.

    Raises:
        UsageError: both a type and a shape are given.
    """
    if type_annotation is not None and shape is not None:
        raise UsageError(f"the variable '{name_hint}' is given either a type or a shape")
    type: Attribute = IncompleteType()
    if type_annotation is not None:
        type = _annotated(type_annotation, dtype)
    elif shape is not None:
        type = tensor_type(shape, dtype)
    return Var(new_variable(name_hint, type))


def _annotated(type: Attribute | str | Sequence[Extent], dtype: str) -> Attribute:
    """The type that stands in the place of one: a dtype, or, as in TVM, a shape."""
    match type:
        case str():
            return tensor_type((), type)
        case ArrayAttr():
            return tensor_type(type, dtype)
        case Attribute():
            return type
        case _:
            return tensor_type(type, dtype)


@checked
def const(value: npt.ArrayLike, dtype: str | Tensor | None = None) -> Expr:
    """A constant, which holds a copy of an array. As in TVM, what has 64 bits, Python's numbers among it, is `int32` or
    `float32` unless `dtype` says otherwise, or the type of a tensor that has it; an array of `weft.nd` is as it is.

    Raises:
        UsageError: an integer lies outside of what the type holds.
    """
    name = dtype_name(dtype.element_type) if isinstance(dtype, TensorType) else dtype
    return Expr(ConstantOp.from_numpy(constant_array(value, name)).result)


@checked
def TupleGetItem(tuple_value: Operand, index: int) -> Expr:
    """Field `index` of a tuple; a negative one counts from the end.

    Raises:
        IndexError: there is no such field.
        UsageError: it is no tuple.
    """
    value = as_value(tuple_value)
    if value.type == IncompleteType() and index >= 0:
        return Expr(TupleGetOp(value, index).result)
    if not isinstance(value.type, TupleType):
        raise UsageError(f"a value of type {value.type} is no tuple")
    return Expr(TupleGetOp(value, _place(index, len(value.type.types.data))).result)


def _place(index: int, count: int) -> int:
    if not -count <= index < count:
        raise IndexError(f"field {index} of a tuple of {count}")
    return index % count

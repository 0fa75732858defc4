"""What a converter sees of one ONNX node, and what it says when it cannot convert it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import BFloat16Type, Float16Type, TensorType, TupleType, f32
from xdsl.ir import Attribute, SSAValue

from ...dialects import te
from ...dialects.relay import Relay
from ...dialects.relay.base import DYNAMIC, RelayOp, Value, shape_of, tensor
from ...dialects.relay.core import ConstantOp, TupleGetOp, TupleOp
from ...dialects.relay.decomposition import Emit
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import dtype_name, numpy_dtype
from ...dialects.support.hints import is_list
from ...dialects.te.dims import quotient
from .errors import Malformed, Unsupported

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnx import AttributeProto, GraphProto, NodeProto

    from .emitter import Emitter

    NDArray: TypeAlias = npt.NDArray[np.generic]

T = TypeVar("T")

Outputs: TypeAlias = "SSAValue | Sequence[SSAValue | None]"
"""What a converter returns: the node's outputs; one that it does not make is `None`."""

Converter: TypeAlias = "Callable[[Node], Outputs]"
Versions: TypeAlias = "Mapping[int, Converter]"
"""Converters of one operator by the first revision (ONNX's `since_version`) that each understands."""


@cache
def _relay_operators() -> dict[str, type[RelayOp]]:
    return {op.name: op for op in Relay.operations if issubclass(op, RelayOp)}


def relay_operator(name: str) -> type[RelayOp]:
    """The class of a Relay operator by TVM's name, as in `relay_operator("nn.conv2d")`.

    Raises:
        KeyError: the dialect has no such operator.
    """
    return _relay_operators()[f"relay.{name}"]


@dataclass(frozen=True)
class Node:
    """One ONNX node with its inputs imported: attributes read, relay operators written."""

    proto: NodeProto
    version: int
    inputs: Sequence[SSAValue | None]
    attributes: Mapping[str, AttributeProto]
    emitter: Emitter
    read: Collection[str]
    """The names of all values that something reads."""

    # Inputs

    def input(self, index: int, rank: int | None = None, at_least: int = 0) -> SSAValue:
        """The input at `index`, which may have to have a rank.

        Raises:
            Malformed: the node leaves it out, or it has another rank.
        """
        value = self.value_at(index)
        actual = rank_of(value)
        if (rank is not None and actual != rank) or actual < at_least:
            wanted = f"at least {at_least}" if rank is None else str(rank)
            raise Malformed(f"input {index} has rank {actual}, but must have rank {wanted}")
        return value

    def value_at(self, index: int) -> SSAValue:
        """The input at `index`, which need not be a tensor.

        Raises:
            Malformed: the node leaves it out.
        """
        value = self.optional(index)
        if value is None:
            raise Malformed(f"input {index} is missing")
        return value

    def optional(self, index: int) -> SSAValue | None:
        """The input at `index`, or `None` where the node leaves it out."""
        return self.inputs[index] if index < len(self.inputs) else None

    def present(self) -> list[SSAValue]:
        """All inputs of a variadic node."""
        return [self.input(i) for i in range(len(self.inputs))]

    def static(self, index: int) -> NDArray:
        """The value of the input at `index`, which the result's type depends on.

        Raises:
            Unsupported: it is known at run time only.
        """
        array = self.emitter.evaluate(self.input(index))
        if array is None:
            raise Unsupported(
                f"input {index} ('{self.proto.input[index]}') must be known at import, but is computed at run time",
                f"where it follows from the shape of a model input, {give_shapes()}",
            )
        return array

    def is_known(self, index: int) -> bool:
        """Whether the value of the input at `index` is known at import; one that is absent is."""
        given = self.optional(index)
        return given is None or self.emitter.evaluate(given) is not None

    def symbolic(self, index: int) -> list[te.Dim]:
        """The integers of the input at `index`, which may be made of symbols.

        Raises:
            Unsupported: data decides them.
        """
        found = self.symbolic_or_none(index)
        if found is None:
            self.static(index)
            raise Unsupported(f"input {index} ('{self.proto.input[index]}') is computed at run time", give_shapes())
        return found

    def symbolic_or_none(self, index: int) -> list[te.Dim] | None:
        """`symbolic`; `None` where data decides them."""
        value = self.input(index)
        if (array := self.emitter.evaluate(value)) is not None:
            return [int(v) for v in array.reshape(-1)]
        numbers = self.emitter.contents(value)
        if numbers is None or any(number is None or isinstance(number, float) for number in numbers):
            return None
        return [number for number in numbers if number is not None and not isinstance(number, float)]

    def static_scalar(self, index: int) -> float:
        """`static`, for a single number.

        Raises:
            Malformed: it is another number of numbers.
        """
        array = self.static(index)
        if array.size != 1:
            raise Malformed(f"input {index} must be a single number, but has shape {list(array.shape)}")
        return array.item()

    def static_ints(self, index: int) -> list[int]:
        """`static`, for a list of integers."""
        return [int(v) for v in self.static(index).reshape(-1)]

    def static_ints_or(self, index: int, attribute: str, default: Sequence[int] | None = None) -> list[int] | None:
        """A list that newer revisions take as the input at `index`, and older ones as an attribute."""
        if attribute in self.attributes:
            return self.integers(attribute)
        if self.optional(index) is not None:
            return self.static_ints(index)
        return None if default is None else list(default)

    def output_used(self, index: int) -> bool:
        """Whether anything reads the node's output at `index`."""
        return index < len(self.proto.output) and self.proto.output[index] in self.read

    # Attributes

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer attribute. Raises `Malformed` where it is absent and has no default."""
        return self.attributes[name].i if name in self.attributes else _default(name, default)

    def real(self, name: str, default: float | None = None) -> float:
        """A float attribute. Raises `Malformed` where it is absent and has no default."""
        return self.attributes[name].f if name in self.attributes else _default(name, default)

    def string(self, name: str, default: str | None = None) -> str:
        """A string attribute. Raises `Malformed` where it is no text, or absent and has no default."""
        return _text(name, self.attributes[name].s) if name in self.attributes else _default(name, default)

    def choice(self, name: str, options: Mapping[str, T], default: str | None = None) -> T:
        """What a string attribute stands for. Raises `Malformed` where it is not one of `options`."""
        text = self.string(name, default)
        if text not in options:
            raise Malformed(f"attribute '{name}' is '{text}', but must be one of {', '.join(options)}")
        return options[text]

    def integers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """An attribute of integers. Raises `Malformed` where it is absent and has no default."""
        return list(self.attributes[name].ints if name in self.attributes else _default(name, default))

    def value(self, name: str) -> Value:
        """An attribute as the property that it stands for. Raises `Unsupported` where no property can be that."""
        import onnx

        value = onnx.helper.get_attribute_value(self.attributes[name])
        match value:
            case bytes():
                return _text(name, value)
            case bool() | int() | float():
                return value
            case _ if is_list(value):
                if not all(isinstance(number, int | float) for number in value):
                    raise Unsupported(f"attribute '{name}' holds other things than numbers")
                return cast("list[float]", value)
            case _:
                raise Unsupported(f"attribute '{name}' is neither a number, numbers, nor a string")

    def graph(self, name: str) -> GraphProto:
        """A graph attribute, which the operator's definition asks for."""
        return self.attributes[name].g

    # Relay operators

    def emit(
        self, operator: str | type[RelayOp], *operands: SSAValue | Sequence[SSAValue], **properties: Value
    ) -> SSAValue:
        """Write an operator (a Relay operator by TVM's name, or a class) and return its first result.

        Raises:
            Unsupported: the dialect has no such operator.
            VerifyException: the operands do not fit it.
        """
        return self.emit_all(operator, *operands, **properties)[0]

    def emit_all(
        self, operator: str | type[RelayOp], *operands: SSAValue | Sequence[SSAValue] | None, **properties: Value
    ) -> Sequence[SSAValue]:
        """`emit` for all results of an operator; optional operands may be `None`."""
        try:
            op_type = relay_operator(operator) if isinstance(operator, str) else operator
        except KeyError:
            raise Unsupported(f"relay has no operator {operator}") from None
        op = op_type(*(() if operand is None else operand for operand in operands), **properties)
        self.emitter.insert(op)
        return op.results

    def emit_if_computed(self, operator: str, *operands: SSAValue, **properties: Value) -> SSAValue | None:
        """`emit` of an operator of one result, if it can be computed with the extents that its operands have."""
        op = relay_operator(operator)(*operands, **properties)
        if self.emitter.computes(op):
            self.emitter.insert(op)
            return op.results[0]
        op.erase()
        return None

    def emit_tuple(
        self, operator: str, *operands: SSAValue | Sequence[SSAValue], **properties: Value
    ) -> list[SSAValue]:
        """`emit` for an operator whose result is a tuple: its fields."""
        result = self.emit(operator, *operands, **properties)
        assert isinstance(result.type, TupleType)
        return [self.emitter.tuple_get(result, i) for i in range(len(result.type.types))]

    @property
    def written(self) -> Emit:
        """Takes operations that others are written as."""
        return _Written(self.emitter)

    def constant(self, array: NDArray) -> SSAValue:
        """A constant that the conversion needs."""
        return self.emitter.constant(array, self.proto.op_type.lower())

    def scalar(self, value: float | bool, like: SSAValue) -> SSAValue:
        """A rank-0 constant with the element type of `like`."""
        import numpy as np

        return self.constant(np.asarray(value, numpy_dtype(tensor(like).element_type)))

    def cast(self, value: SSAValue, element_type: Attribute) -> SSAValue:
        """`value` with another element type; itself where it has that already."""
        if tensor(value).element_type == element_type:
            return value
        return self.emit("cast", value, dtype=dtype_name(element_type))

    def widened(self, value: SSAValue) -> SSAValue:
        """`value` as f32 where its elements are floats of 16 bits, whose squares and sums soon are infinite."""
        element = tensor(value).element_type
        return self.cast(value, f32) if isinstance(element, Float16Type | BFloat16Type) else value

    def dims(self, value: SSAValue) -> tuple[te.Dim, ...]:
        """The extents of a tensor, which may be symbols."""
        return self.emitter.dims(value)

    def extent(self, dim: te.Dim) -> SSAValue:
        """An extent as a scalar, computed from the shapes of the graph's arguments.

        Raises:
            Unsupported: it does not follow from those.
        """
        import numpy as np

        match dim:
            case int():
                return self.constant(np.asarray(dim, np.int64))
            case te.Const(value):
                return self.constant(np.asarray(value, np.int64))
            case te.Var():
                if (found := self.emitter.source_of(dim)) is None:
                    raise Unsupported("an extent that data decides", give_shapes())
                if found[1] < 0:
                    return self.emit("reshape", found[0], newshape=[], allowzero=True)
                shape = self.emit("shape_of", found[0], dtype="int64")
                return self.emit("take", shape, self.constant(np.asarray(found[1], np.int64)), axis=0, mode="clip")
            case te.Binary(kind, lhs, rhs) if kind in _EXTENTS:
                return self.emit(_EXTENTS[kind], self.extent(lhs), self.extent(rhs))
            case _:
                raise Unsupported("an extent that data decides", give_shapes())

    def shape_value(self, dims: Sequence[te.Dim]) -> SSAValue:
        """A shape as a vector."""
        import numpy as np

        if not dims or all(isinstance(dim, int) for dim in dims):
            return self.constant(np.asarray(dims, np.int64))
        return self.emit("stack", self.emitter.tuple([self.extent(dim) for dim in dims]), axis=0)

    def reshape_to(self, value: SSAValue, wanted: Sequence[te.Dim], told: SSAValue | None = None) -> SSAValue:
        """`value` under a shape of extents that may be symbols, of which one may be -1; `told` is this shape.

        What only takes dimensions apart, or puts such together as fit, is an operator on elements; anything else is
        the same memory seen otherwise.
        """
        dims = self.dims(value)
        if len(wanted) == len(dims) and all(map(te.same, wanted, dims)):
            return value
        newshape = _grouped(wanted, dims)
        filled = wanted if newshape else _filled(wanted, dims)
        if newshape is None and any(map(_is_product, filled)):
            return self.emit("dyn.reshape", value, self.shape_value(filled), allowzero=True)
        newshape = newshape or _places(wanted, dims)
        # A symbol may be said as what remains only where that is sure to be what it is.
        follows = any(isinstance(n, int) and n == -1 for n in wanted) or te.same(te.product(wanted), te.product(dims))
        if newshape.count(-1) <= follows and not (_has_empty(wanted) and _has_empty(dims)):
            if (found := self.emit_if_computed("reshape", value, newshape=newshape, allowzero=False)) is not None:
                return found
        return self.emit("dyn.reshape", value, self.shape_value(wanted) if told is None else told, allowzero=True)

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """`value` under another shape, in which one dimension may be -1; itself where it has that shape already.

        Raises:
            Unsupported: more than one dimension is unknown.
        """
        shape, given = [-1 if n == DYNAMIC else n for n in shape], shape_of(value)
        if shape.count(-1) > 1:
            raise Unsupported("a reshape with more than one dynamic dimension", give_shapes())
        if -1 in shape and DYNAMIC not in given and 0 not in shape:
            shape[shape.index(-1)] = prod(given) // abs(prod(shape))
        if tuple(shape) == given:
            return value
        return self.emit("reshape", value, newshape=shape, allowzero=True)

    def static_shape(self, value: SSAValue) -> tuple[int, ...]:
        """The shape of a value.

        Raises:
            Unsupported: a dimension is dynamic.
        """
        shape = shape_of(value)
        if DYNAMIC in shape:
            raise Unsupported(f"the dynamic shape {TensorType(tensor(value).element_type, shape)}", give_shapes())
        return shape

    def axis(self, axis: int, rank: int) -> int:
        """`axis` counted from the front.

        Raises:
            Malformed: it is outside `[-rank, rank)`.
        """
        if not -rank <= axis < rank:
            raise Malformed(f"axis {axis} is out of range for a tensor of rank {rank}")
        return axis % rank


@dataclass(frozen=True)
class _Written:
    """Appends operations, and constants of a type."""

    emitter: Emitter

    def __call__(self, op: RelayOp | ConstantOp | TupleOp | TupleGetOp) -> SSAValue:
        return self.emitter(op)

    def constant(self, value: npt.ArrayLike, type: Attribute, name: str = "constant") -> SSAValue:
        import numpy as np

        return self.emitter.constant(np.asarray(value, numpy_dtype(type)), name)


_EXTENTS = {
    te.BinaryKind.ADD: "add", te.BinaryKind.SUB: "subtract", te.BinaryKind.MUL: "multiply",
    te.BinaryKind.FLOORDIV: "floor_divide", te.BinaryKind.FLOORMOD: "floor_mod",
    te.BinaryKind.MIN: "minimum", te.BinaryKind.MAX: "maximum",
}  # fmt: skip
"""The operators on extents."""


def _text(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Malformed(f"attribute '{name}' is no text in UTF-8") from None


def _default(name: str, default: T | None) -> T:
    if default is None:
        raise Malformed(f"attribute '{name}' is missing")
    return default


def rank_of(value: SSAValue) -> int:
    """The rank of a tensor value."""
    return len(shape_of(value))


def _has_empty(dims: Sequence[te.Dim]) -> bool:
    """Whether one of the extents is the number 0."""
    return any(isinstance(dim, int) and dim == 0 for dim in dims)


def _filled(wanted: Sequence[te.Dim], dims: Sequence[te.Dim]) -> list[te.Dim]:
    """A shape with what remains in the place of a -1, where that follows."""
    others = te.product(n for n in wanted if not isinstance(n, int) or n != -1)
    try:
        rest = quotient(te.product(dims), others)
    except TypeError:
        rest = -1
    return [rest if isinstance(n, int) and n == -1 else n for n in wanted]


def _is_product(dim: te.Dim) -> bool:
    """Whether symbols are multiplied in an extent."""
    match dim:
        case te.Binary(te.BinaryKind.MUL, lhs, rhs) if not isinstance(lhs, te.Const) and not isinstance(rhs, te.Const):
            return True
        case te.Binary(_, lhs, rhs):
            return _is_product(lhs) or _is_product(rhs)
        case _:
            return False


def _places(wanted: Sequence[te.Dim], dims: Sequence[te.Dim]) -> list[int]:
    """A shape as `reshape` is told it: extents, 0 for that of the data in the same place, -1 for others."""
    return [
        dim if isinstance(dim, int) else 0 if axis < len(dims) and te.same(dim, dims[axis]) else -1
        for axis, dim in enumerate(wanted)
    ]


def _grouped(wanted: Sequence[te.Dim], dims: Sequence[te.Dim]) -> list[int] | None:
    """A shape as `reshape` is told it, which takes the data's extents one after the other: 0 for one that stays, -3 for
    the product of two, -4 for one that becomes two, of which one is a number. Nothing, if it is none such."""
    told: list[int] = []
    old, new = list(dims), list(wanted)
    while old and new:
        first = new.pop(0)
        if te.same(first, old[0]):
            told.append(0)
            del old[:1]
        elif len(old) > 1 and te.same(first, te.product(old[:2])):
            told.append(-3)
            del old[:2]
        elif new and te.same(te.product([first, new[0]]), old[0]) and isinstance(first, int) != isinstance(new[0], int):
            second = new.pop(0)
            told += [-4, *(each if isinstance(each, int) else -1 for each in (first, second))]
            del old[:1]
        else:
            return None
    return None if old or new else told

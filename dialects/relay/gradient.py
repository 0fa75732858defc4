"""Gradients: what an operator's `gradient` writes its formula with.

    class TanhOp(FloatFunction):
        gradient = slope(lambda x, y: 1 - y * y)

    class ReverseOp(InjectiveOp):
        def gradient(self, g: Gradient) -> Terms:
            return [g.grad.op(ReverseOp, axis=self.axis)]

A gradient is reverse-mode: from how much what is asked for changes with each result of an operator (`g.grads`), the
operator says how much it changes with each tensor among its operands. Tuples come flattened, as in `compute`, and
`None` is a gradient of zero. One that has the shape of a broadcast is summed up to the operand's by whoever asked.

Two helpers serve operators for which a formula would be long: `g.through` differentiates other operators that compute
the same, and `g.moved` is the gradient of all that only move elements about.

What makes the operations, and puts the gradients of a graph together, is `differentiation.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ..support.dtypes import dtype_name

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Terms: TypeAlias = "Sequence[Term | None]"


class Maker(ABC):
    """What makes operations for terms."""

    @abstractmethod
    def apply(self, op: type[Operation] | str, operands: Sequence[SSAValue], properties: Mapping[str, object]) -> Term:
        """The result of an operator, given by its class or by its name without `relay.`."""

    @abstractmethod
    def constant(self, array: object, element: Attribute) -> Term:
        """A constant with elements of the type `element`."""

    @abstractmethod
    def joined(self, fields: Sequence[SSAValue]) -> SSAValue:
        """A tuple."""


@dataclass(frozen=True, eq=False)
class Term:
    """A tensor in a formula. Python's arithmetic makes operations; numbers become constants of its element type."""

    value: SSAValue
    maker: Maker

    @property
    def type(self) -> TensorType[Attribute]:
        """Its type."""
        type = self.value.type
        assert isinstance(type, TensorType)
        return cast("TensorType[Attribute]", type)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return self.type.get_shape()

    def op(self, op: type[Operation] | str, *operands: Term | float, **properties: object) -> Term:
        """An operator, given by its class or by its name without `relay.`, of this and further operands."""
        return self.maker.apply(op, [self.value, *(self.like(each).value for each in operands)], properties)

    def like(self, operand: Term | float) -> Term:
        """A term as it is; a number as a constant of this one's element type."""
        return operand if isinstance(operand, Term) else self.constant(operand, self.type.element_type)

    def constant(self, array: object, element: Attribute) -> Term:
        """A constant with elements of the type `element`, of what NumPy makes an array of."""
        return self.maker.constant(array, element)

    def from_tuple(self, op: type[Operation] | str, fields: Sequence[Term], **properties: object) -> Term:
        """An operator whose one operand is a tuple, of `fields`."""
        return self.maker.apply(op, [self.maker.joined([each.value for each in fields])], properties)

    def __add__(self, other: Term | float) -> Term:
        return self.op("add", other)

    def __sub__(self, other: Term | float) -> Term:
        return self.op("subtract", other)

    def __mul__(self, other: Term | float) -> Term:
        return self.op("multiply", other)

    def __truediv__(self, other: Term | float) -> Term:
        return self.op("divide", other)

    def __radd__(self, other: float) -> Term:
        return self.like(other) + self

    def __rsub__(self, other: float) -> Term:
        return self.like(other) - self

    def __rmul__(self, other: float) -> Term:
        return self.like(other) * self

    def __rtruediv__(self, other: float) -> Term:
        return self.like(other) / self

    def __neg__(self) -> Term:
        return self.op("negative")

    def __gt__(self, other: Term | float) -> Term:
        return self.op("greater", other)

    def __ge__(self, other: Term | float) -> Term:
        return self.op("greater_equal", other)

    def __lt__(self, other: Term | float) -> Term:
        return self.op("less", other)

    def __le__(self, other: Term | float) -> Term:
        return self.op("less_equal", other)

    def equals(self, other: Term | float) -> Term:
        """Where both are the same number."""
        return self.op("equal", other)

    def where(self, condition: Term, otherwise: Term | float = 0) -> Term:
        """This where the condition holds, else zero, or something else."""
        return condition.op("where", self, self.like(otherwise))

    def sum(self, axes: Sequence[int], *, keepdims: bool = False) -> Term:
        """The sum over axes; over none, this itself."""
        return self.op("sum", axis=axes, keepdims=keepdims) if axes else self

    def products_before(self, axis: int) -> Term:
        """For each element the product of those before it along an axis."""
        return self.op("cumprod", axis=axis, exclusive=True)

    def reverse(self, axis: int) -> Term:
        """The elements along an axis in reverse."""
        return self.op("reverse", axis=axis)

    def prod(self, axes: Sequence[int]) -> Term:
        """The product over axes."""
        return self.op("prod", axis=axes)

    def mean(self, axes: Sequence[int]) -> Term:
        """The mean over axes, which stay with extent one."""
        return self.op("mean", axis=axes, keepdims=True) if axes else self

    def reshape(self, shape: Sequence[int]) -> Term:
        """The elements, row by row, in another static shape."""
        same = tuple(shape) == self.shape
        return self if same else self.op("reshape", newshape=shape, allowzero=True)

    def transpose(self, axes: Sequence[int]) -> Term:
        """Dimension `axes[d]` in place of `d`."""
        return self if list(axes) == sorted(axes) else self.op("transpose", axes=axes)

    def rows(self) -> Term:
        """All dimensions but the last as one."""
        if len(self.shape) == 2:
            return self
        return self.op("reshape", newshape=[-1, self.shape[-1]])

    def along(self, axis: int, rank: int) -> Term:
        """A vector in a shape that broadcasts along an axis of a tensor of that rank."""
        behind = rank - 1 - axis
        return self.op("expand_dims", axis=1, num_newaxis=behind) if behind else self

    def contract(self, axis: int, matrix: object) -> Term:
        """The product with `matrix` along an axis: `y[.., j, ..] = sum_i x[.., i, ..] * matrix[i, j]`."""
        import numpy as np

        rank, known = len(self.shape), cast("npt.NDArray[np.generic]", np.asarray(matrix))
        order = [*(d for d in range(rank) if d != axis), axis]
        moved = self.transpose(order)
        product = moved.rows().op("nn.matmul", self.constant(known, self.type.element_type))
        back = product.reshape([*moved.shape[:-1], known.shape[1]])
        return back.transpose([order.index(d) for d in range(rank)])

    def spread(self, strides: Sequence[int]) -> Term:
        """The elements of each dimension as far apart as its stride, with zeros between them."""
        return self if set(strides) <= {1} else self.op("nn.dilate", strides=strides)

    def pad(self, before: Sequence[int], after: Sequence[int]) -> Term:
        """With zeros around."""
        if not any(before) and not any(after):
            return self
        widths = [width for pair in zip(before, after, strict=True) for width in pair]
        return self.op("nn.pad", 0, pad_width=widths)

    def relaid(self, src: str, dst: str) -> Term:
        """The tensor in another layout."""
        return self if src == dst else self.op("layout_transform", src_layout=src, dst_layout=dst)

    def cast(self, element: Attribute) -> Term:
        """The elements as those of another type."""
        same = element == self.type.element_type
        return self if same else self.op("cast", dtype=dtype_name(element))

    def slice(self, begin: Sequence[int], end: Sequence[int]) -> Term:
        """The box from `begin` to, not including, `end`."""
        whole = not any(begin) and tuple(end) == self.shape
        return self if whole else self.op("strided_slice", begin=begin, end=end)

    def slice_along(self, axis: int, begin: int, end: int) -> Term:
        """The elements from `begin` to, not including, `end` of an axis."""
        return self.op("strided_slice", begin=[begin], end=[end], axes=[axis])

    def concatenated(self, others: Sequence[Term], axis: int) -> Term:
        """This and others, one behind the other along an axis."""
        return self.from_tuple("concatenate", [self, *others], axis=axis) if others else self

    def filled(self, value: float, shape: Sequence[int]) -> Term:
        """A tensor of one number, of this one's element type."""
        return self.like(value).op("broadcast_to", shape=shape)

    def zeros(self) -> Term:
        """Zeros of the same type."""
        return self.op("zeros_like")

    def ones(self) -> Term:
        """Ones of the same type."""
        return self.op("ones_like")


class Gradient(ABC):
    """What the gradient of one operation is made from."""

    inputs: Sequence[Term]
    """The tensors among the operands, tuples flattened."""
    outputs: Sequence[Term]
    """The tensors among the results, tuples flattened."""
    given: Sequence[Term | None]
    """The gradient of each output, `None` where nothing depends on it."""

    @property
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

    def constant(self, array: object, element: Attribute) -> Term:
        """A constant with elements of the type `element`, of what NumPy makes an array of."""
        return self.output.constant(array, element)

    @abstractmethod
    def static(self) -> None:
        """
        Raises:
            VerifyException: an input or output has an extent that is not known.
        """

    @abstractmethod
    def through(self, *formula: Term) -> Terms:
        """The gradient of a formula over `inputs` that computes the same as the outputs.

        Raises:
            Diagnostic: an operator of the formula has none.
        """

    @abstractmethod
    def moved(self, sources: Sequence[int] = (0,), **properties: object) -> Terms:
        """The gradient of an operator that only moves elements of some of its inputs, `sources`, about, and puts others
        where there are none.

        The operator is applied to the numbers of the elements in place of them, which tells where each element of the
        results comes from. `properties` are to be other ones for that: what is put elsewhere must be no number, 0.

        Raises:
            VerifyException: a shape of the sources is not static.
        """

    @abstractmethod
    def linear(self) -> Terms:
        """The gradient of an operator on one tensor that does the same linear thing to each index of its first
        dimension. What, is read off what it makes of the unit vectors.

        Raises:
            VerifyException: a shape is not static.
        """

    @abstractmethod
    def separable(self, axes: Sequence[int], **properties: object) -> Terms:
        """The gradient of an operator on one tensor that is linear along each of `axes` by itself, the same everywhere
        else. The matrices are read off what it makes of ones along one axis; `properties` are other ones for that.

        Raises:
            VerifyException: a shape is not static.
        """

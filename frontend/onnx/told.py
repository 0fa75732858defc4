"""Integers that are known when the graph runs only, and what is done along axes that such integers name.

Where a tensor is to be reduced along axes that data names, its elements are brought into the order of a matrix: a row
for each element of the result, in which those stand that it is made of. Data decides how many rows and columns it has.
The rank is known, so that a permutation of the axes is a vector of so many integers, and where an element is read from
follows from it by division:

    order   = the axes that stay, then the others
    p       = 0, 1, ... as many as elements          the place in the matrix, counted through
    place   = sum over j of (p // what is behind j % dims[order[j]]) * strides[order[j]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, i64
from xdsl.ir import Block, Region, SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.relay.control import IfOp
from ...dialects.relay.core import YieldOp
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import numpy_dtype
from .errors import Malformed, Unsupported
from .node import Node, rank_of

Integers: TypeAlias = "Told | int | Sequence[int]"
"""Integers, known or told."""

Numbers: TypeAlias = "Integers | float"
"""Integers or floats, known or told."""


@dataclass(frozen=True)
class Told:
    """A tensor, mostly a vector of int64, that is computed when the graph runs. It computes as one of NumPy does."""

    node: Node
    value: SSAValue

    def by(self, operator: str, *others: Numbers) -> Told:
        """What an element-wise operator gives of this and others."""
        given = [self._beside(other, others).value for other in others]
        return Told(self.node, self.node.emit(operator, self.value, *given))

    def _beside(self, number: Numbers, others: Sequence[Numbers]) -> Told:
        """A number as one of the type of what it is computed with: of floats, where those are."""
        import numpy as np

        if isinstance(number, Told):
            return number
        types = [tensor(each.value).element_type for each in (self, *others) if isinstance(each, Told)]
        dtype = next((numpy_dtype(type) for type in types if isinstance(type, AnyFloat)), np.int64)
        return Told(self.node, self.node.constant(np.array(number, dtype)))

    def __add__(self, other: Numbers) -> Told:
        return self.by("add", other)

    def __sub__(self, other: Numbers) -> Told:
        return self.by("subtract", other)

    def __mul__(self, other: Numbers) -> Told:
        return self.by("multiply", other)

    def __floordiv__(self, other: Numbers) -> Told:
        return self.by("floor_divide", other)

    def __mod__(self, other: Numbers) -> Told:
        return self.by("floor_mod", other)

    def __lt__(self, other: Numbers) -> Told:
        return self.by("less", other)

    def __ge__(self, other: Numbers) -> Told:
        return self.by("greater_equal", other)

    def both(self, other: Told) -> Told:
        """Where this and the other are true."""
        return self.by("logical_and", other)

    def all(self) -> Told:
        """Whether a vector is true everywhere, as a vector of one."""
        return self.along("all")

    def any(self) -> Told:
        """Whether a vector is true somewhere, as a vector of one."""
        return self.along("any")

    def provided(self, is_right: Told) -> Told:
        """The same; the run fails where `is_right`, a vector of one, is not true."""
        wrong = Told(self.node, self.node.cast(self.node.emit("logical_not", is_right.value), i64))
        nothing = told(self.node, [0]).at(wrong, "error").value
        return Told(
            self.node, self.node.emit("add", self.value, self.node.cast(nothing, tensor(self.value).element_type))
        )

    def equal(self, other: Numbers) -> Told:
        """Where both are equal."""
        return self.by("equal", other)

    def at_least(self, other: Numbers) -> Told:
        """The greater of both."""
        return self.by("maximum", other)

    def at_most(self, other: Numbers) -> Told:
        """The smaller of both."""
        return self.by("minimum", other)

    def where(self, yes: Numbers, no: Numbers) -> Told:
        """The elements of `yes` where this is true, else those of `no`."""
        return self.by("where", yes, no)

    def at(self, places: Integers, mode: str = "clip") -> Told:
        """The elements at `places`; with the mode "error" the run fails for one that is none."""
        return Told(self.node, self.node.emit("take", self.value, told(self.node, places).value, axis=0, mode=mode))

    def number(self) -> Told:
        """The only element, as a tensor of rank 0.

        Raises:
            Malformed: there are more.
        """
        return Told(self.node, self.node.reshape(self.value, []))

    def column(self) -> Told:
        """A vector as a column."""
        return Told(self.node, self.node.emit("expand_dims", self.value, axis=1))

    def along(self, operator: str) -> Told:
        """A reduction along the first axis, which stays."""
        kept = rank_of(self.value) == 1
        return Told(self.node, self.node.emit(operator, self.value, axis=[0], keepdims=kept))

    def product(self) -> Told:
        """The product of a vector, as a vector of one."""
        return self.along("prod")


def told(node: Node, given: Integers) -> Told:
    """Integers as what computes with those that are told; a single one has rank 0."""
    import numpy as np

    return given if isinstance(given, Told) else Told(node, node.constant(np.array(given, np.int64)))


def vector(node: Node, index: int) -> Told:
    """The integers of the input at `index`, a vector; a single one is a vector of one."""
    value = node.input(index)
    if rank_of(value) == 0:
        value = node.emit("expand_dims", value, axis=0)
    if rank_of(value) != 1:
        raise Malformed(f"input {index} must be a vector, not {value.type}")
    return Told(node, node.cast(value, i64))


def of_either_sign(given: Told) -> Told:
    """The same numbers, opaque: else what they are computed of is taken for extents as well, where they are extents,
    which are not negative."""
    return given.equal(0).where(0, given)


def count_of(given: Told) -> int:
    """How many integers a vector has.

    Raises:
        Unsupported: data decides that too, and so the rank of what it is told of.
    """
    (count,) = shape_of(given.value)
    if count == DYNAMIC:
        raise Unsupported("as many axes as data says", "give the axes a known number")
    return count


def up_to(node: Node, count: Told) -> Told:
    """0, 1, ... up to before a number."""
    ends = (told(node, 0), count.number(), told(node, 1))
    return Told(node, node.emit("arange", *(each.value for each in ends), dtype="int64"))


def extents_at(node: Node, index: int) -> list[te.Dim]:
    """The integers of the input at `index` as extents; one that data decides is that of a tensor of so many numbers."""
    found = node.symbolic_or_none(index)
    if found is not None:
        return found
    given = vector(node, index)
    return [node.dims(up_to(node, given.at([place])).value)[0] for place in range(count_of(given))]


def axes_of(given: Told, rank: int) -> Told:
    """Axes counted from the front; the run fails where there is no such one.

    Raises:
        Malformed: there is none at all.
    """
    if rank == 0:
        raise Malformed("there is no axis that a tensor of rank 0 could have")
    return told(given.node, range(rank)).at(given, "error")


def named(axes: Told, rank: int) -> Told:
    """For each of `rank` axes 1 where it is among `axes`, else 0."""
    if count_of(axes) == 0:
        return told(axes.node, [0] * rank)
    same = axes.column().equal(range(rank))
    return Told(axes.node, axes.node.cast(same.value, i64)).along("max")


def stable_order(keys: Told, rank: int) -> Told:
    """The places of `rank` small numbers, in ascending order of them; equal ones keep theirs."""
    distinct = keys * rank + told(keys.node, range(rank))
    return Told(keys.node, keys.node.emit("argsort", distinct.value, axis=0, is_ascend=True, dtype="int64"))


def moved(positions: Told, dims: Told, strides: Told, rank: int) -> Told:
    """Where elements stand, counted through, whose places in `dims` are counted through as `positions`, if a step along
    each dimension takes one so far."""
    places = positions * 0
    for axis in reversed(range(rank)):
        extent = dims.at([axis]).at_least(1)
        places += positions % extent * strides.at([axis])
        positions //= extent
    return places


@dataclass(frozen=True)
class Along:
    """A tensor and, for each of its axes, 1 where something is done along it, else 0."""

    node: Node
    x: SSAValue
    marked: Told

    @property
    def rank(self) -> int:
        return rank_of(self.x)

    @property
    def dims(self) -> Told:
        return Told(self.node, self.node.shape_value(self.node.dims(self.x)))

    @property
    def order(self) -> Told:
        """The axes that stay, then those that are marked."""
        return stable_order(self.marked, self.rank)

    def matrix(self) -> SSAValue:
        """The elements as a matrix: those that differ in nothing but the places along marked axes are a row."""
        dims = self.node.dims(self.x)
        total = te.product(dims)
        strides = Told(self.node, self.node.shape_value([te.product(dims[axis + 1 :]) for axis in range(self.rank)]))
        numbers = Told(self.node, positions(self.node, total))
        places = moved(numbers, self.dims.at(self.order), strides.at(self.order), self.rank)
        flat = self.node.reshape(self.x, [total]) if isinstance(total, int) else self.node.reshape_to(self.x, [total])
        rows, columns = (self.marked.equal(kept).where(self.dims, 1).product() for kept in (0, 1))
        shape = self.node.emit("concatenate", self.node.emitter.tuple([rows.value, columns.value]), axis=0)
        return self._reshaped(self.node.emit("take", flat, places.value, axis=0), shape)

    def _reshaped(self, value: SSAValue, shape: SSAValue) -> SSAValue:
        return self.node.emit("dyn.reshape", value, shape, allowzero=True)

    def reduced(self, rows: SSAValue, count: int | None) -> SSAValue:
        """What each row of the matrix gives under the shape that a reduction leaves: without the `count` axes, of which
        there are more, or, if that is `None`, with an extent of 1 for each."""
        if count is None:
            return self._reshaped(rows, self.marked.equal(1).where(1, self.dims).value)
        return self._reshaped(rows, self.dims.at(self.order.at(range(self.rank - count))).value)

    def provided_all(self, number: SSAValue) -> SSAValue:
        """A tensor of rank 0, if all axes are marked; else the run fails."""
        missing = told(self.node, 1) - Told(self.node, self.node.emit("min", self.marked.value, axis=[0]))
        return self.node.emit("take", self.node.reshape(number, [1]), missing.value, axis=0, mode="error")


def positions(node: Node, length: te.Dim) -> SSAValue:
    """The numbers from 0 up to an extent."""
    import numpy as np

    if isinstance(length, int):
        return node.constant(np.arange(length))
    zero, one = (node.constant(np.asarray(number, np.int64)) for number in (0, 1))
    return node.emit("arange", zero, node.extent(length), one, dtype="int64")


def switched(number: Told, arms: Sequence[Callable[[], SSAValue]]) -> SSAValue:
    """What the arm of this number gives; all give values of one type.

    Raises:
        Unsupported: they do not.
    """
    emitter = number.node.emitter
    *others, last = arms
    if not others:
        return last()
    blocks: list[Block] = []
    results: list[SSAValue] = []
    for arm in (lambda: switched(number, others), last):
        with emitter.within(Block()) as block:
            results.append(arm())
            emitter.insert(YieldOp(results[-1]))
        blocks.append(block)
    types = [result.type for result in results]
    if types[0] != types[1]:
        raise Unsupported(f"an axis that data decides between {types[0]} and {types[1]}", give_shapes())
    condition = number.number() < len(others)
    op = IfOp(condition.value, types[:1], *map(Region, blocks))
    emitter.insert(op)
    return op.results[0]


def unless(node: Node, is_wrong: Told, x: SSAValue) -> SSAValue:
    """`x`; the run fails where `is_wrong`, a vector of one, is true."""
    only = node.emit("expand_dims", x, axis=0)
    return node.emit("take", only, node.cast(is_wrong.number().value, i64), axis=0, mode="error")

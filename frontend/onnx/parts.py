"""Sequences of as many tensors as only a run tells: the parts of one tensor, which are never made but read from it.

Such a sequence is a tuple in a tuple, which no other one is: of the tensor, and how long each part of it is. A part is
read from where those before it end.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from .errors import Malformed, Unsupported
from .node import Node, rank_of
from .told import Told, positions, told, up_to, vector
from .told_shapes import extent

TOLD_SEQUENCE = "a sequence of as many tensors as only a run tells"
"""What such a sequence is called where it cannot be."""


@dataclass(frozen=True)
class Parts:
    """The parts of `x` along `axis`, which have `sizes`; `single` says that each is one row, and `dropped` that such a
    row lacks that axis."""

    node: Node
    x: SSAValue
    axis: int
    sizes: Told
    single: bool
    dropped: bool

    @property
    def count(self) -> Told:
        """How many there are, as a vector of one."""
        return extent(self.node, self.sizes.value, 0)

    def at(self, place: SSAValue) -> SSAValue:
        """The part at a place, which may count from the end; the run fails where there is none."""
        number = Told(self.node, self.node.reshape(place, [1]))
        begins = Told(self.node, self.node.emit("cumsum", self.sizes.value, axis=0)) - self.sizes
        if self.single:
            row = self.node.emit("take", self.x, number.number().value, axis=self.axis, mode="error")
            return row if self.dropped else self.node.emit("expand_dims", row, axis=self.axis, num_newaxis=1)
        places = up_to(self.node, self.sizes.at(number, "error")) + begins.at(number, "error")
        return self.node.emit("take", self.x, places.value, axis=self.axis, mode="clip")

    def concatenated(self, axis: int) -> SSAValue:
        """All parts, one after the other along an axis."""
        if self.dropped or axis != self.axis:
            return self._beside(axis, is_new=False)
        return self.x

    def stacked(self, axis: int) -> SSAValue:
        """All parts, one after the other along a new axis."""
        return self._beside(axis, is_new=True)

    def _beside(self, axis: int, is_new: bool) -> SSAValue:
        """The parts beside each other, which all have to be of one size, and of which there has to be one."""
        node, rank = self.node, rank_of(self.x)
        if self.dropped:
            rows, kept = self.x, rank - 1
            order = [d for d in range(rank) if d != self.axis]
        else:
            size = told(node, [1]) if self.single else self.sizes.at([0], "error")
            if not self.single:
                size = size.provided(self.sizes.equal(size).all())
            dims = [Told(node, node.shape_value([dim])) for dim in node.dims(self.x)]
            dims[self.axis : self.axis + 1] = [self.count, size]
            rows, kept = node.emit("dyn.reshape", self.x, joined(node, dims).value, allowzero=True), rank
            order = [d for d in range(rank + 1) if d != self.axis]
        rows = node.emit("transpose", rows, axes=[*order[:axis], self.axis, *order[axis:]])
        if is_new:
            return rows
        dims = [Told(node, node.shape_value([dim])) for dim in node.dims(rows)]
        dims[axis : axis + 2] = [dims[axis] * dims[axis + 1]]
        assert len(dims) == kept
        return node.emit("dyn.reshape", rows, joined(node, dims).value, allowzero=True)


def joined(node: Node, numbers: list[Told]) -> Told:
    """Vectors, one after the other."""
    return Told(node, node.emit("concatenate", node.emitter.tuple([each.value for each in numbers]), axis=0))


def as_sequence(parts: Parts) -> SSAValue:
    """A value that stands for the sequence."""
    emitter = parts.node.emitter
    sequence = emitter.tuple([emitter.tuple([parts.x, parts.sizes.value])])
    emitter.parts[sequence] = (parts.x, parts.sizes.value, parts.axis, parts.single, parts.dropped)
    return sequence


def parts_of(node: Node, sequence: SSAValue) -> Parts | None:
    """The parts that a value stands for; `None`, if it is another sequence."""
    if (found := node.emitter.parts.get(sequence)) is None:
        return None
    x, sizes, axis, single, dropped = found
    return Parts(node, x, axis, Told(node, sizes), single, dropped)


def rows_of(node: Node, x: SSAValue, axis: int, dropped: bool = True) -> Parts:
    """A part for each row along an axis, without that axis if it is `dropped`."""
    ones = Told(node, positions(node, node.dims(x)[axis])) * 0 + 1
    return Parts(node, x, axis, ones, True, dropped)


def drops_axis(node: Node, size: int) -> bool:
    """Whether parts of one size that SplitToSequence makes lack their axis. ONNX's text has `keepdims` ignored where a
    size is given; ONNX Runtime reads it, and PyTorch writes `unbind` as parts of one row that way."""
    return size == 1 and not node.integer("keepdims", 1)


def split_as_told(node: Node, x: SSAValue, axis: int) -> Parts:
    """The parts that SplitToSequence makes, of which data or an open extent decides how many there are.

    Raises:
        Malformed: they have no size.
        Unsupported: only a run tells whether they are rows that lack their axis.
    """
    whole = extent(node, x, axis)
    if (given := node.optional(1)) is None:
        return rows_of(node, x, axis, drops_axis(node, 1))
    if rank_of(given) == 0:
        size = vector(node, 1)
        known = node.emitter.evaluate(size.value)
        if known is not None and known.min() < 1:
            raise Malformed(f"parts of {known.min()} elements")
        if known is not None and known.max() == 1:
            return rows_of(node, x, axis, drops_axis(node, 1))
        if known is None and drops_axis(node, 1):
            raise Unsupported("'keepdims' of 0 for parts of a size that only a run tells")
        size = size.provided(size >= 1)
        begins = up_to(node, (whole + size - 1) // size) * size
        return Parts(node, x, axis, (whole - begins).at_most(size), False, False)
    sizes = vector(node, 1)
    total = told(node, [0]) + sizes.along("sum")
    return Parts(node, x, axis, sizes.provided(total.equal(whole).both((sizes >= 0).all())), False, False)

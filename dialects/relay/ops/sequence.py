"""Operators on sequences of different lengths, which stand side by side in one tensor."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, TensorType, f32, f64, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import Fusion, FusionPattern, Moves, RelayOp, compatible, integer, normalize_axis, real, string, tensor
from ..indexing import OutOfRange, as_index, out_of_range
from ..nn_common import aligned_axis
from .elementwise import integers

if TYPE_CHECKING:
    from ..gradient import Gradient, Terms


class _OnSequences(RelayOp, ABC):
    """An operator on sequences whose lengths a second operand gives."""

    FRACTIONS: ClassVar[bool] = False
    """Whether lengths may be floats."""

    data = operand_def(TensorType)
    lengths = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def check_lengths(self, batch: int) -> None:
        """
        Raises:
            VerifyException: there is not one length for each sequence.
        """
        lengths = tensor(self.lengths)
        if not (self.FRACTIONS and isinstance(lengths.element_type, AnyFloat)):
            integers(lengths)
        if not compatible(TensorType(lengths.element_type, [batch]), lengths):
            raise VerifyException(f"there are {batch} sequences, but the lengths are {lengths}")


@irdl_op_definition
class SequenceMaskOp(_OnSequences):
    """Sequences with `mask_value` behind their lengths: all of a sequence whose length is negative, nothing of one whose
    length reaches its extent.

    Time runs along `axis`, which is 0 or 1, sequences along the other of the two.

    `y = np.where(np.arange(3)[:, None, None] < n[None, :, None], x, 0.0)`

    ```mlir
    %y = relay.sequence_mask %x, %n {mask_value = 0.0 : f64, axis = 0 : i64} : (tensor<3x2x4xf32>, tensor<2xi32>) -> tensor<3x2x4xf32>
    ```
    """  # noqa: E501

    name = "relay.sequence_mask"
    FRACTIONS: ClassVar[bool] = True

    mask_value = real(0.0)
    axis = integer(0)

    def place(self, rank: int) -> int:
        """The axis of time.

        Raises:
            VerifyException: it is not one of the first two.
        """
        axis = normalize_axis(self.axis.value.data, rank)
        if rank < 2 or axis > 1:
            raise VerifyException(f"'axis' must be one of the first two of the data's {rank}, got {axis}")
        return axis

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        shape = data.get_shape()
        self.check_lengths(shape[1 - self.place(len(shape))])
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, lengths = inputs
        axis, value = self.place(x.rank), self.mask_value.value.data
        aligned_axis(x, 1 - axis, lengths)

        def is_kept(time: te.Expr, length: te.Expr) -> te.Expr:
            if not isinstance(length.type, AnyFloat):
                return time < as_index(length)
            exact = length.type if length.type == f64 else f32  # narrower ones do not count far
            return te.cast(time, exact) < te.cast(length, exact)

        return te.compute(
            x.shape,
            lambda *i: te.select(is_kept(i[axis], lengths[i[1 - axis]]), x[i], value),
            "sequence_mask",
        )

    def gradient(self, g: Gradient) -> Terms:
        return g.moved(mask_value=0.0)


LENGTHS = (OutOfRange.CLIP, OutOfRange.ERROR)
"""The policies of what reads lengths."""


def checked_lengths(lengths: te.Tensor, extent: int, name: str) -> te.Tensor:
    """Lengths of parts of an axis of `extent` elements, as `i64`, after the check that they are such."""
    text = f"'{name}': length {{index}} does not lie from 0 to {extent}"
    return te.compute(
        lengths.shape, lambda *i: te.cast(te.check(as_index(lengths[i]), extent + 1, text), i64), "checked_lengths"
    )


@irdl_op_definition
class ReverseSequenceOp(_OnSequences):
    """Sequences with their first elements, as many as their lengths say, in reverse.

    A length below 0 is taken as 0, one beyond the extent of time as that extent; with `out_of_range = "error"` the run
    fails by it.

    Time runs along `seq_axis`, sequences along `batch_axis`.

    `y = np.stack([np.concatenate([x[:k, b][::-1], x[k:, b]]) for b, k in enumerate(n)], axis=1)`

    ```mlir
    %y = relay.reverse_sequence %x, %n {seq_axis = 0 : i64, batch_axis = 1 : i64} : (tensor<3x2x4xf32>, tensor<2xi32>) -> tensor<3x2x4xf32>
    ```
    """  # noqa: E501

    name = "relay.reverse_sequence"

    seq_axis = integer(1)
    batch_axis = integer(0)
    out_of_range = string("clip")

    def places(self, rank: int) -> tuple[int, int]:
        """The axes of time and of the sequences.

        Raises:
            VerifyException: they are the same.
        """
        time = normalize_axis(self.seq_axis.value.data, rank, "seq_axis")
        batch = normalize_axis(self.batch_axis.value.data, rank, "batch_axis")
        if time == batch:
            raise VerifyException(f"'seq_axis' and 'batch_axis' are both {time}")
        return time, batch

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        shape = data.get_shape()
        self.check_lengths(shape[self.places(len(shape))[1]])
        out_of_range(self.out_of_range, LENGTHS, "out_of_range")
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, lengths = inputs
        time, batch = self.places(x.rank)
        aligned_axis(x, batch, lengths)
        if out_of_range(self.out_of_range, LENGTHS, "out_of_range") == OutOfRange.ERROR:
            lengths = checked_lengths(lengths, x.shape[time], self.name)

        def body(*i: te.IterVar) -> te.Expr:
            length = te.minimum(as_index(lengths[i[batch]]), x.shape[time])
            at = te.select(i[time] < length, length - 1 - i[time], i[time])
            return x[(*i[:time], at, *i[time + 1 :])]

        return te.compute(x.shape, body, "reverse_sequence")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


OPS: list[type[Operation]] = [SequenceMaskOp, ReverseSequenceOp]
"""The operators on sequences."""

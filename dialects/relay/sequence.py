"""Operators on index patterns and on sequences of different lengths."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .. import te
from .base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    broadcast_read,
    broadcast_shapes,
    compatible,
    flatten_types,
    integer,
    normalize_axis,
    real,
    shape_text,
    string,
    tensor,
)
from .elementwise import integers
from .gather import from_the_end
from .nn_common import tuple_type

if TYPE_CHECKING:
    pass


class _OnSequences(RelayOp, ABC):
    """An operator on sequences whose lengths a second operand gives."""

    data = operand_def(TensorType)
    lengths = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def check_lengths(self, batch: int) -> None:
        """
        Raises:
            VerifyException: there is not one length for each sequence.
        """
        lengths = integers(tensor(self.lengths))
        if not compatible(TensorType(lengths.element_type, [batch]), lengths):
            raise VerifyException(f"there are {batch} sequences, but the lengths are {lengths}")


@irdl_op_definition
class SequenceMaskOp(_OnSequences):
    """Sequences with `mask_value` behind their lengths.

    Time runs along `axis`, which is 0 or 1, sequences along the other of the two.

    `y = np.where(np.arange(3)[:, None, None] < n[None, :, None], x, 0.0)`

    ```mlir
    %y = relay.sequence_mask %x, %n {mask_value = 0.0 : f64, axis = 0 : i64} : (tensor<3x2x4xf32>, tensor<2xi32>) -> tensor<3x2x4xf32>
    ```
    """  # noqa: E501

    name = "relay.sequence_mask"

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
        return te.compute(
            x.shape,
            lambda *i: te.select(i[axis] < te.cast(lengths[i[1 - axis]], te.index), x[i], value),
            "sequence_mask",
        )


@irdl_op_definition
class ReverseSequenceOp(_OnSequences):
    """Sequences with their first elements, as many as their lengths say, in reverse.

    Time runs along `seq_axis`, sequences along `batch_axis`.

    `y = np.stack([np.concatenate([x[:k, b][::-1], x[k:, b]]) for b, k in enumerate(n)], axis=1)`

    ```mlir
    %y = relay.reverse_sequence %x, %n {seq_axis = 0 : i64, batch_axis = 1 : i64} : (tensor<3x2x4xf32>, tensor<2xi32>) -> tensor<3x2x4xf32>
    ```
    """  # noqa: E501

    name = "relay.reverse_sequence"

    seq_axis = integer(1)
    batch_axis = integer(0)

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
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, lengths = inputs
        time, batch = self.places(x.rank)

        def body(*i: te.IterVar) -> te.Expr:
            length = te.cast(lengths[i[batch]], te.index)
            at = te.select(i[time] < length, length - 1 - i[time], i[time])
            return x[(*i[:time], at, *i[time + 1 :])]

        return te.compute(x.shape, body, "reverse_sequence")


@irdl_op_definition
class MeshgridOp(RelayOp):
    """For vectors, the tensors of all combinations of their elements: one for each vector.

    In `indexing` "ij", vector `k` runs along dimension `k`; in "xy", the first two are exchanged. Scalars count as
    vectors of one element.

    `y = np.meshgrid(a, b, indexing="ij")`

    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tuple<tensor<2xf32>, tensor<3xf32>>
    %y = relay.meshgrid %t {indexing = "ij"} : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2x3xf32>, tensor<2x3xf32>>
    ```
    """  # noqa: E501

    name = "relay.meshgrid"

    data = operand_def(TupleType)
    result = result_def(TupleType)

    indexing = string("ij")

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def grid(self, shapes: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
        """The dimension along which each vector runs, and the shape of the results.

        Raises:
            VerifyException: a tensor is not a vector, or `indexing` is unknown.
        """
        if any(len(shape) > 1 for shape in shapes):
            raise VerifyException(f"expected vectors, got shapes {', '.join(map(shape_text, shapes))}")
        if self.indexing.data not in ("ij", "xy"):
            raise VerifyException(f'\'indexing\' is "ij" or "xy", not {self.indexing}')
        extents = [shape[0] if shape else 1 for shape in shapes]
        along = list(range(len(shapes)))
        if self.indexing.data == "xy":
            along[:2] = reversed(along[:2])
        return along, [extents[along.index(d)] for d in range(len(along))]

    def infer(self) -> Sequence[Attribute]:
        fields = flatten_types([self.data.type])
        _, shape = self.grid([f.get_shape() for f in fields])
        return [tuple_type(*(TensorType(f.element_type, shape) for f in fields))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        along, shape = self.grid([x.shape for x in inputs])
        return [_spread(x, d, shape) for x, d in zip(inputs, along, strict=True)]


def _spread(x: te.Tensor, dimension: int, shape: Sequence[int]) -> te.Tensor:
    """A vector (or scalar) along one dimension of a tensor of `shape`."""
    return te.compute(shape, lambda *i: x[(i[dimension],) * x.rank], "meshgrid")


@irdl_op_definition
class MatrixSetDiagOp(RelayOp):
    """Matrices with diagonals `k1` to `k2` replaced.

    Diagonal 0 begins in the corner, positive ones lie above it. The diagonals stand in the rows of the last two
    dimensions of `diagonal`, highest first (in its last dimension, where there is one only). Shorter ones begin at the
    left or at the right, as `align` says for those above and those below the main one.

    `y = np.where(np.eye(3, 4, dtype=bool), d[..., None], x)`

    ```mlir
    %y = relay.matrix_set_diag %x, %d : (tensor<2x3x4xf32>, tensor<2x3xf32>) -> tensor<2x3x4xf32>
    ```
    """

    name = "relay.matrix_set_diag"

    data = operand_def(TensorType)
    diagonal = operand_def(TensorType)
    result = result_def(TensorType)

    k1 = integer(0)
    k2 = integer(0)
    align = string("RIGHT_LEFT")

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def longest(self, rows: int, columns: int) -> int:
        """The length of the longest diagonal.

        Raises:
            VerifyException: a diagonal lies outside the matrix.
        """
        k1, k2 = self.k1.value.data, self.k2.value.data
        if not -rows < k1 <= k2 < columns:
            raise VerifyException(f"there are no diagonals {k1} to {k2} in a matrix of {rows} rows, {columns} columns")
        return min(rows + min(k2, 0), columns - max(k1, 0))

    def infer(self) -> Sequence[Attribute]:
        data, diagonal = tensor(self.data), tensor(self.diagonal)
        shape = data.get_shape()
        if len(shape) < 2 or DYNAMIC in shape[-2:]:
            raise VerifyException(f"{data} has no matrices of known extents")
        above, slash, below = self.align.data.partition("_")
        if not slash or {above, below} - {"LEFT", "RIGHT"}:
            raise VerifyException(f"'align' is two of LEFT and RIGHT with _ between, not {self.align}")
        count = self.k2.value.data - self.k1.value.data + 1
        rows = [count] if count > 1 else []
        wanted = TensorType(data.element_type, [*shape[:-2], *rows, self.longest(*shape[-2:])])
        if not compatible(wanted, diagonal):
            raise VerifyException(f"the diagonals of {data} are {wanted}, not {diagonal}")
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, diagonal = inputs
        rows, columns = x.shape[-2:]
        k1, k2 = self.k1.value.data, self.k2.value.data
        longest = self.longest(rows, columns)
        above, _, below = self.align.data.partition("_")

        def element(i: tuple[te.IterVar, ...], k: int) -> te.Expr:
            """The element of diagonal `k` in the row and column of `i`."""
            length = min(rows + min(k, 0), columns - max(k, 0))
            shift = longest - length if (above if k > 0 else below) == "RIGHT" else 0
            row = [] if k1 == k2 else [k2 - k]
            return diagonal[(*i[:-2], *row, i[-1] - max(k, 0) + shift)]

        def body(*i: te.IterVar) -> te.Expr:
            value: te.Expr = x[i]
            for k in range(k1, k2 + 1):
                value = te.select(i[-1].equal(i[-2] + k), element(i, k), value)
            return value

        return te.compute(x.shape, body, "matrix_set_diag")


@irdl_op_definition
class AdvIndexOp(RelayOp):
    """NumPy's indexing with arrays: the first tensor of the tuple at the indices that the others give.

    The index tensors are broadcast; they name the first dimensions. A negative index counts from the end.

    `y = x[i, j]`

    ```mlir
    %t = relay.tuple(%x, %i, %j) : (tensor<4x5x3xf32>, tensor<2x1xi64>, tensor<3xi64>) -> tuple<tensor<4x5x3xf32>, tensor<2x1xi64>, tensor<3xi64>>
    %y = relay.adv_index %t : (tuple<tensor<4x5x3xf32>, tensor<2x1xi64>, tensor<3xi64>>) -> tensor<2x3x3xf32>
    ```
    """  # noqa: E501

    name = "relay.adv_index"

    data = operand_def(TupleType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data, *indices = flatten_types([self.data.type])
        shape = data.get_shape()
        if not 0 < len(indices) <= len(shape):
            raise VerifyException(f"{len(indices)} indices for data of rank {len(shape)}")
        places = broadcast_shapes(*(integers(i).get_shape() for i in indices))
        return [TensorType(data.element_type, [*places, *shape[len(indices) :]])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, *indices = inputs
        places = broadcast_shapes(*(i.shape for i in indices))

        def body(*i: te.IterVar) -> te.Expr:
            place = i[: len(places)]
            at = [from_the_end(broadcast_read(v, place), x.shape[d]) for d, v in enumerate(indices)]
            return x[(*at, *i[len(places) :])]

        return te.compute([*places, *x.shape[len(indices) :]], body, "adv_index")


@irdl_op_definition
class InvertPermutationOp(RelayOp):
    """The permutation that undoes another: where each number stands.

    `y = np.argsort(p)`

    ```mlir
    %p = relay.constant dense<[2, 0, 3, 1]> : tensor<4xi32>
    %y = relay.invert_permutation %p : (tensor<4xi32>) -> tensor<4xi32>
    ```
    """

    name = "relay.invert_permutation"
    data = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data = integers(tensor(self.data))
        if len(data.get_shape()) != 1:
            raise VerifyException(f"expected a vector, got {data}")
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        k = te.reduce_axis(x.shape[0])

        def body(i: te.IterVar) -> te.Expr:
            here = te.cast(x[k], te.index).equal(i)
            return te.max(te.select(here, te.cast(k, x.element_type), 0), k)

        return te.compute(x.shape, body, "invert_permutation")


@irdl_op_definition
class UnravelIndexOp(RelayOp):
    """The indices, one row for each dimension, of elements whose positions in a tensor of `shape` are given.

    `y = np.stack(np.unravel_index(p, s))`

    ```mlir
    %s = relay.constant dense<[3, 4]> : tensor<2xi32>
    %y = relay.unravel_index %p, %s : (tensor<5xi32>, tensor<2xi32>) -> tensor<2x5xi32>
    ```
    """

    name = "relay.unravel_index"

    data = operand_def(TensorType)
    shape = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data, shape = integers(tensor(self.data)), integers(tensor(self.shape))
        if data.element_type != shape.element_type or len(shape.get_shape()) != 1:
            raise VerifyException(f"positions {data} cannot be unravelled by {shape}")
        return [TensorType(data.element_type, [*shape.get_shape(), *data.get_shape()])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, shape = inputs
        rank = shape.shape[0]

        def body(d: te.IterVar, *i: te.IterVar) -> te.Expr:
            value: te.Expr = te.const(0, x.element_type)
            position: te.Expr = x[i]
            for dimension in reversed(range(rank)):
                extent = shape[dimension]
                digit = position % extent if dimension else position
                value = te.select(d.equal(dimension), digit, value)
                position = position // extent
            return value

        return te.compute([rank, *x.shape], body, "unravel_index")


OPS: list[type[Operation]] = [
    SequenceMaskOp, ReverseSequenceOp, MeshgridOp, MatrixSetDiagOp, AdvIndexOp, InvertPermutationOp, UnravelIndexOp,
]  # fmt: skip
"""The operators on index patterns and sequences."""

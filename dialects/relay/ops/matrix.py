"""Operators on the matrices that the last two dimensions are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import DYNAMIC, Fusion, FusionPattern, Moves, RelayOp, compatible, flag, integer, is_true, string, tensor
from ..precision import Accuracy
from .creation import scalar

if TYPE_CHECKING:
    from ..gradient import Gradient, Terms


@irdl_op_definition
class TriluOp(RelayOp):
    """The triangle of the last two dimensions on one side of diagonal `k`, and zero elsewhere.

    Diagonal 0 begins in the corner, positive ones lie above it. With `upper`, what is on and above it stays.

    `y = np.triu(x, k)`

    ```mlir
    %y = relay.trilu %x, %k {upper = true} : (tensor<2x4x4xf32>, tensor<i64>) -> tensor<2x4x4xf32>
    ```
    """

    name = "relay.trilu"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    data = operand_def(TensorType)
    k = operand_def(TensorType)
    result = result_def(TensorType)

    upper = flag(True)

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        scalar(self.k)
        if len(data.get_shape()) < 2:
            raise VerifyException(f"{data} has no last two dimensions")
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, k = inputs

        def body(*i: te.IterVar) -> te.Expr:
            row, column, diagonal = *i[-2:], te.cast(k[()], te.index)
            kept = column >= row + diagonal if is_true(self.upper) else column <= row + diagonal
            return te.select(kept, x[i], 0)

        return te.compute(x.shape, body, "trilu")

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op(TriluOp, g.inputs[1], upper=self.upper), None]


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

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
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
        if not all(te.agree(n, m) for n, m in zip(x.dims[:-2], diagonal.dims, strict=False)):
            raise TypeError("te: there are not known to be diagonals for each matrix")
        if not te.agree(diagonal.dims[-1], longest) or (k1 < k2 and not te.agree(diagonal.dims[-2], k2 - k1 + 1)):
            raise TypeError("te: the diagonals are not known to be as many, and as long, as those of the matrices")
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

    def gradient(self, g: Gradient) -> Terms:
        return g.moved((0, 1))


OPS: list[type[Operation]] = [TriluOp, MatrixSetDiagOp]
"""The operators on matrices."""

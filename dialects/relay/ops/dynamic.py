"""Operators whose result has as many elements as the data says: argwhere, unique.

They have no `compute`: a tensor expression has a shape. They are evaluated directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import DYNAMIC, Fusion, FusionPattern, RelayOp, flag, is_true, shape_of, tensor
from ..nn_common import tuple_type
from ..precision import Accuracy, Precision

if TYPE_CHECKING:
    from ..base import NDArray


@irdl_op_definition
class ArgwhereOp(RelayOp):
    """The indices of the elements that are true (or not zero), one row for each.

    `y = np.argwhere(x)`

    ```mlir
    %y = relay.argwhere %x : (tensor<2x4xf32>) -> tensor<?x2xi32>
    ```
    """

    name = "relay.argwhere"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW

    condition = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        return [TensorType(i32, [DYNAMIC, len(shape_of(self.condition))])]

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        return np.argwhere(inputs[0]).astype(np.int32)


@irdl_op_definition
class UniqueOp(RelayOp):
    """The different elements of a vector; where each first stands; which of them each element is; how many there are.

    With `return_counts`, also how often each occurs. The elements are in ascending order if `sorted`, else in that of
    their first occurrence.

    ```mlir
    %y = relay.unique %x {sorted = true} : (tensor<4xf32>) -> tuple<tensor<?xf32>, tensor<?xi32>, tensor<4xi32>, tensor<1xi32>>
    ```
    """  # noqa: E501

    name = "relay.unique"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    data = operand_def(TensorType)
    result = result_def()

    sorted = flag(True)
    return_counts = flag(False)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        if len(data.get_shape()) != 1:
            raise VerifyException(f"expected a vector, got {data}")
        some = TensorType(i32, [DYNAMIC])
        counts = [some] if is_true(self.return_counts) else []
        which, number = TensorType(i32, data.get_shape()), TensorType(i32, [1])
        return [tuple_type(TensorType(data.element_type, [DYNAMIC]), some, which, number, *counts)]

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        import numpy as np

        values, first, which, counts = np.unique(inputs[0], return_index=True, return_inverse=True, return_counts=True)
        if not is_true(self.sorted):
            order = np.argsort(first)
            values, first, counts = values[order], first[order], counts[order]
            which = np.argsort(order)[which]
        results = [values, first.astype(np.int32), which.astype(np.int32), np.array([values.size], np.int32)]
        return [*results, counts.astype(np.int32)] if is_true(self.return_counts) else results


@irdl_op_definition
class DataExtentOp(RelayOp):
    """A number that data decides, as an extent: not below 0, and not above `most`, which follows from shapes.

    What is told this number, a slice, has so many elements when it runs; its memory is that for `most`.

    `y = np.clip(n, 0, m)`

    ```mlir
    %n = relay.constant dense<[5]> : tensor<1xi64>
    %m = relay.constant dense<[4]> : tensor<1xi64>
    %y = relay.data_extent %n, %m : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    ```
    """

    name = "relay.data_extent"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    SAYS_EXTENT: ClassVar[bool] = True
    STANDS_ALONE: ClassVar[bool] = True

    count = operand_def(TensorType)
    most = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def told_extents(self) -> Sequence[SSAValue]:
        return [self.most]

    def infer(self) -> Sequence[Attribute]:
        for value in self.operands:
            if tensor(value) != TensorType(i64, [1]):
                raise VerifyException(f"an extent is a tensor<1xi64>, not {value.type}")
        return [TensorType(i64, [1])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        count, most = inputs
        return te.compute((1,), lambda i: te.maximum(te.minimum(count[i], most[i]), 0), "extent")

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        count, most = inputs
        return np.clip(count, 0, most)  # pyright: ignore[reportCallIssue, reportArgumentType]


OPS: list[type[Operation]] = [ArgwhereOp, UniqueOp, DataExtentOp]
"""The operators with results of unknown extent."""

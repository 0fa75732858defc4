"""Correlation of two images at displacements of one another (FlowNet: Fischer et al., 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import DYNAMIC, Fusion, FusionPattern, RelayOp, flag, int_list, integer, ints, is_true, string, tensor
from ...nn_common import mean_accumulator, normalize_padding, pad_stage

if TYPE_CHECKING:
    from ...gradient import Gradient, Term, Terms


@irdl_op_definition
class CorrelationOp(RelayOp):
    """The mean over channels and windows of the products of two images, for each displacement of the second.

    Displacements, which become channels, are multiples of `stride2` from minus to plus `max_displacement`, down and to
    the right; windows are `kernel_size` high and wide. Without `is_multiply` it is the mean of the distances.

    `y[n, q, i, j] = mean_{c, u, v} a[n, c, i*stride1 + m + u, j*stride1 + m + v] * b[..., moved by (q // d, q % d)]`

    ```mlir
    %y = relay.nn.correlation %a, %b {max_displacement = 1 : i64, padding = array<i64: 1, 1>}
       : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x9x4x4xf32>
    ```
    """

    name = "relay.nn.correlation"

    data1 = operand_def(TensorType)
    data2 = operand_def(TensorType)
    result = result_def(TensorType)

    kernel_size = integer(1)
    max_displacement = integer(1)
    stride1 = integer(1)
    stride2 = integer(1)
    padding = int_list([0, 0])
    is_multiply = flag(True)
    layout = string("NCHW")

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def _padding(self) -> tuple[Sequence[int], Sequence[int]]:
        return normalize_padding(ints(self.padding), 2)

    def _moves(self) -> int:
        """How many displacements there are along an axis."""
        return 2 * (self.max_displacement.value.data // self.stride2.value.data) + 1

    def infer(self) -> Sequence[Attribute]:
        first, second = tensor(self.data1), tensor(self.data2)
        if self.layout.data != "NCHW":
            raise VerifyException(f"the layout is {self.layout.data}, but must be NCHW")
        if first != second or len(first.get_shape()) != 4:
            raise VerifyException(f"data1 and data2 are {first} and {second}, and not images of one type")
        size, reach = self.kernel_size.value.data, self.max_displacement.value.data
        if size < 1 or size % 2 == 0 or reach < 0 or min(self.stride1.value.data, self.stride2.value.data) < 1:
            raise VerifyException("it needs a window of an odd size, a displacement from 0 on, and strides from 1 on")
        batch, _, *extents = first.get_shape()
        border, stride = reach + size // 2, self.stride1.value.data
        places: list[int] = []
        for extent, before, after in zip(extents, *self._padding(), strict=True):
            room = extent + before + after - 2 * border
            if extent != DYNAMIC and room < 1:
                raise VerifyException(f"displacements and windows reach {border} over an extent of {extent}")
            places.append(DYNAMIC if extent == DYNAMIC else -(-room // stride))
        return [TensorType(first.element_type, [batch, self._moves() ** 2, *places])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        batch, channels, *extents = inputs[0].dims
        if not all(map(te.agree, inputs[0].dims, inputs[1].dims)):
            raise TypeError("te: it is not known whether data1 and data2 have one shape")
        size = self.kernel_size.value.data
        before, after = ({2: side[0], 3: side[1]} for side in self._padding())
        a, b = (pad_stage(x, before, after, 0) for x in inputs)
        moves, stride = self._moves(), self.stride2.value.data
        start, step = self.max_displacement.value.data, self.stride1.value.data
        border = start + size // 2
        places = [
            (extent + first + last - 2 * border + step - 1) // step
            for extent, first, last in zip(extents, *self._padding(), strict=True)
        ]
        element = inputs[0].element_type
        wide = mean_accumulator(element)
        k, u, v = te.reduce_axis(channels, "k"), te.reduce_axis(size, "u"), te.reduce_axis(size, "v")

        def body(*at: te.IterVar) -> te.Expr:
            n, q, i, j = at
            y, x = i * step + start + u, j * step + start + v
            down, right = (q // moves - moves // 2) * stride, (q % moves - moves // 2) * stride
            one, other = te.cast(a[n, k, y, x], wide), te.cast(b[n, k, y + down, x + right], wide)
            return te.sum(one * other if is_true(self.is_multiply) else te.abs(one - other), [k, u, v])

        total = te.compute((batch, moves * moves, *places), body, "correlation")
        count = te.cast(te.const(size * size, te.index) * channels, total.element_type)
        return te.compute(total.dims, lambda *at: te.cast(total[at] / count, element), "correlation_mean")

    def gradient(self, g: Gradient) -> Terms:
        """Of the mean of products of slices, one for each displacement and each place in a window."""
        g.static()
        (height, width), channels = g.output.shape[2:], g.inputs[0].shape[1]
        (top, left), (bottom, right) = self._padding()
        a, b = (x.op("nn.pad", 0.0, pad_width=[0, 0, 0, 0, top, bottom, left, right]) for x in g.inputs)
        size, moves, stride = self.kernel_size.value.data, self._moves(), self.stride2.value.data
        start, step = self.max_displacement.value.data, self.stride1.value.data

        def window(x: Term, y: int, z: int) -> Term:
            end = [y + (height - 1) * step + 1, z + (width - 1) * step + 1]
            return x.op("strided_slice", begin=[y, z], end=end, strides=[step, step], axes=[2, 3])

        planes: list[Term] = []
        for down in range(-(moves // 2), moves // 2 + 1):
            for across in range(-(moves // 2), moves // 2 + 1):
                terms: list[Term] = []
                for u in range(size):
                    for v in range(size):
                        one = window(a, start + u, start + v)
                        other = window(b, start + u + down * stride, start + v + across * stride)
                        terms.append(one * other if is_true(self.is_multiply) else (one - other).op("abs"))
                total = terms[0]
                for term in terms[1:]:
                    total = total + term
                planes.append(total.sum([1], keepdims=True) / (size * size * channels))
        return g.through(planes[0].concatenated(planes[1:], 1) if len(planes) > 1 else planes[0])


OPS: list[type[Operation]] = [CorrelationOp]
"""The operators of optical flow."""

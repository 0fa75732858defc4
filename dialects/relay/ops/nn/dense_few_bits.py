"""The `dense` whose weight stays in the few bits that it is given in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, Signedness, TensorType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.dtypes import numpy_dtype
from ....support.operations import irdl_op_definition
from ...base import DYNAMIC, Fusion, FusionPattern, RelayOp, integer, shape_of, string, tensor
from ...blocking import PLAIN, Blocks
from ...layout import Layout, LayoutTransformOp, parse_layout, transform_array
from ...nn_common import accumulator, narrow, widened

if TYPE_CHECKING:
    from ...base import NDArray
    from ...gradient import Gradient, Term, Terms

BYTES = IntegerType(8, Signedness.UNSIGNED)


@irdl_op_definition
class DenseFewBitsOp(RelayOp):
    """A fully connected layer of weights of 1, 2, 4 or 8 bits, of which each block along the sum has a scale and a zero
    point; in a product of few rows, reading the weights is what takes the time.

    The weight is `[N / x, K * bits / 8, x]` bytes in layout `NK[x]n`, the lowest bits of a byte first along K; `units`
    is the true N, where the last block is not full. Scales, and zero points if each block has its own, are
    `[N / x, blocks, x]`. Numbers and sums are formed in f32, or in f64 where scale or data are.

    `y[.., m, n] = sum_k data[.., m, k] * (bits(weight)[n, k] - zero_point[n, k // b]) * scale[n, k // b]`

    ```mlir
    %z = relay.constant dense<8.0> : tensor<f32>
    %y = relay.nn.contrib_dense_few_bits %x, %w, %s, %z {bits = 4 : i64, units = 3 : i64, weight_layout = "NK4n"}
       : (tensor<2x8xf32>, tensor<1x4x4xui8>, tensor<1x2x4xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.nn.contrib_dense_few_bits"

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero_point = operand_def(TensorType)
    result = result_def(TensorType)
    units = prop_def(IntegerAttr.constr(i64))
    bits = integer(4)
    weight_layout = string("NK1n")

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def layout(self) -> Layout:
        """
        Raises:
            VerifyException: the weight's layout is not `NK[x]n`.
        """
        layout = parse_layout(self.weight_layout.data)
        if layout.names != ("N", "K", "n"):
            raise VerifyException(f"weight_layout {layout.text} is not NK with a block of n")
        return layout

    def infer(self) -> Sequence[Attribute]:
        data, weight, scale, zero = (tensor(operand) for operand in self.operands)
        layout, bits, units = self.layout(), self.bits.value.data, self.units.value.data
        layout.check(weight.get_shape(), "the weight")
        layout.check(scale.get_shape(), "the scale")
        shape, (blocks, size, block), count = data.get_shape(), weight.get_shape(), scale.get_shape()[1]
        if bits not in (1, 2, 4, 8):
            raise VerifyException(f"'bits' is {bits}, and not 1, 2, 4 or 8")
        if weight.element_type != BYTES or not isinstance(scale.element_type, AnyFloat):
            raise VerifyException(f"expected a weight of ui8, and a scale of floats, got {weight} and {scale}")
        if zero.element_type != scale.element_type:
            raise VerifyException(f"expected a zero point of the scale's type, got {zero} and {scale}")
        if not isinstance(data.element_type, AnyFloat) or len(shape) < 2:
            raise VerifyException(f"expected data of floats and of rank 2 or more, got {data}")
        if DYNAMIC in (*weight.get_shape(), *scale.get_shape()) or not count or size % count:
            raise VerifyException(f"{size} bytes for each column are not {count} blocks")
        if blocks != -(-units // block) or scale.get_shape()[0] != blocks:
            raise VerifyException(f"'units' is {units}, which are not {blocks} blocks of {block}, as the weight has")
        if zero.get_shape() and zero.get_shape() != scale.get_shape():
            raise VerifyException(f"expected one zero point, or as many as scales, got {list(zero.get_shape())}")
        if shape[-1] not in (DYNAMIC, size * 8 // bits):
            raise VerifyException(f"the data has {shape[-1]} elements to sum over, the weight has {size * 8 // bits}")
        return [TensorType(data.element_type, [*shape[:-1], units])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        data, weight, scale, zero = inputs
        result, bits = tensor(self.result), self.bits.value.data
        sum_type, parts = accumulator(result.element_type), 8 // bits
        of_numbers = accumulator(tensor(self.scale).element_type)
        _, size, block = weight.shape
        blocks = scale.shape[1]
        k, byte = te.reduce_axis(blocks, "k"), te.reduce_axis(size // blocks, "kk")

        def body(*i: te.IterVar) -> te.Expr:
            *row, j = i
            at, column = k * (size // blocks) + byte, (j // block, j % block)
            of_block = (column[0], k, column[1])
            codes = te.cast(weight[column[0], at, column[1]], i32)
            factor = te.cast(scale[of_block], of_numbers)
            middle = te.cast(zero[of_block if zero.rank else ()], of_numbers)

            def term(part: int) -> te.Expr:
                code = te.cast((codes >> (part * bits)) & (2**bits - 1), of_numbers)
                number = te.cast(code * factor - middle * factor, sum_type)
                return te.cast(data[(*row, at * parts + part)], sum_type) * number

            total = term(0)
            for part in range(1, parts):
                total = total + term(part)
            return te.sum(total, [k, byte])

        product = te.compute((*data.shape[:-1], self.units.value.data), body, "dense_few_bits")
        return narrow(product, result.element_type)

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        data, weight, scale, zero = inputs
        result, bits = tensor(self.result), self.bits.value.data
        plain = parse_layout("KN")
        weight, scale, *rest = (transform_array(x, self.layout(), plain) for x in (weight, scale, zero) if x.ndim)
        dtype = numpy_dtype(accumulator(tensor(self.scale).element_type))
        factor, middle = (x.astype(dtype) for x in (scale[:, None], rest[0][:, None] if rest else zero))
        bytes = weight.astype(np.uint8)
        codes = np.stack([bytes >> part & 2**bits - 1 for part in range(0, 8, bits)], 1).astype(dtype)
        numbers = np.multiply(np.subtract(codes.reshape(len(scale), -1, codes.shape[-1]), middle), factor)
        matrix = numbers.reshape(-1, numbers.shape[-1])[:, : self.units.value.data]
        product = np.matmul(widened(data, result.element_type), matrix)
        return product.astype(numpy_dtype(result.element_type), copy=False)

    def pack(self, blocks: Blocks) -> bool:
        """The same with columns in blocks of a vector."""
        if self.layout().block("N") == blocks.lanes:
            return False
        if 4 * self.units.value.data < blocks.lanes:
            blocks.missed(self, f"{self.units.value.data} columns do not fill vectors of {blocks.lanes}")
            return False
        layout = f"NK{blocks.lanes}n"

        def packed(value: SSAValue) -> SSAValue:
            if not shape_of(value):
                return value
            return blocks.insert(LayoutTransformOp(value, src_layout=self.weight_layout, dst_layout=layout), self)

        factors = map(packed, (self.weight, self.scale, self.zero_point))
        new = DenseFewBitsOp(
            blocks.get(self.data, PLAIN, self), *factors, units=self.units, bits=self.bits, weight_layout=layout
        )
        blocks.replace_plain(self, blocks.insert(new, self))
        return True

    def gradient(self, g: Gradient) -> Terms:
        data, weight, scale, zero = g.inputs
        bits, layout = self.bits.value.data, self.weight_layout.data
        weight, scale = weight.relaid(layout, "KN"), scale.relaid(layout, "KN")
        (size, columns), blocks = weight.shape, scale.shape[0]

        def numbers(shift: int) -> Term:
            code = weight.op("right_shift", shift).op("bitwise_and", 2**bits - 1)
            return code.cast(scale.type.element_type).reshape([size, 1, columns])

        first, *others = map(numbers, range(0, 8, bits))
        codes = first.concatenated(others, 1).reshape([blocks, -1, columns])
        middle = zero.relaid(layout, "KN").reshape([blocks, 1, columns]) if zero.shape else zero
        floats = ((codes - middle) * scale.reshape([blocks, 1, columns])).reshape([-1, columns])
        matrix = floats.slice_along(1, 0, self.units.value.data).cast(data.type.element_type)
        return g.through(data.op("nn.matmul", matrix))


OPS: list[type[Operation]] = [DenseFewBitsOp]
"""The product with weights of few bits."""

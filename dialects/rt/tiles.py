"""The tile registers of a processor with a matrix unit: x86's AMX.

There are eight of them, by number. A tile has up to 16 rows of up to 64 bytes; `rt.tile_config` says how many rows each
has, and of how many bytes, and `rt.tile_release` gives them back. They are state of the thread, as its other registers
are, and no values.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, StringAttr, i8, i64
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..support.dtypes import byte_width
from ..support.shaped import is_memref

TILES, ROWS, ROW_BYTES = 8, 16, 64
"""How many tiles there are, how many rows one has at most, and how many bytes a row has."""

CONFIG_BYTES = 64


class TileProduct(StrEnum):
    """What is multiplied: pairs of bf16, summed in f32, or four bytes on each side, with a sign or without one, summed
    in 32 bits, which wrap."""

    BF16 = "bf16"
    S8S8 = "s8s8"
    S8U8 = "s8u8"
    U8S8 = "u8s8"
    U8U8 = "u8u8"


def config_of(sizes: list[tuple[int, int]]) -> list[int]:
    """What `rt.tile_config` is given in memory, for tiles of so many rows of so many bytes: the palette, bytes of a row
    for each tile, rows of each."""
    widths = [byte for _, width in sizes for byte in (width, 0)]
    config = [1, *[0] * 15, *widths, *[0] * (2 * (16 - len(sizes))), *(rows for rows, _ in sizes)]
    return config + [0] * (CONFIG_BYTES - len(config))


def _number(name: str, attribute: IntegerAttr, low: int, high: int) -> int:
    number = attribute.value.data
    if not low <= number <= high:
        raise VerifyException(f"{name} is {number}, and can be {low} to {high}")
    return number


@irdl_op_definition
class TileConfigOp(IRDLOperation):
    """Take the tiles, with the numbers of rows that stand in memory (`config_of`).

    ```mlir
    rt.tile_config %c : memref<64xi8>
    ```
    """

    name = "rt.tile_config"
    config = operand_def(MemRefType)
    assembly_format = "$config attr-dict `:` type($config)"

    def __init__(self, config: SSAValue):
        super().__init__(operands=[config])

    def verify_(self) -> None:
        if self.config.type != MemRefType(i8, [CONFIG_BYTES]):
            raise VerifyException(f"a configuration is {MemRefType(i8, [CONFIG_BYTES])}")


@irdl_op_definition
class TileReleaseOp(IRDLOperation):
    """Give the tiles back: until they are taken again there are none.

    ```mlir
    rt.tile_release
    ```
    """

    name = "rt.tile_release"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class TileZeroOp(IRDLOperation):
    """Fill a tile with zeros.

    ```mlir
    rt.tile_zero 0
    ```
    """

    name = "rt.tile_zero"
    tile = prop_def(IntegerAttr.constr(i64))
    assembly_format = "$tile attr-dict"

    def __init__(self, tile: int):
        super().__init__(properties={"tile": IntegerAttr(tile, i64)})

    def verify_(self) -> None:
        _number("a tile", self.tile, 0, TILES - 1)


class _Access(IRDLOperation):
    """A tile and memory: row `r` begins `r * stride` elements after `memory[start]`, and has 64 bytes, or `bytes`."""

    tile = prop_def(IntegerAttr.constr(i64))
    rows = prop_def(IntegerAttr.constr(i64))
    stride = prop_def(IntegerAttr.constr(i64))
    bytes = opt_prop_def(IntegerAttr.constr(i64))
    memory = operand_def(MemRefType)
    start = operand_def(IndexType)
    assembly_format = (
        "$tile `,` $memory `[` $start `]` `rows` $rows `stride` $stride (`bytes` $bytes^)? attr-dict `:` type($memory)"
    )

    def __init__(
        self, tile: int, memory: SSAValue, start: SSAValue, rows: int, stride: int, row_bytes: int = ROW_BYTES
    ):
        numbers = {"tile": tile, "rows": rows, "stride": stride}
        if row_bytes != ROW_BYTES:
            numbers["bytes"] = row_bytes
        super().__init__(
            operands=[memory, start], properties={name: IntegerAttr(n, i64) for name, n in numbers.items()}
        )

    @property
    def element_bytes(self) -> int:
        """Bytes of an element of the memory."""
        assert is_memref(self.memory.type)
        return byte_width(self.memory.type.element_type)

    @property
    def row_elements(self) -> int:
        """Elements of a row."""
        return (ROW_BYTES if self.bytes is None else self.bytes.value.data) // self.element_bytes

    @property
    def reach(self) -> int:
        """Elements from the first that is touched to after the last."""
        return (self.rows.value.data - 1) * self.stride.value.data + self.row_elements

    def verify_(self) -> None:
        _number("a tile", self.tile, 0, TILES - 1)
        _number("the number of rows", self.rows, 1, ROWS)
        assert is_memref(self.memory.type)
        if len(self.memory.type.get_shape()) != 1:
            raise VerifyException("memory of one dimension is read and written")
        if self.bytes is not None:
            width = _number("the bytes of a row", self.bytes, 4, ROW_BYTES)
            if width % 4:
                raise VerifyException(f"a row of {width} bytes is of no whole numbers of 32 bits")
        _number("the stride", self.stride, 1, 2**31 - 1)


@irdl_op_definition
class TileLoadOp(_Access):
    """Read a tile, whose rows lie `stride` elements apart: they may overlap.

    ```mlir
    rt.tile_load 4, %a[%i] rows 16 stride 256 : memref<4096xi8>
    ```
    """

    name = "rt.tile_load"


@irdl_op_definition
class TileStoreOp(_Access):
    """Write a tile, whose rows lie `stride` elements apart.

    ```mlir
    rt.tile_store 0, %c[%i] rows 16 stride 32 : memref<512xi32>
    ```
    """

    name = "rt.tile_store"

    def verify_(self) -> None:
        super().verify_()
        if self.stride.value.data < self.row_elements:
            width = self.row_elements * self.element_bytes
            raise VerifyException(f"rows of {width} bytes lie {self.stride.value.data} elements apart")


@irdl_op_definition
class TileDotOp(IRDLOperation):
    """Add the product of two tiles to a third: `acc[i, j] += sum_k lhs[i, k] * rhs[k // p, j, k % p]`, where `p`
    elements fill 32 bits.

    Bytes are summed exactly, up to multiples of 2^32. Of bf16 the sums are in f32, rounded to nearest after each
    product; numbers too small for a normal f32 or bf16 count as 0.

    ```mlir
    rt.tile_dot "s8s8" 0, 4, 6
    ```
    """

    name = "rt.tile_dot"
    product = prop_def(StringAttr)
    acc = prop_def(IntegerAttr.constr(i64))
    lhs = prop_def(IntegerAttr.constr(i64))
    rhs = prop_def(IntegerAttr.constr(i64))
    assembly_format = "$product $acc `,` $lhs `,` $rhs attr-dict"

    def __init__(self, product: TileProduct, acc: int, lhs: int, rhs: int):
        numbers = {"acc": acc, "lhs": lhs, "rhs": rhs}
        super().__init__(
            properties={
                "product": StringAttr(product.value),
                **{name: IntegerAttr(n, i64) for name, n in numbers.items()},
            }
        )

    def verify_(self) -> None:
        if self.product.data not in tuple(TileProduct):
            raise VerifyException(f'there is no "{self.product.data}"; known: {", ".join(TileProduct)}')
        if len({_number("a tile", tile, 0, TILES - 1) for tile in (self.acc, self.lhs, self.rhs)}) < 3:
            raise VerifyException("the three tiles are different ones")


TILE_OPS: list[type[IRDLOperation]] = [TileConfigOp, TileReleaseOp, TileZeroOp, TileLoadOp, TileStoreOp, TileDotOp]

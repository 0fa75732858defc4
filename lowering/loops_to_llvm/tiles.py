"""Rules for the tile registers of rt: each operation is one instruction, by LLVM's intrinsic of x86's AMX.

    rt.tile_load 4, %a[%i] rows 16 stride 256 : memref<4096xi8>

->  %p = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.call_intrinsic "llvm.x86.tileloadd64"(%c4, %p, %c256) : (i8, !llvm.ptr, i64) -> ()
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, i8
from xdsl.ir import SSAValue

from ...dialects.rt.tiles import (
    TileConfigOp,
    TileDotOp,
    TileLoadOp,
    TileProduct,
    TileReleaseOp,
    TileStoreOp,
    TileZeroOp,
)
from .function import FunctionLowering, Rules
from .memref import address

RULES = Rules()

_DOTS = {
    TileProduct.BF16: "llvm.x86.tdpbf16ps",
    TileProduct.S8S8: "llvm.x86.tdpbssd",
    TileProduct.S8U8: "llvm.x86.tdpbsud",
    TileProduct.U8S8: "llvm.x86.tdpbusd",
    TileProduct.U8U8: "llvm.x86.tdpbuud",
}
"""LLVM's names of the products."""


def _call(lowering: FunctionLowering, name: str, *operands: SSAValue) -> None:
    lowering.add_op(llvm.CallIntrinsicOp(name, operands, []))


def _tile(lowering: FunctionLowering, number: IntegerAttr) -> SSAValue:
    return lowering.integer(number.value.data, i8)


@RULES.rule(TileConfigOp)
def config_rule(lowering: FunctionLowering, op: TileConfigOp) -> None:
    _call(lowering, "llvm.x86.ldtilecfg", lowering.get(op.config))


@RULES.rule(TileReleaseOp)
def release_rule(lowering: FunctionLowering, op: TileReleaseOp) -> None:
    _call(lowering, "llvm.x86.tilerelease")


@RULES.rule(TileZeroOp)
def zero_rule(lowering: FunctionLowering, op: TileZeroOp) -> None:
    _call(lowering, "llvm.x86.tilezero", _tile(lowering, op.tile))


@RULES.rule(TileLoadOp, TileStoreOp)
def access_rule(lowering: FunctionLowering, op: TileLoadOp | TileStoreOp) -> None:
    name = "llvm.x86.tileloadd64" if isinstance(op, TileLoadOp) else "llvm.x86.tilestored64"
    pointer = address(lowering, op.memory, [op.start])
    stride = lowering.integer(op.stride.value.data * op.element_bytes)
    _call(lowering, name, _tile(lowering, op.tile), pointer, stride)


@RULES.rule(TileDotOp)
def dot_rule(lowering: FunctionLowering, op: TileDotOp) -> None:
    tiles = (_tile(lowering, number) for number in (op.acc, op.lhs, op.rhs))
    _call(lowering, _DOTS[TileProduct(op.product.data)], *tiles)

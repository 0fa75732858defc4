"""Rules for gpu: threads ask for their numbers, and wait for one another; the host's part is a list of launches.

    %t = gpu.thread_id x    ->    %0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
                                  %t = llvm.zext nneg %0 : i32 to i64
    gpu.barrier             ->    llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()

A function of `gpu.launch_func`s is the host's. What it launches is an attribute of its declaration, `weft.launches`:

    llvm.func @f(!llvm.ptr, !llvm.ptr) attributes {weft.launches = [
        {kernel = @f_kernel_0, grid = array<i64: 4, 1, 1>, block = array<i64: 64, 1, 1>, arguments = array<i64: 0, 1>}]}

Memory that threads share is a global in address space 3, without a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects import arith, func, gpu, llvm, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.support.walking import all_within
from ..abi import ALIGNMENT
from .function import FunctionLowering, Rules
from .types import SHARED_SPACE, LoweringError, array_type, is_shared_memory, value_type

RULES = Rules()

GPU_KERNEL, BLOCK_SIZE = "gpu.kernel", "gpu.known_block_size"
ATTRIBUTES = (GPU_KERNEL, BLOCK_SIZE)
"""What a function of loops says that a GPU is launched with."""

LAUNCHES = "weft.launches"

__all__ = ["RULES", "is_shared_memory"]


def is_kernel(source: func.FuncOp) -> bool:
    """Whether a GPU is launched with a function."""
    return GPU_KERNEL in source.attributes


def kernel_attributes(source: func.FuncOp) -> Mapping[str, Attribute]:
    """What the code generator is told of a kernel."""
    if not is_kernel(source):
        return {}
    found: dict[str, Attribute] = {"nvvm.kernel": UnitAttr()}
    if isinstance(threads := source.attributes.get(BLOCK_SIZE), DenseArrayBase):
        found["nvvm.reqntid"] = DenseArrayBase.from_list(i32, [int(n) for n in threads.iter_values()])
    return found


def launches_of(source: func.FuncOp) -> list[gpu.LaunchFuncOp]:
    """What a function of the host launches, in order."""
    return all_within(source, gpu.LaunchFuncOp)


def declared_launcher(source: func.FuncOp) -> llvm.FuncOp:
    """The declaration of a function of the host, with what it launches.

    Raises:
        LoweringError: it does something else too, or a launch depends on what is known only when it is called.
    """
    for op in source.body.block.ops:
        if not isinstance(op, gpu.LaunchFuncOp | arith.ConstantOp | func.ReturnOp):
            raise LoweringError(op, "stands in a function of the host that launches kernels, and does nothing else")
    result = llvm.FuncOp(
        source.sym_name.data,
        llvm.LLVMFunctionType([value_type(type) for type in source.function_type.inputs], llvm.LLVMVoidType()),
        linkage=llvm.LinkageAttr("external"),
    )
    result.location = source.location
    arguments: dict[SSAValue, int] = {argument: number for number, argument in enumerate(source.body.block.args)}
    result.attributes[LAUNCHES] = ArrayAttr([_launch(op, arguments) for op in launches_of(source)])
    return result


def _launch(op: gpu.LaunchFuncOp, arguments: Mapping[SSAValue, int]) -> DictionaryAttr:
    grid = [_known(op, size) for size in (op.gridSizeX, op.gridSizeY, op.gridSizeZ)]
    block = [_known(op, size) for size in (op.blockSizeX, op.blockSizeY, op.blockSizeZ)]
    given = [arguments.get(value) for value in op.kernelOperands]
    if None in given:
        raise LoweringError(op, "is given what is no argument of the function around it")
    return DictionaryAttr(
        {
            "kernel": SymbolRefAttr(op.kernel.root_reference.data),
            "grid": DenseArrayBase.from_list(i64, grid),
            "block": DenseArrayBase.from_list(i64, block),
            "arguments": DenseArrayBase.from_list(i64, cast("list[int]", given)),
        }
    )


def _known(op: gpu.LaunchFuncOp, size: SSAValue) -> int:
    owner = size.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
        raise LoweringError(op, "has a size that is not known")
    return owner.value.value.data


def shared_global(source: memref.GlobalOp) -> llvm.GlobalOp:
    """Memory of a block's threads."""
    type = source.type
    stored = array_type(MemRefType(type.element_type, type.get_shape(), type.layout, NoneAttr()))
    undef = llvm.UndefOp(stored)
    body = Region(Block([undef, llvm.ReturnOp(undef.res)]))
    name = source.sym_name.data
    result = llvm.GlobalOp(stored, name, "internal", addr_space=SHARED_SPACE, alignment=ALIGNMENT, body=body)
    result.location = source.location
    return result


def _number(lowering: FunctionLowering, register: str) -> SSAValue:
    """What a special register holds, as an index."""
    call = llvm.CallIntrinsicOp(f"llvm.nvvm.read.ptx.sreg.{register}", [], [i32])
    narrow = lowering.add_op_with_result(call)
    return lowering.add(llvm.ZExtOp, (narrow,), i64, {"nonNeg": UnitAttr()})


@RULES.rule(gpu.ThreadIdOp)
def thread_id_rule(lowering: FunctionLowering, op: gpu.ThreadIdOp) -> None:
    lowering.set(op.result, _number(lowering, f"tid.{op.dimension.data.value}"))


@RULES.rule(gpu.BlockIdOp)
def block_id_rule(lowering: FunctionLowering, op: gpu.BlockIdOp) -> None:
    lowering.set(op.result, _number(lowering, f"ctaid.{op.dimension.data.value}"))


@RULES.rule(gpu.BarrierOp)
def barrier_rule(lowering: FunctionLowering, op: gpu.BarrierOp) -> None:
    all_threads = lowering.integer(0, i32)
    lowering.add_op(llvm.CallIntrinsicOp("llvm.nvvm.barrier.cta.sync.aligned.all", [all_threads], []))

"""Rules for gpu: threads ask for their numbers, and wait for one another; the host's part is a list of launches.

    %t = gpu.thread_id x    ->    %0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
                                  %t = llvm.zext nneg %0 : i32 to i64
    gpu.barrier             ->    llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()

A function of `gpu.launch_func`s is the host's. What it launches is an attribute of its declaration, `weft.launches`:

    llvm.func @f(!llvm.ptr, !llvm.ptr) attributes {weft.launches = [
        {kernel = @f_kernel_0, grid = affine_map<() -> (4, 1, 1)>, block = array<i64: 64, 1, 1>,
         arguments = array<i64: 0, 1>}]}

Its grid may be as large as the function's arguments say, by number: `affine_map<()[s0, s1, s2] -> (s2, 1, 1)>`.

Memory that threads share is a global in address space 3, without a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects import arith, func, gpu, llvm, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...dialects.support.walking import all_within
from ...dialects.tir.symbols import affine_map, constant, product
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
        LoweringError: it does something else too, or the threads of a block are known only when it is called.
    """
    sizes = _sizes(source)
    for op in source.body.block.ops:
        if not isinstance(op, gpu.LaunchFuncOp | func.ReturnOp) and not (op.results and op.results[0] in sizes):
            raise LoweringError(op, "stands in a function of the host that launches kernels, and does nothing else")
    result = llvm.FuncOp(
        source.sym_name.data,
        llvm.LLVMFunctionType([value_type(type) for type in source.function_type.inputs], llvm.LLVMVoidType()),
        linkage=llvm.LinkageAttr("external"),
    )
    result.location = source.location
    arguments: dict[SSAValue, int] = {argument: number for number, argument in enumerate(source.body.block.args)}
    result.attributes[LAUNCHES] = ArrayAttr([_launch(op, arguments, sizes) for op in launches_of(source)])
    return result


def _sizes(source: func.FuncOp) -> dict[SSAValue, AffineExpr]:
    """What a function computes of its arguments, which are symbols by their numbers. No number of blocks is below 0:
    what says so of a size is not written down."""
    sizes: dict[SSAValue, AffineExpr] = {
        argument: AffineExpr.symbol(number)
        for number, argument in enumerate(source.body.block.args)
        if isinstance(argument.type, IndexType)
    }
    for op in source.body.block.ops:
        given = [sizes.get(operand) for operand in op.operands]
        match op, given:
            case arith.ConstantOp(value=IntegerAttr() as number), _:
                sizes[op.result] = constant(number.value.data)
            case arith.AddiOp(), [AffineExpr() as a, AffineExpr() as b]:
                sizes[op.result] = a + b
            case arith.MuliOp(), [AffineExpr() as a, AffineExpr() as b]:
                sizes[op.result] = product(a, b)
            case arith.DivUIOp() | arith.FloorDivSIOp(), [AffineExpr() as a, AffineConstantExpr() as b]:
                sizes[op.result] = a // b
            case arith.RemUIOp(), [AffineExpr() as a, AffineConstantExpr() as b]:
                sizes[op.result] = a % b
            case arith.MaxSIOp(), [AffineExpr() as a, AffineConstantExpr(value=0)]:
                sizes[op.result] = a
            case _:
                pass
    return sizes


def _launch(
    op: gpu.LaunchFuncOp, arguments: Mapping[SSAValue, int], sizes: Mapping[SSAValue, AffineExpr]
) -> DictionaryAttr:
    grid = [sizes.get(size) for size in (op.gridSizeX, op.gridSizeY, op.gridSizeZ)]
    block = [sizes.get(size) for size in (op.blockSizeX, op.blockSizeY, op.blockSizeZ)]
    if None in grid or not all(isinstance(size, AffineConstantExpr) for size in block):
        raise LoweringError(op, "has a size that is not known")
    threads = [size.value for size in block if isinstance(size, AffineConstantExpr)]
    given = [arguments.get(value) for value in op.kernelOperands]
    if None in given:
        raise LoweringError(op, "is given what is no argument of the function around it")
    return DictionaryAttr(
        {
            "kernel": SymbolRefAttr(op.kernel.root_reference.data),
            "grid": AffineMapAttr(affine_map(0, [size for size in grid if size is not None])),
            "block": DenseArrayBase.from_list(i64, threads),
            "arguments": DenseArrayBase.from_list(i64, cast("list[int]", given)),
        }
    )


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


def is_in_kernel(op: Operation) -> bool:
    """Whether an operation stands in a function that a GPU is launched with."""
    function = op.parent_op()
    while function is not None and not isinstance(function, func.FuncOp):
        function = function.parent_op()
    return function is not None and is_kernel(function)


def _check_in_kernel(op: Operation) -> None:
    """
    Raises:
        LoweringError: the function is none that a GPU is launched with, and others have no threads with numbers.
    """
    if not is_in_kernel(op):
        raise LoweringError(op, f"it is for functions that a GPU is launched with, which say '{GPU_KERNEL}'")


@RULES.rule(gpu.ThreadIdOp)
def thread_id_rule(lowering: FunctionLowering, op: gpu.ThreadIdOp) -> None:
    _check_in_kernel(op)
    lowering.set(op.result, _number(lowering, f"tid.{op.dimension.data.value}"))


@RULES.rule(gpu.BlockIdOp)
def block_id_rule(lowering: FunctionLowering, op: gpu.BlockIdOp) -> None:
    _check_in_kernel(op)
    lowering.set(op.result, _number(lowering, f"ctaid.{op.dimension.data.value}"))


@RULES.rule(gpu.BarrierOp)
def barrier_rule(lowering: FunctionLowering, op: gpu.BarrierOp) -> None:
    _check_in_kernel(op)
    all_threads = lowering.integer(0, i32)
    lowering.add_op(llvm.CallIntrinsicOp("llvm.nvvm.barrier.cta.sync.aligned.all", [all_threads], []))

"""One `tir.prim_func`, compiled by itself: called with arrays of whatever sizes its symbols have.

    n = te.var("n")
    x = te.placeholder((n, 64), f32)
    y = te.compute((n, 64), lambda i, j: te.exp(x[i, j]))
    kernel = build_kernel(create_prim_func("exp", [x], [y]))
    kernel(array)       # any number of rows

The function goes through the phases that a graph's kernels go through, from `schedule` on. What its symbols are follows
from the inputs' shapes; workspaces, whose sizes depend on them, are made for each call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, SymbolRefAttr, i8, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from .dialects.rt.core import SLOT_BYTES, SlotsType
from .dialects.support.diagnostics import Diagnostic
from .dialects.support.dtypes import byte_width, numpy_dtype
from .dialects.support.hints import isa
from .dialects.tir.buffers import memref_of
from .dialects.tir.core import PrimFuncOp, blocks_under
from .dialects.tir.legality.definedness import check_results
from .dialects.tir.specialize import known_shape, sizes_of_call, symbols_of
from .dialects.tir.symbols import with_sizes
from .lowering.abi import RUN
from .lowering.check_sites import CHECKS
from .lowering.compiler import lower
from .lowering.llvm_ir.module import emit_llvm_ir
from .lowering.loops_to_c.compile import NoCompilerError, cached_c
from .lowering.loops_to_c.kernel import emit_kernel
from .lowering.loops_to_llvm.types import PTR
from .lowering.machine.codegen import compile_module
from .lowering.machine.half_floats import CONVERSIONS, calls_conversions
from .lowering.machine.target import Target
from .lowering.threads.pool import pool_object
from .lowering.tir_to_loops.convert_tir_to_loops import workspace_shapes
from .runtime.host import why_not_here
from .runtime.jit import LoadedObjects
from .runtime.memory import aligned_bytes, aligned_empty
from .transforms.infra.config import BOUNDS_CHECKS
from .transforms.infra.context import PassContext

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

WORD = 8
"""Bytes of an entry of the table of arguments: an address, or an extent."""

VOID = llvm.LLVMVoidType()


def build_kernel(
    prim_func: PrimFuncOp,
    target: Target | None = None,
    *,
    threads: int = 1,
    start: str = "tir",
    codegen_level: int | None = None,
) -> Kernel:
    """`prim_func` as machine code, made by LLVM or, for the target `c`, by the C compiler. What is for another machine
    has sources, and refuses to be called.

    `start` is the phase that it is at: `schedule`, if it is not to be scheduled any more. `threads` run each call.
    `codegen_level` is 0 to 3; the target's, unless given.

    Raises:
        Diagnostic: the function is not valid, or something in it cannot be lowered.
    """
    target = target or Target.parse("llvm -mcpu=native")
    return Kernel(prim_func, target, threads, start, target.codegen_level if codegen_level is None else codegen_level)


def lower_loops(module: ModuleOp, target: Target) -> None:
    """Lower the loops of a kernel that takes no record: its accesses were checked, or proved, before.

    Raises:
        Diagnostic: something in it cannot be lowered.
    """
    context = PassContext.current()
    with context.at_level(context.opt_level, {BOUNDS_CHECKS: False}) as inner:
        inner.stands_for_default = context.is_default
        lower(module, target, "llvm", "loops")


class Kernel:
    """A compiled `tir.prim_func`: call it with arrays for its first buffers; it gives the others.

    Calls from several threads may run at once: each has its own workspaces and counters.
    """

    def __init__(self, prim_func: PrimFuncOp, target: Target, threads: int, start: str, codegen_level: int):
        self.function = prim_func.clone()
        self.function.verify()
        self.threads = threads
        name = prim_func.sym_name.data
        module = ModuleOp([self.function.clone()])
        lower(module, target, "loops", start)
        lowered = next(f for f in module.ops if isinstance(f, func.FuncOp) and f.sym_name.data == name)
        if CHECKS in lowered.attributes:
            what = f"@{name} makes checks while it runs, of which a kernel by itself cannot tell"
            raise Diagnostic.at(prim_func, what, hint="let a graph call it, and compile that")
        self._types = list(lowered.function_type.inputs.data)
        workspaces = self._types[len(prim_func.region.block.args) : -len(("slots", "num_threads"))]
        self._workspaces = workspace_shapes(lowered, workspaces)
        self.source: Mapping[str, str]
        """What was compiled: as `ll` of LLVM's, or as `c`."""
        if target.kind == "c":
            text, self._entry = emit_kernel(list(module.ops), lowered)
            self.source = {"c": text}
        else:
            lower_loops(module, target)
            self._entry = _add_entry(module, name, self._types)
            self.source = {"ll": emit_llvm_ir(module)}
        self._code = self._compiled(target, codegen_level)
        self._checked_inputs: set[int] = set()

    def _compiled(self, target: Target, level: int) -> LoadedObjects | Diagnostic:
        """The code, loaded; or why it cannot be: it is for another machine, or there is no compiler of C. The sources
        are of use all the same."""
        if (refusal := why_not_here(target.platform())) is not None:
            return refusal
        if (text := self.source.get("c")) is None:
            return LoadedObjects([compile_module(self.source["ll"], target, level), pool_object(target)])
        try:
            objects = [cached_c(text, target.resolved(), level)]
        except NoCompilerError as error:
            return error
        if calls_conversions(objects[0], target.resolved().triple):
            objects.append(compile_module(CONVERSIONS, target))
        return LoadedObjects(objects)

    @cached_property
    def _run(self) -> Callable[[int, int], None]:
        if isinstance(self._code, Diagnostic):
            raise self._code
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(self._code.address(self._entry))

    def __call__(self, *inputs: NDArray, sizes: Mapping[str, int] | None = None) -> list[NDArray]:
        """The buffers after the first `len(inputs)`, which `inputs` fill.

        What the function's symbols are follows from the shapes of the inputs; `sizes` gives others by name.

        Raises:
            Diagnostic: an array does not fit, a symbol is not known, or elements of a result are not written.
        """
        arguments = self.function.region.block.args
        self._check_results(len(inputs))
        known = sizes_of_call(self.function, [array.shape for array in inputs], sizes or {})
        memories: list[NDArray] = []
        for number, argument in enumerate(arguments):
            if number in known:
                continue
            dtype, shape = numpy_dtype(memref_of(argument).element_type), known_shape(argument, known)
            array = aligned_empty(shape, dtype)
            if number < len(inputs):
                given = inputs[number]
                same_bits = given.dtype.kind == "u" and dtype.kind == "i" and given.itemsize == dtype.itemsize
                if given.shape != shape or not (given.dtype == dtype or same_bits):
                    what = f"%{argument.name_hint or number} is {argument.type}"
                    raise Diagnostic.at(self.function, f"{what}, not {given.dtype.name}{list(given.shape)}")
                array[...] = given.view(dtype) if same_bits else given
            memories.append(array)
        self.update(memories, known)
        return memories[len(inputs) :]

    def _check_results(self, inputs: int) -> None:
        """All elements of the buffers after the first `inputs` are written, where sizes do not decide which are."""
        if symbols_of(self.function) or inputs in self._checked_inputs:
            return
        for finding in check_results(blocks_under(self.function), self.function.region.block.args[inputs:]):
            if finding.certain:
                raise finding.diagnostic()
        self._checked_inputs.add(inputs)

    def update(self, buffers: Sequence[NDArray], sizes: Mapping[int, int]) -> None:
        """Run on arrays for all buffers, dense and at multiples of `ALIGNMENT`, which are written in place; `sizes` are
        those of all symbols, by number. Nothing is checked.

        Raises:
            NoCompilerError: the function is for C, and there is no compiler.
            PlatformError: it is for another machine.
        """
        words = [array.ctypes.data for array in buffers]
        words += [sizes[number] for number in range(len(buffers), len(self.function.region.block.args))]
        kept: list[NDArray] = []
        for type, shape in zip(self._types[len(words) :], self._workspaces, strict=False):
            assert isa(type, MemRefType)
            count = prod(max(0, with_sizes(extent, sizes).eval([], [])) for extent in shape)
            kept.append(aligned_bytes(count * byte_width(type.element_type)))
            words.append(kept[-1].ctypes.data)
        slots = self._types[-2]
        assert isinstance(slots, SlotsType)
        counters = aligned_bytes(SLOT_BYTES * slots.count.data)
        counters[...] = 0
        words += [counters.ctypes.data, self.threads]
        table = (ctypes.c_int64 * len(words))(*words)
        self._run(ctypes.addressof(table), self.threads)


def _add_entry(module: ModuleOp, name: str, types: Sequence[Attribute]) -> str:
    """Add `@name.run(table, num_threads)`, which lets threads of the pool call the kernel with the table's words; its
    name."""
    thread, builder, (table,) = _define(f"{name}.thread", [PTR], "internal")
    arguments: list[SSAValue] = []
    for number, type in enumerate(types):
        place = builder.insert(llvm.GEPOp(table, [number * WORD], i8)).result
        value = i64 if isinstance(type, IndexType) else PTR
        arguments.append(builder.insert(llvm.LoadOp(place, value)).dereferenced_value)
    builder.insert(llvm.CallOp(SymbolRefAttr(name), *arguments))
    builder.insert(llvm.ReturnOp())
    run, builder, (table, num_threads) = _define(f"{name}.run", [PTR, i64], "external")
    body = builder.insert(llvm.AddressOfOp(f"{name}.thread", PTR)).result
    builder.insert(llvm.CallOp(SymbolRefAttr(RUN), body, table, num_threads))
    builder.insert(llvm.ReturnOp())
    if not any(isinstance(f, llvm.FuncOp) and f.sym_name.data == RUN for f in module.ops):
        signature = llvm.LLVMFunctionType([PTR, PTR, i64], VOID)
        module.body.block.add_op(llvm.FuncOp(RUN, signature, linkage=llvm.LinkageAttr("external")))
    module.body.block.add_ops([thread, run])
    return run.sym_name.data


def _define(name: str, operands: Sequence[Attribute], linkage: str) -> tuple[llvm.FuncOp, Builder, list[SSAValue]]:
    block = Block(arg_types=operands)
    type = llvm.LLVMFunctionType(list(operands), VOID)
    function = llvm.FuncOp(name, type, linkage=llvm.LinkageAttr(linkage), body=Region(block))
    return function, Builder(InsertPoint.at_end(block)), list(block.args)

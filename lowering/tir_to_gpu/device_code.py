"""From the llvm dialect to the text that a GPU's driver takes: PTX, with what the host launches."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerType,
    ModuleOp,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.hints import isa
from ...transforms.infra.parts import settle
from ..abi import DeviceCode, Launch
from ..affine_sizes import sizes_of
from ..llvm_ir.module import KERNEL, emit_llvm_ir
from ..loops_to_llvm.gpu import LAUNCHES
from ..machine.codegen import compile_to_assembly
from ..machine.kernel_cache import KernelCache
from ..machine.target import Target


def is_device_code(module: ModuleOp) -> bool:
    """Whether a module of the llvm dialect holds kernels of a GPU."""
    return any(isinstance(op, llvm.FuncOp) and KERNEL in op.attributes for op in module.ops)


def is_device_text(text: str) -> bool:
    """Whether a text of LLVM IR holds kernels of a GPU."""
    return "define ptx_kernel " in text


def device_code(function: str, module: ModuleOp, gpu: Target, level: int = 3) -> DeviceCode:
    """The PTX of the kernels of a function, and its launches.

    Raises:
        Diagnostic: it is not said how they are launched, or something in them calls what a GPU has not.
        CodegenError: LLVM does not accept the module.
    """
    host = next((op for op in module.ops if isinstance(op, llvm.FuncOp) and LAUNCHES in op.attributes), None)
    if host is None:
        what = f"it is not said how the kernels of @{function} are launched"
        raise Diagnostic(what, hint="compile from the phase 'loops' or one before")
    given = host.attributes[LAUNCHES]
    assert isa(given, ArrayAttr[DictionaryAttr])
    return DeviceCode(function, ptx_of(device_text(module), gpu, level), tuple(_launch(each) for each in given))


def device_text(module: ModuleOp) -> str:
    """The LLVM IR of a module of kernels.

    Raises:
        Diagnostic: something in it calls what a GPU has not.
    """
    for op in module.walk():
        if (missing := _missing(op)) is not None:
            raise Diagnostic.at(op, f"{missing}, and there is no such function for a GPU")
    settle(module)
    return emit_llvm_ir(module)


def _missing(op: Operation) -> str | None:
    """What an operation needs that NVIDIA's GPUs do not have."""
    if isinstance(op, llvm.CallOp) and op.callee is not None:
        name = op.callee.root_reference.data
        return None if name.startswith("llvm.") else f"{name} is called"
    if op.name in _NO_INSTRUCTIONS:
        return f"{op.name.removeprefix('llvm.intr.')} of {op.results[0].type} is computed"
    return None


_NO_INSTRUCTIONS = frozenset(
    f"llvm.intr.{name}"
    for name in "acos asin atan atan2 cosh exp exp10 log log10 pow powi sinh tan tanh exp2 log2 sin cos".split()
)
"""Functions that LLVM expects of a library of C where they are not expanded before."""


def ptx_of(text: str, gpu: Target, level: int = 3) -> str:
    """The PTX of a text of LLVM IR; kept where compiled kernels are."""
    cache = KernelCache.from_environment()
    if cache is None:
        return compile_to_assembly(text, gpu, level)
    key = KernelCache.key(text, gpu, level)
    if (known := cache.get(key)) is None:
        known = compile_to_assembly(text, gpu, level).encode()
        cache.put(key, known)
    return known.decode()


def _launch(entry: DictionaryAttr) -> Launch:
    kernel = entry.data["kernel"]
    grid = entry.data["grid"]
    assert isinstance(kernel, SymbolRefAttr) and isinstance(grid, AffineMapAttr)
    block, arguments = (_numbers(entry.data[name]) for name in ("block", "arguments"))
    x, y, z = sizes_of(grid)
    return Launch(kernel.root_reference.data, (x, y, z), (block[0], block[1], block[2]), arguments)


def _numbers(value: Attribute) -> tuple[int, ...]:
    assert isa(value, DenseArrayBase[IntegerType])
    return tuple(int(number) for number in value.iter_values())

"""Run functions of the `loops` phase as machine code on NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.support.parser import parse_module
from weft.dialects.support.verifier import verify
from weft.lowering.llvm_ir.module import emit_llvm_ir
from weft.lowering.loops_to_llvm.convert_loops_to_llvm import ConvertLoopsToLLVMPass
from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.lowering.math.expand_math import ExpandMathPass
from weft.lowering.threads.pool import pool_object
from weft.runtime.jit import LoadedObjects
from weft.transforms.infra.registry import new_ir_context

NDArray: TypeAlias = npt.NDArray[np.generic]


def parse(text: str) -> ModuleOp:
    """A verified module, with Weft's dialects."""
    module = parse_module(text, new_ir_context())
    verify(module)
    return module


def lower(source: str | ModuleOp, *, expand: bool = True) -> ModuleOp:
    """The module in the llvm dialect, verified; one that is not a text is changed in place."""
    if isinstance(source, str):
        source = parse(source)
    else:
        verify(source)
    module, context = source, new_ir_context()
    if expand:
        ExpandMathPass().apply(context, module)
        verify(module)
    ConvertLoopsToLLVMPass().apply(context, module)
    verify(module)
    return module


class Native:
    """The functions of a module, compiled."""

    def __init__(
        self, source: str | ModuleOp, *, expand: bool = True, target: Target | None = None, opt_level: int = 3
    ):
        self.llvm_ir = emit_llvm_ir(lower(source, expand=expand))
        self._code = LoadedObjects([compile_module(self.llvm_ir, target or Target(), opt_level), pool_object(Target())])

    def __call__(self, name: str, *arguments: NDArray | float, result: type | None = None) -> float | int | None:
        """Call a function on arrays, which are changed in place, and on `index` and `f64` scalars."""
        types: list[type] = []
        values: list[int | float] = []
        for argument in arguments:
            is_float = isinstance(argument, float)
            types.append(
                ctypes.c_double if is_float else ctypes.c_int64 if isinstance(argument, int) else ctypes.c_void_p
            )
            values.append(argument.ctypes.data if isinstance(argument, np.ndarray) else argument)
        return ctypes.CFUNCTYPE(result, *types)(self._code.address(name))(*values)

    def address(self, name: str) -> int:
        return self._code.address(name)


def aligned(shape: Sequence[int], dtype: npt.DTypeLike) -> NDArray:
    """A zeroed array that starts at a multiple of 64 bytes."""
    wanted = np.dtype(dtype)
    size = int(np.prod(shape)) * wanted.itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(wanted).reshape(tuple(shape))


INDICES = "".join(f"  %c{number} = arith.constant {number} : index\n" for number in (0, 1, 2, 3, 4, 5, 7, 8, 16))
"""Constants that bodies begin with: `%c0` and others."""


def run(body: str, *arguments: NDArray | int, signature: str, declarations: str = "") -> None:
    """Run operations of the loops phase as the body of a function."""
    Native(f"{declarations}\nfunc.func @f({signature}) {{\n{body}\n  func.return\n}}")("f", *arguments)

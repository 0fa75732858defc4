"""The pool of threads that compiled graphs run on: `pool.mlir` beside this file, made ready for a target.

It is a module of the llvm dialect that Weft's own code generator compiles, so it needs no compiler of another language
and no library beside the system's. Its LLVM IR stands beside it, `pool.ll`, since reading the dialect takes longer than
compiling it; `python -m weft.lowering.threads.pool` writes that anew. Where the pool knows no way to put threads to
sleep, `alone.mlir` takes its place: one thread does all work. TVM's counterpart is its `ThreadPool`, written in C++.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import Builtin, IntegerAttr, ModuleOp, i64
from xdsl.parser import Parser

from ...dialects.extensions.llvm import Llvm
from ...dialects.support.diagnostics import Diagnostic, Severity
from ...dialects.support.diagnostics import emit as emit_diagnostic
from ..abi import FUTEX
from ..llvm_ir.module import emit_llvm_ir
from ..machine.codegen import compile_module
from ..machine.target import Target

FUTEX_NUMBERS = {"x86_64": 202, "aarch64": 98, "riscv64": 98}
"""Linux's number of the futex call, by the processor as a triple names it."""


def pool_module(triple: str) -> ModuleOp:
    """The pool for a target, as a module of the llvm dialect."""
    name = _file(triple)
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Llvm)
    module = Parser(context, _text(name), name).parse_module()
    for op in module.ops:
        if isinstance(op, llvm.GlobalOp) and op.sym_name.data == FUTEX:
            op.properties["value"] = IntegerAttr(FUTEX_NUMBERS[_processor(triple)], i64)
    return module


@lru_cache(maxsize=8)
def _file(triple: str) -> str:
    """The file with the pool for a target. A warning tells once where that has one thread only."""
    if _processor(triple) in FUTEX_NUMBERS and "linux" in triple:
        return "pool.mlir"
    message = f"there are no threads for the target '{triple}'; one thread is used"
    hint = f"threads are made for Linux on {', '.join(FUTEX_NUMBERS)}"
    emit_diagnostic(Diagnostic(message, hint=hint, severity=Severity.WARNING))
    return "alone.mlir"


def _processor(triple: str) -> str:
    return triple.partition("-")[0]


@lru_cache(maxsize=4)
def _text(name: str) -> str:
    return files(__package__ or __name__).joinpath(name).read_text("utf-8")


def pool_text(triple: str) -> str:
    """The LLVM IR of the pool for a target: that of `pool_module`."""
    text = _text(_file(triple).replace(".mlir", ".ll"))
    unset = f"@{FUTEX} = internal constant i64 -1"
    number = FUTEX_NUMBERS.get(_processor(triple), -1)
    return text.replace(unset, unset.replace("-1", str(number)))


def write_texts() -> None:
    """Write the LLVM IR of the modules beside this file anew."""
    for triple in ("x86_64-unknown-linux-gnu", "wasm32-unknown-unknown"):
        name, module = _file(triple), pool_module(triple)
        for op in module.ops:
            if isinstance(op, llvm.GlobalOp) and op.sym_name.data == FUTEX:
                op.properties["value"] = IntegerAttr(-1, i64)
        Path(__file__).with_name(name).with_suffix(".ll").write_text(emit_llvm_ir(module), "utf-8")


@lru_cache(maxsize=8)
def pool_object(target: Target) -> bytes:
    """The pool's object file, made once in a process for each target: for code that was not compiled as a graph."""
    resolved = target.resolved()
    return compile_module(pool_text(resolved.triple), resolved)


if __name__ == "__main__":
    write_texts()

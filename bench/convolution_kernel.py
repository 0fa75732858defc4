"""How fast machine code from the loops phase is: a direct convolution in a blocked layout, written by hand.

    python bench/convolution_kernel.py

The loops stay rolled in the IR; the small ones carry the annotation that has LLVM unroll them completely, so that the
accumulators, an `alloca` of vectors, live in registers. Printed beside each figure is its part of what the processor
reaches in multiply-adds on registers alone, measured in the same run.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.parser import Parser

from weft.lowering.llvm_ir.module import emit_llvm_ir
from weft.lowering.loops_to_llvm.convert_loops_to_llvm import ConvertLoopsToLLVMPass
from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.runtime.jit import LoadedObjects
from weft.runtime.memory import aligned_empty
from weft.tools.bench_limits import measured_limits
from weft.transforms.infra.registry import new_ir_context

LANES = Target().vector_bytes() // 4
VECTOR = f"vector<{LANES}xf32>"
UNROLL = "{loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}"


@dataclass(frozen=True)
class Convolution:
    """Channels, height and width of the output, output channels, kernel size; stride 1, input padded beforehand."""

    channels: int
    size: int
    outputs: int
    kernel: int

    @property
    def flops(self) -> int:
        return 2 * self.channels * self.size**2 * self.outputs * self.kernel**2


def convolution(shape: Convolution, pixels: int, vectors: int) -> str:
    """The loops, with `pixels` x `vectors` accumulators."""
    inputs, outputs = shape.channels // LANES, shape.outputs // (LANES * vectors)
    padded = shape.size + shape.kernel - 1
    x = f"memref<{inputs}x{padded}x{padded}x{LANES}xf32>"
    w = f"memref<{outputs}x{inputs}x{shape.kernel}x{shape.kernel}x{LANES}x{vectors * LANES}xf32>"
    y = f"memref<{shape.outputs // LANES}x{shape.size}x{shape.size}x{LANES}xf32>"
    acc = f"memref<{pixels}x{vectors}x{VECTOR}>"
    numbers = {0, 1, LANES, pixels, vectors, inputs, outputs, shape.kernel, shape.size}
    constants = "\n".join(f"  %c{number} = arith.constant {number} : index" for number in sorted(numbers))

    def tile(body: str) -> str:
        inner = f"scf.for %j = %c0 to %c{vectors} step %c1 {{\n{body}\n}} {UNROLL}"
        return f"scf.for %p = %c0 to %c{pixels} step %c1 {{\n{inner}\n}} {UNROLL}"

    return f"""
func.func @kernel(%x: {x}, %w: {w}, %y: {y}) {{
{constants}
  %zero = arith.constant dense<0.0> : {VECTOR}
  %acc = memref.alloca() : {acc}
  scf.for %o = %c0 to %c{outputs} step %c1 {{
  scf.for %h = %c0 to %c{shape.size} step %c1 {{
  scf.for %v = %c0 to %c{shape.size} step %c{pixels} {{
    {tile(f"memref.store %zero, %acc[%p, %j] : {acc}")}
    scf.for %c = %c0 to %c{inputs} step %c1 {{
    scf.for %kh = %c0 to %c{shape.kernel} step %c1 {{
    scf.for %kw = %c0 to %c{shape.kernel} step %c1 {{
    scf.for %q = %c0 to %c{LANES} step %c1 {{
      scf.for %p = %c0 to %c{pixels} step %c1 {{
        %row = arith.addi %h, %kh : index
        %left = arith.addi %v, %kw : index
        %column = arith.addi %left, %p : index
        %scalar = memref.load %x[%c, %row, %column, %q] : {x}
        %a = vector.broadcast %scalar : f32 to {VECTOR}
        scf.for %j = %c0 to %c{vectors} step %c1 {{
          %lane = arith.muli %j, %c{LANES} : index
          %b = vector.load %w[%o, %c, %kh, %kw, %q, %lane] : {w}, {VECTOR}
          %old = memref.load %acc[%p, %j] : {acc}
          %new = vector.fma %a, %b, %old : {VECTOR}
          memref.store %new, %acc[%p, %j] : {acc}
        }} {UNROLL}
      }} {UNROLL}
    }} }} }} }}
    {
        tile(f'''%result = memref.load %acc[%p, %j] : {acc}
      %first = arith.muli %o, %c{vectors} : index
      %block = arith.addi %first, %j : index
      %column = arith.addi %v, %p : index
      vector.store %result, %y[%block, %h, %column, %c0] : {y}, {VECTOR}''')
    }
  }} }} }}
  func.return
}}"""


@dataclass(frozen=True)
class Compiled:
    """A function, the code that it is in, and the milliseconds from loops to code."""

    code: LoadedObjects
    function: Callable[[int, int, int], None]
    milliseconds: float


def compiled(text: str) -> Compiled:
    context = new_ir_context()
    module = Parser(context, text).parse_module()
    start = time.perf_counter()
    ConvertLoopsToLLVMPass().apply(context, module)
    code = LoadedObjects([compile_module(emit_llvm_ir(module), Target())])
    duration = time.perf_counter() - start
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return Compiled(code, kind(code.address("kernel")), duration * 1e3)


def seconds(kernel: Compiled, arrays: list[npt.NDArray[np.float32]]) -> float:
    """The shortest of ten calls."""
    pointers = [array.ctypes.data for array in arrays]
    times: list[float] = []
    for _ in range(10):
        start = time.perf_counter()
        kernel.function(pointers[0], pointers[1], pointers[2])
        times.append(time.perf_counter() - start)
    return min(times)


def random(count: int) -> npt.NDArray[np.float32]:
    array = aligned_empty((count,), np.dtype(np.float32))
    array[...] = np.random.default_rng(0).random(count, np.float32)
    return array.astype(np.float32, copy=False)


def main() -> None:
    limit = measured_limits(1).peak
    print(f"multiply-adds on registers: {limit:.0f} GFLOP/s")
    for shape in (
        Convolution(64, 56, 64, 3),
        Convolution(128, 28, 128, 3),
        Convolution(256, 14, 256, 1),
        Convolution(512, 7, 512, 3),
    ):
        pixels, vectors = 7, 2
        kernel = compiled(convolution(shape, pixels, vectors))
        padded = shape.size + shape.kernel - 1
        arrays = [
            random(shape.channels * padded**2),
            random(shape.outputs * shape.channels * shape.kernel**2),
            random(shape.outputs * shape.size**2),
        ]
        rate = shape.flops / seconds(kernel, arrays) / 1e9
        print(f"{shape}: {rate:.0f} GFLOP/s, {rate / limit:.0%}; compiled in {kernel.milliseconds:.0f} ms")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()

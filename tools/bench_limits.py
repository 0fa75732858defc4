"""What the machine can do at most, measured: multiply-adds a second, and bytes a second from memory of any size.

The two roofs of the roofline model (Williams, Waterman and Patterson, 2009), with one roof of bandwidth for each size,
as caches make them: a kernel is given credit for the cache that its data can stand in.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from weft.dialects.support.machine_model import MachineModel
from weft.dialects.support.parser import parse_module
from weft.lowering.llvm_ir.module import emit_llvm_ir
from weft.lowering.loops_to_llvm.convert_loops_to_llvm import ConvertLoopsToLLVMPass
from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.runtime.jit import LoadedObjects
from weft.runtime.memory import aligned_empty
from weft.transforms.infra.registry import new_ir_context

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

SIZES = tuple(1 << power for power in range(14, 27, 2))
"""Bytes at which the bandwidth is measured: 16 KiB to 64 MiB."""
SECONDS = 0.005
REPETITIONS = 10
CHAINS = 12
"""Sums that do not wait for each other: as many as two units work on at once, and fewer than there are registers."""


@dataclass(frozen=True)
class Limits:
    """What all threads of a run reach together. `peak` is in 10^9 float32 operations a second, a multiply-add being
    two; `bandwidths` are in 10^9 bytes a second, read again and again from memory of each of `sizes`, in bytes."""

    peak: float
    sizes: tuple[int, ...]
    bandwidths: tuple[float, ...]

    def bandwidth(self, size: int) -> float:
        """The bandwidth of memory of `size` bytes: that of the greatest measured size that is no greater, or of the
        least one, so that it is a limit and not an average."""
        at = max((number for number, measured in enumerate(self.sizes) if measured <= size), default=0)
        return max(self.bandwidths[at:])

    def rates(self, machine: MachineModel, vector_bytes: int) -> str:
        """The rates of a machine as `-machine=` of a target says them, in cycles of the most operations."""
        cycles = self.peak / (2 * machine.fmas * (vector_bytes // 4))  # of all threads, in 10^9 a second
        sizes = {"l2-rate": machine.l2 // 2, "l3-rate": machine.l3, "memory-rate": max(self.sizes)}
        return ",".join(f"{name}={self.bandwidth(size) / cycles:.2g}" for name, size in sizes.items())

    def least_ms(self, flops: int, streams: Sequence[tuple[int, int]]) -> float:
        """The least milliseconds for so many operations and for reading `streams`: bytes, and of how large a memory."""
        moving = sum(count / self.bandwidth(size) for count, size in streams)
        return max(flops / self.peak, moving) / 1e6


@cache
def measured_limits(threads: int) -> Limits:
    """Measure the machine on so many threads; takes some two seconds, once."""
    target = Target.parse("llvm")
    lanes = target.vector_bytes() // 4
    step = CHAINS * lanes
    multiply, read = (_loaded(_chains(lanes, kind), target) for kind in ("multiply", "read"))
    peak = 2 * step / _seconds(multiply, [aligned_empty((step,), np.dtype(np.float32)) for _ in range(threads)])
    bandwidths: list[float] = []
    for size in SIZES:
        count = max(1, size // 4 // threads // step) * step
        parts = [aligned_empty((count,), np.dtype(np.float32)) for _ in range(threads)]
        bandwidths.append(4 * count / _seconds(read, parts))
    return Limits(threads * peak / 1e9, SIZES, tuple(threads * each / 1e9 for each in bandwidths))


def _seconds(kernel: Callable[[int, int, int], None], parts: Sequence[NDArray]) -> float:
    """The shortest time of going once through memory, where each thread goes again and again through its part."""
    for part in parts:
        part[...] = 1.0

    def go(part: NDArray, times: int) -> None:
        kernel(part.ctypes.data, part.size, times)

    times, spent = 1, 0.0
    while spent < SECONDS:
        spent = float("inf")
        for _ in range(3):  # one of them may have been interrupted
            start = perf_counter()
            go(parts[0], times)
            spent = min(spent, perf_counter() - start)
        times *= 2
    best = float("inf")
    with ThreadPoolExecutor(len(parts)) as pool:
        for _ in range(REPETITIONS):
            start = perf_counter()
            list(pool.map(go, parts, [times] * len(parts)))
            best = min(best, (perf_counter() - start) / times)
    return best


def _loaded(text: str, target: Target) -> Callable[[int, int, int], None]:
    """`@kernel` of a module at phase `loops`, as machine code; it lets go of Python's lock."""
    module = parse_module(text, new_ir_context(), "limits.mlir")
    ConvertLoopsToLLVMPass().apply(new_ir_context(), module)
    code = LoadedObjects([compile_module(emit_llvm_ir(module), target)])
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(code.address("kernel"))

    def call(memory: int, count: int, times: int, code: LoadedObjects = code) -> None:  # code stays with the function
        function(memory, count, times)

    return call


def _chains(lanes: int, kind: str) -> str:
    """`@kernel`: sums of the `%count` numbers in memory, or products of sums that stay in registers; `%times` of it."""
    vector, chains = f"vector<{lanes}xf32>", range(CHAINS)
    of = f": memref<?xf32>, {vector}"

    def step(n: int) -> str:
        if kind == "multiply":
            return f"%n{n} = vector.fma %b{n}, %half, %half : {vector}"
        return f"""%o{n} = arith.constant {n * lanes} : index
      %i{n} = arith.addi %i, %o{n} : index
      %v{n} = vector.load %m[%i{n}] {of}
      %n{n} = arith.addf %b{n}, %v{n} : {vector}"""

    def loop(result: str, head: str, before: str, after: str, body: str) -> str:
        starts = ", ".join(f"{after}{n} = {before}{n}" for n in chains)
        return f"{result}:{CHAINS} = scf.for {head} iter_args({starts}) -> ({', '.join([vector] * CHAINS)}) {{{body}}}"

    def yielded(name: str) -> str:
        return f"scf.yield {', '.join(f'{name}{n}' for n in chains)} : {', '.join([vector] * CHAINS)}"

    inner = loop(
        "%q",
        f"%i = %c0 to %count step %c{CHAINS * lanes}",
        "%a",
        "%b",
        "\n      ".join(["", *map(step, chains), yielded("%n"), ""]),
    )
    outer = loop("%r", "%t = %c0 to %times step %c1", "%half", "%a", f"\n    {inner}\n    {yielded('%q#')}\n  ")
    sums = [f"%s{n} = arith.addf %{f's{n - 1}' if n > 1 else 'r#0'}, %r#{n} : {vector}" for n in chains[1:]]
    constants = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, CHAINS * lanes)]
    halves = [f"%half{n} = arith.constant dense<0.5> : {vector}" for n in chains]
    lines = [*constants, f"%half = arith.constant dense<0.5> : {vector}", *halves, outer, *sums]
    lines.append(f"vector.store %s{CHAINS - 1}, %m[%c0] {of}")
    body = "\n  ".join([*lines, "func.return"])
    return f"func.func @kernel(%m: memref<?xf32>, %count: index, %times: index) {{\n  {body}\n}}"

"""Machines that this one is not: code for them is linked into programs, which emulators run.

Each function gives the outputs of a compiled model there. What it takes may not be on this machine: `missing` says.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft.dialects.support.element_types import numpy_dtype_of
from weft.lowering.abi import CompiledGraph
from weft.runtime.host import host_platform

PROGRAM = Path(__file__).with_name("run_model.c")
LINUX = "unknown-linux-gnu"


@dataclass(frozen=True)
class Machine:
    """A machine by name: its target, and what links and runs code for it."""

    name: str
    target: str
    compiler: str = "cc"
    emulator: tuple[str, ...] = ()
    """Without one, this processor is to run the code."""

    def missing(self) -> str | None:
        """What is not here of what it takes to run code for the machine."""
        if self.name.startswith("wasm"):
            if find_spec("wasmtime") is None:
                return "there is no wasmtime (PyPI)"
            return None if shutil.which("wasm-ld") else "there is no wasm-ld (Debian's lld)"
        for tool in (self.compiler, *self.emulator[:1]) if self.emulator else ():
            if shutil.which(tool) is None:
                return f"there is no {tool}"
        if not self.emulator:
            needed = weft.Target.parse(self.target).platform().missing_features(host_platform().features)
            if host_platform().architecture != "x86_64" or needed:
                return f"this processor is not {self.name}"
        return None

    def run(self, exe: weft.Executable, inputs: Sequence[Any], folder: Path) -> list[Any]:
        """The outputs of a model that was compiled for this machine."""
        if self.name.startswith("wasm"):
            return _run_wasm(exe.graph, inputs, folder)
        if not self.emulator:
            given = exe(*inputs)
            return list(given) if isinstance(given, tuple) else [given]
        library, program = folder / "libmodel.a", folder / "program"
        exe.export_library(library, cc=self.compiler)
        flags = ["-O1", "-static", "-pthread", f"-I{folder}"]
        command = [self.compiler, *flags, str(PROGRAM), str(library), "-lm", "-o", str(program)]
        subprocess.run(command, check=True, capture_output=True)
        fed = b"".join(np.ascontiguousarray(array).tobytes() for array in inputs)
        done = subprocess.run([*self.emulator, str(program)], input=fed, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return _outputs(exe.graph, done.stdout)


MACHINES = (
    Machine("x86-64-v2", f"llvm -mtriple=x86_64-{LINUX} -mcpu=x86-64-v2"),
    Machine("x86-64-v3", f"llvm -mtriple=x86_64-{LINUX} -mcpu=x86-64-v3"),
    Machine("x86-64-v4", f"llvm -mtriple=x86_64-{LINUX} -mcpu=x86-64-v4"),
    Machine("AArch64 NEON", f"llvm -mtriple=aarch64-{LINUX}", "aarch64-linux-gnu-gcc", ("qemu-aarch64",)),
    Machine(
        "AArch64 SVE",
        f"llvm -mtriple=aarch64-{LINUX} -mattr=+sve",
        "aarch64-linux-gnu-gcc",
        ("qemu-aarch64", "-cpu", "max,sve256=on"),
    ),
    Machine("RISC-V", f"llvm -mtriple=riscv64-{LINUX}", "riscv64-linux-gnu-gcc", ("qemu-riscv64",)),
    Machine(
        "RISC-V V",
        f"llvm -mtriple=riscv64-{LINUX} -mattr=+m,+a,+f,+d,+c,+v",
        "riscv64-linux-gnu-gcc",
        ("qemu-riscv64", "-cpu", "rv64,v=true,vlen=256"),
    ),
    Machine("wasm32", "llvm -mtriple=wasm32-unknown-unknown -mattr=+simd128,+bulk-memory"),
)


def _outputs(graph: CompiledGraph, data: bytes) -> list[Any]:
    found: list[Any] = []
    for spec in graph.outputs:
        piece, data = data[: spec.bytes], data[spec.bytes :]
        found.append(np.frombuffer(piece, numpy_dtype_of(spec.dtype)).reshape(spec.shape))
    return found


def _run_wasm(graph: CompiledGraph, inputs: Sequence[Any], folder: Path) -> list[Any]:
    """The entry, called as the runtime calls it: tables of addresses, each in 8 bytes; those of constants in 4."""
    wasmtime: Any = import_module("wasmtime")
    names: list[str] = []
    for number, image in enumerate(graph.objects):
        names.append(str(folder / f"{number}.o"))
        Path(names[-1]).write_bytes(image)
    made = str(folder / "model.wasm")
    exports = ["--export=weft_run", "--export=__heap_base"] + ["--export=weft_constants"] * bool(graph.constants)
    subprocess.run(["wasm-ld", "--no-entry", *exports, *names, "-o", made], check=True)
    engine: Any = wasmtime.Engine()
    store: Any = wasmtime.Store(engine)
    instance: Any = wasmtime.Instance(store, wasmtime.Module.from_file(engine, made), [])
    exported: Any = instance.exports(store)
    memory: Any = exported["memory"]
    top: int = exported["__heap_base"].value(store)

    def take(size: int) -> int:
        nonlocal top
        place = -(-top // 64) * 64
        top = place + size
        while memory.size(store) * 65536 < top:
            memory.grow(store, 16)
        return place

    def put(data: bytes) -> int:
        place = take(len(data))
        memory.write(store, data, place)
        return place

    def table(places: Sequence[int]) -> int:
        return put(b"".join(place.to_bytes(8, "little") for place in places))

    for number, constant in enumerate(graph.constants):
        place = put(np.ascontiguousarray(constant).tobytes())
        memory.write(store, place.to_bytes(4, "little"), exported["weft_constants"].value(store) + 4 * number)
    given = table([put(np.ascontiguousarray(array).tobytes()) for array in inputs])
    results = [take(spec.bytes) for spec in graph.outputs]
    assert exported["weft_run"](store, given, table(results), take(graph.arena_bytes), 1) == 0
    data = b"".join(
        bytes(memory.read(store, place, place + spec.bytes)) for place, spec in zip(results, graph.outputs, strict=True)
    )
    return _outputs(graph, data)

"""A CUDA driver for tests, `fake_cuda.c`: the host's side is the real one, and kernels run on this processor.

What a GPU would run is PTX; what runs here is the LLVM IR that the PTX was made of, compiled for this processor, with
the numbers of threads and the barriers asked of the driver. So all is run but LLVM's generation of PTX.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from weft.dialects.support import knobs
from weft.lowering.compiler import code_units
from weft.lowering.machine.target import Target
from weft.lowering.phase_texts import PhaseTexts
from weft.lowering.tir_to_gpu.device_code import is_device_text
from weft.runtime import devices
from weft.runtime.jit import LoadedObjects

SOURCE = Path(__file__).with_name("fake_cuda.c")
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to build the driver with")

REGISTERS = [f"{kind}.{way}" for kind in ("tid", "ctaid") for way in "xyz"]


class Emulator:
    """The driver that is built, and what it is told."""

    def __init__(self, folder: Path):
        self.path = folder / "libfakecuda.so"
        flags = ["-O1", "-Wall", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, str(SOURCE), "-o", str(self.path)], check=True)
        self._library = ctypes.CDLL(str(self.path))
        self._library.fake_told.restype = ctypes.c_char_p
        self._library.fake_held.restype = ctypes.c_size_t
        self._code: list[LoadedObjects] = []

    def register(self, texts: PhaseTexts) -> None:
        """Let the kernels of a compilation run here."""
        for _, text in code_units(texts.module("llvm")):
            if is_device_text(text):
                self.register_text(text)

    def register_text(self, text: str) -> None:
        """Let the kernels of a text of LLVM IR run here."""
        kernels = re.findall(r"define ptx_kernel void @(\w+)\(([^)]*)\)", text)
        host = re.sub(r'"nvvm.reqntid"="[^"]*"', "", text.replace("ptx_kernel ", ""))
        for register in REGISTERS:
            host = host.replace(f"@llvm.nvvm.read.ptx.sreg.{register}", f"@fake_{register.replace('.', '_')}")
        host = host.replace("@llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", "@fake_barrier()")
        host = host.replace("@llvm.nvvm.barrier.cta.sync.aligned.all(i32)", "@fake_barrier()")
        names = [f"fake_{register.replace('.', '_')}" for register in REGISTERS]
        kinds = {name: [each.split()[0] for each in arguments.split(",") if each] for name, arguments in kernels}
        host += "\n".join(self._thunk(name, types) for name, types in kinds.items())
        symbols = {
            name: ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value or 0
            for name in (*names, "fake_barrier")
        }
        code = LoadedObjects([Target.parse("llvm").machine(1).object(host)], symbols)
        self._code.append(code)
        for name, types in kinds.items():
            address = ctypes.c_void_p(code.address(f"{name}_run"))
            self._library.fake_register(name.encode(), address, "".join(each[0] for each in types).encode())

    @staticmethod
    def _thunk(name: str, types: list[str]) -> str:
        lines = [f"define void @{name}_run(ptr %table) {{"]
        for number, type in enumerate(types):
            lines.append(f"  %p{number} = getelementptr ptr, ptr %table, i64 {number}")
            lines.append(f"  %a{number} = load {type}, ptr %p{number}")
        given = ", ".join(f"{type} %a{number}" for number, type in enumerate(types))
        return "\n".join([*lines, f"  call void @{name}({given})", "  ret void", "}\n"])

    def shuffle(self, backwards: bool) -> None:
        """Let threads take turns from the last to the first."""
        self._library.fake_shuffle(int(backwards))

    def told(self) -> list[str]:
        """What the driver was told since this was asked last."""
        lines = self._library.fake_told().decode().splitlines()
        self._library.fake_forget()
        return lines

    def held(self) -> int:
        """How many pieces of memory are allocated."""
        return self._library.fake_held()


@contextmanager
def emulated(folder: Path) -> Generator[Emulator]:
    """The driver of tests instead of the machine's."""
    emulator = Emulator(folder)
    with knobs.CUDA_LIBRARY.set(str(emulator.path)):
        devices.device_by_name.cache_clear()
        yield emulator
    devices.device_by_name.cache_clear()

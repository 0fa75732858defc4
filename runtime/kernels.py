"""The kernels of a program, called one at a time.

A kernel is called with the threads of the pool, as the whole graph is: the pool runs a function of one argument on each
thread, `thunk(arguments)`, which this file makes for every kernel; it loads the kernel's arguments from a table. A
kernel that takes a team is called by one thread.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

from ..lowering.abi import NUMBERS, RUN, TEAM, THREADS, Parameter
from .jit import LoadedObjects
from .linker import Linker
from .threads import pool_address


class Kernels:
    """Kernels by name, ready to be called.

    Args:
        code: the object code.
        parameters: what each kernel takes.

    Raises:
        LoadError: there is no such kernel.
    """

    def __init__(self, code: LoadedObjects, parameters: Mapping[str, Sequence[Parameter]]):
        names = list(parameters)
        self._code = code
        text = "\n".join(_thunk(number, parameters[name]) for number, name in enumerate(names))
        symbols = {f"weft_kernel_{number}": code.address(name) for number, name in enumerate(names)}
        self._linker = Linker([], symbols, [text])
        self._thunks = {name: self._linker.address(f"weft_thunk_{number}") for number, name in enumerate(names)}
        with_team = [name for name in names if any(each.kind == TEAM for each in parameters[name])]
        alone = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
        self._alone = {name: alone(self._thunks[name]) for name in with_team}
        if len(with_team) < len(names):
            self._run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(pool_address(RUN))

    def call(self, name: str, table: int, threads: int) -> None:
        """Call a kernel. `table` is the address of its arguments: addresses and numbers, 8 bytes each."""
        if (alone := self._alone.get(name)) is not None:
            alone(table, 0)
        else:
            self._run(self._thunks[name], table, threads)


def _thunk(number: int, parameters: Sequence[Parameter]) -> str:
    """LLVM IR of the function that calls kernel `number`."""
    types = ["i64" if parameter.kind in NUMBERS else "ptr" for parameter in parameters]
    lines = [
        f"declare void @weft_kernel_{number}({', '.join(types)})",
        f"define void @weft_thunk_{number}(ptr %table, i64 %thread) {{",
    ]
    for place, type in enumerate(types):
        lines.append(f"  %at{place} = getelementptr inbounds i64, ptr %table, i64 {place}")
        lines.append(f"  %a{place} = load {type}, ptr %at{place}, align 8")
        if parameters[place].kind == THREADS:  # every second thread claims the last shares first, as in an inference
            lines += [f"  %end{place} = shl i64 %thread, 63", f"  %b{place} = or i64 %a{place}, %end{place}"]
    values = ["b" if parameter.kind == THREADS else "a" for parameter in parameters]
    arguments = ", ".join(f"{type} %{values[place]}{place}" for place, type in enumerate(types))
    return "\n".join([*lines, f"  call void @weft_kernel_{number}({arguments})", "  ret void", "}"])

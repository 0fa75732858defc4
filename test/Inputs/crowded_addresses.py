"""Link code and the constants that it reads where the only free place nearer than 5 GiB has room for one of them.

Run as a program of its own, since what it does to a process stays: every hole above a mapping of 5 GiB is filled, and
one of as many pages as the argument says is made.
"""

import ctypes
import sys

from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.runtime.jit import LoadedObjects

PAGE = 4096
NONE = 2**64 - 1
"""What `mmap` gives where there are too many mappings."""
TEXT = """
@table = private unnamed_addr constant [512 x double] [{numbers}]
define double @read(i64 %place) {{
  %at = getelementptr [512 x double], ptr @table, i64 0, i64 %place
  %read = load double, ptr %at
  ret double %read
}}
"""


def main() -> None:
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

    def room(size: int, protection: int) -> int:
        private, anonymous, without_reserve = 2, 0x20, 0x4000
        return libc.mmap(None, size, protection, private | anonymous | without_reserve, -1, 0)

    text = TEXT.format(numbers=", ".join(f"double {number}.0" for number in range(512)))
    module = compile_module(text, Target())
    hole, far = room(64 * PAGE, 0), room(5 << 30, 0)
    filled = 0
    while far < room(PAGE, 1 + filled % 2 * 2) < NONE:  # of two kinds, lest they are one mapping
        filled += 1
    libc.munmap(hole, int(sys.argv[1]) * PAGE)
    code = LoadedObjects([module])
    read = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(code.address("read"))
    assert [read(0), read(511)] == [0.0, 511.0]


main()

"""Between which numbers a size lies: the runtime, the code of programs and the C source of a library find the same."""

from __future__ import annotations

import ctypes
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from native import parse
from strict_c import STRICT, needs_compiler
from xdsl.dialects import llvm
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from weft.lowering.control_to_llvm.assembly import Assembly
from weft.lowering.control_to_llvm.open_sizes import OpenGraph, Sizes
from weft.lowering.llvm_ir.module import emit_llvm_ir
from weft.lowering.loops_to_c.compile import compiler_command
from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.lowering.sizes import OPERATORS, Range, Size, SymbolExtents, evaluate, from_json, range_of, to_json
from weft.runtime.jit import LoadedObjects
from weft.runtime.library.hosted import c_size
from weft.runtime.library.open_sizes import RANGE_ARITHMETIC

RANGES: Sequence[Range] = ((3, 3), (0, 5), (2, 9), (0, 1))
"""Of each symbol: known, or what data decides."""
FALLING: Sequence[Size] = (
    ("*", ("n", 1), -2),
    ("*", ("+", ("n", 1), -3), ("+", ("n", 2), -4)),
    ("+", 10, ("*", ("*", ("n", 2), -1), ("n", 1))),
    ("//", ("*", ("n", 2), -1), 4),
    ("%", ("+", ("n", 0), -5), 4),
    ("%", ("*", ("n", 2), -3), 5),
    ("//", ("*", ("n", 2), 6), ("max", ("n", 1), 1)),
    ("//", ("+", ("n", 2), -7), ("max", 1, ("*", ("n", 1), ("n", 3)))),
    ("%", ("n", 2), ("max", ("n", 1), 1)),
)
"""Products whose extremes are not those of their factors, what is below zero, and quotients by sizes."""


def random_size(random: Random, depth: int) -> Size:
    if depth == 0 or random.random() < 0.2:
        return random.choice([("n", random.randrange(len(RANGES))), random.randint(-4, 6)])
    kind, lhs = random.choice(OPERATORS), random_size(random, depth - 1)
    if kind not in ("//", "%"):
        return kind, lhs, random_size(random, depth - 1)
    return kind, lhs, random.choice([random.randint(1, 6), ("max", 1, random_size(random, 1))])


def sizes() -> list[Size]:
    random = Random(1)
    return [*FALLING, *(random_size(random, 3) for _ in range(60))]


def values(size: Size, fixed: Sequence[int] = ()) -> set[int]:
    """All that a size may be."""
    if len(fixed) == len(RANGES):
        return {evaluate(size, fixed)}
    low, high = RANGES[len(fixed)]
    return set[int]().union(*(values(size, (*fixed, value)) for value in range(low, high + 1)))


def test_a_size_lies_where_its_range_says():
    for size in sizes():
        low, high = range_of(size, RANGES)
        assert low <= min(found := values(size)) and max(found) <= high, size


def test_the_extremes_of_a_product_that_falls_are_those_of_its_range():
    for size in (*FALLING[:5], FALLING[6]):
        found = values(size)
        assert range_of(size, RANGES) == (min(found), max(found)), size


def test_what_divides_is_above_zero():
    symbols = len(RANGES)
    for size in FALLING:
        assert from_json(json.loads(json.dumps(to_json(size))), symbols) == size
    for divisor in (0, -1, ["n", 1], ["max", 0, ["n", 1]], ["min", 1, ["n", 1]]):
        with pytest.raises(ValueError, match="is no size"):
            from_json(["//", ["n", 0], divisor], symbols)


def expected() -> list[Range]:
    return [range_of(size, RANGES) for size in sizes()]


def no_input(tensor: int, number: int) -> SSAValue:
    raise AssertionError(f"{number} of {tensor} is asked for")


def test_the_code_of_a_program_finds_the_same_ranges():
    module = parse("llvm.func @ranges(%0: !llvm.ptr, %1: !llvm.ptr) {\n  llvm.return\n}")
    (function,) = module.ops
    assert isinstance(function, llvm.FuncOp)
    given, results = function.body.block.args
    end = function.body.block.last_op
    assert end is not None
    end.detach()
    asm = Assembly(function.body)
    found = Sizes(asm, OpenGraph((), (), 0, (), SymbolExtents()), no_input, no_input)
    for number, (low, high) in enumerate(RANGES):
        most = asm.load(given, 16 * number + 8, i64)
        found.spans.append((most if low == high else asm.load(given, 16 * number, i64), most))
    for place, size in enumerate(sizes()):
        for side, value in enumerate(found.span(size)):
            asm.store(value, results, 16 * place + 8 * side)
    asm.add(end)
    code = LoadedObjects([compile_module(emit_llvm_ir(module), Target(), 0)])
    symbols, written = np.array(RANGES, np.int64), np.zeros((len(sizes()), 2), np.int64)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address("ranges"))
    run(symbols.ctypes.data, written.ctypes.data)
    assert [(low, high) for low, high in written.tolist()] == expected()


@needs_compiler
def test_the_source_of_a_library_finds_the_same_ranges(tmp_path: Path):
    symbols = ", ".join(f"{{{low}, {high}}}" for low, high in RANGES)
    lines = [f"  print({c_size(size)});" for size in sizes()]
    print_range = 'static void print(range found) { printf("%" PRId64 " %" PRId64 "\\n", found.low, found.high); }'
    source = ["#include <inttypes.h>", "#include <stdio.h>", RANGE_ARITHMETIC, print_range, "int main(void) {"]
    source += [f"  const range s[] = {{{symbols}}};", *lines, "}"]
    path, program = tmp_path / "ranges.c", tmp_path / "ranges"
    path.write_text("\n".join(source) + "\n")
    subprocess.run([*compiler_command(), "-std=c11", *STRICT, str(path), "-o", str(program)], check=True)
    out = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    assert [tuple(map(int, line.split())) for line in out.splitlines()] == expected()

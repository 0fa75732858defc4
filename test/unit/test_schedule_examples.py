"""The docstring of each primitive shows a function before and after it: applying it gives just that, and computes the
same."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tir_run import NDArray
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineExpr, AffineMap

from weft.dialects.schedule import Schedule as ScheduleDialect
from weft.dialects.schedule.core import Instruction, SequenceOp
from weft.dialects.support.dtypes import numpy_dtype
from weft.dialects.support.parser import parse_module
from weft.dialects.support.syntax import example_of
from weft.dialects.tir.analyzer.nodes import IntExpr
from weft.dialects.tir.core import PrimFuncOp, memref_of
from weft.dialects.tir.interpreter import Interpreter
from weft.tir import BlockRV, LoopRV, Schedule, TensorIntrin
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.scheduling.instructions import APPLY

FOLDER = Path(__file__).parents[2] / "transforms" / "tir" / "schedule"


def loops(schedule: Schedule, block: str) -> list[LoopRV]:
    return schedule.get_loops(schedule.get_block(block))


def block(schedule: Schedule, name: str) -> BlockRV:
    return schedule.get_block(name)


def tensorized(schedule: Schedule) -> None:
    """`add_4` adds four elements, in a loop that is unrolled."""
    written = """@T.prim_func
def add_4(x: T.Buffer[(4,), "float32"], y: T.Buffer[(4,), "float32"]):
    for j in T.unroll(4):
        with T.block("add"):
            vj = T.axis.spatial(4, j)
            T.reads(x[vj])
            z: T.float32 = x[vj]
            y[vj] = T.arith.addf(z, z, fastmath="none")
"""
    impl = function(written)
    TensorIntrin.register("add_4", impl, impl, override=True)
    schedule.tensorize(loops(schedule, "twice")[1], "add_4")


EXAMPLES: dict[str, Callable[[Schedule], object]] = {
    "add_unit_loop": lambda s: s.add_unit_loop(block(s, "copy")),
    "annotate": lambda s: s.annotate(loops(s, "copy")[0], "pragma_unroll", 4),
    "bind": lambda s: s.bind(loops(s, "copy")[0], "threadIdx.x"),
    "blockize": lambda s: s.blockize(loops(s, "twice")[1]),
    "tensorize": tensorized,
    "cache_read": lambda s: s.cache_read(block(s, "copy"), 0, "global"),
    "cache_inplace": lambda s: s.cache_inplace(block(s, "twice"), 0, "local"),
    "cache_index": lambda s: s.cache_index(block(s, "halves"), "global"),
    "cache_write": lambda s: s.cache_write(block(s, "copy"), 0, "global"),
    "compute_at": lambda s: s.compute_at(block(s, "twice"), loops(s, "square")[0]),
    "compute_outer_at": lambda s: s.compute_at(block(s, "twice_o"), loops(s, "square")[0]),
    "decompose_reduction": lambda s: s.decompose_reduction(block(s, "sum"), loops(s, "sum")[1]),
    "fuse": lambda s: s.fuse(*loops(s, "copy")),
    "inline": lambda s: s.compute_inline(block(s, "twice")),
    "reorder": lambda s: s.reorder(*reversed(loops(s, "copy"))),
    "set_kind": lambda s: s.parallel(loops(s, "copy")[0]),
    "set_scope": lambda s: s.set_scope(block(s, "twice"), 0, "shared"),
    "split": lambda s: s.split(loops(s, "copy")[1], [None, 4]),
    "decompose_padding": lambda s: s.decompose_padding(block(s, "pad"), loops(s, "pad")[0]),
    "merge": lambda s: s.merge(loops(s, "twice")[0], loops(s, "square")[0]),
    "pad_einsum": lambda s: s.pad_einsum(block(s, "squares"), [0, 1]),
    "rolling_buffer": lambda s: s.rolling_buffer(block(s, "twice"), 0),
    "storage_align": lambda s: s.storage_align(block(s, "first"), 0, 0, 4, 1),
    "set_axis_separator": lambda s: s.set_axis_separator(block(s, "first"), ("write", 0), [1]),
    "reindex": lambda s: s.reindex(block(s, "copy"), ("read", 0)),
    "reverse_compute_at": lambda s: s.reverse_compute_at(block(s, "square"), loops(s, "twice")[0]),
    "reverse_compute_inline": lambda s: s.reverse_compute_inline(block(s, "square")),
    "rfactor": lambda s: s.rfactor(loops(s, "sum")[0], 0),
    "transform_block_layout": lambda s: s.transform_block_layout(block(s, "copy"), lambda i, j: i * 4 + j),
    "transform_layout": lambda s: s.transform_layout(block(s, "first"), ("write", 0), lambda i: (i // 4, i % 4)),
    "unsafe_set_dtype": lambda s: s.unsafe_set_dtype(block(s, "first"), 0, "float16"),
}
"""What is applied to the function before."""


def texts(name: str) -> list[str]:
    documentation = import_module(f"weft.transforms.tir.schedule.{name}").__doc__
    assert documentation is not None
    return re.findall(r"```mlir\n(.*?)```", documentation, re.DOTALL)


def parsed(text: str) -> ModuleOp:
    module = parse_module(text, new_ir_context(), "example.mlir")
    module.verify()
    return module


def interpreted(module: ModuleOp, seed: int | None = None) -> list[NDArray]:
    func = module.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    generator = np.random.default_rng(0)
    type = memref_of(func.region.block.args[0])
    array = generator.integers(-4, 4, type.get_shape()).astype(numpy_dtype(type.element_type))
    return Interpreter(func)([array], seed)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_primitive_is_what_it_does(name: str) -> None:
    before, after = texts(name)
    schedule = Schedule(parsed(before), debug_mask="all")
    EXAMPLES[name](schedule)
    assert str(schedule.mod) == str(parsed(after))
    for seed in (None, 1):
        for given, wanted in zip(interpreted(schedule.mod, seed), interpreted(parsed(before)), strict=True):
            np.testing.assert_array_equal(given, wanted)


def test_every_primitive_with_a_file_of_its_own_has_an_example() -> None:
    shown = {path.stem for path in FOLDER.glob("*.py") if "Before -> after" in path.read_text()}
    assert shown == set(EXAMPLES)


INSTRUCTIONS = [op for op in ScheduleDialect.operations if issubclass(op, Instruction)]


@pytest.mark.parametrize("op", INSTRUCTIONS, ids=lambda op: op.name)
def test_the_example_of_an_instruction_is_one(op: type[Instruction]) -> None:
    """It parses and verifies after handles of the names that it uses, and prints as it is written."""
    example = example_of(op)
    assert example is not None
    made = {name for line in re.findall(r"^([%\w, ]+) = ", example, re.MULTILINE) for name in re.findall(r"%\w+", line)}
    used = [name for name in dict.fromkeys(re.findall(r"%\w+", example)) if name not in made]
    values = {"%a", "%c"} if "[%a, %c]" in example else set[str]()
    prelude = ["%anything = schedule.get_block @b"]
    for name in used:
        if name in values:
            prelude.append(f"{name} = schedule.sample_categorical {{candidates = [1], probs = [1.0]}}")
        elif name in ("%b", "%c"):
            prelude.append(f"{name} = schedule.get_block @b")
        else:
            prelude.append(f"{name} = schedule.add_unit_loop %anything")
    text = "\n".join(["schedule.sequence @s {", *prelude, example, "}"])
    sequence = parsed(text).body.block.first_op
    assert isinstance(sequence, SequenceOp)
    shown = sequence.instructions[len(prelude) :]
    assert [type(each) for each in shown] == [op] * len(example.splitlines())
    printed = [line.strip() for line in str(sequence).splitlines()[1 + len(prelude) : -1]]
    for line, wanted in zip(printed, example.splitlines(), strict=True):
        assert _normal(line) == _normal(wanted)


def _normal(line: str) -> str:
    """A line without what handles are called, and floats and maps in one form."""
    line = re.sub(r"%\w+", "%", line).replace("5.000000e-01 : f64", "0.5")
    return re.sub(r"affine_map<.*>", "map", line)


def test_every_instruction_can_be_applied() -> None:
    assert set(APPLY) == set(INSTRUCTIONS)


def halves(i: IntExpr) -> tuple[IntExpr, IntExpr]:
    return i % 2, i // 2


def test_an_index_map_may_be_a_python_function() -> None:
    before, _ = texts("transform_layout")
    by_function, by_map = Schedule(parsed(before)), Schedule(parsed(before))
    by_function.transform_layout(block(by_function, "second"), ("read", 0), halves)
    i = AffineExpr.dimension(0)
    by_map.transform_layout(block(by_map, "second"), ("read", 0), AffineMap(1, 0, (i % 2, i // 2)))
    assert str(by_function.mod) == str(by_map.mod)

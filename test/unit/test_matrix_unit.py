"""The matrix unit: products of bytes and of bf16 by tile registers, where the target has one."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from byte_layers import DTYPES, SIGNS, bytes_of, dense
from native import parse
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support import matrix_unit
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.vector_unit import VectorUnit
from weft.dialects.tir.core import PrimFuncOp
from weft.lowering import phases
from weft.lowering.machine.target import Target
from weft.lowering.tir_to_loops.convert_tir_to_loops import lower_prim_func
from weft.tir import Interpreter
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.infra.remarks import collect
from weft.transforms.tir.loop_partition import LoopPartitionPass
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import schedule_by_rules

pytestmark = pytest.mark.sampled(5)

WITH_AMX = "llvm -mcpu=sapphirerapids -mtriple=x86_64-unknown-linux-gnu"
WITH_PAIRS = "llvm -mcpu=znver4 -mtriple=x86_64-unknown-linux-gnu"
AMX = VectorUnit(64, 32, fma=True, masked=True, amx_int8=True, amx_bf16=True)
HAS_TILES = Target("llvm").vector_unit().amx_int8  # and not pairs of bf16 in lanes, which a Zen 4 has
on_tiles = pytest.mark.skipif(not HAS_TILES, reason="this processor has no tiles, or the system keeps them")


def of_bfloats(rows: int | str, depth: int, units: int) -> ModuleOp:
    """A layer of bf16 with a bias."""
    types = {name: f"tensor<{shape}xbf16>" for name, shape in (
        ("x", f"{rows}x{depth}"), ("w", f"{units}x{depth}"), ("b", f"{units}"), ("y", f"{rows}x{units}"),
    )}  # fmt: skip
    return parse(f"""relay.func @main(%x: {types["x"]}, %w: {types["w"]}, %b: {types["b"]}) -> {types["y"]} {{
  %y = relay.nn.dense %x, %w : ({types["x"]}, {types["w"]}) -> {types["y"]}
  %z = relay.add %y, %b : ({types["y"]}, {types["b"]}) -> {types["y"]}
  relay.return %z : {types["y"]}
}}""")


def bfloats(*shape: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize(("text", "matrix"), [
    (WITH_AMX, ("int8", "bf16")),
    (f"{WITH_AMX} -mattr=-amx-bf16", ("int8",)),
    (f"{WITH_AMX} -mattr=-amx-tile", ()),
    ("llvm -mcpu=icelake-server -mtriple=x86_64-unknown-linux-gnu", ()),
    ("llvm -mcpu=cooperlake -mtriple=x86_64-unknown-linux-gnu", ()),
    (WITH_PAIRS, ("bf16_pairs",)),
    ("llvm -mcpu=cortex-a76 -mtriple=aarch64-unknown-linux-gnu", ()),
])  # fmt: skip
def test_targets_say_what_their_matrix_unit_multiplies(text: str, matrix: tuple[str, ...]) -> None:
    assert Target.parse(text).vector_unit().matrix == matrix


def test_a_matrix_unit_that_there_is_not_is_refused() -> None:
    assert VectorUnit().with_matrix(("bf16",)).matrix == ("bf16",)
    with pytest.raises(ValueError, match="no matrix unit multiplies 'f64'; known: int8, bf16, bf16_pairs"):
        VectorUnit().with_matrix(("f64",))


@on_tiles
@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
def test_products_of_all_signs_are_exact_on_tiles(lhs: str, rhs: str) -> None:
    rows, units = (35, 48) if lhs != rhs else (16, 16)  # rests of rows and columns
    x, w = bytes_of(DTYPES[lhs], (rows, 60), 0), bytes_of(DTYPES[rhs], (units, 60), 1)  # and of steps
    run = weft.compile(dense(lhs, rhs, str(rows), 60, units), params={"w": w}, target="llvm", threads=1)
    assert "rt.tile_dot" in run.ir["loops"] and "arith.ext" not in run.ir["loops"]
    np.testing.assert_array_equal(np.asarray(run(x)), x.astype(np.int32) @ w.T.astype(np.int32))


@on_tiles
def test_every_number_of_rows_is_exact_on_tiles() -> None:
    w = bytes_of(DTYPES["i8"], (32, 60), 1)
    run = weft.compile(dense("ui8", "i8", "?", 60, 32), params={"w": w}, target="llvm", threads=1)
    assert "rt.tile_dot" in run.ir["loops"] and 'rt.dot "vnni"' in run.ir["loops"]  # of few rows
    for rows in (*range(36), 63, 97):
        x = bytes_of(DTYPES["ui8"], (rows, 60), 0)
        np.testing.assert_array_equal(np.asarray(run(x)), x.astype(np.int32) @ w.T.astype(np.int32))


@on_tiles
@pytest.mark.parametrize("shape", ["40", "?x?"])
def test_products_of_bf16_are_summed_in_f32_on_tiles(shape: str) -> None:
    w, b = bfloats(32, 90, seed=1), bfloats(32, seed=2)
    run = weft.compile(of_bfloats(shape, 90, 32), params={"w": w, "b": b}, target="llvm", threads=2)
    assert 'rt.tile_dot "bf16"' in run.ir["loops"]
    for rows in ((40,),) if shape == "40" else ((1, 1), (3, 3), (8, 5), (40, 1)):
        x = bfloats(*rows, 90, seed=0)
        exact = x.astype(np.float64) @ w.T.astype(np.float64) + b.astype(np.float64)
        given = np.asarray(run(x)).astype(np.float64)
        # Two roundings: of the product, of the sum.
        np.testing.assert_allclose(given, exact, rtol=2 * 2**-8, atol=4 * 2**-8)


@pytest.mark.skipif("avx512bf16" not in Target("llvm").platform().features, reason="this processor has no vdpbf16ps")
@pytest.mark.parametrize(("rows", "depth", "units"), [(13, 30, 48), (1, 64, 16)])
def test_products_of_bf16_are_summed_in_pairs(
    rows: int, depth: int, units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pairs(_: Target) -> tuple[str, ...]:
        return ("bf16_pairs",)  # as if they were worth while on this processor

    monkeypatch.setattr(phases, "_matrix", pairs)
    x, w, b = bfloats(rows, depth, seed=0), bfloats(units, depth, seed=1), bfloats(units, seed=2)
    run = weft.compile(of_bfloats(rows, depth, units), params={"w": w, "b": b}, target="llvm", threads=1)
    assert 'rt.dot "bf16"' in run.ir["loops"] and "arith.extf" not in run.ir["loops"]
    exact = x.astype(np.float64) @ w.T.astype(np.float64) + b.astype(np.float64)
    np.testing.assert_allclose(np.asarray(run(x)).astype(np.float64), exact, rtol=2 * 2**-8, atol=4 * 2**-8)


def test_a_processor_that_is_quick_with_pairs_gets_them() -> None:
    text = lowered(of_bfloats(24, 64, 32), {"w": bfloats(32, 64, seed=1)}, WITH_PAIRS).asm
    assert text.count("vdpbf16ps") >= 24  # a tile of 12 rows by two vectors


def lowered(module: ModuleOp, params: dict[str, np.ndarray], target: str = WITH_AMX) -> weft.Executable:
    return weft.compile(module, params=params, target=target, threads=1)


def test_a_processor_with_amx_gets_its_instructions() -> None:
    w = bytes_of(DTYPES["i8"], (32, 64), 1)
    text = lowered(dense("ui8", "i8", "32", 64, 32), {"w": w}).asm
    assert all(word in text for word in ("ldtilecfg", "tileloadd", "tdpbusd", "tilestored", "tilerelease"))
    text = lowered(of_bfloats(32, 64, 32), {"w": bfloats(32, 64, seed=1)}).asm
    assert "tdpbf16ps" in text


@pytest.mark.parametrize(("rows", "units"), [("15", 32), ("32", 20), ("?", 20)])
def test_products_that_do_not_fill_tiles_are_summed_in_vectors(rows: str, units: int) -> None:
    w = bytes_of(DTYPES["i8"], (units, 64), 1)
    loops = lowered(dense("ui8", "i8", rows, 64, units), {"w": w}).ir["loops"]
    assert "rt.tile" not in loops and 'rt.dot "vnni"' in loops


def product(rows: int | None, text: str = "T.cast(X[vi, vk * 4 + vkk], 'int32')", columns: int = 48) -> PrimFuncOp:
    """Bytes multiplied as `contrib_dense_pack` keeps its weights, of open rows where none are named."""
    x, c = (f'({rows or "n"}, {width}), "{dtype}"' for width, dtype in ((64, "int8"), (columns, "int32")))
    given, lines = (f"X: T.Buffer[{x}]", f"C: T.Buffer[{c}]"), ""
    if rows is None:
        given = "x: T.handle", "c: T.handle"
        lines = f"    n = T.var('int64')\n    X = T.match_buffer(x, {x})\n    C = T.match_buffer(c, {c})\n"
    found = function(f"""
@T.prim_func
def product({given[0]}, W: T.Buffer[({columns // 16}, 16, 16, 4), "int8"], {given[1]}):
{lines}    for i, j, k, kk in T.grid({rows or "n"}, {columns}, 16, 4):
        with T.block("sum"):
            vi, vj, vk, vkk = T.axis.remap("SSRR", [i, j, k, kk])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + {text} * T.cast(W[vj // 16, vk, vj % 16, vkk], "int32")
""")
    return found


def test_the_interpreter_computes_what_is_for_a_matrix_unit() -> None:
    func = product(20)
    schedule_by_rules(func, VectorRegisters(32, 64), "vnni", ("int8",))
    assert "annotations {tiles}" in str(func)
    x, w = bytes_of(DTYPES["i8"], (20, 64), 0), bytes_of(DTYPES["i8"], (3, 16, 16, 4), 1)
    plain = w.transpose(0, 2, 1, 3).reshape(48, 64)
    (given,) = Interpreter(func)([x, w])
    np.testing.assert_array_equal(given, x.astype(np.int32) @ plain.T.astype(np.int32))


@pytest.mark.parametrize(
    "text",
    [
        "T.cast(X[vi, vk * 4 + 3 - vkk], 'int32')",  # the steps run backwards
        "T.cast(X[vj, vk * 4 + vkk], 'int32')",  # both sides move with the columns
        "(T.cast(X[vi, vk * 4 + vkk], 'int32') - 1)",  # more than a product
    ],
)
def test_what_tiles_do_not_compute_is_left_to_vectors(text: str) -> None:
    func = product(48, text)
    schedule_by_rules(func, VectorRegisters(32, 64), None, ("int8",))
    assert "annotations {tiles}" not in str(func)


def test_a_nest_for_a_matrix_unit_that_the_target_has_not_runs_as_loops() -> None:
    func = product(32)
    schedule_by_rules(func, VectorRegisters(32, 64), None, ("int8",))
    x, w = bytes_of(DTYPES["i8"], (32, 64), 0), bytes_of(DTYPES["i8"], (3, 16, 16, 4), 1)
    c = np.zeros((32, 48), np.int32)
    with collect() as remarks:
        weft.build(func, target="llvm -mattr=-amx-tile,-amx-int8,-amx-bf16" if HAS_TILES else "llvm")(x, w, c)
    assert any("not computed by a matrix unit: the target has no matrix unit for s8s8" in str(each) for each in remarks)
    np.testing.assert_array_equal(c, x.astype(np.int32) @ w.transpose(0, 2, 1, 3).reshape(48, 64).T.astype(np.int32))


def test_tiles_are_taken_once_for_a_nest() -> None:
    loops = lowered(dense("ui8", "i8", "64", 64, 64), {}).ir["loops"]
    nest = loops[loops.index("dense_pack.nest_0(") : loops.index("func.return", loops.index("rt.tile_release"))]
    assert nest.count("rt.tile_config") == nest.count("rt.tile_release") == 1 and nest.count("rt.tile_zero") == 4
    assert nest.index("rt.tile_config") < nest.index("scf.for") and "rt.tile_load 0" not in nest


def test_every_rest_of_open_rows_has_tiles_which_whole_ones_take_once() -> None:
    func = product(None, columns=128)
    schedule_by_rules(func, VectorRegisters(32, 64), "vnni", ("int8",))
    LoopPartitionPass().apply_prim_func(new_ir_context(), func)
    x, w = bytes_of(DTYPES["i8"], (35, 64), 0), bytes_of(DTYPES["i8"], (8, 16, 16, 4), 1)
    plain = w.transpose(0, 2, 1, 3).reshape(128, 64)
    for rows in (0, 3, 35):
        (given,) = Interpreter(func)([x[:rows], w])
        np.testing.assert_array_equal(given, x[:rows].astype(np.int32) @ plain.T.astype(np.int32))
    with collect() as remarks:
        nest = str(lower_prim_func(func, AMX)[0])
    assert not remarks
    taken, first = nest.index("rt.tile_config"), nest.index("rt.tile_zero")
    assert "scf.for" not in nest[nest.rindex("scf.if", 0, taken) : taken]
    assert "scf.for" in nest[taken:first]  # over the tiles, inside
    assert nest.count("rt.tile_config") == nest.count("rt.tile_release") == 14


def test_sums_that_begin_with_something_else_run_as_loops() -> None:
    func = product(32, columns=32)
    schedule_by_rules(func, VectorRegisters(32, 64), None, ("int8",))
    text = str(func)
    assert "arith.constant 0 : i32" in text
    with collect() as remarks:
        lower_prim_func(only_function(text.replace("arith.constant 0 : i32", "arith.constant 1 : i32")), AMX)
    assert any("the sums begin with something other than 0" in str(each) for each in remarks)
    with collect() as remarks:
        functions = lower_prim_func(func, AMX)
    assert not remarks and "rt.tile_zero" in str(functions[0])


def only_function(text: str) -> PrimFuncOp:
    func = parse(text).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


def test_a_tile_that_reaches_over_the_end_of_memory_is_refused() -> None:
    loops = lowered(dense("ui8", "i8", "32", 64, 32), {}).ir["loops"]
    edited = loops.replace("stride 64 : memref<2048xi8>", "stride 65 : memref<2048xi8>")
    assert edited != loops
    with pytest.raises(Diagnostic, match="whose extent is 2048"):
        weft.compile(parse(edited), target=WITH_AMX, threads=1, phase="loops")


def test_a_process_that_may_not_use_tiles_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_unit, "may_use_tiles", lambda: False)
    assert matrix_unit.allowed({"avx512f", "amx-tile", "amx-int8", "amx-bf16"}) == {"avx512f"}
    monkeypatch.setattr(matrix_unit, "may_use_tiles", lambda: True)
    assert matrix_unit.allowed({"avx512f", "amx-tile"}) == {"avx512f", "amx-tile"}

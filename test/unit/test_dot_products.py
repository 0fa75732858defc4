"""Dot products of bytes: the interpreter and machine code agree with NumPy, in lanes and without, of all signs."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import numpy as np
import pytest
from tvmscript_texts import function

import weft
from weft import tir
from weft.dialects.support.vector_unit import VectorUnit
from weft.dialects.tir.core import PrimFuncOp
from weft.lowering.machine.target import Target
from weft.script import tir as T
from weft.tir import Interpreter, Schedule, TensorIntrin, assert_structural_equal, from_source
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import schedule_by_rules
from weft.transforms.tir.scheduling.recorded import recording

pytestmark = pytest.mark.sampled(3)

TARGETS = ("llvm -mcpu=native", "llvm")
SIGNS = {"u8": "uint8", "s8": "int8"}

PRODUCT = """
@T.prim_func
def product(
    X: T.Buffer[(3, 8), "{lhs}"],
    W: T.Buffer[(2, {words}, {lanes}, {word}), "{rhs}"],
    C: T.Buffer[(3, {columns}), "int32"],
):
    for i, j, k in T.grid(3, {columns}, 8):
        with T.block("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(X[vi, vk], "int32") * T.cast(
                W[vj // {lanes}, vk // {word}, vj % {lanes}, vk % {word}], "int32")
"""


def word_of(dtype: str) -> int:
    """How many numbers a row of an intrinsic has."""
    return 4 // np.dtype(dtype).itemsize


def product(lhs: str, rhs: str, lanes: int = 16) -> PrimFuncOp:
    word = word_of(rhs)
    text = PRODUCT.format(lhs=lhs, rhs=rhs, lanes=lanes, columns=2 * lanes, word=word, words=8 // word)
    found = function(text)
    return found


def assert_product(schedule: Schedule, lhs: str, rhs: str, lanes: int = 16) -> None:
    """The interpreter and machine code give the product."""
    generator = np.random.default_rng(0)
    x, w = (
        generator.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)
        for dtype, shape in ((lhs, (3, 8)), (rhs, (2 * lanes, 8)))
    )
    x[0, :4], w[0, :4] = np.iinfo(lhs).max, np.iinfo(rhs).min
    x[1, :4], w[1, :4] = np.iinfo(lhs).min, np.iinfo(rhs).min
    expected = x.astype(np.int32) @ w.astype(np.int32).T
    signed, word = np.dtype(rhs.removeprefix("u")), word_of(rhs)
    packed = np.ascontiguousarray(w.reshape(2, lanes, 8 // word, word).transpose(0, 2, 1, 3)).view(signed)
    func = schedule.mod.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    (given,) = Interpreter(func)([x.view(signed), packed])
    np.testing.assert_array_equal(given, expected)
    c = np.zeros_like(expected)
    weft.build(func.clone(), target="llvm -mcpu=native")(x.view(signed), packed, c)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("starts", ["", "_from_0"])
@pytest.mark.parametrize("right", SIGNS)
@pytest.mark.parametrize("left", SIGNS)
def test_four_products_are_one_step_in_lanes(left: str, right: str, starts: str) -> None:
    schedule = Schedule(product(SIGNS[left], SIGNS[right]), debug_mask="all")
    block = schedule.get_block("sum")
    _, j, k = schedule.get_loops(block)
    _, lanes = schedule.split(j, [None, 16])
    words, bytes = schedule.split(k, [None, 4])
    schedule.reorder(words, lanes, bytes)
    if not starts:
        schedule.decompose_reduction(block, words)
    schedule.tensorize(bytes, f"dot_{left}{right}{starts}")
    if not starts:
        schedule.vectorize(lanes)
    assert_product(schedule, SIGNS[left], SIGNS[right])


x86, arm_cpu, hexagon = tir.tensor_intrin.x86, tir.tensor_intrin.arm_cpu, tir.tensor_intrin.hexagon
NAMED = [
    (x86.VNNI_DOT_16x4_INTRIN, "uint8", "int8", 16),
    (x86.AVX512_DOT_16x4_INTRIN, "uint8", "int8", 16),
    (arm_cpu.ARM_DOT_4x4_i8_SDOT_INTRIN, "int8", "int8", 4),
    (arm_cpu.ARM_DOT_4x4_i8_NEON_INTRIN, "int8", "int8", 4),
    (hexagon.VRMPY_u8u8i32_INTRIN, "uint8", "uint8", 32),
    (hexagon.VRMPY_u8i8i32_INTRIN, "uint8", "int8", 32),
    (hexagon.VDMPY_i16i16i32_INTRIN, "int16", "int16", 32),
]


@pytest.mark.parametrize(("name", "lhs", "rhs", "lanes"), NAMED)
def test_a_row_by_columns_is_one_intrinsic(name: str, lhs: str, rhs: str, lanes: int) -> None:
    schedule = Schedule(product(lhs, rhs, lanes), debug_mask="all")
    block = schedule.get_block("sum")
    _, j, k = schedule.get_loops(block)
    _, columns = schedule.split(j, [None, lanes])
    words, bytes = schedule.split(k, [None, word_of(rhs)])
    schedule.reorder(words, columns, bytes)
    schedule.decompose_reduction(block, words)
    schedule.tensorize(columns, name)
    assert_product(schedule, lhs, rhs, lanes)


def test_descriptions_of_intrinsics_have_names_too() -> None:
    described = tir.tensor_intrin.x86.dot_product_16x4_u8i8i32_desc
    assert [each.shape for each in described.buffer_map.values()] == [(4,), (16, 4), (16,)]
    with pytest.raises(AttributeError, match="has no attribute 'dot_product_4x4_i8i8i32_desc'"):
        tir.tensor_intrin.x86.dot_product_4x4_i8i8i32_desc  # noqa: B018


def test_the_rule_for_dot_products_is_recorded() -> None:
    func, again = (product("int8", "int8").clone() for _ in range(2))
    for each in (func, again):
        schedule = Schedule.on(each)
        schedule.transform_block_layout(schedule.get_block("sum"), lambda i, j, k: (i, j, k // 4, k % 4))
    with recording(func, "schedule") as trace:
        schedule_by_rules(func, VectorRegisters(32, 64), "vnni")
    assert 'intrin = "dot_s8s8_from_0"' in str(trace.op)
    schedule = Schedule.on(again)
    trace.apply_to_schedule(schedule)
    assert str(again) == str(func)
    assert_product(Schedule(func), "int8", "int8")


@T.prim_func
def scattered(A: T.Buffer[(16,), "int8"], B: T.Buffer[(4, 16), "int8"], C: T.Buffer[(16,), "int32"]):
    for j in T.vectorized(16):
        with T.block("dot"):
            vj = T.axis.spatial(16, j)
            C[vj] = T.dot(7, [A[vj], A[0], A[3], A[2]], [B[0, vj], B[1, vj], B[2, vj], B[3, vj]], lhs_unsigned=True)


def test_bytes_that_are_no_neighbours_are_put_together() -> None:
    generator = np.random.default_rng(1)
    a, b = (generator.integers(-128, 128, shape).astype(np.int8) for shape in ((16,), (4, 16)))
    left = np.stack([a, *(np.full(16, a[n]) for n in (0, 3, 2))]).view(np.uint8).astype(np.int32)
    expected = 7 + (left * b).sum(0, dtype=np.int32)
    np.testing.assert_array_equal(Interpreter(scattered)([a, b])[0], expected)
    for target in TARGETS:
        c = np.zeros(16, np.int32)
        weft.build(scattered.clone(), target=target)(a, b, c)
        np.testing.assert_array_equal(c, expected)


@T.prim_func
def wraps(A: T.Buffer[(4,), "uint8"], C: T.Buffer[(1,), "int32"]):
    with T.block("dot"):
        C[0] = T.dot(2147483647, [A[0], A[1], A[2], A[3]], [A[0], A[1], A[2], A[3]])


def test_sums_wrap_and_bytes_of_unsigned_buffers_have_no_sign() -> None:
    a = np.array([255, 0, 1, 2], np.uint8)
    expected = np.array([2147483647 + 255 * 255 + 5], np.int64).astype(np.int32)
    np.testing.assert_array_equal(Interpreter(wraps)([a])[0], expected)
    c = np.zeros(1, np.int32)
    weft.build(wraps.clone())(a.view(np.int8), c)
    np.testing.assert_array_equal(c, expected)


def test_a_dot_product_is_printed_as_it_is_read() -> None:
    for func in (scattered, wraps):
        assert "_unsigned=True" in func.script()
        assert_structural_equal(func, from_source(func.script()))


@pytest.mark.parametrize(
    "sides", ["[A[0], A[1]], [A[0], A[1]]", "A, A", "[1.5, 1.5, 1.5, 1.5], [A[0], A[1], A[2], A[3]]"]
)
def test_a_dot_product_of_something_else_is_refused(sides: str) -> None:
    text = "@T.prim_func\ndef f(A: T.Buffer[(4,), 'int8'], C: T.Buffer[(1,), 'int32']):\n    with T.block('dot'):\n"
    with pytest.raises(weft.dialects.support.diagnostics.Diagnostic):
        from_source(f"{text}        C[0] = T.dot(0, {sides})\n")


def test_targets_say_which_dot_products_they_have() -> None:
    def unit(text: str) -> VectorUnit:
        return Target.parse(text).vector_unit()

    assert unit("llvm -mcpu=icelake-server -mtriple=x86_64-unknown-linux-gnu").dot == "vnni"
    for cpu in ("skylake-avx512", "haswell", "x86-64"):
        assert unit(f"llvm -mcpu={cpu} -mtriple=x86_64-unknown-linux-gnu").dot == "pmaddwd"
    for cpu in ("knl", "sandybridge"):  # with vectors of floats that are longer than those of integers
        assert unit(f"llvm -mcpu={cpu} -mtriple=x86_64-unknown-linux-gnu").dot is None
    assert unit("llvm -mcpu=alderlake -mtriple=x86_64-unknown-linux-gnu").dot == "vnni"
    assert unit("llvm -mcpu=cortex-a76 -mtriple=aarch64-unknown-linux-gnu").dot == "dotprod"
    assert VectorUnit().with_dot("vnni").dot == "vnni"
    with pytest.raises(ValueError, match="there are no dot products 'amx'"):
        VectorUnit().with_dot("amx")


def test_the_processors_have_the_instructions_that_intrinsics_become() -> None:
    intrin = TensorIntrin.get("dot_16x4_vnni")
    assert intrin is not None
    text = weft.build(
        intrin.impl.clone(), target="llvm -mcpu=icelake-server -mtriple=x86_64-unknown-linux-gnu"
    ).get_source("asm")
    assert "vpdpbusd" in text

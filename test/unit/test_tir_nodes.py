"""Statements and calls of blocks: read from TVMScript, printed, interpreted, and compiled through LLVM and C."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import weft
from weft import Diagnostic
from weft.dialects.support.checks import CheckError
from weft.dialects.support.parser import parse_module
from weft.dialects.support.verifier import verify
from weft.dialects.tir.core import ForOp, PrimFuncOp
from weft.dialects.tir.legality.dependence import check_independence
from weft.script import tir as T
from weft.tir import Interpreter, assert_structural_equal, from_source
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(3)

TARGETS = ("llvm", *(("c",) if shutil.which("cc") else ()))


def agree(
    func: PrimFuncOp, inputs: Sequence[np.ndarray], targets: Sequence[str] = TARGETS, outputs: int = 1
) -> list[np.ndarray]:
    """What a function gives on the interpreter, which machine code gives too; its text is read back as it was."""
    assert_structural_equal(from_source(func.script()), func)
    (again,) = parse_module(str(func), new_ir_context()).ops
    assert isinstance(again, PrimFuncOp)
    assert_structural_equal(again, func)
    wanted: list[Any] = [*Interpreter(func)(inputs)]
    for target in targets:
        given = [np.zeros_like(array) for array in wanted]
        weft.build(func, target=target, threads=2)(*inputs, *given)
        for array, expected in zip(given, wanted, strict=True):
            np.testing.assert_allclose(array, expected, rtol=1e-6)
    assert len(wanted) == outputs
    return wanted


def refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(Diagnostic) as error:
        make()
    assert message in str(error.value), str(error.value)


# while and assert


@T.prim_func
def roots(A: T.Buffer[(8,), "int32"], B: T.Buffer[(8,), "int32"]):
    for i in T.parallel(8):
        with T.block("root"):
            vi = T.axis.spatial(8, i)
            B[vi] = 0
            while B[vi] * B[vi] < A[vi]:
                before = B[vi]
                B[vi] = before + 1
            assert B[vi] < 4, "a root is 4 or more: {index}"


def test_a_loop_runs_as_long_as_its_condition_holds() -> None:
    (found,) = agree(roots, [np.arange(8, dtype=np.int32)])
    np.testing.assert_array_equal(found, np.ceil(np.sqrt(np.arange(8))).astype(int))


@T.prim_func
def swings(A: T.Buffer[(4,), "int32"], B: T.Buffer[(4,), "int32"]):
    for i in range(4):
        with T.block("swing"):
            vi = T.axis.spatial(4, i)
            B[vi] = 0
            first: T.int32 = B[vi] + A[vi]
            while B[vi] < 10:
                B[vi] = B[vi] + first


def test_what_was_read_before_a_loop_is_not_read_again_in_it() -> None:
    assert "            v4: T.int32 = B[vi]\n            while B[vi] < 10:" in swings.script()
    (found,) = agree(swings, [np.array([1, 3, 4, 20], np.int32)])
    np.testing.assert_array_equal(found, [10, 12, 12, 20])


def test_an_assertion_that_fails_tells_where_on_every_target() -> None:
    bad = np.full(8, 16, np.int32)
    with pytest.raises(CheckError, match="a root is 4 or more") as error:
        Interpreter(roots)([bad])
    place = error.value.place
    for target in TARGETS:
        with pytest.raises(CheckError, match="a root is 4 or more") as error:
            weft.build(roots, target=target, threads=2)(bad, np.zeros(8, np.int32))
        assert error.value.place == place and place is not None


def test_a_vectorized_loop_that_asserts_runs_lane_by_lane() -> None:
    @T.prim_func
    def checked(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
        for i in T.vectorized(8):
            with T.block("copy"):
                vi = T.axis.spatial(8, i)
                with T.Assert(A[vi] >= T.float32(0), "negative"):
                    B[vi] = A[vi]

    agree(checked, [np.arange(8, dtype=np.float32)])
    with pytest.raises(CheckError, match="negative"):
        weft.build(checked)(-np.ones(8, np.float32), np.zeros(8, np.float32))


# calls of C


@T.prim_func
def cosines(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i in T.parallel(8):
        with T.block("cos"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.call_pure_extern("float32", "cosf", A[vi])


@T.prim_func
def rows(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4, 8), "float32"]):
    for i in range(4):
        with T.block("row"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8])
            T.writes(B[vi, 0:8])
            T.evaluate(T.call_extern("", "memcpy", T.address_of(B[vi, 0]), T.address_of(A[vi, 0]), T.int64(32)))


def test_a_function_of_c_is_called() -> None:
    x = np.linspace(-3, 3, 8, dtype=np.float32)
    (found,) = agree(cosines, [x])
    np.testing.assert_allclose(found, np.cos(x), rtol=1e-6)


def test_a_function_of_c_goes_on_from_an_elements_address() -> None:
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    (found,) = agree(rows, [x])
    np.testing.assert_array_equal(found, x)
    assert 'T.address_of(B[vi, 0], "w"), T.address_of(A[vi, 0], "r")' in rows.script()


def test_a_pure_call_whose_result_is_not_used_is_left_out() -> None:
    @T.prim_func
    def unused(B: T.Buffer[(1,), "float32"]):
        with T.block("b"):
            T.evaluate(T.call_pure_extern("float32", "there_is_no_such_function", T.float32(1)))
            B[0] = T.float32(2)

    weft.build(unused)(out := np.zeros(1, np.float32))
    assert out[0] == 2


def test_a_missing_function_of_c_is_told_of(capfd: pytest.CaptureFixture[str]) -> None:
    @T.prim_func
    def missing(B: T.Buffer[(1,), "float32"]):
        with T.block("b"):
            B[0] = T.call_extern("float32", "there_is_no_such_function", T.float32(1))

    refused(lambda: Interpreter(missing)([]), "there is no C function 'there_is_no_such_function'")
    refused(lambda: weft.build(missing)(np.zeros(1, np.float32)), "weft.load_library")
    assert "there_is_no_such_function" in capfd.readouterr().err  # LLVM's linker names it


def test_threads_that_hand_one_buffer_to_a_call_are_not_shown_to_be_apart() -> None:
    (loop,) = [op for op in rows.walk() if isinstance(op, ForOp)]
    (finding,) = [each for each in check_independence(loop) if "%B" in each.message]
    assert not finding.certain


def test_a_call_that_reads_what_nothing_has_written_is_refused() -> None:
    refused(
        lambda: from_source(
            """
@T.prim_func
def f(B: T.Buffer[(4,), "float32"]):
    A = T.alloc_buffer((4,), "float32")
    with T.block("b"):
        T.reads(A[0:4])
        T.writes(B[0:4])
        T.evaluate(T.call_extern("", "memcpy", B, A, T.int64(16)))
""",
            check_well_formed=True,
        ),
        "reads %A before anything is written to it",
    )


@T.prim_func
def tiles(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4, 8), "float32"]):
    row = T.alloc_buffer((4, 8), "float32", scope="local")
    for i in range(4):
        for j in range(8):
            with T.block("load"):
                vi, vj = T.axis.remap("SS", [i, j])
                row[vi, vj] = A[vi, vj] * T.float32(2)
        with T.block("store"):
            vi = T.axis.spatial(4, i)
            T.reads(row[vi, 0:8])
            T.writes(B[vi, 0:8])
            T.evaluate(T.call_extern("", "memcpy", T.address_of(B[vi, 0]), T.address_of(row[vi, 0]), T.int64(32)))


def test_a_local_buffer_that_a_call_is_handed_stays_whole() -> None:
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    (found,) = agree(tiles, [x])
    np.testing.assert_array_equal(found, 2 * x)


def test_a_schedule_leaves_alone_what_a_call_is_handed_and_blocks_that_call() -> None:
    schedule = weft.tir.Schedule(tiles)
    load = schedule.get_block("load")
    for change in (
        lambda: schedule.compute_inline(load),
        lambda: schedule.transform_layout(load, ("write", 0), lambda i, j: (j, i)),
        lambda: schedule.storage_align(load, 0, axis=0, factor=16, offset=0),
        lambda: schedule.unsafe_set_dtype(load, 0, "float16"),
    ):
        refused(change, "%row is handed to a call, which takes it as it is")
    schedule = weft.tir.Schedule(counts)
    refused(lambda: schedule.cache_write(schedule.get_block("count"), 0, "global"), "calls what may do more than give")


def test_a_call_is_handed_a_copy_of_all_of_what_it_reads() -> None:
    schedule = weft.tir.Schedule(rows, debug_mask="all")
    schedule.cache_read(schedule.get_block("row"), 0, "global")
    assert "T.address_of(A_global[vi, 0]" in schedule.mod.script()
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    (found,) = agree(schedule.mod["rows"], [x])
    np.testing.assert_array_equal(found, x)


@T.prim_func
def counts(B: T.Buffer[(4,), "float32"]):
    for i in range(4):
        with T.block("count"):
            vi = T.axis.spatial(4, i)
            B[vi] = T.call_extern("float32", "cosf", T.float32(0))


def test_what_a_call_takes_is_checked_where_it_is_read() -> None:
    head = '@T.prim_func\ndef f(A: T.Buffer[(4,), "int8"]):\n    with T.block("b"):\n        '
    lines = {
        'A[0] = T.call_extern("int8", "f")': "a function gives int32, int64, float32 or float64, not int8",
        'A[0] = T.call_extern("int32", "f", A[0])': "takes int32, int64, float32, float64 and index, not int8",
        'T.evaluate(T.call_extern("int32", "f", A.access_ptr("x")))': "a buffer is read, written or both",
        'T.evaluate(T.call_packed("f", T.address_of(A[0])))': "takes whole buffers, not addresses",
        'T.evaluate(T.call_extern("int32"))': "is not given name",
        'T.evaluate(T.call_extern("int33", "f"))': "there is no dtype 'int33'",
        'T.evaluate(T.call_llvm_intrin("int32", "sqrt"))': 'an intrinsic is called "llvm. ..."',
        'T.evaluate(T.call_packed("f", 1, to=2))': "takes its arguments by position",
    }
    for line, message in lines.items():
        with pytest.raises(Diagnostic) as error:
            from_source(head + line, check_well_formed=True)
        assert message in str(error.value), str(error.value)


# LLVM's intrinsics


def test_an_intrinsic_of_llvm_is_called() -> None:
    @T.prim_func
    def intrinsics(A: T.Buffer[(8,), "float32"], N: T.Buffer[(8,), "int32"], B: T.Buffer[(8,), "float32"]):
        for i in range(8):
            with T.block("b"):
                vi = T.axis.spatial(8, i)
                ones = T.call_llvm_pure_intrin("int32", "llvm.ctpop.i32", N[vi])
                B[vi] = T.call_llvm_pure_intrin("float32", "llvm.sqrt.f32", A[vi]) + T.cast(ones, "float32")

    x, n = np.arange(8, dtype=np.float32), np.arange(8, dtype=np.int32)
    (found,) = agree(intrinsics, [x, n], ["llvm"])
    np.testing.assert_allclose(found, np.sqrt(x) + np.array([0, 1, 1, 2, 1, 2, 2, 3]), rtol=1e-6)
    refused(lambda: weft.build(intrinsics, target="c")["intrinsics"].executable, "has no counterpart in C")


# calls of Python


@pytest.fixture
def functions() -> Iterator[dict[str, list[object]]]:
    calls: dict[str, list[object]] = {"seen": []}

    @weft.register_func("test.twice")
    def twice(a: np.ndarray, b: np.ndarray) -> None:
        calls["seen"].append((a.shape, b.dtype))
        b[...] = 2 * a

    @weft.register_func("test.half")
    def half(i: int) -> float:
        if i == 3:
            raise ValueError("no half of three")
        return i / 2

    yield calls
    for name in ("test.twice", "test.half"):
        weft.remove_global_func(name)


@T.prim_func
def packed(A: T.Buffer[(4, 2), "float32"], B: T.Buffer[(4, 2), "float32"], C: T.Buffer[(3,), "float32"]):
    with T.block("all"):
        T.reads(A[0:4, 0:2])
        T.writes(B[0:4, 0:2])
        T.evaluate(T.call_packed("test.twice", A, B))
    for i in T.parallel(3):
        with T.block("half"):
            vi = T.axis.spatial(3, i)
            half = T.call_packed("test.half", vi, dtype="float32")
            C[vi] = half + B[vi, 0]


def test_a_function_of_python_is_called(functions: dict[str, list[object]]) -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    doubled, halves = agree(packed, [x], ["llvm"], 2)
    np.testing.assert_array_equal(doubled, 2 * x)
    np.testing.assert_array_equal(halves, [0, 4.5, 9])
    assert functions["seen"] == [((4, 2), np.float32)] * 2


@T.prim_func
def scaled(A: T.Buffer[(3,), "float32"], C: T.Buffer[(3,), "float32"]):
    for i in range(3):
        with T.block("scaled"):
            vi = T.axis.spatial(3, i)
            C[vi] = T.call_packed("test.scaled_by_place", A[vi], vi, dtype="float32")


def test_a_function_of_python_is_given_numbers_as_what_they_are() -> None:
    seen: list[object] = []

    def times(x: float, i: int) -> float:
        seen.extend((type(x), type(i)))
        return x * i

    weft.register_func("test.scaled_by_place", times)
    try:
        (found,) = agree(scaled, [np.array([0.5, -1.5, 2.25], np.float32)], ["llvm"], 1)
    finally:
        weft.remove_global_func("test.scaled_by_place")
    np.testing.assert_array_equal(found, [0, -1.5, 4.5])
    assert seen == [float, int] * 6


def test_an_exception_of_a_function_of_python_fails_the_run(functions: dict[str, list[object]]) -> None:
    @T.prim_func
    def fails(C: T.Buffer[(4,), "float64"]):
        for i in T.parallel(4):
            with T.block("half"):
                vi = T.axis.spatial(4, i)
                C[vi] = T.call_packed("test.half", vi, dtype="float64")

    built = weft.build(fails, threads=2)
    for run in (lambda: Interpreter(fails)([]), lambda: built(np.zeros(4))):
        with pytest.raises(CheckError, match=r"'test.half' failed: ValueError: no half of three") as error:
            run()
        assert isinstance(error.value.__cause__, ValueError) and error.value.place is not None


def test_the_function_that_is_registered_when_a_call_is_made_is_called(functions: dict[str, list[object]]) -> None:
    @T.prim_func
    def gives(C: T.Buffer[(1,), "int64"]):
        with T.block("b"):
            C[0] = T.call_packed("test.half", 1, dtype="int64")

    built = weft.build(gives)
    weft.register_func("test.half", lambda i: 7 * i, override=True)
    built(out := np.zeros(1, np.int64))
    assert out[0] == 7
    for function, what in (
        (lambda i: None, "TypeError"),
        (lambda i: 1 << 63, "OverflowError: 9223372036854775808 does not fit 64 bits"),
    ):
        weft.register_func("test.half", function, override=True)
        with pytest.raises(CheckError, match=what):
            built(out)
    weft.remove_global_func("test.half")
    with pytest.raises(CheckError, match=r"no Python function is registered as 'test.half'"):
        built(out)


def test_names_of_functions_of_python() -> None:
    @weft.register_func
    def test_a_name() -> int:
        return 1

    assert weft.get_global_func("test_a_name") is test_a_name
    assert "test_a_name" in weft.list_global_func_names()
    refused(lambda: weft.register_func("test_a_name", print), "there is a function 'test_a_name' already")
    weft.remove_global_func("test_a_name")
    assert weft.get_global_func("test_a_name", allow_missing=True) is None
    refused(lambda: weft.get_global_func("test_a_name"), "no Python function is registered as 'test_a_name'")
    refused(lambda: weft.load_library("/there/is/no/such/library.so"), "the library cannot be loaded")


# constants

KERNEL = np.array([[1, 2.5], [float("inf"), -4]], np.float32)


@T.prim_func
def constants(A: T.Buffer[(2, 2), "float32"], B: T.Buffer[(2, 2), "float32"]):
    k = T.allocate_const(KERNEL, "float32", (2, 2))
    steps = T.allocate_const([1, -2], "int8", [2])
    half = T.allocate_const([1.5, 2], "bfloat16", [2])
    for i, j in T.grid(2, 2):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = k[vi, vj] * A[vi, vj] + T.cast(steps[vj], "float32") + T.cast(half[vi], "float32")


def test_a_buffer_may_hold_a_constant() -> None:
    (found,) = agree(constants, [np.ones((2, 2), np.float32)])
    np.testing.assert_array_equal(found, KERNEL + np.array([[2.5, -0.5], [3, 0]], np.float32))


def test_a_constant_is_not_written_and_fits_its_buffer() -> None:
    head = '@T.prim_func\ndef f(A: T.Buffer[(2,), "int8"]):\n    k = T.allocate_const'
    write = '\n    with T.block("b"):\n        k[0] = A[0]'
    text = head + '([1, 2], "int8", [2])' + write
    refused(lambda: from_source(text, check_well_formed=True), "writes %k, which is a constant")
    for value, message in {
        '([1, 200, 300], "int8", [3])': "a number does not fit int8",
        '([1, 2, 3], "int8", [2])': "cannot reshape",
        '([1.5, 2], "int8", [2])': "it has fractions",
        '(A, "int8", [2])': "a constant's value is known here",
    }.items():
        refused(lambda text=value: from_source(head + text, check_well_formed=True), message)
    module = parse_module(
        'tir.prim_func @f() {\n  %k = tir.alloc_buffer "local" = dense<1> : tensor<2xi8> : memref<2xi8>\n}',
        new_ir_context(),
    )
    refused(lambda: verify(module), 'a constant is of scope "global"')


# threads, scopes and annotations


@T.prim_func
def launched(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4, 8), "float32"]):
    bx = T.env_thread("blockIdx.x")
    T.launch_thread(bx, 4)
    with T.launch_thread("threadIdx.x", 2) as tx:
        for j in range(4):
            T.attr(j, "pragma_auto_unroll_max_step", 16)
            with T.block("copy"):
                vi = T.axis.spatial(4, bx)
                vj = T.axis.spatial(8, tx * 4 + j)
                B[vi, vj] = A[vi, vj]


def test_a_launch_is_a_loop_whose_iterations_are_threads() -> None:
    text = launched.script()
    assert 'for bx in T.thread_binding(4, thread="blockIdx.x"):' in text
    assert "for j in T.serial(4, annotations={'pragma_auto_unroll_max_step': 16}):" in text
    agree(launched, [np.ones((4, 8), np.float32)], [])
    refused(lambda: weft.build(launched), "cannot be lowered for a processor, which has no such threads")


def test_an_attribute_of_a_known_key_has_the_type_that_it_needs() -> None:
    head = '@T.prim_func\ndef f(A: T.Buffer[(4,), "int8"]):\n    for i in range(4):\n        '
    refused(
        lambda: from_source(head + 'T.attr(i, "pragma_auto_unroll_max_step", "many")', check_well_formed=True),
        "the annotation 'pragma_auto_unroll_max_step' is a number that is not negative",
    )
    refused(lambda: from_source(head + 'T.attr(A, "key", 1)'), "an attribute is of a loop around")


IN_ANOTHER_MEMORY = """
@T.prim_func
def f(A: T.Buffer[(4,), "float32"], B: T.Buffer[(4,), "float32"]):
    C = T.alloc_buffer((4,), "float32", scope="shared.dyn")
    for i in range(4):
        with T.block("in"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi] + T.float32(1)
    for i in range(4):
        with T.block("out"):
            vi = T.axis.spatial(4, i)
            B[vi] = C[vi]
"""


def test_a_scope_that_the_target_has_not_is_refused_when_it_is_compiled() -> None:
    @T.prim_func
    def shared(A: T.Buffer[(4,), "float32"], B: T.Buffer[(4,), "float32"]):
        C = T.alloc_buffer((4,), "float32", scope="shared.dyn")
        for i in range(4):
            with T.block("in"):
                vi = T.axis.spatial(4, i)
                C[vi] = A[vi]
        for i in range(4):
            with T.block("out"):
                vi = T.axis.spatial(4, i)
                B[vi] = C[vi]

    agree(shared, [np.ones(4, np.float32)], [])
    refused(lambda: weft.build(shared), 'the scope is "shared.dyn", and a processor has global and local memory only')
    fragment = IN_ANOTHER_MEMORY.replace("shared.dyn", "wmma.accumulator")
    refused(
        lambda: weft.build(from_source(fragment), target="cuda"),
        'the scope is "wmma.accumulator", and code for a GPU has global, local, shared, shared.dyn memory',
    )


def test_rules_leave_a_buffer_where_it_was_put() -> None:
    func = from_source(IN_ANOTHER_MEMORY)
    refused(lambda: weft.build(func), 'the scope is "shared.dyn", and a processor has global and local memory only')
    plainly = from_source(IN_ANOTHER_MEMORY.replace(".dyn", ""))
    refused(lambda: weft.build(plainly, target="cuda"), 'memory of the scope "shared" is gone when a launch ends')


# reductions of several results


@T.prim_func
def argmax(
    idx: T.Buffer[(4, 16), "int32"],
    val: T.Buffer[(4, 16), "float32"],
    where: T.Buffer[(4,), "int32"],
    greatest: T.Buffer[(4,), "float32"],
):
    for i, k in T.grid(4, 16):
        with T.block("argmax"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                where[vi] = -1
                greatest[vi] = T.min_value("float32")
            place: T.int32 = T.Select(greatest[vi] >= val[vi, vk], where[vi], idx[vi, vk])
            number: T.float32 = T.Select(greatest[vi] >= val[vi, vk], greatest[vi], val[vi, vk])
            where[vi] = place
            greatest[vi] = number


def test_a_reduction_may_have_several_results() -> None:
    values = np.random.default_rng(0).permutation(64).astype(np.float32).reshape(4, 16)
    places = np.tile(np.arange(16, dtype=np.int32), (4, 1))
    found = agree(argmax, [places, values], outputs=2)
    np.testing.assert_array_equal(found[0], values.argmax(1))
    np.testing.assert_array_equal(found[1], values.max(1))


@pytest.mark.parametrize("factor_axis", [0, 1])
def test_a_reduction_of_several_results_is_factored(factor_axis: int) -> None:
    schedule = T.Schedule(argmax)
    _, k = schedule.get_loops(schedule.get_block("argmax"))
    _, inner = schedule.split(k, [None, 4])
    schedule.rfactor(inner, factor_axis)
    (factored,) = schedule.mod.ops
    assert isinstance(factored, PrimFuncOp)
    values = np.random.default_rng(1).permutation(64).astype(np.float32).reshape(4, 16)
    places = np.tile(np.arange(16, dtype=np.int32), (4, 1))
    found = agree(factored, [places, values], ["llvm"], outputs=2)
    np.testing.assert_array_equal(found[0], values.argmax(1))
    np.testing.assert_array_equal(found[1], values.max(1))


def test_results_that_no_comparison_of_them_chooses_are_not_factored() -> None:
    text = argmax.script()
    changed = {
        "T.Select(v10, greatest[vi], val[vi, vk])": ("greatest[vi] + val[vi, vk]", "does not combine its result"),
        "v10: T.bool = greatest[vi] >= val[vi, vk]": (
            "v10: T.bool = val[vi, vk] >= T.float32(2)", "has 2 results that are not chosen by one comparison"
        ),
    }  # fmt: skip
    for old, (new, why) in changed.items():
        assert old in text
        schedule = T.Schedule(from_source(text.replace(old, new)))
        _, k = schedule.get_loops(schedule.get_block("argmax"))
        with pytest.raises(T.ScheduleError, match=why):
            schedule.rfactor(k, 0)

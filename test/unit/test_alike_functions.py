"""Functions that differ in outer extents alone share a kernel, which is passed them; each gives what it gave alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import relay
from weft.dialects.relay.core import CallLoweredOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.mlir import parse_mlir
from weft.testing.operators import random_floats
from weft.transforms.infra.remarks import collect

pytestmark = pytest.mark.sampled(5)

Array = npt.NDArray[Any]


def chains(*shapes: tuple[tuple[int, ...], tuple[int, ...]], after: str = "") -> str:
    """A function for each pair of shapes, which adds two tensors and takes the exponential."""
    arguments: list[str] = []
    body: list[str] = []
    types: list[str] = []
    results: list[str] = []
    for number, (a, b) in enumerate(shapes):
        left, right = (f"tensor<{'x'.join(map(str, shape))}xf32>" for shape in (a, b))
        result = f"tensor<{'x'.join(str(max(each)) for each in zip(a, b, strict=True))}xf32>"
        arguments += [f"%a{number}: {left}", f"%b{number}: {right}"]
        body.append(f"%s{number} = relay.add %a{number}, %b{number} : ({left}, {right}) -> {result}")
        body.append(f"%r{number} = relay.exp %s{number} : {result}")
        if after:
            body.append(f"%d{number} = {after.format(f'%r{number}')} : {result}")
        results.append(f"%{'d' if after else 'r'}{number}")
        types.append(result)
    lines = "\n".join(body)
    head = f"relay.func @main({', '.join(arguments)}) -> ({', '.join(types)})"
    return f"{head} {{\n{lines}\nrelay.return {', '.join(results)} : {', '.join(types)}\n}}"


def blocks(*channels: int) -> str:
    return chains(*(((1, c, 3, 3, 8), (1, c, 1, 1, 8)) for c in channels))


def module(text: str) -> ModuleOp:
    return parse_mlir(text, "test")


def given(text: str) -> list[Array]:
    main = next(op for op in module(text).ops)
    return [random_floats(*type.get_shape()) for type in cast("Any", main).function_type.inputs]


def sizes(exe: weft.Executable) -> list[list[int]]:
    """What each call in a graph passes to its kernel."""
    lowered = module(exe.ir["tir"])
    calls = [op for op in lowered.walk() if isinstance(op, CallLoweredOp)]
    return [list(call.passed_sizes) for call in calls]


def kernels(exe: weft.Executable) -> int:
    return exe.ir["tir"].count("tir.prim_func @")


def check(exe: weft.Executable, text: str) -> None:
    values = given(text)
    found: Any = exe(*values)
    for number, each in enumerate(found):
        wanted = np.exp(values[2 * number] + values[2 * number + 1])
        np.testing.assert_allclose(np.asarray(each), wanted, rtol=1e-5)


@pytest.mark.parametrize("target", ["llvm", "c", "llvm -mcpu=x86-64-v2"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_kernel_is_passed_the_extents_in_which_its_functions_differ(target: str, threads: int) -> None:
    text = blocks(2, 5, 7)
    exe = weft.compile(module(text), target, threads=threads)
    assert kernels(exe) == 1
    assert sizes(exe) == [[2], [5], [7]]
    check(exe, text)


def test_extents_that_are_equal_in_all_functions_are_known() -> None:
    text = chains(*(((4, c, 3, 3, 8), (4, c, 3, 3, 8)) for c in (2, 3)))
    exe = weft.compile(module(text))
    assert "memref<4x?x3x3x8xf32>" in exe.ir["tir"]
    assert sizes(exe) == [[2], [3]]
    check(exe, text)


def test_extents_that_differ_apart_from_one_another_are_passed_apart() -> None:
    text = chains(*(((n, c, 3, 3, 8), (n, c, 3, 3, 8)) for n, c in ((2, 3), (3, 2), (4, 4))))
    exe = weft.compile(module(text))
    assert sizes(exe) == [[2, 3], [3, 2], [4, 4]]
    check(exe, text)


@pytest.mark.parametrize(
    "shapes",
    [
        [((1, 2, 3, 3, 8), (1, 2, 3, 3, 8)), ((1, 2, 4, 3, 8), (1, 2, 4, 3, 8))],  # inner extents
        [((2, 8), (2, 8)), ((3, 8), (3, 8))],  # of no block
        [((1, 2, 3, 3, 8), (1, 2, 1, 1, 8)), ((1, 4, 3, 3, 8), (1, 1, 1, 1, 8))],  # one is repeated
        [((1, 0, 3, 3, 8), (1, 0, 3, 3, 8)), ((1, 4, 3, 3, 8), (1, 4, 3, 3, 8))],  # one is empty
    ],
)
def test_other_functions_keep_kernels_of_their_own(shapes: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    text = chains(*shapes)
    exe = weft.compile(module(text))
    assert sizes(exe) == [[], []]
    check(exe, text)


@pytest.mark.parametrize(("inner", "vectors"), [(8, 1), (5, 2)])
def test_blocks_of_channels_are_taken_in_vectors(inner: int, vectors: int) -> None:
    """LLVM does not take what has branches in vectors; a block is whole vectors, however many blocks there are, or
    leaves a rest behind them, of fewer lanes."""
    inputs = [relay.var(f"x{c}", shape=(1, c, 3, 3, inner)) for c in (4, 6)]
    swish = [relay.multiply(x, relay.sigmoid(x)) for x in inputs]
    source = relay.IRModule.from_expr(relay.Function(inputs, relay.Tuple(swish)))
    exe = weft.compile(source, "llvm -mcpu=x86-64-v3")
    assert sizes(exe) == [[4], [6]]
    assert exe.ir["schedule"].count("tir.for vectorized") == vectors
    values = [random_floats(1, c, 3, 3, inner) for c in (4, 6)]
    for each, x in zip(cast("Any", exe(*values)), values, strict=True):
        np.testing.assert_allclose(np.asarray(each), x / (1 + np.exp(-x)), rtol=1e-5, atol=1e-6)


APART: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: relay.nn.softmax(x, axis=1),
    "mean": lambda x: relay.mean(x, axis=1),
    "padded": lambda x: relay.nn.max_pool2d(x, (3, 3), (2, 2), padding=(1, 1, 1, 1), layout="NCHW8c"),
}


@pytest.mark.parametrize("operator", APART)
def test_kernels_whose_schedule_depends_on_outer_extents_are_not_shared(operator: str) -> None:
    """They reduce over them, or reduce what is padded before, in memory that is small where sizes are known."""
    inputs = [relay.var(f"x{c}", shape=(1, c, 8, 8, 8)) for c in (4, 8, 12)]
    source = relay.IRModule.from_expr(relay.Function(inputs, relay.Tuple([APART[operator](x) for x in inputs])))
    with collect() as remarks:
        exe = weft.compile(source)
    assert sizes(exe) == [[], [], []]
    (told,) = [each.message for each in remarks if each.pass_name == "lower-te"]
    assert told.startswith("3 functions that differ in outer extents alone")


def convolutions(*channels: tuple[int, int]) -> ModuleOp:
    """A convolution and an activation of each pair of numbers of channels."""
    results: list[Any] = []
    inputs: list[Any] = []
    for number, (taken, made) in enumerate(channels):
        x = relay.var(f"x{number}", shape=(1, taken, 9, 9))
        weight = relay.const(random_floats(made, taken, 1, 1))
        inputs.append(x)
        results.append(relay.nn.relu(relay.nn.conv2d(x, weight, channels=made, kernel_size=(1, 1))))
    return relay.IRModule.from_expr(relay.Function(inputs, relay.Tuple(results)))


def test_convolutions_share_a_kernel_whose_tiles_fit_all() -> None:
    """What they take and make is divided alike: 32, 96 and 160 channels are 4, 12 and 20 blocks of 8; those of 48 are
    6."""
    source = convolutions((32, 32), (96, 32), (64, 160), (48, 160))
    exe = weft.compile(source, "llvm -mcpu=x86-64-v3")
    assert [each for each in sizes(exe) if len(each) == 2] == [[1, 1], [3, 1], [2, 5]]
    values = [random_floats(1, c, 9, 9) for c in (32, 96, 64, 48)]
    wanted = cast("Any", relay.create_executor("debug", source).evaluate())(*values)
    for each, other in zip(cast("Any", exe(*values)), wanted, strict=True):
        np.testing.assert_allclose(np.asarray(each), np.asarray(other), rtol=1e-4, atol=1e-5)


def test_products_of_an_odd_number_of_blocks_share_with_those_of_as_many() -> None:
    exe = weft.compile(convolutions((32, 24), (96, 24), (32, 40)), "llvm -mcpu=x86-64-v3")
    products = [line for line in exe.ir["tir"].split("\n") if "relay.call_lowered" in line and "conv2d" in line]
    assert ["sizes" in line for line in products] == [True, True, False]


def test_products_of_many_weights_keep_kernels_of_their_own() -> None:
    """How these come from memory depends on how many there are: 2 MiB here, beside two times 4 KiB."""
    exe = weft.compile(convolutions((32, 32), (96, 32), (512, 1024)))
    assert sum(map(bool, sizes(exe))) >= 2
    products = [line for line in exe.ir["tir"].split("\n") if "relay.call_lowered" in line and "conv2d" in line]
    assert ["sizes" in line for line in products] == [True, True, False]


def test_what_operators_say_of_extents_beside_their_types_does_not_keep_them_apart() -> None:
    exe = weft.compile(convolutions((32, 32), (32, 96)))
    assert exe.ir["fuse"].count("channels = 32") == exe.ir["fuse"].count("channels = 96") == 1
    assert sum(map(bool, sizes(exe))) >= 2


def test_tensors_that_lie_one_after_the_other_are_joined_by_one_kernel() -> None:
    """Joins of the graph's own results cannot be left out: they run as kernels or as copies."""
    inputs = [relay.var(f"x{c}", shape=(1, c, 3, 3, 8)) for c in (2, 3, 4)]
    joins = [relay.concatenate([x, x], axis=1) for x in inputs]
    exe = weft.compile(relay.IRModule.from_expr(relay.Function(inputs, relay.Tuple(joins))))
    assert sizes(exe) == [[2], [3], [4]]
    values = [random_floats(1, c, 3, 3, 8) for c in (2, 3, 4)]
    for each, x in zip(cast("Any", exe(*values)), values, strict=True):
        np.testing.assert_array_equal(np.asarray(each), np.concatenate([x, x], axis=1))


def test_every_access_is_checked_at_the_sizes_of_the_call() -> None:
    text = blocks(2, 5)
    with weft.PassContext(opt_level=3, config={"tir.bounds-checks": True}):
        exe = weft.compile(module(text))
    assert sizes(exe) == [[2], [5]]
    check(exe, text)


def test_a_saved_executable_passes_the_same(tmp_path: Path) -> None:
    text = blocks(2, 5)
    weft.compile(module(text)).save(tmp_path / "m.weft")
    check(weft.load(tmp_path / "m.weft"), text)


WRONG_SIZES = {
    "": "passes 0 sizes to a kernel of 1 symbols",
    "{sizes = array<i64>}": "passes 0 sizes to a kernel of 1 symbols",
    "{sizes = array<i64: 5, 5>}": "passes 2 sizes to a kernel of 1 symbols",
    "{sizes = array<i64: -5>}": "passes -5 as a size, which none is",
    "{sizes = array<i64: 6>}": "%p0 is memref<1x6x3x3x8xf32>, not tensor<1x5x3x3x8xf32>",
    "{sizes = array<i64: 4611686018427387904>}": "%p0 is memref<1x4611686018427387904x3x3x8xf32>, not tensor",
    "{sizes = array<i32: 5>}": "Expected attribute i64 but got i32",
    "{sizes = [5]}": "should be of base attribute array",
    "{sizes = array<i64: 5>, symbols = array<i64: 0>}": "a kernel is passed numbers, 'sizes', or a graph's symbols",
    "{symbols = array<i64: 0>}": "passes symbols [0] of a graph that has 0",
}


@pytest.mark.parametrize("phase", ["tir", "schedule"])
@pytest.mark.parametrize("said", WRONG_SIZES)
def test_a_call_that_passes_what_does_not_fit_is_refused_at_its_place(phase: str, said: str) -> None:
    text = weft.compile(module(blocks(2, 5)), threads=1).ir[phase]
    edited = text.replace("{sizes = array<i64: 5>}", said)
    assert edited != text
    line = 1 + next(n for n, each in enumerate(edited.splitlines()) if "%r1 = relay.call_lowered" in each)
    with pytest.raises(Diagnostic) as caught:
        weft.compile(module(edited))
    assert WRONG_SIZES[said] in str(caught.value)
    assert f"test:{line}:" in str(caught.value)


def test_a_kernel_of_known_extents_is_passed_no_sizes() -> None:
    text = weft.compile(module(blocks(2)), threads=1).ir["tir"]
    edited = text.replace("(%a0, %b0)", "(%a0, %b0) {sizes = array<i64: 2>}")
    with pytest.raises(Diagnostic, match="passes 1 sizes to a kernel of 0 symbols"):
        weft.compile(module(edited))


def test_a_kernel_that_is_shared_does_not_write_what_calls_give_it() -> None:
    text = weft.compile(module(blocks(2, 5)), threads=1).ir["tir"]
    edited = text.replace("%out[%vi_1, %vj_1", "%p0[%vi_1, %vj_1")
    with pytest.raises(Diagnostic, match="writes %p0, which calls of the kernel give it"):
        weft.compile(module(edited))


def test_steps_are_run_and_timed_at_their_sizes() -> None:
    text = blocks(2, 2000)
    exe = weft.compile(module(text), threads=1)
    profile = exe.profile(*given(text), repeat=20)
    assert [step.kernel for step in profile.steps] == ["fused_add_exp", "fused_add_exp"]
    small, large = (min(step.lasts) for step in profile.steps)
    assert large > 4 * small


def test_another_device_is_passed_them_too() -> None:
    away = "relay.on_device {} {{virtual_device = #relay.virtual_device<ext_dev>}}"
    text = chains(*(((1, c, 3, 3, 8), (1, c, 1, 1, 8)) for c in (2, 5)), after=away)
    exe = weft.compile(module(text))
    assert sorted(each for each in sizes(exe) if each)[0] == [2]
    check(exe, text)


def test_functions_with_schedules_of_their_own_are_not_shared(tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    records.touch()
    with weft.PassContext(opt_level=3, config={"attach-tuned-schedules.records": str(records)}):
        exe = weft.compile(module(blocks(2, 5)))
    assert sizes(exe) == [[], []]


def test_the_graph_executor_has_a_kernel_for_each_node() -> None:
    text = blocks(2, 5)
    graph: Any = weft.compile(module(text), executor="graph")
    for name, value in zip([f"{kind}{number}" for number in (0, 1) for kind in "ab"], given(text), strict=True):
        graph.set_input(name, value)
    graph.run()
    values = given(text)
    for number in (0, 1):
        wanted = np.exp(values[2 * number] + values[2 * number + 1])
        np.testing.assert_allclose(np.asarray(graph.get_output(number)), wanted, rtol=1e-5)

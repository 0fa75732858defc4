"""`fuse-ops{strategy=weft}`: which groups become one kernel with several results, why others do not, and what they
compute."""

from __future__ import annotations

import numpy as np
import pytest
from evaluate import NDArray, functions
from fused import arrays, assert_close, kernels, module_of

import weft
from weft.dialects.relay.interpreter import evaluate_function
from weft.lowering.abi import steps_within
from weft.transforms.infra import remarks
from weft.transforms.relay.first_order_gradient import FirstOrderGradientPass
from weft.transforms.relay.fuse_ops import FuseOpsPass

pytestmark = pytest.mark.sampled(5)


def apart(text: str) -> list[str]:
    """What the pass says of groups that have not been merged with others."""
    with remarks.collect() as found:
        FuseOpsPass()(module_of(text))
    return [r.message for r in found if r.pass_name == "fuse-ops" and "not computed with" in r.message]


def interpreted(text: str) -> list[NDArray]:
    return [np.asarray(each) for each in evaluate_function(functions(module_of(text))["main"], [*arrays(text)])]


def assert_same(text: str, threads: int = 1, target: str = "llvm -mcpu=native -opt-level=1") -> str:
    """Machine code and the interpreter agree; gives what was scheduled."""
    exe = weft.compile(module_of(text), threads=threads, target=target)
    given = exe(*arrays(text))
    assert_close(
        [np.asarray(each) for each in (given if isinstance(given, tuple | list) else [given])], interpreted(text)
    )
    return exe.ir["schedule"]


def residual_norm(rows: int | str, columns: int) -> str:
    """A sum, its rows over their root mean square, and a second sum of both."""
    t, m, v = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}x1xf32>", f"tensor<{columns}xf32>"
    w = f"tensor<{columns}x{columns}xf32>"
    return f"""relay.func @main(%x: {t}, %y: {t}, %g: {v}, %w: {w}) -> {t} {{
      %0 = relay.add %x, %y : ({t}, {t}) -> {t}
      %1 = relay.multiply %0, %0 : ({t}, {t}) -> {t}
      %2 = relay.mean %1 {{axis = array<i64: 1>, keepdims = true}} : ({t}) -> {m}
      %3 = relay.rsqrt %2 : {m}
      %4 = relay.multiply %0, %3 : ({t}, {m}) -> {t}
      %5 = relay.multiply %4, %g : ({t}, {v}) -> {t}
      %6 = relay.nn.dense %5, %w : ({t}, {w}) -> {t}
      %7 = relay.add %6, %0 : ({t}, {t}) -> {t}
      relay.return %7 : {t}
    }}"""


def cell(batch: int, size: int) -> str:
    """What an LSTM does with its gates."""
    t, w = f"tensor<{batch}x{size}xf32>", f"tensor<{batch}x{4 * size}xf32>"
    slices = "\n".join(
        f"%s{n} = relay.strided_slice %x {{begin = array<i64: 0, {n * size}>, end = array<i64: {batch}, "
        f"{(n + 1) * size}>, strides = array<i64: 1, 1>}} : ({w}) -> {t}"
        for n in range(4)
    )
    return f"""relay.func @main(%x: {w}, %c: {t}) -> ({t}, {t}) {{
      {slices}
      %i = relay.sigmoid %s0 : {t}
      %f = relay.sigmoid %s1 : {t}
      %o = relay.sigmoid %s2 : {t}
      %g = relay.tanh %s3 : {t}
      %0 = relay.multiply %f, %c : ({t}, {t}) -> {t}
      %1 = relay.multiply %i, %g : ({t}, {t}) -> {t}
      %2 = relay.add %0, %1 : ({t}, {t}) -> {t}
      %3 = relay.tanh %2 : {t}
      %4 = relay.multiply %o, %3 : ({t}, {t}) -> {t}
      relay.return %4, %2 : {t}, {t}
    }}"""


def moments(rows: int, columns: int) -> str:
    t, m = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    return f"""relay.func @main(%x: {t}) -> ({m}, {m}) {{
      %0 = relay.mean %x {{axis = array<i64: 1>}} : ({t}) -> {m}
      %1 = relay.multiply %x, %x : ({t}, {t}) -> {t}
      %2 = relay.mean %1 {{axis = array<i64: 1>}} : ({t}) -> {m}
      relay.return %0, %2 : {m}, {m}
    }}"""


def functions_of_one(shape: str, second: str = "tanh") -> str:
    t = f"tensor<{shape}xf32>"
    return f"""relay.func @main(%x: {t}) -> ({t}, {t}) {{
      %0 = relay.nn.relu %x : {t}
      %1 = relay.{second} %x : {t}
      relay.return %0, %1 : {t}, {t}
    }}"""


def test_a_sum_that_is_normalised_and_added_again_is_written_by_the_kernel_that_normalises_it() -> None:
    text = residual_norm(32, 24)
    assert kernels(text) == ["add multiply mean rsqrt multiply multiply -> 2", "nn.dense add"]
    assert len(kernels(text, "tvm")) == 4


def test_the_cell_of_an_lstm_is_one_kernel() -> None:
    assert [kernel.rpartition(" ")[2] for kernel in kernels(cell(2, 8))] == ["2"]
    assert len(kernels(cell(2, 8), "tvm")) == 2


def test_two_means_of_the_same_rows_are_one_kernel() -> None:
    assert kernels(moments(512, 512)) == ["mean multiply mean -> 2"]


@pytest.mark.parametrize(("rows", "columns"), [(1024, 511), (511, 512)])
def test_two_means_of_short_rows_or_few_bytes_stay_apart_and_the_pass_says_so(rows: int, columns: int) -> None:
    assert kernels(moments(rows, columns)) == ["mean", "multiply mean"]
    assert apart(moments(rows, columns)) == ["not computed with 'relay.mean': too little would be read once less"]


def test_two_functions_of_one_tensor_are_one_kernel() -> None:
    assert kernels(functions_of_one("4x5")) == ["nn.relu tanh -> 2"]


def test_three_functions_of_one_tensor_are_one_kernel() -> None:
    t = "tensor<4x5xf32>"
    text = f"""relay.func @main(%x: {t}) -> ({t}, {t}, {t}) {{
      %0 = relay.nn.relu %x : {t}
      %1 = relay.tanh %x : {t}
      %2 = relay.exp %1 : {t}
      relay.return %0, %1, %2 : {t}, {t}, {t}
    }}"""
    assert kernels(text) == ["nn.relu tanh exp -> 3"]
    assert_same(text)


def test_what_is_read_in_another_order_stays_apart() -> None:
    t, u = "tensor<4x5xf32>", "tensor<5x4xf32>"
    text = f"""relay.func @main(%x: {t}) -> ({t}, {u}) {{
      %0 = relay.nn.relu %x : {t}
      %1 = relay.transpose %x : ({t}) -> {u}
      %2 = relay.tanh %1 : {u}
      relay.return %0, %2 : {t}, {u}
    }}"""
    assert kernels(text) == ["nn.relu", "transpose tanh"]


def test_columns_and_rows_of_one_tensor_stay_apart() -> None:
    t, m = "tensor<32x32xf32>", "tensor<32xf32>"
    text = f"""relay.func @main(%x: {t}) -> ({m}, {m}) {{
      %0 = relay.sum %x {{axis = array<i64: 1>}} : ({t}) -> {m}
      %1 = relay.sum %x {{axis = array<i64: 0>}} : ({t}) -> {m}
      relay.return %0, %1 : {m}, {m}
    }}"""
    assert kernels(text) == ["sum", "sum"]


def test_few_long_rows_stay_apart_and_the_pass_says_so() -> None:
    text = moments(8, 40000)
    assert kernels(text) == ["mean", "multiply mean"]
    assert apart(text) == ["not computed with 'relay.mean': there are too few rows to share out"]


def test_the_depth_limits_them_too() -> None:
    assert max(len(kernel.split(" -> ")[0].split()) for kernel in kernels(residual_norm(32, 24), max_depth=4)) <= 4
    with remarks.collect() as found:
        FuseOpsPass(max_depth=1)(module_of(functions_of_one("4x5")))
    assert any("not computed with 'relay.tanh': the group would become larger" in r.message for r in found)


def test_what_nothing_needs_does_not_move_a_kernel_behind_what_reads_its_results() -> None:
    t, m = "tensor<32x32xf32>", "tensor<32xf32>"
    dead = "\n".join(f"%d{n} = relay.exp %x : {t}" for n in range(9))
    text = f"""relay.func @main(%x: {t}) -> ({t}, {m}, {t}) {{
      %y = relay.nn.dense %x, %x : ({t}, {t}) -> {t}
      {dead}
      %0 = relay.nn.softmax %y : {t}
      %1 = relay.tanh %y : {t}
      %2 = relay.sum %0 {{axis = array<i64: 0>}} : ({t}) -> {m}
      relay.return %1, %2, %0 : {t}, {m}, {t}
    }}"""
    fused = FuseOpsPass()(module_of(text))
    given = evaluate_function(functions(fused)["main"], [*arrays(text)])
    assert_close([np.asarray(each) for each in given], interpreted(text))


def test_slices_of_other_places_save_nothing() -> None:
    t, u = "tensor<4x8xf32>", "tensor<4x4xf32>"
    left, right = (
        f"{{begin = array<i64: 0, {n}>, end = array<i64: 4, {n + 4}>, strides = array<i64: 1, 1>}} : ({t}) -> {u}"
        for n in (0, 4)
    )
    text = f"""relay.func @main(%x: {t}) -> ({u}, {u}) {{
      %0 = relay.strided_slice %x {left}
      %1 = relay.tanh %0 : {u}
      %2 = relay.strided_slice %x {right}
      %3 = relay.exp %2 : {u}
      relay.return %1, %3 : {u}, {u}
    }}"""
    assert kernels(text) == ["strided_slice tanh", "strided_slice exp"]
    assert "too little would be read once less" in apart(text)[0]


def test_no_circle_comes_of_it() -> None:
    """The second function of a value needs what is computed of the first."""
    t = "tensor<8x8xf32>"
    text = f"""relay.func @main(%x: {t}, %w: {t}) -> ({t}, {t}) {{
      %0 = relay.exp %x : {t}
      %1 = relay.nn.dense %0, %w : ({t}, {t}) -> {t}
      %2 = relay.transpose %1 : ({t}) -> {t}
      %3 = relay.add %0, %2 : ({t}, {t}) -> {t}
      relay.return %3, %0 : {t}, {t}
    }}"""
    assert kernels(text) == ["exp", "nn.dense", "transpose add"]
    assert_same(text)


def test_users_that_come_too_early_are_a_reason() -> None:
    t = "tensor<8x8xf32>"
    text = f"""relay.func @main(%x: {t}, %y: {t}, %w: {t}) -> ({t}, {t}) {{
      %0 = relay.add %x, %y : ({t}, {t}) -> {t}
      %1 = relay.nn.dense %0, %w : ({t}, {t}) -> {t}
      %2 = relay.nn.dense %y, %w : ({t}, {t}) -> {t}
      %3 = relay.subtract %2, %x : ({t}, {t}) -> {t}
      %4 = relay.nn.softmax %3 {{axis = 1 : i64}} : {t}
      %5 = relay.add %4, %0 : ({t}, {t}) -> {t}
      relay.return %1, %5 : {t}, {t}
    }}"""
    assert "a value that they read comes after a user of what they give" in " ".join(apart(text))
    assert_same(text)


def test_a_kernel_of_several_results_stands_where_its_users_find_them() -> None:
    """The first result is read before the last operator of the kernel stood."""
    t = "tensor<8x8xf32>"
    text = f"""relay.func @main(%x: {t}, %w: {t}) -> ({t}, {t}, {t}) {{
      %0 = relay.exp %x : {t}
      %1 = relay.nn.dense %0, %w : ({t}, {t}) -> {t}
      %2 = relay.tanh %x : {t}
      relay.return %0, %1, %2 : {t}, {t}, {t}
    }}"""
    assert kernels(text) == ["exp tanh -> 2", "nn.dense"]
    assert_same(text)


def test_operations_with_an_effect_keep_their_order() -> None:
    t = "tensor<8x8xf32>"
    text = f"""relay.func @main(%x: {t}) -> ({t}, {t}) {{
      %r = relay.ref_create %x : ({t}) -> !relay.ref<{t}>
      %0 = relay.exp %x : {t}
      relay.ref_write %r, %0 : !relay.ref<{t}>, {t}
      %1 = relay.ref_read %r : (!relay.ref<{t}>) -> {t}
      %2 = relay.add %0, %1 : ({t}, {t}) -> {t}
      relay.return %0, %2 : {t}, {t}
    }}"""
    assert kernels(text) == ["exp", "add"]


@pytest.mark.parametrize(
    "text", [residual_norm(1, 33), residual_norm(37, 33), cell(3, 33), moments(17, 9), moments(513, 515)]
)
def test_they_compute_the_same(text: str) -> None:
    assert_same(text, 2)


@pytest.mark.parametrize(
    ("shape", "second"),
    [("1x300", "tanh"), ("3x7x7", "tanh"), ("2x3x65", "negative"), ("0x5", "exp"), ("8x16x1", "tanh")],
)
def test_functions_of_one_tensor_compute_the_same(shape: str, second: str) -> None:
    assert_same(functions_of_one(shape, second))


def test_their_rows_run_on_all_threads() -> None:
    schedule = assert_same(residual_norm(64, 96), 2)
    assert schedule.count("tir.for parallel %i = 0 to 64") == 1


def test_the_target_c_computes_the_same() -> None:
    assert_same(residual_norm(16, 24), target="c")


def test_the_graph_executor_computes_the_same() -> None:
    text = residual_norm(16, 24)
    graph = weft.compile(module_of(text), threads=1, executor="graph")
    graph.run(dict(zip("xygw", arrays(text), strict=True)))
    assert_close([graph.get_output(0)], interpreted(text))


def test_rows_of_open_number_are_merged() -> None:
    text = residual_norm("?", 24)
    assert kernels(text)[0].endswith("-> 2")
    assert_same(text, 2)


def on_device(text: str, device: str) -> str:
    """The same with both results on a device."""
    places = f"[#relay.virtual_device<{device}>, #relay.virtual_device<{device}>]"
    return text.replace(") {", f") attributes {{result_virtual_devices = {places}}} {{", 1)


@pytest.mark.parametrize("text", [functions_of_one("64x1024"), cell(4, 64)])
def test_on_another_device_they_are_one_kernel_as_well(text: str) -> None:
    exe = weft.compile(module_of(on_device(text, "ext_dev, id = 1")), threads=2)
    (step,) = [step for step in steps_within(exe.graph.steps) if step.kernel]
    assert exe.graph.devices[step.device].name == "ext_dev:1"
    assert_close([*exe(*arrays(text))], interpreted(text))


def test_results_on_two_devices_are_of_two_kernels() -> None:
    text = functions_of_one("64x1024")
    noted = on_device(text, "ext_dev").replace("ext_dev>]", "cpu>]")
    noted = noted.replace("tanh %x", "tanh %there").replace(
        "%0 =",
        """%there = relay.on_device %x {
        virtual_device = #relay.virtual_device<ext_dev>} : tensor<64x1024xf32>
      %0 =""",
    )
    exe = weft.compile(module_of(noted), threads=2)
    assert sorted(step.device for step in steps_within(exe.graph.steps) if step.kernel) == [0, 1]
    assert_close([*exe(*arrays(text))], interpreted(text))


def test_a_gradient_has_them_and_computes_the_same() -> None:
    module = FirstOrderGradientPass()(module_of(residual_norm(64, 96)))
    given = arrays(residual_norm(64, 96))
    found = weft.compile(module, threads=2)(*given)
    assert kernels(str(module))[:2] == ["add multiply mean -> 2", "rsqrt multiply multiply -> 3"]
    expected = evaluate_function(functions(module)["main"], [*given])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.astype("f8"), other.astype("f8"), rtol=1e-3, atol=1e-4)

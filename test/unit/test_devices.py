"""Programs on several devices: equal to those on one, with copies where they are planned, and none anywhere else."""

from __future__ import annotations

import ctypes
import gc
import mmap
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from strict_c import needs_compiler

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.mlir import parse_mlir
from weft.lowering.abi import Argument, CompiledGraph, steps_within
from weft.runtime.devices import Apart, DeviceAccessError, Traffic, copy, counted, device_by_name
from weft.runtime.library.interfaces import Piece
from weft.runtime.library.link import export_library
from weft.runtime.memory import NotEnoughMemory, address

pytestmark = pytest.mark.sampled(3)

T = "tensor<4x6xf32>"
GRAPH = f"""
relay.func @main(%a: {T}, %b: {T}) -> ({T}, tensor<12x2xf32>) PLACES {{
  %c = relay.constant dense<2.0> : {T}
  %0 = relay.nn.softmax %a : {T}
  %n0 = relay.on_device %0 {{virtual_device = #relay.virtual_device<cpu>}} : {T}
  %1 = relay.add %n0, %b : ({T}, {T}) -> {T}
  %2 = relay.multiply %1, %c : ({T}, {T}) -> {T}
  %3 = relay.nn.softmax %2 : {T}
  %t = relay.tuple(%2, %3) : ({T}, {T}) -> tuple<{T}, {T}>
  %4 = relay.concatenate %t {{axis = 0 : i64}} : (tuple<{T}, {T}>) -> tensor<8x6xf32>
  %5 = relay.reshape %4 {{newshape = array<i64: 2, 24>}} : (tensor<8x6xf32>) -> tensor<2x24xf32>
  %6 = relay.sum %5 {{axis = array<i64: 0>}} : (tensor<2x24xf32>) -> tensor<24xf32>
  %n6 = relay.on_device %6 {{virtual_device = #relay.virtual_device<ext_dev>}} : tensor<24xf32>
  %7 = relay.reshape %n6 {{newshape = array<i64: 4, 6>}} : (tensor<24xf32>) -> {T}
  %d = relay.constant dense<2.0> : {T}
  %8 = relay.multiply %7, %d : ({T}, {T}) -> {T}
  %9 = relay.reshape %5 {{newshape = array<i64: 24, 2>}} : (tensor<2x24xf32>) -> tensor<24x2xf32>
  %10 = relay.exp %3 : {T}
  %11 = relay.reshape %10 {{newshape = array<i64: 12, 2>}} : ({T}) -> tensor<12x2xf32>
  relay.return %8, %11 : {T}, tensor<12x2xf32>
}}
"""
CPU, FAR = "#relay.virtual_device<cpu>", "#relay.virtual_device<ext_dev>"
PLACES = f"attributes {{param_virtual_devices = [{CPU}, {FAR}], result_virtual_devices = [{CPU}, {FAR}]}}"
HERE = f"attributes {{param_virtual_devices = [{CPU}, {CPU}], result_virtual_devices = [{CPU}, {CPU}]}}"


def arrays() -> list[Any]:
    return list(np.random.default_rng(1).standard_normal((2, 4, 6)).astype(np.float32))


@pytest.fixture(scope="module")
def exe() -> weft.Executable:
    return weft.compile(parse_mlir(GRAPH.replace("PLACES", PLACES), "far.mlir"), threads=2)


@pytest.fixture(scope="module")
def expected() -> tuple[Any, ...]:
    """On one device, without a word of others."""
    text = GRAPH.replace("PLACES", "")
    for name, operand in (("n0", "0"), ("n6", "6")):
        text = "\n".join(line for line in text.splitlines() if f"%{name} = " not in line).replace(
            f"%{name}", f"%{operand}"
        )
    exe = weft.compile(parse_mlir(text, "here.mlir"))
    assert not exe.graph.devices
    outputs = exe(*arrays())
    assert isinstance(outputs, tuple)
    return outputs


def same(found: Any, wanted: Any) -> bool:
    """Kernels end where devices change: a product and a sum that are rounded once within one (`softmax` and what is
    added to it) are rounded twice then, which is a few units in the last place."""
    return all(np.allclose(one, other, rtol=1e-6, atol=0) for one, other in zip(found, wanted, strict=True))


def test_a_program_on_two_devices_computes_what_it_computes_on_one(exe: weft.Executable, expected: Any) -> None:
    assert [device.name for device in exe.graph.devices] == ["cpu", "ext_dev:0"]
    for _ in range(3):
        assert same(exe(*arrays()), expected)


def test_it_is_saved_and_loaded(exe: weft.Executable, expected: Any, tmp_path: Path) -> None:
    exe.save(tmp_path / "far.weft")
    loaded = weft.load(tmp_path / "far.weft", threads=1)
    assert loaded.graph.steps == exe.graph.steps and loaded.graph.devices == exe.graph.devices
    assert same(loaded(*arrays()), expected)


def test_threads_call_it_at_once(exe: weft.Executable, expected: Any) -> None:
    right: list[bool] = []

    def work() -> None:
        right.extend(same(exe(*arrays()), expected) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 80


def test_copies_are_those_of_the_plan_and_are_counted(exe: weft.Executable) -> None:
    """In: `b`, the softmax. Out: the sum, and the result that is wanted there, which the caller gets."""
    exe(*arrays())
    cpu, far = device_by_name("cpu"), device_by_name("ext_dev:0")
    with counted(cpu, far) as traffic:
        exe(*arrays())
    assert traffic["ext_dev:0"] == Traffic(copies_in=2, bytes_in=192, copies_out=2, bytes_out=192)
    assert traffic["cpu"] == Traffic(copies_in=2, bytes_in=192, copies_out=2, bytes_out=192)


def test_a_profile_tells_of_devices_and_copies(exe: weft.Executable) -> None:
    profile = exe.profile(*arrays(), repeat=2)
    devices = profile.by_device()
    assert devices["ext_dev:0"][1:] == (192, 2) and devices["cpu"][1:] == (192, 2)
    assert all(spent > 0 for spent, _, _ in devices.values())
    assert {step.device for step in profile.steps if not step.is_copy} == {"cpu", "ext_dev:0"}
    assert '"name": "ext_dev:0"' in profile.chrome_trace()


def test_equal_kernels_on_two_devices_are_one() -> None:
    with weft.PassContext(opt_level=3, config={"fuse-ops.strategy": "tvm"}):
        exe = weft.compile(parse_mlir(GRAPH.replace("PLACES", PLACES), "far.mlir"))
    softmax = [step for step in steps_within(exe.graph.steps) if step.kernel == "fused_nn_softmax"]
    assert [step.device for step in softmax] == [0, 1]


def test_all_on_the_cpu_is_an_ordinary_program(expected: Any) -> None:
    text = GRAPH.replace("PLACES", HERE).replace("<ext_dev>", "<cpu>")
    exe = weft.compile(parse_mlir(text, "here.mlir"))
    assert not exe.graph.devices and same(exe(*arrays()), expected)


def test_all_on_the_other_device_is_copied_there_and_back(expected: Any) -> None:
    text = GRAPH.replace("PLACES", PLACES).replace("<cpu>", "<ext_dev>")
    exe = weft.compile(parse_mlir(text, "far.mlir"))
    assert same(exe(*arrays()), expected)
    assert {step.device for step in steps_within(exe.graph.steps) if step.kernel} == {1}


def test_two_devices_of_one_type_are_two(expected: Any) -> None:
    second = "#relay.virtual_device<ext_dev, id = 1>"
    places = PLACES.replace(CPU, second)
    text = GRAPH.replace("PLACES", places).replace(CPU, second)
    exe = weft.compile(parse_mlir(text, "far.mlir"))
    assert [device.name for device in exe.graph.devices] == ["cpu", "ext_dev:1", "ext_dev:0"]
    assert same(exe(*arrays()), expected)


def missing(graph: CompiledGraph, device: int) -> CompiledGraph:
    """The graph with one kernel given memory of another device than its own."""
    steps = list(steps_within(graph.steps))
    number = next(n for n, step in enumerate(steps) if step.kernel and step.device == device)
    step = steps[number]
    place = next(n for n, argument in enumerate(step.arguments) if argument.kind in ("arena", "input"))
    wrong = Argument("arena", 0, step.arguments[place].bytes, 1 - device)
    arguments = (*step.arguments[:place], wrong, *step.arguments[place + 1 :])
    return replace(graph, steps=(*steps[:number], replace(step, arguments=arguments), *steps[number + 1 :]))


@pytest.mark.parametrize(
    ("device", "message"), [(0, "in the memory of ext_dev:0"), (1, "not in the memory of ext_dev:0")]
)
def test_a_missing_copy_is_refused(exe: weft.Executable, device: int, message: str) -> None:
    wrong = weft.Executable(missing(exe.graph, device), 1)
    with pytest.raises(DeviceAccessError) as error:
        wrong(*arrays())
    assert message in error.value.message


def test_a_failed_check_is_told_from_any_device() -> None:
    text = f"""
relay.func @main(%rows: tensor<4x2xf32>, %which: tensor<3xi64>) -> tensor<3x2xf32>
    attributes {{param_virtual_devices = [{FAR}, {FAR}], result_virtual_devices = [{CPU}]}} {{
  %0 = relay.take %rows, %which {{axis = 0 : i64, mode = "error"}} : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %1 = relay.on_device %0 {{virtual_device = {FAR}}} : tensor<3x2xf32>
  %2 = relay.exp %1 : tensor<3x2xf32>
  relay.return %2 : tensor<3x2xf32>
}}
"""
    exe = weft.compile(parse_mlir(text, "take.mlir"))
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    for call in (exe, exe.profile):
        with pytest.raises(weft.CheckError, match="index 5 lies outside of an axis of 4") as error:
            call(rows, np.array([0, 5, 1]))
        assert error.value.place is not None and error.value.place.line == 4
    assert np.allclose(np.asarray(exe(rows, np.array([3, 0, 1]))), np.exp(rows[[3, 0, 1]]))


@needs_compiler
@pytest.mark.parametrize("suffix", [".so", ".o", ".a", ".tar"])
def test_a_library_of_such_a_graph_is_loaded_by_python(
    exe: weft.Executable, expected: Any, tmp_path: Path, suffix: str
) -> None:
    exe.export_library(path := tmp_path / f"m{suffix}")
    assert same(weft.load(path)(*arrays()), expected)
    function = weft.runtime.load_module(path)["main"]
    outputs = [np.zeros(spec.shape, spec.dtype) for spec in exe.outputs]
    cast("Any", function)(*arrays(), *outputs)
    assert same(tuple(outputs), expected)
    if suffix != ".tar":
        header = path.with_suffix(".h").read_text()
        assert "several devices (cpu, ext_dev:0)" in header


@needs_compiler
def test_a_library_has_a_graph_on_several_devices_beside_another(exe: weft.Executable, tmp_path: Path) -> None:
    near = GRAPH.replace("PLACES", HERE).replace("<ext_dev>", "<cpu>")
    one = weft.compile(parse_mlir(near, "near.mlir"))
    pieces = [Piece(exe.graph, "far"), Piece(one.graph, "near")]
    export_library(pieces, tmp_path / "m.so", "cc")
    library = ctypes.CDLL(str(tmp_path / "m.so"))
    assert library.near_model and library.far_model


def test_the_loops_of_such_a_graph_are_compiled_as_well(exe: weft.Executable, expected: Any) -> None:
    late = weft.compile(parse_mlir(exe.ir["loops"], "loops.mlir"))
    assert same(late(*arrays()), expected)
    assert "mem.graph" in exe.ir["llvm"] and "fused_nn_softmax" in exe.asm


# The devices themselves.


def test_memory_is_copied_between_devices() -> None:
    cpu, far = device_by_name("cpu"), device_by_name("ext_dev:7")
    data, back = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    place = far.allocate(4000)
    assert place % 64 == 0
    copy(cpu, address(data), far, place, 4000)
    copy(far, place, cpu, address(back), 4000)
    assert np.array_equal(back, data)
    assert far.traffic == Traffic(1, 4000, 1, 4000)
    far.clear(place, 8)
    copy(far, place, cpu, address(back), 12)
    assert list(back[:3]) == [0, 0, 2]
    far.free(place)
    with pytest.raises(DeviceAccessError, match="nothing was allocated"):
        far.free(place)
    with pytest.raises(DeviceAccessError, match="what is copied to is not in the memory of ext_dev:7"):
        copy(cpu, address(data), far, place, 4000)


OPEN = f"""
relay.func @main(%a: tensor<?x6xf32>, %b: tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x2xf32>) attributes {{
    dim_names = [["n", ""], ["n", ""]], param_virtual_devices = [{CPU}, {FAR}], result_virtual_devices = [{CPU}, {FAR}]
  }} {{
  %0 = relay.nn.softmax %a : tensor<?x6xf32>
  %n0 = relay.on_device %0 {{virtual_device = {CPU}}} : tensor<?x6xf32>
  %1 = relay.add %n0, %b : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %2 = relay.nn.softmax %1 : tensor<?x6xf32>
  %t = relay.tuple(%1, %2) : (tensor<?x6xf32>, tensor<?x6xf32>) -> tuple<tensor<?x6xf32>, tensor<?x6xf32>>
  %3 = relay.concatenate %t {{axis = 0 : i64}} : (tuple<tensor<?x6xf32>, tensor<?x6xf32>>) -> tensor<?x6xf32>
  %4 = relay.sum %3 {{axis = array<i64: 0>}} : (tensor<?x6xf32>) -> tensor<6xf32>
  %n4 = relay.on_device %4 {{virtual_device = {FAR}}} : tensor<6xf32>
  %5 = relay.multiply %a, %n4 : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  %6 = relay.reshape %2 {{newshape = array<i64: -1, 2>}} : (tensor<?x6xf32>) -> tensor<?x2xf32>
  relay.return %5, %6 : tensor<?x6xf32>, tensor<?x2xf32>
}}
"""


def softmax(x: Any) -> Any:
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


@pytest.fixture(scope="module")
def open_exe() -> weft.Executable:
    return weft.compile(parse_mlir(OPEN, "open.mlir"), threads=2)


def test_several_devices_run_graphs_of_open_extents(open_exe: weft.Executable, tmp_path: Path) -> None:
    """Memory of both grows with the sizes of a call; what is copied is as long as what there is."""
    open_exe.save(path := tmp_path / "open.weft")
    for program, sizes in ((open_exe, (3, 100, 7, 0)), (weft.load(path), (40, 2))):
        for n in sizes:
            a, b = np.random.default_rng(n).standard_normal((2, n, 6)).astype(np.float32)
            sums = softmax(a) + b
            with counted(*map(device_by_name, ("cpu", "ext_dev:0"))) as traffic:
                found: Any = program(a, b)
            for one, other in zip(
                found, (a * (sums + softmax(sums)).sum(0), softmax(sums).reshape(-1, 2)), strict=True
            ):
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
            assert traffic["ext_dev:0"] == Traffic(2, 2 * n * 24, 2, n * 24 + 24)
    profile = open_exe.profile(np.ones((4, 6), np.float32), np.ones((4, 6), np.float32))
    assert [step.kernel for step in profile.steps].count("copy") == 5  # one is the reshape


def test_what_is_too_much_for_any_memory_is_said(open_exe: weft.Executable) -> None:
    """An array may say that it is large where it takes up nothing."""
    with pytest.raises(NotEnoughMemory, match="no memory for a dense copy of input 'a'"):
        open_exe(*[np.broadcast_to(np.float32(0), (1 << 45, 6))] * 2)


def test_a_context_that_is_too_small_for_a_call_gives_its_memory_back(open_exe: weft.Executable) -> None:
    far = device_by_name("ext_dev:0")
    assert isinstance(far, Apart)
    gc.collect()
    before = len(far._maps)  # pyright: ignore[reportPrivateUsage]
    for n in (1, 10, 1000, 5000, 4):
        open_exe(*np.ones((2, n, 6), np.float32))
        assert len(far._maps) <= before + 1  # pyright: ignore[reportPrivateUsage]


def test_what_is_a_bit_too_long_is_refused() -> None:
    cpu, far = device_by_name("cpu"), device_by_name("ext_dev:7")
    data = np.zeros(64, np.uint8)
    place = far.allocate(63)
    copy(cpu, address(data), far, place, 63)
    for start, size in ((place, 64), (place - 1, 2), (place + 63, 1), (address(data), 1)):
        with pytest.raises(DeviceAccessError):
            far.check(start, size, "it")
    with pytest.raises(DeviceAccessError, match="it is in the memory of ext_dev:7"):
        cpu.check(place + 62, 10, "it")
    cpu.check(address(data), 64, "it")
    far.free(place)


def test_a_launch_needs_buffers_of_its_device() -> None:
    far = device_by_name("ext_dev:7")
    place, ran = far.allocate(8), list[int]()
    far.launch(lambda: ran.append(ctypes.c_int64.from_address(place).value), [(place, 8)])
    assert ran == [0]
    with pytest.raises(DeviceAccessError, match="buffer 0 of the kernel"):
        far.launch(lambda: ran.append(1), [(address(np.zeros(1)), 8)])
    assert ran == [0]
    far.free(place)


def test_events_are_in_order() -> None:
    far = device_by_name("ext_dev:7")
    first = far.record()
    far.synchronize()
    assert far.record().since(first) >= 0 and isinstance(far, Apart) and far.scopes == ("global",)


@pytest.mark.parametrize("name", ["cuda", "ext_dev", "ext_dev:x", "gpu:0"])
def test_a_device_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(Diagnostic, match=f"there is no device '{name}'"):
        device_by_name(name)


@pytest.mark.parametrize(
    "access",
    [
        "ctypes.c_char.from_address(place).value",
        "with far.opened(): ctypes.c_char.from_address(place + 64).value",
        f"with far.opened(): ctypes.c_char.from_address(place - {mmap.PAGESIZE}).value",
        "far.free(place); ctypes.c_char.from_address(place).value",
    ],
    ids=["by the host", "behind the end", "before the page", "after it was freed"],
)
def test_memory_of_a_device_that_is_touched_from_outside_faults(access: str) -> None:
    begin = "import ctypes\nfrom weft.runtime.devices import device_by_name\nfar = device_by_name('ext_dev:0')\n"
    use = "place = far.allocate(64)\nwith far.opened(): ctypes.memset(place, 1, 64)\nprint('so far', flush=True)\n"
    done = subprocess.run([sys.executable, "-c", begin + use + access], capture_output=True, text=True, check=False)
    assert done.stdout == "so far\n" and done.returncode == -signal.SIGSEGV, done.stderr

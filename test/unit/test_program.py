"""Programs and contexts: many threads at once, forks, code for other machines, copies."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

import weft
from weft.dialects.relay import Relay
from weft.dialects.support.diagnostics import UsageError
from weft.lowering.abi import Platform
from weft.runtime.host import PlatformError, host_platform, why_not_here
from weft.runtime.memory import address

NDArray = npt.NDArray[Any]

GRAPH = """
relay.func @main(%x: tensor<64x48xf32>) -> tensor<64x16xf32> {
  %0 = relay.exp %x : tensor<64x48xf32>
  %1 = relay.nn.softmax %0 : tensor<64x48xf32>
  %2 = relay.reshape %1 {newshape = array<i64: 64, 3, 16>} : (tensor<64x48xf32>) -> tensor<64x3x16xf32>
  %3 = relay.sum %2 {axis = array<i64: 1>} : (tensor<64x3x16xf32>) -> tensor<64x16xf32>
  relay.return %3 : tensor<64x16xf32>
}
"""
SHAPE = (64, 48)


def expected(x: NDArray) -> NDArray:
    exponents = np.exp(np.exp(x.astype(np.float64)))
    return (exponents / exponents.sum(1, keepdims=True)).reshape(64, 3, 16).sum(1)


def module() -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Relay):
        context.load_dialect(dialect)
    return Parser(context, GRAPH).parse_module()


def inputs(count: int) -> list[NDArray]:
    generator = np.random.default_rng(7)
    return [generator.uniform(-1, 1, SHAPE).astype(np.float32) for _ in range(count)]


@pytest.fixture(scope="module", params=[1, 2])
def exe(request: pytest.FixtureRequest) -> weft.Executable:
    with weft.PassContext(config={"fuse-ops.strategy": "tvm"}):  # several kernels, with a buffer between them
        return weft.compile(module(), threads=request.param)


def is_right(found: object, x: NDArray) -> bool:
    return bool(np.allclose(np.asarray(found), expected(x), rtol=1e-4))


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run `work(number)` in threads at once; what one of them raises is raised here."""
    raised: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def test_the_graph_has_something_between_inputs_and_outputs(exe: weft.Executable) -> None:
    """Calls could not disturb one another otherwise."""
    assert exe.graph.arena_bytes > 64 * 48 * 4


def test_threads_that_call_at_once_get_their_own_results(exe: weft.Executable) -> None:
    arrays = inputs(8)
    results = [expected(x) for x in arrays]

    def work(number: int) -> None:
        for _ in range(300):
            assert np.allclose(np.asarray(exe(arrays[number])), results[number], rtol=1e-4)

    in_threads(8, work)


def test_a_binding_can_be_called_by_several_threads(exe: weft.Executable) -> None:
    (x,) = inputs(1)
    binding = exe.bind([x])

    def work(number: int) -> None:
        for _ in range(100):
            binding()

    in_threads(4, work)
    assert is_right(binding.outputs[0], x)


def test_there_are_as_many_contexts_as_calls_ran_at_once() -> None:
    exe = weft.compile(module(), threads=1)
    (x,) = inputs(1)
    for _ in range(10):
        exe(x)
    assert len(exe.program.free) == 1


def test_a_call_within_a_call_is_right(exe: weft.Executable) -> None:
    """An input that is made by calling the same executable."""
    x, y = inputs(2)

    class Lazy:
        def __array__(self, dtype: object = None, copy: object = None) -> NDArray:
            assert is_right(exe(y), y)
            return x

    assert is_right(exe(Lazy()), x)


def test_threads_may_be_set_while_calls_run(exe: weft.Executable) -> None:
    (x,) = inputs(1)
    mine = copy.copy(exe)

    def work(number: int) -> None:
        for turn in range(100):
            if number == 0:
                mine.threads = 1 + turn % 3
            else:
                assert is_right(mine(x), x)

    in_threads(3, work)


def in_child(work: Callable[[], bool]) -> bool:
    """Whether `work` holds in a forked child, which has twenty seconds."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_computes_as_its_parent(exe: weft.Executable) -> None:
    (x,) = inputs(1)
    assert is_right(exe(x), x)
    assert in_child(lambda: all(is_right(exe(x), x) for _ in range(20)))
    assert is_right(exe(x), x)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_amid_the_calls_of_other_threads_harms_nobody(exe: weft.Executable) -> None:
    arrays = inputs(4)
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            try:
                for _ in range(5):
                    assert in_child(lambda: all(is_right(exe(x), x) for x in arrays))
            finally:
                done.set()
        while not done.is_set():
            assert is_right(exe(arrays[number]), arrays[number])

    in_threads(4, work)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_of_a_program_with_threads_can_be_given_threads_again() -> None:
    exe = weft.compile(module(), threads=2)
    (x,) = inputs(1)
    exe(x)

    def work() -> bool:
        exe.threads = 2
        return is_right(exe(x), x)

    assert in_child(work)


def test_a_copy_shares_code_and_has_its_own_threads() -> None:
    exe = weft.compile(module(), threads=2)
    (x,) = inputs(1)
    for other in (copy.copy(exe), copy.deepcopy(exe)):
        other.threads = 1
        assert other.program is exe.program
        assert is_right(other(x), x)
    assert exe.threads == 2 or sys.platform != "linux"


def test_pickling_is_refused_with_the_way_to_go(exe: weft.Executable) -> None:
    with pytest.raises(UsageError, match="cannot be pickled") as error:
        pickle.dumps(exe)
    assert error.value.hint is not None and "save" in error.value.hint


@pytest.mark.parametrize(
    "target",
    [
        "llvm -mtriple=aarch64-linux-gnu",
        "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1",
        "llvm -mtriple=riscv64-linux-gnu",
        "llvm -mtriple=riscv64-linux-gnu -mcpu=sifive-x280",
        "llvm -mtriple=wasm32-unknown-unknown -mattr=+simd128",
    ],
)
def test_a_model_is_compiled_for_another_machine_and_saved(target: str, tmp_path: Any) -> None:
    exe = weft.compile(module(), target)
    architecture = target.split("=")[1].split("-")[0]
    assert exe.target.architecture == architecture
    exe.save(tmp_path / "graph.weft")
    with pytest.raises(PlatformError, match=f"the code is for {architecture}.*this machine is"):
        exe(*inputs(1))
    with pytest.raises(PlatformError, match="the code is for"):
        exe.bind(inputs(1))
    with pytest.raises(PlatformError, match=rf"graph\.weft: error: the code is for {architecture}"):
        weft.load(tmp_path / "graph.weft")


def test_objects_are_of_the_machine_they_are_for() -> None:
    machines = {"aarch64": 183, "riscv64": 243, "x86_64": 62}
    for architecture, number in machines.items():
        exe = weft.compile(module(), f"llvm -mtriple={architecture}-linux-gnu")
        for image in exe.graph.objects:
            assert image[:4] == b"\x7fELF"
            assert int.from_bytes(image[18:20], "little") == number
    wasm = weft.compile(module(), "llvm -mtriple=wasm32-unknown-unknown")
    assert all(image[:4] == b"\0asm" for image in wasm.graph.objects)


def test_features_that_this_processor_lacks_are_named() -> None:
    host = host_platform()
    assert why_not_here(host) is None
    lacking = Platform(host.triple, "future", (*host.features, "time-travel", "mind-reading"))
    refusal = why_not_here(lacking)
    assert refusal is not None
    assert "this processor" in refusal.message and refusal.message.endswith("mind-reading, time-travel")


def test_no_machine_is_refused_for_what_only_systems_use() -> None:
    host = host_platform()
    newer = Platform(host.triple, "newer", ("avx2", "avx10.1", "prefetchi", "rtm", "xsaves", "time-travel"))
    assert newer.missing_features({"avx2"}) == ["time-travel"]


def test_the_same_system_may_be_spelled_in_several_ways() -> None:
    linux = Platform("x86_64-unknown-linux-gnu", "", ())
    for triple in ("x86_64-pc-linux-gnu", "x86_64-linux-gnu", "amd64-unknown-linux-musl"):
        other = Platform(triple, "", ())
        assert (other.architecture, other.system) == (linux.architecture, linux.system)
    assert Platform("x86_64-apple-darwin23", "", ()).system != linux.system


def test_the_address_of_an_array_is_numpys() -> None:
    whole = np.arange(24.0).reshape(4, 6)
    read_only = whole.copy()
    read_only.flags.writeable = False
    for array in (whole, whole[1:, 2:], read_only, np.empty((0, 3)), np.array(1.5), np.zeros(3, np.float16)):
        assert address(array) == array.ctypes.data

"""Workers end with the process that needs them, however it ends, and leave nothing open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.dialects.support import knobs
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.support.parser import parse_module
from weft.dialects.support.processors import available_processors
from weft.dialects.tir.analyzer import nodes
from weft.lowering.machine import codegen, workers
from weft.lowering.machine.codegen import CodegenPool
from weft.lowering.machine.kernel_cache import KernelCache, MemoryCache
from weft.lowering.machine.target import Target
from weft.lowering.machine.workers import Workers, start_workers
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.intrinsics.tensor_intrin import TensorIntrin

ROOT = Path(__file__).parents[2]
EMPTY = "define void @f() {\n  ret void\n}\n"

PARENT = """
import os, signal, sys, time, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from weft.lowering.machine.codegen import CodegenPool
from weft.lowering.machine.target import Target
pool = CodegenPool(Target(), 2)
pool.submit("k", "define void @f() {\\n  ret void\\n}\\n")
pool.result("k")
def ready():
    print(*pool._workers.pool._processes, flush=True)
def say(text):
    print(text, file=sys.stderr, flush=True)
"""
"""A process with a pool. `ready()` tells the processes of its workers."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")


def ended(process: int) -> bool:
    """Whether a process ends within ten seconds."""
    for _ in range(1000):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


_STARTED: list[int] = []


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """End what a test that fails leaves behind."""
    yield
    for process in _STARTED:
        with suppress(OSError):
            if "pool._workers" in Path(f"/proc/{process}/cmdline").read_text():  # not another one of that number
                os.kill(process, signal.SIGKILL)
    _STARTED.clear()


def start(code: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A process that has a pool and does `code`, and its workers, when it has said that it is ready."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "WEFT_CACHE_DIR": ""},  # what is kept needs no workers
        start_new_session=True,
    )
    assert parent.stdout is not None
    workers = [int(word) for word in parent.stdout.readline().split()]
    assert len(workers) == 2
    _STARTED.extend([parent.pid, *workers])
    return parent, workers


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGABRT])
def test_workers_end_when_their_parent_is_killed(number: signal.Signals) -> None:
    parent, workers = start("ready()\ntime.sleep(60)")
    parent.send_signal(number)
    output, _ = parent.communicate(timeout=10)  # a pipe that a worker held would keep this waiting
    assert output == "" and parent.returncode == -number
    assert all(ended(worker) for worker in workers)


def test_the_end_of_the_pipe_is_enough() -> None:
    """Where the system does not say that a parent died, the pipe that it held does."""
    parent, workers = start("ready()\nos.close(pool._workers._end)\ntime.sleep(60)")
    assert all(ended(worker) for worker in workers)
    parent.kill()
    parent.communicate(timeout=10)


def test_an_interrupt_of_the_group_is_answered_by_the_parent_alone() -> None:
    parent, workers = start(
        # An interrupt just before a sleep is seen when that ends: many short ones.
        "try:\n  ready()\n  while True: time.sleep(0.05)\nexcept KeyboardInterrupt:\n  say('interrupted')\npool.close()"
    )
    os.killpg(parent.pid, signal.SIGINT)
    output, errors = parent.communicate(timeout=10)
    assert (output, errors, parent.returncode) == ("", "interrupted\n", 0)
    assert all(ended(worker) for worker in workers)


@pytest.mark.parametrize("code", ["", "sys.exit(3)", "os._exit(3)", "raise SystemExit"])
def test_workers_end_with_the_interpreter(code: str) -> None:
    parent, workers = start(f"ready()\n{code}")
    _, errors = parent.communicate(timeout=20)
    assert "Traceback" not in errors
    assert all(ended(worker) for worker in workers)


def test_a_handler_of_the_parent_is_not_the_workers() -> None:
    handler = "signal.signal(signal.SIGTERM, lambda *_: say('mine'))\n"
    parent, workers = start(f"{handler}ready()\nos.killpg(0, signal.SIGTERM)\ntime.sleep(1)\nos._exit(0)")
    _, errors = parent.communicate(timeout=20)
    assert errors == "mine\n"
    assert all(ended(worker) for worker in workers)


def test_a_closed_pool_leaves_no_file_open() -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    with CodegenPool(Target(), 2) as pool:
        assert pool.start()
    before = count()
    for _ in range(3):
        with CodegenPool(Target(), 2) as pool:
            assert pool.start() and not pool.start()
    assert count() == before


def test_a_pool_with_nothing_to_compile_has_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(jobs: int | None, tasks: object) -> None:
        pytest.fail("workers were started")

    monkeypatch.setattr(codegen, "start_workers", fail)
    with CodegenPool(Target(), 2, opt_level=3, memory=(memory := MemoryCache(1000))) as pool:
        memory.put(KernelCache.key(EMPTY, Target().resolved(), 3), b"kept")
        pool.submit("k", EMPTY)
        assert pool.result("k") == b"kept"


def test_one_job_needs_no_workers() -> None:
    assert start_workers(1) is None
    with knobs.JOBS.set(1):
        assert start_workers() is None


HERE, compile_module = os.getpid(), codegen.compile_module


def compiled_elsewhere(text: str, target: Target, opt_level: int) -> bytes:
    assert os.getpid() != HERE
    return compile_module(text, target, opt_level)


def test_kernels_are_compiled_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is compiled nowhere else: this process is not allowed to."""
    text = """
relay.func @main(%x: tensor<5x7xf32>) -> tensor<7xf32> {
  %y = relay.exp %x : tensor<5x7xf32>
  %z = relay.sum %y {axis = array<i64: 0>} : (tensor<5x7xf32>) -> tensor<7xf32>
  relay.return %z : tensor<7xf32>
}"""
    x = np.linspace(-1, 1, 35, dtype=np.float32).reshape(5, 7)
    monkeypatch.setattr(codegen, "compile_module", compiled_elsewhere)
    with knobs.JOBS.set(2):
        executable = weft.compile(parse_module(text, new_ir_context(), "sums.mlir"), threads=1)
    np.testing.assert_allclose(np.asarray(executable(x), np.float32), np.exp(x).sum(axis=0), rtol=1e-5)


def test_the_environment_says_how_many_workers_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def note(jobs: int, tasks: object) -> None:
        started.append(jobs)

    monkeypatch.setattr(workers, "Workers", note)
    for jobs in (2, 3, 0):
        with knobs.JOBS.set(jobs):
            start_workers()
    assert started == [2, 3, *(n for n in [available_processors()] if n > 1)]
    with knobs.JOBS.set(-1), pytest.raises(UsageError, match="WEFT_JOBS is negative"):
        start_workers()


def test_a_worker_has_no_lock_that_another_thread_holds() -> None:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with nodes._LOCK, TensorIntrin._lock:  # pyright: ignore[reportPrivateUsage]
            held.set()
            done.wait(0.2)

    def make() -> bytes:
        found = TensorIntrin.foreign()
        return f"{nodes.const(10**9) + 1} {found}".encode()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    crew = Workers(1, {"make": make})
    try:
        assert crew.run("make").result(timeout=20) == make()
    finally:
        done.set()
        crew.close(at_once=True)
        thread.join()

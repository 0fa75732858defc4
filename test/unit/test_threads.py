"""The pool of threads: results for every number of threads, many callers at once, forks, ends of the process, leaks."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from native import parse

from weft.compiler import compile as weft_compile
from weft.dialects.support.diagnostics import Diagnostic, handled_by
from weft.lowering.abi import LAST_FIRST, POOL, POOL_FUNCTIONS, RUN
from weft.lowering.llvm_ir.module import emit_llvm_ir
from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.lowering.threads import pool
from weft.lowering.threads.pool import pool_module, pool_object
from weft.runtime import threads
from weft.runtime.executable import Executable
from weft.runtime.jit import LoadedObjects
from weft.runtime.linker import Linker

ROOT = Path(__file__).parents[2]

GRAPH = """
relay.func @main(%x: tensor<37x96xf32>, %w: tensor<64x96xf32>) -> tensor<37x64xf32> {
  %0 = relay.nn.dense %x, %w {units = 64 : i64} : (tensor<37x96xf32>, tensor<64x96xf32>) -> tensor<37x64xf32>
  %1 = relay.nn.softmax %0 : tensor<37x64xf32>
  relay.return %1 : tensor<37x64xf32>
}
"""

SUM = """
func.func @sum(%x: memref<4096xi64>, %y: memref<4096xi64>, %slots: !rt.slots<2>, %threads: index) {
  %extent = arith.constant 4096 : index
  %one = arith.constant 1 : index
  rt.share %slots[0] for %first to %last of %extent threads %threads {
    scf.for %i = %first to %last step %one {
      %v = memref.load %x[%i] : memref<4096xi64>
      %w = arith.addi %v, %v : i64
      memref.store %w, %y[%i] : memref<4096xi64>
    }
  } : !rt.slots<2>
  rt.share %slots[1] for %first to %last of %extent threads %threads rows 8 {
    scf.for %i = %first to %last step %one {
      %c = arith.constant 4095 : index
      %j = arith.subi %c, %i : index
      %v = memref.load %y[%j] : memref<4096xi64>
      %old = memref.load %x[%i] : memref<4096xi64>
      %sum = arith.addi %v, %old : i64
      memref.store %sum, %x[%i] : memref<4096xi64>
    }
  } : !rt.slots<2>
  func.return
}
"""
"""Twice: the second loop reads what other threads wrote in the first, and goes through eight rows at once."""

REGION = f"""
llvm.func @{RUN}(!llvm.ptr, !llvm.ptr, i64)
llvm.func @sum(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64)
llvm.func @memset(!llvm.ptr, i32, i64) -> !llvm.ptr
llvm.func internal @body(%context: !llvm.ptr, %number: i64) {{
  %y = llvm.getelementptr %context[4096] : (!llvm.ptr) -> !llvm.ptr, i64
  %slots = llvm.getelementptr %context[8192] : (!llvm.ptr) -> !llvm.ptr, i64
  %at = llvm.getelementptr %context[8224] : (!llvm.ptr) -> !llvm.ptr, i64
  %last_first = llvm.mlir.constant({LAST_FIRST} : i64) : i64
  %threads = llvm.atomicrmw add %at, %last_first monotonic : !llvm.ptr, i64
  llvm.call @sum(%context, %y, %slots, %threads) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}}
llvm.func @run(%context: !llvm.ptr, %threads: i64) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %bytes = llvm.mlir.constant(256 : i64) : i64
  %slots = llvm.getelementptr %context[8192] : (!llvm.ptr) -> !llvm.ptr, i64
  %0 = llvm.call @memset(%slots, %zero, %bytes) : (!llvm.ptr, i32, i64) -> !llvm.ptr
  %at = llvm.getelementptr %context[8224] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %threads, %at : i64, !llvm.ptr
  %body = llvm.mlir.addressof @body : !llvm.ptr
  llvm.call @{RUN}(%body, %context, %threads) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}}
"""


LINGER = f"""
llvm.func @{RUN}(!llvm.ptr, !llvm.ptr, i64)
llvm.func @usleep(i32) -> i32
llvm.func internal @body(%context: !llvm.ptr, %number: i64) {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %most = llvm.mlir.constant(5000 : i64) : i64
  %short = llvm.mlir.constant(1000 : i32) : i32
  %long = llvm.mlir.constant(150000 : i32) : i32
  %left = llvm.getelementptr %context[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %before = llvm.atomicrmw add %context, %one seq_cst : !llvm.ptr, i64
  %first = llvm.icmp "eq" %before, %zero : i64
  llvm.cond_br %first, ^look(%zero : i64), ^linger
^look(%tries: i64):
  %entered = llvm.load %context atomic seq_cst {{alignment = 8 : i64}} : !llvm.ptr -> i64
  %joined = llvm.icmp "ugt" %entered, %one : i64
  %next = llvm.add %tries, %one : i64
  %enough = llvm.icmp "ugt" %next, %most : i64
  %stop = llvm.or %joined, %enough : i1
  llvm.cond_br %stop, ^end, ^wait
^wait:
  %0 = llvm.call @usleep(%short) : (i32) -> i32
  llvm.br ^look(%next : i64)
^linger:
  %1 = llvm.call @usleep(%long) : (i32) -> i32
  llvm.br ^end
^end:
  %2 = llvm.atomicrmw add %left, %one seq_cst : !llvm.ptr, i64
  llvm.return
}}
llvm.func @run(%context: !llvm.ptr) {{
  %threads = llvm.mlir.constant(2 : i64) : i64
  %body = llvm.mlir.addressof @body : !llvm.ptr
  llvm.call @{RUN}(%body, %context, %threads) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}}
"""
"""Counts who enters and who leaves: the first leaves when a second has come, who stays for a while."""

NUMBERS = f"""
llvm.func @{RUN}(!llvm.ptr, !llvm.ptr, i64)
llvm.func @pthread_self() -> i64
llvm.func @usleep(i32) -> i32
llvm.func internal @body(%context: !llvm.ptr, %number: i64) {{
  %short = llvm.mlir.constant(2000 : i32) : i32
  %self = llvm.call @pthread_self() : () -> i64
  %place = llvm.getelementptr %context[%number] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %self, %place : i64, !llvm.ptr
  %0 = llvm.call @usleep(%short) : (i32) -> i32
  llvm.return
}}
llvm.func @run(%context: !llvm.ptr, %threads: i64) {{
  %body = llvm.mlir.addressof @body : !llvm.ptr
  llvm.call @{RUN}(%body, %context, %threads) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}}
"""
"""Writes who came, each at its number."""


@cache
def region() -> tuple[LoadedObjects, object]:
    """`run(context, threads)`, linked with the process's pool."""
    from native import lower

    texts = [emit_llvm_ir(lower(SUM)), emit_llvm_ir(parse(REGION))]
    code = LoadedObjects([*(compile_module(text, Target(), 1) for text in texts), pool_object(Target())])
    return code, ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(code.address("run"))


def check_region(count: int, repeats: int = 1) -> None:
    """Run the region; every element is right, each time."""
    _, run = region()
    context = np.zeros(4096 * 2 + 33, np.int64)
    start = np.arange(4096)
    for _ in range(repeats):
        context[:4096] = start
        run(context.ctypes.data, count)  # type: ignore[operator]
        assert np.array_equal(context[:4096], start + 2 * start[::-1])


@pytest.fixture
def oversubscribed() -> Iterator[None]:
    """Up to eight threads work on a call, however few processors there are."""
    region()
    before = threads.set_limit(8)
    yield
    threads.set_limit(before)


@cache
def executable() -> Executable:
    return weft_compile(parse(GRAPH), "llvm -mcpu=native", threads=1)


def inputs() -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    return [generator.standard_normal(shape).astype(np.float32) for shape in ((37, 96), (64, 96))]


def workers() -> int:
    """Threads of this process, beside those that Python knows."""
    return len(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("count", range(1, 9))
def test_every_number_of_threads_gives_the_same(count: int, oversubscribed: None) -> None:
    check_region(count, 50)


def test_the_second_loop_is_not_begun_before_the_first_is_done(oversubscribed: None) -> None:
    for count in (2, 3, 8):
        check_region(count, 500)


def test_an_absurd_number_of_threads_is_as_good_as_the_processors() -> None:
    region()
    for count in (100_000, 1 << 40):
        check_region(count)
    assert workers() < 200


def test_one_thread_does_all_shares_whichever_end_it_begins_at() -> None:
    for count in (1, 2, 3, 5000):
        check_region(LAST_FIRST + count, 2)


def test_a_graph_on_several_threads_gives_what_it_gives_on_one(oversubscribed: None) -> None:
    exe = executable()
    arrays = inputs()
    exe.threads = 1
    expected = exe(*arrays)
    for count in range(2, 9):
        exe.threads = count
        for _ in range(20):
            np.testing.assert_array_equal(exe(*arrays), expected)


def test_many_callers_share_one_pool(oversubscribed: None) -> None:
    failures: list[BaseException] = []

    def call() -> None:
        try:
            check_region(2, 500)
        except BaseException as error:
            failures.append(error)

    before = workers()
    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not failures
    deadline = time.monotonic() + 10  # a thread of Python is joined before the system has ended it
    while workers() > before + 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert workers() <= before + 1  # a call of two threads wants one worker, and all share it


@pytest.mark.parametrize("count", [2, 3, 8])
def test_a_worker_has_the_number_of_its_seat_however_many_there_are(count: int, oversubscribed: None) -> None:
    code = LoadedObjects([compile_module(emit_llvm_ir(parse(NUMBERS)), Target(), 1)])
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(code.address("run"))
    found = np.zeros(1024, np.int64)
    run(found.ctypes.data, 8)  # seven workers are there then
    seen = set[int]()
    for _ in range(20):
        found = np.zeros(1024, np.int64)
        run(found.ctypes.data, count)
        numbers = {place: int(thread) for place, thread in enumerate(found) if thread}
        assert numbers.pop(0) == threading.get_ident() not in numbers.values()  # a worker may come back to another seat
        seen |= numbers.keys()
    assert seen and seen <= set(range(1, count))


def test_a_region_is_not_left_while_a_worker_is_in_it(oversubscribed: None) -> None:
    code = LoadedObjects([compile_module(emit_llvm_ir(parse(LINGER)), Target(), 1)])
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("run"))
    for _ in range(5):
        counts = np.zeros(2, np.int64)
        run(counts.ctypes.data)
        assert list(counts) == [2, 2]


def test_more_callers_than_the_pool_has_slots(oversubscribed: None) -> None:
    failures: list[BaseException] = []

    def call() -> None:
        try:
            check_region(3, 5)
        except BaseException as error:
            failures.append(error)

    callers = [threading.Thread(target=call) for _ in range(100)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not failures


def test_two_loads_of_the_pool_are_one() -> None:
    region()
    first = threads.with_pool([pool_object(Target())])
    assert first[0] == []
    assert first[1] == threads.with_pool([])[1]
    assert set(first[1]) == set(POOL_FUNCTIONS)


def test_only_the_pools_object_is_taken_for_it() -> None:
    region()
    image = compile_module(emit_llvm_ir(parse(REGION)), Target(), 1)
    assert RUN.encode() in image and threads.with_pool([image])[0] == [image]


def test_many_thousands_of_small_regions_leave_nothing_behind() -> None:
    _, run = region()
    context = np.zeros(4096 * 2 + 33, np.int64)
    check_region(2, 10)
    tasks, memory = workers(), resident()
    for _ in range(30_000):
        run(context.ctypes.data, 2)  # type: ignore[operator]
    assert workers() == tasks
    assert resident() - memory < 1 << 20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_idle_workers_sleep() -> None:
    import time

    check_region(2, 10)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1


def test_a_forked_child_has_threads_of_its_own(oversubscribed: None) -> None:
    check_region(4)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            threads.set_limit(4)
            alone = workers()
            check_region(4, 100)
            status = 0 if workers() == alone + 3 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    check_region(4, 10)


def test_forks_while_others_run(oversubscribed: None) -> None:
    stop = threading.Event()
    failures: list[BaseException] = []

    def call() -> None:
        try:
            while not stop.is_set():
                check_region(3)
        except BaseException as error:
            failures.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    statuses: list[int] = []
    for _ in range(20):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(30)
                check_region(3, 5)
                status = 0
            finally:
                os._exit(status)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    caller.join()
    assert statuses == [0] * 20 and not failures


PROGRAM = f"""
import sys, threading
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "test" / "support")!r}, {str(ROOT / "test" / "unit")!r}]
import test_threads
test_threads.region()
test_threads.threads.set_limit(8)
"""


def run_program(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM + text], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("", 0),
        ("sys.exit(7)", 7),
        ("import os; os._exit(3)", 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("raise KeyboardInterrupt", -signal.SIGINT),
    ],
)
def test_a_process_ends_as_it_wants_whatever_its_workers_do(ending: str, code: int) -> None:
    done = run_program(f"test_threads.check_region(4, 20)\n{ending}\n")
    assert done.returncode == code, done.stderr


def test_a_process_ends_while_a_thread_of_python_runs_a_region() -> None:
    loop = """
def forever():
    while True:
        test_threads.check_region(4)
for _ in range(2):
    threading.Thread(target=forever, daemon=True).start()
import time; time.sleep(0.3)
"""
    done = run_program(loop)
    assert done.returncode == 0, done.stderr


def test_workers_take_no_signals() -> None:
    text = """
import os, signal, time
others = set(os.listdir("/proc/self/task"))
test_threads.check_region(4, 20)
started = set(os.listdir("/proc/self/task")) - others
for task in started:
    status = open(f"/proc/self/task/{task}/status").read()
    blocked = int(next(line for line in status.splitlines() if line.startswith("SigBlk")).split()[1], 16)
    assert blocked >> (signal.SIGINT - 1) & 1 and blocked >> (signal.SIGTERM - 1) & 1, task
print("checked", len(started))
"""
    done = run_program(text)
    assert done.returncode == 0 and "checked 3" in done.stdout, done.stderr


def test_a_system_that_gives_no_threads_is_served_by_the_caller() -> None:
    text = """
import resource
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
import os
if os.getuid() == 0:
    os.setuid(65534)
before = test_threads.workers()
test_threads.check_region(4, 20)
assert test_threads.workers() == before, (before, test_threads.workers())
print("alone")
"""
    done = run_program(text)
    assert done.returncode == 0 and "alone" in done.stdout, done.stderr


def test_a_limit_below_one_thread_is_refused() -> None:
    with pytest.raises(ValueError, match="0 threads: at least one is needed"):
        threads.set_limit(0)


@pytest.mark.parametrize(
    "triple", ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "riscv64-unknown-linux-gnu"]
)
def test_the_pool_compiles_for_every_processor_it_names(triple: str) -> None:
    module = pool_module(triple)
    module.verify()
    assert f"{POOL}_futex({pool.FUTEX_NUMBERS[triple.partition('-')[0]]} : i64)" in str(module)


@pytest.mark.parametrize("triple", ["x86_64-unknown-linux-gnu", "riscv64-unknown-linux-gnu", "wasm32-unknown-unknown"])
def test_the_pool_that_is_compiled_is_the_one_in_the_dialect(triple: str) -> None:
    with handled_by(lambda _: None):
        anew = "write it anew: python -m weft.lowering.threads.pool"
        assert pool.pool_text(triple) == emit_llvm_ir(pool_module(triple)), anew


def test_a_target_without_threads_gets_one_and_a_warning() -> None:
    said: list[Diagnostic] = []
    pool._file.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with handled_by(said.append):
        module = pool_module("arm64-apple-macosx")
        pool_module("arm64-apple-macosx")
    module.verify()
    assert [d.message for d in said] == ["there are no threads for the target 'arm64-apple-macosx'; one thread is used"]


def test_the_stand_in_does_all_work_on_the_caller() -> None:
    from native import lower

    alone = compile_module(emit_llvm_ir(pool_module("arm64-apple-macosx")), Target())
    texts = [emit_llvm_ir(lower(SUM)), emit_llvm_ir(parse(REGION))]
    linker = Linker([*(compile_module(text, Target(), 1) for text in texts), alone])
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(linker.address("run"))
    context = np.zeros(4096 * 2 + 33, np.int64)
    context[:4096] = np.arange(4096)
    before = workers()
    run(context.ctypes.data, 4)
    assert workers() == before
    assert np.array_equal(context[:4096], np.arange(4096) + 2 * np.arange(4096)[::-1])

"""Kernels that other processes lower: they are what they would be here, and what goes wrong is told as it would be."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from native import parse
from xdsl.context import Context
from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation

import weft
from weft import kept_programs
from weft.dialects.support import knobs
from weft.dialects.support.diagnostics import Diagnostic, Severity, emit, handled_by
from weft.frontend.mlir import parse_mlir
from weft.lowering import kernel_memo
from weft.lowering.abi import POOL, CompiledGraph
from weft.lowering.compiler import MAIN, MARK, compile_graph
from weft.lowering.kernel_memo import KernelMemo
from weft.lowering.lowered_kernel import LOWERED
from weft.lowering.machine.codegen import CodegenError, CodegenPool
from weft.lowering.machine.kernel_cache import IN_MEMORY, CacheCounts
from weft.lowering.machine.target import Target
from weft.lowering.tir_to_loops.convert_tir_to_loops import ConvertTirToLoopsPass
from weft.runtime.artefact import digest
from weft.transforms.infra import PassContext, PassTimingInstrument, registry
from weft.transforms.infra.parts import Part

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")

HERE = os.getpid()
IS_ALONE = kernel_memo.is_alone
HOST = Target.parse("llvm -mcpu=native")
GRAPH = """
relay.func @main(%x: tensor<5x7xf32>, %y: tensor<3xi64>) -> (tensor<5x7xf32>, tensor<3x7xf32>) {
  %0 = relay.nn.softmax %x : tensor<5x7xf32>
  %1 = relay.nn.softmax %0 {axis = 0 : i64} : tensor<5x7xf32>
  %2 = relay.take %0, %y {axis = 0 : i64, mode = "error"} : (tensor<5x7xf32>, tensor<3xi64>) -> tensor<3x7xf32>
  relay.return %1, %2 : tensor<5x7xf32>, tensor<3x7xf32>
}
"""
SOFTMAXES = """
relay.func @main(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.nn.softmax %x : tensor<5x7xf32>
  %1 = relay.nn.softmax %0 {axis = 0 : i64} : tensor<5x7xf32>
  relay.return %1 : tensor<5x7xf32>
}
"""
"""Two of its kernels."""
X = np.linspace(-1, 1, 35, dtype=np.float32).reshape(5, 7)

Act = Callable[[Context, ModuleOp], None]


@pytest.fixture(autouse=True)
def nothing_in_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nor passes from outside, which other tests registered in this process: with these, every kernel is lowered."""
    monkeypatch.setenv("WEFT_CACHE_DIR", "")
    monkeypatch.setattr(kernel_memo, "is_alone", lambda: True)  # whatever threads other tests have left
    for name in registry.outside_passes():
        monkeypatch.delitem(registry._registered, name, raising=False)  # pyright: ignore[reportPrivateUsage]
    registry._forget()  # pyright: ignore[reportPrivateUsage]
    forget()
    yield
    registry._forget()  # pyright: ignore[reportPrivateUsage]


def forget() -> None:
    IN_MEMORY.clear()
    LOWERED.clear()


@dataclass(frozen=True)
class Watched:
    """Has a pass of each kernel do something first."""

    monkeypatch: pytest.MonkeyPatch

    def do(self, act: Act) -> None:
        apply = ConvertTirToLoopsPass.apply

        def watched(self: ConvertTirToLoopsPass, ctx: Context, op: ModuleOp) -> None:
            act(ctx, op)
            apply(self, ctx, op)

        self.monkeypatch.setattr(ConvertTirToLoopsPass, "apply", watched)


@pytest.fixture
def each_kernel(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


def compiled(jobs: int) -> CompiledGraph:
    return compile_graph(parse(GRAPH), HOST, jobs=jobs)


def elsewhere(ctx: Context, op: ModuleOp) -> None:
    assert os.getpid() != HERE, "a kernel is lowered here"


def no_children() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG) == (0, 0) and False
    except ChildProcessError:
        return True


def test_kernels_are_lowered_and_compiled_by_workers(each_kernel: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    one = compiled(1)
    forget()
    sent: list[str] = []
    submit = CodegenPool.submit

    def note(self: CodegenPool, key: str, text: str) -> None:
        submit(self, key, text)
        sent.extend([key] if self._contents[key] in self._running else [])  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(CodegenPool, "submit", note)
    each_kernel.do(elsewhere)
    other = compiled(2)
    assert len(one.kernels) == 3 and sent == [POOL, *other.kernels, MAIN, MARK]
    assert digest(one) == digest(other) and one.objects == other.objects
    assert no_children()


def test_what_workers_have_lowered_is_known_afterwards(each_kernel: Watched) -> None:
    """But for a kernel that makes checks, which tell of their places."""
    each_kernel.do(elsewhere)
    module = parse_mlir(GRAPH, "graph.mlir")
    with knobs.JOBS.set(2):
        first = weft.compile(module, threads=1)
    assert first.kernel_counts is not None and first.kernel_counts.known == 0 and first.kernel_counts.compiled >= 3
    with pytest.raises(weft.CheckError) as error:
        first(X, np.array([0, 9, 1]))
    assert str(error.value.place).startswith("graph.mlir:5:")
    here: list[int] = []
    each_kernel.do(lambda ctx, op: here.append(os.getpid()))
    kept_programs.forget()
    with pytest.raises(AssertionError, match="a kernel is lowered here"):
        weft.compile(module, threads=1)
    assert here == [HERE]


def test_what_workers_have_lowered_is_kept_on_disk(
    each_kernel: Watched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path))
    each_kernel.do(elsewhere)
    one = compiled(2)
    forget()
    counts: list[CacheCounts] = []
    other = compile_graph(parse(SOFTMAXES), HOST, jobs=1, counted=counts.append)
    assert counts[0].known == 2 and counts[0].disk >= 2
    assert set(other.objects) & set(one.objects) >= set(one.objects[:2])


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_kept_of_a_kernel_is_nobody_elses(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The declarations that a compilation works on are its own: whatever becomes of them, the next one has others."""
    given: list[Operation] = []
    lowered, find = KernelMemo.lowered, KernelMemo.find

    def note_lowered(self: KernelMemo, part: Part, linked: llvm.FuncOp, renamed: bool) -> None:
        given.extend((part.placeholder, linked))
        lowered(self, part, linked, renamed)

    def note_found(self: KernelMemo, part: Part, taken: dict[str, str]) -> tuple[func.FuncOp, llvm.FuncOp] | None:
        found = find(self, part, taken)
        given.extend(found or ())
        return found

    monkeypatch.setattr(KernelMemo, "lowered", note_lowered)
    monkeypatch.setattr(KernelMemo, "find", note_found)
    for _ in range(3):
        given.clear()
        compile_graph(parse(SOFTMAXES), HOST, jobs=jobs)
        assert len(given) >= 4 and not any("changed" in op.attributes for op in given)
        for op in given:
            op.attributes["changed"] = UnitAttr()


def test_who_looks_on_has_all_lowered_here(each_kernel: Watched) -> None:
    processes: list[int] = []
    each_kernel.do(lambda ctx, op: processes.append(os.getpid()))
    with PassContext(instruments=[PassTimingInstrument()]):
        compiled(2)
    assert processes == [HERE] * 3


def test_all_is_lowered_here_while_there_are_other_threads(
    each_kernel: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_memo, "is_alone", IS_ALONE)
    processes: list[int] = []
    each_kernel.do(lambda ctx, op: processes.append(os.getpid()))
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        compiled(2)
    finally:
        done.set()
        other.join()
    assert processes == [HERE] * 3


def test_an_error_in_a_worker_is_raised_here(each_kernel: Watched) -> None:
    def fail(ctx: Context, op: ModuleOp) -> None:
        raise Diagnostic.at(op, "this kernel is not lowered")

    each_kernel.do(fail)
    told: list[str] = []
    for jobs in (1, 2):
        with pytest.raises(Diagnostic, match="this kernel is not lowered") as error:
            compiled(jobs)
        told.append(f"{error.value}\n{getattr(error.value, '__notes__', ())}")
    assert told[0] == told[1]
    assert no_children()


def test_what_is_told_of_a_kernel_is_heard_once(each_kernel: Watched) -> None:
    each_kernel.do(lambda ctx, op: emit(Diagnostic.at(op, "look at this", severity=Severity.WARNING)))
    told: list[Diagnostic] = []
    with handled_by(told.append):
        graph = compiled(2)
    assert [each.message.partition(": ")[2] for each in told] == ["look at this"] * len(graph.kernels)


def test_a_worker_that_is_killed_is_a_diagnostic(each_kernel: Watched) -> None:
    def die(ctx: Context, op: ModuleOp) -> None:
        elsewhere(ctx, op)
        os.kill(os.getpid(), signal.SIGKILL)

    each_kernel.do(die)
    with pytest.raises(CodegenError, match=r"the process that compiled 'fused_.*' died"):
        compiled(2)
    assert no_children()


def test_an_interrupt_does_not_wait_for_the_workers(each_kernel: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: CodegenPool, name: str) -> bytes | None:
        raise KeyboardInterrupt

    each_kernel.do(lambda ctx, op: time.sleep(60))
    monkeypatch.setattr(CodegenPool, "done", interrupted)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        compiled(2)
    assert time.monotonic() - begun < 30
    assert no_children()

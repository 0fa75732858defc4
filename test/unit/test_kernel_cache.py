"""Kept kernels: in memory and on disk, within limits, by several processes that may be killed at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import PassContext
from weft.dialects.support import knobs
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.support.file_cache import Entry
from weft.frontend.mlir import parse_mlir
from weft.lowering import kept_kernels
from weft.lowering.kernel_memo import kernel_memo
from weft.lowering.lowered_kernel import LOWERED, LoweredKernel, LoweredKernels
from weft.lowering.machine import kernel_cache
from weft.lowering.machine.codegen import CodegenPool
from weft.lowering.machine.kernel_cache import IN_MEMORY, LOWERED_SUFFIX, CacheCounts, KernelCache, MemoryCache
from weft.lowering.machine.target import Target
from weft.runtime.artefact import digest
from weft.tools.weft_cache import main
from weft.transforms.infra import ModulePass, registry
from weft.transforms.infra.info import PassInfo
from weft.transforms.infra.registry import registered
from weft.transforms.infra.remarks import Remark, sent_to
from weft.transforms.tir.intrinsics.tensor_intrin import TensorIntrin

GRAPH = """
relay.func @main(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.nn.softmax %x : tensor<5x7xf32>
  relay.return %0 : tensor<5x7xf32>
}
"""
OTHER = """
relay.func @main(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = relay.nn.softmax %x : tensor<5x7xf32>
  %1 = relay.nn.softmax %0 {axis = 0 : i64} : tensor<5x7xf32>
  relay.return %1 : tensor<5x7xf32>
}
"""
TARGET = Target.parse("llvm")


def test_an_object_is_known_by_what_has_llvm_make_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = KernelCache.key(answer(1), TARGET, 3)
    other = tmp_path / "binding.py"
    other.write_text("another version")
    monkeypatch.setattr(kernel_cache.binding, "__file__", str(other))
    kernel_cache._code_generator.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert KernelCache.key(answer(1), TARGET, 3) != before
    monkeypatch.undo()
    kernel_cache._code_generator.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert KernelCache.key(answer(1), TARGET, 3) == before


def answer(number: int) -> str:
    return f"define i64 @answer() {{\n  ret i64 {number}\n}}\n"


@pytest.fixture(autouse=True)
def nothing_in_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nor passes from outside, which other tests registered in this process: with these, every kernel is lowered."""
    forget()
    with monkeypatch.context() as patch:
        patch.setenv("WEFT_CACHE_DIR", "")  # which other tests set for all of a process
        for name in registry.outside_passes():
            patch.delitem(registry._registered, name, raising=False)  # pyright: ignore[reportPrivateUsage]
        registry._forget()  # pyright: ignore[reportPrivateUsage]
        yield
    registry._forget()  # pyright: ignore[reportPrivateUsage]


def forget() -> None:
    IN_MEMORY.clear()
    LOWERED.clear()


def counts(text: str) -> CacheCounts:
    exe = weft.compile(parse_mlir(text, "graph.mlir"), threads=1)
    arrays = [np.ones(spec.shape, np.float32) for spec in exe.inputs]
    assert np.asarray(exe(*arrays)).shape == (5, 7)
    assert exe.kernel_counts is not None
    return exe.kernel_counts


def test_a_compilation_finds_in_memory_what_another_made() -> None:
    assert counts(GRAPH) == CacheCounts(compiled=3)
    assert counts(GRAPH) == CacheCounts(memory=3, known=1)
    assert counts(OTHER) == CacheCounts(memory=2, compiled=2, known=1), "the softmax and the pool are the same"


def test_a_process_finds_on_disk_what_another_made(tmp_path: Path) -> None:
    with knobs.CACHE_DIR.set(str(tmp_path)):
        assert counts(GRAPH) == CacheCounts(compiled=3)
        forget()
        assert counts(GRAPH) == CacheCounts(disk=3, known=1)
        assert counts(GRAPH) == CacheCounts(memory=3, known=1)
        assert len(list(KernelCache(tmp_path / "kernels").objects())) == 4


MANY = """
relay.func @main(%x: tensor<1x8x12x12xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x16x12x12xf32> {
  %0 = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1>, channels = 16 : i64, kernel_size = array<i64: 3, 3>}
    : (tensor<1x8x12x12xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x12x12xf32>
  %1 = relay.nn.softmax %0 {axis = 1 : i64} : tensor<1x16x12x12xf32>
  %2 = relay.exp %1 : tensor<1x16x12x12xf32>
  %3 = relay.nn.softmax %2 {axis = 1 : i64} : tensor<1x16x12x12xf32>
  relay.return %3 : tensor<1x16x12x12xf32>
}
"""


def test_a_graph_of_known_kernels_is_the_same_artefact() -> None:
    module = parse_mlir(MANY, "many.mlir")
    with PassContext(config={"fuse-ops.strategy": "tvm"}):  # of several kernels
        first, second = weft.compile(module), weft.compile(module)
    assert second.kernel_counts is not None and second.kernel_counts.known == len(second.graph.kernels) >= 3
    assert second.kernel_counts.compiled == 0
    assert digest(first.graph) == digest(second.graph)
    arrays = first.example_inputs()
    assert np.array_equal(np.asarray(first(*arrays)), np.asarray(second(*arrays)))


def test_a_graph_of_kernels_that_are_kept_on_disk_is_the_same_artefact(tmp_path: Path) -> None:
    module = parse_mlir(MANY, "many.mlir")
    with knobs.CACHE_DIR.set(str(tmp_path)):
        first = weft.compile(module)
        forget()
        second = weft.compile(module)
    assert second.kernel_counts == CacheCounts(disk=len(first.graph.kernels) + 2, known=len(first.graph.kernels))
    assert digest(first.graph) == digest(second.graph)


def test_kernels_that_another_compiler_has_lowered_are_lowered_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knobs.CACHE_DIR.set(str(tmp_path)):
        assert known() == 0
        forget()
        with monkeypatch.context() as patch:
            patch.setattr(kept_kernels, "compiler_digest", lambda: "another")
            assert known() == 0
            forget()
            patch.setattr(kept_kernels, "compiler_digest", lambda: None)
            assert known() == 0, "nobody knows by which"
        forget()
        assert known() == 1


def test_a_kept_kernel_that_is_damaged_or_of_another_form_is_lowered_anew(tmp_path: Path) -> None:
    with knobs.CACHE_DIR.set(str(tmp_path)):
        assert known() == 0
        (entry,) = [each for each in KernelCache(tmp_path / "kernels").entries() if each.path.suffix == LOWERED_SUFFIX]
        whole = entry.path.read_bytes()
        for damaged in (b"", whole[:-1], whole[:40] + b"x" + whole[41:]):
            entry.path.write_bytes(damaged)
            forget()
            assert known() == 0
        forget()
        assert known() == 1, "it was written over"
    for data in (b"", b"[]", b"{}", b'{"declaration": "x", "linked": "", "private": 1, "text": 2}', whole[:-1]):
        assert kept_kernels.decoded(data) is None


def test_a_kernel_that_does_not_come_back_as_it_was_is_not_there() -> None:
    (kernel,) = parse_mlir("func.func private @f(memref<4xf32>) attributes {a = 1 : i64}", "kernel.mlir").ops
    (linked,) = parse_mlir("llvm.func @f(!llvm.ptr)", "linked.mlir").ops
    assert isinstance(kernel, func.FuncOp) and isinstance(linked, llvm.FuncOp)
    kept = kept_kernels.encoded(LoweredKernel(kernel, linked, "text", (("g", "body"),)))
    found = kept_kernels.decoded(kept)
    assert found is not None and str(found.declaration) == str(kernel) and found.private == (("g", "body"),)
    assert kept_kernels.decoded(kept.replace(b"1 : i64", b"2 : i64")) is None
    assert kept_kernels.decoded(kept.replace(b"4xf32", b"5xf32")) is None


def test_an_intrinsic_in_place_of_one_of_wefts_makes_kernels_others(monkeypatch: pytest.MonkeyPatch) -> None:
    before = rules()
    found = TensorIntrin.get("dot_u8s8")
    assert found is not None and rules() == before, "to read one changes nothing"
    monkeypatch.setattr(TensorIntrin, "_known", dict(TensorIntrin._known))  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(TensorIntrin, "_replaced", set[str]())
    TensorIntrin.register("dot_u8s8", found.desc, found.desc, override=True)
    assert rules() not in (None, before)


def test_an_intrinsic_that_schedules_name_makes_kernels_others(monkeypatch: pytest.MonkeyPatch) -> None:
    before = rules()
    (one, other) = (TensorIntrin.get(name) for name in ("dot_u8s8", "dot_s8s8"))
    assert one is not None and other is not None and rules() == before, "to read one changes nothing"
    monkeypatch.setattr(TensorIntrin, "_known", dict(TensorIntrin._known))  # pyright: ignore[reportPrivateUsage]
    TensorIntrin.register("mine", one.desc, one.desc)
    first = rules()
    TensorIntrin.register("mine", one.desc, one.impl, override=True)
    second = rules()
    TensorIntrin.register("mine", other.desc, other.desc, override=True)
    assert len({before, first, second, rules()}) == 4


def known(text: str = GRAPH) -> int:
    exe = weft.compile(parse_mlir(text, "graph.mlir"))
    assert exe.kernel_counts is not None
    return exe.kernel_counts.known


def rules(target: str = "llvm -mcpu=native", passes: str = "schedule-rules", **context: Any) -> str | None:
    """What the lowering of a kernel depends on beside its function."""
    with weft.PassContext(**context):
        memo = kernel_memo(Target.parse(target), passes, lambda kernel, text: None, lambda: None, str)
    return None if memo is None else memo.rules


def test_what_decides_on_the_lowering_of_a_kernel_makes_it_another() -> None:
    others = [
        rules(),
        rules("llvm -mattr=-sse3"),
        rules(passes="schedule-rules{vector-bytes=16}"),
        rules(opt_level=0),
        rules(disabled_pass=["loop-partition"]),
        rules(required_pass=["infer-type"]),
        rules(config={"relay.fallback_device_type": "cuda"}),
    ]
    assert None not in others and len(set(others)) == len(others) and rules() == others[0]
    assert rules(config={"tir.bounds-checks": True}) is None, "checks tell of their places"


def test_a_kernel_that_was_lowered_by_other_rules_is_lowered_anew() -> None:
    assert (known(), known()) == (0, 1)
    with weft.PassContext(opt_level=3, disabled_pass=["loop-partition"]):
        assert (known(), known()) == (0, 1)
    assert known() == 1


def test_the_name_of_a_value_is_nothing_to_a_kernel() -> None:
    assert known() == 0
    assert known(GRAPH.replace("%x", "%y").replace("%0", "%z")) == 1
    assert known(GRAPH.replace("5x7", "5x8")) == 0


def test_who_looks_on_sees_every_kernel_lowered() -> None:
    class Seen(weft.PassInstrument):
        passes: ClassVar[list[str]] = []

        def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
            self.passes.append(info.name)

    assert known() == 0
    with weft.PassContext(opt_level=3, instruments=[Seen()]):
        assert known() == 0
    assert "schedule-rules" in Seen.passes
    remarks: list[Remark] = []
    with sent_to([remarks.append]):
        assert known() == 0
    with registered(Extra):
        assert known() == 0
    assert known() == 1


@dataclass(frozen=True)
class Extra(ModulePass):
    """A pass from elsewhere."""

    name = "extra-of-this-test"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


def test_checks_tell_of_their_own_places() -> None:
    text = """
relay.func @main(%rows: tensor<4x2xf32>, %which: tensor<3xi64>) -> tensor<3x2xf32> {
  %0 = relay.take %rows, %which {axis = 0 : i64, mode = "error"} : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  relay.return %0 : tensor<3x2xf32>
}
"""
    for line in (3, 4):
        exe = weft.compile(parse_mlir("\n" * (line - 3) + text, f"take{line}.mlir"))
        with pytest.raises(weft.CheckError) as error:
            exe(np.zeros((4, 2), np.float32), np.array([0, 9, 1]))
        assert str(error.value.place).startswith(f"take{line}.mlir:{line}:")


def test_lowered_kernels_are_bounded() -> None:
    declaration = func.FuncOp.external("k", [], [])
    linked = llvm.FuncOp("k", llvm.LLVMFunctionType([]), linkage=llvm.LinkageAttr("external"))
    kernels = LoweredKernels(10)
    for key in "abc":
        kernels.put(key, LoweredKernel(declaration, linked, key * 4, ()))
    assert kernels.get("a") is None and kernels.get("b") is not None and kernels.get("c") is not None


def test_kernels_for_other_targets_are_others() -> None:
    with CodegenPool(TARGET, 1, opt_level=3, memory=IN_MEMORY) as pool:
        pool.submit("k", answer(1))
        pool.result("k")
    for target, level, memory in ((TARGET, 3, 1), (TARGET, 2, 0), (Target.parse("llvm -mcpu=x86-64"), 3, 0)):
        with CodegenPool(target, 1, opt_level=level, memory=IN_MEMORY) as pool:
            pool.submit("k", answer(1))
            pool.submit("twin", answer(1))
            assert pool.counts == CacheCounts(memory=memory, compiled=1 - memory)


def test_memory_keeps_what_was_used_last() -> None:
    memory = MemoryCache(10)
    for key in "abc":
        memory.put(key, key.encode() * 4)
    assert (memory.get("a"), memory.get("b"), memory.get("c")) == (None, b"bbbb", b"cccc")
    memory.get("b")
    memory.put("d", b"dddd")
    assert (memory.get("c"), memory.get("b"), len(memory)) == (None, b"bbbb", 2)
    memory.put("big", b"x" * 11)
    assert len(memory) == 0


def stored(cache: KernelCache, *ages: int) -> list[str]:
    """Objects of 100 bytes that were used so many seconds ago."""
    keys = [f"{number:02}key" for number in range(len(ages))]
    for key, age in zip(keys, ages, strict=True):
        cache.put(key, b"x" * 68)
        (path,) = (cache.directory / key[:2]).iterdir()
        used = time.time() - age
        os.utime(path, (used, used))
    return keys


def test_an_object_under_the_name_of_another_is_not_taken_for_it(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, limit=3000)
    keys = ["aa" * 32, "bb" * 32]
    for key in keys:
        cache.put(key, key.encode())
        assert cache.get(key) == key.encode()
    first, second = map(cache.path, keys)
    first.replace(tmp_path / "aside")
    second.replace(first)
    (tmp_path / "aside").replace(second)
    assert [cache.get(key) for key in keys] == [None, None]


def test_a_directory_keeps_what_was_used_last(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, limit=250)
    keys = stored(cache, 300, 100, 200, 400)
    assert cache.get(keys[3]) is not None, "using it makes it the newest"
    assert cache.trim() == 2
    assert [cache.get(key) is not None for key in keys] == [False, True, False, True]
    assert cache.trim() == 0


def test_storing_keeps_within_the_limit(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, limit=3000)
    for number in range(6):
        with CodegenPool(TARGET, 1, cache=cache) as pool:
            pool.submit("k", answer(number))
            pool.result("k")
        assert sum(entry.bytes for entry in cache.entries()) <= 3000
    assert 0 < len(list(cache.entries())) < 6


def test_a_directory_is_looked_through_each_time_that_much_was_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each compilation would look at all that was ever kept."""
    looks: list[Path] = []
    files = KernelCache._files  # pyright: ignore[reportPrivateUsage]

    def watched(self: KernelCache) -> Iterator[Entry]:
        looks.append(self.directory)
        return files(self)

    monkeypatch.setattr(KernelCache, "_files", watched)
    cache = KernelCache(tmp_path / "one", limit=6400)
    cache.put("00key", b"")
    cache.keep_within_limit()
    assert len(looks) == 1, "a process does at first"
    cache.put("01key", b"x" * 67)
    KernelCache(tmp_path / "one", limit=6400).keep_within_limit()
    assert len(looks) == 1
    cache.put("02key", b"x")
    KernelCache(tmp_path / "one", limit=6400).keep_within_limit()
    assert len(looks) == 2
    cache.keep_within_limit(cache.path("01key"))
    assert len(looks) == 2
    cache.keep_within_limit(cache.path("00key"))
    assert len(looks) == 3, "of what others write there its size is told"
    KernelCache(tmp_path / "two", limit=6400).keep_within_limit()
    assert looks[3:] == [tmp_path / "two"]


def test_what_a_killed_writer_left_is_swept_away(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    (key,) = stored(cache, 0)
    old, new = (tmp_path / key[:2] / name for name in (".old", ".new"))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    assert cache.trim() == 0
    assert not old.exists() and new.exists() and cache.get(key) is not None
    assert len(list(cache.entries())) == 1


WRITER = """
import sys
from pathlib import Path
from weft.lowering.machine.kernel_cache import KernelCache
cache = KernelCache(Path(sys.argv[1]), limit=60_000)
print("ready", flush=True)
while True:
    for number in range(20):
        cache.put(f"{number:02}key", bytes([number]) * 5000)
        found = cache.get(f"{(number * 7) % 20:02}key")
        assert found is None or found == bytes([(number * 7) % 20]) * 5000
    cache.trim()
"""


def test_processes_that_are_killed_leave_nothing_wrong(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
    time.sleep(0.3)
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
    for writer in writers:
        _, errors = writer.communicate()
        assert writer.returncode == -signal.SIGKILL, errors
    cache = KernelCache(tmp_path, limit=60_000)
    found = [cache.get(f"{number:02}key") for number in range(20)]
    assert any(found)
    assert all(data is None or data == bytes([number]) * 5000 for number, data in enumerate(found))
    cache.trim()
    assert sum(entry.bytes for entry in cache.entries()) <= 60_000


def test_a_child_finds_what_its_parent_kept() -> None:
    IN_MEMORY.put("key", b"object")
    IN_MEMORY._lock.acquire()  # pyright: ignore[reportPrivateUsage]
    try:
        child = os.fork()
        if child == 0:
            os._exit(0 if IN_MEMORY.get("key") == b"object" else 1)
    finally:
        IN_MEMORY._lock.release()  # pyright: ignore[reportPrivateUsage]
    assert os.waitpid(child, 0)[1] == 0


def test_the_tool_shows_and_clears(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with knobs.CACHE_DIR.set(""):
        assert main([]) == 0
    assert (
        capsys.readouterr().out
        == "no kernels are kept on disk, as $WEFT_CACHE_DIR says or for want of a home directory\n"
    )
    cache = KernelCache(tmp_path / "kernels")
    stored(cache, 60, 7200, 900_000)
    with knobs.CACHE_DIR.set(str(tmp_path)), knobs.CACHE_LIMIT.set(5):
        assert main([]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith(
            f"{tmp_path / 'kernels'}: 3 kernels, 0 programs, 0.0 of 5 MB\n  used within an hour: 1 kernel,"
        )
        assert "a day: 2" in shown and "a week: 2" in shown and "a month: 3" in shown
        with knobs.CACHE_LIMIT.set(0):
            assert main(["--trim"]) == 0
        assert capsys.readouterr().out.startswith("3 removed")
        stored(cache, 1)
        assert main(["--clear"]) == 0
        assert capsys.readouterr().out.startswith("1 removed\n")
        assert not list(cache.entries())
        with knobs.CACHE_LIMIT.set(-1):
            assert main([]) == 2
        assert main(["--clear", "--trim"]) == 2


@pytest.mark.parametrize(("file", "asked"), [("f", "f"), ("f", "f/below"), ("kernels", "")])
def test_a_directory_that_is_a_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, asked: str
) -> None:
    (tmp_path / file).write_text("")
    with knobs.CACHE_DIR.set(str(tmp_path / asked)):
        assert main([]) == 2
        assert f"and '{tmp_path / file}' is no directory" in capsys.readouterr().err
        with pytest.raises(UsageError, match="is no directory"):
            weft.compile("examples/perceptron.mlir")


def test_a_negative_limit_is_refused(tmp_path: Path) -> None:
    with (
        knobs.CACHE_LIMIT.set(-1),
        knobs.CACHE_DIR.set(str(tmp_path)),
        pytest.raises(UsageError, match="WEFT_CACHE_LIMIT is negative"),
    ):
        counts(GRAPH)

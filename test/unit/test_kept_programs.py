"""Whole programs that are known are not compiled again, and are what they would be if they were."""

import importlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
import onnx
import onnx.helper
import pytest

import weft
from weft import compilation, kept_programs, relay
from weft.dialects.support import diagnostics, file_facts, knobs, model_files, plugins
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.digests import BLOCK, digest_of_bytes
from weft.dialects.support.file_cache import PROGRAM_SUFFIX, FileCache
from weft.dialects.support.model_files import external_files
from weft.frontend.mlir import parse_mlir
from weft.kept_programs import Request
from weft.lowering import compiler_digest
from weft.lowering.machine.codegen import CodegenError, CodegenPool
from weft.lowering.phase_texts import PhaseTexts
from weft.runtime import artefact, program_writer
from weft.runtime.archive_members import Archive
from weft.runtime.program_writer import WRITER, ProgramWriter
from weft.transforms.infra import remarks
from weft.transforms.relay import backends
from weft.transforms.tir.intrinsics.tensor_intrin import TensorIntrin

TEXT = """
relay.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
"""
X = np.arange(4, dtype=np.float32)
LAYERS = """relay.func @main(%a: tensor<1x2x3x3x8xf32>, %b: tensor<1x2x1x1x8xf32>, %c: tensor<1x5x3x3x8xf32>,
    %d: tensor<1x5x1x1x8xf32>) -> (tensor<1x2x3x3x8xf32>, tensor<1x5x3x3x8xf32>) {
  %0 = relay.add %a, %b : (tensor<1x2x3x3x8xf32>, tensor<1x2x1x1x8xf32>) -> tensor<1x2x3x3x8xf32>
  %1 = relay.add %c, %d : (tensor<1x5x3x3x8xf32>, tensor<1x5x1x1x8xf32>) -> tensor<1x5x3x3x8xf32>
  relay.return %0, %1 : tensor<1x2x3x3x8xf32>, tensor<1x5x3x3x8xf32>
}"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    return path


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nor changes that other tests have made to this process."""
    monkeypatch.setattr(plugins, "_changes", set[str]())
    monkeypatch.setattr(TensorIntrin, "_known", dict[str, TensorIntrin]())
    monkeypatch.setattr(TensorIntrin, "_replaced", set[str]())
    monkeypatch.setenv("WEFT_CACHE_DIR", "")
    kept_programs.forget()
    yield
    kept_programs.forget()


def whole(exe: weft.Executable) -> str:
    assert exe.kernel_counts is not None
    return exe.kernel_counts.whole


def texts_of() -> Callable[..., PhaseTexts]:
    return compilation.texts_of


def key(model: object, target: object = "llvm", **given: object) -> str | None:
    """What a compilation is known as; nothing where it is not."""
    names = ("opt_level", "threads", "params", "shapes", "function", "phase", "tuning_records")
    request = Request(model, target, *(given.get(name) for name in names), maker_of_texts=texts_of)  # pyright: ignore[reportArgumentType]
    assert request.found() is None
    return request._key  # pyright: ignore[reportPrivateUsage]


def test_a_model_that_is_known_is_loaded_and_shows_what_was_compiled(model: Path, tmp_path: Path) -> None:
    with knobs.CACHE_DIR.set(str(tmp_path / "cache")):
        first = weft.compile(model, threads=1)
        second = weft.compile(model, threads=1)
        assert (whole(first), whole(second)) == ("", "memory")
        kept_programs.forget()
        third = weft.compile(str(model), threads=1)
        assert whole(third) == "disk" and whole(weft.compile(model)) == "memory"
    assert str(third.kernel_counts) == "the whole program from disk"
    for exe in (second, third):
        assert artefact.digest(exe.graph) == artefact.digest(first.graph)
        assert (np.asarray(exe(X, X)) == 2 * X).all()
    assert third.ir["fuse"] == first.ir["fuse"] and third.asm == first.asm
    module = weft.compile(model, executor="graph")
    assert '"nodes"' in module.graph_json


def test_a_program_that_runs_node_by_node_is_kept_as_another(tmp_path: Path) -> None:
    """As a whole, layers that differ in extents alone share a kernel, which nodes of JSON cannot call."""
    (tmp_path / "layers.mlir").write_text(LAYERS)
    with knobs.CACHE_DIR.set(str(tmp_path / "cache")):
        x = [np.full((1, n, k, k, 8), n + k, np.float32) for n in (2, 5) for k in (3, 1)]
        whole_graph = weft.compile(tmp_path / "layers.mlir", threads=1)(*x)
        for _ in range(2):
            nodes = weft.compile(tmp_path / "layers.mlir", threads=1, executor="graph")
            for one, other in zip(nodes(*x), whole_graph, strict=True):
                np.testing.assert_array_equal(one, other)
        assert whole(weft.compile(tmp_path / "layers.mlir", threads=1)) == "memory"


def test_a_process_that_finds_a_program_imports_no_compiler(model: Path, tmp_path: Path) -> None:
    code = f"""
import sys, numpy, weft
exe = weft.compile({str(model)!r})
print(exe.kernel_counts, exe(numpy.ones(4, "f"), numpy.ones(4, "f")).tolist())
print(sorted({{"llvmlite", "xdsl.ir", "onnx", "weft.compilation"}} & set(sys.modules)))
"""
    for expected in ("[2.0, 2.0, 2.0, 2.0]\n['llvmlite'", "the whole program from disk [2.0, 2.0, 2.0, 2.0]\n[]"):
        environment = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
        assert expected in done.stdout


def test_whatever_decides_on_a_program_is_in_its_name(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def others() -> Iterator[str | None]:
        yield key(model)
        yield key(model, "llvm -mattr=-avx512f")
        yield key(model, ["llvm", "cuda"])
        yield key(model, opt_level=1)
        yield key(model, shapes={"x": (4,)})
        yield key(model, params={"w": X})
        yield key(model, params={"w": X + 1})
        yield key(model, params={"w": X.astype(np.float64)})
        yield key(model, function="main")
        yield key(model, phase="import")
        records = model.with_suffix(".jsonl")
        for text in ("", "{}"):
            records.write_text(text)
            yield key(model, tuning_records=records, threads=1)
        yield key(model, tuning_records=records, threads=2)
        with weft.PassContext(3, disabled_pass=["fuse-ops"]):
            yield key(model)
        with weft.PassContext(3, config={"fuse-ops.max-depth": 3}):
            yield key(model)
        with knobs.CC.set("another-compiler"):
            yield key(model)
        with monkeypatch.context() as patch:
            patch.setattr(kept_programs, "described_processor", lambda: "another")
            yield key(model)
        with monkeypatch.context() as patch:
            patch.setattr(compiler_digest, "compiler_digest", lambda: "another")
            yield key(model)
        other = model.with_name("other.mlir")
        other.write_text(TEXT)
        yield key(other)
        np.savez(model.with_suffix(".weights.npz"), X)
        yield key(model)
        model.write_text(TEXT.replace("add", "multiply"))
        yield key(model)

    keys = list(others())
    assert None not in keys and len(set(keys)) == len(keys)
    assert key(model) == keys[-1] and key(str(model), opt_level=3, threads=1) == keys[-1]


def test_what_others_look_at_or_take_part_in_is_compiled(model: Path) -> None:
    assert key(model) is not None
    with weft.PassContext(3, instruments=[weft.PassTimingInstrument()]):
        assert key(model) is None
    with remarks.collect():
        assert key(model) is None
    with weft.PassContext(3, config={"schedule-rules.record-to": "file"}):
        assert key(model) is None
    x = relay.var("x", shape=(4,))
    assert key(relay.Function([x], relay.exp(x))) is None and key(model.with_name("none.onnx")) is None

    class Idle(weft.Backend):
        """Takes nothing."""

        name = "idle"

    def backend() -> None:
        weft.register_backend(Idle())
        weft.remove_backend("idle")

    def tag() -> None:
        weft.targets.add_tag("a/tag", {"kind": "llvm"})
        weft.targets.remove_tag("a/tag")

    def strategy() -> None:
        weft.strategies.register("exp", name="idle")(weft.te.compute)
        weft.strategies.remove("exp", "idle")

    def backend_of_a_package() -> None:
        of_weft = type("OfWeft", (weft.Backend,), {"name": "of-weft", "__module__": "weft.relay"})
        weft.register_backend(of_weft())
        backends._REGISTRY.backends.pop("of-weft")  # pyright: ignore[reportPrivateUsage]

    def no_kind() -> None:
        weft.targets.remove_kind("board")

    for change in (backend, tag, strategy, backend_of_a_package, no_kind):
        plugins._changes.clear()  # pyright: ignore[reportPrivateUsage]
        assert key(model) is not None
        change()
        assert key(model) is None, "this process is not as others are"


def test_a_plug_in_that_changes_makes_programs_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "brings" / "code.py"
    package.parent.mkdir()
    (package.parent / "__init__.py").write_text("")
    package.write_text("one = 1")
    information = tmp_path / "brings-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: brings\nVersion: 1.0\n")
    for path in (package, package.parent / "__init__.py"):
        os.utime(path, (0, 0))
    asked = compiler_digest.digest_now
    without = asked()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (information / "entry_points.txt").write_text("[weft.functions]\none = brings.code:one\n")
    first = asked()
    package.write_text("one = 2")
    os.utime(package, (0, 0))
    second = asked()
    (information / "RECORD").write_text("brings/code.py,,\nbeside.py,,\n")
    (tmp_path / "beside.py").write_text("three = 3")
    os.utime(tmp_path / "beside.py", (0, 0))
    third = asked()
    (tmp_path / "stands_on-2.0.dist-info").mkdir()
    assert None not in (without, first) and len({without, first, second, third, asked()}) == 5
    shutil.rmtree(package.parent)
    assert asked() is None, "nobody knows what it is"


def test_what_every_process_makes_known_is_no_change_and_what_one_does_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "bringing"
    package.mkdir()
    note = "from weft.dialects.support.plugins import note_change\nnote_change(__name__)\n"
    for module in ("__init__", "named", "loaded", "other"):
        (package / f"{module}.py").write_text(note)
    information = tmp_path / "bringing-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: bringing\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[weft.functions]\none = bringing.named:note_change\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.import_module("bringing.named")
    plugins.loaded("one", lambda: importlib.import_module("bringing.loaded"))
    assert not plugins.changed_by_hand()
    importlib.import_module("bringing.other")
    assert plugins.changed_by_hand(), "others may not have imported it"
    for module in ("bringing.named", "weft.relay"):
        plugins._changes.clear()  # pyright: ignore[reportPrivateUsage]
        plugins.note_change(module)
        assert plugins.changed_by_hand(), "somebody calls, as the module has been imported already"
    for module in [name for name in sys.modules if name.partition(".")[0] == "bringing"]:
        del sys.modules[module]


def test_a_model_that_is_written_to_while_it_is_compiled_is_not_kept(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(given: Path, shapes: object) -> object:
        model.write_text(TEXT.replace("add", "multiply"))
        return load(given)

    load = compilation.load_module
    with monkeypatch.context() as patch:
        patch.setattr(compilation, "load_module", slowly)
        assert (np.asarray(weft.compile(model)(X, X)) == X * X).all()
    model.write_text(TEXT)
    assert (np.asarray(weft.compile(model)(X, X)) == 2 * X).all()


def test_nothing_is_kept_of_a_process_with_a_plug_in_that_is_broken(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_broken", {"a plug-in": "it wants what is not installed yet"})
    weft.compile(model)
    assert whole(weft.compile(model)) == ""


def test_a_process_with_an_intrinsic_of_its_own_compiles_by_itself(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = TensorIntrin.get("dot_u8s8")
    assert found is not None and key(model) is not None
    monkeypatch.setattr(TensorIntrin, "_known", dict(TensorIntrin._known))  # pyright: ignore[reportPrivateUsage]
    TensorIntrin.register("mine", found.desc, found.impl)
    assert key(model) is None


def test_a_program_whose_model_has_changed_shows_no_text(model: Path) -> None:
    weft.compile(model)
    exe = weft.compile(model)
    model.write_text(TEXT.replace("add", "multiply"))
    with pytest.raises(Diagnostic, match="has changed since it was compiled"):
        _ = exe.ir
    assert (np.asarray(exe(X, X)) == 2 * X).all()
    assert (np.asarray(weft.compile(model)(X, X)) == X * X).all()


def test_a_compilation_that_warned_warns_again(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    request = Request(model, "llvm", None, None, None, None, None, None, None, texts_of)
    assert request.found() is None
    with diagnostics.handled_by(lambda diagnostic: heard.append(diagnostic.message)), request.watched():
        diagnostics.emit(Diagnostic("beware"))
    graph = weft.compile(model).graph
    kept_programs.forget()
    assert request.keep(graph) is graph and heard == ["beware"] and request.found() is None


def test_a_large_program_is_held_against_its_digest_once_while_nobody_touches_it(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled() -> weft.Executable:
        return weft.compile(model, threads=1, params={"w": X})

    def digests() -> int:
        """How often the constants are held against their digest when the program is loaded."""
        kept_programs.forget()
        taken.clear()
        exe = compiled()
        assert whole(exe) == "disk" and (np.asarray(exe(X)) == 2 * X).all()
        return taken.count(artefact.CONSTANTS)

    def noted(archive: Archive, name: str, *, digested: bool) -> object:
        taken.extend([name] * digested)
        return read_aligned(archive, name, digested=digested)

    taken, read_aligned = list[str](), Archive.read_aligned
    monkeypatch.setattr(Archive, "read_aligned", noted)
    with knobs.CACHE_DIR.set(str(tmp_path / "cache")):
        compiled()
        assert [digests(), digests()] == [1, 1], "it is small"
        monkeypatch.setattr(file_facts, "LARGE", 1)
        assert [digests(), digests()] == [1, 1], "it was written just now"
        monkeypatch.setattr(file_facts, "_SETTLED", -60.0)
        assert [digests(), digests()] == [1, 0]
        cache = FileCache.from_environment()
        assert cache is not None
        (entry,) = cache.programs()
        os.utime(entry.path)
        assert [digests(), digests()] == [1, 0], "it was touched"
        data, times = entry.path.read_bytes(), entry.path.stat().st_mtime_ns
        at = data.index(X.tobytes())
        entry.path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        os.utime(entry.path, ns=(times, times))
        kept_programs.forget()
        assert whole(compiled()) == "", "it was written over"


def test_a_damaged_program_is_compiled_over_and_a_large_one_is_not_kept(model: Path, tmp_path: Path) -> None:
    with knobs.CACHE_DIR.set(str(tmp_path / "cache")):
        graph = weft.compile(model).graph
        cache = FileCache.from_environment()
        assert cache is not None
        (entry,) = cache.programs()
        entry.path.write_bytes(entry.path.read_bytes()[:-70])
        kept_programs.forget()
        assert whole(weft.compile(model)) == ""
        kept_programs.forget()
        assert whole(weft.compile(model)) == "disk"
        other = tmp_path / "other.weft"
        artefact.save(graph, other, kept_as="another model")
        other.replace(entry.path)
        kept_programs.forget()
        assert whole(weft.compile(model)) == "", "it stands under another's name"
        assert entry.path.suffix == PROGRAM_SUFFIX and cache.clear() >= 1 and not list(cache.entries())
        with knobs.CACHE_LIMIT.set(0):
            ProgramWriter("ab" * 32, graph.constants).end(graph)
        assert not list(cache.programs())


def test_a_program_is_written_while_its_code_is_made_and_not_at_all_where_none_comes_of_it(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def result(pool: CodegenPool, key: str) -> bytes:
        writing.append(any(thread.name == WRITER for thread in threading.enumerate()))
        if fails:
            raise CodegenError("no code comes of it")
        return made(pool, key)

    writing, fails, made = list[bool](), True, CodegenPool.result
    monkeypatch.setattr(CodegenPool, "result", result)
    monkeypatch.setattr(kept_programs, "MEGABYTE", 0)
    folder = tmp_path / "cache"
    with knobs.CACHE_DIR.set(str(folder)):
        cache = FileCache.from_environment()
        assert cache is not None
        with pytest.raises(CodegenError):
            weft.compile(model, params={"w": X})
        assert writing == [True] and not list(cache.programs()) and threading.active_count() == 1
        fails = False
        exe = weft.compile(model, params={"w": X})
        assert all(writing) and threading.active_count() == 1
        (entry,) = cache.programs()
        artefact.save(exe.graph, tmp_path / "whole.weft", kept_as=entry.path.parent.name + entry.path.stem)
        assert (tmp_path / "whole.weft").read_bytes() == entry.path.read_bytes()


def test_a_large_program_is_written_behind_its_compilation_and_waited_for(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def later(*given: object) -> None:
        assert may_write.wait(60)
        save(*given)  # pyright: ignore[reportArgumentType]

    may_write, save = threading.Event(), artefact._write  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(artefact, "_write", later)
    monkeypatch.setattr(program_writer, "BEHIND", 0)
    with knobs.CACHE_DIR.set(str(tmp_path / "cache")):
        weft.compile(model)
        cache = FileCache.from_environment()
        assert cache is not None and not list(cache.programs())
        kept_programs.forget()
        threading.Timer(0.1, may_write.set).start()
        assert whole(weft.compile(model)) == "disk", "it was waited for"
        assert not list(program_writer._behind), "what was written is held on to"  # pyright: ignore[reportPrivateUsage]


def test_what_is_compiled_next_has_the_processors_for_itself(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it could fork no workers, since another thread may hold a lock."""

    def later(*given: object) -> None:
        assert may_write.wait(60)
        save(*given)  # pyright: ignore[reportArgumentType]

    def begun(*given: object, **named: object) -> object:
        writing.append(any(thread.name == WRITER for thread in threading.enumerate()))
        return load(*given, **named)  # pyright: ignore[reportArgumentType]

    writing = list[bool]()
    may_write, save, load = threading.Event(), artefact._write, compilation.load_module  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(artefact, "_write", later)
    monkeypatch.setattr(compilation, "load_module", begun)
    monkeypatch.setattr(program_writer, "BEHIND", 0)
    with knobs.CACHE_DIR.set(str(tmp_path / "cache")):
        weft.compile(model)
        threading.Timer(0.2, may_write.set).start()
        weft.compile(parse_mlir(TEXT, "text"))
    assert writing == [False, False]


def test_a_process_ends_when_all_is_written(model: Path, tmp_path: Path) -> None:
    code = """
import sys, weft
from weft.runtime import program_writer
program_writer.BEHIND = 0
weft.compile(sys.argv[1])
"""
    environment = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code, str(model)], env=environment, check=True)
    with knobs.CACHE_DIR.set(str(tmp_path / "cache")):
        assert whole(weft.compile(model)) == "disk"


def test_memory_holds_the_last_programs_and_those_in_use(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_programs, "_LIMIT", 0)
    exe = weft.compile(model)
    second = weft.compile(model)
    assert whole(second) == "memory" and second.graph is exe.graph
    del exe, second
    assert whole(weft.compile(model)) == ""


def test_data_beside_an_onnx_model_is_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"..\x0a\x08location\x12\x05a.bin..\x0a\x08location\x12\x03b.c")
    (tmp_path / "a.bin").write_bytes(b"1")
    assert external_files(path) == ("a.bin", "b.c") and key(path) is None, "one is not there"
    (tmp_path / "b.c").write_bytes(b"2")
    first = key(path)
    (tmp_path / "b.c").write_bytes(b"3")
    assert first is not None and key(path) not in (None, first)
    path.write_bytes(bytes(BLOCK - 4) + b"\x0a\x08location\x12\x05a.bin")
    assert external_files(path) == ("a.bin",), "where two pieces that are read meet"
    path.write_bytes(b"\x0a\x08location?")
    assert key(path) is None


def test_a_file_that_was_written_over_is_read_again_whatever_its_time_says(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_facts, "_SETTLED", -60.0)
    os.utime(model, (10**9, 10**9))
    before = key(model)
    model.write_text(TEXT.replace("relay.add %x, %w", "relay.add %w, %w"))  # as many bytes
    os.utime(model, (10**9, 10**9))
    assert key(model) != before


def test_another_process_need_not_read_a_large_file_that_was_left_alone(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reads() -> int:
        """How often the file is read by a process that knows nothing of it."""
        model_files.FACTS.forget()
        read.clear()
        assert model_files.digest_of(model) == digest_of_bytes(model.read_bytes())
        return len(read)

    def noted(file: IO[bytes]) -> object:
        read.append(file)
        return facts(file)

    facts, read = model_files._facts, list[object]()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(model_files, "_facts", noted)
    assert [reads(), reads()] == [1, 1], "there is no cache"
    with knobs.CACHE_DIR.set(str(tmp_path / "cache")):
        assert [reads(), reads()] == [1, 1], "it is small"
        monkeypatch.setattr(file_facts, "LARGE", 1)
        assert [reads(), reads()] == [1, 1], "it was written just now"
        monkeypatch.setattr(file_facts, "_SETTLED", -60.0)
        assert [reads(), reads()] == [1, 0]
        times = model.stat().st_mtime_ns
        model.write_text(TEXT.replace("relay.add %x, %w", "relay.add %w, %w"))  # as many bytes
        os.utime(model, ns=(times, times))
        assert [reads(), reads()] == [1, 0]
        for entry in (tmp_path / "cache").rglob("*.facts"):
            entry.write_bytes(entry.read_bytes()[:-1])
        assert [reads(), reads()] == [1, 0], "what was damaged is written again"


def test_the_compiler_is_imported_while_a_large_file_is_read_for_the_first_time(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported: list[int] = []

    def noted(request: Request) -> None:
        imported.append(threading.get_ident())

    monkeypatch.setattr(Request, "_import_compiler", noted)
    monkeypatch.setattr(file_facts, "_SETTLED", -60.0)
    for size in (model.stat().st_size + 1, 1):
        monkeypatch.setattr(file_facts, "LARGE", size)
        model_files.FACTS.forget()
        assert key(model) == key(model) and threading.active_count() == 1
    assert len(imported) == 1 and threading.get_ident() not in imported


def test_who_gives_parameters_may_write_to_them(model: Path) -> None:
    model.write_text(TEXT.replace("4xf32", "64xf32"))
    memory, x = np.empty(1024, np.uint8), np.arange(64, dtype=np.float32)
    for start in range(0, 64, 4):  # one of them is where machine code can take it
        weight = memory[start : start + 256].view(np.float32)
        weight[...] = 3
        first = weft.compile(model, threads=1, params={"w": weight})
        weight[...] = 7
        second = weft.compile(model, threads=1, params={"w": np.full(64, 3, np.float32)})
        for exe in (first, second):
            np.testing.assert_array_equal(np.asarray(exe(x)), x + 3)


def test_a_constant_is_a_copy() -> None:
    array = np.arange(64.0, dtype=np.float32)
    made = relay.const(array)
    array[...] = 0
    function = relay.Function([], made)
    np.testing.assert_array_equal(np.asarray(weft.compile(relay.IRModule.from_expr(function))()), np.arange(64.0))


def test_records_that_a_context_names_and_what_is_taken_away_leave_a_program_without_a_name(model: Path) -> None:
    with weft.PassContext(config={"attach-tuned-schedules.records": "records.jsonl"}):
        assert key(model) is None
    assert key(model) is not None
    weft.strategies.remove("nn.softmax", "brought by a package")
    assert key(model) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_that_a_model_names_is_not_waited_for(tmp_path: Path) -> None:
    weight = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[4])
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="pipe")
    x, y = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in "xy")
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [weight])
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Diagnostic, match="no ordinary file"):
        weft.compile(path)


def test_a_device_in_the_place_of_a_file_has_no_digest() -> None:
    with pytest.raises(model_files.Unknown):
        model_files.digest_of(Path(os.devnull))

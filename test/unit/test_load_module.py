"""Libraries under TVM's names: what is exported is loaded again, by functions' names or as a graph to run."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import llvmlite.binding as llvmlite_binding
import numpy as np
import pytest

import weft
from weft import relay, te
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.lowering.abi import Platform
from weft.lowering.machine.target import Target
from weft.lowering.threads.pool import pool_object
from weft.runtime.archive_members import ArtefactError
from weft.runtime.host import PlatformError
from weft.runtime.jit import LoadedObjects
from weft.runtime.library.exporting import name_of
from weft.runtime.library.interfaces import INTERFACE, interface_of
from weft.runtime.library.link import LinkError
from weft.tir import from_source

llvm: Any = llvmlite_binding
relay: Any = relay
te: Any = te
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) on this machine")
load: Any = weft.runtime.load_module
F32 = np.float32


def adding(name: str, number: float = 1.0, target: str = "llvm") -> Any:
    """A function that adds a number to eight others."""
    a = te.placeholder((8,), name="A")

    def sums(i: Any) -> Any:
        return a[i] + number

    b = te.compute((8,), sums, name="B")
    return weft.build(te.create_schedule(b.op), [a, b], target, name=name, threads=1)


def added(function: Any) -> float:
    """What a function has added to each of eight numbers."""
    a, b = np.arange(8, dtype=F32), np.zeros(8, F32)
    function(a, b)
    differences = set((b - a).tolist())
    assert len(differences) == 1
    return differences.pop()


@pytest.fixture(scope="module")
def built() -> Any:
    """A graph of one layer, whose weights are a parameter, and another."""
    x, w, b = relay.var("x", shape=(1, 8)), relay.var("w", shape=(4, 8)), relay.const(np.arange(4, dtype=F32))
    module = relay.IRModule.from_expr(relay.Function([x, w], relay.nn.relu(relay.nn.dense(x, w) + b)))
    weights = np.random.default_rng(3).standard_normal((4, 8)).astype(F32)
    return relay.build(module, "llvm", params={"w": weights})


X = np.random.default_rng(4).standard_normal((1, 8)).astype(F32)


def result(graph: Any) -> np.ndarray[Any, Any]:
    graph["set_input"]("x", X)
    graph["run"]()
    return np.asarray(graph["get_output"](0))


@pytest.mark.parametrize("suffix", [".so", ".o", ".a", ".tar"])
def test_functions_of_several_modules_are_exported_and_loaded(tmp_path: Path, suffix: str) -> None:
    module = adding("one")
    module.import_module(adding("two", 2.0, "c"))
    module.export_library(tmp_path / f"lib{suffix}")
    loaded = load(tmp_path / f"lib{suffix}", threads=1)
    assert (list(loaded), loaded.type_key, loaded.imported_modules) == (["one", "two"], "library", [])
    assert (added(loaded["one"]), added(loaded.get_function("two"))) == (1.0, 2.0)
    a, b = np.zeros(8, F32), np.zeros(8, F32)
    assert loaded.time_evaluator("two", weft.cpu(0), number=2)(a, b).mean > 0 and b[0] == 2
    assert module.is_dso_exportable and not loaded.is_dso_exportable
    with pytest.raises(UsageError, match="a library holds no text"):
        loaded.get_source()
    with pytest.raises(UsageError, match="there is no function 'three' in this module"):
        loaded["three"]


def test_an_archive_has_object_files_and_the_header(tmp_path: Path) -> None:
    adding("one").export_library(tmp_path / "libm.tar")
    with tarfile.open(tmp_path / "libm.tar") as archive:
        assert archive.getnames() == ["one.o", "libm.h"]
        header = archive.extractfile("libm.h")
        assert header is not None and b"one_model(void)" in header.read()
    assert [file.name for file in tmp_path.iterdir()] == ["libm.tar"]


def test_object_files_that_a_linker_has_put_together_are_loaded(tmp_path: Path) -> None:
    adding("one").save(tmp_path / "one.o")
    adding("two", 2.0).save(tmp_path / "two.o")
    subprocess.run(["cc", "-shared", "-o", "both.so", "one.o", "two.o"], cwd=tmp_path, check=True)
    loaded = load(tmp_path / "both.so")
    assert (added(loaded["one"]), added(loaded["two"])) == (1.0, 2.0)
    only = weft.runtime.load_static_library(tmp_path / "both.so", ["two"])
    assert list(only) == ["two"] and only.is_dso_exportable and only.type_key == "static_library"
    module = adding("three", 3.0)
    module.import_module(only)
    module.export_library(tmp_path / "more.so")
    assert sorted(load(tmp_path / "more.so")) == ["three", "two"]
    with pytest.raises(UsageError, match="has no function 'three'"):
        weft.runtime.load_static_library(tmp_path / "one.o", ["three"])


def test_a_library_is_linked_by_a_function_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "more.c").write_text("int more(void) { return 7; }\n")
    seen: list[str] = []

    def linked(path: str, files: list[str], *, options: list[str]) -> str:
        seen.extend(Path(file).name for file in files)
        subprocess.run(["cc", "-shared", "-fPIC", *options, "-o", path, *files, "-lm", "-pthread"], check=True)
        return "linked"

    module = adding("one")
    module.import_module(adding("two", 2.0))
    target = tmp_path / "libadding.dll"
    assert module.export_library(target, linked, [tmp_path / "more.c"], options=["-O1"]) == "linked"
    assert seen == ["one.o", "two.o", "more.c"]
    loaded = load(target, threads=1)
    assert (added(loaded["one"]), added(loaded["two"])) == (1.0, 2.0)
    library = ctypes.CDLL(str(target))
    assert library.more() == 7 and library.one_model
    assert "two_model" in target.with_suffix(".h").read_text()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["libadding.dll", "libadding.h", "more.c"]


def test_addons_are_linked_into_a_library(tmp_path: Path) -> None:
    (tmp_path / "more.c").write_text("int more(void) { return 7; }\n")
    subprocess.run(["cc", "-c", "more.c", "-o", "more.o"], cwd=tmp_path, check=True)
    adding("one").export_library(tmp_path / "m.a", addons=[tmp_path / "more.o"])
    members = subprocess.run(["ar", "t", tmp_path / "m.a"], capture_output=True, text=True, check=True).stdout.split()
    assert members == ["one.o", "more.o"] and added(load(tmp_path / "m.a")["one"]) == 1.0


def test_what_cannot_link_a_library_is_told(tmp_path: Path) -> None:
    def idle(path: str, files: list[str]) -> None:
        pass

    with pytest.raises(LinkError, match=r"has made no such file"):
        adding("one").export_library(tmp_path / "m.so", idle)
    with pytest.raises(UsageError, match="takes no 'flags'"):
        adding("one").export_library(tmp_path / "m.so", flags=["-O1"])
    with pytest.raises(LinkError, match="no-such-option"):
        adding("one").export_library(tmp_path / "m.so", options=["--no-such-option"])
    with pytest.raises(Diagnostic, match=r"none\.o: error: no such file"):
        adding("one").export_library(tmp_path / "m.so", addons=[tmp_path / "none.o"])
    with pytest.raises(weft.ArgumentError):
        adding("one").export_library(tmp_path / "m.so", "cc")
    assert not list(tmp_path.iterdir())


def test_a_module_is_saved_as_the_suffix_says(tmp_path: Path) -> None:
    module = adding("one")
    module.save(tmp_path / "one.ll")
    module.save(tmp_path / "one.txt", "s")
    assert "define" in (tmp_path / "one.ll").read_text() and ".text" in (tmp_path / "one.txt").read_text()
    with pytest.raises(UsageError, match="a module for 'llvm' has no source 'c'"):
        module.save(tmp_path / "one.c")
    with pytest.raises(UsageError, match=r"'\.xyz' is no kind of library"):
        module.save(tmp_path / "one.xyz")
    with pytest.raises(Diagnostic, match="cannot be written: no such file or directory"):
        module.save(tmp_path / "none" / "one.ll")


TWICE = """
@T.prim_func
def twice(A: T.Buffer(8, "float32"), B: T.Buffer(8, "float32")):
    T.func_attr(attributes)
    for i in range(8):
        with T.block("twice"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * 2.0
"""


def module_of(*names: str) -> Any:
    """A module of functions, each of which adds a number of its own."""
    texts = [adding(name, number + 1.0).text for number, name in enumerate(names)]
    return weft.build([parse_mlir(text, "adding.mlir") for text in texts], threads=1)


def test_functions_for_several_targets_are_in_no_file_of_one(tmp_path: Path) -> None:
    other = TWICE.replace("twice", "other").replace("attributes", '{"target": "llvm -mcpu=x86-64"}')
    module = weft.build([from_source(TWICE.replace("attributes", "{}")), from_source(other)])
    for kind in ("ll", "bc"):
        with pytest.raises(UsageError, match=r"are for several targets.*-mcpu=x86-64"):
            module.save(tmp_path / f"m.{kind}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("names", [("one",), ("one", "two")], ids=len)
def test_what_llvm_reads_is_one_module_with_an_entry_for_each_function(tmp_path: Path, names: tuple[str, ...]) -> None:
    module = module_of(*names)
    a = np.arange(8, dtype=F32)
    for kind in ("ll", "bc"):
        module.save(tmp_path / f"m.{kind}")
        data = (tmp_path / f"m.{kind}").read_bytes()
        read = llvm.parse_bitcode(data) if kind == "bc" else llvm.parse_assembly(data.decode())
        read.verify()
        assert read.triple and read.data_layout
        code = LoadedObjects([Target.parse("llvm").machine().object(str(read)), pool_object(Target.parse("llvm"))])
        for number, name in enumerate(names):
            entry = code.address("weft_run" if len(names) == 1 else f"{name}_weft_run")
            b, arena = np.zeros(8, F32), np.zeros(4096, np.uint8)
            tables = [(ctypes.c_uint64 * 1)(each.ctypes.data) for each in (a, b)]
            run = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.c_int64)(entry)
            assert run(*map(ctypes.addressof, tables), arena.ctypes.data, 1) == 0
            np.testing.assert_array_equal(b, a + number + 1)


def test_functions_of_imported_modules_are_found_where_that_is_asked() -> None:
    module, other = adding("one"), adding("two", 2.0)
    module.import_module(other)
    assert module.imported_modules == [other] and module.entry_func is module["one"]
    assert module.implements_function("two", query_imports=True) and not module.implements_function("two")
    assert added(module.get_function("two", query_imports=True)) == 2.0
    with pytest.raises(UsageError, match="there is no function 'two'"):
        module.get_function("two")
    with pytest.raises(UsageError, match="does not import itself"):
        other.import_module(module)


def test_a_function_that_gives_a_number_gives_it_when_loaded(tmp_path: Path) -> None:
    from weft.script import tir as T

    @T.prim_func
    def total(A: T.Buffer((8,), "int32")) -> T.int32:  # pyright: ignore
        T.func_attr({"global_symbol": "total"})  # pyright: ignore
        T.ret(A[0] + A[1])  # pyright: ignore

    module = weft.build(total)
    module.export_library(tmp_path / "total.so")
    loaded = load(tmp_path / "total.so")
    numbers = np.arange(5, 13, dtype=np.int32)
    assert loaded["total"](numbers) == module["total"](numbers) == 11


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_function_of_open_extents_is_loaded_for_any_sizes(tmp_path: Path, target: str) -> None:
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((n, m), name="A")

    def turned(i: Any, j: Any) -> Any:
        return a[j, i] + 1.0

    b = te.compute((m, n), turned, name="B")
    module = weft.build(te.create_schedule(b.op), [n, a, b], target, name="turned", threads=1)
    module.export_library(tmp_path / "turned.so")
    loaded = load(tmp_path / "turned.so")["turned"]
    for rows, columns in ((3, 5), (0, 4), (30, 1)):
        x = np.random.default_rng(1).standard_normal((rows, columns)).astype(F32)
        for arguments in ((x,), (rows, x)):
            y, strided = np.zeros((columns, rows), F32), np.zeros((columns, 2 * rows), F32)[:, ::2]
            loaded(*arguments, y)
            loaded(*arguments, strided)
            assert np.array_equal(y, x.T + F32(1)) and np.array_equal(strided, y)
    x, y = np.zeros((3, 5), F32), np.zeros((5, 3), F32)
    for arguments, message in (
        ((x,), r"'turned' takes 3 arguments \(n, A, B\), got 1"),
        ((4, x, y), r"input 'A' has shape \[3, 5\], and \[4, 5\] is wanted"),
        ((x, y[:4]), r"input 'B' has shape \[4, 3\], and \[5, 3\] is wanted"),
        ((True, x, y), "'n' is an extent, and not True"),
        ((-3, x, y), "'n' is an extent, and not -3"),
        ((x.astype(np.float64), y), "input 'A' has dtype float64"),
        ((y.reshape(3, 5), y), "share memory"),
    ):
        with pytest.raises(Diagnostic, match=message):
            loaded(*arguments)


def test_a_loaded_function_updates_memory_of_an_open_extent(tmp_path: Path) -> None:
    from weft.script import tir as T

    @T.prim_func
    def following(a: T.handle, b: T.handle):  # pyright: ignore
        n = T.var("int32")  # pyright: ignore
        A = T.match_buffer(a, (n,), "int64")  # pyright: ignore
        B = T.match_buffer(b, (n * 2 + 1,), "int64")  # pyright: ignore
        for i in T.serial(0, n):  # pyright: ignore
            with T.block("B"):  # pyright: ignore
                v = T.axis.spatial(n, i)  # pyright: ignore
                B[v * 2 + 1] = B[v * 2 + 1] + A[v]  # pyright: ignore

    module = weft.build(following, name="following")
    module.export_library(tmp_path / "f.so")
    (loaded,) = load(tmp_path / "f.so").values()
    a, b = np.arange(4, dtype=np.int64), np.arange(9, dtype=np.int64)
    loaded(a, b)
    assert b.tolist() == [0, 1, 2, 4, 4, 7, 6, 10, 8]
    with pytest.raises(Diagnostic, match=r"input '.*' has shape \[8\], and \[9\] is wanted"):
        loaded(a, b[:8])


def test_a_quotient_of_an_extent_does_not_say_which_it_is(tmp_path: Path) -> None:
    n = te.var("n")
    halves = te.placeholder(((n + 1) // 2,), name="halves")
    numbers = te.placeholder((n,), name="numbers")

    def sum_at(i: Any) -> Any:
        return numbers[i] + halves[i // 2]

    def twice_at(i: Any) -> Any:
        return halves[i] * 2.0

    sums = te.compute((n,), sum_at, name="sums")
    twice = te.compute(((n + 1) // 2,), twice_at, name="twice")
    for result, arguments in ((sums, [halves, numbers, sums]), (twice, [halves, twice, n])):
        weft.build(te.create_schedule(result.op), arguments, "llvm", name=result.op.name).export_library(
            path := tmp_path / f"{result.op.name}.so"
        )
        function = load(path)
        for count in (1, 2, 3, 4):
            half = np.arange((count + 1) // 2, dtype=F32)
            given = np.zeros(count if result is sums else len(half), F32)
            if result is sums:
                function(half, np.ones(count, F32), given)
                np.testing.assert_array_equal(given, 1 + np.repeat(half, 2)[:count])
            else:
                with pytest.raises(Diagnostic, match="'n' does not follow from the shapes of the arrays"):
                    function(half, given)
                function(half, given, count)
                np.testing.assert_array_equal(given, 2 * half)


def test_an_extent_that_no_array_says_is_given(tmp_path: Path) -> None:
    n = te.var("n")
    a = te.placeholder((n // 2 + 1,), name="A")

    def first(i: Any) -> Any:
        return a[0] + 1.0

    c = te.compute((2,), first, name="C")
    module = weft.build(te.create_schedule(c.op), [n, a, c], name="half")
    module.export_library(tmp_path / "half.so")
    loaded = load(tmp_path / "half.so")["half"]
    values, out = np.ones(4, F32), np.zeros(2, F32)
    loaded(7, values, out)
    assert out.tolist() == [2, 2]
    with pytest.raises(Diagnostic, match="'n' does not follow from the shapes of the arrays"):
        loaded(values, out)


@pytest.mark.parametrize(
    ("file", "name", "options"),
    [("lib.so", "lib", {"options": ["-O1"]}), ("2nd-model.tar", "_2nd_model", {})],
    ids=[".so", ".tar"],
)
def test_a_graph_is_exported_with_its_parameters_and_loaded(
    built: Any, tmp_path: Path, file: str, name: str, options: dict[str, Any]
) -> None:
    """Whatever the file is called: the names in C are such as there are in C."""
    assert name_of(tmp_path / file) == name
    built.export_library(tmp_path / file, fcompile=False, **options)
    wanted = result(built["default"](weft.cpu(0)))
    graph = load(tmp_path / file)["default"](weft.cpu(0))  # the library itself is gone
    assert np.array_equal(result(graph), wanted)
    loaded = load(tmp_path / file)
    assert loaded["get_graph_json"]() == built.get_graph_json()
    assert np.array_equal(result(weft.graph_executor.create(loaded["get_graph_json"](), loaded, weft.cpu(0))), wanted)
    params = loaded["get_graph_params"]()
    assert params.keys() == built.params.keys()
    assert all(np.array_equal(params[name], built.params[name]) for name in params)
    assert np.array_equal(
        result(weft.graph_executor.GraphModule(loaded["debug_create"]("default", weft.cpu(0)))), wanted
    )
    with pytest.raises(UsageError, match="the program is for cpu"):
        loaded["default"](weft.cuda(0))
    with pytest.raises(UsageError, match="the library is called 'default', not 'main'"):
        loaded["main"]
    with pytest.raises(UsageError, match="a library holds no text"):
        loaded.get_source()
    with pytest.raises(UsageError, match="there is no function 'get_outputs'"):
        graph["get_outputs"]
    with pytest.raises(UsageError, match=r"'name' of .* is a str, and not 3, an int"):
        graph[3]


def test_parameters_may_be_left_out_and_loaded_apart(built: Any, tmp_path: Path) -> None:
    built["remove_params"]().export_library(tmp_path / "model.so")
    graph = load(tmp_path / "model.so")["default"](weft.cpu())
    assert len(graph.inputs) == 1 + len(built.params)
    graph["load_params"](bytearray(weft.runtime.save_param_dict(built.get_params())))
    assert np.array_equal(result(graph), result(built["default"]()))
    assert len(built.params) > 0


def test_a_parameter_that_is_no_constant_of_the_code_is_in_the_library(built: Any, tmp_path: Path) -> None:
    other = built["remove_params"]()
    other._params = {name: array + 1 for name, array in built.params.items()}
    other.export_library(tmp_path / "model.so")
    loaded = load(tmp_path / "model.so")
    assert all(np.array_equal(loaded.params[name], array + 1) for name, array in built.params.items())
    assert not np.array_equal(result(loaded["default"]()), result(built["default"]()))


def test_a_graph_and_functions_may_be_in_one_library(built: Any, tmp_path: Path) -> None:
    bare = built["remove_params"]()
    bare.import_module(adding("one"))
    bare.export_library(tmp_path / "model.so")
    loaded = load(tmp_path / "model.so")
    assert loaded.type_key == "GraphExecutorFactory" and loaded.implements_function("one")
    assert added(loaded["one"]) == 1.0 and loaded["default"](weft.cpu()).get_num_outputs() == 1


def test_the_library_of_an_executable_is_loaded_as_one(tmp_path: Path) -> None:
    x = relay.var("x", shape=(8,))
    executable = weft.compile(relay.Function([x], relay.exp(x) + relay.const(np.arange(8, dtype=F32))))
    executable.export_library(tmp_path / "libexp.so", name="e")
    values, out = np.linspace(0, 1, 8, dtype=F32), np.zeros(8, F32)
    assert np.array_equal(weft.load(tmp_path / "libexp.so")(values), executable(values))
    load(tmp_path / "libexp.so")["main"](values, out)
    assert np.array_equal(out, executable(values))


def test_constants_stand_in_a_library_once(tmp_path: Path) -> None:
    x = relay.var("x", shape=(1 << 18,))
    weights = relay.const(np.random.default_rng(5).standard_normal(1 << 18).astype(F32))
    weft.compile(relay.Function([x], x * weights)).export_library(tmp_path / "m.so")
    assert (tmp_path / "m.so").stat().st_size < 1.5 * (1 << 20)


def test_loading_imports_no_compiler(built: Any, tmp_path: Path) -> None:
    built.import_module(adding("one"))
    built.export_library(tmp_path / "model.so")
    built._imports.clear()
    code = f"""
import sys, weft
weft.runtime.load_module({str(tmp_path / "model.so")!r})["one"]
compiler = ("xdsl.ir", "xdsl.dialects", "weft.transforms", "weft.frontend", "weft.dialects.relay")
print([name for name in sys.modules if name.startswith(compiler)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_no_library_of_weft_is_refused(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int one(void) { return 1; }\n")
    subprocess.run(["cc", "-shared", "-o", "other.so", "main.c"], cwd=tmp_path, check=True)
    (tmp_path / "text.so").write_text("no library")
    with tarfile.open(tmp_path / "other.tar", "w") as archive:
        archive.add(tmp_path / "other.so", "other.so")
    with tarfile.open(tmp_path / "text.tar", "w") as archive:
        archive.add(tmp_path / "text.so", "text")
    x = relay.var("x", shape=(8,))
    weft.compile(relay.Function([x], relay.exp(x))).save(tmp_path / "exp.weft")
    for file, message in {
        "other.so": "a library that Weft has not written: it has no section '.weft'",
        "other.tar": "a library that Weft has not written",
        "text.so": "not a library",
        "text.tar": "not a library",
        "exp.weft": "weft.load reads saved executables",
        "none.so": "cannot be read: no such file or directory",
    }.items():
        with pytest.raises(Diagnostic) as error:
            load(tmp_path / file)
        assert message in str(error.value) and str(tmp_path / file) in str(error.value)


def test_a_library_that_was_changed_or_cut_is_refused(tmp_path: Path) -> None:
    adding("one").export_library(tmp_path / "m.so")
    data = (tmp_path / "m.so").read_bytes()
    at = data.index(b'"function"')
    for changed in (
        data[: len(data) // 2],
        data[:at] + b'"funCtion"' + data[at + 10 :],
        data.replace(b"weftpart", b"weftpArt"),
        data[:64],
    ):
        (tmp_path / "bad.so").write_bytes(changed)
        with pytest.raises(ArtefactError):
            load(tmp_path / "bad.so")


FUNCTION = '{"kind": "function", "name": "f", "arguments": %s, "result": %s}'


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{", "interface.json: "),
        ("{}", "of no known kind"),
        (FUNCTION % ('[["x", 0, false]]', "null"), "not those of its program"),
        (FUNCTION % ('[["x"]]', "null"), "has no name, number and direction"),
        (FUNCTION % ('[["x", 0, false], ["y", 0, true]]', "0"), "is none of its arguments"),
        (
            '{"kind": "graph", "name": "g", "device_type": "cpu", "graph": "", "outputs": [], "params": {"w": 7}}',
            "there is nothing for the parameter 'w'",
        ),
    ],
)
def test_a_description_that_does_not_fit_is_refused(said: str, message: str) -> None:
    graph = adding("one")["one"].executable.graph
    with pytest.raises(ArtefactError, match=message):
        interface_of(graph, {INTERFACE: said.encode()})


def test_code_of_another_machine_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adding("one").export_library(tmp_path / "m.so")

    def refusal(platform: Platform) -> PlatformError:
        return PlatformError(f"made for {platform.architecture}")

    monkeypatch.setattr("weft.runtime.host.why_not_here", refusal)
    with pytest.raises(PlatformError, match=r"m\.so: error: made for"):
        load(tmp_path / "m.so")


def test_what_cannot_be_in_a_library_is_refused(tmp_path: Path) -> None:
    one = adding("one")
    one.import_module(adding("one", 2.0))
    with pytest.raises(UsageError, match="two programs of one library are called 'one'"):
        one.export_library(tmp_path / "m.so")
    with pytest.raises(UsageError, match="'a b' is no name in C"):
        adding("a b").export_library(tmp_path / "m.so")
    with pytest.raises(LinkError, match="there is no 'no-such-cc'"):
        adding("one").export_library(tmp_path / "m.so", cc="no-such-cc")
    assert not list(tmp_path.iterdir())

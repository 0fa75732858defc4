"""Backends: the blocks of docs/backends.md, the two of `examples/external`, and what is refused."""

# What executables give is an array or a tuple of them, and what pages define has no types.
# pyright: basic, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import Backend, Diagnostic, ExternalKernel, relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.support.packed import remove_global_func

pytestmark = pytest.mark.sampled(3)

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "external"
PAGE = (ROOT / "docs" / "backends.md").read_text()
WITH_C = [pytest.param("c_source", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"))]


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """`examples/external`, as its `pyproject.toml` has it installed: a folder for the path, with what it declares."""
    site = tmp_path_factory.mktemp("site")
    (site / "external").symlink_to(EXAMPLE / "external")
    declared = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    (info := site / "weft_external-0.1.0.dist-info").mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: 0.1.0\n")
    groups = declared["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()) for group, entries in groups]
    (info / "entry_points.txt").write_text("\n".join(lines))
    sys.path.append(str(site))
    from external.blas import Blas
    from external.c_source import CSource

    backends = [weft.register_backend(Blas(), override=True), weft.register_backend(CSource(), override=True)]
    yield site
    sys.path.remove(str(site))
    for name in [backend.name for backend in backends]:
        weft.remove_backend(name)
    for name in ("blas.product", "doubling.double"):
        remove_global_func(name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "external"]:
        del sys.modules[name]


def module_of(inputs: dict[str, tuple[int, ...]], body: Any) -> ModuleOp:
    variables = [relay.var(name, shape=shape) for name, shape in inputs.items()]
    return relay.IRModule.from_expr(relay.Function(variables, body(*variables)))


def random(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def agrees(parts: ModuleOp, graph: ModuleOp, *arrays: np.ndarray[Any, Any]) -> weft.Executable:
    """The compiled module, which gives what the interpreter gives for the graph."""
    expected = evaluate_function(main_of(graph), arrays)
    exe = weft.compile(parts)
    given = exe(*arrays)
    for array, wanted in zip(given if isinstance(given, tuple) else [given], expected, strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-5)
    return exe


def test_the_blocks_of_the_page_run() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for block in blocks:
        exec(compile(block, "docs/backends.md", "exec"), names)
    weft.remove_backend("doubling")
    assert len(blocks) == 3
    (shown,) = re.findall(r'```mlir title="parts"\n(.*?)```', PAGE, re.DOTALL)
    printed = str(main_of(names["parts"]))
    assert re.sub(r"%\w+", "%", printed.strip()) == re.sub(r"%\w+", "%", shown.strip())


def test_the_entry_points_of_the_page_are_those_of_the_package() -> None:
    (shown,) = re.findall(r'```toml title="examples/external/pyproject.toml"\n(.*?)```', PAGE, re.DOTALL)
    package = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    assert tomllib.loads(shown)["project"]["entry-points"] == package["project"]["entry-points"]


@pytest.mark.parametrize(("transpose_a", "transpose_b"), [(False, True), (True, False)])
def test_batches_of_products_go_to_blas(transpose_a: bool, transpose_b: bool) -> None:
    a, b = random(3, 5, 4) if transpose_a else random(3, 4, 5), random(3, 6, 5) if transpose_b else random(3, 5, 6)
    graph = module_of(
        {"a": a.shape, "b": b.shape},
        lambda a, b: relay.nn.batch_matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b),
    )
    parts = relay.transform.partition_for(graph, "blas")
    assert [op.name for op in main_of(parts).body.block.ops] == ["relay.call", "relay.return"]
    agrees(parts, graph, a, b)


def test_several_products_are_one_region_with_several_results() -> None:
    x, w = random(4, 8), random(8, 8)
    graph = module_of(
        {"x": x.shape, "w": w.shape},
        lambda x, w: relay.Tuple([h := relay.nn.dense(x, w), relay.nn.dense(h, relay.const(random(3, 8)))]),
    )
    parts = relay.transform.partition_for(graph, "blas")
    (function,) = [op for op in parts.ops if isinstance(op, FuncOp) and "Compiler" in op.attributes]
    assert len(function.function_type.outputs) == 2
    agrees(parts, graph, x, w)


@pytest.mark.parametrize("branches", [False, True])
def test_a_region_of_open_rows_is_called_with_as_many_as_there_are(branches: bool, tmp_path: Path) -> None:
    """Composites and constants in it; one region is called with `n` rows, one with `2 * n`."""
    weight, bias, last, rows = random(6, 4), random(6), random(3, 6), relay.Any()
    x = relay.var("x", shape=(rows, 4))
    hidden = relay.tanh(relay.nn.bias_add(relay.nn.dense(x, relay.const(weight)), relay.const(bias)))
    twice = relay.nn.dense(relay.concatenate([hidden, relay.negative(hidden)], axis=0), relay.const(last))
    taken = relay.If(relay.less(relay.sum(x), relay.const(1e9)), twice, relay.negative(twice)) if branches else twice
    graph = relay.IRModule.from_expr(relay.Function([x], taken))
    exe = weft.compile(relay.transform.partition_for(graph, "blas"))
    exe.save(tmp_path / "open.weft")
    for each in (exe, weft.load(tmp_path / "open.weft")):
        for count in (1, 3, 0):
            array = np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)
            half = np.tanh(array @ weight.T + bias)
            np.testing.assert_allclose(each(array), np.concatenate([half, -half]) @ last.T, rtol=1e-4, atol=1e-5)
    assert [k for k in exe.graph.kernels if "blas" in k]


@pytest.mark.parametrize("backend", WITH_C)
@pytest.mark.parametrize("branches", [False, True])
def test_a_region_in_c_is_told_its_open_extents(backend: str, branches: bool, tmp_path: Path) -> None:
    """Behind the address of each tensor: `n` for the one region, `2 * n` for the other."""
    x = relay.var("x", shape=(relay.Any(), 4))
    first = relay.sqrt(relay.abs(x))
    twice = relay.negative(relay.nn.relu(relay.concatenate([first, relay.tanh(first)], axis=0)))
    taken = relay.If(relay.less(relay.sum(x), relay.const(1e9)), twice, first) if branches else twice
    parts = relay.transform.partition_for(relay.IRModule.from_expr(relay.Function([x], taken)), backend)
    compiled = [weft.compile(parts, target="llvm" if branches else "c")]
    assert "memref<?x4xf32>, index, memref<?x4xf32>, index) -> ()" in compiled[0].ir["tir"]
    if branches:
        compiled[0].save(tmp_path / "open.weft")
        compiled.append(weft.load(tmp_path / "open.weft"))
    else:
        (tmp_path / "tir.mlir").write_text(compiled[0].ir["tir"])
        compiled.append(weft.compile(tmp_path / "tir.mlir"))
        compiled[1].export_library(tmp_path / "libopen.so")
        compiled.append(weft.load(tmp_path / "libopen.so"))
    for each in compiled:
        for count in (1, 3, 0):
            array = np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)
            half = np.sqrt(np.abs(array))
            wanted = -np.concatenate([half, np.tanh(half)])
            np.testing.assert_allclose(each(array), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", WITH_C)
def test_a_region_in_c_is_called_in_one_way_whatever_is_known_of_its_extents(backend: str) -> None:
    """Its types leave one extent open that the graph has known when it is compiled: it is handed all the same."""
    x = relay.var("x", shape=(relay.Any(), 4))
    graph = relay.IRModule.from_expr(relay.Function([x], relay.negative(relay.sqrt(x))))
    parts = relay.transform.partition_for(graph, backend)
    for each in (weft.compile(parts, shapes={"x": (5, 4)}), weft.compile(parts)):
        array = random(5, 4) ** 2
        np.testing.assert_array_equal(each(array), -np.sqrt(array))


def elementwise() -> ModuleOp:
    return module_of(
        {"x": (2, 4)},
        lambda x: relay.tanh(relay.add(relay.nn.relu(x), relay.multiply(x, relay.const(random(2, 4))))),
    )


@pytest.mark.parametrize("backend", WITH_C)
def test_elementwise_operators_become_c_in_every_executor_and_target(backend: str, tmp_path: Path) -> None:
    graph, x = elementwise(), random(2, 4) - 0.5
    parts = relay.transform.partition_for(graph, backend)
    exe = agrees(parts, graph, x)
    assert "fused" not in "".join(k for k in exe.graph.kernels if "tanh" not in k)
    y = exe(x)
    np.testing.assert_allclose(weft.compile(parts, target="c")(x), y, rtol=1e-5)
    module = weft.compile(parts, executor="graph")
    module.run(x=x)
    np.testing.assert_array_equal(module.get_output(0), y)
    assert exe.profile(x).steps[0].kernel.startswith("tvmgen_default_c_source")
    for phase in ("tir", "loops", "llvm"):
        (tmp_path / "phase.mlir").write_text(exe.ir[phase])
        assert "rt.source" in exe.ir[phase]
        np.testing.assert_array_equal(weft.compile(tmp_path / "phase.mlir")(x), y)
    exe.export_library(tmp_path / "libparts.so")
    np.testing.assert_array_equal(weft.load(tmp_path / "libparts.so")(x), y)
    relay.build(parts, "llvm").export_library(tmp_path / "graph.so")
    loaded: Any = weft.runtime.load_module(tmp_path / "graph.so").get_function("default")(weft.cpu())
    loaded.run(x=x)
    np.testing.assert_array_equal(loaded.get_output(0), y)


def test_a_saved_executable_finds_its_functions_and_imports_no_compiler(installed: Path, tmp_path: Path) -> None:
    graph, x = module_of({"x": (4, 8)}, lambda x: relay.nn.dense(x, relay.const(random(5, 8)))), random(4, 8)
    exe = agrees(relay.transform.partition_for(graph, "blas"), graph, x)
    exe.save(tmp_path / "parts.weft")
    np.save(tmp_path / "x.npy", x)
    script = f"""
import sys, numpy as np, weft
y = weft.load({str(tmp_path / "parts.weft")!r})(np.load({str(tmp_path / "x.npy")!r}))
np.save({str(tmp_path / "y.npy")!r}, y)
assert "external.products" in sys.modules and "external.blas" not in sys.modules
compilers = ("weft.transforms.relay", "weft.dialects.relay", "weft.lowering.phases", "xdsl.ir")
assert not any(name.startswith(compilers) for name in sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), exe(x))


def test_the_tools_know_backends_of_installed_packages(installed: Path, tmp_path: Path) -> None:
    graph = module_of({"x": (4, 6)}, lambda x: relay.tanh(relay.add(relay.nn.relu(x), x)))
    (tmp_path / "graph.mlir").write_text(str(graph))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])}
    passes = "annotate-target{targets=blas,c_source},merge-compiler-regions,partition-graph"
    command = [sys.executable, "-m", "weft.tools.weft_opt", "graph.mlir", "-p", passes, "-o", "parts.mlir"]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment)
    assert 'Compiler = "c_source"' in (tmp_path / "parts.mlir").read_text()
    if shutil.which("cc"):
        command = [sys.executable, "-m", "weft.tools.weft_run", "parts.mlir", "--compare", "interpreter", "--quiet"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "equal to interpreter" in done.stdout


class Saying(Backend):
    """Gives what it is told to."""

    name = "saying"

    def __init__(self, kernel: Any):
        self.kernel = kernel

    def supports(self, op: Any) -> bool:
        return op.name == "relay.nn.relu"

    def lower(self, function: FuncOp) -> ExternalKernel:
        return self.kernel(function) if callable(self.kernel) else self.kernel  # pyright: ignore[reportReturnType]


def refused(kernel: Any, message: str) -> None:
    weft.register_backend(Saying(kernel), override=True)
    try:
        graph = module_of({"x": (4,)}, relay.nn.relu)
        parts = relay.transform.partition_for(graph, "saying")
        with pytest.raises(Diagnostic) as error:
            weft.compile(parts)(np.zeros(4, np.float32))
        assert message in str(error.value), str(error.value)
    finally:
        weft.remove_backend("saying")


def test_what_a_backend_gets_wrong_is_told_with_its_name() -> None:
    refused(None, "the backend 'saying' gives NoneType for it, and no ExternalKernel")
    refused(Backend().lower, "the backend 'saying' has no 'lower'")
    refused(lambda f: ExternalKernel("c", f.sym_name.data), "is the name of the kernel that calls it")
    refused(ExternalKernel("packed", "there.is.none"), "no Python function is registered as 'there.is.none'")


def test_a_region_of_a_backend_that_is_gone_is_told_of() -> None:
    weft.register_backend(Saying(None))
    parts = relay.transform.partition_for(module_of({"x": (4,)}, relay.nn.relu), "saying")
    weft.remove_backend("saying")
    with pytest.raises(Diagnostic, match="there is no backend 'saying'"):
        weft.compile(parts)


def test_a_kernel_that_cannot_be_is_refused_where_it_is_made() -> None:
    with pytest.raises(UsageError, match="the language of a kernel"):
        ExternalKernel("cuda", "f")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="is a Python function, and has no C source"):
        ExternalKernel("packed", "f", source="int x;")
    with pytest.raises(UsageError, match="a kernel has a name"):
        ExternalKernel("c", "")


@pytest.mark.parametrize("backend", WITH_C)
def test_source_that_does_not_compile_is_told_of(backend: str) -> None:
    refused(
        ExternalKernel("c", "f", source="void f(const float *x, float *y) { oops }"), "the C compiler does not accept"
    )


def test_what_a_python_kernel_raises_the_call_raises() -> None:
    @weft.register_func("saying.fails", override=True)
    def fails(x: object, out: object) -> None:  # pyright: ignore[reportUnusedFunction]
        raise ZeroDivisionError("by hand")

    weft.register_backend(Saying(ExternalKernel("packed", "saying.fails")), override=True)
    try:
        parts = relay.transform.partition_for(module_of({"x": (4,)}, relay.nn.relu), "saying")
        exe = weft.compile(parts)
        with pytest.raises(Exception, match="by hand"):
            exe(np.zeros(4, np.float32))
    finally:
        weft.remove_backend("saying")
        remove_global_func("saying.fails")


@pytest.mark.parametrize("written", [0, 1])
def test_a_python_kernel_cannot_write_its_inputs_and_constants(written: int) -> None:
    """Which are the caller's array, and what all later calls are given."""

    @weft.register_func("saying.writes", override=True)
    def writes(*given: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        given[written][0] = 7

    weft.register_backend(Saying(ExternalKernel("packed", "saying.writes", [np.ones(4, np.float32)])), override=True)
    try:
        exe = weft.compile(relay.transform.partition_for(module_of({"x": (4,)}, relay.nn.relu), "saying"))
        with pytest.raises(weft.CheckError, match="read-only"):
            exe(x := np.zeros(4, np.float32))
        assert not x.any() and exe.graph.constants[0].all()
    finally:
        weft.remove_backend("saying")
        remove_global_func("saying.writes")


def test_functions_of_c_of_one_name_are_refused_where_the_second_is_made() -> None:
    def kernel(function: FuncOp) -> ExternalKernel:
        factor = 2 if "main_0" in function.sym_name.data else 3
        return ExternalKernel("c", "scale", source=f"void scale(const float *x, float *y) {{ *y = {factor} * *x; }}")

    weft.register_backend(Saying(kernel), override=True)
    try:
        graph = module_of({"x": (1,)}, lambda x: relay.nn.relu(relay.tanh(relay.nn.relu(x))))
        with pytest.raises(Diagnostic, match=r"its C function 'scale' is another one than that of @\w+_main_0"):
            weft.compile(relay.transform.partition_for(graph, "saying"))
    finally:
        weft.remove_backend("saying")


@pytest.mark.parametrize("backend", WITH_C)
def test_constants_of_kernels_are_held_by_the_library_and_no_parameters(backend: str, tmp_path: Path) -> None:
    def kernel(function: FuncOp) -> ExternalKernel:
        name = f"adds_{function.sym_name.data}"
        source = f"void {name}(const float *x, const float *c, float *y) {{ *y = *x + *c; }}"
        return ExternalKernel("c", name, [np.float32([3])], source=source)

    weft.register_backend(Saying(kernel), override=True)
    try:
        graph = module_of(
            {"x": (1,), "w": (1,)}, lambda x, w: relay.nn.relu(relay.multiply(relay.tanh(relay.nn.relu(x)), w))
        )
        parts = relay.transform.partition_for(graph, "saying")
        built: Any = relay.build(parts, "llvm", params={"w": np.float32([2])})
    finally:
        weft.remove_backend("saying")
    assert {name: value.tolist() for name, value in built.get_params().items()} == {"p0": [2.0]}
    built["remove_params"]().export_library(tmp_path / "bare.so")
    loaded: Any = weft.runtime.load_module(tmp_path / "bare.so")
    for bare in (built["remove_params"](), loaded):
        module = bare["default"]()
        module.load_params(relay.save_param_dict(built.get_params()))
        module.run(x=np.float32([0]))
        np.testing.assert_allclose(module.get_output(0), np.tanh([3.0]) * 2 + 3, rtol=1e-6)


def test_metadata_and_constants_are_kept_once() -> None:
    numbers = np.arange(2000, dtype=np.float32)

    def kernel(function: FuncOp) -> ExternalKernel:
        return ExternalKernel("packed", "saying.adds", [numbers], json.dumps({"more": 1}).encode())

    @weft.register_func("saying.adds", override=True)
    def adds(x: Any, numbers: Any, metadata: Any, out: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        out[...] = x + numbers + json.loads(metadata.tobytes())["more"]

    weft.register_backend(Saying(kernel), override=True)
    try:
        graph = module_of({"x": (2000,)}, lambda x: relay.nn.relu(relay.tanh(relay.nn.relu(x))))
        exe = weft.compile(relay.transform.partition_for(graph, "saying"))
        x = np.zeros(2000, np.float32)
        np.testing.assert_allclose(exe(x), np.tanh(numbers + 1) + numbers + 1, rtol=1e-5)
        assert sorted(array.nbytes for array in exe.graph.constants) == [11, 8000]
    finally:
        weft.remove_backend("saying")
        remove_global_func("saying.adds")

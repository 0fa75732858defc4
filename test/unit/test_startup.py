"""Starting is fast: what is slow to import is imported only where it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "perceptron.mlir"

SLOW = ("numpy", "llvmlite", "onnx", "onnxruntime", "ml_dtypes", "xdsl.xdsl_opt_main", "xdsl.interpreter", "asyncio")
"""Modules that cost more than a tenth of a second, or pull in those that do."""


OPS = "weft.dialects.relay.ops."
FORMATS_READ = """
import sys
from xdsl.irdl.declarative_assembly_format import FormatProgram
read = []
from_str = FormatProgram.from_str
def noted(text, definition):
    read.append(definition.name)
    return from_str(text, definition)
FormatProgram.from_str = noted
from weft.tools.weft_opt import main
code = main([sys.argv[1]])
print(code, *sorted(name for name in read if name.startswith("relay.")), file=sys.stderr)
print(*(name for name in ("numpy", "onnx", "llvmlite", "ml_dtypes") if name in sys.modules), file=sys.stderr)
"""
"""Says the exit code of weft-opt, the formats of relay that were read, and slow modules that were imported."""


def modules_loaded_by(code: str) -> set[str]:
    """What a new interpreter has loaded after running `code`."""
    report = f"import sys\n{code}\nsys.stderr.write('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", report], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stderr.split("\n"))


@pytest.mark.parametrize(
    "code", ["import weft", "from weft.transforms import infra", "from weft.universe import WEFT_UNIVERSE"]
)
def test_importing_weft_loads_nothing_slow(code: str) -> None:
    assert not modules_loaded_by(code) & set(SLOW)


@pytest.mark.parametrize("tool", ["weft_opt", "weft_run", "weft_import", "weft_bench"])
def test_help_loads_no_compiler(tool: str) -> None:
    code = f"from weft.tools.{tool} import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    loaded = modules_loaded_by(code)
    assert not loaded & {*SLOW, "xdsl.ir", "xdsl.dialects.builtin", "weft.dialects.relay"}


def test_a_module_without_resources_is_processed_without_numpy() -> None:
    module = "func.func @f() { func.return }"
    code = f"import io; sys.stdin = io.TextIOWrapper(io.BytesIO({module.encode()!r}))\n"
    loaded = modules_loaded_by(f"{code}from weft.tools.weft_opt import main\nassert main(['-']) == 0")
    assert not loaded & {"numpy", "llvmlite", "onnx", "xdsl.dialects.llvm"}


def test_a_saved_executable_runs_without_the_compiler(tmp_path: Path) -> None:
    path = tmp_path / "graph.weft"
    compiling = f"""
import weft
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser
from weft.dialects.relay import Relay
context = Context()
context.load_dialect(Builtin)
context.load_dialect(Relay)
body = "%y = relay.exp %x : tensor<2xf32> relay.return %y : tensor<2xf32>"
text = "relay.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{" + body + "}}"
weft.compile(Parser(context, text).parse_module()).save({str(path)!r})
"""
    assert "weft.compiler" in modules_loaded_by(compiling)
    running = f"""
import numpy, weft
exe = weft.load({str(path)!r})
assert numpy.allclose(exe(numpy.ones(2, numpy.float32)), numpy.e)
"""
    loaded = modules_loaded_by(running)
    weft_itself = {name for name in loaded if name.startswith("weft.")}
    runtime = {name for name in weft_itself if name.startswith("weft.runtime")}
    beside = {
        "weft.dialects", "weft.dialects.support", "weft.dialects.support.algebraic", "weft.dialects.support.alignment",
        "weft.dialects.support.arguments",
        "weft.dialects.support.checks", "weft.dialects.support.diagnostics", "weft.dialects.support.digests",
        "weft.dialects.support.element_types", "weft.dialects.support.files", "weft.dialects.support.matrix_unit",
        "weft.dialects.support.processors", "weft.dialects.support.records",
        "weft.loading", "weft.lowering",
        "weft.lowering.abi", "weft.lowering.sizes",
        "weft.dialects.support.lazy", "weft.dialects.support.provided",
    }  # fmt: skip
    assert weft_itself - runtime == beside
    assert len(loaded - modules_loaded_by("import numpy")) <= MODULES_OF_A_SAVED_EXECUTABLE
    # Diagnostics are xDSL's exceptions too, whose module imports nothing else of it.
    assert {name for name in loaded if name.startswith("xdsl")} <= {"xdsl", "xdsl.utils", "xdsl.utils.exceptions"}
    assert not loaded & {"onnx", "multiprocessing", "subprocess", "concurrent.futures", "zipfile", "queue"}


MODULES_OF_A_SAVED_EXECUTABLE = 54
"""Those of Weft and of Python that one is loaded and run with, beside NumPy's: what its start-up takes time for."""


def test_what_describes_a_saved_executable_is_made_without_writing_methods() -> None:
    """A frozen dataclass takes half a millisecond to make, for each of which a process that loads a program waits."""
    code = "import dataclasses; dataclasses._create_fn = None\nfrom weft.lowering import abi, sizes"
    assert {"weft.lowering.abi", "weft.lowering.sizes"} <= modules_loaded_by(code)


def test_a_relay_module_is_processed_without_the_dialects_that_it_does_not_use() -> None:
    """`weft-opt examples/perceptron.mlir` takes 0.4 s: what other modules need is not imported."""
    code = "from weft.tools.weft_opt import main\nassert main(['examples/perceptron.mlir', '-o', '/dev/null']) == 0"
    loaded = modules_loaded_by(code)
    assert "weft.dialects.relay.core" in loaded and not loaded & {"llvmlite", "onnx", "weft.dialects.tir.core"}
    dialects = {name for name in loaded if name.startswith("xdsl.dialects.")}
    assert dialects == {"xdsl.dialects.builtin"}
    families = {name.removeprefix(OPS) for name in loaded if name.startswith(OPS) and name != f"{OPS}nn"}
    assert families >= {"nn.activation", "nn.dense"}
    assert not families & {"nn.convolution", "nn.padding", "nn.pool", "einsum", "gather", "image", "scatter", "vision"}
    assert not loaded & {"tracemalloc", "weft.dialects.relay.data", "weft.dialects.relay.control"}
    assert not {name for name in loaded if name.startswith(("weft.dialects.te.expr", "weft.dialects.tir."))}
    assert len({name for name in loaded if name.startswith(("weft.", "xdsl."))}) < 170


def test_garbage_is_sought_as_before_once_a_tool_is_done() -> None:
    code = "import gc; before = gc.get_threshold()\nfrom weft.tools.weft_opt import main\nmain(['--version'])\n"
    modules_loaded_by(f"{code}assert gc.get_threshold() == before")


def test_weft_opt_reads_no_weights_and_only_the_formats_that_a_module_uses() -> None:
    run = subprocess.run([sys.executable, "-c", FORMATS_READ, EXAMPLE], capture_output=True, text=True, check=True)
    formats, imported = run.stderr.splitlines()
    used = {line.split("relay.")[1].split()[0] for line in EXAMPLE.read_text().splitlines() if " = relay." in line}
    assert formats.split()[0] == "0" and imported == ""
    early = {name.removeprefix("relay.") for name in formats.split()[1:]} - used - {"return"}
    assert not early, f"{early}: define them with `irdl_op_definition` of `dialects/support/operations.py`"
    assert len(formats.split()) > 3

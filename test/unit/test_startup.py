"""Starting is fast: what is slow to import is imported only where it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SLOW = ("numpy", "llvmlite", "onnx", "onnxruntime", "ml_dtypes", "xdsl.xdsl_opt_main", "xdsl.interpreter", "asyncio")
"""Modules that cost more than a tenth of a second, or pull in those that do."""


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
    assert not loaded & {"numpy", "llvmlite", "onnx"}

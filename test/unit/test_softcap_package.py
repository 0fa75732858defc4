"""`examples/softcap`, a package that extends Weft, in an environment of its own where it is installed by pip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MAIN = {
    "weft-opt": "from weft.tools.weft_opt import main",
    "weft-run": "from weft.tools.weft_run import main",
    "weft-import": "from weft.tools.weft_import import main",
    "xdsl-opt": "from xdsl.tools.xdsl_opt import main",
    "lit": "from lit.main import main",
}


class Environment:
    """A virtual environment with the packages of this one, this Weft, and the example installed."""

    def __init__(self, folder: Path):
        self.python = folder / "venv" / "bin" / "python"
        self.package = folder / "softcap"
        shutil.copytree(ROOT / "examples" / "softcap", self.package)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        purelib = self.run_python("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        installed = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
        paths = [str(ROOT), *installed]  # what pip would bring from the network
        (Path(purelib) / "packages_of_weft.pth").write_text("".join(f"{path}\n" for path in paths))
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
        self.run_python(*pip, "--no-deps", "--no-build-isolation", str(self.package))

    def run_python(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            [str(self.python), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=self.package.parent,
            env={"PATH": os.environ["PATH"], "HOME": str(self.package.parent)},
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout + ("" if check else done.stderr)

    def tool(self, name: str, *arguments: str, check: bool = True) -> str:
        return self.run_python("-c", f"import sys; {MAIN[name]}; sys.exit(main())", *arguments, check=check)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    pytest.importorskip("setuptools")
    return Environment(tmp_path_factory.mktemp("softcap"))


def test_the_package_is_not_seen_without_being_installed() -> None:
    with pytest.raises(ModuleNotFoundError):
        __import__("softcap.ops")


def test_its_lit_tests_pass(environment: Environment) -> None:
    assert "Passed: 1" in environment.tool("lit", "-v", str(environment.package / "test"))


def test_its_python_tests_pass(environment: Environment) -> None:
    assert " passed" in environment.run_python("-m", "pytest", "-q", "-p", "no:cacheprovider", str(environment.package))


def test_stock_xdsl_opt_parses_its_operators_and_runs_its_pass(environment: Environment) -> None:
    source = environment.package / "test" / "recognise_softcap.mlir"
    assert "softcap.softcap %x {cap = 2.000000e+00" in environment.tool(
        "xdsl-opt", "-p", "recognise-softcap", str(source)
    )


def test_machine_code_agrees_with_the_interpreter(environment: Environment) -> None:
    source = environment.package / "test" / "recognise_softcap.mlir"
    assert "equal to interpreter" in environment.tool("weft-run", str(source), "--compare", "interpreter")


def test_its_pass_is_listed_and_explained(environment: Environment) -> None:
    assert "recognise-softcap" in environment.tool("weft-opt", "--list-passes")
    assert "Squeeze every element" in environment.tool("weft-opt", "--explain", "softcap.softcap")


def test_its_domain_is_listed_among_the_onnx_operators(environment: Environment) -> None:
    listed = environment.tool("weft-import", "--list-operators").split()
    assert {"com.example.Softcap", "com.example.RmsNorm"} <= set(listed)

"""`examples/softcap` installed by pip into an environment of its own, without the network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

MAIN = {
    "weft-opt": "from weft.tools.weft_opt import main",
    "weft-run": "from weft.tools.weft_run import main",
    "weft-import": "from weft.tools.weft_import import main",
    "xdsl-opt": "from xdsl.tools.xdsl_opt import main",
    "lit": "from lit.main import main",
    "pytest": "from pytest import main",
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
            cwd=self.package,
            env={"PATH": os.environ["PATH"], "HOME": str(self.package.parent)},
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout + ("" if check else done.stderr)

    def tool(self, name: str, *arguments: str, check: bool = True) -> str:
        return self.run_python("-c", f"import sys; {MAIN[name]}; sys.exit(main())", *arguments, check=check)

# pyright: basic
# ruff: noqa: F821
"""lit's configuration: `lit test` runs every `.mlir` under `test/`, wherever Weft is installed or not."""

import os
import shutil
import stat
import sys

_root = os.path.dirname(os.path.abspath(__file__))
if _root not in sys.path:
    sys.path.insert(0, _root)

from weft.testing import bless  # noqa: E402
from weft.testing.lit_format import MODULES, InProcessShTest  # noqa: E402

config.name = "weft"
config.test_format = InProcessShTest("make bless T={name}")
lit_config.test_updaters.append(bless.update)
config.suffixes = [".mlir"]
config.excludes = ["unit", "support", "Inputs", "build", "dist", ".venv", ".git", "weft"]
config.test_source_root = _root
config.test_exec_root = os.path.join(_root, "build", "lit")

# One test runs on each processor: threads of NumPy's would wait for one another there.
os.environ["OPENBLAS_NUM_THREADS"] = config.environment["OPENBLAS_NUM_THREADS"] = "1"
# And processes to compile one or two kernels would cost more than they do.
os.environ["WEFT_JOBS"] = config.environment["WEFT_JOBS"] = "1"

# What several tests compile, the pool of threads in each program among it, is compiled once in a run.
_kernels = os.path.join(config.test_exec_root, "kernels")
shutil.rmtree(_kernels, ignore_errors=True)
os.environ["WEFT_CACHE_DIR"] = config.environment["WEFT_CACHE_DIR"] = _kernels

# What falls back on the shell finds this checkout's tools, installed or not.
_bin = os.path.join(config.test_exec_root, "bin")
os.makedirs(_bin, exist_ok=True)
for _tool, _module in MODULES.items():
    _wrapper = os.path.join(_bin, _tool)
    _text = f"#!{sys.executable}\nimport sys\nfrom {_module} import main\nsys.exit(main())\n"
    if not os.path.exists(_wrapper) or open(_wrapper).read() != _text:
        with open(_wrapper, "w") as _file:
            _file.write(_text)
        os.chmod(_wrapper, os.stat(_wrapper).st_mode | stat.S_IEXEC)
_path = (_bin, os.path.dirname(sys.executable), os.environ.get("PATH", ""))
config.environment["PATH"] = os.pathsep.join(_path)
config.environment["PYTHONPATH"] = os.pathsep.join(filter(None, (_root, os.environ.get("PYTHONPATH", ""))))

config.substitutions.append(("%roundtrip", "weft-opt %s --verify-roundtrip | filecheck %s"))
config.substitutions.append(("%inputs", os.path.join(_root, "test", "Inputs")))
if _mlir_opt := shutil.which("mlir-opt-22"):
    config.available_features.add("mlir-opt")
    config.substitutions.append(("%mlir-opt", _mlir_opt))

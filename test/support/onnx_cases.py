"""ONNX's own tests of single operators and layers (`onnx.backend.test`), a group at a time.

ONNX makes its node tests, results included, while the module that holds them is imported: eight seconds for all,
in every process. So a group is imported when it is asked for, and its name is known without.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ONNX overflows on purpose
    from onnx.backend.test.case import node
    from onnx.backend.test.case.test_case import TestCase
    from onnx.backend.test.loader import DATA_DIR, load_model_tests

KINDS = ("simple", "pytorch-operator", "pytorch-converted")
"""The tests that are files."""


def groups() -> list[str]:
    """The modules of node tests, by their place below `onnx.backend.test.case.node`, and those of `KINDS`."""
    return [*_modules(Path(node.__path__[0]), ""), *(kind for kind in KINDS if (Path(DATA_DIR) / kind).is_dir())]


def _modules(folder: Path, prefix: str) -> list[str]:
    found: list[str] = []
    for module in iter_modules([str(folder)]):
        name = f"{prefix}{module.name}"
        found += (
            _modules(folder / module.name, f"{name}.")
            if module.ispkg
            else [name]
            if not module.name.startswith("_")
            else []
        )
    return found


@cache
def cases_of(group: str) -> tuple[TestCase, ...]:
    """The tests of a group, in ONNX's order. Modules that others have imported before have none left to give."""
    if group in KINDS:
        return tuple(sorted(load_model_tests(kind=group), key=lambda case: case.name))
    made: list[TestCase] = vars(node)["_NodeTestCases"]
    before = len(made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module(f"{node.__name__}.{group}")
    return tuple(made[before:])

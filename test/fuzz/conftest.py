"""Fuzzing: a fixed set of cases with the other tests, and as many new ones as `make fuzz N=10000` asks for.

A case is a number, from which everything in it follows: `--cases 1 --first-case 1234` runs one again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=int, default=None, help="cases of each kind; few without this")
    parser.addoption("--first-case", type=int, default=0, help="the number of the first case")


FEW = {
    "graph": 24, "onnx_graph": 12, "text": 60, "pipeline": 120, "onnx": 60, "artefact": 60, "cache": 120,
    "schedule": 8, "wide_schedule": 8, "formed_schedule": 6, "design": 4, "tir_pass": 8, "relay_pass": 6, "dump": 24,
    "open_graph": 8, "te": 4, "program": 3,
}  # fmt: skip
"""Cases of each kind in `make test`."""
SHARDS = 16
"""Into so many tests each kind is divided at most, so that processors share it."""
LEAST = 20
"""Cases of a test, which makes what they need first."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for kind, few in FEW.items():
        if f"{kind}_cases" in metafunc.fixturenames:
            count: int = metafunc.config.getoption("--cases", None) or few
            first: int = metafunc.config.getoption("--first-case", None) or 0
            number = max(1, min(SHARDS, count // LEAST))
            shards = [range(first + shard, first + count, number) for shard in range(number)]
            names = [f"{shard.start}-to-{shard.stop}-by-{number}" for shard in shards]
            metafunc.parametrize(f"{kind}_cases", shards, ids=names)


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module", autouse=True)
def kernels_are_kept(kernels: Path) -> Iterator[None]:
    """The pool of threads is the same in all graphs, and takes as long to compile as they do. For no other tests: these
    need not write what they compile to a disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEFT_CACHE_DIR", str(kernels))
        yield

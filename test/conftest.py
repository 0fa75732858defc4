"""What all tests share."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections import Counter
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

if TYPE_CHECKING:
    from cuda_emulation import Emulator
    from xdsl.ir import Operation

# One test runs on each processor: threads of NumPy's would wait for one another there.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# And processes to compile one or two kernels would cost more than they do.
os.environ.setdefault("WEFT_JOBS", "1")
# Nor is what LLVM makes of code what most tests are about, and it takes longer than any pass (`optimized_code` has it).
os.environ.setdefault("WEFT_CODEGEN_LEVEL", "0")

# What is tested is compiled, whatever this user has compiled before.
os.environ["WEFT_CACHE_DIR"] = ""

# A shell lets what it starts in the background ignore interrupts, which programs inherit; tests send them to programs.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Which values hypothesis tries is decided by the test alone. Else it takes literals from the source of all modules that
# happen to be imported, so that a change anywhere changes the cases everywhere; and it reads all of them.
setattr(providers, "_get_local_constants", Constants)  # noqa: B010

# The same cases in each run, however slow the machine; `pytest --hypothesis-profile=other-cases` tries others.
settings.register_profile("same-cases", deadline=None, derandomize=True, database=None)
settings.register_profile("other-cases", deadline=None, database=None)
settings.load_profile("same-cases")

# Hardly anything that collecting tests makes is garbage.
gc.set_threshold(200_000, 20, 100)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Of the tests of a module, or the cases of a test, that are `sampled(n)`, the first of each `n` runs with `make
    test`; the others are the `rest`. What is `large` does not count."""
    met = Counter[str]()
    for item in items:
        node, mark = next(item.iter_markers_with_node("sampled"), (item, None))
        if mark is None or item.get_closest_marker("large"):
            continue
        among = item.nodeid.partition("[")[0] if node is item else node.nodeid
        if met[among] % mark.args[0]:
            item.add_marker("rest")
        met[among] += 1


def pytest_collection_finish() -> None:
    """The garbage collector need not look again and again at ten thousand tests and what they have imported; what a
    test makes is many small objects, most of which need no collector."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True, scope="session")
def rules_know_what_primitives_refuse() -> Generator[None]:
    """No function of any test is left as it was because a rule began what a primitive refuses: users get slow code
    then, and a remark."""
    from weft.transforms.tir import schedule_rules

    report = schedule_rules.missed

    def missed(pass_name: str, op: Operation, reason: str, suggestion: str | None = None) -> None:
        assert not reason.startswith(schedule_rules.REFUSED), reason
        report(pass_name, op, reason, suggestion)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule_rules, "missed", missed)
        yield


@pytest.fixture(scope="module")
def optimized_code() -> Generator[None]:
    """Code is what users get, as far as nobody says otherwise: for tests of whole models, and of instructions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WEFT_CODEGEN_LEVEL")
        yield


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Generator[Emulator]:
    """The CUDA driver of the tests, which runs kernels on this processor."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to build the driver with")
    from cuda_emulation import emulated

    with emulated(tmp_path_factory.mktemp("cuda")) as emulator:
        yield emulator

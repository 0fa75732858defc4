"""Counts what was compared with TVM's results, and prints it at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

_COUNTS: Counter[str] = Counter()


@pytest.fixture
def count() -> Callable[[str, int], None]:
    """Adds a number to the line of the summary that is called so."""

    def add(line: str, number: int) -> None:
        _COUNTS[line] += number

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _COUNTS:
        terminalreporter.section("compared with TVM")
    for line, number in sorted(_COUNTS.items()):
        terminalreporter.write_line(f"{number:6} {line}")

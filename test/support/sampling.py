"""Of many cases of one kind some run with `make test`, and the rest with `make large`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet


def one_in(number: int, cases: Iterable[ParameterSet]) -> list[ParameterSet]:
    """The cases, of which all but the first of each `number` are marked `large`."""
    return [
        case
        if position % number == 0
        else pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.large])
        for position, case in enumerate(cases)
    ]

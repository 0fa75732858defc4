"""What a processor takes for the work of kernels: the one description that all rules ask which weigh one way against
another.

    fmas=2,loads=2,latency=4,line=64,l1=48K,l1-ways=12,l2=2M,l3=8M,l2-rate=32,l3-rate=10,memory-rate=4

Rates are in vectors or bytes for each cycle of one core, sizes in bytes. It says nothing of vectors, which the target's
features decide (`vector_unit.py`), and nothing of clocks: all that is compared is in cycles. Which processor has which
numbers is not known here (`lowering/machine/known_machines.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite

STACK_BYTES = 256 * 1024
"""What a kernel may keep on a thread's stack, however large the caches are."""


LEAST_LINE = 16
"""Bytes of a cache line below which there is no processor."""


@dataclass(frozen=True)
class MachineModel:
    """One core of a processor, with its part of what it shares with others."""

    fmas: float = 2.0
    """Multiply-adds of vectors of the target's width that begin in a cycle."""
    loads: float = 2.0
    """Vectors, or scalars for all lanes of one, that are loaded from the nearest cache in a cycle."""
    latency: float = 4.0
    """Cycles until the sum of a multiply-add can be added to."""
    line: int = 64
    """Bytes that come into a cache together."""
    l1: int = 32 << 10
    """The nearest cache."""
    l1_ways: int = 8
    """Lines that it can hold of those that lie `l1 / l1_ways` bytes apart."""
    l2: int = 1 << 20
    """The second cache."""
    l3: int = 8 << 20
    """What one core may count on of the last cache, and of its own second one."""
    l2_rate: float = 32.0
    """Bytes in a cycle from the second cache."""
    l3_rate: float = 10.0
    """Bytes in a cycle between a core's caches and what is shared."""
    memory_rate: float = 4.0
    """Bytes in a cycle from memory."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not isfinite(value) or value <= 0:
                raise ValueError(f"'{_shown(each.name)}' of a machine is a positive number, not {value}")
        if self.line < LEAST_LINE:
            raise ValueError(f"'line' of a machine is at least {LEAST_LINE}, not {self.line}")

    def __str__(self) -> str:
        return ",".join(f"{_shown(each.name)}={_text(getattr(self, each.name))}" for each in fields(self))

    def told(self, text: str) -> MachineModel:
        """The same machine but for what `text` says: `l2=1M,fmas=1`.

        Raises:
            ValueError: it cannot be read.
        """
        return replace(self, **_read(text))

    def computing(self, sums: float) -> float:
        """Cycles of one step of so many sums, which are vectors that do not wait for each other."""
        return max(sums / self.fmas, self.latency)

    def streamed(self, vector_bytes: int) -> float:
        """Cycles in which a vector comes from the second cache."""
        return max(vector_bytes / self.l2_rate, 1 / self.loads)

    @property
    def kept_near(self) -> int:
        """Bytes that stay in the second cache beside what passes by, as far as a thread's stack has room for them."""
        return min(self.l2 // 4, STACK_BYTES)

    def rate(self, held: int) -> float:
        """Bytes in a cycle from the nearest place that holds a tensor of so many, if that is not the nearest cache."""
        if held <= self.l2:
            return self.l2_rate
        return self.l3_rate if held <= self.l3 else self.memory_rate

    def moving(self, count: float) -> float:
        """Cycles in which so many bytes go between a core's own caches and what is shared."""
        return count / self.l3_rate


_TYPES: Mapping[str, type[int | float]] = {
    each.name: int if isinstance(each.default, int) else float for each in fields(MachineModel)
}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _read(text: str) -> dict[str, int | float]:
    found: dict[str, int | float] = {}
    for word in text.split(","):
        shown, equals, value = word.partition("=")
        name = shown.replace("-", "_")
        if not equals or name not in _TYPES:
            listed = ", ".join(map(_shown, _TYPES))
            raise ValueError(f"a machine has no '{shown}'; what it has are {listed}")
        if name in found:
            raise ValueError(f"'{shown}' of a machine stands twice")
        is_size = _TYPES[name] is int
        match = re.fullmatch(r"(\d+)([KMG]?)" if is_size else r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)()", value)
        if match is None:
            kind = "a number of bytes or ways, such as 32K" if is_size else "a number"
            raise ValueError(f"'{shown}' of a machine is {kind}, not '{value}'")
        found[name] = int(match[1]) * _UNITS[match[2]] if is_size else float(match[1])
    return found


def _shown(name: str) -> str:
    return name.replace("_", "-")


def _text(value: float) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    unit = max((unit for unit, size in _UNITS.items() if value % size == 0), key=_UNITS.__getitem__)
    return f"{value // _UNITS[unit]}{unit}"

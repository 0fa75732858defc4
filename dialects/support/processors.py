"""How many processors this process may use: what the system has, less what affinity and control groups take away."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import ceil
from pathlib import Path
from typing import TypeAlias

Reader: TypeAlias = Callable[[Path], float | None]


def available_processors() -> int:
    """Processors that this process may keep busy at once, at least 1."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cgroup_quota()
    return max(1, affinity if quota is None else min(affinity, ceil(quota)))


def cgroup_quota(root: Path = Path("/")) -> float | None:
    """Processors that the control groups of this process grant, the least of all levels; none where there is no limit.

    Args:
        root: where `proc` and `sys` are found.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    limits: list[float] = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            limits += _limits(root / "sys/fs/cgroup", path, _read_v2)
        elif "cpu" in controllers.split(","):
            for name in dict.fromkeys((controllers, "cpu", "cpu,cpuacct")):
                limits += _limits(root / "sys/fs/cgroup" / name, path, _read_v1)
    return min(limits, default=None)


def _limits(mount: Path, path: str, read: Reader) -> Iterator[float]:
    """The limits of a group and those around it. In a container the path may not be there: its group is the root's."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for count in range(len(parts), -1, -1):
        try:
            limit = read(mount.joinpath(*parts[:count]))
        except (OSError, ValueError):
            continue
        if limit is not None:
            yield limit


def _read_v2(group: Path) -> float | None:
    quota, _, period = (group / "cpu.max").read_text().strip().partition(" ")
    return None if quota == "max" else _ratio(int(quota), int(period or 100_000))


def _read_v1(group: Path) -> float | None:
    quota = int((group / "cpu.cfs_quota_us").read_text())
    return _ratio(quota, int((group / "cpu.cfs_period_us").read_text()))


def _ratio(quota: int, period: int) -> float | None:
    return quota / period if quota > 0 and period > 0 else None

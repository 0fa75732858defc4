"""How many processors there are for this process: affinity, and control groups of both versions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.dialects.support.processors import available_processors, cgroup_quota


def system(root: Path, cgroup: str, files: dict[str, str]) -> Path:
    """A root with `proc/self/cgroup` and files under `sys/fs/cgroup`."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("cgroup", "files", "quota"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/a/b\n", {"cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n", "a/b/cpu.max": "max 100000\n"}, 3),
        ("0::/a/b\n", {"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "200000 100000\n"}, 2),
        ("0::/elsewhere\n", {"cpu.max": "50000 100000\n"}, 0.5),
        ("0::/../outside\n", {"cpu.max": "50000 100000\n"}, 0.5),
        ("0::/\n", {"cpu.max": "max 100000\n"}, None),
        ("0::/\n", {"cpu.max": "rubbish\n"}, None),
        ("0::/\n", {}, None),
        (
            "4:cpu,cpuacct:/docker/1\n1:name=systemd:/x\n",
            {
                "cpu,cpuacct/docker/1/cpu.cfs_quota_us": "250000",
                "cpu,cpuacct/docker/1/cpu.cfs_period_us": "100000",
            },
            2.5,
        ),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ("4:cpuset:/\n", {"cpuset/cpu.cfs_quota_us": "100000", "cpuset/cpu.cfs_period_us": "100000"}, None),
    ],
)
def test_the_least_limit_of_all_levels_holds(
    tmp_path: Path, cgroup: str, files: dict[str, str], quota: float | None
) -> None:
    assert cgroup_quota(system(tmp_path, cgroup, files)) == quota


def test_a_system_without_control_groups_has_no_limit(tmp_path: Path) -> None:
    assert cgroup_quota(tmp_path) is None


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_affinity_is_heeded() -> None:
    code = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from weft.dialects.support.processors import available_processors
print(available_processors())
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "1\n"


def test_there_is_at_least_one() -> None:
    assert 1 <= available_processors() <= (os.cpu_count() or 1)


@pytest.fixture
def group_of_one() -> Iterator[Path]:
    """A control group of the system, of either version, whose processes may use one processor."""
    for mount, files in (
        (Path("/sys/fs/cgroup/cpu"), {"cpu.cfs_period_us": "50000", "cpu.cfs_quota_us": "50000"}),
        (Path("/sys/fs/cgroup"), {"cpu.max": "50000 50000"}),
    ):
        group = mount / f"weft-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if all((group / name).exists() for name in files):
                for name, text in files.items():
                    (group / name).write_text(text)
                yield group
                return
        finally:
            group.rmdir()
    pytest.skip("this process may make no control group that limits processors")


def test_the_limit_of_a_control_group_holds_where_programs_run(group_of_one: Path) -> None:
    """As many threads as the group grants processors, though the system has more; more where they are asked for."""
    code = f"""
import os
from collections.abc import Iterator
from pathlib import Path
Path({str(group_of_one)!r}, "cgroup.procs").write_text(str(os.getpid()))
import numpy as np
import weft
from weft.dialects.support.processors import available_processors
exe = weft.compile("examples/perceptron.mlir")
before = len(os.listdir("/proc/self/task"))
exe(np.ones((1, 64), np.float32))
exe(np.ones((1, 64), np.float32))
print(available_processors(), exe.threads, len(os.listdir("/proc/self/task")) - before)
exe.threads = 2
print(exe.threads)
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "1 1 0\n2\n"

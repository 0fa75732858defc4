"""Files appear whole or not at all, whatever ends the process that writes them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from weft.dialects.support import files
from weft.dialects.support.files import replacing

NAMELESS = files._NAMELESS  # pyright: ignore[reportPrivateUsage]
ways = pytest.mark.parametrize("nameless", [NAMELESS, None], ids=["nameless", "hidden"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nameless: int | None) -> Path:
    monkeypatch.setattr(files, "_NAMELESS", nameless)
    return tmp_path


def die_while_writing(path: Path) -> None:
    child = os.fork()
    if child == 0:
        with replacing(path) as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@ways
def test_a_process_that_is_killed_while_it_writes_leaves_no_file(folder: Path) -> None:
    die_while_writing(folder / "new")
    deadline = time.monotonic() + 20
    while list(folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)  # a guard takes some time
    assert list(folder.iterdir()) == []


@ways
def test_what_was_there_stays_until_all_is_written(folder: Path) -> None:
    path = folder / "old"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write(b"new")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(folder.iterdir()) == [path]


@ways
def test_permissions_are_those_of_the_file_that_is_replaced_or_those_asked_for(folder: Path) -> None:
    old, private = folder / "old", folder / "private"
    old.touch()
    old.chmod(0o640)
    for path, mode in ((old, None), (private, 0o600), (folder / "new", None)):
        with replacing(path, mode):
            pass
    plain = folder / "plain"
    plain.touch()
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"old": 0o640, "private": 0o600, "new": modes["plain"], "plain": modes["plain"]}


@ways
def test_what_a_link_points_to_is_replaced(folder: Path) -> None:
    target, link = folder / "target", folder / "link"
    link.symlink_to("target")
    for content in (b"1", b"2"):
        with replacing(link) as file:
            file.write(content)
        assert link.is_symlink() and target.read_bytes() == content


@ways
def test_a_folder_that_is_not_there_is_an_error_and_a_long_name_is_none(folder: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(folder / "missing" / "file"):
        pass
    for _ in range(2):
        with replacing(folder / ("é" * 127)) as file:
            file.write(b"x")
    assert [path.read_bytes() for path in folder.iterdir()] == [b"x"]


@pytest.mark.parametrize(
    "module",
    ["tools/output.py", "dialects/relay/weights.py", "runtime/artefact.py", "dialects/support/file_cache.py"],
)
def test_every_writer_of_files_writes_them_so(module: str) -> None:
    text = (Path(__file__).parents[2] / module).read_text()
    assert "with replacing(" in text
    assert "os.replace" not in text and "tempfile" not in text

"""The digest that tells a compiler from others, and when the modules that it is made of are read again."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import IO, Any

import pytest

from weft.dialects.support import file_facts, knobs
from weft.lowering import compiler_digest


def test_a_compiler_is_told_by_its_modules_and_unknown_once_they_are_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "pass.py"
    source.write_text("one = 1")
    names = [name for name, _ in compiler_digest._sources()]  # pyright: ignore[reportPrivateUsage]
    assert {"weft.transforms/tir/schedule_rules.py", "weft.dialects/tir/affine.py", "weft/compilation.py"} <= set(names)
    monkeypatch.setattr(compiler_digest, "_sources", lambda: [("pass.py", source)])
    asked = compiler_digest.digest_now
    assert asked() is None, "it was written after this process began"
    os.utime(source, (0, 0))
    first = asked()
    source.write_text("one = 2")
    os.utime(source, (0, 0))
    second = asked()
    assert first is not None and second not in (None, first)
    there = compiler_digest.version

    def another(package: str) -> str:
        return "0" if package == "onnx" else there(package)

    monkeypatch.setattr(compiler_digest, "version", another)
    assert asked() not in (None, first, second), "it stands on another version of onnx"


def test_modules_are_read_once_for_all_processes_while_nobody_touches_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, read = tmp_path / "pass.py", list[str]()

    def opened(path: str, mode: str, *, buffering: int) -> IO[Any]:
        read.append(path)
        return open(path, mode, buffering)

    def write(text: str) -> None:
        before = source.stat().st_ctime_ns if source.exists() else 0
        source.write_text(text)
        while source.stat().st_ctime_ns == before:  # file systems count time in milliseconds
            source.write_text(text)
        os.utime(source, (0, 0))

    def ask_anew() -> tuple[str | None, int]:
        """The digest in a process of its own, and how many files that reads."""
        read.clear()
        return compiler_digest.digest_now(), len(read)

    write("one = 1")
    monkeypatch.setattr(compiler_digest, "_sources", lambda: [("pass.py", str(source))])
    find = compiler_digest._found.__wrapped__  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(compiler_digest, "_found", cache(find))
    monkeypatch.setattr(compiler_digest, "open", opened, raising=False)
    with knobs.CACHE_DIR.set(str(tmp_path / "cache")):
        first, number = ask_anew()
        assert number == 1 and ask_anew() == (first, 1), "its times might not tell of the next change yet"
        monkeypatch.setattr(file_facts, "_SETTLED", -1.0)
        assert [ask_anew(), ask_anew()] == [(first, 1), (first, 0)]
        assert compiler_digest.compiler_digest() == first
        read.clear()
        assert compiler_digest.unchanged() and not read
        write("one = 2")
        assert not compiler_digest.unchanged(), "it is of the same size and says the same time"
        second, number = ask_anew()
        assert second != first and number == 1
        write("one = 1")
        assert compiler_digest.unchanged() and ask_anew() == (first, 1), "it is another file, with what was read"
    with knobs.CACHE_DIR.set(""):
        assert [ask_anew(), ask_anew()] == [(first, 1), (first, 1)]

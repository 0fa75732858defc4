"""Settings from the environment: typed, scoped, documented, and all in one module."""

import re
from pathlib import Path

import pytest

from weft.dialects.support import knobs
from weft.dialects.support.diagnostics import UsageError
from weft.tools.weft_opt import main

ROOT = Path(__file__).parents[2]


def test_a_knob_is_read_from_the_environment_and_scoped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_DEBUG", "1")
    assert knobs.DEBUG.get()
    with knobs.DEBUG.set(False):
        assert not knobs.DEBUG.get()
    monkeypatch.delenv("WEFT_DEBUG")
    assert not knobs.DEBUG.get()


def test_a_value_of_another_type_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_DEBUG", "maybe")
    with pytest.raises(UsageError, match="WEFT_DEBUG is 'maybe'"):
        knobs.DEBUG.get()
    number = knobs.Knob("WEFT_TEST_NUMBER", 3, "a number")
    try:
        monkeypatch.setenv("WEFT_TEST_NUMBER", "4")
        assert number.get() == 4
        monkeypatch.setenv("WEFT_TEST_NUMBER", "four")
        with pytest.raises(UsageError, match="'four', which is no whole number"):
            number.get()
    finally:
        del knobs.KNOBS["WEFT_TEST_NUMBER"]


def test_nothing_else_reads_the_environment() -> None:
    folders = ("dialects", "transforms", "lowering", "runtime", "frontend", "tools")
    readers = [
        str(path.relative_to(ROOT))
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"\bos\.(environ|getenv)\b", path.read_text())
    ]
    assert readers == ["dialects/support/knobs.py"]


def test_every_knob_is_documented_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    for variable, knob in knobs.KNOBS.items():
        assert knob.doc
        assert re.search(rf"^  {variable} +\S", text, re.M)

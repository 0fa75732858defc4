"""Records of tuning: whole or not there, whoever writes them and however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.transforms.tir.scheduling.tuning_records import (
    Status,
    TuningRecord,
    append_record,
    best_records,
    read_records,
)

RECORD = TuningRecord(
    "k1", "llvm here", "fused_nn_dense", "schedule.sequence @s on @kernel {\n}", Status.MEASURED, (0.5, 0.6, 0.7), 1e-6,
    2e-6, 2, (("register-tile", "dense", 3, 9),), (1.0, 2.5), "", {"compile": 0.25}, 12.5, "0.1.0",
)  # fmt: skip


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = str(tmp_path / "records.jsonl")
    wrong = replace(RECORD, status=Status.WRONG, ratios=(), message='result 0 is off\nby "much"')
    append_record(path, RECORD)
    append_record(path, wrong)
    assert read_records(path) == [RECORD, wrong]


def test_a_line_that_was_never_finished_is_passed_over_and_closed_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    line = RECORD.to_json()
    for cut in (1, 5, 12, len(line) // 2, len(line) - 1):
        path.write_text(f"{line}\n{line[:cut]}")
        assert read_records(str(path)) == [RECORD]
        append_record(str(path), RECORD)
        assert read_records(str(path)) == [RECORD, RECORD]


def test_a_writer_that_is_killed_leaves_only_whole_records(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    program = (
        "import sys; from weft.transforms.tir.scheduling.tuning_records import *\n"
        f"r = TuningRecord('k', 't', 'n', 's' * 5000, Status.LATE)\nwhile True: append_record({str(path)!r}, r)"
    )
    writer = subprocess.Popen([sys.executable, "-c", program])
    while not path.exists() or path.stat().st_size < 100_000:
        assert writer.poll() is None
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    append_record(str(path), RECORD)
    records = read_records(str(path))
    assert len(records) > 10 and records[-1] == RECORD


def test_several_writers_do_not_mix_their_lines(tmp_path: Path) -> None:
    path = str(tmp_path / "records.jsonl")

    def write(name: str) -> None:
        for number in range(40):
            append_record(path, replace(RECORD, name=name, schedule="x" * 100 * number))

    threads = [threading.Thread(target=write, args=(f"writer {n}",)) for n in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    records = read_records(path)
    assert len(records) == 160
    for n in range(4):
        assert [len(r.schedule) for r in records if r.name == f"writer {n}"] == [100 * n for n in range(40)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tir.for %i = 0 to 4 {", "this is no tuning record"),
        ("[1, 2]", "this is no tuning record"),
        ('{"a": 1}', "this is no tuning record"),
        ('{"format": 7}', "another format than 1"),
        ('{"format": 1, "kernel": "k"}', "it does not say its 'target'"),
        ("[" * 100_000, "this is no tuning record"),
        (RECORD.to_json().replace("[0.5,", f"[{10**400},"), "'ratios' holds what is no number"),
        ('{"format": 1, "kernel": 3}', "'kernel' is no text"),
        ('{"format": 1, "colour": "red"}', "there is no 'colour' in one"),
        (RECORD.to_json().replace('"measured"', '"perhaps"'), "'perhaps' is not a valid Status"),
        (RECORD.to_json().replace("[0.5, 0.6, 0.7]", "[]"), "does not say how often"),
        (RECORD.to_json().replace("[0.5,", '["fast",'), "'ratios' holds what is no number"),
        (RECORD.to_json().replace('["register-tile", "dense", 3, 9]', "[1]"), "'decisions' holds what is no decision"),
    ],
)
def test_what_is_no_record_is_refused_at_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(f"{RECORD.to_json()}\n{line}\n")
    with pytest.raises(Diagnostic, match=message) as caught:
        read_records(str(path))
    assert caught.value.place is not None and str(caught.value.place) == f"{path}:2:1"


def test_a_file_that_is_not_there_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: no such file"):
        read_records(str(tmp_path / "none.jsonl"))


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(Diagnostic, match="cannot be written: no such file"):
        append_record(os.fspath(tmp_path / "none" / "records.jsonl"), RECORD)


def test_the_best_schedule_is_the_fastest_of_those_that_are_surely_faster() -> None:
    lucky = replace(RECORD, name="lucky", ratios=(0.3, 0.4, 1.2, 1.3))
    steady = replace(RECORD, name="steady", ratios=(0.8, 0.81, 0.82))
    faster = replace(RECORD, name="faster", ratios=(0.7, 0.7, 0.7))
    same = replace(RECORD, name="same", ratios=(0.99, 0.99))
    wrong = replace(RECORD, name="wrong", status=Status.WRONG, ratios=(0.1,))
    assert best_records([lucky, same, wrong]) == {}
    assert best_records([lucky, steady, faster, wrong, replace(faster, name="later")]) == {"k1": faster}
    assert best_records([replace(steady, kernel="k2"), faster]) == {"k2": replace(steady, kernel="k2"), "k1": faster}

"""Mutated artefacts and cache entries: refused with a diagnostic, or right; never a crash, never wrong numbers."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from mutate import NUMBERS, Outcome, mutated_bytes, mutated_text, run_cases, run_tool

import weft
from weft import kept_programs
from weft.dialects.support.file_cache import PROGRAM_SUFFIX
from weft.lowering.lowered_kernel import LOWERED
from weft.lowering.machine.kernel_cache import IN_MEMORY, KernelCache
from weft.tools import weft_run

MODULE = """
relay.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %w = relay.constant dense<0.125> : tensor<16x16xf32>
  %0 = relay.nn.dense %x, %w {units = 16 : i64} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %1 = relay.nn.relu %0 : tensor<4x16xf32>
  %y = relay.add %1, %x : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  relay.return %y : tensor<4x16xf32>
}
"""
COMPILED_EVERY = 64
"""Mutated entries between two whose kernel is compiled and run as well."""
X = np.random.default_rng(0).standard_normal((4, 16)).astype(np.float32)
EXPECTED = np.maximum(X @ np.full((16, 16), 0.125, np.float32), 0) + X


@pytest.fixture(scope="module")
def artefact(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("artefact")
    (folder / "m.mlir").write_text(MODULE)
    weft.compile(folder / "m.mlir", threads=1).save(folder / "m.weft")
    return (folder / "m.weft").read_bytes()


def mutated_member(data: bytes, rng: random.Random) -> bytes:
    """The archive with one member changed, or without it; checksums are right again."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice([*members, "manifest.json", "manifest.json"])
    if rng.random() < 0.1:
        del members[name]
    elif name == "manifest.json" and rng.random() < 0.7:
        members[name] = json.dumps(mutated_json(json.loads(members[name]), rng)).encode()
    elif name == "manifest.json":
        members[name] = mutated_text(members[name].decode(), NUMBERS, rng).encode()
    else:
        members[name] = mutated_bytes(members[name], rng)
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return output.getvalue()


def mutated_json(value: Any, rng: random.Random) -> object:
    """`value` with something in it replaced by a value of another kind or size."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        value = cast("dict[str, object]", value)
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: mutated_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        value = cast("list[object]", value)
        place = rng.randrange(len(value))
        return [*value[:place], mutated_json(value[place], rng), *value[place + 1 :]]
    return rng.choice([None, -1, 0, 2**50, 1.5, "", "x", [], {}, True, "float64", [4, 17]])


def test_mutated_artefacts_are_refused_or_right(artefact_cases: range, artefact: bytes, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "y.npz", out=EXPECTED)

    def run(case: int) -> None:
        rng = random.Random(case)
        path = tmp_path / "m.weft"
        path.write_bytes(mutated_bytes(artefact, rng) if rng.random() < 0.5 else mutated_member(artefact, rng))
        arguments = [str(path), "--threads", "1", "--input", f"x=@{tmp_path / 'x.npy'}", "--quiet"]
        run_tool(weft_run.main, arguments)
        try:
            program = weft.load(path, threads=1)
        except weft.Diagnostic:
            return
        if not np.allclose(program(X), EXPECTED, rtol=1e-5):
            raise Outcome("loads, and computes something else")

    wrong = run_cases(artefact_cases, run)
    assert not wrong, f"{len(wrong)} of {len(artefact_cases)}:\n" + "\n".join(wrong[:20])


def test_mutated_cache_entries_change_no_result(
    cache_cases: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "m.mlir").write_text(MODULE)
    forget()
    weft.compile(tmp_path / "m.mlir", threads=1)
    compiled = {path: path.read_bytes() for path in sorted((tmp_path / "cache").rglob("*")) if path.is_file()}
    cache = KernelCache.from_environment()
    assert compiled and cache is not None

    def run(case: int) -> None:
        rng = random.Random(case)
        path = rng.choice(list(compiled))
        path.write_bytes(mutated_bytes(compiled[path], rng))
        found = cache.get(path.parent.name + path.name)
        if found is not None and found != cache_content(compiled[path]):
            raise Outcome("a damaged object is taken")
        if case % COMPILED_EVERY == 0:
            forget()
            for program in (tmp_path / "cache").rglob(f"*{PROGRAM_SUFFIX}"):
                if program != path:  # with which nothing else is read
                    program.unlink()
            if not np.allclose(weft.compile(tmp_path / "m.mlir", threads=1)(X), EXPECTED, rtol=1e-5):
                raise Outcome("another result")
            if path.read_bytes() != compiled[path]:
                raise Outcome("a damaged entry stays")
        path.write_bytes(compiled[path])

    wrong = run_cases(cache_cases, run)
    assert not wrong, f"{len(wrong)} of {len(cache_cases)}:\n" + "\n".join(wrong[:20])


def forget() -> None:
    """Forget what this process holds in memory."""
    IN_MEMORY.clear()
    LOWERED.clear()
    kept_programs.forget()


def cache_content(entry: bytes) -> bytes:
    """The object file in an entry of the cache."""
    return entry[hashlib.sha256().digest_size :]

"""Saved executables: what is read back, what is refused and how, and where they are written."""

from __future__ import annotations

import json
import os
import random
import stat
import threading
import zipfile
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.digests import digest_of_bytes
from weft.lowering.abi import ALIGNMENT, Argument, CompiledGraph, Parameter, Platform, Step, TensorSpec, code_mark
from weft.lowering.manifest import manifest
from weft.runtime import artefact
from weft.runtime.artefact import ArtefactError
from weft.runtime.memory import NotEnoughMemory
from weft.runtime.program import Context


def graph() -> CompiledGraph:
    """A graph that can be saved and loaded, with nothing in it that runs."""
    constants = (np.arange(6, dtype=np.float32).reshape(2, 3), np.array([True, False]), np.zeros((0, 4), np.int8))
    made = CompiledGraph(
        (),
        constants,
        (TensorSpec("x", "float32", (2, 3)),),
        (TensorSpec("y", "bfloat16", ()), TensorSpec("z", "uint8", (4, 0))),
        128,
        ("fused_add",),
        Platform("x86_64-unknown-linux-gnu", "haswell", ("avx", "avx2")),
        counter_bytes=64,
        parameters=((Parameter("buffer", 24), Parameter("slots", 128), Parameter("threads")),),
        steps=(
            Step(
                "fused_add",
                ("first", "second"),
                (Argument("constant", 0, 24), Argument("slots", 0, 128), Argument("threads")),
            ),
            Step("", (), (Argument("input", 0, 24), Argument("arena", 64, 24))),
        ),
    )
    return marked(replace(made, objects=(b"object one", b"object two")))


def marked(made: CompiledGraph) -> CompiledGraph:
    """A graph with an object more, which has the mark of what is said of it and of all others."""
    mark = code_mark(manifest(made), map(digest_of_bytes, made.objects))
    return replace(made, objects=(*made.objects, mark.encode()))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "graph.weft"
    artefact.save(graph(), path)
    return path


def rewrite(
    path: Path, change: Callable[[dict[str, Any]], object], member: str = "manifest.json", *, sign: bool = True
) -> None:
    """Edit the manifest of a saved graph, or the digests; `sign`: give both the digest that they should have."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    edited = json.loads(members[member])
    changed = change(edited)
    members[member] = json.dumps(edited if changed is None else changed, indent=1).encode()
    if sign:
        members["digest"] = sha256(members["manifest.json"] + members["digests.json"]).hexdigest().encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_what_is_saved_is_loaded(saved: Path) -> None:
    loaded, made = artefact.load(saved), graph()
    for name in ("objects", "inputs", "outputs", "arena_bytes", "kernels", "platform"):
        assert getattr(loaded, name) == getattr(made, name)
    for found, expected in zip(loaded.constants, made.constants, strict=True):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
        assert found.ctypes.data % ALIGNMENT == 0
    assert artefact.digest(loaded) == artefact.digest(made)


def test_a_graph_is_loaded_where_no_thread_can_be_started(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    expected = artefact.digest(artefact.load(saved))
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert artefact.digest(artefact.load(saved)) == expected


def test_the_same_graph_gives_the_same_file(saved: Path, tmp_path: Path) -> None:
    artefact.save(graph(), tmp_path / "again.weft")
    assert (tmp_path / "again.weft").read_bytes() == saved.read_bytes()


EDITS: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("is no object", lambda m: []),
    ("'arena_bytes' in its manifest is not an integer", lambda m: m.update(arena_bytes=None)),
    ("'arena_bytes' in its manifest is not an integer", lambda m: m.update(arena_bytes=True)),
    ("'arena_bytes' in its manifest is not a number of bytes", lambda m: m.update(arena_bytes=-1)),
    ("'arena_bytes' in its manifest is not a number of bytes", lambda m: m.update(arena_bytes=1 << 50)),
    (r"'inputs\[0\].dtype' in its manifest is 'zzz'", lambda m: m["inputs"][0].update(dtype="zzz")),
    (r"'inputs\[0\].dtype' in its manifest is not a string", lambda m: m["inputs"][0].update(dtype=3)),
    (r"'inputs\[0\].name' in its manifest is not a string", lambda m: m["inputs"][0].update(name=None)),
    (r"'inputs\[0\].shape' in its manifest is not a list of extents", lambda m: m["inputs"][0].update(shape=[-1])),
    (r"'outputs\[1\].shape' in its manifest is not a list of extents", lambda m: m["outputs"][1].update(shape="4")),
    (r"'outputs\[1\].shape' .* fits in memory", lambda m: m["outputs"][1].update(shape=[1 << 40, 1 << 40])),
    (r"'outputs\[0\]' is no object", lambda m: m["outputs"].__setitem__(0, 7)),
    ("'constants' in its manifest is not a list of objects", lambda m: m.update(constants=None)),
    (r"'constants\[0\].dtype'", lambda m: m["constants"][0].update(dtype="float33")),
    ("fewer bytes than their types say", lambda m: m["constants"][0].update(shape=[2000, 3])),
    ("more bytes than their types say", lambda m: m["constants"].pop(0) and None),
    ("'kernels' in its manifest is not a list of strings", lambda m: m.update(kernels={})),
    ("'platform.triple' in its manifest is not a string", lambda m: m["platform"].update(triple=3)),
    ("no 'platform'", lambda m: m.pop("platform") and None),
    ("'platform' is no object", lambda m: m.update(platform="linux")),
    ("made by another version of Weft", lambda m: m.update(format=1)),
    ("'format' in its manifest is not an integer", lambda m: m.update(format="2")),
    ("made for another version of the runtime", lambda m: m.update(abi=99)),
    ("uses what is not there", lambda m: m["steps"][0].update(kernel="other")),
    ("uses what is not there", lambda m: m["steps"][0]["arguments"].pop() and None),
    ("uses what is not there", lambda m: m["steps"][0]["arguments"][0].update(at=9)),
    ("uses what is not there", lambda m: m["steps"][0]["arguments"][0].update(bytes=25)),
    ("uses what is not there", lambda m: m["steps"][0]["arguments"][1].update(at=64)),
    ("uses what is not there", lambda m: m["steps"][0]["arguments"][1].update(kind="record")),
    ("uses what is not there", lambda m: m["steps"][1]["arguments"][1].update(device=1)),
    ("uses what is not there", lambda m: m["steps"][1].update(device=1)),
    ("uses what is not there", lambda m: m["steps"][1]["arguments"][1].update(at=105)),
    ("more or fewer than there are", lambda m: m["parameters"].pop() and None),
    ("more or fewer than there are", lambda m: m["kernels"].append("other")),
    ("uses nothing", lambda m: m["steps"][1].update(arguments=[])),
    ("is not one of input, output, constant", lambda m: m["steps"][1]["arguments"][1].update(kind="outputs")),
    ("uses what is not there", lambda m: m["parameters"][0][0].update(kind="threads")),
    ("do not fit into the arena", lambda m: m.update(counter_bytes=129)),
    ("do not fit into the arena", lambda m: m.update(checks=[[]], records_at=128)),
    ("its manifest has no", lambda m: m.update(devices=[{"name": "cpu"}])),
]


@pytest.mark.parametrize(("message", "change"), EDITS)
def test_every_field_is_checked(saved: Path, message: str, change: Callable[[dict[str, Any]], object]) -> None:
    rewrite(saved, change)
    with pytest.raises(ArtefactError, match=message) as error:
        artefact.load(saved)
    assert error.value.place is not None and error.value.place.file == str(saved)


@pytest.mark.parametrize("name", ["inputs", "outputs"])
def test_steps_of_open_sizes_use_tensors_that_are_there(name: str, tmp_path: Path) -> None:
    x = weft.relay.var("x", shape=(weft.relay.Any(), 4))
    weft.compile(weft.relay.Function([x], weft.relay.exp(x))).save(path := tmp_path / "open.weft")
    rewrite(path, lambda m: m.update({name: []}))
    with pytest.raises(ArtefactError, match="uses what is not there"):
        artefact.load(path)


DIGEST_EDITS: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("no 'objects'", lambda m: m.pop("objects") and None),
    ("'objects' in its manifest is not a list of strings", lambda m: m.update(objects="x")),
    ("'objects' in its manifest is not a list of strings", lambda m: m.update(objects=[1])),
    ("a constant was changed", lambda m: m.update(constants="0")),
    ("object 1 was changed", lambda m: m["objects"].__setitem__(1, "0" * 64)),
    ("not a saved Weft executable", lambda m: m["objects"].append("0" * 64)),
]


@pytest.mark.parametrize(("message", "change"), DIGEST_EDITS)
def test_every_digest_is_checked(saved: Path, message: str, change: Callable[[dict[str, Any]], object]) -> None:
    rewrite(saved, change, "digests.json")
    with pytest.raises(ArtefactError, match=message):
        artefact.load(saved)


OTHER = "its code was made for another manifest"


FITTING: list[Callable[[dict[str, Any]], object]] = [
    lambda m: m["inputs"][0].update(shape=[3, 2]),
    lambda m: m["inputs"][0].update(name="other"),
    lambda m: m["outputs"].pop(),
    lambda m: m.update(arena_bytes=64 << 20),
    lambda m: m["platform"].update(cpu="znver5"),
    lambda m: m["steps"][0].update(layers=[]),
]


@pytest.mark.parametrize("change", FITTING)
def test_what_the_code_was_not_made_for_is_refused(saved: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """However well it fits: only the code knows what it takes."""
    rewrite(saved, lambda m: change(m) and None)
    with pytest.raises(ArtefactError, match=OTHER):
        artefact.load(saved)


def test_code_of_another_graph_is_refused(saved: Path) -> None:
    rewrite(saved, lambda m: m["objects"].pop() and None, "digests.json")
    with pytest.raises(ArtefactError, match=OTHER):
        artefact.load(saved)


def without(number: int) -> Callable[[dict[str, Any]], object]:
    return lambda m: m["objects"].pop(number) and None


NOT_WHOLE: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    (OTHER, lambda m: m.update(objects=[])),
    (OTHER, lambda m: m.update(objects=[], images=[])),
    (OTHER, without(0)),
    (OTHER, without(-1)),
    ("its images are not those", lambda m: m.update(images=[])),
    ("its images are not those", lambda m: m["images"].pop() and None),
]


@pytest.mark.parametrize(("message", "change"), NOT_WHOLE)
def test_code_that_is_not_whole_is_refused(
    message: str, change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    """Whether what is left would run or not."""
    branching_graph(path := tmp_path / "graph.weft")
    rewrite_members(path, change)
    with pytest.raises(ArtefactError, match=message):
        weft.load(path)


def rewrite_members(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Edit the lists of members of a saved graph, which are signed anew; members are numbered in their order."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    kinds = {"objects": ".o", "images": ".so"}
    digests = json.loads(members["digests.json"])
    held = {d: members.pop(f"{kind}/{n}{end}") for kind, end in kinds.items() for n, d in enumerate(digests[kind])}
    change(digests)
    members |= {f"{kind}/{n}{end}": held[d] for kind, end in kinds.items() for n, d in enumerate(digests[kind])}
    members["digests.json"] = json.dumps(digests).encode()
    members["digest"] = sha256(members["manifest.json"] + members["digests.json"]).hexdigest().encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def open_graph(path: Path) -> None:
    x = weft.relay.var("x", shape=(weft.relay.Any(), 4))
    weft.compile(weft.relay.Function([x], weft.relay.exp(x))).save(path)


def branching_graph(path: Path) -> None:
    x = weft.relay.var("x", shape=(2, 4))
    chosen = weft.relay.If(weft.relay.max(x) > weft.relay.const(0.0), weft.relay.exp(x), weft.relay.tanh(x))
    weft.compile(weft.relay.Function([x], chosen)).save(path)


@pytest.mark.parametrize("save", [open_graph, branching_graph])
def test_what_a_graph_takes_and_gives_is_its_codes_say(save: Callable[[Path], None], tmp_path: Path) -> None:
    """Objects and images both have the mark: the images are what runs."""
    save(path := tmp_path / "graph.weft")
    loaded = artefact.load(path)
    mark = code_mark(manifest(loaded), map(digest_of_bytes, loaded.objects[:-1])).encode()
    assert loaded.images and mark in loaded.images[0] and mark in loaded.objects[-1]
    for field in ("inputs", "outputs"):
        save(path)
        rewrite(path, lambda m, field=field: m[field][0].update(dtype="float64"))
        with pytest.raises(ArtefactError, match=f"{OTHER}|uses what is not there"):
            artefact.load(path)


def test_a_change_that_makes_sense_is_found_by_the_digest(saved: Path) -> None:
    rewrite(saved, lambda m: m["inputs"][0].update(shape=[1, 3]), sign=False)
    with pytest.raises(ArtefactError, match="the manifest was changed"):
        artefact.load(saved)


def test_a_flipped_bit_is_found_wherever_it_matters(saved: Path) -> None:
    whole = saved.read_bytes()
    generator = random.Random(3)
    harmless = 0
    for _ in range(300):
        data = bytearray(whole)
        data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        saved.write_bytes(data)
        try:
            loaded = artefact.load(saved)
        except Diagnostic:
            continue
        harmless += 1  # in what the archive says of dates and attributes
        assert artefact.digest(loaded) == artefact.digest(graph())
    assert harmless < 200


def test_a_file_that_was_cut_off_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in range(0, len(whole), 37):
        saved.write_bytes(whole[:length])
        with pytest.raises(ArtefactError, match="not a saved Weft executable"):
            artefact.load(saved)


def test_an_archive_of_large_members_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("ZIP64_LIMIT", "ZIP_FILECOUNT_LIMIT"):
        monkeypatch.setattr(zipfile, limit, 1)
        artefact.save(graph(), tmp_path / "large.weft")
        data = (tmp_path / "large.weft").read_bytes()
        assert b"PK\6\6" in data, "numbers of 64 bits"
        assert artefact.digest(artefact.load(tmp_path / "large.weft")) == artefact.digest(graph())
        with zipfile.ZipFile(tmp_path / "large.weft") as archive:
            assert archive.testzip() is None


def test_a_compressed_archive_is_refused(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(ArtefactError, match="compressed"):
        artefact.load(saved)


@pytest.mark.parametrize("text", ["not an archive", "", "PK"])
def test_what_is_no_archive_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.weft").write_text(text)
    with pytest.raises(ArtefactError, match=r"x\.weft: error: not a saved Weft executable"):
        weft.load(tmp_path / "x.weft")


@pytest.mark.parametrize("manifest", [b"\xff\xfe", b"{", b"[" * 100_000, b"1e999999", b"null"])
def test_a_manifest_that_is_no_json_object_is_refused(saved: Path, manifest: bytes) -> None:
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("manifest.json", manifest)
    with pytest.raises(ArtefactError, match="not a saved Weft executable"):
        artefact.load(saved)


def test_a_file_that_is_not_there_is_a_diagnostic(tmp_path: Path) -> None:
    with pytest.raises(Diagnostic, match="no such file"):
        weft.load(tmp_path / "missing.weft")
    with pytest.raises(Diagnostic, match="is a directory"):
        weft.load(tmp_path)


def test_saving_replaces_what_a_link_points_to(saved: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "target.weft", tmp_path / "link.weft"
    target.write_text("old")
    link.symlink_to(target)
    artefact.save(graph(), link)
    assert link.is_symlink() and target.read_bytes() == saved.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.weft", "link.weft", "target.weft"]


def test_saving_to_a_pipe_writes_into_it(saved: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    artefact.save(graph(), pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    data = os.read(reader, 1 << 16)
    os.close(reader)
    (tmp_path / "copy.weft").write_bytes(data)
    assert artefact.digest(artefact.load(tmp_path / "copy.weft")) == artefact.digest(graph())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_saving_to_a_full_device_leaves_the_device() -> None:
    with pytest.raises(Diagnostic, match="/dev/full: error: cannot be written: no space left"):
        artefact.save(graph(), "/dev/full")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Diagnostic, match=r"missing/x\.weft: error: cannot be written: there is no such folder"):
        artefact.save(graph(), tmp_path / "missing" / "x.weft")
    with pytest.raises(Diagnostic, match="is a directory"):
        artefact.save(graph(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_arena_that_the_system_has_no_room_for_is_a_diagnostic() -> None:
    with pytest.raises(NotEnoughMemory, match="no memory for"):
        Context(1 << 60)

"""Compiled graphs on disk: one file with object code, constants, and what a caller must know.

The file is a ZIP archive without compression: `constants`, all of them one after another, each at a multiple of 64
bytes, `manifest.json`, `digests.json`, `digest` (SHA-256 of these two), `objects/0.o`, ..., and `images/0.so`, ..., the
objects as shared objects (`image`). One in a library (`pieces`) may have others beside these, which say what Python
calls it by (`library/interfaces`). `digests.json` has those of the others (`digests.Digest`), so that whatever was
changed is found, and the code has the mark of the manifest that it was made for (`lowering/manifest.py`), so that no
other is given to it. It is not signed: a file is machine code, to be loaded only where its maker is trusted.

Constants are read into memory of their own rather than mapped from the file: huge pages are not to be had for a file,
and what is written over a file that is mapped would change, or end, the program that runs.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, BinaryIO

import numpy as np

from ..dialects.support.diagnostics import Diagnostic, Place
from ..dialects.support.digests import Digest, digest_of_bytes
from ..dialects.support.files import replacing
from ..lowering.abi import (
    ABI_VERSION,
    ALIGNMENT,
    DYNAMIC,
    FORMAT,
    CompiledGraph,
    Platform,
    code_mark,
    segment_graph,
)
from ..lowering.sizes import read_extents
from .archive_members import Archive, ArtefactError
from .image import are_images_of, link_images
from .manifest_fields import MANIFEST, Fields, Json, parsed
from .manifest_parts import (
    read_constants,
    read_device,
    read_device_code,
    read_output,
    read_parameter,
    read_part,
    read_segment,
    read_site,
    read_spec,
    read_steps,
)
from .step_checks import misfit, misfit_of_parts

if TYPE_CHECKING:
    from ..lowering.abi import NDArray

DIGESTS, DIGEST, CONSTANTS = "digests.json", "digest", "constants"


def digest(graph: CompiledGraph) -> str:
    """SHA-256 of all that a graph is: equal digests mean the same code, constants and description."""
    from ..lowering.manifest import manifest

    with Digest() as constants:
        for piece in _pieces(graph.constants):
            constants.update(piece)
    return sha256(manifest(graph) + _digests(replace(graph, images=()), constants.hexdigest())).hexdigest()


def save(
    graph: CompiledGraph,
    path: str | os.PathLike[str],
    kept_as: str = "",
    beside: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Write `graph` to `path`: first beside it, then under its name, so that no half-written file is left. The archive
    has members for what is `beside` it as well.

    What a symbolic link points to is replaced, not the link; what is no regular file, a pipe or a device, is written
    to as it is. A file that is `kept_as` something is loaded as nothing else, where that is asked.

    Raises:
        Diagnostic: the file cannot be written.
    """
    save_as_known(graph.constants, lambda: graph, path, kept_as, beside)


def save_as_known(
    constants: Sequence[NDArray],
    rest: Callable[[], CompiledGraph],
    path: str | os.PathLike[str],
    kept_as: str = "",
    beside: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Write a graph whose constants are known before its code is: `rest` waits for that, and gives the graph. What it
    raises is raised here, and nothing is written then.

    Raises:
        Diagnostic: the file cannot be written.
    """
    try:
        real = Path(os.path.realpath(path))
        if real.exists() and not stat.S_ISREG(real.stat().st_mode):
            with open(real, "wb") as file:
                _write(constants, rest, file, kept_as, beside)
            return
        with replacing(real) as file:
            _write(constants, rest, file, kept_as, beside)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "there is no such folder" if missing else (error.strerror or str(error)).lower()
        raise Diagnostic(f"cannot be written: {reason}", Place(os.fspath(path))) from error


def _write(
    constants: Sequence[NDArray],
    rest: Callable[[], CompiledGraph],
    file: IO[bytes],
    kept_as: str,
    beside: Mapping[str, bytes],
) -> None:
    import zipfile

    from ..lowering.manifest import manifest

    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = kept_as.encode()
        # First, so that their digest is taken while they are written, and they are while there is no code yet.
        with Digest() as digest, archive.open(zipfile.ZipInfo(CONSTANTS), "w", force_zip64=True) as member:
            for piece in _pieces(constants):
                digest.update(piece)
                member.write(piece)
        graph = rest()
        graph = replace(graph, images=graph.images or link_images(graph.objects))
        texts = {MANIFEST: manifest(graph), DIGESTS: _digests(graph, digest.hexdigest(), beside)}
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name), text)
        archive.writestr(zipfile.ZipInfo(DIGEST), sha256(b"".join(texts.values())).hexdigest())
        for (what, suffix), members in ((_OBJECT, graph.objects), (_IMAGE, graph.images)):
            for number, data in enumerate(members):
                archive.writestr(zipfile.ZipInfo(f"{what}s/{number}{suffix}"), data)
        for name, data in beside.items():
            archive.writestr(zipfile.ZipInfo(name), data)


_OBJECT, _IMAGE = ("object", ".o"), ("image", ".so")
"""What members are called, `objects/0.o`."""


def _pieces(constants: Sequence[NDArray]) -> Iterator[bytes | memoryview]:
    """The bytes of all constants, with those that lie between them."""
    for array in constants:
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        yield data
        yield bytes(-data.nbytes % ALIGNMENT)


def _digests(graph: CompiledGraph, constants: str, beside: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
    """What the members hold that the manifest says nothing of."""
    objects, images = ([digest_of_bytes(data) for data in members] for members in (graph.objects, graph.images))
    said: dict[str, Json] = {"objects": [*objects], "images": [*images], "constants": constants}
    if beside:
        said["beside"] = {name: digest_of_bytes(data) for name, data in beside.items()}
    return json.dumps(said, indent=1).encode()


def is_artefact(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as what `save` writes does; it may be damaged all the same."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            start = file.read(_LOCAL_HEADER + len(CONSTANTS))
    except OSError:
        return False
    return start.startswith(_ZIP) and start[_LOCAL_HEADER:] == CONSTANTS.encode()


_ZIP = b"PK\3\4"
_LOCAL_HEADER = 30
"""Bytes of an archive before the name of its first member."""


def load(
    path: str | os.PathLike[str],
    kept_as: str | None = None,
    is_whole: Callable[[os.stat_result], bool] = lambda status: False,
) -> CompiledGraph:
    """Read what `save` wrote, for whatever machine it is, and, if that is said, `kept_as` this. It may stand in a
    library that has no other.

    The constants are not held against their digest where a file of this status `is_whole`: they were before.

    Raises:
        Diagnostic: the file cannot be read.
        ArtefactError: it is not one of Weft's, or it is of another version, or damaged.
    """
    with _told_of(path), open(path, "rb") as file:
        windows = _windows(file) or [(0, None)]
        if len(windows) > 1:
            raise ArtefactError(f"a library of {len(windows)} programs", hint="weft.runtime.load_module loads them all")
        archive = Archive(file, *windows[0])
        if kept_as is not None and archive.comment != kept_as.encode():
            raise ArtefactError("another program is kept under this name")
        return _read(archive, is_whole(os.fstat(file.fileno())))


def load_library(path: str | os.PathLike[str]) -> list[tuple[CompiledGraph, dict[str, bytes]]]:
    """The artefacts in a library, or in an archive of libraries, each with what `save` was given beside it.

    Raises:
        Diagnostic: the file cannot be read.
        ArtefactError: it is no library, none of Weft's, or of another version, or damaged.
    """
    with _told_of(path), open(path, "rb") as file:
        windows = _windows(file)
        if windows is None:
            is_saved = file.read(len(_ZIP)) == _ZIP
            raise ArtefactError(
                "not a library", hint="weft.load reads saved executables" if is_saved else "give a .so, .o, .a or .tar"
            )
        archives = [Archive(file, *window) for window in windows]
        return [(_read(archive, False), _beside(archive)) for archive in archives]


def _beside(archive: Archive) -> dict[str, bytes]:
    digests = Fields(parsed(archive.read(DIGESTS)), "")
    if not digests.has("beside"):
        return {}
    beside = digests.inner("beside")
    found = {name: archive.read(name) for name in beside.names()}
    for name, data in found.items():
        _check(digest_of_bytes(data), beside.string(name), f"'{name}'")
    return found


def _windows(file: BinaryIO) -> Sequence[tuple[int, int | None]] | None:
    """Where the artefacts of a library stand in it; `None` where a file is none."""
    if os.pread(file.fileno(), len(_ZIP), 0) == _ZIP:
        return None
    from .pieces import artefacts_in

    return artefacts_in(file)


@contextmanager
def _told_of(path: str | os.PathLike[str]) -> Generator[None]:
    """What goes wrong in the block, as a message about a file."""
    place = Place(os.fspath(path))
    try:
        yield
    except OSError as error:
        raise Diagnostic(f"cannot be read: {(error.strerror or str(error)).lower()}", place) from error
    except ArtefactError as error:
        raise ArtefactError(error.message, place, hint=error.hint) from None
    except (ValueError, OverflowError) as error:
        # What is no text, or no number that fits, where one is wanted.
        raise ArtefactError(f"not a saved Weft executable ({error})", place) from None


def _read(archive: Archive, is_whole: bool) -> CompiledGraph:
    text = archive.read(MANIFEST)
    fields = Fields(parsed(text), "")
    made = fields.integer("format")
    if made != FORMAT:
        raise ArtefactError(
            f"made by another version of Weft (format {made}, this one reads {FORMAT})", hint="compile the model again"
        )
    abi = fields.integer("abi")
    if abi != ABI_VERSION:
        raise ArtefactError(
            f"made for another version of the runtime (ABI {abi}, this one has {ABI_VERSION})",
            hint="compile the model again",
        )
    digests_text = archive.read(DIGESTS)
    digests = Fields(parsed(digests_text), "")
    _check(sha256(text + digests_text).hexdigest(), archive.read(DIGEST).decode(), "the manifest")
    with archive.read_aligned(CONSTANTS, digested=not is_whole) as constants:
        graph = _graph(archive, fields, digests, constants.memory)
        digest = constants.wait()
    if not is_whole:
        _check(digest, digests.string("constants"), "a constant")
    _check_made_for(code_mark(text, digests.strings("objects")[:-1]), graph)
    return graph


def _graph(archive: Archive, fields: Fields, digests: Fields, blob: memoryview) -> CompiledGraph:
    """What a manifest says, with its constants in memory that may have yet to be filled."""
    platform = fields.inner("platform")
    objects = _checked_members(archive, digests.strings("objects"), *_OBJECT)
    images = _checked_members(archive, digests.strings("images"), *_IMAGE)
    symbols = tuple(fields.strings("symbols")) if fields.has("symbols") else ()
    extents = fields.string("extents") if fields.has("extents") else ""
    known = len(symbols) + len(read_extents(extents, len(symbols)).read)  # what steps know: what data decides as well
    graph = CompiledGraph(
        objects,
        tuple(read_constants(fields, blob)),
        tuple(read_spec(entry, len(symbols)) for entry in fields.each("inputs")),
        tuple(read_output(entry, len(symbols)) for entry in fields.each("outputs")),
        fields.size("arena_bytes"),
        tuple(fields.strings("kernels")),
        Platform(platform.string("triple"), platform.string("cpu"), tuple(platform.strings("features"))),
        tuple(tuple(read_site(entry) for entry in record) for record in fields.groups("checks")),
        fields.size("records_at"),
        fields.size("counter_bytes"),
        tuple(tuple(read_parameter(entry) for entry in taken) for taken in fields.groups("parameters")),
        read_steps(fields, known),
        symbols,
        tuple(fields.sizes_in("pools", len(symbols))) if symbols else (),
        tuple(read_device(entry, len(symbols)) for entry in fields.each("devices")),
        tuple(read_device_code(entry) for entry in fields.each("device_code")) if fields.has("device_code") else (),
        images,
        tuple(read_segment(entry) for entry in fields.each("segments")) if fields.has("segments") else (),
        fields.size("code_constants") if fields.has("segments") else None,
        extents,
        tuple(read_part(entry) for entry in fields.each("parts")) if fields.has("parts") else (),
    )
    for tensor, element, _ in read_extents(graph.extents, len(symbols)).held:
        spec = graph.inputs[tensor] if tensor < len(graph.inputs) else None
        if spec is None or spec.dtype not in ("int32", "int64") or DYNAMIC in spec.shape or element >= prod(spec.shape):
            raise ArtefactError(f"element {element} of input {tensor} says a size, and there is none")
    if graph.code_constants is not None and graph.code_constants > len(graph.constants):
        raise ArtefactError("it has not so many constants as its code wants")
    if (reason := misfit_of_parts(graph)) is not None:
        raise ArtefactError(reason)
    for each in (graph, *(segment_graph(graph, segment) for segment in graph.segments)):
        if (reason := misfit(each)) is not None:
            raise ArtefactError(reason)
    return graph


def _check_made_for(mark: str, graph: CompiledGraph) -> None:
    """See that the code was made for what the manifest says, and is whole: that it defines the symbol of this name."""
    if not graph.objects or not all(mark.encode() in each for each in (graph.objects[-1], *graph.images[:1])):
        raise ArtefactError(
            "its code was made for another manifest, or with other objects: one of these was changed",
            hint="compile the model again",
        )
    if not (are_images_of(graph.objects, graph.images) if graph.images else link_images(graph.objects) == ()):
        raise ArtefactError("its images are not those of its objects", hint="compile the model again")


def _checked_members(archive: Archive, digests: Iterable[str], what: str, suffix: str) -> tuple[bytes, ...]:
    found: list[bytes] = []
    for number, expected in enumerate(digests):
        found.append(archive.read(f"{what}s/{number}{suffix}"))
        _check(digest_of_bytes(found[-1]), expected, f"{what} {number}")
    return tuple(found)


def _check(digest: str, expected: str, what: str) -> None:
    if digest != expected:
        raise ArtefactError(f"{what} was changed since it was written: the digest is another")

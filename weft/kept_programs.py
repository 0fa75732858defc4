"""Whole programs that were compiled before, by this process or another, and are not compiled again.

A program is known by all that decides on it: the bytes of the model's file and of those that it refers to, its path,
the shapes, parameters, function and phase that are asked for, the target and the processor, the rules of the
`PassContext`, the environment's knobs, and the compiler with its plug-ins (`lowering/compiler_digest.py`). Programs
are kept on disk where kernels are (`$WEFT_CACHE_DIR`), as artefacts, and in memory: those that are in use, and of the
others the last ones.

Only models in files are known so. Nothing is kept or found where somebody looks on (instruments, remarks), where
passes read or write files of their own, where a process has registered something of its own that has part in
compilations (a pass, a backend, a strategy, an importer, an intrinsic, ...). Nothing is kept of a compilation that has
warned of something, so that it warns again, nor where a plug-in could not be loaded, or a file was written to by then.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, cast
from weakref import WeakValueDictionary

import numpy as np

from .dialects.support import diagnostics, knobs, plugins
from .dialects.support.diagnostics import Diagnostic, Place
from .dialects.support.digests import start_thread
from .dialects.support.file_cache import MEGABYTE, PROGRAM_SUFFIX, CacheCounts, FileCache, mark_used
from .dialects.support.file_facts import FileFacts
from .dialects.support.model_files import Unknown, digest_of, external_files, takes_long
from .dialects.support.processors import available_processors
from .executors import DEFAULT_OPT_LEVEL
from .lowering.abi import CompiledGraph
from .runtime import artefact
from .runtime.executable import Executable
from .runtime.host import described_processor, host_platform
from .runtime.image import link_images
from .runtime.program_writer import ProgramWriter, kept_bytes, settle

if TYPE_CHECKING:
    from .lowering.abi import NDArray
    from .lowering.phase_texts import PhaseTexts
    from .transforms.infra.context import PassContext

_CONTEXTS = f"{__package__}.transforms.infra.context"
_INTRINSICS = f"{__package__}.transforms.tir.intrinsics.tensor_intrin"
_IRRELEVANT = {
    each.variable
    for each in (knobs.CACHE_DIR, knobs.CACHE_LIMIT, knobs.XDG_CACHE_HOME, knobs.DEBUG, knobs.JOBS, knobs.NO_COLOR)
}


@dataclass
class Request:
    """What `weft.compile` is asked for."""

    model: object
    target: object
    opt_level: int | None
    threads: int | None
    params: Mapping[str, object] | None
    shapes: Mapping[str, Sequence[int]] | None
    function: str | None
    phase: str | None
    tuning_records: object
    maker_of_texts: Callable[[], Callable[..., PhaseTexts]]
    """Imports the compiler, and gives what makes the text of a model at every phase (`compilation.texts_of`)."""
    _key: str | None = field(default=None, init=False)
    _inputs: str = field(default="", init=False)
    """The digest of what may change between a compilation and a look at its text."""
    _warned: bool = field(default=False, init=False)
    _begun: ProgramWriter | None = field(default=None, init=False)
    """What is being written to disk."""
    _same_compiler: bool | None = field(default=None, init=False)
    """Whether the compiler's modules still were as they are named in the key, when all was lowered."""

    def found(self) -> Executable | None:
        """The executable, if the program is known."""
        try:
            self._key = self._known_as()
        except (Unknown, OSError, TypeError, ValueError, Diagnostic):
            return None
        if (kept := _from_memory(self._key)) is not None:
            graph, where = kept, "memory"
        elif (kept := _from_disk(self._key)) is not None:
            graph, where = kept, "disk"
            _to_memory(self._key, graph)
        else:
            return None
        exe = Executable(graph, self.threads, self._texts_later())
        exe.kernel_counts = CacheCounts(whole=where)
        return exe

    @contextmanager
    def _compiler_ahead(self) -> Generator[None]:
        """Import the compiler while a large file is read that nobody has read before: most likely it is needed."""
        thread = None
        if takes_long(Path(self._path())):
            thread = start_thread(self._import_compiler, "weft-import")
        try:
            yield
        finally:
            if thread is not None:
                thread.join()

    def _import_compiler(self) -> None:
        """Import what compiling an ONNX model takes. Who needs it hears of errors."""
        with suppress(Exception):
            self.maker_of_texts()
            from .frontend import onnx as onnx

    @contextmanager
    def watched(self) -> Generator[None]:
        """Note whether something is warned of in the `with` block, and whether that ends without a program."""

        def noted(diagnostic: Diagnostic) -> None:
            self._warned = True
            tell(diagnostic)

        tell = diagnostics.handler()
        settle()
        try:
            with diagnostics.handled_by(noted):
                yield
        finally:
            if self._begun is not None:
                self._begun.end(None)

    def begin_keeping(self, constants: Sequence[NDArray]) -> None:
        """Begin to write a program to disk whose constants are known by now, while its code is generated: no module of
        the compiler is read any more."""
        from .lowering.compiler_digest import unchanged

        self._same_compiler = self._key is not None and unchanged()
        if self._key is not None and not self._warned and sum(each.nbytes for each in constants) > MEGABYTE:
            self._begun = ProgramWriter(self._key, constants)

    def keep(self, graph: CompiledGraph) -> CompiledGraph:
        """The graph that was compiled, kept for others where that may be, and quick to load then."""
        from .lowering.compiler_digest import unchanged

        if self._key is None or self._warned or plugins.changed_by_hand():
            return graph
        if not (unchanged() if self._same_compiler is None else self._same_compiler):
            return graph
        if plugins.broken() is not None or not self._is_as_it_was():
            return graph
        graph = replace(graph, images=link_images(graph.objects))
        _to_memory(self._key, graph)
        begun = self._begun or ProgramWriter(self._key, graph.constants)
        begun.end(graph)
        return graph

    def _is_as_it_was(self) -> bool:
        """Whether nobody has written to the files, or the arrays, since the program's name was made of them."""
        try:
            return self._read_inputs() == self._inputs
        except (Unknown, OSError):
            return False

    def _known_as(self) -> str:
        """
        Raises:
            Unknown: the model is no file, or something takes part that has no name.
        """
        from .lowering.compiler_digest import compiler_digest

        if plugins.changed_by_hand() or (compiler := compiler_digest()) is None:
            raise Unknown
        with self._compiler_ahead():
            self._inputs = self._read_inputs()
        parts = (
            compiler, self._inputs, os.fspath(self._path()), self._target_text(), processor_text(), self._rules(),
            self.function, self.phase, sorted((knob, _value(knob)) for knob in knobs.KNOBS if knob not in _IRRELEVANT),
            c_compiler(), _sorted(self.shapes, lambda shape: list(map(int, cast("Sequence[int]", shape)))),
        )  # fmt: skip
        return sha256(repr(parts).encode()).hexdigest()

    def _path(self) -> str | os.PathLike[str]:
        return _as_path(self.model)

    def _read_inputs(self) -> str:
        """A digest of the files and arrays that the program is made of."""
        path = Path(self._path())
        parts: list[object] = [digest_of(path)]
        if path.suffix == ".onnx":
            parts += [(name, digest_of(path.parent / name)) for name in external_files(path)]
        elif path.suffix == ".mlir":
            weights = path.with_suffix(".weights.npz")
            parts.append(digest_of(weights) if weights.exists() else "")
        else:
            raise Unknown
        parts.append(_sorted(self.params, _array_digest))
        if self.tuning_records is not None:
            records = Path(_as_path(self.tuning_records))
            parts.append((str(records), digest_of(records), self.threads or available_processors()))
        return sha256(repr(parts).encode()).hexdigest()

    def _target_text(self) -> str:
        listed = isinstance(self.target, list | tuple)
        given = cast("Sequence[object]", self.target) if listed else [self.target]
        texts: list[str] = []
        for target in given:
            if not isinstance(target, str) and type(target).__name__ != "Target":
                raise Unknown
            texts.append(str(target))
        return repr(texts)

    def _rules(self) -> str:
        """The rules of the current `PassContext`; that of a process which has not even imported it is the default."""
        if _CONTEXTS not in sys.modules:
            return _rules_text(DEFAULT_OPT_LEVEL if self.opt_level is None else self.opt_level, (), (), {})
        from .transforms.infra import remarks
        from .transforms.infra.config import (
            ADD_LOWER_PASS,
            DATABASE,
            FILES,
            TUNING_RECORDS,
            USMP_CUSTOM_ALGORITHM,
        )
        from .transforms.infra.context import PassContext

        if _INTRINSICS in sys.modules:
            from .transforms.tir.intrinsics.tensor_intrin import TensorIntrin

            if TensorIntrin.foreign():
                raise Unknown
        context = PassContext.current()
        if context.instruments or remarks.listening() or context.has_own_ir_context:
            raise Unknown
        outside = {
            *FILES, TUNING_RECORDS, DATABASE, USMP_CUSTOM_ALGORITHM, ADD_LOWER_PASS, "plan-memory.strategy",
        }  # fmt: skip
        if not outside.isdisjoint(context.config):
            raise Unknown
        level = self._level(context)
        return _rules_text(level, context.required_pass, context.disabled_pass, context.config)

    def _level(self, context: PassContext) -> int:
        if self.opt_level is not None:
            return self.opt_level
        return DEFAULT_OPT_LEVEL if context.is_default else context.opt_level

    def _texts_later(self) -> Callable[[], PhaseTexts]:
        """What makes the program's text when it is asked for, by the rules of now."""
        state: list[object] = []
        if _CONTEXTS in sys.modules:
            from .transforms.infra.context import PassContext

            state.append(PassContext.current())

        def make() -> PhaseTexts:
            from .transforms.infra.config import RECORDS_THREADS, TUNING_RECORDS
            from .transforms.infra.context import PassContext

            if not self._is_as_it_was():
                raise Diagnostic(
                    "the model has changed since it was compiled, so that there is no text of this program",
                    Place(os.fspath(self._path())),
                    hint="compile it again",
                )
            then = state[0] if state else None
            config: dict[str, object] = dict(then.config) if isinstance(then, PassContext) else {}
            level, required, disabled = self.opt_level or 0, (), ()
            if isinstance(then, PassContext):
                level, required, disabled = self._level(then), then.required_pass, then.disabled_pass
            elif self.opt_level is None:
                level = DEFAULT_OPT_LEVEL
            if self.tuning_records is not None:
                config[TUNING_RECORDS] = os.fspath(cast("str", self.tuning_records))
                config[RECORDS_THREADS] = Executable.usable(self.threads)
            context = PassContext(level, required, disabled, config=config)
            with context:
                texts_of = self.maker_of_texts()
                return texts_of(self.model, self.target, context, self.params, self.shapes, self.function, self.phase)

        return make


def _rules_text(level: int, required: Sequence[str], disabled: Sequence[str], config: Mapping[str, object]) -> str:
    text = repr(
        (level, tuple(required), tuple(disabled), sorted((name, repr(value)) for name, value in config.items()))
    )
    if " at 0x" in text:  # a value that shows no more of itself than where it lies
        raise Unknown
    return text


def _as_path(given: object) -> str | os.PathLike[str]:
    if not isinstance(given, str | os.PathLike):
        raise Unknown
    return cast("str | os.PathLike[str]", given)


def _sorted(given: Mapping[str, object] | None, told: Callable[[object], object]) -> object:
    if given is None:
        return None
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Unknown
    return sorted((str(name), told(value)) for name, value in given.items())


def _array_digest(value: object) -> object:
    array = np.asarray(cast("float", value))
    if array.dtype.hasobject:
        raise Unknown
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return array.dtype.str, array.dtype.name, array.shape, sha256(data).hexdigest()


def _value(knob: str) -> object:
    return cast("knobs.Knob[str]", knobs.KNOBS[knob]).get()


def processor_text() -> str:
    """What this machine is, for code that is made for `native`."""
    return described_processor() or repr(host_platform())


def c_compiler() -> object:
    """The C compiler that is there, for the target `c` and for kernels that come as source."""
    given = knobs.CC.get()
    names = ("cc", "gcc", "clang") if given == knobs.CC.default else given.split()[:1]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        return None
    status = os.stat(os.path.realpath(found))
    return os.path.realpath(found), status.st_size, status.st_mtime_ns


_RECENT: OrderedDict[str, CompiledGraph] = OrderedDict()
_ALIVE: WeakValueDictionary[str, CompiledGraph] = WeakValueDictionary()
_LIMIT = 128 * MEGABYTE
"""Bytes of programs that are kept in memory though nobody uses them."""

_locks = [Lock()]
if hasattr(os, "register_at_fork"):  # another thread may have it when the process is forked
    os.register_at_fork(after_in_child=lambda: _locks.__setitem__(0, Lock()))


def _from_memory(key: str) -> CompiledGraph | None:
    with _locks[0]:
        if key in _RECENT:
            _RECENT.move_to_end(key)
        return _ALIVE.get(key)


def _to_memory(key: str, graph: CompiledGraph) -> None:
    with _locks[0]:
        _ALIVE[key] = graph
        if kept_bytes(graph) > _LIMIT:
            return
        _RECENT[key] = graph
        _RECENT.move_to_end(key)
        while sum(map(kept_bytes, _RECENT.values())) > _LIMIT:
            _RECENT.popitem(last=False)


def forget() -> None:
    """Forget what is kept in memory."""
    with _locks[0]:
        _RECENT.clear()
        _ALIVE.clear()


_WHOLE = FileFacts(f"artefact of format {artefact.FORMAT} is whole")
"""Programs that were held against their digests, so that large ones are not again while nobody touches them."""


def _from_disk(key: str) -> CompiledGraph | None:
    settle()
    if (cache := FileCache.from_environment()) is None:
        return None
    path = cache.path(key + PROGRAM_SUFFIX)
    seen: list[os.stat_result] = []

    def is_whole(status: os.stat_result) -> bool:
        seen.append(status)
        return _WHOLE.of(path, status) is True

    try:
        graph = artefact.load(path, kept_as=key, is_whole=is_whole)
        _WHOLE.remember(path, seen[0], True)
    except (Diagnostic, OSError):
        return None
    mark_used(path)
    return graph

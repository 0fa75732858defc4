"""From LLVM IR text to machine code, one module at a time or many at once.

The text names no target: the target brings triple, data layout, processor and features. LLVM's standard pipeline runs
with loop and SLP vectorisation, or a few passes where there is nothing left for it (`binding`). llvmlite makes one call
at a time in a process, so many modules are compiled in workers:

    with CodegenPool(target, jobs=2) as pool:
        pool.submit("k0", text)                     # compiled while the next text is being made
        objects = pool.result("k0")

Workers are forked when there is the first module to compile; or before, with tasks that they are to do by name, which
may be to make a module.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self

from xdsl.dialects.builtin import ModuleOp

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.digests import start_thread
from ..llvm_ir.module import emit_llvm_ir
from .binding import LLVMError
from .kernel_cache import CacheCounts, KernelCache, MemoryCache
from .target import Target
from .workers import Task, Workers, start_workers


class CodegenError(Diagnostic):
    """LLVM refused a module: the message says why, and shows the line where there is one."""


def compile_module(module: ModuleOp | str, target: Target, opt_level: int | None = None) -> bytes:
    """Compile a module of the llvm dialect, or the text of LLVM IR, to an object file's bytes, at the target's level
    unless one is given.

    Raises:
        CodegenError: LLVM does not accept the module.
        LoweringError: an operation of the module has no LLVM IR.
    """
    text = module if isinstance(module, str) else emit_llvm_ir(module)
    try:
        return target.machine(opt_level).object(text)
    except LLVMError as error:
        raise _explained(error, text) from None


def compile_to_assembly(module: ModuleOp | str, target: Target, opt_level: int | None = None) -> str:
    """The same, as assembly text."""
    text = module if isinstance(module, str) else emit_llvm_ir(module)
    try:
        return target.machine(opt_level).assembly(text)
    except LLVMError as error:
        raise _explained(error, text) from None


def _explained(error: LLVMError, text: str) -> CodegenError:
    """LLVM's message, with the line of the text it speaks of."""
    message = str(error)
    place = re.search(r"<string>:(\d+):(\d+): ", message)
    if place is None:
        return CodegenError(f"LLVM does not accept the module: {message.strip()}")
    line = text.splitlines()[int(place[1]) - 1]
    reason = message[place.end() :].splitlines()[0]
    caret = " " * (int(place[2]) - 1) + "^"
    return CodegenError(f"LLVM does not accept line {place[1]} of the module: {reason}\n  {line}\n  {caret}")


class CodegenPool:
    """Modules go in by key, objects come out by key, in any order; equal texts are compiled once.

    Where processes cannot be forked, or one job is asked for, a module is compiled here when its result is asked for.

    Args:
        target: what code is made for.
        jobs: worker processes; as many as `$WEFT_JOBS` says or there are processors, unless given.
        opt_level: LLVM's level, 0 to 3; the target's, unless given.
        cache: where compiled objects are kept; what `$WEFT_CACHE_DIR` says, unless given.
        memory: where they are kept in this process, if they are.
        meanwhile: what a thread does here as soon as there are workers. Nobody hears of its errors.
    """

    def __init__(
        self,
        target: Target,
        jobs: int | None = None,
        opt_level: int | None = None,
        cache: KernelCache | None = None,
        memory: MemoryCache | None = None,
        meanwhile: Callable[[], None] | None = None,
    ):
        self._target = target.resolved()
        self._opt_level = target.codegen_level if opt_level is None else opt_level
        self._cache = cache or KernelCache.from_environment()
        self._memory = memory
        self.counts = CacheCounts()
        """Where the objects came from."""
        self._stored = False
        self._contents: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._objects: dict[str, bytes] = {}
        self._running: dict[str, Future[bytes]] = {}
        self._tasks: dict[str, Future[bytes | None]] = {}
        self._jobs = jobs
        self._started = False
        self._workers: Workers | None = None
        self._meanwhile = meanwhile
        self._thread: threading.Thread | None = None

    def start(self, tasks: Mapping[str, Task] | None = None) -> bool:
        """Fork the workers, which begin with `tasks`; whether there are any. Nothing happens where they were forked
        before, or there is no use for them."""
        if self._started:
            return False
        self._started = True
        self._workers = start_workers(self._jobs, tasks)
        if self._workers is not None:
            self._tasks = {name: self._workers.run(name) for name in tasks or ()}
            if self._meanwhile is not None:  # not before: who is forked must not have other threads
                self._thread = start_thread(partial(_quietly, self._meanwhile), "weft-meanwhile")
        return self._workers is not None

    def done(self, name: str) -> bytes | None:
        """What came of a task of the workers, waited for.

        Raises:
            KeyError: they were not given such a task.
            CodegenError: the process that did it died.
        """
        try:
            return self._tasks.pop(name).result()
        except BrokenProcessPool:
            raise _died(name) from None

    def submit(self, key: str, text: str) -> None:
        """Have a module compiled, the text of LLVM IR.

        Raises:
            ValueError: another module has this key.
            CodegenError: the workers died.
        """
        content = KernelCache.key(text, self._target, self._opt_level)
        if self._contents.setdefault(key, content) != content:
            raise ValueError(f"two different modules are submitted as '{key}'")
        if content in self._objects or content in self._texts:
            return
        if (cached := self._kept(content)) is not None:
            self._objects[content] = cached
            return
        self.counts.compiled += 1
        self._texts[content] = text
        self.start()
        if self._workers is not None:
            try:
                self._running[content] = self._workers.pool.submit(compile_module, text, self._target, self._opt_level)
            except BrokenProcessPool:
                raise _died(key) from None

    @property
    def is_there(self) -> bool:
        """Whether anything is kept on disk."""
        return self._cache is not None

    def kept(self, name: str) -> bytes | None:
        """What is kept on disk under a name, beside objects."""
        return None if self._cache is None else self._cache.get(name)

    def keep(self, name: str, data: bytes) -> None:
        """Keep something on disk, if anything is kept there."""
        if self._cache is not None:
            self._cache.put(name, data)
            self._stored = True

    def _kept(self, content: str) -> bytes | None:
        """The object that is kept for a text."""
        if self._memory is not None and (found := self._memory.get(content)) is not None:
            self.counts.memory += 1
            return found
        if self._cache is not None and (found := self._cache.get(content)) is not None:
            self.counts.disk += 1
            if self._memory is not None:
                self._memory.put(content, found)
            return found
        return None

    def result(self, key: str) -> bytes:
        """The object of a module, waited for.

        Raises:
            KeyError: no module was submitted under this key.
            CodegenError: LLVM does not accept the module, or the process that compiled it died.
        """
        content = self._contents[key]
        if content not in self._objects:
            self._keep(content, self._compiled(key, content))
        return self._objects[content]

    def _keep(self, content: str, compiled: bytes) -> None:
        self._objects[content] = compiled
        if self._cache is not None:
            self._cache.put(content, compiled)
            self._stored = True
        if self._memory is not None:
            self._memory.put(content, compiled)

    def _compiled(self, key: str, content: str) -> bytes:
        running = self._running.get(content)
        if running is None:
            return compile_module(self._texts[content], self._target, self._opt_level)
        try:
            return running.result()
        except BrokenProcessPool:
            raise _died(key) from None

    def close(self, *, at_once: bool = False) -> None:
        """Stop the workers, `at_once` or when they have done what they are at; modules whose result nobody asked for
        are dropped."""
        if self._workers is not None:
            self._workers.close(at_once=at_once)
            self._workers = None
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._tasks.clear()
        if self._stored and self._cache is not None:
            self._cache.keep_within_limit()
            self._stored = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=error is not None)


def _quietly(work: Callable[[], None]) -> None:
    """Do what is done once more by who needs it, and hears of errors then."""
    with suppress(Exception):
        work()


def _died(key: str) -> CodegenError:
    return CodegenError(f"the process that compiled '{key}' died: LLVM crashed, or memory ran out")

"""Building what is to be measured (`tvm.meta_schedule.builder`): in processes of their own, which may fail or hang."""

from __future__ import annotations

import os
import signal
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp

from ..building import build
from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.packed import get_global_func
from ..lowering.machine.target import Target
from ..runtime.module import Module

BuildT: TypeAlias = Callable[[ModuleOp, Target, "Mapping[str, object] | None"], object]
"""Compiles a module."""
ExportT: TypeAlias = Callable[[object], str]
"""Writes what was compiled to a file, and gives its path."""


@dataclass(frozen=True)
class BuilderInput:
    """A module that is to be built.

    Args:
        mod: the module.
        target: what it is built for.
        params: parameters by name, for who builds by a function of one's own.
    """

    mod: ModuleOp
    target: Target
    params: Mapping[str, object] | None = None


@dataclass(frozen=True)
class BuilderResult:
    """What became of one: the file that it is in, or why there is none."""

    artifact_path: str | None
    error_msg: str | None


class Builder:
    """Builds modules. Counterpart of TVM's `Builder` and `PyBuilder`, of which one's own are subclasses."""

    def build(self, build_inputs: Sequence[BuilderInput]) -> list[BuilderResult]:
        """What becomes of each module, in order."""
        raise NotImplementedError


class NoFunctionError(UsageError, ValueError):
    """No function is registered under a name."""


@checked_methods
class LocalBuilder(Builder):
    """Builds on this machine, each module in a process of its own, which is ended when its time is up.

    Args:
        max_workers: so many processes at once.
        timeout_sec: the seconds that one may take.
        f_build: what compiles, or the name that it is registered under (`weft.register_func`); `weft.build`, unless
            given.
        f_export: what writes what was compiled to a file and gives its path, or its name; unless given, a file for
            `weft.load`, of the module's entry, in a folder of its own.
        initializer: called first in each process; it may register what the names stand for.

    Raises:
        NoFunctionError: nothing is registered under a name, and no `initializer` could; a `ValueError`, too.
    """

    def __init__(
        self,
        *,
        max_workers: int = 1,
        timeout_sec: float = 30.0,
        f_build: BuildT | str | None = None,
        f_export: ExportT | str | None = None,
        initializer: Callable[[], None] | None = None,
    ):
        if max_workers < 1 or timeout_sec <= 0:
            raise UsageError("a builder has one process at least, and time")
        for name in (f_build, f_export):
            if isinstance(name, str) and initializer is None and get_global_func(name, allow_missing=True) is None:
                raise NoFunctionError(
                    f"no function is registered as {name!r}", hint="weft.register_func, or initializer="
                )
        self.max_workers = max_workers
        self.timeout_sec = timeout_sec
        self._build, self._export, self._initializer = f_build or _compiled, f_export or _saved, initializer

    def build(self, build_inputs: Sequence[BuilderInput]) -> list[BuilderResult]:
        """What becomes of each module, in order. What fails is told in the result."""
        with ThreadPoolExecutor(self.max_workers, "weft-build") as threads:
            return list(threads.map(self._one, build_inputs))

    def _one(self, given: BuilderInput) -> BuilderResult:
        context = get_context("fork")  # functions need not be found by their names in another process
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=self._work, args=(given, theirs))
        process.start()
        theirs.close()
        assert process.pid is not None
        result: BuilderResult | None = None
        try:
            if ours.poll(self.timeout_sec):
                result = ours.recv()
            else:
                result = BuilderResult(None, f"LocalBuilder: Timeout, killed after {self.timeout_sec} seconds")
        except EOFError:
            pass  # it is told below, with the code that the process ended with
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with what it has started; it has not been waited for yet
            process.kill()
            process.join()
            ours.close()
        if result is None:
            how = f"the process ended with {process.exitcode}"
            return BuilderResult(None, f"LocalBuilder: An exception occurred\n{how}")
        return result

    def _work(self, given: BuilderInput, connection: Connection) -> None:
        """In the process: build one module, and say what became of it."""
        os.setsid()
        try:
            if self._initializer is not None:
                self._initializer()
            compiled = _function(self._build)(given.mod, given.target, given.params)
            result = BuilderResult(str(_function(self._export)(compiled)), None)
        except BaseException:
            result = BuilderResult(None, f"LocalBuilder: An exception occurred\n{traceback.format_exc()}")
        connection.send(result)
        connection.close()
        os._exit(0)  # what the parent had open is the parent's


def _function(given: Callable[..., object] | str) -> Callable[..., object]:
    if not isinstance(given, str):
        return given
    found = get_global_func(given)
    assert found is not None
    return found


def _compiled(mod: ModuleOp, target: Target, params: Mapping[str, object] | None) -> Module:
    if params:
        raise UsageError("parameters are for who builds by a function of one's own", hint="f_build=")
    return build(mod, target=target)


def _saved(compiled: object) -> str:
    assert isinstance(compiled, Module)
    path = os.path.join(tempfile.mkdtemp(prefix="weft-build-"), "entry.weft")
    compiled.entry.executable.save(path)
    return path

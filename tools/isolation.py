"""Machine code in a process of its own, so that its end is told of and not shared.

Down to `schedule` a module says nothing of addresses that is not checked. At `loops` and `llvm` it does: an index or an
address there that was edited may lie anywhere, and the process that follows it dies.
"""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import numpy as np

from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic, Place
from weft.dialects.support.lifelines import end_with

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

OPEN_PHASES = ("loops", "llvm")
"""The phases whose modules say which addresses are read and written."""


class Executor(Protocol):
    """Something that computes a program's outputs."""

    def run(self, inputs: Mapping[str, NDArray], /) -> Mapping[str, NDArray]: ...


@dataclass(frozen=True)
class _Failure:
    """A diagnostic, as it goes from process to process."""

    message: str
    place: Place | None
    hint: str | None
    check: tuple[int, int] | None
    """The index and the extent, if it is a check that has failed."""

    @staticmethod
    def of(error: Diagnostic) -> _Failure:
        check = (error.index, error.extent) if isinstance(error, CheckError) else None
        return _Failure(error.message, error.place, error.hint, check)

    def error(self) -> Diagnostic:
        if self.check is not None:
            return CheckError(self.message, *self.check, self.place)
        return Diagnostic(self.message, self.place, hint=self.hint)


@contextmanager
def _pipe() -> Generator[tuple[int, int]]:
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


@dataclass(frozen=True)
class Isolated:
    """Runs an executor of a module at one of `OPEN_PHASES` in a child process."""

    executor: Executor
    path: str
    phase: str

    def run(self, inputs: Mapping[str, NDArray], /) -> Mapping[str, NDArray]:
        """The outputs by name.

        Raises:
            CheckError: a check in the program has failed.
            Diagnostic: the process has died.
        """
        with tempfile.TemporaryFile() as file, _pipe() as (lifeline, ours):
            child = os.fork()
            if child == 0:
                os.close(ours)
                end_with(lifeline)
                self._run_in_child(inputs, file.fileno())
            try:
                _, status = os.waitpid(child, 0)
            except BaseException:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise
            if status:
                raise self._death(os.waitstatus_to_exitcode(status))
            file.seek(0)
            found = cast("Mapping[str, NDArray] | _Failure", pickle.load(file))
        if isinstance(found, _Failure):
            raise found.error()
        return found

    def _run_in_child(self, inputs: Mapping[str, NDArray], output: int) -> None:
        code = 1
        try:
            found: Mapping[str, NDArray] | _Failure
            try:
                found = {name: np.asarray(array) for name, array in self.executor.run(inputs).items()}
            except Diagnostic as error:
                found = _Failure.of(error)
            with open(output, "wb", closefd=False) as file:
                pickle.dump(found, file)
            code = 0
        finally:
            os._exit(code)

    def _death(self, code: int) -> Diagnostic:
        try:
            how = f"signal {-code}, {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        except ValueError:
            how = f"signal {-code}"
        return Diagnostic(
            f"the process that ran the program has died: {how}",
            Place(self.path),
            hint=f"at phase '{self.phase}' a module says itself which addresses are read and written, unchecked",
        )

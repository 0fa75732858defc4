"""Files that are mapped and not read: what an array of one holds is what the file holds when it is looked at.

    with watching() as files:
        weights = mapped(path, np.float32, offset, shape)
        ...
        files.check("while it was compiled")

Whoever watches finds out when one of them was written to, or cut off, since it was mapped. A file that has another in
its place now is still there for those who have mapped it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .diagnostics import Diagnostic, Place

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Scalar = TypeVar("Scalar", bound="np.generic")


class MappedFiles:
    """The files that were mapped, as they were then."""

    def __init__(self) -> None:
        self._statuses: dict[Path, os.stat_result] = {}

    def note(self, path: Path, status: os.stat_result) -> None:
        """Note a file; what is known of it already stays."""
        self._statuses.setdefault(path.absolute(), status)

    def check(self, when: str, hint: str = "compile it again") -> None:
        """
        Raises:
            Diagnostic: a file was written to since it was mapped; `when` that was, for the message.
        """
        for path, before in self._statuses.items():
            try:
                now = path.stat()
            except OSError:  # it has no name any more, and who has mapped it still has it
                continue
            if not os.path.samestat(before, now):
                continue
            if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
                raise Diagnostic(f"the file was written to {when}", Place(str(path)), hint=hint)


_watching: ContextVar[MappedFiles | None] = ContextVar("watching", default=None)


@contextmanager
def watching() -> Generator[MappedFiles]:
    """Have files noted that are mapped in the `with` block, by this thread."""
    files = MappedFiles()
    token = _watching.set(files)
    try:
        yield files
    finally:
        _watching.reset(token)


def is_watched() -> bool:
    """Whether somebody finds out when a file that is mapped now is written to."""
    return _watching.get() is not None


def mapped(
    path: Path, dtype: np.dtype[Scalar] | type[Scalar], offset: int = 0, shape: Sequence[int] | None = None
) -> npt.NDArray[Scalar]:
    """A part of a file as an array that cannot be written to: of a shape, from an offset in bytes; by default all.

    Raises:
        OSError: the file cannot be read.
        ValueError: the part is not all there.
    """
    import numpy as np

    with open(path, "rb") as file:
        if (files := _watching.get()) is not None:
            files.note(path, os.fstat(file.fileno()))
        return np.memmap(file, dtype, "r", offset, None if shape is None else tuple(shape))

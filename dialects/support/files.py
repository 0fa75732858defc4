"""Writing a file whole or not at all, whatever ends the process.

    with replacing(path) as file:
        file.write(data)

What is written has no name until all of it is there, where the system has such files: if the process is killed before,
nothing is left. Elsewhere it has a hidden name beside `path`, which a guard takes away.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_NAMELESS = getattr(os, "O_TMPFILE", None)
_NO_NAMELESS = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOSYS)
"""What opening such a file ends in where there is none."""


def check_place(path: str, *, added_to: bool = False) -> None:
    """See, before there is anything to write, that a file can be written, or added to where it is there.

    Raises:
        OSError: it is a folder, or its folder is not there, or it may not be written.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if not path or not os.path.isdir(folder):
        raise _os_error(errno.ENOENT, path)
    if os.path.isdir(path):
        raise _os_error(errno.EISDIR, path)
    stays = added_to and os.path.exists(path)
    if not (os.access(path, os.W_OK) if stays else os.access(folder, os.W_OK | os.X_OK)):
        raise _os_error(errno.EACCES, path)


def _os_error(number: int, path: str | os.PathLike[str]) -> OSError:
    return OSError(number, os.strerror(number), str(path))  # of the class that Python has for the number


@contextmanager
def replacing(path: str | os.PathLike[str], mode: int | None = None) -> Generator[BinaryIO]:
    """A file to write to, which is `path` once the block has ended without an exception; or what `path` points to, a
    symbolic link. Its permissions are `mode`, else those of the file that it replaces, else those of a new one.

    Raises:
        OSError: the file cannot be written.
    """
    if not os.fspath(path):
        raise _os_error(errno.ENOENT, path)
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise _os_error(errno.EISDIR, path)
    mode = mode if mode is not None else _mode(target)
    if (descriptor := _open_nameless(target.parent)) is not None:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            if mode is not None:
                os.fchmod(descriptor, mode)
            _name(descriptor, target)
        return
    from .guard import guarded

    hidden = _hidden(target)
    try:
        with guarded(hidden), open(hidden, "xb") as file:
            yield file
            file.flush()
            if mode is not None:
                os.chmod(hidden, mode)
            os.replace(hidden, target)
    except BaseException:
        with suppress(OSError):
            hidden.unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int | None:
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        return None


def _open_nameless(folder: Path) -> int | None:
    if _NAMELESS is None or not os.path.exists("/proc/self/fd"):
        return None
    try:
        return os.open(folder, _NAMELESS | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in _NO_NAMELESS:
            return None
        raise


def _name(descriptor: int, target: Path) -> None:
    """Give a nameless file its name, by way of a hidden one where another file has it."""
    source = f"/proc/self/fd/{descriptor}"
    try:
        os.link(source, target, src_dir_fd=descriptor, follow_symlinks=True)
        return
    except FileExistsError:
        pass
    hidden = _hidden(target)
    os.link(source, hidden, src_dir_fd=descriptor, follow_symlinks=True)
    try:
        os.replace(hidden, target)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise


def _hidden(target: Path) -> Path:
    return target.with_name(f".weft-{os.urandom(8).hex()}")

"""Compiled kernels on disk, found by their content.

An object is stored under a hash of the text that it was compiled from, the target, the optimisation level, and the
version of LLVM: what is found is what would be compiled. Several processes may write at once: a file appears whole, by
renaming. A cache that cannot be written is no error; one that was damaged is compiled over.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from ...dialects.support import knobs
from ...dialects.support.diagnostics import UsageError
from .binding import version
from .target import Target


class KernelCache:
    """Objects in a directory, which is made when the first is stored."""

    def __init__(self, directory: Path):
        self._directory = directory

    @staticmethod
    def from_environment() -> KernelCache | None:
        """The cache in `$WEFT_CACHE_DIR`; none where that is not set.

        Raises:
            UsageError: it begins with the home directory of a user whom there is not.
        """
        directory = knobs.CACHE_DIR.get()
        if not directory:
            return None
        try:
            return KernelCache(Path(directory).expanduser() / "kernels")
        except RuntimeError as error:
            variable = knobs.CACHE_DIR.variable
            raise UsageError(f"${variable} is '{directory}', which is no directory: {error}".rstrip(".")) from None

    @staticmethod
    def key(text: str, target: Target, opt_level: int) -> str:
        """The name under which the object of this module is stored."""
        parts = (version(), str(target.resolved()), str(opt_level), text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def get(self, key: str) -> bytes | None:
        """The object stored under a key, if it is there and whole."""
        try:
            data = self._path(key).read_bytes()
        except OSError:
            return None
        digest, object_file = data[:_DIGEST], data[_DIGEST:]
        return object_file if digest == hashlib.sha256(object_file).digest() else None

    def put(self, key: str, object_file: bytes) -> None:
        """Store an object; without a word where the directory cannot be written."""
        path = self._path(key)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                try:
                    file.write(hashlib.sha256(object_file).digest() + object_file)
                    file.flush()
                    os.replace(file.name, path)
                except BaseException:
                    os.unlink(file.name)
                    raise

    def _path(self, key: str) -> Path:
        return self._directory / key[:2] / key[2:]


_DIGEST = hashlib.sha256().digest_size

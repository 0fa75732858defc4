"""SHA-256 of much data, taken while more of it is being read."""

from __future__ import annotations

import threading
from hashlib import sha256
from queue import Queue
from types import TracebackType
from typing import Self

LARGE = 1 << 22
"""So many bytes are worth another thread."""
_AHEAD = 8
"""How many pieces may wait."""


class Digest:
    """A digest of pieces in their order. Beyond the first `LARGE` bytes another thread takes it, which leaves the
    interpreter to others meanwhile. The pieces are not to be changed before the `with` block ends.

        with Digest() as digest:
            while piece := file.read(1 << 20):
                digest.update(piece)
        print(digest.hexdigest())
    """

    def __init__(self) -> None:
        self._digest = sha256()
        self._taken = 0
        self._pieces: Queue[bytes | memoryview | None] = Queue(_AHEAD)
        self._thread: threading.Thread | None = None

    def update(self, piece: bytes | memoryview) -> None:
        """Have `piece` counted in."""
        self._taken += len(piece)
        if self._thread is None and self._taken <= LARGE:
            self._digest.update(piece)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="weft-digest", daemon=True)
            self._thread.start()
        self._pieces.put(piece)

    def _run(self) -> None:
        while (piece := self._pieces.get()) is not None:
            self._digest.update(piece)

    def hexdigest(self) -> str:
        """The digest, once the `with` block has ended."""
        assert self._thread is None, "the digest is still being taken"
        return self._digest.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._pieces.put(None)
            self._thread.join()
            self._thread = None

"""Digests of much data, taken by several threads while more of it is being read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from hashlib import sha256
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from mmap import mmap
    from queue import Queue

BLOCK = 1 << 22
"""Bytes of a block, unless its user says otherwise."""
_THREADS = 2
_AHEAD = 8
"""How many blocks may wait."""


class Digest:
    """The SHA-256 of the SHA-256 digests of all blocks of data, `block` bytes each but for the last, so that a digest
    can be taken as fast as several processors can. Data comes in pieces; other threads take the blocks that lie whole
    in one, beyond the first, and leave the interpreter to others meanwhile. Pieces are not to be changed before the
    `with` block ends.

        with Digest() as digest:
            while piece := file.read(BLOCK):
                digest.update(piece)
        print(digest.hexdigest())
    """

    def __init__(self, block: int = BLOCK) -> None:
        self._block = block
        self._blocks: list[bytes] = []
        self._begun, self._room = sha256(), block
        """Of the block that is not whole yet: its digest, and how many bytes it lacks."""
        self._waiting: Queue[tuple[int, memoryview] | None]
        self._threads: list[threading.Thread] = []
        self._failed: Exception | None = None

    def update(self, piece: bytes | memoryview | mmap) -> None:
        """Have `piece`, seen as bytes, counted in."""
        rest = memoryview(piece)
        while rest:
            part = rest[: self._room]
            if len(part) == self._block and self._blocks and self._have_threads():
                self._leave(part)
            else:
                self._count(part)
            rest = rest[len(part) :]

    def _count(self, part: memoryview) -> None:
        """Count in a part of the block that is not whole yet."""
        self._begun.update(part)
        self._room -= len(part)
        if not self._room:
            self._blocks.append(self._begun.digest())
            self._begun, self._room = sha256(), self._block

    def _have_threads(self) -> bool:
        """Whether there are other threads, once some were to be started."""
        if not self._threads:
            from queue import Queue

            self._waiting = Queue(_AHEAD)
            started = [start_thread(self._run, "weft-digest") for _ in range(_THREADS)]
            self._threads = [thread for thread in started if thread is not None]
        return bool(self._threads)

    def _leave(self, block: memoryview) -> None:
        """Leave a whole block to another thread."""
        self._blocks.append(b"")
        self._waiting.put((len(self._blocks) - 1, block))

    def _run(self) -> None:
        while (found := self._waiting.get()) is not None:
            place, block = found
            try:
                self._blocks[place] = sha256(block).digest()
            except Exception as error:
                self._failed = error

    def hexdigest(self) -> str:
        """The digest, once the `with` block has ended.

        Raises:
            Exception: what kept another thread from taking a part of it.
        """
        assert not self._threads, "the digest is still being taken"
        if self._failed is not None:
            raise self._failed
        last = [self._begun.digest()] if self._room < self._block else []
        return digest_of_blocks([*self._blocks, *last])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()


def digest_of_blocks(digests: Sequence[bytes]) -> str:
    """The digest of data whose blocks have these SHA-256 digests."""
    return sha256(b"".join(digests)).hexdigest()


def digest_of_bytes(data: bytes | memoryview) -> str:
    """The digest of data that is there."""
    if len(data) <= BLOCK:
        return digest_of_blocks([sha256(data).digest()] if data else [])
    with Digest() as digest:
        digest.update(data)
    return digest.hexdigest()


def start_thread(work: Callable[[], object], name: str) -> threading.Thread | None:
    """A thread that does `work`, which the process does not wait for at its end; `None` where none can be started: the
    system has no more, or the interpreter is an isolated one within another."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread

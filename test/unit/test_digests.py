"""A digest that is taken beside the reading is that of the blocks of the data."""

from __future__ import annotations

import threading
from hashlib import sha256

import pytest

from weft.dialects.support import digests
from weft.dialects.support.digests import BLOCK, Digest, digest_of_bytes


def expected(data: bytes) -> str:
    blocks = [data[start : start + BLOCK] for start in range(0, len(data), BLOCK)]
    return sha256(b"".join(sha256(block).digest() for block in blocks)).hexdigest()


@pytest.mark.parametrize(
    "sizes", [[], [0], [1, 2, 3], [BLOCK], [BLOCK, 1], [BLOCK + 1], [BLOCK // 2] * 12, [7, BLOCK * 5, 3]]
)
def test_a_digest_is_that_of_all_pieces_in_their_order(sizes: list[int]) -> None:
    pieces = [bytes([number + 1]) * size for number, size in enumerate(sizes)]
    with Digest() as digest:
        for piece in pieces:
            digest.update(memoryview(piece))
    assert digest.hexdigest() == expected(b"".join(pieces)) == digest_of_bytes(b"".join(pieces))


def test_blocks_may_be_of_another_size() -> None:
    data = bytes(range(100))
    with Digest(32) as digest:
        digest.update(data[:50])
        digest.update(data[50:])
    blocks = [sha256(data[start : start + 32]).digest() for start in range(0, 100, 32)]
    assert digest.hexdigest() == sha256(b"".join(blocks)).hexdigest()


def test_blocks_in_another_order_have_another_digest() -> None:
    first, second = bytes(BLOCK), bytes([1]) * BLOCK
    assert digest_of_bytes(first * 2 + second) != digest_of_bytes(first + second + first)
    assert digest_of_bytes(first) != digest_of_bytes(first + b"\0") != digest_of_bytes(first * 2)


@pytest.mark.parametrize("started", [0, 1])
def test_a_digest_is_the_same_where_no_more_threads_can_be_started(
    started: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, counted = threading.Thread.start, iter(range(100))

    def limited(thread: threading.Thread) -> None:
        if next(counted) >= started:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    data = bytes(BLOCK * 3)
    assert digest_of_bytes(data) == expected(data)


def test_no_thread_is_left_where_reading_fails() -> None:
    before = threading.active_count()
    with pytest.raises(OSError, match="torn"), Digest() as digest:
        digest.update(bytes(BLOCK * 2))
        assert threading.active_count() == before + 2
        raise OSError("torn")
    assert threading.active_count() == before


def test_what_keeps_a_thread_from_its_part_is_heard_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(data: bytes = b"") -> object:
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError
        return sha256(data)

    monkeypatch.setattr(digests, "sha256", failing)
    with Digest() as digest:
        digest.update(bytes(BLOCK * 20))  # more than may wait
    with pytest.raises(MemoryError):
        digest.hexdigest()

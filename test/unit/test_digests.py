"""A digest that is taken beside the reading is that of the data."""

from __future__ import annotations

import threading
from hashlib import sha256

import pytest

from weft.dialects.support.digests import LARGE, Digest


@pytest.mark.parametrize("sizes", [[], [0], [1, 2, 3], [LARGE], [LARGE, 1], [LARGE + 1], [LARGE // 2] * 12])
def test_a_digest_is_that_of_all_pieces_in_their_order(sizes: list[int]) -> None:
    pieces = [bytes([number + 1]) * size for number, size in enumerate(sizes)]
    with Digest() as digest:
        for piece in pieces:
            digest.update(memoryview(piece))
    assert digest.hexdigest() == sha256(b"".join(pieces)).hexdigest()


def test_no_thread_is_left_where_reading_fails() -> None:
    before = threading.active_count()
    with pytest.raises(OSError, match="torn"), Digest() as digest:
        digest.update(bytes(LARGE + 1))
        assert threading.active_count() == before + 1
        raise OSError("torn")
    assert threading.active_count() == before

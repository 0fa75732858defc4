"""What all tests share."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """The garbage collector need not look again and again at ten thousand tests and what they have imported."""
    gc.collect()
    gc.freeze()

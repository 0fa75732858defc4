"""What all tests share."""

from __future__ import annotations

import gc
import os

# One test runs on each processor: threads of NumPy's would wait for one another there.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_collection_finish() -> None:
    """The garbage collector need not look again and again at ten thousand tests and what they have imported."""
    gc.collect()
    gc.freeze()

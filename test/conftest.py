"""What all tests share."""

from __future__ import annotations

import gc
import os

# One test runs on each processor: threads of NumPy's would wait for one another there.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# And processes to compile one or two kernels would cost more than they do.
os.environ.setdefault("WEFT_JOBS", "1")


# Hardly anything that collecting tests makes is garbage.
gc.set_threshold(200_000, 20, 100)


def pytest_collection_finish() -> None:
    """The garbage collector need not look again and again at ten thousand tests and what they have imported; what a
    test makes is many small objects, most of which need no collector."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)

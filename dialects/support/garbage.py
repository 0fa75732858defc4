"""Python's garbage collector, while much is made that lives long."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def rare_garbage_collection() -> Generator[None]:
    """Collect garbage seldom meanwhile: a compilation, as the import of a compiler, makes many objects that live long,
    and few circles."""
    thresholds = gc.get_threshold()
    gc.set_threshold(max(1_000_000, thresholds[0]), 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)

"""Python's garbage collector, while much is made that lives long."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache


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


@cache
def modules_are_old() -> None:
    """Count what there is by now among what lives long, without a look at it: called, once, when the compiler has been
    imported. A collection of what is young, as comes after a compilation, would go through all that modules hold, which
    takes longer than to go through what the compilation leaves."""
    if not gc.get_freeze_count():  # else somebody has frozen objects, which are to stay so
        gc.freeze()
        gc.unfreeze()

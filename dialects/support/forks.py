"""Locks that a child process finds free, and what they guard whole."""

from __future__ import annotations

import os
from threading import Lock, RLock, local


def hold_over_forks(lock: Lock | RLock) -> None:
    """Have each fork wait for `lock`, and give it back on both sides: a child has no threads that would.

    A fork that has begun already when this is called, in another thread, has not waited, and gives nothing back.
    """
    if not hasattr(os, "register_at_fork"):
        return
    forking = local()

    def before() -> None:
        lock.acquire()
        forking.holds = True

    def after() -> None:
        if getattr(forking, "holds", False):
            forking.holds = False
            lock.release()

    os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)

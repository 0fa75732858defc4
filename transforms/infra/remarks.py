"""Remarks: what a pass did, and what it did not do and why. Nothing declines silently."""

from __future__ import annotations

from xdsl.ir import Operation


def passed(pass_name: str, op: Operation, message: str) -> None:
    """Report that a pass did its work on `op`."""


def missed(pass_name: str, op: Operation, reason: str, suggestion: str | None = None) -> None:
    """Report that a pass left `op` as it was, why, and what would let it go on."""

"""Names of values, of names that people gave to axes, tensors and parameters."""

from __future__ import annotations

import re


def name_hint(name: str) -> str:
    """`name` as a value may be called: what is no letter, digit, `_`, `$`, `.` or `-` is `_`, another beginning than a
    letter of A to Z stands behind one, and numbers at its end, which the printer gives, are left out: `_` where nothing
    else stays of `_1`."""
    text = re.sub(r"[^\w$.-]", "_", name)
    return re.sub(r"(_\d+)+$", "", text if re.match(r"[A-Za-z_$.-]", text) else f"_{text}") or "_"

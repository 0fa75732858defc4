"""Text of C."""

from __future__ import annotations


def c_string(text: str) -> str:
    """A string of C, in UTF-8; all that is not plain is written in octal, three digits each."""
    plain = (chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode())
    return f'"{"".join(plain)}"'

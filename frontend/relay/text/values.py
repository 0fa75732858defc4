"""Attributes and numbers in Relay's text: `axis=1, strides=[1, 1], layout="NCHW"`, `2i64`, `-1.5f16`, `True`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..expr import Expr, const
from .lexer import Kind, Source, Token
from .types import TypeParser

_NUMBER = re.compile(r"(inf|nan|[^ifn]+)(?:([if])(\d*))?")
"""Digits, what kind of number they are, and of how many bits."""


class ValueParser(TypeParser):
    """Reads numbers, and what stands for values beside expressions.

    Args:
        source: the text.
        table: what `meta[key][number]` stands for.
    """

    def __init__(self, source: Source, table: Mapping[str, Sequence[object]]):
        super().__init__(source)
        self.table = table

    def attributes(self) -> dict[str, object]:
        """`name=value, name=value`, where such stand next."""
        found: dict[str, object] = {}
        while self.next.kind is Kind.NAME and self.is_sign("=", 1):
            name = self.next.text
            if name in found:
                self.fail(f"'{name}' is given twice")
            self.at += 2
            found[name] = self._value()
            if not self.accept(","):
                break
        return found

    def _value(self) -> object:
        token = self.next
        if self.accept_name("None") or self.accept_name("nullptr"):
            return None
        if self.is_name("True") or self.is_name("False"):
            return self.truth().data.numpy().item()
        if self.is_sign("["):
            return self.sequence("[", "]", self._value)
        if self.accept("("):
            found = self._value()
            self.sign(")")
            return found
        if token.kind is Kind.STRING:
            self.at += 1
            return re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)
        if token.kind is Kind.META:
            return self.meta()
        if token.kind is not Kind.NUMBER and not self.is_sign("-"):
            self.fail("expected a number, a string, a list or None")
        token, value, dtype = self._number()
        with self.placed(token):
            const(value if isinstance(value, int) else 0.0, dtype)  # of a type that there is, and holds it
        return value  # as it is said, not as 32 bits have it

    def meta(self) -> object:
        """What `meta[key][number]`, which stands next, is."""
        key, _, number = self.next.text.partition("][")
        entries = self.table.get(key, ())
        if int(number) >= len(entries):
            known = ", ".join(sorted(self.table)) or "none"
            self.fail(
                f"meta[{key}][{number}] is not given", hint=f"there are {len(entries)} of it; the keys are {known}"
            )
        self.at += 1
        return entries[int(number)]

    def truth(self) -> Expr:
        """`True` or `False`."""
        return const(self.word(Kind.NAME, "a truth value").text == "True", "bool")

    def signed_number(self) -> Expr:
        """A number with signs before it: an integer of 32 bits, or of 64 where it needs them, unless it says more."""
        token, value, dtype = self._number()
        if isinstance(value, float) and np.isfinite(value) and _is_beyond(value, dtype):
            self.fail(f"{value} is beyond what {dtype} holds", token)
        with self.placed(token):
            return const(value, dtype)

    def _number(self) -> tuple[Token, int | float, str]:
        """A number with signs before it: where it stands, as it is said, and its type."""
        sign = 1
        while self.accept("-"):
            sign = -sign
        token = self.word(Kind.NUMBER, "a number")
        parts = _NUMBER.fullmatch(token.text)
        assert parts is not None
        digits, letter, width = parts[1], parts[2] or "", parts[3] or ""
        if letter == "f":
            real = sign * float(digits)
            if np.isinf(real) and digits != "inf":
                self.fail(f"{token.text} is beyond what float64 holds", token)
            return token, real, f"float{width or 32}"
        if not digits.isdigit():
            self.fail(f"'{token.text}' is no integer", token, f"a number of floating point is written {digits}f")
        value = sign * int(digits)
        fits = letter or -(2**31) <= value < 2**31
        return token, value, f"int{width}" if width else "int32" if fits else "int64"


def _is_beyond(value: float, dtype: str) -> bool:
    """Whether a number becomes infinite in a type of floating point."""
    if dtype not in ("float16", "float32", "float64"):
        return False
    with np.errstate(over="ignore"):
        return bool(np.isinf(np.float64(value).astype(dtype)))

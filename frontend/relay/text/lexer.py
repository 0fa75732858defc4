"""The words of Relay's text, and where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from xdsl.utils.lexer import Input, Span

from ....dialects.support.diagnostics import Diagnostic, Place

VERSION = "0.0.5"
"""That of the text that is read and written."""


class TextError(Diagnostic):
    """A text is not Relay's, or says what there is not."""


class Kind(Enum):
    """What a word is."""

    VERSION = auto()
    METADATA = auto()
    META = auto()
    GRAPH = auto()
    LOCAL = auto()
    GLOBAL = auto()
    FIELD = auto()
    NUMBER = auto()
    STRING = auto()
    NAME = auto()
    SIGN = auto()
    END = auto()


@dataclass(frozen=True)
class Token:
    """A word: what it is, its letters, and where they begin."""

    kind: Kind
    text: str
    start: int


_FORMS = [
    (Kind.VERSION, r"#\[\s*version\s*=\s*(?P<version>[^\]]*?)\s*\]"),
    (Kind.METADATA, r"#\[\s*metadata\s*\](?P<metadata>.*)"),
    (Kind.META, r"meta\[(?P<meta>[^\]\s]+\]\[\d+)\]"),
    (Kind.GRAPH, r"%\d+"),
    (Kind.LOCAL, r"%[A-Za-z_]\w*"),
    (Kind.GLOBAL, r"@[A-Za-z_]\w*(?:\.\w+)*"),
    (Kind.FIELD, r"\.\d+"),
    (Kind.NUMBER, r"(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|(?:inf|nan)(?=f))(?:[fi]\d*)?(?!\w)"),
    (Kind.STRING, r'"(?:[^"\\]++|\\.)*+"'),
    (Kind.NAME, r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"),
    (Kind.SIGN, r"->|=>|==|!=|<=|>=|[-+*/<>=(){}\[\],;:?!]"),
]
_WORD = re.compile("|".join(f"(?P<{kind.name}>{form})" for kind, form in _FORMS), re.DOTALL | re.ASCII)
_COMMENT = re.compile(r"//[^\n]*|/\*|\s+")
_EDGE_OF_COMMENT = re.compile(r"/\*|\*/")


@dataclass(frozen=True)
class Source:
    """A text, and what it is called in errors."""

    name: str
    text: str

    def place(self, start: int, end: int | None = None) -> Place:
        """The place of some letters of it."""
        return Place.of_span(Span(start, start + 1 if end is None else end, Input(self.text, self.name)))

    def tokens(self) -> list[Token]:
        """The words, `END` behind them; comments, which may stand in each other, are none.

        Raises:
            TextError: letters are no word, or a comment does not end.
        """
        found: list[Token] = []
        at = 0
        while at < len(self.text):
            if (blank := _COMMENT.match(self.text, at)) is not None:
                at = self._behind_comment(at) if blank[0] == "/*" else blank.end()
                continue
            word = _WORD.match(self.text, at)
            if word is None or word.lastgroup is None:
                raise TextError(f"'{self.text[at]}' begins no word of Relay's text", self.place(at))
            kind = next(each for each, _ in _FORMS if word[each.name] is not None)
            inner = {Kind.VERSION: "version", Kind.METADATA: "metadata", Kind.META: "meta"}.get(kind)
            found.append(Token(kind, word[inner] if inner else word[0], at))
            at = word.end()
        return [*found, Token(Kind.END, "", len(self.text))]

    def _behind_comment(self, start: int) -> int:
        depth, at = 0, start
        while (edge := _EDGE_OF_COMMENT.search(self.text, at)) is not None:
            depth += 1 if edge[0] == "/*" else -1
            at = edge.end()
            if depth == 0:
                return at
        raise TextError("a comment does not end", self.place(start, start + 2))

"""Types in Relay's text, `Tensor[(?, 4), float32]`, `fn (int32) -> bool`, `List[A]`; and going through its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from xdsl.dialects.builtin import FileLineColLoc, FunctionType, IntAttr, StringAttr
from xdsl.ir import Attribute

from ....dialects.relay.types import AdtType, IncompleteType, ParamType, RefType, tuple_type
from ....dialects.support.diagnostics import Diagnostic
from ..extents import AnyExtent, Extent, tensor_type
from .lexer import Kind, Source, TextError, Token

T = TypeVar("T")

_SCALAR = re.compile(r"(?:u?int|float|bfloat|bool)\d*(?:x\d+)?")
_WIDTH = {"int": "int32", "uint": "uint32", "float": "float32", "uint1": "bool"}
"""Names of types whose widths TVM understands."""


class TypeParser:
    """Goes through the words of a text, and reads types."""

    def __init__(self, source: Source):
        self.source = source
        self.words = source.tokens()
        self.at: int = 0
        self.type_variables: list[dict[str, ParamType]] = []

    @property
    def next(self) -> Token:
        """The word that is read next."""
        return self.words[self.at]

    def is_sign(self, text: str, ahead: int = 0) -> bool:
        """Whether a sign is next, or `ahead` words behind that."""
        token = self.words[min(self.at + ahead, len(self.words) - 1)]
        return token.kind is Kind.SIGN and token.text == text

    def is_name(self, text: str) -> bool:
        """Whether a name is next."""
        return self.next.kind is Kind.NAME and self.next.text == text

    def accept(self, *texts: str) -> Token | None:
        """The next word, which is passed, if it is one of these signs."""
        token = self.next
        if token.kind is not Kind.SIGN or token.text not in texts:
            return None
        self.at += 1
        return token

    def accept_name(self, text: str) -> Token | None:
        """The next word, which is passed, if it is this name."""
        if not self.is_name(text):
            return None
        self.at += 1
        return self.words[self.at - 1]

    def sign(self, text: str) -> Token:
        """The next word, a sign."""
        return self.accept(text) or self.fail(f"expected '{text}', found {_shown(self.next)}")

    def word(self, kind: Kind, what: str) -> Token:
        """The next word, of a kind."""
        token = self.next
        if token.kind is not kind:
            self.fail(f"expected {what}, found {_shown(token)}")
        self.at += 1
        return token

    def fail(self, message: str, token: Token | None = None, hint: str | None = None) -> NoReturn:
        """Refuse a word, or the next one.

        Raises:
            TextError: always.
        """
        token = self.next if token is None else token
        place = self.source.place(token.start, token.start + max(1, len(token.text)))
        raise TextError(message, place, hint=hint)

    @contextmanager
    def placed(self, token: Token) -> Generator[None]:
        """Errors of what is made of a word are at its place."""
        try:
            yield
        except Diagnostic as error:
            if error.place is None:
                error.place = self.source.place(token.start, token.start + max(1, len(token.text)))
            raise
        except (TypeError, ValueError, IndexError, NotImplementedError) as error:
            self.fail(str(error), token)

    def location(self, token: Token) -> FileLineColLoc:
        """Where a word stands, as a location."""
        place = self.source.place(token.start)
        return FileLineColLoc(StringAttr(place.file), IntAttr(place.line), IntAttr(place.column))

    def sequence(
        self, start: str, end: str, read: Callable[[], T], is_last: Callable[[], bool] = lambda: False
    ) -> list[T]:
        """What stands between two signs, with commas between, up to where `is_last` has read the rest."""
        self.sign(start)
        found: list[T] = []
        while not self.is_sign(end):
            if is_last():
                break
            found.append(read())
            if not self.accept(","):
                break
        self.sign(end)
        return found

    def type(self) -> Attribute:
        """A type."""
        token = self.next
        if self.is_sign("("):
            return tuple_type(*self.sequence("(", ")", self.type))
        if self.accept_name("fn"):
            inputs = self.sequence("(", ")", self.type)
            self.sign("->")
            return FunctionType.from_lists(inputs, [self.type()])
        name = self.word(Kind.NAME, "a type").text
        if name == "_":
            return IncompleteType()
        if name == "ref" and self.accept("("):
            held = self.type()
            self.sign(")")
            return RefType(held)
        with self.placed(token):
            if name == "Tensor":
                self.sign("[")
                shape: list[Extent] = self.sequence("(", ")", self._extent)
                self.sign(",")
                dtype = self.word(Kind.NAME, "a dtype").text
                self.sign("]")
                return tensor_type(shape, _WIDTH.get(dtype, dtype))
            if _SCALAR.fullmatch(name):
                return tensor_type((), _WIDTH.get(name, name))
            for scope in reversed(self.type_variables):
                if name in scope:
                    return scope[name]
            return AdtType(name, self.sequence("[", "]", self.type) if self.is_sign("[") else [])

    def _extent(self) -> Extent:
        if self.accept("?"):
            return AnyExtent()
        token = self.word(Kind.NUMBER, "an extent")
        if not (digits := re.fullmatch(r"(\d+)(?:i\d*)?", token.text)):
            self.fail("an extent is an integer, or '?'", token)
        return int(digits[1])

    @contextmanager
    def open_types(self) -> Generator[list[ParamType]]:
        """The type variables that stand here in brackets, known within."""
        names = [] if not self.is_sign("[") else self.sequence("[", "]", lambda: self.word(Kind.NAME, "a name").text)
        made = {name: ParamType(name) for name in names}
        self.type_variables.append(made)
        try:
            yield list(made.values())
        finally:
            self.type_variables.pop()


def _shown(token: Token) -> str:
    return "the end of the text" if token.kind is Kind.END else f"'{token.text}'"

"""Type errors that are about one operand: which, what it should have been, and where it stands in the text.

A condition of an operation that fails because of one of its operands says so by an `OperandError`. `at_fault` makes a
`Diagnostic` of it, at the operand, with what was expected and found in a note:

    model.mlir:3:34: error: 'relay.nn.dense': operands [4, 64] and [32, 63] have 64 and 63 elements to sum over
      %0 = relay.nn.dense %x, %w {units = 32 : i64} : ...
                              ^~
    note: operand 1 ('weight'): expected tensor<32x64xf32>, found tensor<32x63xf32>

Where operands stand is not kept: they are looked for behind the operation's name when something is wrong with one.
"""

from __future__ import annotations

import linecache
import os.path
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import FileLineColLoc, StringAttr
from xdsl.utils.exceptions import VerifyException

from .diagnostics import Diagnostic, Note, Place
from .records import record
from .syntax import property_hint

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation, SSAValue


@record
class Blame:
    """One operand, and what it should have been."""

    operand: int
    """Its number, from 0."""

    name: str
    expected: str
    found: str
    field: int | None = None
    """Of a tuple, which of the tensors in it."""

    def __str__(self) -> str:
        where = f"operand {self.operand} ('{self.name}')"
        where = where if self.field is None else f"tensor {self.field} of {where}"
        return f"{where}: expected {self.expected}, found {self.found}"


class OperandError(VerifyException):
    """What an operation demands, and an operand is not."""

    def __init__(self, message: str, blame: Blame | None, of: Operation | None = None):
        super().__init__(message)
        self._blame = blame
        self.of = of
        """The operation whose operand it is, where that is another: what ends a region."""

    @property
    def value(self) -> SSAValue | None:
        """The operand that is at fault, where it is at hand."""
        return None

    @property
    def blame(self) -> Blame | None:
        """The operand that is at fault; `None` where it is not one alone."""
        return self._blame


def misfit(
    op: Operation, name: str, wanted: Sequence[Attribute], fits: Callable[[Attribute, Attribute], bool]
) -> Blame | None:
    """The first of the last operands of `op`, which are its `name`, whose type does not fit the one that is wanted of
    it; `None` where there are not as many."""
    values: Sequence[SSAValue] = getattr(op, name)
    if len(values) != len(wanted):
        return None
    before = len(op.operands) - len(values)
    for number, (value, type) in enumerate(zip(values, wanted, strict=True)):
        if not fits(value.type, type):
            return Blame(before + number, f"{name}[{number}]", str(type), str(value.type))
    return None


def blame_of(error: Exception) -> Blame | None:
    """The operand that an exception is about, if it is about one."""
    return error.blame if isinstance(error, OperandError) else None


def notes_of(error: Exception) -> list[Note]:
    """What there is to say of the operand that an exception is about."""
    blame = blame_of(error)
    return [] if blame is None else [Note(str(blame))]


def at_fault(op: Operation, error: VerifyException) -> Diagnostic:
    """What is wrong with an operation, placed at the operand that it is about, or else at the operation."""
    message = str(error).removeprefix("Operation does not verify: ").removeprefix(f"'{op.name}' ").strip()
    blame = blame_of(error)
    of = error.of if isinstance(error, OperandError) and error.of is not None else op
    place = None if blame is None else place_of_operand(of, blame.operand)
    diagnostic = Diagnostic.at(op, message, notes=notes_of(error), hint=property_hint(op))
    diagnostic.place = place or diagnostic.place
    diagnostic.__cause__ = error
    return diagnostic


_texts: WeakKeyDictionary[StringAttr, str] = WeakKeyDictionary()
"""Texts that are in no file, by the name that the locations of their operations have, for as long as there are any."""

_OPERANDS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|(%(?:\d+|[\w$.-]+)(?:#\d+)?)')
"""The uses of values, behind what else may hold a percent sign."""

MAX_LINES = 100
"""An operation is not longer, up to its last operand."""


def remember_text(name: StringAttr, text: str) -> None:
    """Remember what stands in the text of a name that no file has, as standard input is given."""
    if not os.path.isfile(name.data):
        _texts.pop(name, None)  # an equal name of a text that was read before goes, and takes its text with it
        _texts[name] = text


def place_of_operand(op: Operation, number: int) -> Place | None:
    """Where an operand stands in the text that `op` was read from; `None` where that text is not there any more."""
    location = op.location
    if not isinstance(location, FileLineColLoc) or number >= len(op.operands):
        return None
    file, line, column = location.filename, location.line.data, location.column.data
    if line == 0:
        return None
    if (text := _texts.get(file)) is not None:
        lines = text.split("\n")[line - 1 : line - 1 + MAX_LINES]
    else:
        linecache.checkcache(file.data)
        lines = [each.rstrip("\n") for each in linecache.getlines(file.data)[line - 1 : line - 1 + MAX_LINES]]
    rest = "\n".join(lines)
    name = next((each for each in (op.name, f'"{op.name}"') if rest.startswith(each, column - 1)), None)
    if name is None:
        return None  # the file is another by now
    uses = (match for match in _OPERANDS.finditer(rest, column - 1 + len(name)) if match[1] is not None)
    match = next(islice(uses, number, None), None)
    if match is None:
        return None
    start = rest.rfind("\n", 0, match.start()) + 1
    at = rest.count("\n", 0, match.start())
    return Place(file.data, line + at, match.start() - start + 1, match.end() - match.start(), lines[at])

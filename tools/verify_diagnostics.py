"""`--verify-diagnostics`: compare what is reported with what comments in the input expect.

    // expected-error@+1 {{is used but not defined}}
    %0 = arith.addi %a, %b : i32
    // expected-remark@above {{...}}      expected-warning, expected-note
    // expected-error-re {{has {{[0-9]+}} operands}}      or the whole a regular expression: {{has [0-9]+ operands}}

`@+N`, `@-N`, `@above`, `@below` name another line, `@unknown` no line. The text must occur in the message. Every error
and warning must be expected, and everything expected must occur. Remarks must be expected only where `--remarks` asks
for them, and notes, which belong to another diagnostic, never.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects.support.diagnostics import Diagnostic, Place, Severity
from ..transforms.infra.remarks import Remark

_COMMENT = re.compile(
    r"expected-(?P<kind>error|warning|remark|note)(?P<re>-re)?[ \t]*"
    r"(?:@(?P<line>[+-]\d+|above|below|unknown))?[ \t]*\{\{(?P<text>(?:\{\{.*?\}\}|.)*?)\}\}(?!\})"
)
_UNKNOWN = 0


@dataclass
class Expectation:
    """One comment."""

    severity: Severity
    text: str
    is_regex: bool
    line: int
    place: Place
    met: bool = False

    def matches(self, severity: Severity, message: str, place: Place | None) -> bool:
        if severity is not self.severity or self.line != (place.line if place is not None else _UNKNOWN):
            return False
        return re.search(self.text, message) is not None if self.is_regex else self.text in message


@dataclass
class Expectations:
    """The comments of an input."""

    expected: list[Expectation]

    @staticmethod
    def parse(text: str, name: str) -> Expectations:
        """Find the comments in `text`.

        Raises:
            Diagnostic: one holds a regular expression that cannot be read.
        """
        expected: list[Expectation] = []
        for number, line in enumerate(text.split("\n"), 1):
            for match in _COMMENT.finditer(line):
                place = Place(name, number, match.start() + 1, match.end() - match.start(), line)
                text_of = match["text"]
                if match["re"]:
                    text_of = _as_regex(text_of)
                    try:
                        re.compile(text_of)
                    except re.error as error:
                        raise Diagnostic(f"this is not a regular expression: {error}", place) from error
                target = _target(match["line"], number)
                expected.append(Expectation(Severity(match["kind"]), text_of, bool(match["re"]), target, place))
        return Expectations(expected)

    def compare(
        self, diagnostics: Sequence[Diagnostic], remarks: Sequence[Remark], remarks_wanted: str | None
    ) -> list[Diagnostic]:
        """What differs between the comments and what was reported; nothing where all is as expected."""
        problems: list[Diagnostic] = []
        for diagnostic in diagnostics:
            if not self._take(diagnostic.severity, diagnostic.message, diagnostic.place):
                problems.append(_unexpected(diagnostic))
            for note in diagnostic.notes:
                self._take(Severity.NOTE, note.message, note.place)
        for remark in remarks:
            diagnostic = remark.as_diagnostic()
            taken = self._take(diagnostic.severity, diagnostic.message, diagnostic.place)
            if not taken and remarks_wanted is not None and re.search(remarks_wanted, remark.pass_name):
                problems.append(_unexpected(diagnostic))
        for expectation in self.expected:
            if not expectation.met:
                what = f"expected {expectation.severity.value} was not reported: {expectation.text}"
                problems.append(Diagnostic(what, expectation.place))
        return problems

    def _take(self, severity: Severity, message: str, place: Place | None) -> bool:
        for expectation in self.expected:
            if not expectation.met and expectation.matches(severity, message, place):
                expectation.met = True
                return True
        return False


def _as_regex(text: str) -> str:
    """A regular expression; as MLIR writes it, a text in which only what stands in `{{...}}` is one."""
    if "{{" not in text:
        return text
    pieces = re.split(r"\{\{(.*?)\}\}(?!\})", text)
    return "".join(f"(?:{piece})" if i % 2 else re.escape(piece) for i, piece in enumerate(pieces))


def _target(text: str | None, line: int) -> int:
    match text:
        case None:
            return line
        case "unknown":
            return _UNKNOWN
        case "above":
            return line - 1
        case "below":
            return line + 1
        case _:
            return line + int(text)


def _unexpected(diagnostic: Diagnostic) -> Diagnostic:
    message = f"unexpected {diagnostic.severity.value}: {diagnostic.message}"
    return Diagnostic(message, diagnostic.place, notes=diagnostic.notes, hint=diagnostic.hint)

"""What a user is told: one exception family, one renderer.

    raise Diagnostic.at(op, "the kernel is larger than the padded input", hint="check `padding`")

is shown, wherever it is raised, as

    model.mlir:7:8: error: the kernel is larger than the padded input
      %y = relay.nn.conv2d %x, %w strides[1, 1] ...
           ^~~~~~~~~~~~~~~
    hint: check `padding`

Mistakes of the user are `Diagnostic`s, and never end in a Python traceback. Warnings and remarks, which do not end
anything, are sent by `emit` to whoever listens (`handled_by`): the tools print them, or compare them with what a test
expects. xDSL's own exceptions are turned into `Diagnostic`s by `as_diagnostic`.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Self, TextIO, TypeAlias, cast

from xdsl.utils.exceptions import DiagnosticException

from .records import record

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr
    from xdsl.ir import Attribute, Operation
    from xdsl.utils.lexer import Span


class Severity(Enum):
    """How bad it is; the values are the words that are printed."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@record
class Place:
    """A piece of a source line. Lines and columns count from 1; 0 stands for the whole file."""

    file: str
    line: int = 0
    column: int = 0
    length: int = 1
    text: str | None = None
    """The source line, where whoever made the place had it at hand."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    @staticmethod
    def of_span(span: Span[str] | Span[bytes]) -> Place:
        """The place of a piece of text that a parser was reading."""
        content = span.input.content
        text = content if isinstance(content, str) else content.decode(errors="replace")
        start = min(span.start, len(text))
        begin = text.rfind("\n", 0, start) + 1
        end = text.find("\n", start)
        line = text[begin : end if end >= 0 else len(text)]
        length = max(1, min(span.end, begin + len(line)) - start)
        return Place(span.input.name, text.count("\n", 0, start) + 1, start - begin + 1, length, line)

    @staticmethod
    def of_operation(op: Operation) -> Place | None:
        """The place that an operation was parsed or imported from."""
        if not hasattr(op, "location"):
            raise TypeError(f"what is told of is at an operation, and not at {op!r}")
        return Place.of_location(op.location)

    @staticmethod
    def of_location(location: LocationAttr) -> Place | None:
        """The place in a file that a location stands for; of several, the first.

        A location that is only a name gives a place without a line, and one in a file that has no lines, as an
        imported layer has, shows both: `model.onnx("conv1")`.
        """
        from xdsl.dialects.builtin import FileLineColLoc, NameLoc

        pending: list[object] = [location]
        name: Place | None = None
        while pending:
            current = pending.pop(0)
            if isinstance(current, FileLineColLoc):
                if current.line.data == 0 and name is not None:
                    return Place(current.filename.data + f"({name.file})")
                return Place(current.filename.data, current.line.data, current.column.data)
            if isinstance(current, NameLoc) and name is None:
                name = Place(f'"{current.desc.data}"')
            pending.extend(_inner_locations(current))
        return name


def _inner_locations(location: object) -> Iterator[object]:
    from xdsl.dialects.builtin import ArrayAttr, LocationAttr
    from xdsl.ir import ParametrizedAttribute

    if isinstance(location, ParametrizedAttribute):
        for parameter in location.parameters:
            if isinstance(parameter, LocationAttr):
                yield parameter
            elif isinstance(parameter, ArrayAttr):
                yield from cast("ArrayAttr[Attribute]", parameter).data


@record
class Note:
    """Something more to know about a diagnostic, with its own place where it has one."""

    message: str
    place: Place | None = None


class Diagnostic(DiagnosticException, RuntimeError):
    """A message for the user about what they gave us. As TVM's errors are, it is a `RuntimeError`.

    Args:
        message: what is wrong, in one sentence that begins in lower case and has no full stop.
        place: where.
        notes: what else has to do with it.
        hint: how to go on.
        severity: an error, unless it is only sent by `emit`.
    """

    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        message: str,
        place: Place | None = None,
        *,
        notes: Sequence[Note] = (),
        hint: str | None = None,
        severity: Severity = Severity.ERROR,
    ):
        if not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the message of a {type(self).__name__} is text, and not {message!r}")
        message = _cut(message)
        super().__init__(message)
        self.message = message
        self.place = place
        self.notes = tuple(notes)
        self.hint = hint
        self.severity = severity

    @classmethod
    def at(
        cls,
        op: Operation,
        message: str,
        *,
        notes: Sequence[Note] = (),
        hint: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> Self:
        """A diagnostic about an operation, placed where the operation was parsed or imported from."""
        place = Place.of_operation(op)
        return cls(f"'{op.name}': {message}", place, notes=notes, hint=hint, severity=severity)

    def each(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that this exception stands for."""
        return (self,)

    def __str__(self) -> str:
        return "\n".join(render(diagnostic) for diagnostic in self.each())


MAX_MESSAGE = 2000
"""Longer messages, which hold a name or a type of such length, lose their middle."""

MAX_NAME = 200
"""Nothing is near a longer name."""


def _cut(message: str) -> str:
    half = MAX_MESSAGE // 2
    return message if len(message) <= MAX_MESSAGE else f"{message[:half]} ... {message[-half:]}"


class Diagnostics(Diagnostic):
    """Several diagnostics raised at once."""

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        first = diagnostics[0]
        super().__init__(first.message, first.place, notes=first.notes, hint=first.hint, severity=first.severity)
        self.diagnostics = tuple(diagnostics)

    def each(self) -> tuple[Diagnostic, ...]:
        return self.diagnostics


class UsageError(Diagnostic):
    """A mistake in how a tool or function is called, as opposed to what it is given to work on."""

    exit_code = 2


class InternalError(Diagnostic):
    """A mistake of Weft's own."""

    exit_code = 70


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """`did you mean 'x'?`, or `None` where no candidate is near."""
    from difflib import SequenceMatcher, get_close_matches  # which takes as long to import as small graphs to load

    known = list(map(str, candidates))  # words that are members of an enumeration too
    near = [candidate for candidate in known if candidate.lower() == name.lower()]
    if not near and len(name) <= MAX_NAME:
        near = get_close_matches(name, known, n=3, cutoff=0.6)
        best = max((SequenceMatcher(None, n, name).ratio() for n in near), default=0)
        near = [n for n in near if SequenceMatcher(None, n, name).ratio() > best - 0.1]
    return f"did you mean {' or '.join(map(repr, near))}?" if near else None


def as_diagnostic(error: Exception, place: Place | None = None) -> Diagnostic | None:
    """`error` as a `Diagnostic`, placed at `place` unless it knows better; `None` if it is not the user's mistake."""
    from xdsl.utils.exceptions import MultipleSpansParseError, ParseError

    if isinstance(error, Diagnostic):
        return error
    notes: list[Note] = []
    if isinstance(error, ParseError):
        place = Place.of_span(error.span)
        if isinstance(error, MultipleSpansParseError):
            notes = [Note(text or error.ref_text or "see here", Place.of_span(span)) for span, text in error.refs]
        message = error.msg
    elif isinstance(error, OSError) and error.filename is not None:
        place = place or Place(str(error.filename))
        message = (error.strerror or str(error)).lower()
    elif isinstance(error, DiagnosticException):
        message = str(error)
    elif isinstance(error, MemoryError):
        message = no_memory(error)
    elif isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        message = "the system gives this process no more threads"
    else:
        return None
    diagnostic = Diagnostic(message.strip(), place, notes=notes)
    diagnostic.__cause__ = error
    return diagnostic


def no_memory(error: MemoryError) -> str:
    """What is said where the system has not the memory that something takes."""
    return f"there is not enough memory: {error}".rstrip(": ")


Sources: TypeAlias = Mapping[str, str]
"""File name -> its text, for files that are not on disk under that name: standard input, a pipeline."""

_COLORS = {Severity.ERROR: "31", Severity.WARNING: "35", Severity.REMARK: "34", Severity.NOTE: "36"}


def render(diagnostic: Diagnostic, sources: Sources | None = None, *, color: bool = False) -> str:
    """The text of a diagnostic: `place: error: message`, the source line, a caret, notes, a hint."""
    lines = _render_message(diagnostic.severity, diagnostic.message, diagnostic.place, sources or {}, color)
    for note in diagnostic.notes:
        lines += _render_message(Severity.NOTE, note.message, note.place, sources or {}, color)
    if diagnostic.hint is not None:
        lines.append(f"{_paint('hint:', '32;1', color)} {diagnostic.hint}")
    return "\n".join(lines)


def _render_message(severity: Severity, message: str, place: Place | None, sources: Sources, color: bool) -> list[str]:
    where = f"{place}: " if place is not None else ""
    kind = _paint(f"{severity.value}:", f"{_COLORS[severity]};1", color)
    lines = [f"{_paint(where, '1', color)}{kind} {_paint(message, '1', color)}"]
    if place is not None and place.line:
        source = place.text if place.text is not None else _source_line(place, sources)
        if source is not None:
            source, column = _shortened(source, place.column)
            # Tabs stay tabs above the caret, so that it stands right whatever their width.
            padding = "".join("\t" if c == "\t" else " " for c in source[: column - 1])
            caret = "^" + "~" * (min(place.length, max(1, len(source) - column + 1)) - 1)
            lines += [source, padding + _paint(caret, "32;1", color)]
    return lines


MAX_LINE = 200


def _shortened(line: str, column: int) -> tuple[str, int]:
    """The part of a long line around a column, and the column in it: a line may hold a tensor of a million elements."""
    if len(line) <= MAX_LINE:
        return line, column
    begin = max(0, min(column - 1 - MAX_LINE // 2, len(line) - MAX_LINE))
    before = "..." if begin else ""
    after = "..." if begin + MAX_LINE < len(line) else ""
    return before + line[begin : begin + MAX_LINE] + after, column - begin + len(before)


def _source_line(place: Place, sources: Sources) -> str | None:
    if (text := sources.get(place.file)) is not None:
        lines = text.split("\n")
        return lines[place.line - 1] if place.line <= len(lines) else None
    linecache.checkcache(place.file)  # it may have been edited since a line of it was last shown
    return linecache.getline(place.file, place.line).rstrip("\n") or None


def _paint(text: str, code: str, color: bool) -> str:
    return f"\033[{code}m{text}\033[0m" if color and text else text


Handler: TypeAlias = Callable[[Diagnostic], None]


def print_to(stream: TextIO, sources: Sources | None = None, *, color: bool = False) -> Handler:
    """A handler that prints what it gets."""

    def handle(diagnostic: Diagnostic) -> None:
        for each in diagnostic.each():
            print(render(each, sources, color=color), file=stream)

    return handle


_HANDLER: ContextVar[Handler | None] = ContextVar("weft_diagnostic_handler", default=None)


def emit(diagnostic: Diagnostic) -> None:
    """Tell the user something that does not end the work; without a handler it goes to standard error."""
    handler()(diagnostic)


def handler() -> Handler:
    """Who is told of what does not end the work."""
    return _HANDLER.get() or print_to(sys.stderr)


def warn(op: Operation, message: str, hint: str | None = None) -> None:
    """Emit a warning about an operation."""
    emit(Diagnostic.at(op, message, hint=hint, severity=Severity.WARNING))


@contextmanager
def handled_by(handler: Handler) -> Generator[None]:
    """Send what is emitted in the `with` block, in this thread, to `handler`."""
    token = _HANDLER.set(handler)
    try:
        yield
    finally:
        _HANDLER.reset(token)

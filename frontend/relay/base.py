"""Where things were written: TVM's `relay.Span` and `relay.SourceName`.

    y = relay.Call(relay.op.get("exp"), [x], span=relay.Span(relay.SourceName("model.onnx"), 3, 3, 7, 9))
    y.span.line  # 3

An operation keeps where it begins: what is read of it ends there too. Errors and remarks name that place.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, FusedLoc, IntAttr, LocationAttr, NameLoc, StringAttr
from xdsl.ir import Attribute

from ...dialects.support.arguments import checked_methods


@checked_methods
@dataclass(frozen=True)
class SourceName:
    """A source: a file, or the name that a frontend gives to what it has read."""

    name: str

    def same_as(self, other: object) -> bool:
        """Whether it is the same source."""
        return self == other


@checked_methods
@dataclass(frozen=True)
class Span:
    """A piece of a source: its lines and columns from the first to the last."""

    source_name: SourceName | None
    line: int
    end_line: int
    column: int
    end_column: int

    def same_as(self, other: object) -> bool:
        """Whether it is the same piece of the same source."""
        return self == other

    def __str__(self) -> str:
        return f"{self._file}:{self.line}:{self.column}"

    @property
    def _file(self) -> str:
        return "" if self.source_name is None else self.source_name.name

    @property
    def location(self) -> FileLineColLoc:
        """Where it begins, as what an operation has."""
        return FileLineColLoc(StringAttr(self._file), IntAttr(self.line), IntAttr(self.column))


def span_of(location: Attribute) -> Span | None:
    """Where a location lies in a source; `None` where that is not known. Of several, the first."""
    match location:
        case FileLineColLoc(filename=file, line=line, column=column):
            source = SourceName(file.data) if file.data else None
            return Span(source, line.data, line.data, column.data, column.data)
        case NameLoc(location=inner):
            return span_of(inner)
        case FusedLoc(locations=ArrayAttr() as several):
            return next((found for each in several if (found := span_of(each)) is not None), None)
        case _:
            return None


def location_of(span: Span | LocationAttr) -> LocationAttr:
    """What an operation has of a span, or of a location as MLIR has it."""
    return span.location if isinstance(span, Span) else span

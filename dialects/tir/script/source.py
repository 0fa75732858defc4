"""The Python text that a function is read from, and where in it something stands."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from ...support.diagnostics import Diagnostic, Diagnostics, Place
from ...support.text import as_text


@dataclass(frozen=True)
class Source:
    """Python text. Line 1 of `lines` is line `first` of `file`, and stands `indent` columns further left than there."""

    file: str
    lines: tuple[str, ...]
    first: int = 1
    indent: int = 0

    @staticmethod
    def of_text(text: str, file: str) -> Source:
        return Source(file, tuple(text.splitlines()))

    @staticmethod
    def of_function(function: Callable[..., object]) -> Source:
        """The text that a Python function or class was defined by.

        Raises:
            Diagnostic: it is not to be had, as for what was typed into a shell.
        """
        try:
            lines, first = inspect.getsourcelines(function)
            file = inspect.getsourcefile(function) or "<unknown>"
        except (OSError, TypeError) as error:
            name = getattr(function, "__name__", "it")
            raise Diagnostic(
                f"the Python source of {name} is not to be had: {error}",
                hint="write it to a file, or give its text to weft.tir.from_source",
            ) from error
        text = "".join(lines)
        dedented = textwrap.dedent(text)
        indent = len(lines[0]) - len(dedented.splitlines(keepends=True)[0])
        return Source(file, tuple(dedented.splitlines()), first, indent)

    def tree(self) -> ast.Module:
        """The text as a syntax tree.

        Raises:
            Diagnostic: it is no Python.
        """
        try:
            return ast.parse("\n".join(self.lines))
        except SyntaxError as error:
            line = error.lineno or 1
            text = self.lines[line - 1] if line <= len(self.lines) else ""
            place = Place(self.file, self.first + line - 1, (error.offset or 1) + self.indent, 1, self._shown(text))
            raise Diagnostic(f"this is no Python: {error.msg}", place) from error

    def _shown(self, line: str) -> str:
        return " " * self.indent + line

    def place(self, node: ast.AST) -> Place:
        """Where a node stands."""
        line: int = getattr(node, "lineno", 1)
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        start = _column(text, getattr(node, "col_offset", 0))
        end = len(text)
        if getattr(node, "end_lineno", None) == line:
            end = _column(text, getattr(node, "end_col_offset", 0))
        if isinstance(node, ast.For | ast.With | ast.If | ast.While | ast.FunctionDef):
            end = len(text)
        return Place(self.file, self.first + line - 1, start + self.indent + 1, max(1, end - start), self._shown(text))

    def location(self, node: ast.AST) -> FileLineColLoc:
        """The same as an operation's location."""
        place = self.place(node)
        return FileLineColLoc(StringAttr(as_text(place.file)), IntAttr(place.line), IntAttr(place.column))

    def error(self, node: ast.AST, message: str, hint: str | None = None) -> Diagnostic:
        """What is wrong with a node."""
        return Diagnostic(message, self.place(node), hint=hint)

    def with_text(self, error: Diagnostic) -> Diagnostic:
        """`error`, whose places in this source show the line."""
        if isinstance(error, Diagnostics):
            return Diagnostics([self.with_text(each) for each in error.each()])
        place = error.place
        if place is None or place.file != self.file or place.text is not None:
            return error
        number = place.line - self.first
        text = self.lines[number] if 0 <= number < len(self.lines) else None
        if text is None:
            return error
        shown = self._shown(text)
        length = max(1, len(shown) - place.column + 1)
        there = Place(place.file, place.line, place.column, length, shown)
        return Diagnostic(error.message, there, notes=error.notes, hint=error.hint, severity=error.severity)


def _column(line: str, offset: int) -> int:
    """The column of a byte of a line."""
    return len(line.encode()[:offset].decode(errors="replace"))

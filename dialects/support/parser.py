"""xDSL's parser, made to say where things are.

Every operation gets the place of its name as its location, unless the text gives it one (`loc(...)`). What is wrong
with the text is a `Diagnostic` at the place in question: xDSL reports an undefined value at the end of the file, an
unknown operation behind its name, and a constraint that does not hold nowhere. Costs some 7 % of parse time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnregisteredAttr
from xdsl.ir import AttributeInvT, BlockArgument, Data, Operation, ParametrizedAttribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from .diagnostics import Diagnostic, InternalError, Note, Place, as_diagnostic, did_you_mean


def parse_module(text: str, context: Context, name: str = "<string>") -> ModuleOp:
    """Parse a module; operations at the top level without one around them are put into one. The module is not verified.

    Args:
        name: the file's name, for locations and messages.

    Raises:
        Diagnostic: the text is not a module.
    """
    return LocatedParser(context, text, name).parse_module()


class LocatedParser(Parser):
    """A parser that places operations and errors. Raises nothing but `Diagnostic`s."""

    def __init__(self, context: Context, text: str, name: str = "<string>"):
        try:
            super().__init__(context, text, name)
        except ParseError as error:  # the first token is already read
            raise _diagnostic(error, Place(name)) from error
        self._file = StringAttr(name)
        self._numbers: dict[int, IntAttr] = {}
        self._line_starts = [0, *_after_newlines(text)]
        self._name_spans: list[Span] = []
        """The spans of the names of the operations being parsed, outermost first."""
        self._first_uses: dict[str, Span] = {}
        """Where each value that is not defined yet was first used."""

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            if self._current_token.kind == MLIRTokenKind.EOF and allow_implicit_module:
                module = ModuleOp([])
            else:
                module = super().parse_module(allow_implicit_module)
                if self._current_token.kind != MLIRTokenKind.EOF:
                    self.raise_error("expected the end of the input")
        except RecursionError as error:
            raise Diagnostic("regions or types are nested too deeply to be parsed", self._place()) from error
        except Exception as error:
            if (undefined := self._undefined_values()) is not None:
                raise undefined from error
            raise _diagnostic(error, self._place()) from error
        if module.location == UNKNOWN_LOC:
            module.location = self._location(0)
        return module

    def parse_operation(self) -> Operation:
        depth = len(self._name_spans)
        pending = len(self.forward_ssa_references)
        try:
            op = super().parse_operation()
        except (ParseError, Diagnostic, RecursionError):
            raise
        except Exception as error:
            span = self._name_spans[depth] if len(self._name_spans) > depth else self._current_token.span
            raise _diagnostic(error, Place.of_span(span), span.text) from error
        if op.location == UNKNOWN_LOC:
            op.location = self._location(self._name_spans[depth].start)
        del self._name_spans[depth:]
        if len(self.forward_ssa_references) > pending and op.has_trait(IsolatedFromAbove):
            self._check_isolated(op)
        return op

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._name_spans.append(self._current_token.span)
        return results

    def _get_op_by_name(self, name: str) -> type[Operation]:
        if (op_type := self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)) is not None:
            return op_type
        place = Place.of_span(self._name_spans[-1])
        dialect = name.partition(".")[0]
        if "." in name and dialect not in self.ctx.registered_dialect_names:
            hint = did_you_mean(dialect, self.ctx.registered_dialect_names)
            hint = hint or "`--show-dialects` lists the dialects; `--allow-unregistered-dialect` accepts any"
            raise Diagnostic(f"operation '{name}' is of no registered dialect", place, hint=hint)
        candidates = [op.name for op in self.ctx.loaded_ops]
        hint = did_you_mean(name, [c for c in candidates if "." not in name or c.startswith(f"{dialect}.")])
        raise Diagnostic(f"operation '{name}' is not registered", place, hint=hint or did_you_mean(name, candidates))

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        name, values = operand.operand_name, self.ssa_values.get(operand.operand_name)
        if values is None:
            self._first_uses.setdefault(name, operand.span)
        elif operand.index < len(values) and (value := values[operand.index]).type != type:
            place = _definition_place(value)
            raise Diagnostic(
                f"'%{name}' has type {value.type}, but is used here as {type}",
                Place.of_span(operand.span),
                notes=[Note("it is defined here", place)] if place is not None else (),
            )
        return super().resolve_operand(operand, type)

    def parse_optional_argument(self, expect_type: bool = True) -> Parser.UnresolvedArgument | Parser.Argument | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """An argument with the place that the text gives it, which xDSL prints but does not read, or else its own."""
        argument = super().parse_optional_argument(expect_type)
        if isinstance(argument, Parser.Argument) and argument.location is None:
            argument.location = self.parse_optional_location() or self._location(argument.name.start)
        return argument

    def _register_ssa_definition(self, name: str, values: tuple[SSAValue, ...], span: Span) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super()._register_ssa_definition(name, values, span)
        self._first_uses.pop(name, None)

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        start = self.lexer.input.content.rfind(attr_name, 0, self.pos)
        known = self.ctx.get_optional_type(attr_name) if is_type else self.ctx.get_optional_attr(attr_name)
        if "." in attr_name and known is None:
            what = "type" if is_type else "attribute"
            names = [a.name for a in (self.ctx.loaded_types if is_type else self.ctx.loaded_attrs)]
            place = Place.of_span(Span(start, start + len(attr_name), self.lexer.input))
            raise Diagnostic(f"{what} '{attr_name}' is not registered", place, hint=did_you_mean(attr_name, names))
        try:
            return super()._parse_dialect_type_or_attribute_body(attr_name, is_type, is_opaque, starting_opaque_pos)
        except (VerifyException, ValueError) as error:
            raise _diagnostic(error, Place.of_span(Span(start, self.pos, self.lexer.input))) from error

    def _check_isolated(self, op: Operation) -> None:
        """Values that are used in an isolated operation must be defined in it, not in one that follows."""
        for name, references in self.forward_ssa_references.items():
            if any(_has_use_within(reference, op) for reference in references.values()):
                raise self._undefined(name)

    def _undefined_values(self) -> Diagnostic | None:
        """What xDSL reports at the end of the file, at the first use of each value."""
        if self._current_token.kind != MLIRTokenKind.EOF or not self.forward_ssa_references or self._name_spans:
            return None
        return self._undefined(next(iter(self.forward_ssa_references)))

    def _undefined(self, name: str) -> Diagnostic:
        near = did_you_mean(name, [n for n in self.ssa_values])
        return Diagnostic(f"value '%{name}' is used but not defined", Place.of_span(self._first_uses[name]), hint=near)

    def _place(self) -> Place:
        return Place.of_span(self._current_token.span)

    def _location(self, position: int) -> FileLineColLoc:
        line = bisect_right(self._line_starts, position)
        return FileLineColLoc(self._file, self._number(line), self._number(position - self._line_starts[line - 1] + 1))

    def _number(self, number: int) -> IntAttr:
        if (attribute := self._numbers.get(number)) is None:
            attribute = self._numbers[number] = IntAttr(number)
        return attribute


_REWORDED = {
    "Could not parse entire input!": "expected an operation",
    "in block definition": "expected an operation, a block or '}'",
}
"""Messages of xDSL that say little."""


def _after_newlines(text: str) -> Iterator[int]:
    position = text.find("\n")
    while position >= 0:
        yield position + 1
        position = text.find("\n", position + 1)


def _definition_place(value: SSAValue) -> Place | None:
    if isinstance(value, BlockArgument):
        return Place.of_location(value.location)
    return Place.of_location(value.owner.location) if isinstance(value.owner, Operation) else None


def _has_use_within(value: SSAValue, op: Operation) -> bool:
    return any(op.is_ancestor(use.operation) for use in value.uses)


def _diagnostic(error: Exception, place: Place, op_name: str | None = None) -> Diagnostic:
    """What went wrong while the text at `place` was read."""
    if isinstance(error, ValueError | UnregisteredConstructException) and not isinstance(error, Diagnostic):
        diagnostic = Diagnostic(str(error), place)
    elif (known := as_diagnostic(error, place)) is not None:
        diagnostic = known
        diagnostic.message = _REWORDED.get(diagnostic.message, diagnostic.message)
    else:
        return InternalError(f"{type(error).__name__} while this was parsed: {error}", place)
    if isinstance(error, MultipleSpansParseError) and diagnostic.message.startswith("region ends with missing block"):
        use = error.refs[0][0]
        return Diagnostic(f"block '{use.text}' is used but not defined", Place.of_span(use))
    if op_name is not None and diagnostic.place is place:
        op_name = op_name.strip('"')
        diagnostic.message = f"'{op_name}': {diagnostic.message}"
        diagnostic.hint = diagnostic.hint or f"`weft-opt --explain {op_name}` describes the operation"
    return diagnostic

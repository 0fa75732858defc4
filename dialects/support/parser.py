"""xDSL's parser, made to say where things are.

Every operation gets the place of its name as its location, unless the text gives it one (`loc(...)`). What is wrong
with the text is a `Diagnostic` at the place in question: xDSL reports an undefined value at the end of the file, an
unknown operation behind its name, and a constraint that does not hold nowhere. Costs some 7 % of parse time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyDenseElement,
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    Float80Type,
    Float128Type,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    RankedStructure,
    StringAttr,
    UnregisteredAttr,
)
from xdsl.ir import Attribute, AttributeInvT, Block, BlockArgument, Data, Operation, ParametrizedAttribute, SSAValue
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.parser.generic_parser import ParserState
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from .blame import remember_text
from .diagnostics import Diagnostic, InternalError, Note, Place, Severity, as_diagnostic, did_you_mean, emit
from .element_types import MLIR_NAMES
from .lexer import LinearLexer
from .syntax import claim_properties, form_hint, misspelt_properties
from .text import as_text

if TYPE_CHECKING:
    from .number_lists import Number


def parse_module(text: str, context: Context, name: str = "<string>") -> ModuleOp:
    """Parse a module; operations at the top level without one around them are put into one. The module is not verified.

    Args:
        name: the file's name, for locations and messages.

    Raises:
        Diagnostic: the text is not a module.
    """
    return LocatedParser(context, text, name).parse_module()


class _TensorLiteralElement(Parser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element of a dense literal; among floats, hexadecimal digits are the bits of one."""

    def to_type(
        self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
    ) -> int | float | tuple[int, int] | tuple[float, float]:
        if isinstance(type, AnyFloat) and isinstance(self.value, int) and self.span.text.startswith("0x"):
            size = type.compile_time_size
            if self.value >> 8 * size:
                parser.raise_error(f"{type} has no more than {8 * size} bits", at_position=self.span)
            return type.unpack(self.value.to_bytes(size, "little"), 1)[0]
        if isinstance(type, ComplexType) and not isinstance(self.value, tuple):
            parser.raise_error("Expected complex value", at_position=self.span)
        return super().to_type(parser, type)


class LocatedParser(Parser):
    """A parser that places operations and errors. Raises nothing but `Diagnostic`s."""

    _TensorLiteralElement = _TensorLiteralElement

    def __init__(self, context: Context, text: str, name: str = "<string>"):
        text = text.removeprefix("\ufeff")
        try:
            super().__init__(context, "", name)
            self._parser_state = ParserState(LinearLexer(Input(text, name)))
        except ParseError as error:  # the first token is already read
            raise _diagnostic(error, Place(name)) from error
        self._file = StringAttr(as_text(name))
        self._numbers: dict[int, IntAttr] = {}
        self._line_starts = [0, *_after_newlines(text)]
        self._name_spans: list[Span] = []
        """The spans of the names of the operations being parsed, outermost first."""
        self._first_uses: dict[str, tuple[Span, Mapping[str, object]]] = {}
        """Where each value that is not defined yet was first used, and the values in reach there."""

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
        remember_text(self._file, self.lexer.input.content)
        return module

    def parse_operation(self) -> Operation:
        depth = len(self._name_spans)
        pending = len(self.forward_ssa_references)
        try:
            op = super().parse_operation()
        except (Diagnostic, RecursionError):
            raise
        except ParseError as error:
            raise self._with_hint(_diagnostic(error, self._place()), depth) from error
        except Exception as error:
            span = self._current_token.span
            if len(self._name_spans) > depth and not _is_about_a_token(error):
                span = self._name_spans[depth]
            raise _diagnostic(error, Place.of_span(span), span.text) from error
        if op.location == UNKNOWN_LOC:
            op.location = self._location(self._name_spans[depth].start)
        if op.attributes:
            claim_properties(op)
            for given, near in misspelt_properties(op):
                place = Place.of_span(self._name_spans[depth])
                message = f"'{op.name}' has no property '{given}', and takes it for an attribute without meaning"
                emit(Diagnostic(message, place, hint=near, severity=Severity.WARNING))
        del self._name_spans[depth:]
        if len(self.forward_ssa_references) > pending and op.has_trait(IsolatedFromAbove):
            self._check_isolated(op)
        return op

    def _with_hint(self, diagnostic: Diagnostic, depth: int) -> Diagnostic:
        """A syntax error within the operation at `depth`, with how that is written; regions are other operations."""
        if diagnostic.message == _REWORDED["Expected shape type."]:
            diagnostic.hint = did_you_mean(self._current_token.text, MLIR_NAMES.values())
        if diagnostic.hint is None and len(self._name_spans) > depth and diagnostic.message not in _OF_REGIONS:
            op_type = self.ctx.get_optional_op(self._name_spans[depth].text.strip('"'))
            if op_type is not None:
                diagnostic.hint = form_hint(op_type, self._current_token.text)
        at_the_end = self._current_token.kind == MLIRTokenKind.EOF and diagnostic.message in _OF_REGIONS
        if at_the_end and len(self._name_spans) > depth and not diagnostic.notes:
            diagnostic.notes = (Note("the '}' of this is missing", Place.of_span(self._name_spans[depth])),)
        return diagnostic

    def _parse_block(self) -> Block:
        """A block, which may not be defined again: xDSL forgets where one was defined that was used before."""
        label = self._current_token.span
        name = label.text[1:]
        block = self._parse_numbered_block(name) if name[:1].isdigit() else super()._parse_block()
        if self.blocks[name][1] is None:
            self.blocks[name] = (block, label)
        return block

    def parse_optional_successor(self) -> Block | None:
        """A label, if there is one; a block whose label is a number has no name."""
        token = self._current_token
        if (
            token.kind == MLIRTokenKind.CARET_IDENT
            and (name := token.text[1:])[:1].isdigit()
            and name not in self.blocks
        ):
            self.forward_block_references[name].append(token.span)
            self.blocks[name] = (Block(), None)
        return super().parse_optional_successor()

    def _parse_numbered_block(self, name: str) -> Block:
        """A block whose label is a number (`^0`): that is no name of xDSL's."""
        label = self._parse_token(MLIRTokenKind.CARET_IDENT, " in block definition").span
        block, defined = self.blocks.setdefault(name, (Block(), None))
        if defined is not None:
            raise MultipleSpansParseError(
                label, f"re-declaration of block '{name}'", "originally declared here:", [(defined, None)]
            )
        self.forward_block_references.pop(name, None)
        self.blocks[name] = (block, label)
        self._parse_optional_block_arg_list(block)
        self.parse_punctuation(":")
        self._parse_block_body(block)
        return block

    def _parse_dense_literal_type(self) -> RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]:
        start = self._current_token.span
        type = super()._parse_dense_literal_type()
        self._check_dense(type, start)
        return type

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        if type is not None:
            self._check_dense(type, self._current_token.span)
        if self._current_token.text != "<" or (start := self._next_list()) is None:
            return super().parse_dense_int_or_fp_elements_attr(type)
        from .dense_lists import Lists

        lists = Lists(self.lexer.input, self._element_at)
        lists.read(start)
        self._resume_from(lists.end)
        if not lists.is_closed:
            self.parse_characters("]")
        self.parse_punctuation(">", " in dense attribute")
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            type = self._parse_dense_literal_type()
        return lists.attribute(type, self._element, self._current_token.span)

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        """As xDSL reads it; a list of plain numbers, behind the type and a colon, at once."""
        start = self._current_token.span.start
        self.parse_characters("<", " in dense array")
        element = self.parse_attribute()
        if self._current_token.text == ":":
            from .dense_lists import dense_array

            if (found := dense_array(self.lexer.input.content, self._current_token.span.end, element)) is not None:
                attribute, end = found
                self._resume_from(end)
                self.parse_characters(">", " in dense array")
                return attribute
        self._resume_from(start)
        return super()._parse_builtin_densearray_attr()

    def _parse_optional_array_attr(self) -> ArrayAttr | None:
        """As xDSL reads it; numbers of one type at once."""
        if self._current_token.kind == MLIRTokenKind.L_SQUARE:
            from .typed_lists import typed_list

            start = self._current_token.span.start
            if (found := typed_list(self.lexer.input.content, start, self._type_at)) is not None:
                attribute, end = found
                self._resume_from(end)
                return attribute
            self._resume_from(start)
        return super()._parse_optional_array_attr()

    def _type_at(self, position: int) -> Attribute:
        """The type that stands at `position`."""
        self._resume_from(position)
        return self.parse_type()

    def _next_list(self) -> int | None:
        """Where a list begins behind the current token, if one does."""
        gap = MLIRLexer._whitespace_regex.match(self.lexer.input.content, self._current_token.span.end)  # pyright: ignore[reportPrivateUsage]
        assert gap is not None
        return gap.end() if self.lexer.input.at(gap.end()) == "[" else None

    def _element_at(self, position: int) -> tuple[Number, Span[str]]:
        """The element of a literal that begins at `position`."""
        self._resume_from(position)
        element = self._parse_tensor_literal_element()
        return element.value, element.span

    def _element(self, value: Number, span: Span[str], type: AnyDenseElement) -> Number:
        """What a number of a literal is as an element of a type."""
        return self._TensorLiteralElement(not isinstance(value, tuple) and value < 0, value, span).to_type(self, type)

    def _check_dense(self, type: RankedStructure[AnyDenseElement], span: Span) -> None:
        """One value that stands for all elements is repeated for each of them when it is read."""
        size = prod(type.get_shape()) * type.element_type.compile_time_size
        if size > MAX_DENSE_BYTES:
            hint = "`relay.full` and `relay.broadcast_to` fill tensors of any size" if type.name == "tensor" else None
            raise Diagnostic(f"a literal of {size} bytes is too large", Place.of_span(span), hint=hint)

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        span = self._current_token.span
        attribute = super().parse_optional_builtin_int_or_float_attr()
        if isinstance(attribute, FloatAttr) and isinstance(attribute.type, Float80Type | Float128Type):
            raise Diagnostic(f"numbers of type {attribute.type} are not supported", Place.of_span(span))
        return attribute

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
            hint = hint or "`weft-opt --show-dialects` lists those that can be compiled"
            raise Diagnostic(f"operation '{name}' is of no registered dialect", place, hint=hint)
        candidates = [op.name for op in self.ctx.loaded_ops]
        hint = did_you_mean(name, [c for c in candidates if "." not in name or c.startswith(f"{dialect}.")])
        hint = self._whole_name(name) or hint or did_you_mean(name, candidates)
        if hint is None and "." not in name:
            is_value = self._current_token.kind == MLIRTokenKind.EQUAL
            hint = f"values begin with '%', as in %{name} = ..." if is_value else NO_MLIR
        raise Diagnostic(f"operation '{name}' is not registered", place, hint=hint)

    def _whole_name(self, name: str) -> str | None:
        """What is meant by the name of an operation without its dialect, as older texts of MLIR have it."""
        whole = [f"{start}.{name}" for start in WITHOUT_DIALECT if "." not in name]
        known = [each for each in whole if self.ctx.get_optional_op(each) is not None]
        return f"did you mean {' or '.join(map(repr, known))}?" if known else None

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        name, values = operand.operand_name, self.ssa_values.get(operand.operand_name)
        if values is None:
            self._first_uses.setdefault(name, (operand.span, self.ssa_values))
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
        if (known := self.ssa_values.get(name)) is not None:
            first = next(filter(None, map(_definition_place, known)), None)
            notes = [Note("the first one stands here", first)] if first is not None else ()
            raise Diagnostic(f"there is another value '%{name}'", Place.of_span(span), notes=notes)
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
        use, known = self._first_uses[name]
        near = did_you_mean(f"%{name}", [f"%{other}" for other in known])
        return Diagnostic(f"value '%{name}' is used but not defined", Place.of_span(use), hint=near)

    def _place(self) -> Place:
        return Place.of_span(self._current_token.span)

    def _location(self, position: int) -> FileLineColLoc:
        line = bisect_right(self._line_starts, position)
        return FileLineColLoc(self._file, self._number(line), self._number(position - self._line_starts[line - 1] + 1))

    def _number(self, number: int) -> IntAttr:
        if (attribute := self._numbers.get(number)) is None:
            attribute = self._numbers[number] = IntAttr(number)
        return attribute


MAX_DENSE_BYTES = 1 << 30
"""The largest literal tensor that is read."""

WITHOUT_DIALECT = ("relay", "relay.nn", "func", "tir", "arith", "memref", "scf", "cf")
"""What names of operations may lack at their beginning."""

NO_MLIR = "modules hold operations, as relay.func @main(%x: tensor<4xf32>); is this another kind of file?"

_OF_REGIONS = ("expected an operation, a block or '}'", "expected an operation")
"""Messages about what stands in a region, and not about the operation around it."""

_REWORDED = {
    "Could not parse entire input!": "expected an operation",
    "in block definition": "expected an operation, a block or '}'",
    "Expected suffix identifier after {first_char}": "a name is expected behind this",
    "Expected shape type.": "a type is expected here",
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


def _is_about_a_token(error: Exception) -> bool:
    """Whether an exception is about the number or type that was just read, and not about an operation as a whole."""
    return isinstance(error, NotImplementedError | OverflowError | MemoryError) or _has_too_many_digits(error)


def _has_too_many_digits(error: Exception) -> bool:
    return isinstance(error, ValueError) and "integer string conversion" in str(error)


def _is_raised_by_xdsl(error: Exception) -> bool:
    """Whether one of xDSL's own operations has failed, which some do for what they should refuse."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__", "")).startswith("xdsl.")


def _diagnostic(error: Exception, place: Place, op_name: str | None = None) -> Diagnostic:
    """What went wrong while the text at `place` was read."""
    if _has_too_many_digits(error):
        return Diagnostic("a number of so many digits is not read", place)
    if isinstance(error, ValueError | UnregisteredConstructException) and not isinstance(error, Diagnostic):
        diagnostic = Diagnostic(str(error), place)
    elif isinstance(error, OverflowError):
        return Diagnostic("a number is too large for its type", place)
    elif isinstance(error, NotImplementedError):
        return Diagnostic(f"this cannot be read: {str(error)[:1].lower()}{str(error)[1:]}".rstrip(": "), place)
    elif isinstance(error, MemoryError):
        return Diagnostic("there is not enough memory to read this", place)
    elif (known := as_diagnostic(error, place)) is not None:
        diagnostic = known
        diagnostic.message = _REWORDED.get(diagnostic.message, diagnostic.message)
    else:
        from .plugins import blamed

        if (told := blamed(error)) is not None:
            return told
        if _is_raised_by_xdsl(error):
            named = "'" + op_name.strip('"') + "'" if op_name is not None else "this"
            return Diagnostic(f"{named} cannot be read: {type(error).__name__}: {error}", place)
        return InternalError(f"{type(error).__name__} while this was parsed: {error}", place)
    if isinstance(error, MultipleSpansParseError) and diagnostic.message.startswith("region ends with missing block"):
        use = error.refs[0][0]
        return Diagnostic(f"block '{use.text}' is used but not defined", Place.of_span(use))
    if op_name is not None and diagnostic.place is place:
        op_name = op_name.strip('"')
        diagnostic.message = f"'{op_name}': {diagnostic.message}"
        diagnostic.hint = diagnostic.hint or f"`weft-opt --explain {op_name}` describes the operation"
    return diagnostic

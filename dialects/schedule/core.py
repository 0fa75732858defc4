"""What all instructions of a schedule have in common: handles, how they are written, and the sequence that holds them.

An instruction is declared by its signature, two words of kinds such as `block loop` or `loop value*`, what it takes and
what it gives, and by its properties. It is written with its operands, then what else it needs, then how many handles it
gives where that varies:

    %i, %j = schedule.get_loops %b -> 2
    %i_0, %i_1 = schedule.split %i, [?, 16] -> 2
    %n = schedule.sample_categorical {candidates = [1, 2], probs = [0.5, 0.5], decision = 0}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Block, ParametrizedAttribute, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..support.diagnostics import UsageError, did_you_mean
from ..support.python_values import attribute_of


@irdl_attr_definition
class BlockType(ParametrizedAttribute, TypeAttribute):
    """A block of the function that is scheduled."""

    name = "schedule.block"


@irdl_attr_definition
class LoopType(ParametrizedAttribute, TypeAttribute):
    """A loop of the function that is scheduled."""

    name = "schedule.loop"


@irdl_attr_definition
class ValueType(ParametrizedAttribute, TypeAttribute):
    """An integer that a sampling instruction has decided."""

    name = "schedule.value"


KINDS: dict[str, Attribute] = {"block": BlockType(), "loop": LoopType(), "value": ValueType()}
TYPES: list[type[Attribute]] = [BlockType, LoopType, ValueType]
I64 = IntegerAttr.constr(i64)


OpT = TypeVar("OpT", bound="Instruction")


class Instruction(IRDLOperation):
    """One step of a schedule: a question, a choice or a primitive."""

    TAKES: ClassVar[str] = ""
    """Kinds of the operands: `loop`, `block|loop`; the last may end in `*` (any number) or `+` (at least one)."""
    GIVES: ClassVar[str] = ""
    """Kinds of the results: several by name, or one with `*`."""
    SHOWN: ClassVar[tuple[str, ...]] = ()
    """The properties that are written behind the operands, without their names."""
    CHANGES: ClassVar[bool] = True
    """Whether it may change a function; questions and choices do not."""

    inputs = var_operand_def()
    outputs = var_result_def()

    @classmethod
    def of(cls, *operands: SSAValue, results: int | None = None, **properties: object) -> Self:
        """An instruction; properties that are `None` are left out.

        Raises:
            UsageError: there is no attribute for a property's value.
        """
        try:
            made = {name: attribute_of(value) for name, value in properties.items() if value is not None}
        except (TypeError, VerifyException) as error:
            raise UsageError(f"{cls.name}: {error}") from None
        return cls(operands=[operands], result_types=[cls._result_types(results)], properties=made)

    @classmethod
    def _result_types(cls, count: int | None) -> list[Attribute]:
        if cls.GIVES.endswith("*"):
            return [KINDS[cls.GIVES[:-1]]] * (count or 0)
        return [KINDS[kind] for kind in cls.GIVES.split()]

    @property
    def word(self) -> str:
        """The name of the primitive, without that of the dialect."""
        return self.name.partition(".")[2]

    @classmethod
    def kinds_at(cls, position: int) -> tuple[str, ...]:
        """Which kinds of handle stand at a position among the operands; none where there are not so many."""
        words = cls.TAKES.split()
        if position < len(words):
            return tuple(words[position].rstrip("*+").split("|"))
        return tuple(words[-1][:-1].split("|")) if words and words[-1][-1] in "*+" else ()

    def verify_(self) -> None:
        if not isinstance(self.parent_op(), SequenceOp):
            raise VerifyException("stands outside of a schedule.sequence")
        words = self.TAKES.split()
        least = sum(not word.endswith("*") for word in words)
        many = bool(words) and words[-1][-1] in "*+"
        if not (least <= len(self.inputs) and (many or len(self.inputs) == least)):
            raise VerifyException(f"takes {self.TAKES or 'no handles'}, not {len(self.inputs)} handles")
        for position, value in enumerate(self.inputs):
            kinds = self.kinds_at(position)
            if value.type not in [KINDS[kind] for kind in kinds]:
                raise VerifyException(f"takes a {' or a '.join(kinds)} as handle {position}, not a {value.type}")
        expected = self._result_types(len(self.outputs))
        if [value.type for value in self.outputs] != expected:
            raise VerifyException(f"gives {self.GIVES or 'no handles'}")
        self.verify_parameters()

    def verify_parameters(self) -> None:
        """What an instruction asks of its own properties."""

    # the text

    def print(self, printer: Printer) -> None:
        self.print_arguments(printer)
        parameters = {name: value for name, value in self.properties.items() if name not in self.SHOWN}
        if parameters:
            printer.print_string(" {")
            for number, (name, value) in enumerate(parameters.items()):
                printer.print_string(f"{', ' if number else ''}{name} = ")
                print_parameter(printer, value)
            printer.print_string("}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        if self.GIVES.endswith("*"):
            printer.print_string(f" -> {len(self.outputs)}")

    def print_arguments(self, printer: Printer) -> None:
        """The operands, and the properties that are shown."""
        separator = " "
        for value in self.inputs:
            printer.print_string(separator)
            printer.print_ssa_value(value)
            separator = ", "
        for name in self.SHOWN:
            printer.print_string(separator)
            print_parameter(printer, self.properties[name])
            separator = ", "

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands, properties = cls.parse_arguments(parser)
        known = [*cls.get_irdl_definition().properties]
        if parser.parse_optional_punctuation("{"):
            while True:
                start = parser.pos
                name = parser.parse_identifier("a parameter's name")
                if name not in known:
                    hint = did_you_mean(name, known)
                    parser.raise_error(
                        f"schedule.{cls.name.partition('.')[2]} has no parameter '{name}'"
                        + (f"; {hint}" if hint else f"; it has {', '.join(known) or 'none'}"),
                        start,
                        start + len(name),
                    )
                parser.parse_punctuation("=")
                properties[name] = parser.parse_attribute()
                if parser.parse_optional_punctuation(",") is None:
                    break
            parser.parse_punctuation("}")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        count = None
        if cls.GIVES.endswith("*"):
            parser.parse_punctuation("->")
            count = parser.parse_integer(allow_boolean=False, allow_negative=False)
        op = cls(operands=[operands], result_types=[cls._result_types(count)], properties=properties)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    @classmethod
    def parse_arguments(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        """What `print_arguments` prints."""
        operands: list[SSAValue] = []
        properties: dict[str, Attribute] = {}
        shown = list(cls.SHOWN)
        while True:
            # an instruction without operands is followed by the results of the next one
            value = parse_handle(parser, cls, len(operands)) if cls.TAKES else None
            if value is not None:
                operands.append(value)
            elif shown:
                properties[shown.pop(0)] = parser.parse_attribute()
            else:
                break
            if parser.parse_optional_punctuation(",") is None:
                break
        return operands, properties


def instruction(takes: str = "", *, gives: str = "", shown: tuple[str, ...] = ()) -> Callable[[type[OpT]], type[OpT]]:
    """Define a class as the instruction of its name (`ComputeAtOp` as `schedule.compute_at`), with its signature: the
    kinds of handles that it takes and gives, and the properties that are written without their names."""

    def define(cls: type[OpT]) -> type[OpT]:
        words = re.findall("[A-Z][a-z]*", cls.__name__.removesuffix("Op"))
        cls.name = f"schedule.{'_'.join(words).lower()}"
        defined = irdl_op_definition(cls)
        defined.TAKES, defined.GIVES, defined.SHOWN = takes, gives, shown
        return defined

    return define


def parse_handle(parser: Parser, op: type[Instruction], position: int) -> SSAValue | None:
    """A handle, if one follows: of the type that it has, or of the one that `op` takes there."""
    unresolved = parser.parse_optional_unresolved_operand()
    if unresolved is None:
        return None
    values: Any = parser.ssa_values.get(unresolved.operand_name, ())
    if unresolved.index < len(values):
        return parser.resolve_operand(unresolved, values[unresolved.index].type)
    return parser.resolve_operand(unresolved, KINDS[(op.kinds_at(position) or ("loop",))[0]])


def print_parameter(printer: Printer, value: Attribute) -> None:
    """An attribute, integers without their type."""
    match value:
        case IntegerAttr() if value.type == i64:
            printer.print_string(str(value.value.data))
        case ArrayAttr():
            printer.print_string("[")
            for number, item in enumerate(value.data):
                printer.print_string(", " if number else "")
                print_parameter(printer, item)
            printer.print_string("]")
        case _:
            printer.print_attribute(value)


@irdl_op_definition
class SequenceOp(IRDLOperation):
    """A schedule: instructions that are applied one after the other, to the function that it names. Counterpart of
    TVM's `Trace`.

    Without a function's name it is for any function that has the blocks it asks for.

    ```mlir
    schedule.sequence @tiled on @matmul {
      %c = schedule.get_block @c
      %i, %j, %k = schedule.get_loops %c -> 3
      %j_0, %j_1 = schedule.split %j, [?, 16] -> 2
      schedule.reorder %j_0, %i, %k, %j_1
      schedule.vectorize %j_1
    }
    ```
    """

    name = "schedule.sequence"

    sym_name = prop_def(StringAttr)
    function = opt_prop_def(FlatSymbolRefAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    def __init__(self, name: str, function: str | None = None, body: Region | None = None):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                **({} if function is None else {"function": SymbolRefAttr(function)}),
            },
            regions=[Region(Block()) if body is None else body],
        )

    @property
    def function_name(self) -> str | None:
        """The function that is to be scheduled."""
        return None if self.function is None else self.function.string_value()

    @property
    def instructions(self) -> list[Instruction]:
        return [op for op in self.body.block.ops if isinstance(op, Instruction)]

    def verify_(self) -> None:
        if self.body.block.args:
            raise VerifyException("a schedule's body has no arguments")
        for op in self.body.block.ops:
            if not isinstance(op, Instruction):
                raise VerifyException(f"holds instructions of the schedule dialect only, not '{op.name}'")

    @classmethod
    def parse(cls, parser: Parser) -> SequenceOp:
        name = parser.parse_symbol_name()
        function = parser.parse_symbol_name().data if parser.parse_optional_keyword("on") else None
        attributes = parser.parse_optional_attr_dict_with_keyword(("sym_name", "function"))
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        op = cls(name.data, function, body)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.function_name is not None:
            printer.print_string(" on ")
            printer.print_symbol_name(self.function_name)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


HANDLE = StringAttr("%")
"""In a list of factors: the next operand."""

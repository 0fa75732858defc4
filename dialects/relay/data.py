"""Algebraic data types: what they are made by, and what tells their values apart.

A type is defined once, with what it is made of left open (`!relay.param<"T">`), and used with types in their place:
`!relay.adt<@list, [tensor<f32>]>`. A definition may refer to itself and to others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr, TensorType, TupleType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_attr_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    Pure,
    RecursivelySpeculatable,
    RecursiveMemoryEffect,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..support.blame import OperandError, misfit
from ..support.hints import isa
from ..support.operations import irdl_op_definition
from .base import DYNAMIC, Fusion, FusionPattern, tensor
from .regions import EndsInYield, check_yields
from .types import AdtType, ParamType, substituted, type_params

DEFAULT = "_"
"""The name that a `relay.match` keeps its `default` under."""


@irdl_op_definition
class AdtOp(IRDLOperation):
    """Define a data type: its parameters, and its constructors with the types of their fields.

    Counterpart of Relay's `TypeData`.

    ```mlir
    relay.adt @list<"T"> {
      nil(),
      cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)
    }
    ```
    """

    name = "relay.adt"

    sym_name = prop_def(StringAttr)
    params = prop_def(ArrayAttr[StringAttr])
    constructors = prop_def(ArrayAttr[StringAttr])
    fields = prop_def(ArrayAttr[ArrayAttr[Attribute]])

    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, params: Sequence[str], constructors: Mapping[str, Sequence[Attribute]]):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "params": ArrayAttr([StringAttr(each) for each in params]),
                "constructors": ArrayAttr([StringAttr(each) for each in constructors]),
                "fields": ArrayAttr([ArrayAttr(types) for types in constructors.values()]),
            }
        )

    @property
    def names(self) -> list[str]:
        """The constructors; a constructor's place is its tag."""
        return [name.data for name in self.constructors]

    @property
    def type(self) -> AdtType:
        """The type, of its own parameters."""
        return AdtType(self.sym_name.data, [ParamType(param) for param in self.params])

    def fields_of(self, constructor: str, type: AdtType) -> list[Attribute]:
        """The types of a constructor's fields in a value of `type`.

        Raises:
            VerifyException: there is no such constructor, or `type` has another number of types than there are
                parameters.
        """
        if len(type.arguments) != len(self.params):
            raise VerifyException(
                f"{type} gives {len(type.arguments)} types, but @{type.symbol} takes {len(self.params)}"
            )
        if constructor not in self.names:
            raise VerifyException(f"@{type.symbol} has no constructor '{constructor}', only {', '.join(self.names)}")
        given = dict(zip([p.data for p in self.params], type.arguments, strict=True))
        return [substituted(each, given) for each in self.fields.data[self.names.index(constructor)]]

    def verify_(self) -> None:
        params = {param.data for param in self.params}
        if len(params) != len(self.params):
            raise VerifyException("a parameter stands twice")
        if len(set(self.names)) != len(self.names) or len(self.fields) != len(self.names):
            raise VerifyException("a constructor stands twice")
        if DEFAULT in self.names:
            raise VerifyException(f"no constructor is called '{DEFAULT}'")
        for name, fields in zip(self.names, self.fields, strict=True):
            for type in fields:
                if loose := sorted(type_params(type) - params):
                    raise VerifyException(f"'{name}' has a field of type {type}, but '{loose[0]}' is no parameter")

    @classmethod
    def parse(cls, parser: Parser) -> AdtOp:
        name = parser.parse_symbol_name()
        params = parser.parse_optional_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_str_literal)
        names: list[str] = []
        fields: list[list[Attribute]] = []

        def constructor() -> None:
            names.append(parser.parse_identifier())
            fields.append(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))

        parser.parse_comma_separated_list(parser.Delimiter.BRACES, constructor)
        op = AdtOp(name.data, params or (), {})
        op.constructors = ArrayAttr([StringAttr(each) for each in names])
        op.fields = ArrayAttr([ArrayAttr(types) for types in fields])
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.params.data:
            with printer.in_angle_brackets():
                printer.print_list(self.params.data, printer.print_attribute)
        printer.print_string(" {")
        for number, (name, types) in enumerate(zip(self.names, self.fields, strict=True)):
            printer.print_string(", " if number else "")
            printer.print_string(name)
            with printer.in_parens():
                printer.print_list(types.data, printer.print_attribute)
        printer.print_string("}")


def definition_of(user: Operation, type: Attribute) -> AdtOp:
    """The definition of a data type that `user` makes use of.

    Raises:
        VerifyException: it is no data type, or there is no definition.
    """
    if not isinstance(type, AdtType):
        raise VerifyException(f"{type} is no data type")
    definition = SymbolTable.lookup_symbol(user, type.symbol)
    if not isinstance(definition, AdtOp):
        raise VerifyException(f"there is no relay.adt @{type.symbol}")
    return definition


def _is_more_known(found: Attribute, expected: Attribute) -> bool:
    """Whether a value of a type may stand where one of another is taken, whose extents may be open."""
    match found, expected:
        case TensorType(), TensorType():
            given, wanted = tensor(found), tensor(expected)
            pairs = zip(given.get_shape(), wanted.get_shape(), strict=False)
            is_held = all(taken in (DYNAMIC, extent) for extent, taken in pairs)
            return is_held and len(given.shape) == len(wanted.shape) and given.element_type == wanted.element_type
        case TupleType(), TupleType():
            pairs = zip(found.types, expected.types, strict=False)
            return len(found.types) == len(expected.types) and all(_is_more_known(a, b) for a, b in pairs)
        case _:
            return found == expected


class _FieldsFit(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, ConstructOp)
        type = op.result.type
        assert isinstance(type, AdtType)
        wanted = definition_of(op, type).fields_of(op.constructor.data, type)
        given = [field.type for field in op.fields]
        if len(given) != len(wanted):
            raise VerifyException(f"'{op.constructor.data}' has {len(wanted)} fields, not {len(given)}")
        for number, (found, expected) in enumerate(zip(given, wanted, strict=True)):
            if not _is_more_known(found, expected):
                message = f"field {number} of '{op.constructor.data}' is {expected}, not {found}"
                raise OperandError(message, misfit(op, "fields", wanted, _is_more_known))


@irdl_op_definition
class ConstructOp(IRDLOperation):
    """Make a value of a data type. Counterpart of a call of a `Constructor`.

    ```mlir
    %s = relay.construct "some"(%x) : (tensor<f32>) -> !relay.adt<@option, [tensor<f32>]>
    ```
    """

    name = "relay.construct"

    constructor = prop_def(StringAttr)
    fields = var_operand_def()
    result = result_def(AdtType)

    assembly_format = "$constructor `(` $fields `)` attr-dict `:` functional-type($fields, $result)"
    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE), _FieldsFit())

    def __init__(self, constructor: str, fields: Sequence[SSAValue], type: AdtType):
        super().__init__(operands=[fields], result_types=[type], properties={"constructor": StringAttr(constructor)})


class _CasesFit(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, MatchOp)
        type = op.data.type
        assert isinstance(type, AdtType)
        definition = definition_of(op, type)
        for name, region in zip(op.names, op.regions, strict=True):
            wanted = [] if name == DEFAULT else definition.fields_of(name, type)
            given = [argument.type for argument in region.block.args]
            if given != wanted:
                raise VerifyException(f"the case '{name}' takes ({_listed(wanted)}), not ({_listed(given)})")
        if op.partial is None and (missing := unmatched(op, definition)):
            raise VerifyException(f"the cases do not cover @{type.symbol}: {', '.join(missing)} is not matched")


@irdl_op_definition
class MatchOp(IRDLOperation):
    """Compute one of several regions, as the constructor says that a value was made by.

    Every constructor has a case, which is given the fields, unless there is a default, or the match is `partial`: then
    it fails where it is run on others. Cases see what is defined around them. A pattern within a pattern is a match
    within a case. Counterpart of Relay's `Match`.

    ```mlir
    %y = relay.match %l : (!relay.adt<@list, [tensor<f32>]>) -> tensor<f32>
    case cons(%head: tensor<f32>, %tail: !relay.adt<@list, [tensor<f32>]>) {
      relay.yield %head : tensor<f32>
    } default {
      relay.yield %zero : tensor<f32>
    }
    ```
    """

    name = "relay.match"

    cases = prop_def(ArrayAttr[StringAttr])
    partial = opt_attr_def(UnitAttr)
    data = operand_def(AdtType)
    res = var_result_def()
    branches = var_region_def("single_block")

    traits = traits_def(
        RecursiveMemoryEffect(), RecursivelySpeculatable(), FusionPattern(Fusion.OPAQUE), EndsInYield(), _CasesFit()
    )

    def __init__(self, data: SSAValue, result_types: Sequence[Attribute], cases: Mapping[str, Region]):
        super().__init__(
            operands=[data],
            result_types=[result_types],
            properties={"cases": ArrayAttr([StringAttr(name) for name in cases])},
            regions=[list(cases.values())],
        )

    @property
    def names(self) -> list[str]:
        """The constructors of the regions, in order; `DEFAULT` for what takes all others."""
        return [name.data for name in self.cases]

    def verify_(self) -> None:
        if len(self.names) != len(self.regions):
            raise VerifyException(f"{len(self.regions)} regions for {len(self.names)} cases")
        if len(set(self.names)) != len(self.names):
            raise VerifyException("a case stands twice")
        if DEFAULT in self.names[:-1]:
            raise VerifyException("the default stands last")
        declared = [result.type for result in self.res]
        for name, region in zip(self.names, self.regions, strict=True):
            check_yields(region, declared, "the default" if name == DEFAULT else f"the case '{name}'")

    @classmethod
    def parse(cls, parser: Parser) -> MatchOp:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_type()
        if not isa(type, FunctionType) or len(type.inputs) != 1:
            parser.raise_error("expected the types of the value and the results", start, parser.pos)
        cases: dict[str, Region] = {}
        while True:
            if parser.parse_optional_keyword("default"):
                name, arguments = DEFAULT, list[Parser.Argument]()
            elif parser.parse_optional_keyword("case"):
                name = parser.parse_identifier()
                arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
            else:
                break
            if name in cases:
                parser.raise_error(f"a second case '{name}'")
            cases[name] = parser.parse_region(arguments)
        op = MatchOp(parser.resolve_operand(operand, type.inputs.data[0]), type.outputs.data, cases)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.data)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists([self.data.type], [result.type for result in self.res]))
        for name, region in zip(self.names, self.regions, strict=True):
            if name == DEFAULT:
                printer.print_string(" default ")
            else:
                printer.print_string(f" case {name}")
                with printer.in_parens():
                    printer.print_list(region.block.args, printer.print_block_argument)
                printer.print_string(" ")
            printer.print_region(region, False)


def unmatched(op: MatchOp, definition: AdtOp) -> list[str]:
    """The constructors that no case takes. Counterpart of TVM's `UnmatchedCases`."""
    return [] if DEFAULT in op.names else [name for name in definition.names if name not in op.names]


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))


def region_of(*operations: Operation, arguments: Sequence[Attribute] = ()) -> Region:
    """A region of one block, for a case."""
    return Region(Block(list(operations), arg_types=arguments))


OPS: list[type[Operation]] = [AdtOp, ConstructOp, MatchOp]
"""Data types."""

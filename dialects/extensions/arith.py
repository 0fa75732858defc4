"""The arith operations whose xDSL classes take scalars only, for vectors too; `arith.index_castui`, `arith.remf`.

Upstream's comparisons, selections and conversions work lane by lane on vectors; xDSL 0.74 declares them for scalars.
The classes here have the same names and text. Where the operands are scalars the parser makes xDSL's own operation, so
that its folders and patterns apply. Tools register `Arith` under the name `arith` in place of xDSL's dialect.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    IndexType,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..support.vector_types import as_vector, element_type, i1_like, lanes

NO_FLAGS = arith.FastMathFlagsAttr("none")

_FLOAT = AnyFloatConstr | VectorType.constr(AnyFloatConstr)
_INTEGER = SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)
_INDEX = base(IndexType) | VectorType.constr(base(IndexType))
_BIT = eq(i1) | VectorType.constr(i1)


@irdl_op_definition
class CmpiOp(IRDLOperation):
    """Comparison of integers, lane by lane on vectors.

    ```mlir
    %0 = arith.cmpi slt, %a, %b : vector<16xi32>
    ```
    """

    name = "arith.cmpi"
    T: ClassVar = VarConstraint("T", _INTEGER | _INDEX)
    predicate = prop_def(IntegerAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(_BIT)
    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue, predicate: str):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[i1_like(lhs.type)],
            properties={"predicate": IntegerAttr(arith.CMPI_COMPARISON_OPERATIONS.index(predicate), i64)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> CmpiOp | arith.CmpiOp:
        predicate, lhs, rhs = _parse_comparison(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        operands = parser.resolve_operands([lhs, rhs], [type, type], parser.pos)
        kind = CmpiOp if as_vector(type) else arith.CmpiOp
        return kind(operands[0], operands[1], predicate)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {arith.CMPI_COMPARISON_OPERATIONS[self.predicate.value.data]}, ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)


@irdl_op_definition
class CmpfOp(IRDLOperation):
    """Comparison of floats, lane by lane on vectors.

    ```mlir
    %0 = arith.cmpf olt, %a, %b fastmath<nnan> : vector<16xf32>
    ```
    """

    name = "arith.cmpf"
    T: ClassVar = VarConstraint("T", _FLOAT)
    predicate = prop_def(IntegerAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    fastmath = prop_def(arith.FastMathFlagsAttr, default_value=NO_FLAGS)
    result = result_def(_BIT)
    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue, predicate: str, fastmath: arith.FastMathFlagsAttr = NO_FLAGS):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[i1_like(lhs.type)],
            properties={
                "predicate": IntegerAttr(arith.CMPF_COMPARISON_OPERATIONS.index(predicate), i64),
                "fastmath": fastmath,
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> CmpfOp | arith.CmpfOp:
        predicate, lhs, rhs = _parse_comparison(parser)
        flags = NO_FLAGS
        if parser.parse_optional_keyword("fastmath"):
            flags = arith.FastMathFlagsAttr(arith.FastMathFlagsAttr.parse_parameter(parser))
        parser.parse_punctuation(":")
        type = parser.parse_type()
        operands = parser.resolve_operands([lhs, rhs], [type, type], parser.pos)
        kind = CmpfOp if as_vector(type) else arith.CmpfOp
        return kind(operands[0], operands[1], predicate, flags)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {arith.CMPF_COMPARISON_OPERATIONS[self.predicate.value.data]}, ")
        printer.print_list(self.operands, printer.print_operand)
        if self.fastmath != NO_FLAGS:
            printer.print_string(" fastmath")
            self.fastmath.print_parameter(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)


def _parse_comparison(parser: Parser):
    predicate = parser.parse_identifier()
    parser.parse_punctuation(",")
    lhs = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    return predicate, lhs, parser.parse_unresolved_operand()


@irdl_op_definition
class SelectOp(IRDLOperation):
    """One of two values, by a bit or, lane by lane, by a vector of bits.

    ```mlir
    %0 = arith.select %mask, %a, %b : vector<16xi1>, vector<16xf32>
    ```
    """

    name = "arith.select"
    T: ClassVar = VarConstraint("T", AnyAttr())
    cond = operand_def(_BIT)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)
    traits = traits_def(Pure())

    def __init__(self, cond: SSAValue, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[cond, lhs, rhs], result_types=[lhs.type])

    def verify_(self) -> None:
        if as_vector(self.cond.type) and lanes(self.cond.type) != lanes(self.lhs.type):
            raise VerifyException(f"condition {self.cond.type} does not have one bit per lane of {self.lhs.type}")

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp | arith.SelectOp:
        names = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            names.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        cond_type, type = i1, parser.parse_type()
        if parser.parse_optional_punctuation(","):
            cond_type, type = type, parser.parse_type()
        cond, lhs, rhs = parser.resolve_operands(names, [cond_type, type, type], parser.pos)
        kind = SelectOp if as_vector(cond_type) else arith.SelectOp
        op = kind(cond, lhs, rhs)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if as_vector(self.cond.type):
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)


class CastOp(IRDLOperation, ABC):
    """Base of the conversions: scalar to scalar, or lane by lane between vectors of one shape."""

    SCALAR: ClassVar[type[Operation] | None] = None
    """xDSL's class for the same operation on scalars."""

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, type: Attribute):
        super().__init__(operands=[value], result_types=[type])

    def verify_(self) -> None:
        source, result = self.operands[0].type, self.results[0].type
        if lanes(source) != lanes(result):
            raise VerifyException(f"{source} and {result} differ in shape")

    @classmethod
    def parse(cls, parser: Parser) -> Operation:
        name = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        result = parser.parse_type()
        kind = cls if as_vector(source) else cls.SCALAR or cls
        return kind.create(
            operands=[parser.resolve_operand(name, source)], result_types=[result], attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)


def _element_width(type: Attribute) -> int:
    element = element_type(type)
    return element.bitwidth if isinstance(element, IntegerType) else 0


class IntegerWidthOp(CastOp, ABC):
    """Base of the conversions between integer widths."""

    WIDENS: ClassVar[bool] = True
    input = operand_def(_INTEGER)
    result = result_def(_INTEGER)

    def verify_(self) -> None:
        super().verify_()
        source, result = _element_width(self.input.type), _element_width(self.result.type)
        if (source >= result) if self.WIDENS else (source <= result):
            word = "wider" if self.WIDENS else "narrower"
            raise VerifyException(f"{self.result.type} is not {word} than {self.input.type}")


@irdl_op_definition
class ExtSIOp(IntegerWidthOp):
    """Widening of signed integers: `%0 = arith.extsi %a : vector<16xi8> to vector<16xi32>`."""

    name = "arith.extsi"
    SCALAR: ClassVar[type[Operation] | None] = arith.ExtSIOp


@irdl_op_definition
class ExtUIOp(IntegerWidthOp):
    """Widening of unsigned integers: `%0 = arith.extui %a : vector<16xi8> to vector<16xi32>`."""

    name = "arith.extui"
    SCALAR: ClassVar[type[Operation] | None] = arith.ExtUIOp


@irdl_op_definition
class TruncIOp(IntegerWidthOp):
    """Narrowing of integers: `%0 = arith.trunci %a : vector<16xi32> to vector<16xi8>`."""

    name = "arith.trunci"
    SCALAR: ClassVar[type[Operation] | None] = arith.TruncIOp
    WIDENS: ClassVar[bool] = False


@irdl_op_definition
class FPToSIOp(CastOp):
    """Float to signed integer, towards zero: `%0 = arith.fptosi %a : vector<16xf32> to vector<16xi32>`."""

    name = "arith.fptosi"
    SCALAR: ClassVar[type[Operation] | None] = arith.FPToSIOp
    input = operand_def(_FLOAT)
    result = result_def(_INTEGER)


@irdl_op_definition
class FPToUIOp(CastOp):
    """Float to unsigned integer, towards zero: `%0 = arith.fptoui %a : vector<4xf32> to vector<4xi32>`."""

    name = "arith.fptoui"
    SCALAR: ClassVar[type[Operation] | None] = arith.FPToUIOp
    input = operand_def(_FLOAT)
    result = result_def(_INTEGER)


@irdl_op_definition
class SIToFPOp(CastOp):
    """Signed integer to float: `%0 = arith.sitofp %a : vector<16xi32> to vector<16xf32>`."""

    name = "arith.sitofp"
    SCALAR: ClassVar[type[Operation] | None] = arith.SIToFPOp
    input = operand_def(_INTEGER)
    result = result_def(_FLOAT)


@irdl_op_definition
class UIToFPOp(CastOp):
    """Unsigned integer to float: `%0 = arith.uitofp %a : vector<16xi32> to vector<16xf32>`."""

    name = "arith.uitofp"
    SCALAR: ClassVar[type[Operation] | None] = arith.UIToFPOp
    input = operand_def(_INTEGER)
    result = result_def(_FLOAT)


@irdl_op_definition
class IndexCastOp(CastOp):
    """Index to or from a signed integer: `%0 = arith.index_cast %a : vector<4xindex> to vector<4xi32>`."""

    name = "arith.index_cast"
    SCALAR: ClassVar[type[Operation] | None] = arith.IndexCastOp
    input = operand_def(_INTEGER | _INDEX)
    result = result_def(_INTEGER | _INDEX)


@irdl_op_definition
class IndexCastUIOp(CastOp):
    """Index to or from an unsigned integer: `%0 = arith.index_castui %a : index to i32`."""

    name = "arith.index_castui"
    SCALAR: ClassVar[type[Operation] | None] = None
    input = operand_def(_INTEGER | _INDEX)
    result = result_def(_INTEGER | _INDEX)


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """What is left of a division rounded towards zero, as C's `fmod`: `%0 = arith.remf %a, %b : vector<4xf32>`."""

    name = "arith.remf"
    traits = traits_def(Pure())


OPERATIONS: list[type[Operation]] = [
    CmpiOp,
    CmpfOp,
    SelectOp,
    ExtSIOp,
    ExtUIOp,
    TruncIOp,
    FPToSIOp,
    FPToUIOp,
    SIToFPOp,
    UIToFPOp,
    IndexCastOp,
    IndexCastUIOp,
    RemFOp,
]

_OURS = {op.name for op in OPERATIONS}

Arith = Dialect(
    "arith",
    [*(op for op in arith.Arith.operations if op.name not in _OURS), *OPERATIONS],
    list(arith.Arith.attributes),
    [arith.ArithConstantMaterializationInterface()],
)

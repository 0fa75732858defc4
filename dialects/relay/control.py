"""Control flow, function values and references.

A branch or a closure is a region that sees what is defined around it. A function value has a `builtin` function type; a
reference has the type `!relay.ref<T>`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, FunctionType, SymbolRefAttr, TensorType, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryAllocEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
    RecursivelySpeculatable,
    RecursiveMemoryEffect,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..support.blame import Blame, OperandError, misfit
from ..support.hints import isa
from ..support.operations import irdl_op_definition
from .base import Fusion, FusionPattern, compatible, tensor
from .functions import FuncOp, unknown_function, verify_places
from .regions import EndsInYield, check_yields
from .signature_syntax import Signature, parse_function, print_function
from .types import IncompleteType, bind_params, substituted, type_params
from .types import RefType as RefType


@irdl_op_definition
class IfOp(IRDLOperation):
    """Compute one of two regions, as a condition says. Counterpart of Relay's `If`.

    ```mlir
    %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
      %0 = relay.exp %x : tensor<4xf32>
      relay.yield %0 : tensor<4xf32>
    } else {
      relay.yield %x : tensor<4xf32>
    }
    ```
    """

    name = "relay.if"

    condition = operand_def(TensorType)
    res = var_result_def()
    then_region = region_def("single_block")
    else_region = region_def("single_block")

    custom_directives = (Signature,)
    assembly_format = (
        "$condition attr-dict `:` custom<Signature>(type($condition), type($res)) $then_region `else` $else_region"
    )
    traits = traits_def(RecursiveMemoryEffect(), RecursivelySpeculatable(), FusionPattern(Fusion.OPAQUE), EndsInYield())

    def __init__(self, condition: SSAValue, result_types: Sequence[Attribute], then: Region, otherwise: Region):
        super().__init__(operands=[condition], result_types=[result_types], regions=[then, otherwise])

    def verify_(self) -> None:
        if self.condition.type != TensorType(i1, []):
            blame = Blame(0, "condition", "tensor<i1>", str(self.condition.type))
            raise OperandError(f"the condition is a tensor<i1>, not {self.condition.type}", blame)
        declared = [result.type for result in self.res]
        for region, what in ((self.then_region, "the first region"), (self.else_region, "the second region")):
            if region.block.args:
                raise VerifyException(f"{what} has arguments: it sees what is defined around it")
            check_yields(region, declared, what)


@irdl_op_definition
class FnOp(IRDLOperation):
    """A function value, with what its region sees around it. Counterpart of a Relay `Function` that is no global one.

    Marked `primitive` it is a kernel made by fusion.

    ```mlir
    %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.add %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %0 : tensor<4xf32>
    }
    ```
    """

    name = "relay.fn"

    result = result_def(FunctionType)
    body = region_def("single_block")

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE), EndsInYield())

    def __init__(self, type: FunctionType, body: Region | None = None):
        super().__init__(result_types=[type], regions=[Region(Block(arg_types=type.inputs)) if body is None else body])

    @property
    def function_type(self) -> FunctionType:
        type = self.result.type
        assert isinstance(type, FunctionType)
        return type

    def verify_(self) -> None:
        if tuple(argument.type for argument in self.body.block.args) != self.function_type.inputs.data:
            raise VerifyException(f"the region's arguments differ from the type {self.function_type}")
        check_yields(self.body, self.function_type.outputs.data, "the region")
        verify_places(self.attributes, self.function_type)

    @classmethod
    def parse(cls, parser: Parser) -> FnOp:
        type, body, attributes = parse_function(parser)
        op = FnOp(type, body)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        print_function(printer, self.body, self.function_type.outputs.data, self.attributes)


@irdl_op_definition
class ApplyOp(IRDLOperation):
    """Call a function value. A global function is called by `relay.call`.

    ```mlir
    %y = relay.apply %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "relay.apply"

    callee = operand_def(FunctionType)
    arguments = var_operand_def()
    res = var_result_def()

    traits = traits_def(FusionPattern(Fusion.OPAQUE))

    def __init__(self, callee: SSAValue, arguments: Sequence[SSAValue]):
        type = callee.type
        results = type.outputs.data if isinstance(type, FunctionType) else [IncompleteType()]
        super().__init__(operands=[callee, arguments], result_types=[results])

    def verify_(self) -> None:
        type = self.callee.type
        assert isinstance(type, FunctionType)
        blame = misfit(self, "arguments", type.inputs.data, compatible)
        for what, values, declared in (
            ("operands", self.arguments, type.inputs.data),
            ("results", self.res, type.outputs.data),
        ):
            given = [value.type for value in values]
            if len(given) != len(declared) or not all(map(compatible, given, declared)):
                message = f"the {what} ({', '.join(map(str, given))}) do not match the function {type}"
                raise OperandError(message, blame)

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        callee = parser.parse_unresolved_operand()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_type()
        if not isa(type, FunctionType):
            parser.raise_error("expected the type of the function", start, parser.pos)
        if len(arguments) != len(type.inputs):
            parser.raise_error(f"{len(arguments)} operands for {type}", start, parser.pos)
        operands = [parser.resolve_operand(a, t) for a, t in zip(arguments, type.inputs, strict=True)]
        op = ApplyOp(parser.resolve_operand(callee, type), operands)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.callee)
        with printer.in_parens():
            printer.print_list(self.arguments, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.callee.type)


class _ClosureSymbolUser(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, ClosureOp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(callee, FuncOp):
            raise unknown_function(op, op.callee)
        given, type = [value.type for value in op.captured], op.result.type
        assert isinstance(type, FunctionType)
        whole = FunctionType.from_lists([*given, *type.inputs.data], type.outputs.data)
        declared, bound = callee.function_type, dict[str, Attribute]()
        if type_params(declared) and bind_params([declared], [whole], bound):
            declared = substituted(declared, bound)
        if not compatible(whole, declared):
            assert isinstance(declared, FunctionType)
            message = f"{op.callee} is {callee.function_type}; with what is given, {whole} is wanted"
            raise OperandError(message, misfit(op, "captured", declared.inputs.data[: len(given)], compatible))


@irdl_op_definition
class ClosureOp(IRDLOperation):
    """A function value made of a global function, whose first arguments are given; the others are those of a call.

    `lambda-lift` makes these of `relay.fn`. Counterpart of a `GlobalVar` that is passed, and of the closure that TVM's
    lifted functions return.

    ```mlir
    %f = relay.closure @add_to(%x) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
    ```
    """

    name = "relay.closure"

    callee = prop_def(FlatSymbolRefAttrConstr)
    captured = var_operand_def()
    result = result_def(FunctionType)

    custom_directives = (Signature,)
    assembly_format = "$callee `(` $captured `)` attr-dict `:` custom<Signature>(type($captured), type($result))"
    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE), _ClosureSymbolUser())

    def __init__(self, callee: str, captured: Sequence[SSAValue], type: FunctionType | IncompleteType):
        super().__init__(operands=[captured], result_types=[type], properties={"callee": SymbolRefAttr(callee)})


@irdl_op_definition
class RefCreateOp(IRDLOperation):
    """Make a reference, which holds a value.

    ```mlir
    %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
    ```
    """

    name = "relay.ref_create"

    value = operand_def(AnyAttr())
    result = result_def(RefType)

    custom_directives = (Signature,)
    assembly_format = "$value attr-dict `:` custom<Signature>(type($value), type($result))"
    traits = traits_def(MemoryAllocEffect(), FusionPattern(Fusion.OPAQUE))

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value], result_types=[RefType(value.type)])

    def verify_(self) -> None:
        _check_reference(self.result, self.value)


@irdl_op_definition
class RefReadOp(IRDLOperation):
    """The value that a reference holds.

    ```mlir
    %x = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
    ```
    """

    name = "relay.ref_read"

    ref = operand_def(RefType)
    result = result_def(AnyAttr())

    custom_directives = (Signature,)
    assembly_format = "$ref attr-dict `:` custom<Signature>(type($ref), type($result))"
    traits = traits_def(MemoryReadEffect(), FusionPattern(Fusion.OPAQUE))

    def __init__(self, ref: SSAValue):
        type = ref.type
        super().__init__(operands=[ref], result_types=[type.of if isinstance(type, RefType) else IncompleteType()])

    def verify_(self) -> None:
        _check_reference(self.ref, self.result)


@irdl_op_definition
class RefWriteOp(IRDLOperation):
    """Put a value into a reference.

    ```mlir
    relay.ref_write %r, %x : !relay.ref<tensor<4xf32>>, tensor<4xf32>
    ```
    """

    name = "relay.ref_write"

    ref = operand_def(RefType)
    value = operand_def(AnyAttr())

    assembly_format = "$ref `,` $value attr-dict `:` type($ref) `,` type($value)"
    traits = traits_def(MemoryWriteEffect(), FusionPattern(Fusion.OPAQUE))

    def __init__(self, ref: SSAValue, value: SSAValue):
        super().__init__(operands=[ref, value])

    def verify_(self) -> None:
        _check_reference(self.ref, self.value)


@irdl_op_definition
class SetRowOp(IRDLOperation):
    """The data with another row at a place, which must be within.

    Where nothing needs the data any more it is changed where it stands, so that a loop that gathers rows takes as long
    for each, however many there are.

    `y = x.copy(); y[i] = r`

    ```mlir
    %y = relay.set_row %x, %i, %r : (tensor<?x4xf32>, tensor<i64>, tensor<4xf32>) -> tensor<?x4xf32>
    ```
    """

    name = "relay.set_row"

    data = operand_def(TensorType)
    place = operand_def(TensorType)
    row = operand_def(TensorType)
    result = result_def(TensorType)

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"
    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))

    def __init__(self, data: SSAValue, place: SSAValue, row: SSAValue):
        super().__init__(operands=[data, place, row], result_types=[data.type])

    def verify_(self) -> None:
        data, row = tensor(self.data), tensor(self.row)
        if self.place.type != TensorType(i64, []):
            blame = Blame(1, "place", "tensor<i64>", str(self.place.type))
            raise OperandError(f"the place is a tensor<i64>, not {self.place.type}", blame)
        shape = data.get_shape()
        wanted = TensorType(data.element_type, shape[1:])
        if not shape or not compatible(wanted, row):
            blame = Blame(2, "row", str(wanted), str(row)) if shape else None
            raise OperandError(f"{row} is no row of {data}", blame)
        if not compatible(data, self.result.type):
            raise VerifyException(f"{data} with another row is not {self.result.type}")


def _check_reference(ref: SSAValue, value: SSAValue) -> None:
    if ref.type != (wanted := RefType(value.type)):
        raise VerifyException(f"a reference to {value.type} has the type {wanted}, not {ref.type}")


OPS: list[type[Operation]] = [IfOp, FnOp, ApplyOp, ClosureOp, RefCreateOp, RefReadOp, RefWriteOp, SetRowOp]
"""Control flow, function values, references."""

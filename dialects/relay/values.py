"""Constants and tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    IntegerAttr,
    TensorType,
    TupleType,
    i64,
)
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import (
    ConstantLike,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from ..support.dtypes import scalar_type
from ..support.hints import isa
from ..support.interned import integer_attribute, tensor_of
from ..support.looks import by_looks
from ..support.operations import irdl_op_definition
from .attributes import Later, ResourceAttr, array_to_attribute, attribute_to_array, resource_later, tensor_type_of
from .base import Fusion, FusionPattern
from .types import IncompleteType, tuple_type

if TYPE_CHECKING:
    from .attributes import NDArray


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A tensor known at compile time. Small ones stand in the text, large ones are resources.

    ```mlir
    %c = relay.constant dense<2.0> : tensor<f32>
    ```
    """

    name = "relay.constant"

    value = prop_def(AnyAttr())
    result = result_def(TensorType)

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: Attribute, type: TensorType[Attribute]):
        Operation.__init__(self, result_types=[type], properties={"value": value})

    @staticmethod
    def from_numpy(array: NDArray, name: str = "constant") -> ConstantOp:
        """A constant that holds `array`; `name` becomes part of a resource's key."""
        return ConstantOp(array_to_attribute(array, name), tensor_type_of(array))

    @staticmethod
    def later(pending: Later, name: str = "constant") -> ConstantOp:
        """A constant that holds an array which is not made yet; `name` becomes part of its key."""
        type = tensor_of(scalar_type(pending.dtype), pending.shape)
        return ConstantOp(resource_later(pending, name), type)

    @property
    def pending(self) -> Later | None:
        """What makes the data, as long as nobody has asked for them."""
        return self.value.data.pending if isinstance(self.value, ResourceAttr) else None

    def numpy(self) -> NDArray | None:
        """The data; `None` for a resource that was not loaded. Do not write to it."""
        return attribute_to_array(self.value, self.result.type)

    def seen(self) -> NDArray | None:
        """The data, perhaps in another order in memory; `None` for a resource that was not loaded. Do not write to
        it."""
        return self.value.data.seen if isinstance(self.value, ResourceAttr) else self.numpy()

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        value = parser.parse_attribute()
        from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

        if isa(value, DenseIntOrFPElementsAttr):
            type: Attribute = value.get_type()  # `dense<...> : type` carries it
        else:
            parser.parse_punctuation(":")
            type = parser.parse_type()
        if not isa(type, TensorType):
            parser.raise_error("the type of relay.constant must be a tensor")
        op = ConstantOp(value, type)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)
        if not isinstance(self.value, DenseIntOrFPElementsAttr):
            printer.print_string(" : ")
            printer.print_attribute(self.result.type)


@irdl_op_definition
class TupleOp(IRDLOperation):
    """Make a tuple of values.

    ```mlir
    %t = relay.tuple(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
    ```
    """

    name = "relay.tuple"

    fields = var_operand_def()
    result = result_def(TupleType)

    assembly_format = "`(` $fields `)` attr-dict `:` functional-type($fields, $result)"
    traits = traits_def(Pure(), FusionPattern(Fusion.TUPLE))

    def __init__(self, *fields: SSAValue):
        types = cast("list[TypeAttribute]", [f.type for f in fields])
        super().__init__(operands=[list(fields)], result_types=[tuple_type(*types)])

    @by_looks()
    def verify_(self) -> None:
        if [*self.result.type.types] != [f.type for f in self.fields]:
            raise VerifyException(f"the tuple's type {self.result.type} differs from its fields'")


@irdl_op_definition
class TupleGetOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """One field of a tuple. Counterpart of Relay's `TupleGetItem`.

    ```mlir
    %x = relay.tuple_get %t[1] : tuple<tensor<4xf32>, tensor<8xf32>> -> tensor<8xf32>
    ```
    """

    name = "relay.tuple_get"

    tuple = operand_def(TupleType)
    index = prop_def(IntegerAttr.constr(i64))
    result = result_def()

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, tuple: SSAValue, index: int):
        type = tuple.type
        Operation.__init__(
            self,
            operands=[tuple],
            result_types=[type.types.data[index] if isinstance(type, TupleType) else IncompleteType()],
            properties={"index": integer_attribute(index, 64)},
        )

    @by_looks()
    def verify_(self) -> None:
        type = self.tuple.type
        assert isinstance(type, TupleType)
        index = self.index.value.data
        if not 0 <= index < len(type.types):
            raise VerifyException(f"field {index} of a tuple of {len(type.types)}")
        if type.types.data[index] != self.result.type:
            raise VerifyException(f"field {index} has type {type.types.data[index]}, not {self.result.type}")

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (TakeFieldOfTuple(),)

    @classmethod
    def parse(cls, parser: Parser) -> TupleGetOp:
        operand = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parser.parse_integer(allow_boolean=False, allow_negative=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_punctuation("->")
        result = parser.parse_type()
        op = TupleGetOp.create(
            operands=[parser.resolve_operand(operand, type)],
            result_types=[result],
            properties={"index": IntegerAttr(index, i64)},
            attributes=attributes,
        )
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.tuple)
        with printer.in_square_brackets():
            printer.print_int(self.index.value.data)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tuple.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


class TakeFieldOfTuple(RewritePattern):
    """A field of a tuple that is made right here is the value it was made of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TupleGetOp, rewriter: PatternRewriter):
        if isinstance(made := op.tuple.owner, TupleOp):
            rewriter.replace(op, [], [made.fields[op.index.value.data]])

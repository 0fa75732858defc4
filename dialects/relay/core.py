"""Relay's own structure: functions, calls, constants, tuples, and the regions that fusion makes.

A graph is SSA: `let` is an operation's result, sharing is a second use. Tensors are `tensor` types, tuples `tuple`
types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnitAttr,
    i64,
)
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    ConstantLike,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    OpTrait,
    Pure,
    RecursivelySpeculatable,
    RecursiveMemoryEffect,
    SymbolOpInterface,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ..support.kernels import CallsKernel, KernelCall
from ..support.operations import irdl_op_definition
from .attributes import array_to_attribute, attribute_to_array, tensor_type_of
from .base import Fusion, FusionPattern, NonComputational, compatible, flatten_types, is_static
from .devices import DeviceError, check_places
from .signature_syntax import Signature
from .types import bind_params, substituted, type_params

if TYPE_CHECKING:
    from .attributes import NDArray


class _FuncCallable(CallableOpInterface):
    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, FuncOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.outputs.data


def verify_places(attributes: Mapping[str, Attribute], type: FunctionType) -> None:
    """Check what a function says of the devices of its arguments and results.

    Raises:
        VerifyException: it is no list of as many devices.
    """
    try:
        check_places(attributes, type)
    except DeviceError as error:
        raise VerifyException(error.message) from None


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A global function. Counterpart of a `Function` in TVM's `IRModule`.

    Attributes that passes know: `primitive` (made by fusion: compiled to one kernel), and, as in TVM, `Compiler`,
    `Extern`, `SkipOptimization`, at which function passes leave the function alone.

    ```mlir
    relay.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
      %y = relay.nn.relu %x : tensor<1x8xf32>
      relay.return %y : tensor<1x8xf32>
    }
    ```
    """

    name = "relay.func"

    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), _FuncCallable())

    def __init__(
        self,
        name: str,
        function_type: FunctionType,
        body: Region | None = None,
        *,
        private: bool = False,
        attributes: dict[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": function_type,
                **({"sym_visibility": StringAttr("private")} if private else {}),
            },
            attributes=attributes or {},
            regions=[Region(Block(arg_types=function_type.inputs)) if body is None else body],
        )

    @property
    def is_primitive(self) -> bool:
        return "primitive" in self.attributes

    @property
    def return_op(self) -> ReturnOp:
        last = self.body.block.last_op
        assert isinstance(last, ReturnOp)
        return last

    def verify_(self) -> None:
        block = self.body.block
        if tuple(a.type for a in block.args) != self.function_type.inputs.data:
            raise VerifyException(f"the body's arguments differ from the function type of @{self.sym_name.data}")
        if not isinstance(block.last_op, ReturnOp):
            raise VerifyException(f"the body of @{self.sym_name.data} does not end in relay.return")
        verify_places(self.attributes, self.function_type)

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        private = parser.parse_optional_keyword("private") is not None
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        outputs: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("->"):
            listed = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            outputs = (parser.parse_type(),) if listed is None else listed
        attributes = parser.parse_optional_attr_dict_with_keyword(("sym_name", "function_type", "sym_visibility"))
        body = parser.parse_region(arguments)
        op = FuncOp(
            name.data,
            FunctionType.from_lists([a.type for a in arguments], outputs),
            body,
            private=private,
            attributes=dict(attributes.data) if attributes is not None else None,
        )
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" private " if self.sym_visibility is not None else " ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        outputs = self.function_type.outputs.data
        if outputs:
            printer.print_string(" -> ")
            if len(outputs) == 1 and not isinstance(outputs[0], FunctionType):
                printer.print_attribute(outputs[0])
            else:
                with printer.in_parens():
                    printer.print_list(outputs, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, False)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """End a function with its results."""

    name = "relay.return"

    arguments = var_operand_def()

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"
    traits = traits_def(IsTerminator(), HasParent(FuncOp), Pure())

    def __init__(self, *arguments: SSAValue | Operation):
        super().__init__(operands=[list(arguments)])

    def verify_(self) -> None:
        function = self.parent_op()
        assert isinstance(function, FuncOp)
        type = function.properties.get("function_type")
        if not isinstance(type, FunctionType):
            return  # the function is wrong
        declared = type.outputs.data
        given = tuple(a.type for a in self.arguments)
        if len(declared) != len(given) or not all(map(compatible, given, declared)):
            raise VerifyException(
                f"returns ({', '.join(map(str, given))}), but @{function.sym_name.data} is declared to return "
                f"({', '.join(map(str, declared))})"
            )


class _CallSymbolUser(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        from xdsl.traits import SymbolTable

        assert isinstance(op, CallOp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"there is no relay.func {op.callee}")
        inputs, outputs = callee.function_type.inputs.data, callee.function_type.outputs.data
        bound: dict[str, Attribute] = {}
        given = [value.type for value in (*op.arguments, *op.results)]
        if type_params(callee.function_type) and bind_params([*inputs, *outputs], given, bound):
            inputs, outputs = ([substituted(type, bound) for type in types] for types in (inputs, outputs))
        if len(inputs) != len(op.arguments) or not all(map(compatible, [a.type for a in op.arguments], inputs)):
            raise VerifyException(f"the call's operands do not match the inputs of {op.callee}: {callee.function_type}")
        if len(outputs) != len(op.results) or not all(map(compatible, [r.type for r in op.results], outputs)):
            raise VerifyException(f"the call's results do not match the outputs of {op.callee}: {callee.function_type}")


@irdl_op_definition
class CallOp(IRDLOperation):
    """Call a global function.

    ```mlir
    %y = relay.call @fused_nn_relu(%x) : (tensor<1x8xf32>) -> tensor<1x8xf32>
    ```
    """

    name = "relay.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()
    res = var_result_def()

    custom_directives = (Signature,)
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` custom<Signature>(type($arguments), type($res))"
    traits = traits_def(_CallSymbolUser(), FusionPattern(Fusion.OPAQUE))

    def __init__(self, callee: str, arguments: Sequence[SSAValue], result_types: Sequence[Attribute]):
        super().__init__(
            operands=[arguments], result_types=[result_types], properties={"callee": SymbolRefAttr(callee)}
        )


class _CallLoweredCallsKernel(CallsKernel):
    def call(self, op: Operation) -> KernelCall | None:
        callee = op.properties.get("callee")
        if not isinstance(callee, SymbolRefAttr):
            return None
        inputs, outputs = ([v.type for v in values] for values in (op.operands, op.results))
        copies, updates = ("copies" in op.properties, "updates" in op.properties)
        return KernelCall(op, callee.string_value(), inputs, outputs, copies, updates)


@irdl_op_definition
class CallLoweredOp(IRDLOperation):
    """Call a `tir.prim_func` on tensors: the kernel's buffers are the operands, then the results.

    Counterpart of TVM's `call_lowered`. It stands in `@main` from the `tir` phase until the `loops` phase gives every
    tensor its place in memory. `copies` says that all the kernel does is to lay its operands one after the other in
    memory, a reshape or a concatenation, so that there is no need to call it where they lie so already. `updates` says
    that results are memory of the caller's, of which the kernel may read what is there, and need not write all.

    ```mlir
    %y = relay.call_lowered @fused_nn_relu(%x) : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %z = relay.call_lowered @fused_reshape(%y) {copies} : (tensor<1x8xf32>) -> tensor<2x4xf32>
    ```
    """

    name = "relay.call_lowered"

    callee = prop_def(FlatSymbolRefAttrConstr)
    copies = opt_prop_def(UnitAttr)
    updates = opt_prop_def(UnitAttr)
    arguments = var_operand_def(TensorType)
    res = var_result_def(TensorType)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"
    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE), NonComputational(), _CallLoweredCallsKernel())

    def __init__(
        self,
        callee: str,
        arguments: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        *,
        copies: bool = False,
        updates: bool = False,
    ):
        said = {"copies": copies, "updates": updates}
        super().__init__(
            operands=[arguments],
            result_types=[result_types],
            properties={"callee": SymbolRefAttr(callee), **{key: UnitAttr() for key, is_so in said.items() if is_so}},
        )

    def verify_(self) -> None:
        if self.copies is None:
            return
        if len(self.res) != 1:
            raise VerifyException(f"copies give one tensor, not {len(self.res)}")
        given, result = flatten_types([a.type for a in self.arguments]), flatten_types([self.res[0].type])[0]
        sizes = [prod(type.get_shape()) for type in given]
        static = all(map(is_static, (*given, result)))
        if any(type.element_type != result.element_type for type in given) or (
            static and sum(sizes) != prod(result.get_shape())
        ):
            raise VerifyException(f"({', '.join(map(str, given))}) one after the other are not {result}")


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
        super().__init__(result_types=[type], properties={"value": value})

    @staticmethod
    def from_numpy(array: NDArray, name: str = "constant") -> ConstantOp:
        """A constant that holds `array`; `name` becomes part of a resource's key."""
        return ConstantOp(array_to_attribute(array, name), tensor_type_of(array))

    def numpy(self) -> NDArray | None:
        """The data; `None` for a resource that was not loaded. Do not write to it."""
        return attribute_to_array(self.value, self.result.type)  # pyright: ignore[reportArgumentType]

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
        super().__init__(operands=[list(fields)], result_types=[TupleType(ArrayAttr(types))])

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
        assert isinstance(tuple.type, TupleType)
        super().__init__(
            operands=[tuple],
            result_types=[tuple.type.types.data[index]],
            properties={"index": IntegerAttr(index, i64)},
        )

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


class EndsInYield(OpTrait):
    """Regions of the operation end in `relay.yield`."""


class TakeFieldOfTuple(RewritePattern):
    """A field of a tuple that is made right here is the value it was made of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TupleGetOp, rewriter: PatternRewriter):
        if isinstance(made := op.tuple.owner, TupleOp):
            rewriter.replace(op, [], [made.fields[op.index.value.data]])


@irdl_op_definition
class PrimitiveOp(IRDLOperation):
    """A group of operators that FuseOps put together: it becomes one kernel.

    The region sees only its arguments. Counterpart of a Relay function with `Primitive=1` at its call site.

    `reshape_only` says that the kernel moves no data: its result is its operand's memory under another shape.

    ```mlir
    %y = relay.primitive(%x) : (tensor<1x8xf32>) -> tensor<1x8xf32> {
    ^bb0(%p0: tensor<1x8xf32>):
      %0 = relay.exp %p0 : tensor<1x8xf32>
      %1 = relay.nn.relu %0 : tensor<1x8xf32>
      relay.yield %1 : tensor<1x8xf32>
    }
    ```
    """

    name = "relay.primitive"

    arguments = var_operand_def()
    res = var_result_def()
    body = region_def("single_block")
    reshape_only = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $arguments `)` attr-dict `:` functional-type($arguments, $res) $body"
    traits = traits_def(
        IsolatedFromAbove(),
        RecursiveMemoryEffect(),
        RecursivelySpeculatable(),
        FusionPattern(Fusion.OPAQUE),
        EndsInYield(),
    )

    def __init__(
        self,
        arguments: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        body: Region,
        *,
        reshape_only: bool = False,
    ):
        super().__init__(
            operands=[arguments],
            result_types=[result_types],
            regions=[body],
            properties={"reshape_only": UnitAttr()} if reshape_only else {},
        )

    @property
    def yield_op(self) -> YieldOp:
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last

    @property
    def computes(self) -> bool:
        """Whether there is an operator inside, not only tuples, fields of tuples, and constants: TVM's `Primitive`."""
        return any(not isinstance(op, ConstantOp | TupleOp | TupleGetOp | YieldOp) for op in self.body.block.ops)

    def verify_(self) -> None:
        block = self.body.block
        if tuple(a.type for a in block.args) != tuple(a.type for a in self.arguments):
            raise VerifyException("the arguments of the region differ from the operands' types")
        check_yields(self.body, [result.type for result in self.res], "the region")


@irdl_op_definition
class YieldOp(IRDLOperation):
    """End a region of `relay.primitive`, `relay.if` or `relay.fn` with its results."""

    name = "relay.yield"

    arguments = var_operand_def()

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"
    traits = traits_def(IsTerminator(), Pure())

    def __init__(self, *arguments: SSAValue):
        super().__init__(operands=[list(arguments)])

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is None or not parent.has_trait(EndsInYield):
            where = "alone" if parent is None else f"in '{parent.name}'"
            raise VerifyException(f"ends a region of relay.primitive, relay.if or relay.fn, but stands {where}")


def check_yields(region: Region, declared: Sequence[Attribute], what: str) -> None:
    """Check that the one block of `region` ends in a `relay.yield` of values of the declared types.

    Raises:
        VerifyException: it does not; `what` names the region.
    """
    last = region.block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"{what} does not end in relay.yield")
    given = [argument.type for argument in last.arguments]
    if len(given) != len(declared) or not all(map(compatible, given, declared)):
        wanted = ", ".join(map(str, declared))
        raise VerifyException(f"{what} yields ({', '.join(map(str, given))}), but its results are ({wanted})")


OPS: list[type[Operation]] = [
    FuncOp, ReturnOp, CallOp, CallLoweredOp, ConstantOp, TupleOp, TupleGetOp, PrimitiveOp, YieldOp,
]  # fmt: skip
"""The structural operations of the dialect."""

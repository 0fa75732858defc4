"""Calls of global functions, and of the kernels that they become."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    Pure,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..support.blame import OperandError, misfit
from ..support.kernels import CallsKernel, KernelCall
from ..support.looks import by_looks
from ..support.operations import irdl_op_definition
from ..support.symbols import lookup_symbol
from .base import Fusion, FusionPattern, NonComputational, compatible, flatten_types, is_static
from .functions import FuncOp, unknown_function
from .signature_syntax import Signature
from .types import bind_params, substituted, type_params

if TYPE_CHECKING:
    pass


SYMBOLS = "symbols"
"""The attribute of a call of a kernel that says which of the graph's symbols are the kernel's, by number."""


class _CallSymbolUser(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        callee = lookup_symbol(op, op.callee)
        if not isinstance(callee, FuncOp):
            raise unknown_function(op, op.callee)
        inputs, outputs = callee.function_type.inputs.data, callee.function_type.outputs.data
        bound: dict[str, Attribute] = {}
        given = [value.type for value in (*op.arguments, *op.results)]
        if type_params(callee.function_type) and bind_params([*inputs, *outputs], given, bound):
            inputs, outputs = ([substituted(type, bound) for type in types] for types in (inputs, outputs))
        if len(inputs) != len(op.arguments) or not all(map(compatible, [a.type for a in op.arguments], inputs)):
            message = f"the call's operands do not match the inputs of {op.callee}: {callee.function_type}"
            raise OperandError(message, misfit(op, "arguments", inputs, compatible))
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
        start = op.properties.get("start")
        copied_from = start.value.data if isinstance(start, IntegerAttr) else 0
        copies = copied_from if "copies" in op.properties else None
        sizes = None if SYMBOLS in op.attributes else _sizes(op)
        return KernelCall(op, callee.string_value(), inputs, outputs, copies, "updates" in op.properties, sizes)


def _sizes(op: Operation) -> tuple[int, ...]:
    sizes = op.properties.get("sizes")
    return tuple(int(n) for n in sizes.get_values()) if isinstance(sizes, DenseArrayBase) else ()


@irdl_op_definition
class CallLoweredOp(IRDLOperation):
    """Call a `tir.prim_func` on tensors: the kernel's buffers are the operands, then the results.

    Counterpart of TVM's `call_lowered`. It stands in `@main` from the `tir` phase until the `loops` phase gives every
    tensor its place in memory. `copies` says that all the kernel does is to lay its operands one after the other in
    memory, a reshape or a concatenation, so that there is no need to call it where they lie so already; with `start`
    it lays there what one operand has from that element on. `updates` says that results are memory of the caller's, of
    which the kernel may read what is there, and need not write all. `sizes` are the numbers that the kernel is passed
    as its symbols; where they are extents that a graph does not know yet, `symbols` says which of the graph's.

    ```mlir
    %y = relay.call_lowered @fused_nn_relu(%x) : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %z = relay.call_lowered @fused_reshape(%y) {copies} : (tensor<1x8xf32>) -> tensor<2x4xf32>
    %a = relay.call_lowered @fused_strided_slice(%z) {copies, start = 4 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %b = relay.call_lowered @fused_exp(%a) {sizes = array<i64: 1>} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    ```
    """

    name = "relay.call_lowered"

    callee = prop_def(FlatSymbolRefAttrConstr)
    copies = opt_prop_def(UnitAttr)
    start = opt_prop_def(IntegerAttr.constr(i64))
    updates = opt_prop_def(UnitAttr)
    sizes = opt_prop_def(DenseArrayBase.constr(i64))
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
        copies: int | None = None,
        updates: bool = False,
        sizes: Sequence[int] = (),
    ):
        """`copies`: the element of the arguments from which the kernel copies, where it does nothing else; `sizes`:
        what it is passed as its symbols."""
        said = {"copies": copies is not None, "updates": updates}
        super().__init__(
            operands=[arguments],
            result_types=[result_types],
            properties={"callee": SymbolRefAttr(callee), **{key: UnitAttr() for key, is_so in said.items() if is_so}},
        )
        if copies:
            self.start = IntegerAttr(copies, i64)
        if sizes:
            self.sizes = DenseArrayBase.from_list(i64, sizes)

    @property
    def passed_sizes(self) -> tuple[int, ...]:
        """The numbers that the kernel is passed as its symbols."""
        return _sizes(self)

    @property
    def copied_from(self) -> int | None:
        """The element of the arguments from which the kernel copies; `None` where it does something else."""
        if self.copies is None:
            return None
        return 0 if self.start is None else self.start.value.data

    @by_looks()
    def verify_(self) -> None:
        if self.sizes is not None and SYMBOLS in self.attributes:
            raise VerifyException(f"a kernel is passed numbers, 'sizes', or a graph's symbols, '{SYMBOLS}', not both")
        if self.copies is None:
            if self.start is not None:
                raise VerifyException("'start' is of what copies, and this is not said to")
            return
        if len(self.res) != 1:
            raise VerifyException(f"copies give one tensor, not {len(self.res)}")
        given, result = flatten_types([a.type for a in self.arguments]), flatten_types([self.res[0].type])[0]
        sizes = [prod(type.get_shape()) for type in given]
        static = all(map(is_static, (*given, result)))
        start, count = self.copied_from or 0, prod(result.get_shape())
        if (start and (not static or len(given) != 1)) or start < 0:
            raise VerifyException(f"({', '.join(map(str, given))}) has no elements from {start} on that are known")
        if static and len(given) == 1 and start + count <= sizes[0]:
            sizes = [count]
        if any(type.element_type != result.element_type for type in given) or (
            static and sum(sizes) != prod(result.get_shape())
        ):
            raise VerifyException(f"({', '.join(map(str, given))}) one after the other are not {result}")


@irdl_op_definition
class ViewOp(IRDLOperation):
    """The same memory under another shape with as many elements, where extents are known when the graph runs.

    It stands in `@main` from the `tir` phase on, as `relay.call_lowered` does.

    ```mlir
    %y = relay.view %x : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
    ```
    """

    name = "relay.view"

    source = operand_def(TensorType)
    result = result_def(TensorType)

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"
    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE), NonComputational())

    def __init__(self, source: SSAValue, type: Attribute):
        super().__init__(operands=[source], result_types=[type])

    @by_looks()
    def verify_(self) -> None:
        given, seen = flatten_types([self.source.type])[0], flatten_types([self.result.type])[0]
        static = is_static(given) and is_static(seen)
        if given.element_type != seen.element_type or (static and prod(given.get_shape()) != prod(seen.get_shape())):
            raise VerifyException(f"{given} and {seen} are not as many elements of one type")


@irdl_op_definition
class ReadExtentOp(IRDLOperation):
    """From here on the graph's symbol of the number `symbol` is what stands in `source`: data has decided it.

    It stands in `@main` from the `tir` phase on. The source is among what the function returns.

    ```mlir
    relay.read_extent %n {symbol = 1 : i64} : tensor<1xi64>
    ```
    """

    name = "relay.read_extent"

    source = operand_def(TensorType)
    symbol = prop_def(IntegerAttr.constr(i64))

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source attr-dict `:` type($source)"
    traits = traits_def(FusionPattern(Fusion.OPAQUE), NonComputational())

    def __init__(self, source: SSAValue, symbol: int):
        super().__init__(operands=[source], properties={"symbol": IntegerAttr(symbol, i64)})

    @by_looks()
    def verify_(self) -> None:
        if self.source.type != TensorType(i64, [1]):
            raise VerifyException(f"an extent stands in a tensor<1xi64>, not in {self.source.type}")

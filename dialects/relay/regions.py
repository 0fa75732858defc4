"""Regions that end in `relay.yield`, and the one that fusion makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    UnitAttr,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    OpTrait,
    Pure,
    RecursivelySpeculatable,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from ..support.blame import OperandError, misfit
from ..support.interned import integer_attribute
from ..support.operations import irdl_op_definition
from .base import Fusion, FusionPattern, compatible
from .functions import COMPILER, COMPOSITE
from .values import ConstantOp, TupleGetOp, TupleOp


class EndsInYield(OpTrait):
    """Regions of the operation end in `relay.yield`."""


PARTITIONED = "PartitionedFromPattern"
"""The attribute that says which operators a pattern has found."""

FOUND = frozenset({COMPILER, COMPOSITE, PARTITIONED})
"""Attributes of regions that are found by patterns, and not made by fusion."""


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
    def function_attributes(self) -> Mapping[str, Attribute]:
        """The attributes of the function that TVM has here: fusion marks it `Primitive`, patterns do not."""
        given = dict(self.attributes)
        if not FOUND & given.keys():
            given["Primitive"] = integer_attribute(1, 64)
        if self.reshape_only is not None:
            given["relay.reshape_only"] = integer_attribute(1, 64)
        return given

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
        message = f"{what} yields ({', '.join(map(str, given))}), but its results are ({wanted})"
        raise OperandError(message, misfit(last, "arguments", declared, compatible), last)

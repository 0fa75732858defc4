"""Multiply floats of 16 bits as those of 32.

    %y = relay.nn.dense %x, %w : f16     ->     %0 = relay.cast %x {dtype = "float32"}
                                                %1 = relay.cast %w {dtype = "float32"}
                                                %2 = relay.nn.dense %0, %1 : f32
                                                %y = relay.cast %2 {dtype = "float16"}

Products of halves are summed in 32 bits anyway, and rounded once: the numbers are the same, but where a convolution is
computed by minimal filtering then. Those that `out_dtype` has summed in 64 bits stay as they are.

What a product reads many times is converted once instead of each time, weights when the graph is compiled, which take
twice the memory for it. So a product that reads its factor only a few times, whose speed is the memory's, stays as it
is, and so do products for which the processor has instructions: `types` are those for which it has none.

ONNX Runtime does so on processors. TVM's `Legalize` rules for ARM widen bytes in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr, TensorType, f32
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import DYNAMIC, RelayOp, Value, shape_of, tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.precision import Precision
from ...dialects.support.dtypes import dtype_name
from ..infra import FunctionPass, report_changed
from ..infra.walk import walk
from .emitter import Emitter

NARROW = ("float16", "bfloat16")

FEW = 3
"""Products for each element of the second factor below which it is not converted. Measured: bench/README.md, "functions
side by side"."""


@dataclass(frozen=True)
class WidenProductsPass(FunctionPass):
    """Options: `types`, those that are widened, of `float16` and `bfloat16`."""

    name = "widen-products"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    types: tuple[str, ...] = NARROW

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := [each for each in self.types if each not in NARROW]:
            raise ValueError(f"the option 'types' has float16 and bfloat16, not {unknown[0]!r}")

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        changed = False
        for op in list(walk(func)):
            if isinstance(op, RelayOp) and op.precision() is Precision.ALWAYS and self._is_narrow(op):
                _widen(op)
                changed = True
        report_changed(changed)

    def _is_narrow(self, op: RelayOp) -> bool:
        types = [*op.operand_types, *op.result_types]
        if len(op.results) != 1 or len(op.operands) < 2 or not all(isinstance(type, TensorType) for type in types):
            return False
        if dtype_name(tensor(op.results[0]).element_type) not in (*NARROW, "float32"):
            return False
        elements = {tensor(operand).element_type for operand in op.operands}
        return len(elements) == 1 and dtype_name(elements.pop()) in self.types and _is_read_often(op)


def _is_read_often(op: RelayOp) -> bool:
    """Whether elements of the second factor are read several times, or may be."""
    if any(DYNAMIC in shape_of(value) for value in op.operands):
        return True
    return op.macs() >= FEW * prod(shape_of(op.operands[1]))


def _widen(op: RelayOp) -> None:
    emit = Emitter()
    known: dict[SSAValue, SSAValue] = {}
    for operand in op.operands:
        if operand not in known:
            known[operand] = emit(CastOp(operand, dtype="float32"))
    properties: dict[str, Value] = dict(op.properties)
    if "out_dtype" in properties:
        properties["out_dtype"] = StringAttr("")  # as the factors
    wide = emit(type(op)(*(known[operand] for operand in op.operands), **properties))
    narrow: Attribute = tensor(op.results[0]).element_type
    value = wide if narrow == f32 else emit(CastOp(wide, dtype=dtype_name(narrow)))
    emit.insert_before(op)
    op.results[0].replace_all_uses_with(value)
    op.detach()
    op.erase()

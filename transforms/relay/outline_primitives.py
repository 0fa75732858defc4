"""Turn each `relay.primitive` into a call of a private function; equal ones share it.

    %1 = relay.primitive(%x) {              %1 = relay.call @fused_exp_nn_relu(%x)
    ^bb0(%p0):                        ->    ...
      %0 = relay.exp %p0                    relay.func private @fused_exp_nn_relu(%p0) attributes {primitive} {
      %1 = relay.nn.relu %0                   %0 = relay.exp %p0
      relay.yield %1                          %1 = relay.nn.relu %0
    }                                         relay.return %1
                                            }

Two regions are equal if they have the same operations with the same operands, attributes and types; names of values
and locations do not matter. A region in which nothing is computed (tuples and their fields) is put back in place.

Names are TVM's: `fused_` and the operators' names, cut at 80 characters with a digest of the whole, then made unique.

Counterpart of the compile cache of TVM's `LowerTE`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FunctionType, ModuleOp, UnitAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, PrimitiveOp, ReturnOp, TupleGetOp, TupleOp, YieldOp
from ...dialects.relay.functions import is_for
from ..infra import ModulePass, remarks, report_changed
from ..infra.walk import erase, walk
from .fuse_ops import FuseOpsPass
from .symbol_names import SymbolNames

MAX_NAME_LENGTH = 80
"""TVM's limit on the readable part of a name."""


@dataclass(frozen=True)
class OutlinePrimitivesPass(ModulePass):
    """`relay.primitive` -> `relay.call` of a private `relay.func`."""

    name = "outline-primitives"
    required: ClassVar[tuple[str, ...]] = ("fuse-ops",)
    preserves: ClassVar[tuple[str, ...]] = ("*",)

    put_back: bool = True
    """Put back what computes nothing; TVM makes functions of that, too."""

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return FuseOpsPass.holds_in(module) and not _primitives(module)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        primitives = _primitives(op)
        names = SymbolNames(op)
        outlined: dict[Hashable, FuncOp] = {}
        for primitive in primitives:
            if self.put_back and not primitive.computes:
                inline_primitive(primitive)
                continue
            key = structural_key(primitive)
            function = outlined.get(key)
            if function is None:
                function = outlined[key] = _function_of(primitive, names.unique(_readable_name(primitive)))
                op.body.block.add_op(function)
            else:
                remarks.passed(self.name, primitive, f"shares @{function.sym_name.data}")
            _replace_by_call(primitive, function)
        report_changed(bool(primitives))


def _primitives(module: ModuleOp) -> list[PrimitiveOp]:
    """The regions of a module; those in functions for other compilers are for these."""
    return [op for top in module.ops if not is_for(top) for op in walk(top) if isinstance(op, PrimitiveOp)]


def inline_primitive(primitive: PrimitiveOp) -> None:
    """Put the operations of a region in the place of the `relay.primitive`."""
    block, end = primitive.body.block, primitive.yield_op
    for argument, operand in zip(block.args, primitive.arguments, strict=True):
        argument.replace_all_uses_with(operand)
    results = list(end.arguments)
    erase(end)
    parent = primitive.parent
    assert parent is not None
    for op in list(block.ops):
        op.detach()
        parent.insert_op_before(op, primitive)
    for result, value in zip(primitive.results, results, strict=True):
        result.replace_all_uses_with(value)
    erase(primitive)


def structural_key(primitive: PrimitiveOp) -> Hashable:
    """A key that two regions share if and only if they do the same: equal operations, attributes, types and wiring."""
    numbers: dict[SSAValue, int] = {}

    def number(values: tuple[SSAValue, ...]) -> tuple[Attribute, ...]:
        for value in values:
            numbers[value] = len(numbers)
        return tuple(value.type for value in values)

    key: list[Hashable] = [_attributes(primitive), number(tuple(primitive.body.block.args))]
    for op in walk(primitive):
        if op is primitive:
            continue
        operands = tuple(numbers[operand] for operand in op.operands)
        arguments = tuple(number(tuple(block.args)) for region in op.regions for block in region.blocks)
        shape = tuple(tuple(len(block.ops) for block in region.blocks) for region in op.regions)
        key.append((op.name, operands, _attributes(op), number(tuple(op.results)), arguments, shape))
    return tuple(key)


def _attributes(op: Operation) -> Hashable:
    return frozenset(op.properties.items()), frozenset(op.attributes.items())


def _readable_name(primitive: PrimitiveOp) -> str:
    """`fused_nn_conv2d_add_nn_relu`."""
    operators = (
        op.name.removeprefix("relay.").replace(".", "_")
        for op in primitive.body.block.ops
        if not isinstance(op, ConstantOp | TupleOp | TupleGetOp | YieldOp)
    )
    name = "_".join(("fused", *operators))
    if len(name) <= MAX_NAME_LENGTH:
        return name
    return f"{name[:MAX_NAME_LENGTH]}_{hashlib.blake2b(name.encode(), digest_size=8).hexdigest()}_"


def _function_of(primitive: PrimitiveOp, name: str) -> FuncOp:
    """A private function with the body of `primitive`, which is left without one."""
    end = primitive.yield_op
    function_type = FunctionType.from_lists([a.type for a in primitive.arguments], [r.type for r in primitive.results])
    attributes: dict[str, Attribute] = {"primitive": UnitAttr()}
    result = ReturnOp(*end.arguments)
    result.location = end.location
    block = primitive.body.block
    erase(end)
    block.add_op(result)
    function = FuncOp(name, function_type, primitive.detach_region(0), private=True, attributes=attributes)
    function.location = primitive.location
    for argument, operand in zip(function.body.block.args, primitive.arguments, strict=True):
        if argument.location == UNKNOWN_LOC:
            made_by = operand if isinstance(operand, BlockArgument) else operand.owner
            assert not isinstance(made_by, Block)
            argument.location = made_by.location
    return function


def _replace_by_call(primitive: PrimitiveOp, function: FuncOp) -> None:
    call = CallOp(function.sym_name.data, primitive.arguments, [r.type for r in primitive.results])
    call.attributes.update(primitive.attributes)
    call.location = primitive.location
    block = primitive.parent
    assert block is not None
    block.insert_op_before(call, primitive)
    for old, new in zip(primitive.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    erase(primitive)

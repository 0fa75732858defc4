"""Turn each `relay.primitive` into a call of a private function; equal ones share it.

    %1 = relay.primitive(%x) {              %1 = relay.call @fused_exp_nn_relu(%x)
    ^bb0(%p0):                        ->    ...
      %0 = relay.exp %p0                    relay.func private @fused_exp_nn_relu(%p0) attributes {primitive} {
      %1 = relay.nn.relu %0                   %0 = relay.exp %p0
      relay.yield %1                          %1 = relay.nn.relu %0
    }                                         relay.return %1
                                            }

Two regions are equal if they have the same operations with the same operands, attributes and types; names of values
and locations do not matter. With `pass-scalars`, nor do scalars that are added or multiplied, as the scales of
quantised layers are: where regions differ in such, the function takes them as arguments, and is compiled once, however
many layers there are. A region in which nothing is computed (tuples and their fields) is put back in place.

Names are TVM's: `fused_` and the operators' names, cut at 80 characters with a digest of the whole, then made unique.

Counterpart of the compile cache of TVM's `LowerTE`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FunctionType, ModuleOp, UnitAttr, f32, f64, i32, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ...dialects.relay.base import tensor
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, PrimitiveOp, ReturnOp, TupleGetOp, TupleOp, YieldOp
from ...dialects.relay.functions import is_for
from ...dialects.relay.ops.broadcast import AddOp, DivideOp, MaximumOp, MinimumOp, MultiplyOp, SubtractOp
from ...dialects.support.unique_names import unique_symbols
from ..infra import ModulePass, remarks, report_changed
from ..infra.walk import erase, walk
from .fuse_ops import FuseOpsPass

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
    pass_scalars: bool = False
    """Have regions share a function that differ only in scalars which are added or multiplied; TVM's do not."""

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return FuseOpsPass.holds_in(module) and not _primitives(module)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        primitives = _primitives(op)
        names = unique_symbols(op)
        alike: dict[Hashable, list[PrimitiveOp]] = {}
        for primitive in primitives:
            if self.put_back and not primitive.computes:
                inline_primitive(primitive)
            else:
                if self.pass_scalars:
                    take_in_scalars(primitive)
                alike.setdefault(structural_key(primitive, self.pass_scalars), []).append(primitive)
        for group in alike.values():
            if self.pass_scalars:
                pass_differing_scalars(group)
            name = names.new(_readable_name(group[0]))
            op.body.block.add_op(function := _function_of(group[0], name))
            for number, primitive in enumerate(group):
                if number:
                    remarks.passed(self.name, primitive, f"shares @{name}")
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


TAKES_SCALARS = (AddOp, SubtractOp, MultiplyOp, DivideOp, MaximumOp, MinimumOp)
"""What computes with a scalar as fast where that is an argument as where it is known. Other operators choose how to
compute by it: a power of two is a product."""


def passable_scalars(primitive: PrimitiveOp) -> list[ConstantOp]:
    """The scalars of a region, in order, that its function may take as arguments."""
    return [op for op in primitive.body.block.ops if isinstance(op, ConstantOp) and _is_passable(op)]


def _is_passable(op: ConstantOp, value: SSAValue | None = None) -> bool:
    """Whether a constant, or a region's argument that is one, may be an argument as well as not."""
    type = tensor(op.result)
    if type.get_shape() or type.element_type not in (i32, i64, f32, f64):
        return False
    return all(isinstance(use.operation, TAKES_SCALARS) for use in (op.result if value is None else value).uses)


def take_in_scalars(primitive: PrimitiveOp) -> None:
    """Have a region hold the scalars that it is given: whether it is alike to another does not depend on who else has
    them."""
    block = primitive.body.block
    for argument, operand in reversed([*zip(block.args, primitive.arguments, strict=True)]):
        scalar = operand.owner
        if not isinstance(scalar, ConstantOp) or not _is_passable(scalar, argument):
            continue
        users = {use.operation for use in argument.uses}
        if (first := next((op for op in block.ops if op in users), None)) is None:
            continue
        block.insert_op_before(held := scalar.clone(), first)
        held.location = scalar.location
        argument.replace_all_uses_with(held.result)
        held.result.name_hint = scalar.result.name_hint
        primitive.operands = [each for n, each in enumerate(primitive.operands) if n != argument.index]
        block.erase_arg(argument)
        if operand.first_use is None:
            erase(scalar)


def pass_differing_scalars(group: Sequence[PrimitiveOp]) -> None:
    """Make arguments of those scalars in which regions differ that are equal otherwise."""
    for scalars in zip(*map(passable_scalars, group), strict=True):
        if all(scalar.properties == scalars[0].properties for scalar in scalars):
            continue
        for primitive, scalar in zip(group, scalars, strict=True):
            block, parent = primitive.body.block, primitive.parent
            assert parent is not None
            argument = block.insert_arg(scalar.result.type, len(block.args))
            argument.name_hint = f"p{argument.index}"
            argument.location = scalar.location
            scalar.result.replace_all_uses_with(argument)
            scalar.detach()
            parent.insert_op_before(scalar, primitive)
            primitive.operands = [*primitive.operands, scalar.result]


def structural_key(primitive: PrimitiveOp, pass_scalars: bool = False) -> Hashable:
    """A key that two regions share if and only if they do the same: equal operations, attributes, types and wiring; but
    for the values of `passable_scalars`, if these may be passed."""
    passable = set(passable_scalars(primitive)) if pass_scalars else set[ConstantOp]()
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
        told = None if op in passable else _attributes(op)
        key.append((op.name, operands, told, number(tuple(op.results)), arguments, shape))
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

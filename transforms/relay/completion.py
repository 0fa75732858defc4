"""Types that were left open, found: `!relay.incomplete` replaced by what follows from the values that are known by now.

    %x = ... : tensor<4xf32>
    %0 = relay.exp %x : !relay.incomplete     ->     %0 = relay.exp %x : tensor<4xf32>

Python makes graphs from variables without a type, and calls functions that it has not seen yet. When a variable is
bound, or a function becomes known, what is computed from it is looked at again, in order, and again for as long as
something is found: functions that call each other say of one another what they give.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, TupleType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import RelayOp
from ...dialects.relay.control import ApplyOp, ClosureOp, FnOp, RefCreateOp, RefReadOp
from ...dialects.relay.core import CallOp, FuncOp, TupleGetOp, TupleOp, YieldOp
from ...dialects.relay.nn_common import tuple_type
from ...dialects.relay.types import RefType, is_complete
from ...dialects.support.diagnostics import Diagnostic


def complete(op: Operation, functions: Mapping[str, FuncOp] | None = None) -> bool:
    """Find the types of the results of `op`, and of all in it. Whether one was found.

    Raises:
        Diagnostic: an operator does not fit its operands, as their types are known now.
    """
    known = functions or {}
    changed = any([complete(inner, known) for region in op.regions for block in region.blocks for inner in block.ops])
    if isinstance(op, ApplyOp | CallOp):
        changed |= _complete_callee(op, known)
    if isinstance(op, RelayOp):
        changed |= _complete_variables(op)
    if all(is_complete(result.type) for result in op.results):
        return changed
    try:
        for result, type in zip(op.results, _types(op, known), strict=False):
            changed |= _set(result, type)
        if isinstance(op, RelayOp) and all(is_complete(result.type) for result in op.results):
            op.verify_()
    except VerifyException as error:
        raise Diagnostic.at(op, str(error)) from None
    return changed


def complete_module(module: ModuleOp) -> None:
    """Find the types in the functions of a module.

    Raises:
        Diagnostic: an operator does not fit its operands, as their types are known now.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    if all(map(_is_whole, functions.values())):
        return
    for _ in range(4 * len(functions) + 4):  # a type that would contain itself is not found, ever
        if not any([_complete_function(func, functions) for func in functions.values()]):
            return


def _is_whole(func: FuncOp) -> bool:
    return all(is_complete(result.type) for op in func.walk() for result in op.results) and is_complete(
        func.function_type
    )


def _complete_function(func: FuncOp, functions: Mapping[str, FuncOp]) -> bool:
    changed = complete(func, functions)
    inputs = [argument.type for argument in func.body.block.args]
    given = zip(func.return_op.arguments, func.function_type.outputs.data, strict=True)
    outputs = [declared if is_complete(declared) else value.type for value, declared in given]
    type = FunctionType.from_lists(inputs, outputs)
    if type != func.function_type:
        func.function_type, changed = type, True
    return changed


def _complete_callee(call: ApplyOp | CallOp, functions: Mapping[str, FuncOp]) -> bool:
    """Find the types of the parameters of a function that is called, where they were left open."""
    callee = call.callee.owner if isinstance(call, ApplyOp) else functions.get(call.callee.string_value())
    if not isinstance(callee, FnOp | FuncOp) or len(callee.body.block.args) != len(call.arguments):
        return False
    changed = False
    for argument, given in zip(callee.body.block.args, call.arguments, strict=True):
        changed |= _set(argument, given.type)
    if changed:
        complete(callee, functions)
    return changed


def _complete_variables(op: RelayOp) -> bool:
    """Find the types of variables among the operands that follow from the first operand: of weights, and the like."""
    values = op.operands
    if all(is_complete(value.type) for value in values) or not is_complete(values[0].type):
        return False
    try:
        implied = op.implied()
    except VerifyException as error:
        raise Diagnostic.at(op, str(error)) from None
    return any([_set(values[at], type) for at, type in implied.items() if isinstance(values[at], BlockArgument)])


def _set(value: SSAValue, type: Attribute) -> bool:
    if is_complete(value.type) or value.type == type:
        return False
    value._type = type  # pyright: ignore[reportPrivateUsage]
    return True


def _types(op: Operation, functions: Mapping[str, FuncOp]) -> Iterable[Attribute]:
    """The types of the results as they follow from what is known; nothing where nothing is."""
    match op:
        case RelayOp():
            return op.inferred()
        case TupleOp():
            return [tuple_type(*(field.type for field in op.fields))]
        case TupleGetOp() if isinstance(type := op.tuple.type, TupleType):
            return [type.types.data[op.index.value.data]]
        case CallOp() if (callee := functions.get(op.callee.string_value())) is not None:
            return callee.function_type.outputs.data
        case ClosureOp() if (callee := functions.get(op.callee.string_value())) is not None:
            inputs, outputs = callee.function_type.inputs.data, callee.function_type.outputs.data
            return [FunctionType.from_lists(inputs[len(op.captured) :], outputs)]
        case ApplyOp() if isinstance(type := op.callee.type, FunctionType):
            return type.outputs.data
        case RefCreateOp():
            return [RefType(op.value.type)]
        case RefReadOp() if isinstance(type := op.ref.type, RefType):
            return [type.of]
        case FnOp():
            block = op.body.block
            return [FunctionType.from_lists([argument.type for argument in block.args], _given(block))]
        case _ if op.regions:
            return _first_known([_given(block) for region in op.regions for block in region.blocks])
        case _:
            return []


def _given(block: Block) -> Sequence[Attribute]:
    """The types of what a region gives."""
    end = block.last_op
    return [value.type for value in end.operands] if isinstance(end, YieldOp) else []


def _first_known(branches: Sequence[Sequence[Attribute]]) -> Sequence[Attribute]:
    """The types that one of several branches gives, whose own are known."""
    for types in branches:
        if all(map(is_complete, types)):
            return types
    return branches[0] if branches else []

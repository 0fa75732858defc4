"""Types that were left open, found: `!relay.incomplete` replaced by what follows from the values that are known by now.

    %x = ... : tensor<4xf32>
    %0 = relay.exp %x : !relay.incomplete     ->     %0 = relay.exp %x : tensor<4xf32>

Python makes graphs from variables without a type, and calls functions that it has not seen yet. When a variable is
bound, or a function becomes known, what is computed from it is looked at again, in order, and again for as long as
something is found: functions that call each other say of one another what they give, branches what the others give, and
an empty list is one of what it is put in front of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, TupleType, i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import RelayOp
from ...dialects.relay.control import ApplyOp, ClosureOp, FnOp, IfOp, RefCreateOp, RefReadOp
from ...dialects.relay.core import CallOp, FuncOp, ReturnOp, TupleGetOp, TupleOp, YieldOp
from ...dialects.relay.data import AdtOp, ConstructOp, MatchOp
from ...dialects.relay.interpreter import free_values
from ...dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from ...dialects.relay.types import (
    AdtType,
    ParamType,
    RefType,
    bind_params,
    either,
    instance,
    is_complete,
    merged,
    substituted,
    tuple_type,
    type_params,
)
from ...dialects.support.blame import at_fault
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.retyping import retype
from ..infra.walk import walk
from .specialize_functions import convert_types


def complete(op: Operation, functions: Mapping[str, FuncOp] | None = None) -> bool:
    """Find the types of the results of `op`, and of all in it. Whether one was found.

    Raises:
        Diagnostic: an operator does not fit its operands, as their types are known now.
    """
    known = functions or {}
    changed = any([complete(inner, known) for region in op.regions for block in region.blocks for inner in block.ops])
    if isinstance(op, ApplyOp | CallOp):
        changed |= _complete_callee(op, known)
    elif isinstance(op, OnDeviceOp | DeviceCopyOp):  # around a function, which is known when its result is called
        changed |= _set(op.operands[0], op.result.type)
    elif isinstance(op, RelayOp):
        changed |= _complete_variables(op)
    else:
        changed |= _complete_parts(op)
    if all(is_complete(result.type) for result in op.results):
        return changed
    try:
        for result, type in zip(op.results, _types(op, known), strict=False):
            changed |= _set(result, type)
        if isinstance(op, RelayOp) and all(is_complete(result.type) for result in op.results):
            op.verify_()
    except VerifyException as error:
        raise at_fault(op, error) from None
    return changed


def complete_module(module: ModuleOp) -> None:
    """Find the types in the functions of a module.

    Raises:
        Diagnostic: an operator does not fit its operands, as their types are known now.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    if all(map(_is_whole, functions.values())):
        return
    for _ in range(4 * len(functions) + 16):  # a type that would contain itself is not found, ever
        changed = any([_complete_function(func, functions) for func in functions.values()])
        if not changed and not _leave_generic(module, functions):
            return


def _is_whole(func: FuncOp) -> bool:
    return all(is_complete(result.type) for op in func.walk() for result in op.results) and is_complete(
        func.function_type
    )


def _complete_function(func: FuncOp, functions: Mapping[str, FuncOp]) -> bool:
    if _is_whole(func):
        return False
    changed = complete(func, functions)
    inputs = [argument.type for argument in func.body.block.args]
    given = list(zip(func.return_op.arguments, func.function_type.outputs.data, strict=True))
    outputs = [merged(declared, value.type) for value, declared in given]
    changed |= any([_set(value, declared) for value, declared in given])
    type = FunctionType.from_lists(inputs, outputs)
    if type != func.function_type:
        func.function_type, changed = type, True
    return changed


def _complete_callee(call: ApplyOp | CallOp, functions: Mapping[str, FuncOp]) -> bool:
    """Find the types of the parameters of a function that is called, and of the arguments, where they were left open:
    each says what the other is, as far as the function is not for any types."""
    callee = call.callee.owner if isinstance(call, ApplyOp) else functions.get(call.callee.string_value())
    changed = False
    if isinstance(callee, FnOp | FuncOp) and len(callee.body.block.args) == len(call.arguments):
        for argument, given in zip(callee.body.block.args, call.arguments, strict=True):
            changed |= _set(argument, given.type)
        if changed:
            complete(callee, functions)
    values = [*call.arguments, *call.results]
    found = [value.type for value in values]
    for value, type in zip(values, instance(_signature(call, functions), found), strict=False):
        changed |= _set(value, type)
    if isinstance(call, ApplyOp):
        given = [value.type for value in call.arguments], [value.type for value in call.results]
        changed |= _set(call.callee, FunctionType.from_lists(*given))
    return changed


def _signature(call: ApplyOp | CallOp, functions: Mapping[str, FuncOp]) -> Sequence[Attribute]:
    """The types of the parameters and results of what is called; none where nothing is known of it."""
    if isinstance(call, ApplyOp):
        type = call.callee.type
    else:
        callee = functions.get(call.callee.string_value())
        type = callee.function_type if callee is not None else None
    if not isinstance(type, FunctionType) or len(type.inputs) != len(call.arguments):
        return []
    return [*type.inputs.data, *type.outputs.data]


def _complete_variables(op: RelayOp) -> bool:
    """Find the types of variables among the operands that follow from the first operand: of weights, and the like."""
    values = op.operands
    if all(is_complete(value.type) for value in values) or not is_complete(values[0].type):
        return False
    try:
        implied = op.implied()
    except VerifyException as error:
        raise at_fault(op, error) from None
    return any([_set(values[at], type) for at, type in implied.items() if isinstance(values[at], BlockArgument)])


def _complete_parts(op: Operation) -> bool:
    """Find types of what an operation is made of that follow from its own."""
    pairs: list[tuple[SSAValue, Attribute]] = []
    match op:
        case TupleOp():
            pairs += zip(op.fields, _fields(op.result.type), strict=False)
        case TupleGetOp():
            if fields := _fields(op.tuple.type):
                at = op.index.value.data
                pairs.append(
                    (op.tuple, tuple_type(*fields[:at], merged(fields[at], op.result.type), *fields[at + 1 :]))
                )
        case ConstructOp():
            if (definition := _definition(op, op.result.type)) is not None:
                values = [*op.fields, op.result]
                declared = [*definition.fields_of(op.constructor.data, definition.type), definition.type]
                pairs += zip(values, instance(declared, [value.type for value in values]), strict=False)
        case FnOp():
            pairs += zip([*op.body.block.args, *_given(op.body.block)], _sides(op.result.type), strict=False)
        case IfOp() | MatchOp():
            if isinstance(op, IfOp):
                pairs.append((op.condition, TensorType(i1, [])))
            if isinstance(op, MatchOp) and (definition := _definition(op, op.data.type)) is not None:
                type = op.data.type
                assert isinstance(type, AdtType)
                for name, region in zip(op.names, op.regions, strict=True):
                    if name not in definition.names:
                        continue
                    pairs += zip(region.block.args, definition.fields_of(name, type), strict=False)
                    declared = [*definition.fields_of(name, definition.type), definition.type]
                    found = [*(argument.type for argument in region.block.args), type]
                    pairs.append((op.data, instance(declared, found)[-1]))
            for region in op.regions:
                for result, given in zip(op.results, _given(region.block), strict=False):
                    pairs += [(result, given.type), (given, result.type)]
            return any([_set(value, type) for value, type in pairs]) | _widen(op)
        case _:
            pass
    return any([_set(value, type) for value, type in pairs])


def _widen(op: IfOp | MatchOp) -> bool:
    """Leave open in what a choice gives what its branches differ in. One of them may have said alone what it gives,
    before the other one was known.

    Raises:
        Diagnostic: the result is used as what the one branch gives.
    """
    changed = False
    branches = [_given(region.block) for region in op.regions]
    for number, result in enumerate(op.results):
        types = [given[number].type for given in branches if number < len(given)]
        if not types or not all(map(is_complete, (*types, result.type))):
            continue
        common: Attribute | None = types[0]
        for type in types[1:]:
            common = None if common is None else either(common, type)
        if common is None or either(common, result.type) == result.type:  # the verifier says what does not fit
            continue
        retype(result, common)
        changed = True
        for use in result.uses:
            user, place = use.operation, use.index
            outer = user.parent_op()
            if isinstance(user, YieldOp) and isinstance(outer, IfOp | MatchOp):
                continue  # which is looked at next
            if isinstance(user, ReturnOp) and isinstance(outer, FuncOp):
                declared = outer.function_type.outputs.data[place]
                if either(declared, common) == declared:
                    continue
            raise Diagnostic.at(
                op,
                f"gives {' or '.join(map(str, dict.fromkeys(types)))}, and is used as one of them",
                hint="say what a function gives that calls itself: its 'ret_type', as wide as it has to be",
            )
    return changed


def _fields(type: Attribute) -> Sequence[Attribute]:
    """The types of a tuple's fields, where they are known to be there."""
    return type.types.data if isinstance(type, TupleType) else ()


def _sides(type: Attribute) -> Sequence[Attribute]:
    """The types of a function's parameters and results, where they are known to be there."""
    return (*type.inputs.data, *type.outputs.data) if isinstance(type, FunctionType) else ()


def _definition(op: Operation, type: Attribute) -> AdtOp | None:
    """The definition of a data type, where `op` is in a module that has one."""
    if not isinstance(type, AdtType) or not isinstance(module := op.get_toplevel_object(), ModuleOp):
        return None
    found = SymbolTable.lookup_symbol(module, type.symbol)
    return found if isinstance(found, AdtOp) else None


def _closure_type(op: ClosureOp, declared: FunctionType) -> FunctionType:
    """The type of a value of a function: of one for any types, with what is known of them where it is used."""
    inputs = declared.inputs.data
    said = [value.type for value in op.captured]
    if isinstance(known := cast(Attribute, op.result.type), FunctionType):
        said += [*known.inputs, *known.outputs]
    found = instance([*inputs, *declared.outputs], said)
    return FunctionType.from_lists(found[len(op.captured) : len(inputs)], found[len(inputs) :])


def _leave_generic(module: ModuleOp, functions: Mapping[str, FuncOp]) -> bool:
    """Let values of functions for any types be such, where nothing says which types they are used with. Whether there
    are any."""
    found = False
    for op in walk(module):
        if isinstance(op, ClosureOp) and (callee := functions.get(op.callee.string_value())) is not None:
            type = callee.function_type
            if not is_complete(op.result.type) and is_complete(type):
                found |= _set(
                    op.result, FunctionType.from_lists(type.inputs.data[len(op.captured) :], type.outputs.data)
                )
    return found


def _set(value: SSAValue, type: Attribute) -> bool:
    if is_complete(value.type):
        return isinstance(value.owner, FnOp | ClosureOp) and _specialize(value.owner, type)
    if (found := merged(value.type, type)) == value.type:
        return False
    retype(value, found)
    return True


def own_params(function: SSAValue) -> set[str]:
    """The types that a function value leaves open, beside those of what it sees around it, or is given."""
    owner = function.owner
    if not isinstance(owner, FnOp | ClosureOp) or not (params := type_params(function.type)):
        return set()
    around = free_values(owner) if isinstance(owner, FnOp) else owner.operands
    return params - {each for value in around for each in type_params(value.type)}


def _specialize(function: FnOp | ClosureOp, type: Attribute) -> bool:
    """Make a function value for any types, which is used once, one for the types that it is used with, as far as these
    are known."""
    value, bound = function.result, dict[str, Attribute]()
    if not (own := own_params(value)) or not isinstance(type, FunctionType) or not value.has_one_use():
        return False
    pairs = zip(_sides(value.type), _sides(type), strict=False)
    said = [(mine, wanted) for mine, wanted in pairs if is_complete(wanted)]
    if not bind_params([mine for mine, _ in said], [wanted for _, wanted in said], bound):
        return False
    bound = {label: given for label, given in bound.items() if label in own and given != ParamType(label)}
    if bound:
        convert_types(function, lambda each: substituted(each, bound))
    return bool(bound)


def _types(op: Operation, functions: Mapping[str, FuncOp]) -> Iterable[Attribute]:
    """The types of the results as they follow from what is known; nothing where nothing is."""
    match op:
        case RelayOp():
            return op.inferred()
        case TupleOp():
            return [tuple_type(*(field.type for field in op.fields))]
        case TupleGetOp() if isinstance(type := op.tuple.type, TupleType):
            return [type.types.data[op.index.value.data]]
        case ClosureOp() if (callee := functions.get(op.callee.string_value())) is not None:
            return [_closure_type(op, callee.function_type)]
        case RefCreateOp():
            return [RefType(op.value.type)]
        case RefReadOp() if isinstance(type := op.ref.type, RefType):
            return [type.of]
        case FnOp():
            block = op.body.block
            outputs = [value.type for value in _given(block)]
            return [FunctionType.from_lists([argument.type for argument in block.args], outputs)]
        case _:
            return []


def _given(block: Block) -> Sequence[SSAValue]:
    """What a region gives."""
    end = block.last_op
    return end.operands if isinstance(end, YieldOp) else ()

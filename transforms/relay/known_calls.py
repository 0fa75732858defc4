"""Calls of functions on what is known, as what they come to: how `partial-evaluate` unrolls recursion.

    %0 = relay.call @triangle(%ten) : (tensor<i32>) -> tensor<i32>      ->      %0 = relay.constant dense<55>

Known are constants, and data and tuples that are made of them. The call is run in the interpreter, and stays where it
takes too many steps, or fails, or gives a function or a reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp, TensorType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.relay.control import ClosureOp
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, TupleOp
from ...dialects.relay.data import AdtOp, ConstructOp
from ...dialects.relay.functions import is_for
from ...dialects.relay.interpreter import Closure, Data, Frame, RelayInterpreter, Value
from ...dialects.relay.types import AdtType
from ...dialects.support.checks import CheckError
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import numpy_dtype
from ..infra.walk import walk
from .purity import impure_functions

if TYPE_CHECKING:
    import numpy as np

STEPS = 10_000
"""How many blocks a call may run: iterations, branches and cases together."""


class _TooLongError(Exception):
    """A call has run as many blocks as it may."""


class _Unknown(Exception):
    """A value is not known, or is none that the text of a module can hold."""


class _BoundedInterpreter(RelayInterpreter):
    """Runs no more than `STEPS` blocks."""

    left = STEPS

    def _go_into(
        self, stack: list[Frame], block: Block, arguments: Sequence[Value], values: dict[SSAValue, Value]
    ) -> None:
        if not self.left:
            raise _TooLongError
        self.left -= 1
        super()._go_into(stack, block, arguments, values)


def fold_known_calls(module: ModuleOp) -> bool:
    """Put what they come to in the place of calls on what is known; return whether there were any."""
    impure = impure_functions(module)
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    pure = {name: op for name, op in functions.items() if name not in impure and not is_for(op)}
    definitions = {op.sym_name.data: op for op in module.ops if isinstance(op, AdtOp)}
    calls = [each for each in walk(module) if isinstance(each, CallOp)]
    return any([_fold(op, pure, definitions) for op in calls if op.callee.string_value() in pure])


def _fold(op: CallOp, callees: Mapping[str, FuncOp], definitions: Mapping[str, AdtOp]) -> bool:
    block, ops = op.parent, cast("list[Operation]", [])
    try:
        arguments = [_known(value, callees) for value in op.arguments]
        results = _BoundedInterpreter().run(callees[op.callee.string_value()], arguments)
        made = [_made(ops, value, old.type, definitions) for value, old in zip(results, op.res, strict=True)]
    except (_Unknown, _TooLongError, NotImplementedError, ValueError, CheckError, Diagnostic):
        for each in reversed(ops):
            each.erase()
        return False
    assert block is not None
    for each in ops:
        each.location = op.location
        block.insert_op_before(each, op)
    for old, new in zip(op.res, made, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()
    return True


def _known(value: SSAValue, callees: Mapping[str, FuncOp]) -> Value:
    """What a value is worth, operands first on an explicit stack: lists are as deep as they are long.

    Raises:
        _Unknown: it depends on what is no constant, or is a function that has an effect.
    """
    worth: dict[SSAValue, Value] = {}
    pending = [value]
    while pending:
        owner = pending[-1].owner
        if not isinstance(owner, ConstantOp | ConstructOp | TupleOp | ClosureOp):
            raise _Unknown
        if missing := [each for each in owner.operands if each not in worth]:
            pending.extend(missing)
            continue
        fields = tuple(worth[each] for each in owner.operands)
        if isinstance(owner, ConstantOp):
            if (array := owner.numpy()) is None:
                raise _Unknown
            worth[pending.pop()] = array
        elif isinstance(owner, ClosureOp):
            if owner.callee.string_value() not in callees:
                raise _Unknown
            worth[pending.pop()] = Closure(callees[owner.callee.string_value()].body.block, fields)
        else:
            worth[pending.pop()] = Data(owner.constructor.data, fields) if isinstance(owner, ConstructOp) else fields
    return worth[value]


def _made(ops: list[Operation], value: Value, type: Attribute, definitions: Mapping[str, AdtOp]) -> SSAValue:
    """Operations that make a value, fields first on an explicit stack.

    Raises:
        _Unknown: it is a function or a reference, or of a type that is not known.
    """
    done: list[SSAValue] = []
    pending: list[tuple[Value, Attribute, bool]] = [(value, type, False)]
    while pending:
        each, kind, ready = pending.pop()
        match each, kind:
            case Data(), AdtType():
                fields, types = each.fields, definitions[kind.symbol].fields_of(each.constructor, kind)
            case tuple(), TupleType():
                fields, types = each, list(kind.types)
            case Closure(), _:
                raise _Unknown
            case _, TensorType():
                array = cast("np.ndarray[Any, Any]", each)
                ops.append(ConstantOp.from_numpy(array.astype(numpy_dtype(kind.element_type))))
                done.append(ops[-1].results[0])
                continue
            case _:
                raise _Unknown
        if not ready:
            pending.append((each, kind, True))
            pending.extend(zip(reversed(fields), reversed(types), [False] * len(fields), strict=True))
            continue
        start = len(done) - len(fields)
        parts = done[start:]
        del done[start:]
        ops.append(
            ConstructOp(each.constructor, parts, cast(AdtType, kind)) if isinstance(each, Data) else TupleOp(*parts)
        )
        done.append(ops[-1].results[0])
    return done[0]

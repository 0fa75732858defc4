"""Local functions that call themselves: `Let` names one that its own body calls, as TVM's loops are written.

    loop = relay.var("loop")
    body = relay.If(relay.less(i, n), loop(i + relay.const(1)), i)
    relay.Let(loop, relay.Function([i], body), loop(relay.const(0)))

A value cannot be made of itself. So the function gets a name that no other has, by which its body calls it, and stands
as a function value until it comes into a module (`IRModule`): there it becomes a private function of that name, as by
`lambda-lift`, which is given what it sees around it in each of its calls.
"""

from __future__ import annotations

from itertools import count

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects.relay.control import ClosureOp, FnOp
from ...dialects.relay.core import FuncOp
from ...dialects.relay.types import IncompleteType
from ...dialects.support.retyping import retype
from ...dialects.support.unique_names import unique_symbols
from ...transforms.relay.completion import complete
from ...transforms.relay.lambda_lift import lift

SELF = "self"
"""The attribute of a function value that says by which name its body calls it."""

_numbers = count()


def close(function: FnOp, variable: SSAValue) -> None:
    """Have the body of a function, which calls what `variable` stands for, call the function itself."""
    name = f"{variable.name_hint or 'fn'}.{next(_numbers)}"
    function.attributes[SELF] = StringAttr(name)
    block = function.body.block
    itself = ClosureOp(name, [], function.function_type)
    itself.result.name_hint = variable.name_hint
    assert block.first_op is not None
    block.insert_op_before(itself, block.first_op)
    for use in list(variable.uses):
        if _within(use.operation, function):
            use.operation.operands[use.index] = itself.result
    complete(function)


def _within(op: Operation, function: FnOp) -> bool:
    parent: Operation | None = op
    while parent is not None and parent is not function:
        parent = parent.parent_op()
    return parent is function


def lift_recursive(function: FuncOp, module: ModuleOp) -> None:
    """Make functions of the module of the function values in `function` that call themselves."""
    found = [op for op in function.walk() if isinstance(op, FnOp) and SELF in op.attributes]
    names = unique_symbols(module)
    for op in reversed(found):  # those within others first
        called = op.attributes.pop(SELF)
        assert isinstance(called, StringAttr)
        name, inputs = names.new(called.data.rpartition(".")[0]), len(op.function_type.inputs)
        made = lift(op, name, module)
        arguments = made.body.block.args
        for inner in list(made.walk()):
            if isinstance(inner, ClosureOp) and inner.callee.string_value() == called.data:
                itself = ClosureOp(name, arguments[: len(arguments) - inputs], IncompleteType())
                retype(itself.result, inner.result.type)
                Rewriter.replace_op(inner, itself)

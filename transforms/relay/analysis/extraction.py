"""Parts of a graph as modules of their own."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.ir import Block

from ....dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from ....dialects.support.diagnostics import UsageError
from ...infra.visitors import dataflow_post_order
from ...infra.walk import clone, erase
from ..dead_code_elimination import eliminate_dead_code


def extract_intermediate(module: ModuleOp, expr_id: int) -> ModuleOp:
    """The module whose `@main` gives what operation number `expr_id` of the old one's does, and takes what that needs.

    Counted are the operations but for constants, operands first, in the order in which TVM visits them.

    Raises:
        UsageError: there is no `@main`, or no such operation.
    """
    result = clone(module)
    func = next((op for op in result.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"), None)
    if func is None:
        raise UsageError("the module has no function @main")
    end = func.return_op
    ops = [op for op in dataflow_post_order(end.arguments) if not isinstance(op, ConstantOp)]
    if not 0 <= expr_id < len(ops):
        raise UsageError(f"there is no operation {expr_id}: @main has {len(ops)}")
    wanted = ops[expr_id].results
    block = func.body.block
    erase(end)
    block.add_op(ReturnOp(*wanted))
    func.function_type = FunctionType.from_lists(block.arg_types, [value.type for value in wanted])
    eliminate_dead_code(func)
    drop_unread_arguments(func)
    return result


def drop_unread_arguments(func: FuncOp) -> None:
    """Take the arguments from a function that it does not read."""
    block: Block = func.body.block
    for argument in list(block.args):
        if argument.first_use is None:
            block.erase_arg(argument)
    func.function_type = FunctionType.from_lists(block.arg_types, func.function_type.outputs.data)


def fused_functions(module: ModuleOp) -> Iterator[FuncOp]:
    """A copy of each kernel that fusion makes of a module, named `main`."""
    from ...infra.execution import run
    from ..fuse_ops import FuseOpsPass
    from ..outline_primitives import OutlinePrimitivesPass
    from ..simplify_inference import SimplifyInferencePass

    fused = clone(module)
    for part in (SimplifyInferencePass(), FuseOpsPass(fuse_opt_level=3), OutlinePrimitivesPass()):
        run(part, fused, force=True)
    for func in fused.ops:
        if isinstance(func, FuncOp) and func.is_primitive:
            copy = clone(func)
            copy.properties.pop("sym_visibility", None)
            copy.properties["sym_name"] = StringAttr("main")
            yield copy

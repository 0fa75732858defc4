"""Functions of a module, and regions of operators, as function values."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.relay.control import FnOp
from ...dialects.relay.core import FuncOp, PrimitiveOp, ReturnOp, TupleOp, YieldOp
from ...dialects.relay.functions import INPUT_NAMES
from ...dialects.relay.graph_arguments import DIM_NAMES
from ...dialects.relay.types import tuple_type


def given_by(region: Region) -> SSAValue:
    """What a region gives."""
    end = region.block.last_op
    assert isinstance(end, YieldOp | ReturnOp)
    return end.operands[0]


def region_function(op: PrimitiveOp) -> SSAValue:
    """A region of operators as the function that TVM has there, with the attributes that it has."""
    outputs = op.result_types
    given = outputs[0] if len(outputs) == 1 else tuple_type(*outputs)
    block, results = _copied(op.body.block, op.yield_op)
    if len(results) > 1:
        block.add_op(made := TupleOp(*results))
        results = [made.result]
    block.add_op(YieldOp(*results))
    function = FnOp(FunctionType.from_lists(block.arg_types, [given]), Region(block))
    function.attributes |= op.function_attributes
    return function.result


def function_value(func: FuncOp) -> SSAValue:
    """A function as a value, which sees what its body has of variables beside its parameters."""
    block, results = _copied(func.body.block, func.return_op)
    block.add_op(YieldOp(*results))
    made = FnOp(func.function_type, Region(block))
    made.attributes |= {name: each for name, each in func.attributes.items() if name not in (DIM_NAMES, INPUT_NAMES)}
    return made.result


def _copied(body: Block, end: Operation) -> tuple[Block, list[SSAValue]]:
    """A copy of a block without its end, and what this is given there."""
    block = Block(arg_types=body.arg_types)
    values: dict[SSAValue, SSAValue] = dict(zip(body.args, block.args, strict=True))
    for new, old in zip(block.args, body.args, strict=True):
        new.name_hint = old.name_hint
    for op in body.ops:
        if op is not end:
            copy = op.clone(values)
            block.add_op(copy)
            values.update(zip(op.results, copy.results, strict=True))
    return block, [values.get(each, each) for each in end.operands]

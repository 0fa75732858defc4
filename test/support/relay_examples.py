"""The examples in the docstrings of the Relay operators.

A docstring holds one ```` ```mlir ```` block, in which every value that is not defined is an input, and a formula
`` `y = ...` `` in terms of the example's values.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, Builtin, FunctionType, ModuleOp, TupleType, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from weft.dialects.relay import Relay
from weft.dialects.relay.base import DYNAMIC, RelayOp, Tensor, shape_of, tensor
from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleOp
from weft.dialects.support.dtypes import numpy_dtype

NDArray = npt.NDArray[Any]
OPERATORS = {op.name: op for op in Relay.operations if issubclass(op, RelayOp)}


def docstring(op: type[Operation]) -> str:
    return inspect.cleandoc(op.__doc__ or "")


def example(op: type[Operation]) -> str:
    blocks = re.findall(r"```mlir\n(.*?)```", docstring(op), re.DOTALL)
    assert len(blocks) == 1, f"the docstring of {op.name} has {len(blocks)} examples"
    return blocks[0]


def formula(op: type[Operation]) -> str | None:
    """The right-hand side of the docstring's `y = ...`, joined where it takes several lines."""
    found = re.search(r"^`\w+ = ([^`]+)`$", docstring(op), re.MULTILINE)
    return found[1].replace("\n", " ") if found else None


def parse(text: str) -> ModuleOp:
    """A module whose only function consists of `text`; its arguments are the values that `text` does not define."""
    parser = Parser(context(), text)
    block = Block()
    while (op := parser.parse_optional_operation()) is not None:
        block.add_op(op)
    for name, references in parser.forward_ssa_references.items():
        for reference in references.values():
            argument = block.insert_arg(reference.type, len(block.args))
            argument.name_hint = name
            reference.replace_all_uses_with(argument)
    results = block.last_op.results if block.last_op is not None else ()
    block.add_op(ReturnOp(*results))
    signature = FunctionType.from_lists([a.type for a in block.args], [r.type for r in results])
    return ModuleOp([FuncOp("example", signature, Region(block))])


def context() -> Context:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Relay)
    return context


def operation_under_test(module: ModuleOp, name: str) -> RelayOp:
    (op,) = [op for op in module.walk() if op.name == name]
    assert isinstance(op, RelayOp)
    return op


def random_array(type: Tensor, rng: np.random.Generator) -> NDArray:
    """Values in which ties are rare and no usual function is undefined: floats in (0.1, 0.9), small integers."""
    shape = tuple(3 if n == DYNAMIC else n for n in shape_of(type))
    if type.element_type == i1:
        return rng.integers(0, 2, shape).astype(bool)
    dtype = numpy_dtype(type.element_type)
    if isinstance(type.element_type, AnyFloat):
        return rng.uniform(0.1, 0.9, shape).astype(dtype)
    return rng.integers(1, 3, shape).astype(dtype)


def flat_operands(op: RelayOp) -> list[SSAValue]:
    """The tensors that `op` reads; those of a tuple are the operands of the `relay.tuple` that makes it."""
    flat: list[SSAValue] = []
    for operand in op.operands:
        if isinstance(operand.type, TupleType):
            assert isinstance(operand.owner, TupleOp), "an example makes its tuples with relay.tuple"
            flat.extend(operand.owner.fields)
        else:
            flat.append(operand)
    return flat


def random_inputs(op: RelayOp) -> list[NDArray]:
    """An array for each tensor that `op` reads: its value, where the example makes it with relay.constant."""
    rng = np.random.default_rng(0)
    inputs: list[NDArray] = []
    for value in flat_operands(op):
        constant = value.owner.numpy() if isinstance(value.owner, ConstantOp) else None
        inputs.append(random_array(tensor(value), rng) if constant is None else constant)
    return inputs

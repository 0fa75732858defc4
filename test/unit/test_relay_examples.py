"""The example in the docstring of every Relay operator is parsed, verified, round-tripped and executed.

A docstring holds one ```` ```mlir ```` block, in which every value that is not defined is an input, and a formula
`` `y = ...` `` in terms of the example's values, which is executed too wherever it is a NumPy expression.
"""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, Builtin, FunctionType, ModuleOp, TupleType, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from weft.dialects.dtypes import numpy_dtype
from weft.dialects.relay import Relay
from weft.dialects.relay.base import DYNAMIC, RelayOp, Tensor, flatten_types, shape_of, tensor
from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleOp
from weft.dialects.relay.reference import evaluate_compute, evaluate_directly

NDArray = npt.NDArray[Any]
OPERATORS = {op.name: op for op in Relay.operations if issubclass(op, RelayOp)}

FORMULAS_IN_PROSE = ("relay.nn.", "relay.image.", "relay.vision.")
"""Operators whose formulas have indices: their own tests hold them against independent implementations."""


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


def is_executable(op: type[RelayOp]) -> bool:
    """Whether the formula is one that Python can evaluate: those of the operators on images and windows are not."""
    return op.has_compute() and formula(op) is not None and not op.name.startswith(FORMULAS_IN_PROSE)


def as_float(array: npt.ArrayLike) -> NDArray:
    return np.asarray(array).astype(np.float64)


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


def environment(op: RelayOp, inputs: list[NDArray]) -> dict[str, object]:
    """What a formula may name: NumPy, and the values of the example."""
    names: dict[str, object] = {"np": np, "math": math}
    for value, array in zip(flat_operands(op), inputs, strict=True):
        names[value.name_hint or "?"] = array
    return names


@pytest.mark.parametrize("name", OPERATORS)
def test_the_example_verifies_and_round_trips(name: str):
    module = parse(example(OPERATORS[name]))
    module.verify()
    operation_under_test(module, name)
    text = str(module)
    again = Parser(context(), text).parse_module()
    again.verify()
    assert str(again) == text


@pytest.mark.parametrize("name", [name for name, op in OPERATORS.items() if op.has_compute()])
def test_the_results_of_the_example_have_the_inferred_types(name: str):
    op = operation_under_test(parse(example(OPERATORS[name])), name)
    results = evaluate_compute(op, random_inputs(op))
    types = flatten_types([r.type for r in op.results])
    assert len(results) == len(types)
    for result, type in zip(results, types, strict=True):
        assert result.dtype == numpy_dtype(type.element_type)
        assert all(n in (DYNAMIC, m) for n, m in zip(type.get_shape(), result.shape, strict=True))


@pytest.mark.parametrize("name", [name for name, op in OPERATORS.items() if op.has_compute()])
def test_the_direct_evaluation_equals_the_compute(name: str):
    op = operation_under_test(parse(example(OPERATORS[name])), name)
    inputs = random_inputs(op)
    if (direct := evaluate_directly(op, inputs)) is None:
        return
    for found, expected in zip(direct, evaluate_compute(op, inputs), strict=True):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(as_float(found), as_float(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [name for name, op in OPERATORS.items() if is_executable(op)])
def test_the_results_of_the_example_are_those_of_its_formula(name: str):
    op = operation_under_test(parse(example(OPERATORS[name])), name)
    inputs = random_inputs(op)
    with np.errstate(all="ignore"):
        expected = eval(formula(OPERATORS[name]) or "", environment(op, inputs))
    expected = list(expected) if isinstance(op.results[0].type, TupleType) else [expected]
    for found, wanted in zip(evaluate_compute(op, inputs), expected, strict=True):
        assert found.shape == np.shape(wanted)
        np.testing.assert_allclose(as_float(found), as_float(wanted), rtol=1e-5, atol=1e-6)

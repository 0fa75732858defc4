"""The example in the docstring of every Relay operator is parsed, verified, round-tripped and executed.

Its formula is executed too, wherever it is a NumPy expression.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from relay_examples import (
    OPERATORS,
    context,
    docstring,
    example,
    flat_operands,
    formula,
    operation_under_test,
    parse,
    random_inputs,
)
from xdsl.dialects.builtin import TupleType
from xdsl.parser import Parser

from weft.dialects.relay import Relay
from weft.dialects.relay.base import DYNAMIC, RelayOp, flatten_types
from weft.dialects.relay.reference import evaluate_compute, evaluate_directly
from weft.dialects.support.dtypes import numpy_dtype

NDArray = npt.NDArray[Any]

FORMULAS_IN_PROSE = ("relay.nn.", "relay.image.", "relay.vision.")
"""Operators whose formulas have indices: their own tests hold them against independent implementations."""


def is_executable(op: type[RelayOp]) -> bool:
    """Whether the formula is one that Python can evaluate: those of the operators on images and windows are not."""
    return op.has_compute() and formula(op) is not None and not op.name.startswith(FORMULAS_IN_PROSE)


def as_float(array: npt.ArrayLike) -> NDArray:
    return np.asarray(array).astype(np.float64)


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


STRUCTURE = {op.name: op for op in Relay.operations if op.name not in OPERATORS and "```mlir" in docstring(op)}
CALLS = {"relay.call", "relay.call_lowered"}
"""What an example cannot be verified without: the function that it calls."""


@pytest.mark.parametrize("name", STRUCTURE)
def test_the_example_of_a_structural_operation_round_trips(name: str):
    module = parse(example(STRUCTURE[name]))
    assert any(op.name == name for op in module.walk())
    if name not in CALLS:
        module.verify()
    text = str(module)
    assert str(Parser(context(), text).parse_module()) == text


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

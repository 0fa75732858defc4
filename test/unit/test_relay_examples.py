"""The example in the docstring of every Relay operator is parsed, verified, round-tripped and executed.

Its formula is executed too, wherever it is a NumPy expression.
"""

from __future__ import annotations

import pytest
from xdsl.parser import Parser

from weft.dialects.relay import Relay
from weft.dialects.relay.base import Pointwise
from weft.testing import OperatorExample, examples_of
from weft.testing.examples import docstring, example_text, formula, parse_example
from weft.transforms.infra.registry import new_ir_context

EXAMPLES = {str(example): example for example in examples_of(Relay)}
COMPUTED = [example for example in EXAMPLES.values() if example.op_type.has_compute()]
DIRECT = [example for example in COMPUTED if example.has_direct_evaluation()]

FORMULAS_IN_PROSE = ("relay.nn.", "relay.image.", "relay.vision.")
"""Operators whose formulas have indices: their own tests hold them against independent implementations."""

EXECUTABLE = [e for e in COMPUTED if formula(e.op_type) is not None and not str(e).startswith(FORMULAS_IN_PROSE)]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_verifies_and_round_trips(name: str):
    EXAMPLES[name].check_round_trip()


STRUCTURE = {op.name: op for op in Relay.operations if op.name not in EXAMPLES and "```mlir" in docstring(op)}
CALLS = {"relay.call", "relay.call_lowered", "relay.closure", "relay.construct", "relay.match", "relay.scan"}
"""Examples that cannot be verified without the function or the data type that they name."""


@pytest.mark.parametrize("name", STRUCTURE)
def test_the_example_of_a_structural_operation_round_trips(name: str):
    module = parse_example(example_text(STRUCTURE[name]))
    assert any(op.name == name for op in module.walk())
    if name not in CALLS:
        module.verify()
    text = str(module)
    assert str(Parser(new_ir_context(), text).parse_module()) == text


@pytest.mark.sampled(3)
@pytest.mark.parametrize("example", COMPUTED, ids=str)
def test_the_results_of_the_example_have_the_inferred_types(example: OperatorExample):
    example.check_types()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("example", DIRECT, ids=str)
def test_the_direct_evaluation_equals_the_compute(example: OperatorExample):
    assert example.check_direct()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("example", EXECUTABLE, ids=str)
def test_the_results_of_the_example_are_those_of_its_formula(example: OperatorExample):
    assert example.check_formula()


@pytest.mark.parametrize(
    "example", [e for e in EXECUTABLE if e.op_type.has_trait(Pointwise) and e.gives_floats()], ids=str
)
def test_the_formula_holds_for_infinities_nan_and_negative_zero(example: OperatorExample):
    assert example.check_formula(example.inputs(special=True))

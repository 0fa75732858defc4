"""Nothing that an operator needs is missing, unless a list here allows the gap."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from weft.dialects.relay import Relay
from weft.dialects.relay.base import RelayOp, fusion_pattern
from weft.frontend.onnx.registry import CONVERTERS

OPERATORS = {op.name: op for op in Relay.operations if issubclass(op, RelayOp)}
DIALECT_TESTS = Path(__file__).parents[1] / "dialects" / "relay"

WITHOUT_COMPUTE = {
    "relay.argwhere": "its result has as many rows as the data says",
    "relay.on_device": "a note to plan-devices, which may stand on any value",
    "relay.unique": "its results have as many elements as the data says",
}

WITHOUT_FUSION_PATTERN = {
    "relay.nn.group_norm": "decomposed before fusion, as in TVM",
    "relay.nn.instance_norm": "decomposed before fusion, as in TVM",
    "relay.nn.l2_normalize": "decomposed before fusion, as in TVM",
    "relay.nn.layer_norm": "decomposed before fusion, as in TVM",
}

TOTAL_TYPE_RELATIONS = {
    "relay.abs": "any tensor will do, here and for the operators that share the relation",
    "relay.argwhere": "any tensor will do",
    "relay.cast_like": "any two tensors will do",
    "relay.nn.dropout": "any tensor will do",
    "relay.nn.leaky_relu": "any tensor will do",
    "relay.nn.relu": "any tensor will do",
    "relay.ndarray_size": "any tensor will do",
    "relay.on_device": "any value will do",
}
"""Operators which no operand can fail to fit; that the declared result fits is checked for all of them alike."""


def invalid_tests() -> str:
    return "\n".join(path.read_text() for path in DIALECT_TESTS.glob("*invalid.mlir"))


def type_relation(op: type[RelayOp]) -> tuple[object, ...]:
    """What tells type relations apart: operators with the same one are tested together."""
    parts = (
        "infer",
        "result_shape",
        "checked_types",
        "reduction",
        "result_element",
        "check",
        "place",
        "parts",
        "fields",
    )
    return tuple(getattr(op, part, None) for part in parts)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_has_a_compute(name: str):
    assert OPERATORS[name].has_compute() != (name in WITHOUT_COMPUTE)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_has_a_fusion_pattern(name: str):
    assert (fusion_pattern(OPERATORS[name]) is not None) != (name in WITHOUT_FUSION_PATTERN)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_is_described(name: str):
    """A docstring of its own that begins with a sentence."""
    own = OPERATORS[name].__dict__.get("__doc__")
    assert own, f"{name} has no docstring"
    first = inspect.cleandoc(own).partition("\n")[0]
    assert re.fullmatch(r"[A-Z`].+[.:;,\w`)]", first), first


def test_every_type_relation_has_a_negative_test():
    tested = set(re.findall(r"(relay\.[\w.]+) ", invalid_tests()))
    covered = {type_relation(op) for name, op in OPERATORS.items() if name in tested or name in TOTAL_TYPE_RELATIONS}
    missing = [name for name, op in OPERATORS.items() if type_relation(op) not in covered]
    assert not missing, f"no *invalid.mlir has a negative test of the type relation of: {', '.join(missing)}"


@pytest.mark.parametrize("allowed", [WITHOUT_COMPUTE, WITHOUT_FUSION_PATTERN, TOTAL_TYPE_RELATIONS])
def test_the_lists_of_gaps_name_operators(allowed: dict[str, str]):
    assert allowed.keys() <= OPERATORS.keys()


@pytest.mark.parametrize("name", OPERATORS)
def test_the_onnx_counterparts_of_an_operator_are_imported(name: str):
    counterparts: tuple[str, ...] = getattr(OPERATORS[name], "ONNX", ())
    missing = [operator for operator in counterparts if operator not in CONVERTERS]
    assert not missing, f"{name} names ONNX operators without a converter: {', '.join(missing)}"


def test_names_are_unique():
    names = [op.name for op in Relay.operations]
    assert len(set(names)) == len(names)

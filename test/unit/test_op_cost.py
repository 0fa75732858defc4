"""What is expensive to compute again follows from how machine code computes it."""

import pytest
from xdsl.dialects.math import Math
from xdsl.ir import Operation

from weft.lowering.math.expand_math import IN_F32, IN_F64
from weft.transforms.tir.rules.op_cost import CHEAP_MATH, SIDE_BY_SIDE, is_expensive

EXPANDED = {op.name for op in (*IN_F32, *IN_F64)}


def of(name: str) -> Operation:
    """An operation of this name, without anything else."""
    return type("Named", (Operation,), {"name": name})()


@pytest.mark.parametrize("name", sorted(EXPANDED))
def test_what_is_expanded_into_arithmetic_is_expensive(name: str) -> None:
    assert is_expensive(of(name))


def test_what_is_expanded_is_taken_side_by_side() -> None:
    assert set(SIDE_BY_SIDE) == EXPANDED


@pytest.mark.parametrize("op", [*Math.operations], ids=lambda op: op.name)
def test_an_operation_of_math_is_cheap_or_expanded_or_known_to_cost(op: type[Operation]) -> None:
    """A new operation of xDSL's `math` has to be entered somewhere."""
    slow = {"math.sqrt", "math.rsqrt", "math.fpowi", "math.ipowi"}
    assert (op.name in CHEAP_MATH) + (op.name in EXPANDED) + (op.name in slow) == 1


@pytest.mark.parametrize("name", ["arith.divf", "arith.remf", "arith.divsi", "arith.remui"])
def test_divisions_are_expensive(name: str) -> None:
    assert is_expensive(of(name))


@pytest.mark.parametrize("name", ["arith.addf", "arith.extsi", "arith.select", "math.fma"])
def test_an_instruction_is_cheap(name: str) -> None:
    assert not is_expensive(of(name))

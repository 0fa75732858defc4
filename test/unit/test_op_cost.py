"""What is expensive to compute again follows from how machine code computes it."""

import pytest
from xdsl.dialects.builtin import f32, f64
from xdsl.dialects.math import CosOp, ExpOp, Math, SinOp, TanhOp
from xdsl.ir import Block, Operation

from weft.lowering.math.expand_math import IN_F32, IN_F64
from weft.transforms.tir.rules.op_cost import CHEAP_MATH, SIDE_BY_SIDE, branches, is_expensive, side_by_side

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


def test_the_longest_function_says_how_many_registers_are_taken_at_a_time() -> None:
    """Each step of one of floats of 64 bits fills the queues by itself."""
    x, wide = Block(arg_types=[f32, f64]).args
    assert side_by_side([of("arith.addf")]) == side_by_side([ExpOp(wide)]) == 1
    assert side_by_side([ExpOp(x), TanhOp(x), ExpOp(wide)]) == 4
    assert side_by_side([ExpOp(x), SinOp(x)]) == 2


def test_branches_pay_in_vectors_of_floats_of_32_bits() -> None:
    x, wide = Block(arg_types=[f32, f64]).args
    assert branches(ExpOp(x)) and branches(CosOp(x))
    assert not branches(ExpOp(wide)) and not branches(TanhOp(x))

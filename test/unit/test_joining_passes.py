"""Passes from elsewhere join the phases of a compilation where they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from native import parse
from xdsl.context import Context
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

import weft
from weft.dialects.relay.ops.elementwise import AbsOp, NegativeOp
from weft.dialects.support.diagnostics import UsageError
from weft.lowering.machine.target import Target
from weft.lowering.phases import pipeline
from weft.transforms.infra import PassContext, PatternPass, Sequential
from weft.transforms.infra.registry import registered

HOST = Target.parse("llvm -mcpu=native")

CHAIN = """
relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.negative %x : tensor<8xf32>
  %1 = relay.nn.relu %0 : tensor<8xf32>
  relay.return %1 : tensor<8xf32>
}
"""


class AbsOfAbs(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NegativeOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, AbsOp(op.data))


@dataclass(frozen=True)
class NegativeToAbs(PatternPass):
    """Wrong, but easily seen."""

    name = "t-negative-to-abs"

    def patterns(self, ctx: Context) -> list[RewritePattern]:
        return [AbsOfAbs()]


X = np.linspace(-2, 2, 8, dtype=np.float32)


def result(**arguments: Any) -> np.ndarray[Any, Any]:
    with PassContext(opt_level=3, **arguments):
        return np.asarray(weft.compile(parse(CHAIN))(X))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("joins_phase", "graph"),
        ("joins_after", "simplify-expr"),
        ("joins_after", "SimplifyExpr"),
        ("joins_phase", None),
    ],
)
def test_a_pass_from_elsewhere_joins_where_it_says(place: str, value: str | None) -> None:
    joining = type("Joining", (NegativeToAbs,), {place: value})
    np.testing.assert_allclose(result(), np.maximum(-X, 0))
    with registered(joining):
        joined = value is not None
        np.testing.assert_allclose(result(), np.abs(X) if joined else np.maximum(-X, 0))
        np.testing.assert_allclose(result(required_pass=["t-negative-to-abs"]), np.abs(X))
        np.testing.assert_allclose(result(disabled_pass=["t-negative-to-abs"]), np.maximum(-X, 0))


def test_a_pass_joins_behind_the_last_place_of_another() -> None:
    with registered(type("Joining", (NegativeToAbs,), {"joins_after": "fold-constant"})):
        (phase, *_) = pipeline(HOST, end="graph")
        assert isinstance(phase, Sequential)
        names = [pass_.name for pass_ in phase]
    last = len(names) - 1 - names[::-1].index("fold-constant")
    assert names[last + 1] == "t-negative-to-abs" and names.count("t-negative-to-abs") == 1


def test_a_pass_may_join_what_kernels_go_through() -> None:
    with registered(type("Joining", (NegativeToAbs,), {"joins_after": "loop-partition"})):
        assert "loop-partition,t-negative-to-abs,unroll-loop" in str(pipeline(HOST))


def test_a_pass_joins_only_as_its_level_says() -> None:
    with registered(type("Joining", (NegativeToAbs,), {"joins_phase": "graph", "opt_level": 3})):
        np.testing.assert_allclose(result(), np.abs(X))
        with PassContext(opt_level=2):
            np.testing.assert_array_equal(weft.compile(parse(CHAIN))(X), np.maximum(-X, 0))


@pytest.mark.parametrize(("place", "value"), [("joins_phase", "grapf"), ("joins_after", "simplify-exp")])
def test_a_place_that_there_is_not_is_blamed_on_the_pass(place: str, value: str) -> None:
    with registered(type("Joining", (NegativeToAbs,), {place: value})):
        with pytest.raises(UsageError, match="the pass 't-negative-to-abs' wants to") as error:
            weft.compile(parse(CHAIN))
        assert error.value.hint is not None and "did you mean" in error.value.hint


def named(name: str, **declared: str) -> type[NegativeToAbs]:
    return type("Joining", (NegativeToAbs,), {"name": name, **declared})


@pytest.mark.parametrize("first", ["t-behind", "t-front"])
def test_a_pass_joins_behind_another_from_elsewhere(first: str) -> None:
    pair = named("t-behind", joins_after="t-front"), named("t-front", joins_phase="graph")
    one, other = pair if first == "t-behind" else pair[::-1]
    with registered(one), registered(other):
        assert "t-front,t-behind" in str(pipeline(HOST, end="graph"))


@pytest.mark.parametrize(
    ("front", "circle"), [("t-behind", "t-behind -> t-front -> t-behind"), ("t-front", "t-front -> t-front")]
)
def test_passes_that_want_to_run_after_one_another_are_refused(front: str, circle: str) -> None:
    with registered(named("t-behind", joins_after="t-front")), registered(named("t-front", joins_after=front)):
        with pytest.raises(UsageError, match=f"in a circle: {circle}$"):
            pipeline(HOST)


def test_a_required_pass_that_finds_no_place_is_refused() -> None:
    with registered(named("t-behind", joins_after="defuse-ops")):
        assert "t-behind" not in str(pipeline(HOST))
        with pytest.raises(UsageError, match="'t-behind' is required, and wants to run after 'defuse-ops'"):
            pipeline(HOST, required=["t-behind"])


def test_a_near_name_is_told_once() -> None:
    with registered(named("t-behind", joins_after="fold-constnt")), pytest.raises(UsageError) as error:
        pipeline(HOST)
    assert error.value.hint == "did you mean 'fold-constant'?"

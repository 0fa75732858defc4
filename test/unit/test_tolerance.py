"""By how much results may differ follows from the operators."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from weft import relay
from weft.dialects.relay.precision import Accuracy
from weft.testing.tolerance import Tolerance, difference, tolerances_of, usual_tolerance

ULP = 2.0**-23
DOCS = Path(__file__).parents[2] / "docs"


def of(*shape: int, dtype: str = "float32") -> relay.Var:
    return relay.var("x", shape=shape, dtype=dtype)


def tolerance(x: relay.Var, y: relay.Expr) -> Tolerance:
    [found] = tolerances_of(relay.Function([x], y))
    return found


def test_what_only_moves_elements_is_exact() -> None:
    x = of(2, 3)
    assert tolerance(x, relay.transpose(relay.nn.relu(x))) == Tolerance()


def test_functions_of_single_elements_are_measured_by_each() -> None:
    x = of(2, 3)
    assert tolerance(x, relay.exp(x)) == Tolerance(8 * ULP)
    assert tolerance(x, relay.reshape(relay.sqrt(relay.exp(x)), (6,))) == Tolerance(10 * ULP, mixed=True)


def test_sums_are_measured_by_the_largest_and_grow_with_their_length() -> None:
    x = of(2, 100)
    assert tolerance(x, relay.sum(x, axis=1)) == Tolerance((16 + 2 * 10) * ULP, mixed=True)
    w = relay.const(np.ones((5, 100), np.float32))
    assert tolerance(x, relay.nn.dense(x, w)) == Tolerance((16 + 2 * 10) * ULP, mixed=True)


def test_sums_of_short_floats_are_formed_in_longer_ones() -> None:
    x = of(2, 100, dtype="float16")
    assert tolerance(x, relay.sum(x, axis=1)).relative == 8 * 2.0**-10 + (16 + 2 * 10) * ULP


def test_integers_are_equal() -> None:
    x = of(2, 100, dtype="int32")
    assert tolerance(x, relay.sum(x, axis=1)) == Tolerance()
    assert Tolerance().excess(np.array([2**62]), np.array([2**62 + 1]))[0] == 1


def test_a_branch_adds_what_the_worse_of_its_sides_does() -> None:
    x, condition = of(4), relay.var("c", shape=(), dtype="bool")
    y = relay.If(condition, relay.exp(x), relay.nn.relu(x))
    [found] = tolerances_of(relay.Function([condition, x], y))
    assert found == Tolerance(8 * ULP)


def test_nan_and_infinities_are_themselves_only() -> None:
    wanted = np.array([np.nan, np.inf, -np.inf, 1, 0], np.float32)
    assert not usual_tolerance(wanted.dtype).excess(wanted.copy(), wanted).any()
    for i, other in enumerate([1, -np.inf, np.nan, np.inf, np.nan]):
        got = wanted.copy()
        got[i] = other
        assert np.isinf(usual_tolerance(wanted.dtype).excess(got, wanted)[i])


def test_below_the_least_normal_number_its_units_are_the_measure() -> None:
    least = np.finfo(np.float32).tiny
    wanted = np.array([least / 8], np.float32)
    assert not Tolerance(8 * ULP).excess(wanted + np.float32(4 * ULP * least), wanted).any()
    assert Tolerance(8 * ULP).excess(wanted * 2, wanted).any()


def test_differences_of_large_integers_are_exact() -> None:
    assert difference(np.array([2**63 - 1]), np.array([2**63 - 2]))[0] == 1


@pytest.mark.parametrize("accuracy", Accuracy)
def test_more_terms_are_never_more_exact(accuracy: Accuracy) -> None:
    assert accuracy.ulps(10_000) >= accuracy.ulps(1) == accuracy.ulps()


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "numbers.md").read_text(), re.DOTALL)
    exec(compile(block, "docs/numbers.md", "exec"), {})
    assert capsys.readouterr().out.endswith("of the largest element True\n")

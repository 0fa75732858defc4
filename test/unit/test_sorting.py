"""Orders of long axes, where elements are merged and not counted."""

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.relay.ops.sort import FEW, ArgsortOp
from weft.testing.operators import run_operator


def unordered(*shape: int) -> np.ndarray:
    """Many equal elements, some zeros of both signs, an infinity and NaN in places."""
    x = np.random.default_rng(sum(shape)).integers(-9, 9, shape).astype(np.float32)
    x.flat[:: x.size // 7] = np.nan
    x.flat[5], x.flat[6] = np.inf, -0.0
    return x


@pytest.mark.parametrize("ascending", [True, False])
def test_merging_and_counting_give_one_order(ascending: bool) -> None:
    x = unordered(2, FEW + 3)
    merged = run_operator(ArgsortOp, [x], axis=1, is_ascend=ascending, dtype="int32")
    for row, found in zip(x, merged, strict=True):
        for half in (slice(0, FEW), slice(3, FEW + 3)):  # short enough to be counted
            counted = run_operator(ArgsortOp, [row[half]], is_ascend=ascending, dtype="int32")
            kept = [place - half.start for place in found if half.start <= place < half.stop]
            np.testing.assert_array_equal(kept, counted)


def test_machine_code_orders_long_and_open_axes_as_numpy_does() -> None:
    x = relay.var("x", shape=(relay.Any(), 3))
    places = relay.argsort(x, axis=0)
    exe = weft.compile(relay.Function([x], relay.Tuple([places, relay.sort(x, axis=0)])), threads=2)
    for rows in (0, 1, 300):
        array = unordered(300, 3)[:rows]
        found, ordered = exe.run({"x": array}).values()
        np.testing.assert_array_equal(found, np.argsort(array, axis=0, kind="stable"))
        np.testing.assert_array_equal(ordered, np.sort(array, axis=0))

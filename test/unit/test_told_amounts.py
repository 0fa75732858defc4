"""Slices, ranges and enlarged images of which a run says how much there is, in machine code and interpreted."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic

pytestmark = pytest.mark.sampled(3)

relay: Any = relay
NDArray = npt.NDArray[np.generic]
X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(scope="module")
def slices() -> Callable[..., NDArray]:
    x = relay.var("x", shape=(relay.Any(), relay.Any()))
    begin, end, strides = (relay.var(name, shape=(2,), dtype="int64") for name in ("begin", "end", "strides"))
    function = relay.Function([x, begin, end, strides], relay.strided_slice(x, begin, end, strides))
    return cast("Callable[..., NDArray]", weft.compile(function))


SLICES = {
    "in steps": (X, [0, 1], [3, 4], [2, 1], X[0:3:2, 1:4]),
    "backwards": (X, [2, 3], [-4, -5], [-1, -2], X[::-1, ::-2]),
    "backwards from beyond the axis": (X, [100, 4], [-100, 1], [-1, -2], X[::-1, 3:1:-2]),
    "from the end": (X, [-2, -100], [-1, 100], [1, 3], X[-2:-1, ::3]),
    "of nothing": (X, [2, 0], [1, 4], [1, 1], X[2:1]),
    "of an axis without elements": (X[:0], [0, 1], [3, 4], [2, 1], X[:0, 1:4]),
    "by steps beyond the axis": (X, [0, 0], [3, 4], [2**62, -(2**62)], X[:1, :0]),
}


@pytest.mark.parametrize("name", SLICES)
def test_bounds_and_steps_of_a_slice_are_python_s(slices: Callable[..., NDArray], name: str) -> None:
    x, begin, end, strides, wanted = SLICES[name]
    np.testing.assert_array_equal(slices(x, np.array(begin), np.array(end), np.array(strides)), wanted)


def test_a_step_of_zero_ends_the_run(slices: Callable[..., NDArray]) -> None:
    with pytest.raises(Diagnostic):
        slices(X, np.array([0, 0]), np.array([3, 4]), np.array([0, 1]))


def both(inputs: Sequence[Any], body: Any, *arrays: NDArray) -> NDArray:
    """What machine code and the interpreter both give."""
    function = relay.Function(list(inputs), body)
    (wanted,) = evaluate_function(function, list(arrays))
    found = weft.compile(function)(*arrays)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=1e-6)
    return found


def test_a_bound_of_a_slice_may_be_computed_of_data() -> None:
    x = relay.var("x", shape=(relay.Any(), 4))
    large = relay.sum(relay.cast(relay.greater(x, relay.const(5.0)), "int64"), keepdims=True)
    body = relay.strided_slice(
        x, relay.const([0], "int64"), relay.reshape(large, (1,)) - relay.const([4], "int64"), relay.const([1], "int64")
    )
    assert both([x], body, X).shape == (2, 4)


def test_a_slice_goes_backwards_from_an_extent() -> None:
    x, y = (relay.var(name, shape=(relay.Any(), 4)) for name in "xy")
    rows = relay.strided_slice(relay.shape_of(y, dtype="int64"), [0], [1])
    body = relay.strided_slice(x, rows, relay.const([-1000], "int64"), relay.const([-1], "int64"))
    np.testing.assert_array_equal(both([x, y], body, X, X[:1]), X[1::-1])


@pytest.mark.parametrize("told", [False, True])
def test_a_reshape_leaves_half_of_what_is_open(told: bool) -> None:
    x = relay.var("x", shape=(relay.Any(), relay.Any(), relay.Any()))
    rows = relay.strided_slice(relay.shape_of(x, dtype="int64"), [0], [1])
    shape = relay.concatenate([rows, relay.const([-1, 2], "int64")], 0) if told else (0, -1, 2)
    assert both([x], relay.reshape(x, shape), X.reshape(3, 1, 4)).shape == (3, 2, 2)
    run: Any = weft.compile(relay.Function([x], relay.reshape(x, shape)))
    with pytest.raises(Diagnostic, match="takes inputs for which"):
        run(np.ones((3, 5, 1), np.float32))


def test_how_many_elements_are_taken_may_be_said() -> None:
    x, begin, size = relay.var("x", shape=(3, 4)), *(relay.var(n, shape=(2,), dtype="int64") for n in ("b", "n"))
    body = relay.strided_slice(x, begin, size, slice_mode="size")
    np.testing.assert_array_equal(both([x, begin, size], body, X, np.array([-2, 1]), np.array([1, -1])), X[-2:-1, 1:])
    endless = np.array([2**63 - 1, 2**62])
    np.testing.assert_array_equal(both([x, begin, size], body, X, np.array([1, -3]), endless), X[1:, 1:])


@pytest.mark.parametrize(("start", "stop", "step"), [(1, 5, 1), (0.5, 2.6, 0.25), (5, 1, -1.5), (5, 1, 1)])
def test_a_range_of_floats_has_as_many_as_a_run_says(start: float, stop: float, step: float) -> None:
    inputs = [relay.var(name, shape=()) for name in ("start", "stop", "step")]
    arrays = [np.array(n, np.float32) for n in (start, stop, step)]
    found = both(inputs, relay.arange(*inputs), *arrays)
    np.testing.assert_allclose(found.astype(np.float32), np.arange(start, stop, step, dtype=np.float32))


@pytest.mark.parametrize("method", ["nearest_neighbor", "bilinear"])
def test_images_are_enlarged_as_a_run_says(method: str) -> None:
    x = relay.var("x", shape=(1, 2, relay.Any(), relay.Any()))
    h, w = (relay.var(name, shape=()) for name in ("h", "w"))
    array = np.random.default_rng(0).normal(size=(1, 2, 3, 4)).astype(np.float32)
    factors = np.array(2, np.float32), np.array(1.5, np.float32)
    found = both([x, h, w], relay.nn.upsampling(x, h, w, method=method), array, *factors)
    assert found.shape == (1, 2, 6, 6)


@pytest.mark.parametrize("mode", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("layout, method", [("NCDHW", "trilinear"), ("NDHWC", "nearest_neighbor")])
def test_volumes_are_enlarged_as_a_run_says(layout: str, method: str, mode: str) -> None:
    x = relay.var("x", shape=(relay.Any(), 2, 3, relay.Any(), 4))
    d, h, w = (relay.var(name, shape=()) for name in ("d", "h", "w"))
    array = np.random.default_rng(0).random((1, 2, 3, 5, 4), np.float32)  # of one sign: nothing cancels
    how: dict[str, Any] = {"layout": layout, "method": method, "coordinate_transformation_mode": mode}
    factors = [np.array(n, np.float32) for n in (2, 1, 1.5)]
    found = both([x, d, h, w], relay.nn.upsampling3d(x, d, h, w, **how), array, *factors)
    assert found.shape == ((1, 2, 6, 5, 6) if layout == "NCDHW" else (1, 4, 3, 8, 4))


@pytest.mark.parametrize("method", ["nearest_neighbor", "bilinear"])
def test_an_image_of_one_row_is_enlarged_with_aligned_corners(method: str) -> None:
    x, h, w = relay.var("x", shape=(1, 1, 1, 2)), relay.var("h", shape=()), relay.var("w", shape=())
    array = np.array([[[[1, 4]]]], np.float32)
    enlarged = relay.nn.upsampling(x, h, w, method=method, align_corners=True)
    found = both([x, h, w], enlarged, array, np.array(3, np.float32), np.array(1, np.float32))
    np.testing.assert_array_equal(found, np.repeat(array, 3, axis=2))


@pytest.mark.parametrize("zero_is_none", [False, True])
def test_of_the_first_elements_as_many_are_taken_as_a_run_says(zero_is_none: bool) -> None:
    x, k = relay.var("x", shape=(2, relay.Any())), relay.var("k", shape=(1, 2), dtype="int64")
    count = relay.sum(k, axis=1)
    body = relay.dyn.topk(x, count, axis=1, ret_type="values", zero_is_none=zero_is_none)
    run: Any = weft.compile(relay.Function([x, k], body))
    array = np.arange(8, dtype=np.float32).reshape(2, 4)
    for number, taken in ((2, 2), (4, 4), (0, 0 if zero_is_none else 4), (-1, 4)):
        np.testing.assert_array_equal(run(array, np.array([[number - 3, 3]])), array[:, ::-1][:, :taken])
    with pytest.raises(Diagnostic):
        run(array, np.array([[2, 3]]))

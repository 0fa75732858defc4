"""Operators whose results are as large as data says, without a bound: the graph is cut before them, and compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.checks import CheckError

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[Any]
OPEN = relay.Any()


def told() -> tuple[Any, Any]:
    """A vector of any length, and its sum, which no bound is known of."""
    x = relay.var("x", shape=(OPEN,), dtype="int64")
    return x, relay.sum(x, axis=[0], keepdims=True)


def joined(*parts: Any) -> Any:
    values = [relay.const([part], "int64") if isinstance(part, int) else part for part in parts]
    return relay.concatenate(relay.Tuple(values), axis=0)


def tiled() -> Any:
    (x, n), y = told(), relay.var("y", shape=(OPEN,))
    return relay.Function([x, y], relay.exp(relay.dyn.tile(relay.exp(y), n)))


def filled() -> Any:
    (x, n), y = told(), relay.var("y", shape=())
    return relay.Function([x, y], relay.dyn.full(y, n, dtype="float32"))


def counted() -> Any:
    (x, n), y = told(), relay.var("y", shape=(), dtype="int64")
    zero, one = relay.const(0, "int64"), relay.const(1, "int64")
    numbers = relay.arange(zero, relay.reshape(n, newshape=[]), one, dtype="int64")
    return relay.Function([x, y], relay.add(numbers, y))


def reshaped() -> Any:
    """The 0, which is the extent of the data's, has to be known where the shape is told."""
    (x, n), y = told(), relay.var("y", shape=(OPEN, 6))
    return relay.Function([x, y], relay.exp(relay.dyn.reshape(relay.exp(y), joined(0, n, 2))))


def left() -> Any:
    """The -1 is what the others leave, which data decides."""
    (x, n), y = told(), relay.var("y", shape=(OPEN, 6))
    return relay.Function([x, y], relay.exp(relay.dyn.reshape(relay.exp(y), joined(-1, n, 2))))


def left_beside_a_kept_extent() -> Any:
    (x, n), y = told(), relay.var("y", shape=(OPEN, 6))
    return relay.Function([x, y], relay.exp(relay.dyn.reshape(y, joined(0, -1, n))))


def padded() -> Any:
    """The widths are a matrix."""
    (x, n), y = told(), relay.var("y", shape=(OPEN, 6))
    widths = relay.reshape(joined(n, 1, 2, n), newshape=(2, 2))
    return relay.Function([x, y], relay.exp(relay.dyn.nn.pad(y, widths, relay.const(0.5))))


def resized_under_the_common_name() -> Any:
    """Without a region."""
    (x, n), y = told(), relay.var("y", shape=(1, 2, 4, 4))
    return relay.Function([x, y], relay.image.resize2d(y, joined(n, 3), layout="NCHW"))


def resized() -> Any:
    (x, n), y = told(), relay.var("y", shape=(1, 2, 4, 4))
    size = joined(n, n)
    return relay.Function([x, y], relay.dyn.image.resize2d(y, size, relay.const(np.zeros(0, np.float32))))


def twice() -> Any:
    """A graph that is cut twice: how many rows there are decides how many columns there are."""
    (x, n), y = told(), relay.var("y", shape=(1,))
    rows = relay.dyn.broadcast_to(y, n)
    columns = relay.cast(relay.sum(rows, axis=[0], keepdims=True), "int64")
    return relay.Function([x, y], relay.Tuple([relay.dyn.tile(relay.exp(rows), columns), columns]))


def floats(*shape: int) -> NDArray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


LENGTHS: list[list[int]] = [[], [1], [0], [2, 3]]


@pytest.mark.parametrize(
    "graph, calls",
    [
        (tiled, [(n, floats(rows)) for n in LENGTHS for rows in (0, 1, 5)]),
        (filled, [(n, np.float32(3)) for n in LENGTHS]),
        (counted, [(n, np.int64(3)) for n in LENGTHS]),
        (reshaped, [([1, 2], floats(rows, 6)) for rows in (0, 1, 5)]),
        (left, [([1, 2], floats(rows, 6)) for rows in (0, 1, 5)]),
        (left_beside_a_kept_extent, [([1, 2], floats(rows, 6)) for rows in (1, 5)]),
        (padded, [(n, floats(rows, 6)) for n in LENGTHS for rows in (0, 1, 5)]),
        (resized, [(n, floats(1, 2, 4, 4)) for n in ([1], [2, 3], [9])]),
        (resized_under_the_common_name, [(n, floats(1, 2, 4, 4)) for n in ([1], [2, 3])]),
        (twice, [(n, np.full(1, 2, np.float32)) for n in LENGTHS]),
    ],
)
def test_what_data_says_is_computed(graph: Callable[[], Any], calls: list[tuple[Any, Any]], tmp_path: Path) -> None:
    exe = weft.compile(graph())
    exe.save(tmp_path / "told.weft")
    meant = graph()
    for threads, each in ((1, exe), (2, weft.load(tmp_path / "told.weft"))):
        each.threads = threads
        for numbers, data in calls:
            x = np.array(numbers, np.int64)
            given = each(x, data)
            wanted: Sequence[Any] = evaluate_function(meant, [x, np.asarray(data)])
            for got, want in zip(given if isinstance(given, tuple) else (given,), wanted, strict=True):
                assert got.shape == want.shape
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_what_does_not_fit_is_told_when_it_runs() -> None:
    exe = weft.compile(reshaped())
    with pytest.raises(CheckError, match="16 is above 12"):
        exe(np.array([4], np.int64), floats(2, 6))
    with pytest.raises(CheckError, match="12 is above 10"):
        weft.compile(left())(np.array([5], np.int64), floats(2, 6))
    with pytest.raises(CheckError, match="0 is above -1"):
        weft.compile(filled())(np.array([-1], np.int64), np.float32(1))


def test_shapes_of_several_vectors_that_data_measures_keep_their_extents_apart() -> None:
    """As torch's exporter writes an index into several axes: each of two vectors is told by data how long it is, and
    both by one function; what is told a shape made of theirs begins a part of its own, to which both are inputs."""
    (x, n), y = told(), relay.var("y", shape=(OPEN,), dtype="int64")
    m = relay.sum(y, axis=[0], keepdims=True)
    zero, one = relay.const(0, "int64"), relay.const(1, "int64")
    rows, columns = (relay.arange(zero, relay.reshape(each, newshape=[]), one, dtype="int64") for each in (n, m))
    shape = joined(relay.shape_of(rows, dtype="int64"), relay.shape_of(columns, dtype="int64"))
    down = relay.dyn.broadcast_to(relay.expand_dims(rows, axis=1), shape)
    across = relay.dyn.broadcast_to(columns, shape)
    length = relay.reshape(relay.sum(rows + one, axis=[0], keepdims=True), newshape=[1])
    again = relay.dyn.tile(relay.reshape(down * relay.const(10, "int64") + across, newshape=[-1]), length)
    graph = relay.Function([x, y], again)
    a, b = np.array([1, 1]), np.array([1, 2])
    expected = np.tile((np.arange(2)[:, None] * 10 + np.arange(3)).reshape(-1), 3)
    np.testing.assert_array_equal(weft.compile(graph)(a, b), expected)


def test_nothing_is_left_of_a_tensor_that_is_known_to_have_no_elements() -> None:
    """Not as many as the tensor has in that place, which 0 in a shape says."""
    n, y = relay.var("n", shape=(1,), dtype="int64"), relay.var("y", shape=(0, 6))
    exe = weft.compile(relay.Function([n, y], relay.dyn.reshape(y, joined(n, -1))))
    assert np.asarray(exe(np.array([3], np.int64), floats(0, 6))).shape == (3, 0)


@pytest.mark.parametrize("shape", [(2, 6), (0, 6)])
def test_what_is_told_has_to_be_what_the_elements_make_it_where_nothing_else_is_open(shape: tuple[int, ...]) -> None:
    n, y = relay.var("n", shape=(1,), dtype="int64"), relay.var("y", shape=shape)
    graph = relay.Function([n, y], relay.exp(relay.dyn.reshape(y, joined(n, 6))))
    exe = weft.compile(graph)
    assert np.asarray(exe(np.array([shape[0]]), floats(*shape))).shape == shape
    for executable in (exe, weft.compile(graph, executor="interpreter")):
        with pytest.raises(weft.Diagnostic):
            executable(np.array([3]), floats(*shape))


def test_0_that_is_told_stands_for_an_extent_of_the_data_unless_zeros_are_allowed() -> None:
    """A shape of no elements is another one then, and was given in silence."""
    n, y = relay.var("n", shape=(1,), dtype="int64"), relay.var("y", shape=(3, 0))
    for allowzero, wanted in ((True, (0, 0)), (False, (3, 0))):
        reshaped = relay.dyn.reshape(y, joined(n, 0), allowzero=allowzero)
        graph = relay.Function([n, y], reshaped)
        interpreter, exe = weft.compile(graph, executor="interpreter"), weft.compile(graph)
        assert np.asarray(interpreter(np.array([0]), floats(3, 0))).shape == wanted
        assert np.asarray(exe(np.array([7]), floats(3, 0))).shape == (7, 0)
        assert np.asarray(exe(np.array([0]), floats(3, 0))).shape == wanted


def test_dimensions_are_put_in_where_an_input_says() -> None:
    for shape, given in (((OPEN, 3), (2, 3)), ((2, OPEN), (2, 0)), ((), ())):
        x, axis = relay.var("x", shape=shape), relay.var("axis", shape=(), dtype="int64")
        exe: Any = weft.compile(relay.Function([x, axis], relay.exp(relay.dyn.expand_dims(x, axis, num_newaxis=2))))
        data, rank = floats(*given), len(given)
        for at in range(-rank - 1, rank + 1):
            place = at % (rank + 1)
            wanted = np.exp(data).reshape((*given[:place], 1, 1, *given[place:]))
            np.testing.assert_allclose(exe(data, np.array(at)), wanted, rtol=1e-6, strict=True)
        with pytest.raises(weft.Diagnostic):
            exe(data, np.array(rank + 1))


def test_dimensions_are_taken_out_where_an_input_says_if_they_are_of_one() -> None:
    x, axes = relay.var("x", shape=(1, OPEN, 1)), relay.var("axes", shape=(2,), dtype="int64")
    graph = relay.Function([x, axes], relay.exp(relay.dyn.squeeze(x, axes)))
    executables: list[Any] = [weft.compile(graph), weft.compile(graph, executor="interpreter")]
    for size in (3, 1, 0):
        data = floats(1, size, 1)
        for told in ([0, 2], [-1, 0], [0, 1], [1, 2], [0, 0], [0, 3]):
            is_right = len({axis % 3 for axis in told}) == 2 and 3 not in told and (size == 1 or 1 not in told)
            for each in executables:
                if is_right:
                    wanted = np.exp(data).squeeze(axis=tuple(told))
                    np.testing.assert_allclose(each(data, np.array(told)), wanted, rtol=1e-6, strict=True)
                else:
                    with pytest.raises(weft.Diagnostic):
                        each(data, np.array(told))


def test_all_dimensions_are_taken_out() -> None:
    x, axes = relay.var("x", shape=(OPEN, 1)), relay.var("axes", shape=(2,), dtype="int64")
    exe = weft.compile(relay.Function([x, axes], relay.exp(relay.dyn.squeeze(x, axes))))
    assert np.asarray(exe(np.zeros((1, 1), np.float32), np.array([1, 0]))) == 1
    with pytest.raises(weft.Diagnostic):
        exe(np.zeros((2, 1), np.float32), np.array([1, 0]))
    with pytest.raises(weft.Diagnostic):
        exe(np.zeros((1, 1), np.float32), np.array([1, 1]))


@pytest.mark.parametrize("shape", [(0, 2), (2, 2)])
def test_dimensions_of_other_extents_are_not_taken_out(shape: tuple[int, ...]) -> None:
    """Where all of known ones were told to go, the compilation ended in a traceback."""
    x, axes = relay.var("x", shape=shape), relay.var("axes", shape=(2,), dtype="int64")
    exe = weft.compile(relay.Function([x, axes], relay.dyn.squeeze(x, axes)))
    with pytest.raises(weft.Diagnostic):
        exe(np.zeros(shape, np.float32), np.array([0, 1]))


@pytest.mark.parametrize("shape", [(), (3,), (OPEN, 1)])
def test_no_dimensions_are_taken_out(shape: tuple[Any, ...]) -> None:
    """The data's shape, which is known, stood where an open one was taken."""
    x, axes = relay.var("x", shape=shape), relay.var("axes", shape=(0,), dtype="int64")
    exe = weft.compile(relay.Function([x, axes], relay.negative(relay.dyn.squeeze(x, axes))))
    data = np.ones([2 if each is OPEN else each for each in shape], np.float32)
    np.testing.assert_array_equal(exe(data, np.zeros(0, np.int64)), -data, strict=True)

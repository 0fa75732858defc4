"""Operators of TVM that put elements at other places, made of those that there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from weft import relay
from weft.dialects.support.diagnostics import UsageError

relay: Any = relay


def run(made: Any, x: Any, array: Any) -> Any:
    return relay.create_executor().evaluate(relay.Function([x], made))(array)


def test_a_shape_is_read_from_its_end() -> None:
    x = relay.var("x", shape=(10, 5, 4))
    assert relay.reverse_reshape(x, (-1, 0)).shape == (50, 4)
    assert relay.reverse_reshape(x, (0, -1)).shape == (5, 40)
    assert relay.reverse_reshape(x, (2, -1, 0)).shape == (2, 25, 4)
    assert relay.reverse_reshape(x, (0, -3)).shape == (10, 20) and relay.reverse_reshape(x, (-2, 0)).shape == (10, 5, 4)
    with pytest.raises(UsageError, match="takes extents and 0 to -3"):
        relay.reverse_reshape(x, (-4, 2, 5, 0, 0))
    with pytest.raises(UsageError, match="asks for more dimensions"):
        relay.reverse_reshape(relay.var("y", shape=(relay.Any(), 4)), (0, 0, 0))


@pytest.mark.parametrize("newshape", [(-1, 0), (0, -3), (-2, 0), (2, -1, 0), (0, -1, 2), (0, 0, 0)])
def test_a_shape_of_open_extents_is_read_from_its_end(newshape: tuple[int, ...]) -> None:
    x = relay.var("x", shape=(relay.Any(),) * 3)
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    wanted = array.reshape([*relay.reverse_reshape(relay.const(array), newshape).shape])
    found = relay.create_executor("vm").evaluate(relay.Function([x], relay.reverse_reshape(x, newshape)))(array)
    assert np.asarray(found).tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("axis", "sizes", "strides"), [(1, (3, 4, 5), (1, 2, 3)), (-1, (2,), (4,)), (0, (1, 1, 2, 2), (1, 3, 1, 9))]
)
def test_windows_are_numpys(axis: int, sizes: Any, strides: Any) -> None:
    x, data = relay.var("x", shape=(2, 3, 8, 9)), np.arange(2 * 3 * 8 * 9, dtype=np.float32).reshape(2, 3, 8, 9)
    axes = tuple(range(axis % 4, 4))
    step = tuple(slice(None, None, s) for s in strides)
    wanted = sliding_window_view(data, sizes, axes)[(*(slice(None),) * (axis % 4), *step)]
    np.testing.assert_array_equal(run(relay.sliding_window(x, axis, sizes, strides), x, data), wanted)


@pytest.mark.parametrize(
    ("axis", "sizes", "strides", "message"),
    [
        (1, (3,), (1,), "needs a size and a stride for each"),
        (2, (9,), (1,), "does not fit"),
        (2, (2,), (0,), "does not fit"),
    ],
)
def test_windows_that_do_not_fit_are_refused(axis: int, sizes: Any, strides: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        relay.sliding_window(relay.var("x", shape=(2, 3, 8)), axis, sizes, strides)


def test_reorg_is_darknets() -> None:
    n, c, h, w, s = 2, 8, 4, 6, 2
    x, data = relay.var("x", shape=(n, c, h, w)), np.arange(n * c * h * w, dtype=np.float32)
    wanted: list[float] = []
    for b in range(n):
        for k in range(c):
            offset, channel = divmod(k, c // s**2)
            for j in range(h):
                for i in range(w):
                    row = j * s + offset // s + h * s * (channel + c // s**2 * b)
                    wanted.append(float(data[i * s + offset % s + w * s * row]))
    found = run(relay.vision.yolo_reorg(x, s), x, data.reshape(n, c, h, w))
    assert found.shape == (n, c * s**2, h // s, w // s) and found.ravel().tolist() == wanted
    with pytest.raises(UsageError, match="does not divide by the stride 3"):
        relay.vision.yolo_reorg(x, 3)
    with pytest.raises(UsageError, match="takes \\[n, c, h, w\\]"):
        relay.vision.yolo_reorg(relay.var("y", shape=(4, 4)), 2)


def test_a_checkpoint_is_its_data() -> None:
    x = relay.var("x", shape=(3,))
    assert relay.annotation.checkpoint(x).value is x.value
    assert relay.annotation.on_device(x, "cpu").value.owner.name == "relay.on_device"


@pytest.mark.parametrize("axis", [1, -2])
def test_a_buffer_drops_as_many_as_are_put_behind_it(axis: int) -> None:
    x, buffer = relay.var("x", shape=(2, 2, 3)), relay.var("buffer", shape=(2, 5, 3))
    new, old = np.arange(12, dtype=np.float32).reshape(2, 2, 3), -np.arange(30, dtype=np.float32).reshape(2, 5, 3)
    function = relay.Function([x, buffer], relay.nn.fifo_buffer(x, buffer, axis=axis))
    got = relay.create_executor().evaluate(function)(new, old)
    np.testing.assert_array_equal(got, np.concatenate([old, new], axis=1)[:, 2:])


def test_a_buffer_takes_what_it_has_room_for() -> None:
    x, buffer = relay.var("x", shape=(2, 6, 3)), relay.var("buffer", shape=(2, 5, 3))
    with pytest.raises(UsageError, match="what its buffer has room for"):
        relay.nn.fifo_buffer(x, buffer, axis=1)
    with pytest.raises(UsageError, match="no axis 3"):
        relay.nn.fifo_buffer(x, buffer, axis=3)

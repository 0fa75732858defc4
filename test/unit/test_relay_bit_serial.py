"""Products of numbers of few bits, against sums over their single bits, and bits that are packed, against NumPy's."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import UsageError

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[Any]


def evaluated(expr: Any, *arrays: NDArray) -> NDArray:
    """What an expression of its free variables is on machine code, which the interpreter agrees with."""
    function = relay.Function(relay.analysis.free_vars(expr), expr)
    run: Any = relay.create_executor("debug").evaluate(function)
    result = weft.compile(relay.IRModule.from_expr(function))(*arrays)
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(run(*arrays).numpy(), result)
    return result


def whole_numbers(dtype: str, *shape: int) -> NDArray:
    low = np.iinfo(dtype).min
    return np.random.default_rng(sum(shape)).integers(max(low, -200), 120, shape).astype(dtype)


def bit_products(x: NDArray, w: NDArray, x_bits: int, w_bits: int, unipolar: bool, dtype: str) -> NDArray:
    """`x @ w.T` as TVM sums it: bit by bit, a bit of a weight that is not set taken away where they are unipolar."""
    total = np.zeros((len(x), len(w)), np.int64)
    for i, j in product(range(x_bits), range(w_bits)):
        a, b = (x.astype(np.int64) >> i) & 1, (w.astype(np.int64) >> j) & 1
        total += (a @ b.T - (a @ (1 - b).T if unipolar else 0)) << (i + j)
    return total.astype(dtype)


@pytest.mark.parametrize("unipolar", [True, False])
@pytest.mark.parametrize(("x_bits", "w_bits"), [(1, 1), (2, 1), (3, 7), (8, 8)])
@pytest.mark.parametrize(("given", "out"), [("int16", "int16"), ("uint8", "int32"), ("int8", "int64")])
def test_a_product_is_that_of_the_low_bits(unipolar: bool, x_bits: int, w_bits: int, given: str, out: str) -> None:
    x, w = whole_numbers(given, 3, 64), whole_numbers(given, 5, 64)
    data, weight = relay.var("x", shape=x.shape, dtype=given), relay.var("w", shape=w.shape, dtype=given)
    y = relay.nn.bitserial_dense(data, weight, 5, x_bits, w_bits, out_dtype=out, unipolar=unipolar)
    np.testing.assert_array_equal(evaluated(y, x, w), bit_products(x, w, x_bits, w_bits, unipolar, out))


@pytest.mark.parametrize("pack_dtype", ["uint8", "uint32", "uint64"])
def test_weights_may_be_packed(pack_dtype: str) -> None:
    x, w = whole_numbers("int16", 3, 128), whole_numbers("int16", 5, 128)
    data, weight = relay.var("x", shape=x.shape, dtype="int16"), relay.var("w", shape=w.shape, dtype="int16")
    packed = relay.nn.bitpack(weight, 2, 1, 1, pack_dtype)
    y = relay.nn.bitserial_dense(data, packed, 5, 3, 2, pack_dtype)
    np.testing.assert_array_equal(evaluated(y, x, w), bit_products(x, w, 3, 2, True, "int16"))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_convolution_is_that_of_the_low_bits(layout: str, packed: bool) -> None:
    x, w = whole_numbers("int16", 1, 32, 5, 6), whole_numbers("int16", 3, 32, 3, 3)
    around = np.pad(x.astype(np.int64) & 3, ((0, 0), (0, 0), (1, 1), (1, 1)))
    taps = [around[0, :, 2 * r : 2 * r + 3, c : c + 3].reshape(-1) for r, c in product(range(3), range(6))]
    wanted = bit_products(np.array(taps), w.reshape(3, -1), 2, 2, True, "int16").T.reshape(1, 3, 3, 6)
    order, weights = ((0, 1, 2, 3), "OIHW") if layout == "NCHW" else ((0, 2, 3, 1), "HWIO")
    x = x.transpose(order)
    w = w if weights == "OIHW" else w.transpose(2, 3, 1, 0)
    data, weight = relay.var("x", shape=x.shape, dtype="int16"), relay.var("w", shape=w.shape, dtype="int16")
    taken = relay.nn.bitpack(weight, 2, weights.find("I"), 4, "uint16") if packed else weight
    y = relay.nn.bitserial_conv2d(data, taken, (2, 1), 1, 3, (3, 3), 2, 2, layout, weights, "uint16")
    np.testing.assert_array_equal(evaluated(y, x, w), wanted.transpose(order))


@pytest.mark.parametrize(("pack_axis", "bit_axis"), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)])
@pytest.mark.parametrize("pack_type", ["uint8", "uint32"])
def test_neighbours_share_an_element(pack_axis: int, bit_axis: int, pack_type: str) -> None:
    width = int(pack_type[4:])
    x = whole_numbers("int16", 2 * width, width)
    bits = [np.moveaxis(x >> b & 1, pack_axis, -1) for b in range(3)]
    packed = [np.packbits(each.astype(np.uint8), -1) for each in bits]  # the first bit is the highest of its byte
    words = [np.ascontiguousarray(each).view(f">u{width // 8}").astype(pack_type) for each in packed]
    wanted = np.stack([np.moveaxis(each, -1, pack_axis) for each in words], bit_axis)
    y = relay.nn.bitpack(relay.var("x", shape=x.shape, dtype="int16"), 3, pack_axis, bit_axis, pack_type)
    np.testing.assert_array_equal(evaluated(y, x), wanted)


def test_rows_may_be_open() -> None:
    x, w = whole_numbers("int16", 3, 64), whole_numbers("int16", 5, 64)
    data, weight = (
        relay.var("x", shape=(relay.Any(), 64), dtype="int16"),
        relay.var("w", shape=(5, 64), dtype="int16"),
    )
    y = relay.nn.bitserial_dense(data, weight, units=5)
    assert y.checked_type == relay.TensorType((relay.Any(), 5), "int16")
    np.testing.assert_array_equal(evaluated(y, x, w), bit_products(x, w, 1, 1, True, "int16"))


def test_bounds_of_packed_parts_are_nothing() -> None:
    x = relay.var("x", shape=(2,))
    assert relay.annotation.bitpack_start(x) == relay.annotation.bitpack_end(x) == x


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"bits": 9}, "1 to 8 bits"),
        ({"bits": 0}, "1 to 8 bits"),
        ({"pack_type": "int8"}, "packs bits in one of uint8"),
        ({"pack_axis": 2}, "axis 2 of"),
        ({"bit_axis": -1}, "its bits along -1"),
        ({"pack_type": "uint64"}, "32 elements do not fill ones of 64 bits"),
    ],
)
def test_what_cannot_be_packed_is_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        relay.nn.bitpack(relay.var("x", shape=(2, 32), dtype="int16"), **arguments)


def test_a_product_of_floats_is_refused() -> None:
    x, w = relay.var("x", shape=(2, 32)), relay.var("w", shape=(4, 32), dtype="int8")
    with pytest.raises(UsageError, match="takes and gives integers"):
        relay.nn.bitserial_dense(x, w)


def test_packed_weights_of_another_type_are_refused() -> None:
    x, w = relay.var("x", shape=(2, 32), dtype="int8"), relay.var("w", shape=(4, 1, 4), dtype="uint8")
    with pytest.raises(UsageError, match="weights that are packed are of uint32"):
        relay.nn.bitserial_dense(x, w)

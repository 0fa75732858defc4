"""Integer operators give the same by machine code and by NumPy evaluation for every pair of awkward operands."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper, numpy_helper
from tir_run import compiled, prim_func

import weft
from weft import relay
from weft.dialects import te
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.dtypes import scalar_type
from weft.dialects.te.evaluate import evaluate
from weft.dialects.te.expr import BinaryKind as B
from weft.frontend.onnx.importer import from_onnx

NDArray = npt.NDArray[Any]

KINDS = (B.DIV, B.FLOORDIV, B.FLOORMOD, B.TRUNCMOD, B.SHL, B.SHR, B.POW)
DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def awkward(dtype: str) -> NDArray:
    """Small numbers, the ends of the range, and the width of the type and its neighbours."""
    info = np.iinfo(dtype)
    values = {0, 1, 2, 3, 7, info.bits - 1, info.bits, info.bits + 1, info.max, info.max - 1, info.min, info.min + 1}
    if info.min:
        values |= {-1, -2, -3, -7}
    return np.array(sorted(values), dtype)


def both(kinds: tuple[B, ...], a: NDArray, b: NDArray) -> tuple[list[NDArray], list[NDArray]]:
    """What machine code and NumPy evaluation give for each of `kinds` and each pair of elements."""
    x, y = (te.placeholder(v.shape, scalar_type(v.dtype)) for v in (a, b))

    def table(kind: B) -> te.Tensor:
        return te.compute((len(a), len(b)), lambda i, j: te.binary(kind, x[i], y[j]), str(kind))

    outputs = [table(kind) for kind in kinds]
    stage = ([x, y], outputs)
    given = compiled(prim_func(stage), stage)(a, b)
    results = [given] if isinstance(given, np.ndarray) else list(given)
    return results, evaluate(outputs, {x: a, y: b})


@pytest.mark.parametrize("dtype", DTYPES)
def test_machine_code_agrees_on_all_awkward_operands(dtype: str) -> None:
    values = awkward(dtype)
    for kind, found, expected in zip(KINDS, *both(KINDS, values, values), strict=True):
        np.testing.assert_array_equal(found, expected, err_msg=kind)


def test_truth_values_are_integers_of_one_bit() -> None:
    values = np.array([False, True])
    for kind, found, expected in zip(KINDS, *both(KINDS, values, values), strict=True):
        assert expected.dtype == np.bool_
        np.testing.assert_array_equal(found, expected, err_msg=kind)


def test_a_quotient_by_zero_is_zero_and_a_shift_out_of_the_word_leaves_the_sign() -> None:
    a, b = np.array([-5], np.int32), np.array([0, 32, -1], np.int32)
    results, _ = both((B.DIV, B.FLOORMOD, B.SHL, B.SHR), a, b)
    assert [r[0].tolist() for r in results] == [[0, 0, 5], [0, 27, 0], [-5, 0, 0], [-5, -1, -1]]


def test_negative_exponents_round_towards_zero() -> None:
    a, b = np.array([0, 1, -1, 2], np.int64), np.array([-1, -2], np.int64)
    (found,), (expected,) = both((B.POW,), a, b)
    np.testing.assert_array_equal(found, [[0, 0], [1, 1], [-1, 1], [0, 0]])
    np.testing.assert_array_equal(expected, found)


MEANS: tuple[Callable[[relay.Expr], relay.Expr], ...] = (
    lambda x: relay.mean(x, axis=(2, 3), keepdims=True),
    relay.nn.global_avg_pool2d,
    lambda x: relay.nn.adaptive_avg_pool2d(x, (1, 1)),
    lambda x: relay.nn.avg_pool2d(x, pool_size=(17, 16)),
)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize("open", [False, True], ids=["known", "open"])
def test_a_mean_of_integers_is_right_where_their_sum_is_none_of_their_type(open: bool, dtype: str) -> None:
    """Of 272 elements: a count that bytes do not hold."""
    info = np.iinfo(dtype)
    data: NDArray = np.stack([np.full((17, 16), n, dtype) for n in (info.min, info.max, info.max // 2)])[None]
    data[0, 0, 3, 4] = info.max
    shape = (1, 3, 17, relay.Any() if open else 16)
    x = relay.var("x", shape=shape, dtype=dtype)
    graph = relay.Function([x], relay.Tuple([mean(x) for mean in MEANS]))
    wanted = data[0].astype(np.float64).mean(axis=(1, 2)).astype(dtype)
    for found in (weft.compile(graph, opt_level=1)(data), evaluate_function(graph, [data])):
        np.testing.assert_array_equal(np.reshape(found, (len(MEANS), 3)), [wanted] * len(MEANS))


def test_so_are_a_variance_and_a_correlation() -> None:
    """Of squares of 100, and of products of 3."""
    x = relay.var("x", shape=(2, 40), dtype="int16")
    y = relay.var("y", shape=(1, 40, 1, 1), dtype="int8")
    spread = relay.variance(x, axis=1)
    alike = relay.nn.correlation(y, y, 1, 0, 1, 1, [0], True, "NCHW")
    graph = relay.Function([x, y], relay.Tuple([spread, alike]))
    data = [np.tile(np.array([50, -50], np.int16), (2, 20)) * 2, np.full((1, 40, 1, 1), 3, np.int8)]
    for found in (weft.compile(graph, opt_level=1)(*data), evaluate_function(graph, data)):
        assert [np.ravel(each).tolist() for each in found] == [[10000, 10000], [9]]


def places(coordinates: str, size: int, wanted: int, scale: Fraction) -> list[Fraction]:
    """Where the elements of an axis stand that is resampled, by ONNX's text."""
    half = Fraction(1, 2)
    match coordinates:
        case "align_corners":
            return [i * (size - 1) / (size * scale - 1) for i in range(wanted)]
        case "asymmetric":
            return [i / scale for i in range(wanted)]
        case _:
            return [(i + half) / scale - half for i in range(wanted)]


def between(x: NDArray, axis: int, at: list[Fraction]) -> NDArray:
    """What lies between elements, the ends repeated beyond them, exactly."""
    low = np.array([floor(place) for place in at])
    below, above = (np.take(x, np.clip(low + step, 0, x.shape[axis] - 1), axis) for step in (0, 1))
    weights = np.array([place - floor(place) for place in at], object)
    weights = weights.reshape([-1, *[1] * (x.ndim - axis - 1)])
    return below * (1 - weights) + above * weights


@pytest.mark.sampled(6)
@pytest.mark.parametrize("scales", [(Fraction(9, 5), Fraction(4, 7)), (Fraction(3, 2), Fraction(3, 5))], ids=str)
@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32"])
def test_integers_are_interpolated_exactly_and_rounded_towards_zero(
    dtype: str, coordinates: str, scales: tuple[Fraction, Fraction]
) -> None:
    """Whole values must not depend on how floats are rounded, nor large ones be those of 24 bits."""
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(info.min, info.max, (1, 2, 5, 7), dtype, endpoint=True)
    x[0, 1] = x[0, 1] // 64  # many of whose means are whole
    sizes = [floor(n * scale) for n, scale in zip(x.shape[2:], scales, strict=True)]
    expected: NDArray = np.vectorize(Fraction, otypes=[object])(x.astype(object))
    for axis, (wanted, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        expected = between(expected, axis, places(coordinates, x.shape[axis], wanted, scale))
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode="linear", coordinate_transformation_mode=coordinates)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    values = [helper.make_tensor_value_info(name, kind, shape) for name, shape in (("x", x.shape), ("y", None))]
    factors = numpy_helper.from_array(np.array([1, 1, *map(float, scales)], np.float32), "s")
    graph = helper.make_graph([node], "resized", values[:1], values[1:], [factors])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    (function,) = (op for op in from_onnx(model).walk() if isinstance(op, FuncOp))
    for result in (weft.compile(model, threads=1).run({"x": x})["y"], *evaluate_function(function, [x])):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.astype(object), np.vectorize(int, otypes=[object])(expected))


@pytest.mark.parametrize("value", [32767, -32768])
def test_the_greatest_integers_stay_what_they_are_between_many_places(value: int) -> None:
    """The sums are 600 times 303 times as large, which 32 bits do not hold."""
    x = relay.var("x", shape=(1, 1, 7, 7), dtype="int16")
    exe = weft.compile(relay.Function([x], relay.image.resize2d(x, size=(300, 303))))
    found = exe(np.full((1, 1, 7, 7), value, np.int16))
    np.testing.assert_array_equal(found, np.full((1, 1, 300, 303), value, np.int16))

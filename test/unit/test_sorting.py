"""Orders of long axes, where elements are merged and not counted, and the first few of them."""

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.relay.ops.sort import FEW, KEPT, ArgsortOp, order_of
from weft.testing.operators import run_operator

pytestmark = pytest.mark.sampled(5)


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


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize(
    ("columns", "count"), [(FEW + 3, 1), (300, 7), (300, KEPT), (300, KEPT + 1), (300, 150), (300, 151), (700, 699)]
)
def test_the_first_few_of_a_long_axis_are_those_of_its_order(columns: int, count: int, ascending: bool) -> None:
    x = unordered(2, columns)
    (axis, data) = (0, x.T) if count == 7 else (1, x)
    value = relay.var("x", shape=data.shape)
    found = relay.topk(value, count, axis=axis, ret_type="both", is_ascend=ascending)
    values, places = weft.compile(relay.Function([value], found.astuple()), threads=2)(data)
    order = order_of(x, 1, ascending)[:, :count]
    np.testing.assert_array_equal(np.moveaxis(places, axis, 1), order)
    np.testing.assert_array_equal(np.moveaxis(values, axis, 1), np.take_along_axis(x, order, 1))


def extremes(dtype: str, count: int) -> np.ndarray:
    """Elements of a type, the least and the greatest among them; of floats NaN of both signs, and what is next to 0."""
    rng = np.random.default_rng(count)
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if dtype.startswith("float"):
        x = rng.normal(0, 1, count).astype(dtype)
        info = np.finfo(dtype)
        special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, info.max, info.min, info.smallest_subnormal]
        return rng.permutation(np.concatenate([x[: count - 18], np.array([*special, *special], dtype)]))
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    x[[3, 40, 77]], x[[4, 41, 78]] = info.min, info.max
    return x


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize(
    "dtype",
    ["float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"],
)
def test_elements_of_every_type_come_in_the_order_of_their_values(dtype: str, ascending: bool) -> None:
    x = extremes(dtype, 188)
    value = relay.var("x", shape=x.shape, dtype=dtype)
    counts = (KEPT, 60, x.size)  # in order, in a heap, and merged
    found = [relay.topk(value, count, axis=0, ret_type="indices", is_ascend=ascending) for count in counts]
    exe = weft.compile(relay.Function([value], relay.Tuple(found)), threads=1)
    for count, places in zip(counts, exe(x), strict=True):
        np.testing.assert_array_equal(places, order_of(x, 0, ascending)[:count])


def test_a_few_of_ordered_rows_and_of_open_ones_are_found() -> None:
    x = relay.var("x", shape=(relay.Any(), 200))
    exe = weft.compile(relay.Function([x], relay.topk(x, 9, axis=1, ret_type="indices", is_ascend=False)), threads=2)
    rising = np.arange(200, dtype=np.float32)
    for rows in ([], [rising, -rising, 0 * rising]):
        found = exe(np.array(rows, np.float32).reshape(-1, 200))
        expected = [np.arange(199, 190, -1), np.arange(9), np.arange(9)][: len(rows)]
        np.testing.assert_array_equal(found, np.array(expected).reshape(-1, 9))


def test_one_of_a_row_is_found_where_rows_are_ranked() -> None:
    x = relay.var("x", shape=(20, 100))
    exe = weft.compile(relay.Function([x], relay.topk(x, 1, axis=1, ret_type="values", is_ascend=True)))
    array = unordered(20, 100)
    np.testing.assert_array_equal(exe(array), np.sort(array, axis=1)[:, :1])


@pytest.mark.parametrize("what", ["topk", "cumsum"])
def test_threads_share_rows_that_statements_are_run_for(what: str) -> None:
    x, data = relay.var("x", shape=(40, 300)), unordered(40, 300)
    graph = relay.topk(x, 5, ret_type="indices") if what == "topk" else relay.cumsum(x, axis=1)
    exe = weft.compile(relay.Function([x], graph), threads=2)
    assert "tir.for parallel" in exe.ir["schedule"]
    with np.errstate(invalid="ignore"):
        wanted = order_of(data, 1, False)[:, :5] if what == "topk" else np.cumsum(data, axis=1)
    np.testing.assert_array_equal(exe.run({"x": data})["out"], wanted)

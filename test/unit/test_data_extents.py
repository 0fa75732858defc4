"""Extents that data decides: compiled, in memory for what they are at most, and never written beyond it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic
from weft.lowering.abi import steps_within
from weft.runtime.executable import Executable

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[Any]


def open_rows(name: str, columns: int = 3, dtype: str = "float32") -> Any:
    return relay.var(name, shape=(relay.Any(), columns), dtype=dtype)


@pytest.fixture(scope="module")
def found() -> tuple[Any, Executable]:
    """Where a matrix of any number of rows is not zero, what stands there, and how much that is; compiled for two
    threads."""
    x = open_rows("x")
    places = relay.argwhere(x)
    values = relay.exp(relay.gather_nd(x, relay.transpose(places), index_rank=2))
    graph = relay.Function([x], relay.Tuple([places, values, relay.sum(values)]))
    return graph, weft.compile(graph, threads=2)


def matrix(rows: int, share: float, seed: int = 0) -> npt.NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((rows, 3)) * (rng.random((rows, 3)) < share)).astype(np.float32)


@pytest.mark.parametrize("rows, share", [(5, 0.5), (0, 1), (1, 0), (7, 0), (7, 1), (3000, 0.3)])
def test_as_many_places_are_given_as_there_are(found: tuple[Any, Executable], rows: int, share: float) -> None:
    graph, exe = found
    x = matrix(rows, share)
    for threads in (1, 2):
        exe.threads = threads
        got: Any = exe(x)
        for array, wanted in zip(got, evaluate_function(graph, [x]), strict=True):
            assert (array.shape, array.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(array, wanted.astype(array.dtype), rtol=1e-5)


def test_a_saved_program_reads_its_extents_too(found: tuple[Any, Executable], tmp_path: Path) -> None:
    _, exe = found
    exe.save(tmp_path / "found.weft")
    again = weft.load(tmp_path / "found.weft")
    assert [str(spec) for spec in again.outputs] == [str(spec) for spec in exe.outputs]
    x = matrix(40, 0.4)
    for array, wanted in zip(again(x), exe(x), strict=True):
        np.testing.assert_array_equal(array, wanted)
    assert list(again.run({"x": x})) == [spec.name for spec in exe.outputs]


@pytest.mark.parametrize("opened", ["nothing", "rows", "all"])
def test_rows_without_an_element_are_filled(opened: str) -> None:
    count, width, rank, one = (
        relay.Any() if opened in whether else extent
        for extent, whether in ((3, ("rows", "all")), (2, ("all",)), (2, ("all",)), (1, ("all",)))
    )
    i, v = relay.var("i", shape=(count, width), dtype="int64"), relay.var("v", shape=(count,))
    shape, default = relay.var("shape", shape=(rank,), dtype="int64"), relay.var("default", shape=(one,))
    graph = relay.Function([i, v, shape, default], relay.sparse_fill_empty_rows(i, v, shape, default))
    exe: Any = weft.compile(graph, threads=1)
    for rows, count in ([[3, 1], [0, 2], [0, 1]], 5), ([[1, 1], [-1, 0], [9, 1]], 2), ([[0, 0], [0, 1], [0, 0]], 0):
        inputs = [np.array(rows), np.array([1, 2, 3], np.float32), np.array([count, 4]), np.array([7], np.float32)]
        for array, wanted in zip(exe(*inputs), evaluate_function(graph, inputs), strict=True):
            assert array.dtype == wanted.dtype
            np.testing.assert_array_equal(array, wanted)


@pytest.mark.parametrize("is_sorted", [True, False])
def test_different_elements_are_given_as_numpy_does(is_sorted: bool) -> None:
    x = relay.var("x", shape=(relay.Any(),))
    made = relay.unique(x, is_sorted=is_sorted, return_counts=True)
    graph = relay.Function([x], made.astuple() if hasattr(made, "astuple") else made)
    exe: Any = weft.compile(graph, threads=1)
    rng = np.random.default_rng(1)
    for count in (1, 9, 200):
        values = rng.integers(0, 6, count).astype(np.float32)
        values[rng.random(count) < 0.1] = np.nan
        for array, wanted in zip(exe(values), evaluate_function(graph, [values]), strict=True):
            np.testing.assert_array_equal(array, wanted)


@pytest.mark.parametrize("level", [0, 3])
def test_nothing_is_found_in_what_is_known_to_be_empty(level: int) -> None:
    x, y = relay.var("x", shape=(3, 0)), relay.var("y", shape=(0,))
    found = relay.unique(y, return_counts=True)
    graph = relay.Function([x, y], relay.Tuple([relay.argwhere(x), *(found[each] for each in range(5))]))
    inputs = [np.zeros((3, 0), np.float32), np.zeros(0, np.float32)]
    got: Any = weft.compile(graph, opt_level=level, threads=1)(*inputs)
    assert [array.shape for array in got] == [(0, 2), (0,), (0,), (0,), (1,), (0,)]
    for array, wanted in zip(got, evaluate_function(graph, inputs), strict=True):
        np.testing.assert_array_equal(array, wanted)


def test_a_number_that_is_no_extent_leads_nowhere() -> None:
    """Neither a negative number of rows nor more than there are."""
    from weft.dialects.relay.ops.dynamic import DataExtentOp

    x, count = open_rows("x"), relay.var("count", shape=(1,), dtype="int64")
    rows = relay.strided_slice(relay.shape_of(x, dtype="int64"), [0], [1])
    extent = type(x)(DataExtentOp(count.value, rows.value).result)
    zero, one = relay.const([0], "int64"), relay.const([1], "int64")
    exe: Any = weft.compile(relay.Function([x, count], relay.exp(relay.dyn.strided_slice(x, zero, extent, one))))
    data = matrix(6, 1)
    for number in (4, 0, 6, 7, -1, 2**62, -(2**63)):
        kept = min(max(number, 0), 6)
        np.testing.assert_allclose(exe(data, np.array([number])), np.exp(data[:kept]), rtol=1e-6)


def test_extents_that_data_decides_are_compared_when_it_runs() -> None:
    x, y = (relay.var(name, shape=(8,)) for name in "xy")
    first, second = (relay.take(each, relay.reshape(relay.argwhere(each), [-1])) for each in (x, y))
    exe = weft.compile(relay.Function([x, y], relay.add(first, second)))
    ones = np.ones(8, np.float32)
    for kept in (8, 3, 1, 0):
        data = np.where(np.arange(8) < kept, ones, 0)
        assert np.array_equal(exe(data, data[::-1].copy()), np.full(kept, 2))
    with pytest.raises(CheckError, match="extent 1"):
        exe(ones, np.eye(8, dtype=np.float32)[0])


@pytest.mark.parametrize(
    "options, which",
    [({}, -1), ({"return_indices": False}, 0), ({"return_indices": False, "invalid_to_bottom": True}, 0)],
)
def test_boxes_that_better_ones_cover_are_dropped_by_machine_code(options: dict[str, Any], which: int) -> None:
    rng = np.random.default_rng(2)
    corners = rng.uniform(0, 4, (2, 30, 2))
    fields = [
        rng.integers(-1, 2, (2, 30, 1)),
        rng.uniform(-0.2, 1, (2, 30, 1)),
        corners,
        corners + rng.uniform(1, 3, (2, 30, 2)),
    ]
    data = np.concatenate(fields, 2).astype(np.float32)
    rows, counts = relay.var("rows", shape=data.shape), relay.var("counts", shape=(2,), dtype="int32")
    indices = relay.const(np.tile(np.arange(30, dtype=np.int32), (2, 1)))
    made = relay.vision.non_max_suppression(
        rows,
        counts,
        indices,
        relay.const(np.int32(9)),
        relay.const(np.float32(0.4)),
        id_index=which,
        top_k=25,
        **options,
    )
    graph = relay.Function([rows, counts], made.astuple() if hasattr(made, "astuple") else made)
    exe: Any = weft.compile(graph, threads=2)
    for number in ([30, 11], [0, 1]):
        given = [data, np.array(number, np.int32)]
        got = exe(*given)
        wanted = evaluate_function(graph, given)
        results = cast("list[NDArray]", [*got] if isinstance(got, tuple) else [got])
        for array, expected in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(array, expected)


def test_steps_are_timed_at_the_extents_that_data_decides(found: tuple[Any, Executable], tmp_path: Path) -> None:
    found[1].save(tmp_path / "found.weft")
    for exe in (found[1], weft.load(tmp_path / "found.weft")):
        decided = str(("n", len(exe.graph.symbols)))  # what was read, behind the symbols
        assert any(
            decided in str(argument.sizes) for step in steps_within(exe.graph.steps) for argument in step.arguments
        )
        for share in (0.1, 1.0):
            assert len(exe.profile(matrix(40, share), repeat=1).steps) == len(exe.graph.steps)
        assert exe.profile(matrix(0, 1)).steps


def test_windows_with_strides_slide_over_images_of_any_size() -> None:
    x = relay.var("x", shape=(1, 2, relay.Any(), relay.Any()))
    weight = np.random.default_rng(0).standard_normal((4, 2, 3, 3)).astype(np.float32)
    y = relay.nn.conv2d(x, relay.const(weight), strides=(2, 2), padding=(1, 1))
    graph = relay.Function([x], relay.nn.max_pool2d(y, pool_size=(2, 2), strides=(2, 2)))
    exe: Any = weft.compile(graph, threads=1)
    for height, width in ((8, 8), (13, 6), (30, 41)):
        image = np.random.default_rng(1).standard_normal((1, 2, height, width)).astype(np.float32)
        (wanted,) = evaluate_function(graph, [image])
        np.testing.assert_allclose(exe(image), wanted.astype(np.float32), rtol=1e-4, atol=1e-4)
    with pytest.raises(Diagnostic, match="the graph takes inputs for which"):
        exe(np.ones((1, 2, 1, 8), np.float32))


def test_what_is_found_among_what_was_found_asks_nothing_of_inputs() -> None:
    """The bound of the second number is the first, which data decides as well."""

    def positive(v: relay.Expr) -> relay.Expr:
        return relay.take(v, relay.reshape(relay.argwhere(relay.nn.relu(v)), [-1]))

    x = relay.var("x", shape=(relay.Any(),))
    twice = positive(relay.subtract(positive(x), relay.const(np.float32(1.5))))
    exe = weft.compile(relay.Function([x], twice))
    for row in ([1, 0, 2, -3, 4], [0.5, 1], [], [0]):
        data = np.array(row, np.float32)
        np.testing.assert_array_equal(exe(data), data[data > 1.5] - np.float32(1.5))


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("what", ["left", "beside", "rest"])
def test_sizes_are_computed_of_what_data_has_decided_with_numbers_below_zero(what: str, level: int) -> None:
    """A factor of -1 was taken for 0: kernels went over more elements than there are."""
    x, z = relay.var("x", shape=(relay.Any(),)), relay.var("z", shape=(relay.Any(),))

    def rows(of: relay.Expr) -> relay.Expr:
        return relay.take(relay.shape_of(of, "int64"), number(0))

    def number(value: int) -> relay.Expr:
        return relay.const(value, "int64")

    count, n, m = rows(relay.argwhere(x)), rows(x), rows(z)
    size = {
        "left": lambda: relay.maximum(n - count, number(3)),
        "beside": lambda: relay.maximum(n - m + count, number(3)),
        "rest": lambda: relay.maximum(relay.floor_mod(m - count, number(5)), number(1)),
    }[what]()
    ones = relay.full(relay.const(1.0), relay.reshape(size, [1]), "float32")
    sums = relay.cumsum(ones, axis=0)
    graph = relay.Function([x, z], relay.Tuple([sums, relay.sum(sums)]))
    exe: Any = weft.compile(graph, opt_level=level, threads=1)
    for rows_of_x, rows_of_z, found in ((10, 4, 0), (10, 8, 5), (10, 2, 10), (6, 1, 1), (900, 890, 8)):
        inputs = [(np.arange(rows_of_x) < found).astype(np.float32), np.zeros(rows_of_z, np.float32)]
        for array, wanted in zip(exe(*inputs), evaluate_function(graph, inputs), strict=True):
            np.testing.assert_array_equal(array, wanted)


def test_a_number_and_its_bound_may_be_inputs() -> None:
    """As where a program is cut between what finds a number and what takes so many rows: then both are told."""
    from weft.dialects.relay.ops.dynamic import DataExtentOp

    x, y = (relay.var(name, shape=(relay.Any(),)) for name in "xy")
    count, most = (relay.var(name, shape=(1,), dtype="int64") for name in ("count", "most"))
    extent = type(x)(DataExtentOp(count.value, most.value).result)
    zero, one = relay.const([0], "int64"), relay.const([1], "int64")
    added = relay.add(relay.dyn.strided_slice(x, zero, extent, one), y)
    exe: Any = weft.compile(relay.Function([count, most, x, y], added), threads=1, opt_level=0)
    data = np.arange(8, dtype=np.float32)
    for wanted, bound in ((3, 8), (9, 5), (-4, 6), (0, 0), (2**62, 4), (-(2**63), 4)):
        taken = max(0, min(wanted, bound))
        result = exe(np.array([wanted]), np.array([bound]), data, np.ones(taken, np.float32))
        np.testing.assert_array_equal(result, data[:taken] + 1)
    with pytest.raises(Diagnostic):
        exe(np.array([3]), np.array([8]), data, np.ones(4, np.float32))


def test_what_data_decides_and_what_is_told_are_not_compared_before_both_are_known() -> None:
    """A mask that data cuts out, and zeros around it, are as long as an image: the zeros alone may be shorter."""
    from weft.dialects import te
    from weft.dialects.relay.extents import Extents
    from weft.dialects.te.dim_order import extreme
    from weft.dialects.te.dims import data_var, told_var

    length, cut, begin = te.var("length"), data_var("cut"), told_var("begin")
    extents = Extents(decided={cut: length})
    op: Any = relay.exp(open_rows("x")).value.owner
    zeros = extreme(te.BinaryKind.MAX, begin, 0)
    with pytest.raises(Diagnostic, match="which data decides"):
        extents.asked_of_inputs(op, length, cut + zeros)
    assert extents.asked_of_inputs(op, zeros, cut + zeros) is None
    assert extents.asked_of_inputs(op, 4, cut + length) is not None

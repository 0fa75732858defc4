"""Rests of rows whose number is known at the call are taken in tiles of every height."""

import numpy as np
import pytest
from xdsl.ir.affine import AffineExpr

import weft
from weft import relay
from weft.transforms.tir.rest_tilings import SMALL_REST, RestTilings

pytestmark = pytest.mark.sampled(5)


def tiles_of(rows: int, height: int, in_steps: bool = False) -> list[tuple[int, int]]:
    """Begin and height of each tile of so many rows, whole ones first."""
    count = AffineExpr.symbol(0)
    left, whole = count % height, count // height
    tilings = RestTilings.in_steps(left, height) if in_steps else RestTilings.of(left, whole, height)

    def value(expr: AffineExpr) -> int:
        return expr.eval([], [rows])

    whole = rows // height - value(tilings.of_whole())
    tiles = [(number * height, height) for number in range(whole)]
    for taken in tilings.heights:
        begin = rows // height * height + value(tilings.start(taken))
        tiles += [(begin + number * taken, taken) for number in range(value(tilings.count(taken)))]
    return tiles


@pytest.mark.parametrize(
    ("height", "in_steps"), [*((height, False) for height in range(2, 16)), (32, True), (27, True)]
)
def test_tiles_take_each_row_once_and_in_order(height: int, in_steps: bool) -> None:
    for rows in range(6 * height):
        tiles = tiles_of(rows, height, in_steps)
        assert [row for begin, taken in tiles for row in range(begin, begin + taken)] == list(range(rows))


@pytest.mark.parametrize("height", range(SMALL_REST, 16))
def test_there_are_as_few_tiles_as_can_be_and_none_is_small_where_there_are_several(height: int) -> None:
    for rows in range(6 * height):
        tiles = tiles_of(rows, height)
        assert len(tiles) == -(-rows // height)
        assert len(tiles) < 2 or min(taken for _, taken in tiles) > height // SMALL_REST


def test_a_matrix_unit_has_at_most_two_tiles_for_a_rest_and_few_heights() -> None:
    assert all(len(tiles_of(rows, 32, in_steps=True)) <= 2 for rows in range(32))
    assert [taken for _, taken in tiles_of(7, 32, in_steps=True)] == [7]
    assert [taken for _, taken in tiles_of(63, 32, in_steps=True)] == [32, 28, 3]
    heights = RestTilings.in_steps(AffineExpr.symbol(0) % 32, 32).heights
    assert heights == [28, 24, 20, 16, 12, 8, 7, 6, 5, 4, 3, 2, 1]


def test_few_rows_after_a_tile_share_them_with_it() -> None:
    assert [taken for _, taken in tiles_of(1, 9)] == [1]
    assert [taken for _, taken in tiles_of(10, 9)] == [5, 5]
    assert [taken for _, taken in tiles_of(20, 9)] == [9, 6, 5]
    assert [taken for _, taken in tiles_of(12, 9)] == [9, 3]


@pytest.mark.parametrize("columns", [33, 96, 101])
def test_every_number_of_rows_is_multiplied_as_numpy_does(columns: int) -> None:
    random = np.random.default_rng(columns)
    weight = random.standard_normal((columns, 300)).astype(np.float32)
    x = relay.var("x", shape=(relay.Any(), 300))
    exe = weft.compile(relay.Function([x], relay.nn.dense(x, relay.const(weight))), threads=1)
    for rows in (*range(20), 28, 29, 31, 32, 45):
        data = random.standard_normal((rows, 300)).astype(np.float32)
        got = np.asarray(exe(data), np.float32)
        np.testing.assert_allclose(got, data @ weight.T, rtol=1e-4, atol=1e-4)

"""`tir.layout` and `tir.bijective_layout`: layouts as values, and indices and extents from one to another."""

import numpy as np
import pytest

from weft import relay, te, tir
from weft.dialects.relay.layout import parse_layout, transform_array
from weft.dialects.support.diagnostics import UsageError


def test_a_layout_tells_its_dimensions() -> None:
    layout = tir.layout("NCHW16c")
    assert [layout.factor_of(each) for each in "cCN"] == [16, 16, -1]
    assert [layout.index_of(each) for each in "NCHWcO"] == [0, 1, 2, 3, 4, -1]
    assert "c" in layout and "O" not in layout and len(layout) == 5 and layout[-1] == "c"
    assert layout == tir.layout("NCHW16c") != tir.layout("NCHW8c") and str(layout) == layout.name == "NCHW16c"


@pytest.mark.parametrize(("src", "dst"), [("NCHW", "NCHW16c"), ("OIHW", "HWIO4i2o"), ("NCHW4c", "NHWC"), ("AB", "BA")])
def test_an_element_is_found_where_the_layout_has_it(src: str, dst: str) -> None:
    change = tir.bijective_layout(src, dst)
    assert change is not None
    shape = parse_layout(src).shape(dict.fromkeys(parse_layout(src).letters, 32))
    array = np.arange(np.prod(shape)).reshape(shape)
    moved = transform_array(array, parse_layout(src), parse_layout(dst))
    assert change.forward_shape(shape) == moved.shape and change.backward_shape(moved.shape) == shape
    random = np.random.default_rng(3)
    for _ in range(8):
        place = [int(each) for each in random.integers(0, shape)]
        there = [*map(_number, change.forward_index(place))]
        assert moved[tuple(there)] == array[tuple(place)]
        assert [*map(_number, change.backward_index(there))] == place


def _number(expr: te.Expr) -> int:
    from weft.dialects.te.expr import Const

    assert isinstance(expr, Const)
    return int(expr)


def test_extents_may_be_symbols() -> None:
    change, n = tir.bijective_layout("NC", "NC8c"), te.var("n")
    assert change is not None and str(change.forward_shape((n, 20))) == str((n, 3, 8))
    assert [str(each) for each in change.forward_index([n, n])] == ["n", "n // 8", "n % 8"]


def test_extents_that_are_not_known_stay_so_but_for_those_of_blocks() -> None:
    change, unknown = tir.bijective_layout("NCHW8c", "NHWC16c"), relay.Any()
    assert change is not None
    there = change.forward_shape((unknown, 4, 7, unknown, unknown))
    assert there == (unknown, 7, unknown, 2, 16) and there[0] is unknown
    assert change.backward_shape(there) == (unknown, 4, 7, unknown, 8)


def test_layouts_of_other_axes_have_no_way_between_them() -> None:
    for src, dst in (("NCHW", "ABCD"), ("__undef__", "NCHW"), ("NCHW", ""), ("", "")):
        assert tir.bijective_layout(src, dst) is None
    change = tir.bijective_layout("NC8c", "NC")
    assert change is not None
    for make, message in (
        (lambda: tir.layout("NCHW", dtype="float32"), "indices are int32 or int64"),
        (lambda: tir.layout("NcC"), "not a layout"),
        (lambda: change.forward_index([0, 0]), "has 3 dimensions, and 2 indices"),
        (lambda: change.forward_shape((1, 2, 4)), "has blocks of 8c, and not of 4"),
    ):
        with pytest.raises(UsageError, match=message):
            make()

"""`isa` says what xDSL's says."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    TensorType,
    f32,
    i32,
)
from xdsl.ir import Attribute
from xdsl.utils import hints as xdsl_hints

from weft.dialects.support.hints import isa

HINTS: list[Any] = [
    AnyFloat,
    ArrayAttr[Attribute],
    ArrayAttr[IntegerAttr],
    ArrayAttr[ArrayAttr[StringAttr]],
    IntegerAttr,
    IntegerAttr[IntegerType],
    IntegerType | StringAttr,
    MemRefType[Attribute],
    TensorType[IntegerType],
    list[int],
    tuple[int, ...],
]
THINGS: list[object] = [
    f32,
    i32,
    StringAttr("x"),
    IntAttr(1),
    IntegerAttr(1, i32),
    IntegerAttr.from_index_int_value(1),
    ArrayAttr([]),
    ArrayAttr([IntegerAttr(1, i32)]),
    ArrayAttr([StringAttr("x")]),
    ArrayAttr([ArrayAttr([StringAttr("x")])]),
    MemRefType(f32, [1]),
    TensorType(f32, [1]),
    TensorType(i32, [1]),
    None,
    [1],
    (1, "x"),
]


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_a_hint_means_what_it_means_to_xdsl(hint: Any) -> None:
    for _ in range(2):  # worked out, and known
        assert [isa(thing, hint) for thing in THINGS] == [xdsl_hints.isa(thing, hint) for thing in THINGS]
    assert any(isa(thing, hint) for thing in THINGS) or hint in (tuple[int, ...],)

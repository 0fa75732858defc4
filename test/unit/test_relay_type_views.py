"""What types answer under TVM's names."""

from __future__ import annotations

from typing import Any

import pytest

from weft import relay, te, tir
from weft.dialects.support.diagnostics import UsageError


def test_a_tensor_type_has_a_dtype_and_extents():
    type: Any = relay.TensorType((2, 3), "float16")
    assert (type.dtype, type.concrete_shape) == ("float16", (2, 3))
    assert [int(n) for n in type.shape] == [2, 3] and type.shape[1].value == 3 and list(range(type.shape[0])) == [0, 1]


def test_an_open_extent_is_no_number_of_a_concrete_shape():
    type: Any = relay.TensorType((relay.Any(), 3))
    with pytest.raises(UsageError, match="tensor<\\?x3xf32> has an extent that is not known"):
        _ = type.concrete_shape
    with pytest.raises(TypeError, match="an extent that is not known is no number"):
        int(type.shape[0])


def test_an_extent_may_be_an_integer_of_tir():
    x = relay.var("x", shape=(tir.IntImm("int64", 4), 2))
    assert x.checked_type == relay.TensorType((4, 2))


def test_tuples_functions_references_and_data_types_are_taken_apart():
    a, T, box = relay.TensorType((2,)), relay.TypeVar("T"), relay.GlobalTypeVar("box")
    views: Any = relay
    assert views.TupleType([a, T]).fields == (a, T)
    function: Any = relay.FuncType([a, T], a)
    assert (function.arg_types, function.ret_type, function.type_params) == ((a, T), a, [T])
    assert views.RefType(a).value == a
    call: Any = relay.TypeCall(box, [a])
    assert (call.func.name_hint, call.args) == ("box", (a,))


def test_what_is_computed_of_variables_is_an_open_extent():
    n = te.var("n")
    x = relay.var("x", shape=(n, n * 2, te.floordiv(n, 3)))
    assert x.checked_type == relay.TensorType((relay.Any(), relay.Any(), relay.Any()))


def test_the_shape_of_a_type_is_one_for_others() -> None:
    made: Any = relay
    known, part = relay.TensorType((2, 3), "int8").shape, relay.TensorType((2, relay.Any()), "int8").shape
    assert relay.TensorType(part, "float16") == relay.TensorType((2, relay.Any()), "float16")
    assert [relay.var("y", shape=known).shape, relay.var("y", part).shape] == [(2, 3), (2, -1)]
    assert made.zeros(known, "int8").shape == made.reshape(relay.var("z", shape=(6,)), known).shape == (2, 3)
    with pytest.raises(UsageError, match="'shape' needs extents that are known"):
        made.zeros(part, "int8")

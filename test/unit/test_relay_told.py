"""Operators that are told by expressions what TVM's builders take as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError

pytestmark = pytest.mark.sampled(3)

relay: Any = relay

X = relay.var("x", shape=(6,))
S = relay.var("s", shape=(2,), dtype="int64")


def name(expr: Any) -> str:
    return expr.value.owner.name.removeprefix("relay.")


@pytest.mark.parametrize(
    ("made", "operator", "shape"),
    [
        (relay.reshape(X, relay.const([2, -1])), "reshape", (2, 3)),
        (relay.reshape(X, S), "dyn.reshape", (-1, -1)),
        (relay.reshape(X, S, allowzero=True), "dyn.reshape", (-1, -1)),
        (relay.reshape(X, [relay.take(S, relay.const(0)), 2]), "dyn.reshape", (-1, -1)),
        (relay.tile(X, S), "dyn.tile", (-1, -1)),
        (relay.zeros(S, "float32"), "dyn.zeros", (-1, -1)),
        (relay.full(1.5, S, "float32"), "dyn.full", (-1, -1)),
        (relay.broadcast_to(X, S), "dyn.broadcast_to", (-1, -1)),
        (relay.nn.pad(X, relay.reshape(S, (1, 2))), "dyn.nn.pad", (-1,)),
        (relay.strided_slice(X, relay.take(S, relay.const([0])), [4]), "dyn.strided_slice", (-1,)),
        (relay.strided_slice(X, relay.const([1]), [4]), "strided_slice", (3,)),
        (relay.topk(X, relay.const(2), ret_type="values"), "topk", (2,)),
    ],
)
def test_constants_are_numbers_and_all_else_makes_the_operator_dynamic(made: Any, operator: str, shape: Any) -> None:
    assert name(made) == operator and made.shape == shape


def test_a_dynamic_form_computes_what_the_static_one_does() -> None:
    run = relay.create_executor().evaluate(relay.Function([X, S], relay.nn.pad(X, relay.reshape(S, (1, 2)), 7.0)))
    padded = run(np.zeros(6, np.float32), np.array([1, 2]))
    assert padded.dtype == np.float32 and padded.tolist() == [7, 0, 0, 0, 0, 0, 0, 7, 7]


def test_integers_may_be_told_as_floats_which_are_cut_off() -> None:
    reps = relay.var("reps", shape=(1,))
    run = relay.create_executor().evaluate(relay.Function([X, reps], relay.tile(X, reps)))
    assert run(np.arange(6, dtype=np.float32), np.array([2.9], np.float32)).tolist() == [*range(6)] * 2
    image, size = relay.var("image", shape=(1, 1, 2, 2)), relay.var("size", shape=(2,))
    assert name(relay.image.resize2d(image, size)) == "dyn.image.resize2d"


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_what_a_shape_of_data_leaves_to_that_of_the_tensor_is_found_when_it_runs(kind: str) -> None:
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x = relay.var("x", shape=(2, 3, 4))
    for dtype, wanted in (
        ("int64", {(4, 0, 2): (4, 3, 2), (2, -1, 3): (2, 4, 3), (-3, 2, 2): (6, 2, 2), (0, 0, 0): (2, 3, 4)}),
        ("int32", {(-3, 4): (6, 4), (0, -3): (2, 12), (-1, 0): (8, 3)}),
    ):
        shape = relay.var("shape", shape=(len(next(iter(wanted))),), dtype=dtype)
        run = relay.create_executor(kind).evaluate(relay.Function([x, shape], relay.reshape(x, shape)))
        for given, found in wanted.items():
            result = run(data, np.array(given, dtype))
            assert result.shape == found and (result.numpy().ravel() == data.ravel()).all()
        refused = ((5, 5, 1), (-4, -6, 1), (2, 3, -5), (-1, -1, 2), (-3, 4, 0), (0, 0, -3))
        for wrong in refused if dtype == "int64" else ():
            with pytest.raises(Diagnostic):
                run(data, np.array(wrong, dtype))


def test_a_slice_of_the_first_dimensions_keeps_the_extents_of_the_others() -> None:
    data, at = relay.var("data", shape=(4, 5, 6)), relay.var("at", shape=(1,), dtype="int64")
    rows = relay.strided_slice(data, at, at + relay.const([2], "int64"))
    assert name(rows) == "dyn.strided_slice" and rows.shape == (-1, 5, 6)
    array = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
    run = relay.create_executor().evaluate(relay.Function([data, at], rows))
    assert (run(array, np.array([1])) == array[1:3]).all()


def test_what_the_dynamic_form_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="'axes' needs what the others say to be constants"):
        relay.strided_slice(X, relay.take(S, relay.const([0])), [4], axes=[0])
    with pytest.raises(UsageError, match="missing a required argument"):
        relay.reshape(X)


@pytest.mark.parametrize(
    ("indices", "count", "extents", "wanted"),
    [
        (2, (), [4], [0.5, 0.5, 1, 0.5]),
        ([3, 0], (2,), [5], [2, 0.5, 0.5, 1, 0.5]),
        ([[0, 1], [1, 0]], (2,), [2, 2], [[0.5, 1], [2, 0.5]]),
        ([[0, 1], [1, 0]], (), [2, 3], [[0.5, 1, 0.5], [1, 0.5, 0.5]]),
    ],
)
@pytest.mark.parametrize("executor", ["debug", "vm"])
def test_values_at_indices_are_of_a_tensor_whose_shape_is_told(
    executor: str, indices: Any, count: Any, extents: list[int], wanted: Any
) -> None:
    places = np.asarray(indices, np.int32)
    values = np.array([1, 2] if count else 1, np.float32)
    i, v = relay.var("i", shape=places.shape, dtype="int32"), relay.var("v", shape=count)
    shape = relay.var("shape", shape=(len(extents),), dtype="int64")
    made = relay.op.sparse_to_dense(i, shape, v, 0.5)
    run = relay.create_executor(executor).evaluate(relay.Function([i, shape, v], made))
    assert run(places, np.asarray(extents, np.int64), values).tolist() == wanted


def test_places_of_values_of_a_told_shape_are_a_matrix_at_most() -> None:
    places = relay.var("i", shape=(1, 2, 2), dtype="int32")
    with pytest.raises(UsageError, match=r"takes a number, \[n\] or \[n, rank\] for the indices"):
        relay.op.sparse_to_dense(places, S, relay.const([1.0]))


def test_the_extent_of_a_block_is_what_the_layout_says() -> None:
    data = relay.var("data", relay.TensorType((relay.Any(), relay.Any(), 3, relay.Any()), "float32"))
    moved = relay.layout_transform(data, "NCW4c", "NCW2c")
    assert moved.shape == (-1, -1, 3, 2)
    array = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    for executor in ("debug", "vm"):
        run = relay.create_executor(executor).evaluate(relay.Function([data], moved))
        assert (run(array).numpy()[0, :, 0].ravel() == [0, 1, 2, 3, 12, 13, 14, 15]).all()
        with pytest.raises(weft.Diagnostic):
            run(array.reshape(1, 4, 3, 2))
    with pytest.raises(UsageError, match="'NCW4' is not a layout"):
        relay.layout_transform(data, "NCW4", "NCW2c")


def test_what_has_to_be_nowhere_names_no_device() -> None:
    free = relay.annotation.on_device(X, "cuda", constrain_result=False, constrain_body=False).attrs
    assert free.virtual_device.device_type_int == -1 and not free.constrain_body and not free.constrain_result
    assert relay.annotation.on_device(X, "cuda", constrain_body=False, constrain_result=True).attrs.constrain_result
    assert relay.annotation.on_device(X, "cuda").attrs.virtual_device.type == "cuda"


def test_what_there_is_not_is_a_message_of_the_kind_that_tvm_has() -> None:
    with pytest.raises(weft.Diagnostic, match=r"relay has no operator 'nn\.rellu'") as operator:
        relay.Op.get("nn.rellu")
    with pytest.raises(weft.Diagnostic, match="there is no device type 'cud'") as device:
        weft.device("cud")
    assert isinstance(operator.value, AttributeError) and isinstance(device.value, ValueError)
    assert "did you mean 'nn.relu'" in str(operator.value) and not hasattr(relay, "rellu")

"""Arrays of tensors of any shapes, as lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.relay.ranked_tensor_arrays import TensorArrayOps

pytestmark = pytest.mark.sampled(6)

relay: Any = relay
ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


class Arrays:
    """Functions of arrays of one element type, by name."""

    def __init__(self, dtype: str = "float32"):
        self.prelude, self.dtype = relay.Prelude(), dtype

    def __getattr__(self, name: str) -> Any:
        return self.prelude.get_global_var(f"tensor_{name}", self.dtype)

    def element(self, rank: int, value: Any) -> Any:
        return self.prelude.get_tensor_ctor(f"tensor{rank}", self.dtype)(value)

    def of(self, rank: int, *values: Any) -> Any:
        made = self.array(relay.const(len(values)))
        for number, value in enumerate(values):
            made = self.array_write(made, relay.const(number), self.element(rank, value))
        return made

    def run(self, kind: str, params: list[Any], body: Any, *inputs: Any) -> list[Any]:
        """The tensors that a function gives: `None` for an element without one."""
        module = self.prelude.mod
        module["main"] = relay.Function(params, body)
        with weft.PassContext(opt_level=1):
            return tensors(relay.create_executor(kind, module).evaluate()(*inputs))


def tensors(value: Any) -> list[Any]:
    name = value.constructor.name_hint
    if name == "Cons":
        return [*tensors(value[0]), *tensors(value[1])]
    if name == "Nil":
        return []
    return [value[0].numpy()] if len(value) else [None]


def some(*names: str) -> list[Any]:
    return [relay.var(name) for name in names]


def assert_gives(
    arrays: Arrays, params: list[Any], body: Any, inputs: list[Any], expected: list[Any], *kinds: str
) -> None:
    for kind in kinds or ("debug", "vm"):
        found = arrays.run(kind, params, body, *inputs)
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == arrays.dtype


def test_elements_of_other_ranks_stand_in_one_array() -> None:
    arrays, (x, y) = Arrays("int32"), some("x", "y")
    made = arrays.array(relay.const(3))
    made = arrays.array_write(made, relay.const(2), arrays.element(2, x))
    made = arrays.array_write(made, relay.const(0), arrays.element(0, y))
    found = arrays.run("debug", [x, y], made, ROWS.astype(np.int32), np.int32(7))
    assert found[0] == 7 and found[1] is None and found[2].tolist() == ROWS.tolist()
    read = arrays.array_read(made, relay.const(2))
    assert_gives(arrays, [x, y], read, [ROWS.astype(np.int32), np.int32(7)], [ROWS])


def test_elements_are_stacked_and_gathered() -> None:
    arrays, (x, y, at) = Arrays(), some("x", "y", "at")
    whole = arrays.of(2, x, y)
    assert_gives(arrays, [x, y], arrays.array_stack(whole), [ROWS, 2 * ROWS], [np.stack([ROWS, 2 * ROWS])], "debug")
    chosen, places = arrays.array_gather(whole, at), np.array([1, 1, 0], np.int32)
    assert_gives(arrays, [x, y, at], chosen, [ROWS, ROWS + 1, places], [np.stack([ROWS + 1, ROWS + 1, ROWS])])


def test_elements_of_a_rank_are_joined_along_the_first_axis() -> None:
    arrays, (x, y) = Arrays(), some("x", "y")
    joined = arrays.array_concat(arrays.of(2, x, y))
    assert_gives(arrays, [x, y], joined, [ROWS, ROWS[:1]], [np.concatenate([ROWS, ROWS[:1]])], "debug")
    x, z = some("x", "z")
    mixed = arrays.concatenate(arrays.element(2, x), arrays.element(1, z))
    for kind in ("debug", "vm"):
        with pytest.raises(Diagnostic, match="the match has no case for 'tensor1_float32'"):
            arrays.run(kind, [x, z], mixed, ROWS, ROWS[0])


@pytest.mark.parametrize(("rank", "kind"), [(1, "debug"), (3, "vm"), (6, "debug")])
def test_a_tensor_is_unstacked_into_its_rows(rank: int, kind: str) -> None:
    arrays, (x,) = Arrays(), some("x")
    data = np.arange(2 * 3 ** (rank - 1), dtype=np.float32).reshape(2, *[3] * (rank - 1))
    unstacked = getattr(arrays, f"array_unstack_tensor{rank}")(x)
    assert_gives(arrays, [x], unstacked, [data], list(data), kind)


def test_parts_of_a_tensor_become_elements() -> None:
    arrays, (x, sizes, at) = Arrays(), some("x", "sizes", "at")
    parts = arrays.array_split(arrays.array(relay.const(2)), arrays.element(2, x), sizes)
    assert_gives(arrays, [x, sizes], parts, [ROWS, np.array([0, 2], np.int32)], [ROWS[:0], ROWS], "debug")
    scattered = arrays.array_scatter(arrays.of(2, x, x), at, arrays.of(2, x + x))
    assert_gives(arrays, [x, at], scattered, [ROWS, np.array([1], np.int32)], [ROWS, 2 * ROWS], "vm")
    grown = arrays.expand_dims(arrays.take(arrays.element(2, x), relay.const(1), relay.const(2)))
    assert_gives(arrays, [x], grown, [ROWS], [ROWS[None, 1:2]], "debug")


def test_names_are_tvms_and_registered_once() -> None:
    prelude = relay.Prelude()
    assert "tensor_array_float32" not in prelude.mod
    ops = TensorArrayOps(prelude, "float32")
    assert prelude.mod.get_type("tensor_int8_t")[2].name_hint == "tensor0_int8"
    assert prelude.get_global_var("tensor_array", "float32") == ops.get_global_var("tensor_array")
    header, nothing, *made = prelude.mod.get_type("tensor_float32_t")
    assert header == prelude.get_type("tensor_t", "float32") == ops.get_type("tensor_t")
    assert nothing == prelude.get_ctor("tensor_float32_t", "tensor_nil", "float32")
    assert [each.name_hint for each in made] == [f"tensor{rank}_float32" for rank in range(7)]
    with pytest.raises(KeyError, match="tensor_array_shuffle_float32"):
        prelude.get_global_var("tensor_array_shuffle", "float32")
    with pytest.raises(KeyError, match="has no constructor 'tensor9_float32'"):
        prelude.get_tensor_ctor("tensor9", "float32")

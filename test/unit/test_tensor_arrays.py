"""Arrays of tensors of one shape, as lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.frontend.relay.tensor_arrays import StaticTensorArrayOps

pytestmark = pytest.mark.sampled(2)

relay: Any = relay
ONES = np.ones((2, 3), np.float32)


def arrays(shape: Any) -> tuple[Any, Any]:
    prelude = relay.Prelude(relay.IRModule())
    ops = StaticTensorArrayOps(prelude, "float32", shape)
    ops.register()
    return prelude, ops


def of_two(ops: Any, first: Any, second: Any) -> Any:
    write, make = ops.get_global_var("tensor_array_write"), ops.get_ctor("tensor_constructor")
    empty = ops.get_global_var("tensor_array")(relay.const(2))
    return write(write(empty, relay.const(0), make(first)), relay.const(1), make(second))


def run(kind: str, prelude: Any, params: Any, body: Any, *inputs: Any) -> Any:
    module = prelude.mod
    module["main"] = relay.Function(params, body)
    with weft.PassContext(opt_level=1):
        return relay.create_executor(kind, module).evaluate()(*inputs)


def tensors(value: Any) -> list[Any]:
    """The tensors of an element, or of an array."""
    match value.constructor.name_hint.split("_")[0]:
        case "Cons":
            return [*tensors(value[0]), *tensors(value[1])]
        case "tensor" if len(value):
            return [value[0].tolist()]
        case _:
            return []


def test_elements_are_gathered_into_one() -> None:
    prelude, ops = arrays([2, 3])
    x, y, at = relay.var("x"), relay.var("y"), relay.var("at")
    body = ops.get_global_var("tensor_array_gather")(of_two(ops, x, y), at)
    for kind in ("debug", "vm"):
        value = run(kind, prelude, [x, y, at], body, ONES, 2 * ONES, np.array([1, 1, 0], np.int32))
        np.testing.assert_array_equal(tensors(value), [np.stack([2 * ONES, 2 * ONES, ONES])])


def test_a_tensor_is_split_by_lengths() -> None:
    prelude, ops = arrays([4, 2])
    cut = StaticTensorArrayOps(prelude, "float32", [relay.Any(), 2])
    cut.register()
    x, sizes = relay.var("x"), relay.var("sizes")
    empty = cut.get_global_var("tensor_array")(relay.const(2))
    body = ops.get_global_var("tensor_array_split")(empty, ops.get_ctor("tensor_constructor")(x), sizes)
    data = np.arange(8, dtype=np.float32).reshape(4, 2)
    value = run("debug", prelude, [x, sizes], body, data, np.array([3, 1], np.int32))
    assert tensors(value) == [data[:3].tolist(), data[3:].tolist()]


def test_names_are_tvms() -> None:
    prelude, ops = arrays([relay.Any(), 3])
    assert ops.get_name("tensor_t") == "static_tensor_float32_any_3_t"
    assert ops.get_name("tensor_array_scatter", {"indices": [2]}) == "tensor_array_scatter_float32_any_3_indices_2"
    scalars = StaticTensorArrayOps(prelude, "int32", [], 1)
    assert scalars.get_name("tensor_array_stack") == "tensor_array_stack_int32_batch1_scalar"
    shape = [relay.Any(), 3]
    assert prelude.get_tensor_ctor_static("tensor_nil", "float32", shape) == ops.get_ctor("tensor_nil")
    read = prelude.get_global_var_static("tensor_array_read", "float32", shape)
    assert read == ops.get_global_var("tensor_array_read")
    with pytest.raises(KeyError, match="has no data type 'static_tensor_int32_scalar_t'"):
        prelude.get_type_static("tensor_t", "int32", [])


def test_a_field_takes_what_is_known_better() -> None:
    prelude, ops = arrays([relay.Any(), 3])
    make = ops.get_ctor("tensor_constructor")
    prelude.mod["main"] = relay.Function([], make(relay.const(ONES)))
    prelude.mod.verify()
    _, other = arrays([2, 3])
    x = relay.var("x", shape=(relay.Any(), 3))
    module = other.prelude.mod
    with pytest.raises(Exception, match="field 0 of 'tensor_constructor_float32_2_3' is"):
        module["main"] = relay.Function([x], other.get_ctor("tensor_constructor")(x))
        module.verify()

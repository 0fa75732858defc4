"""TVM's files of parameters: all types are read as they were written, and what is cut off or damaged is refused."""

from __future__ import annotations

import struct

import ml_dtypes
import numpy as np
import pytest
from graph_json_samples import BIAS, JSON, PARAMS, WEIGHT, perceptron, perceptron_module

import weft
from weft.dialects.support.array_bytes import ARRAY_MAGIC
from weft.graph_executor import (
    GraphModule,
    ParamError,
    create,
    load_param_dict,
    save_param_dict,
)
from weft.runtime.param_dict import LIST_MAGIC


@pytest.fixture(scope="module")
def exe() -> weft.Executable:
    return perceptron()


@pytest.fixture
def module(exe: weft.Executable) -> GraphModule:
    return perceptron_module(exe)


def test_parameters_of_all_types_are_read_as_they_were_written() -> None:
    arrays = {
        dtype: np.arange(6).reshape(2, 3).astype(dtype)
        for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint64", "bool", "float16", "float32", "float64")
    }
    arrays |= {"bf": np.ones(3, ml_dtypes.bfloat16), "scalar ü": np.array(7, np.int32), "empty": np.zeros((0, 2))}
    found = load_param_dict(save_param_dict(arrays))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert np.array_equal(found[name], array)


def test_parameters_are_written_as_tvm_writes_them() -> None:
    assert save_param_dict({"p0": WEIGHT, "p1": BIAS}) == PARAMS


def test_parameters_are_kept_by_relays_names_too() -> None:
    kept = weft.relay.save_param_dict({"w": np.ones(3, np.float32)})
    assert isinstance(kept, bytearray) and weft.relay.load_param_dict(kept)["w"].numpy().tolist() == [1, 1, 1]
    assert kept == save_param_dict({"w": np.ones(3, np.float32)})
    np.testing.assert_array_equal(weft.relay.load_param_dict(kept)["w"], np.ones(3, np.float32))


def test_parameters_that_are_cut_off_are_refused() -> None:
    for size in range(len(PARAMS)):
        with pytest.raises(ParamError):
            load_param_dict(PARAMS[:size])


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, 1, "begin with another number"),
        (16, 255, "cut off"),
        (32, 255, "a name is no text"),
        (44, 1, "2 names for 1"),
        (52, 1, "'p0' is no array"),
        (80, 9, "code 9, 32 bits, 1 lanes"),
        (82, 4, "4 lanes"),
        (84, 4, "is [4, 4] of float32, and 48 bytes"),
    ],
)
def test_parameters_that_are_damaged_are_refused(at: int, value: int, message: str) -> None:
    data = bytearray(PARAMS)
    data[at] = value
    with pytest.raises(ParamError) as error:
        load_param_dict(bytes(data))
    assert message in error.value.message


def test_what_the_format_of_parameters_has_not_is_refused() -> None:
    with pytest.raises(ParamError, match="a name is no text"):
        save_param_dict({"\ud800": np.zeros(2)})
    for shape, size in (((1,) * 65, 4), ((0, 1 << 62), 0)):
        head = struct.pack("<QQQQ1sQ", LIST_MAGIC, 0, 1, 1, b"a", 1)
        head += struct.pack("<QQiiiBBH", ARRAY_MAGIC, 0, 1, 0, len(shape), 2, 32, 1)
        with pytest.raises(ParamError, match="'a' is "):
            load_param_dict(head + struct.pack(f"<{len(shape)}qq", *shape, size) + bytes(size))
    with pytest.raises(ParamError, match="complex128"):
        save_param_dict({"z": np.zeros(2, complex)})
    with pytest.raises(ParamError, match="behind the last array"):
        load_param_dict(PARAMS + b"\0")


def test_parameters_are_what_the_graph_computes_with(exe: weft.Executable) -> None:
    weight = WEIGHT.copy()
    module = create(JSON, exe, params={"p0": weight, "p1": BIAS})
    weight[:] = 0
    assert module.save_params() == PARAMS, "the module has copied it"
    module.set_input("p0", 2 * WEIGHT)
    assert np.array_equal(load_param_dict(module.save_params())["p0"], 2 * WEIGHT)

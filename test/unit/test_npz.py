"""Weights that are read when they are asked for."""

import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from weft.dialects.relay.core import ConstantOp
from weft.dialects.relay.npz import headers, is_dtype
from weft.dialects.relay.weights import load_weights, write_weights
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.dtypes import scalar_type
from weft.dialects.support.parser import parse_module
from weft.tools.run_values import read_npz
from weft.transforms.infra.registry import new_ir_context

DTYPES = ["float16", "float32", "float64", "bfloat16", "int8", "int64", "uint8", "uint32", "bool"]


def constant(path: Path, type: str = "tensor<2x3xf32>") -> ConstantOp:
    module = parse_module(f'%w = relay.constant #relay.resource<"w"> : {type}', new_ir_context(), str(path))
    load_weights(module, path, later=True)
    op = module.body.block.first_op
    assert isinstance(op, ConstantOp)
    return op


def held(path: Path, type: str = "tensor<2x3xf32>") -> npt.NDArray[np.generic] | None:
    return constant(path, type).numpy()


@pytest.mark.parametrize("name", DTYPES)
def test_a_header_says_which_elements_there_are(name: str, tmp_path: Path) -> None:
    dtype = ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)
    write_weights({"w": np.arange(6).reshape(2, 3).astype(dtype)}, tmp_path / "m.weights.npz")
    header = headers(tmp_path / "m.weights.npz")["w"]
    assert header.shape == (2, 3)
    assert [other for other in DTYPES if is_dtype(header.dtype, scalar_type(other))] == [name]


def test_an_array_is_not_read_before_it_is_asked_for(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.savez(tmp_path / "m.weights.npz", w=array)
    op = constant(tmp_path / "m.mlir")
    (tmp_path / "m.weights.npz").unlink()
    with pytest.raises(Diagnostic, match="cannot be read as weights"):
        op.numpy()
    np.savez(tmp_path / "m.weights.npz", v=array)
    with pytest.raises(Diagnostic, match="no 'w' any more"):
        op.numpy()
    np.savez(tmp_path / "m.weights.npz", w=array)
    np.testing.assert_array_equal(op.numpy(), array)


@pytest.mark.parametrize("array", [
    np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    np.broadcast_to(np.float32(3), (2, 3)),
])  # fmt: skip
def test_arrays_that_are_stored_in_another_way_are_read_too(array: npt.NDArray[np.float32], tmp_path: Path) -> None:
    write_weights({"w": array}, tmp_path / "m.weights.npz")
    np.testing.assert_array_equal(held(tmp_path / "m.mlir"), array)


@pytest.mark.parametrize("type", ["tensor<3x2xf32>", "tensor<2x3xf64>", "tensor<2x3xi32>"])
def test_weights_that_do_not_fit_are_refused_at_once(type: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "m.weights.npz", w=np.zeros((2, 3), np.float32))
    with pytest.raises(Diagnostic, match="the weights hold float32"):
        constant(tmp_path / "m.mlir", type)


def test_a_broken_file_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "m.weights.npz").write_bytes(b"not a zip")
    with pytest.raises(Diagnostic, match="cannot be read as weights"):
        constant(tmp_path / "m.mlir")


HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}\n"
DAMAGED = {
    "unclosed": HEADER[:-2],
    "other keys": HEADER.replace("'fortran_order'", "1"),
    "no dtype": HEADER.replace("'<f4'", "()"),
    "larger than memory": HEADER.replace("(2", f"({1 << 50}"),
    "larger than numbers": HEADER.replace("(2", f"({1 << 80}"),
    "no NumPy": "",
}


@pytest.mark.parametrize("header", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, 99], ids=["stored", "packed in a way that there is not"])
def test_a_damaged_array_is_refused(header: str, method: int, tmp_path: Path) -> None:
    member = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(24)
    path = tmp_path / "m.weights.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("w.npy", member if header else b"some text")
    data = path.read_bytes()
    for mark, offset in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        at = data.index(mark) + offset
        data = data[:at] + method.to_bytes(2, "little") + data[at + 2 :]
    path.write_bytes(data)
    with pytest.raises(Diagnostic, match="cannot be read as weights"):
        constant(tmp_path / "m.mlir")
    with pytest.raises(Diagnostic, match="cannot be read"):
        read_npz(str(path))

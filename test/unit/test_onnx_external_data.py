"""Weights in files beside an ONNX model: they are mapped, and nothing outside of its folder is read."""

import os
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import (
    TensorProto,
    helper,
)
from onnx_samples import graph_of, model_of, random, run

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx


def test_weights_in_a_file_beside_the_model_are_mapped(tmp_path: Path):
    weight = random(64, 64)
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [64, 64]}, weights={"w": weight})
    path = tmp_path / "m.onnx"
    onnx.save_model(model_of(graph), str(path), save_as_external_data=True, location="m.bin", size_threshold=16)
    assert (tmp_path / "m.bin").exists()
    x = random(64, 64, seed=1)
    np.testing.assert_array_equal(run(from_onnx(path), x)[0], x + weight)


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("size", [8, 64])
def test_a_program_does_not_depend_on_the_file_beside_its_model(target: str, size: int, tmp_path: Path):
    weight, x = random(size, size), random(size, size, seed=1)
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [size, size]}, weights={"w": weight})
    path = tmp_path / "m.onnx"
    onnx.save_model(model_of(graph), str(path), save_as_external_data=True, location="m.bin", size_threshold=0)
    exe = weft.compile(path, target, threads=1)
    with open(tmp_path / "m.bin", "r+b") as file:
        file.write(bytes(weight.nbytes))
    np.testing.assert_array_equal(np.asarray(exe(x)), x + weight)


@pytest.mark.parametrize("where", ["../secret", "../folder/../secret", "/secret", "link", "out/secret"])
def test_weights_outside_of_the_models_folder_are_refused(where: str, tmp_path: Path):
    (tmp_path / "secret").write_bytes(bytes(16))
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [4]}, weights={"w": random(4)})
    tensor = graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=f"{tmp_path}{where}" if where.startswith("/") else where)
    path = tmp_path / "folder" / "m.onnx"
    path.parent.mkdir()
    (path.parent / "link").symlink_to(tmp_path / "secret")
    (path.parent / "out").symlink_to(tmp_path)
    path.write_bytes(model_of(graph).SerializeToString())
    with pytest.raises(Diagnostic, match="outside of the model's folder"):
        from_onnx(path)


# What protobuf lets through, and what would take too much


def saved(tmp_path: Path, **external: str) -> Path:
    """A model whose weight `w` of 16 bytes is in the file `m.bin` beside it, described by `external`."""
    graph = graph_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [4]}, weights={"w": random(4)})
    tensor = graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in ({"location": "m.bin"} | external).items():
        tensor.external_data.add(key=key, value=value)
    (tmp_path / "m.bin").write_bytes(np.arange(8, dtype=np.float32).tobytes())
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(graph).SerializeToString())
    return path


def test_offset_and_length_of_external_data_count(tmp_path: Path):
    x = random(4)
    np.testing.assert_array_equal(
        run(from_onnx(saved(tmp_path, offset="8", length="16")), x)[0], x + np.arange(2, 6, dtype=np.float32)
    )


@pytest.mark.parametrize(
    ("external", "message"),
    [
        ({"offset": "-4"}, "'-4' is no offset"),
        ({"offset": "four"}, "'four' is no offset"),
        ({"offset": "9" * 40}, "is no offset"),
        ({"offset": "20"}, "takes bytes 20 to 36 of 'm.bin', which has 32"),
        ({"length": "12"}, "takes 16 bytes, but its data is 12 bytes long"),
        ({"location": "m\0.bin"}, "cannot be read"),
        ({"location": "missing"}, "cannot be read from 'missing': no such file or directory\\nhint"),
        ({"location": "."}, "it is no ordinary file"),
        ({"location": "/dev/zero"}, "outside of the model's folder"),
    ],
)
def test_external_data_that_is_described_wrong_is_an_error(external: dict[str, str], message: str, tmp_path: Path):
    with pytest.raises(Diagnostic, match=message):
        from_onnx(saved(tmp_path, **external))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_the_place_of_data_is_not_waited_for(tmp_path: Path):
    path = saved(tmp_path, location="pipe")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Diagnostic, match="no ordinary file"):
        from_onnx(path)


def test_external_data_with_a_negative_extent_is_an_error(tmp_path: Path):
    path = saved(tmp_path)
    proto = onnx.load(str(path), load_external_data=False)
    proto.graph.initializer[0].dims[0] = -4
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(Diagnostic, match=r"tensor 'w' has shape \[-4\]"):
        from_onnx(path)

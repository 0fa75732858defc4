"""Large weights of an ONNX file stay in the bytes that were read, and mean what they mean in a model in memory."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")

from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto, helper, numpy_helper

import weft
from weft import compilation, kept_programs
from weft.dialects.support import file_facts
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.mapped_files import watching
from weft.dialects.support.onnx_fields import LARGE, Unusual, without_weights
from weft.frontend.onnx import from_onnx
from weft.frontend.onnx.files import load

N = LARGE // 4
"""Floats that are large."""


def weight(name: str, count: int = N, dtype: npt.DTypeLike = np.float32) -> TensorProto:
    values = np.random.default_rng(len(name)).integers(0, 100, count).astype(dtype)
    return numpy_helper.from_array(values, name)


def model_of(*weights: TensorProto) -> ModelProto:
    """`y = sum(x, weights...)`, all of them cast to float."""
    nodes = [helper.make_node("Cast", [w.name], [f"{w.name}_f"], to=TensorProto.FLOAT) for w in weights]
    nodes.append(helper.make_node("Sum", ["x", *(f"{w.name}_f" for w in weights)], ["y"]))
    float_type = helper.make_tensor_value_info
    inputs, outputs = [float_type("x", TensorProto.FLOAT, [1])], [float_type("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def outcome(model: Path | ModelProto) -> str:
    """The module, or what is wrong, as text without the file's name."""
    try:
        return str(from_onnx(model))
    except Diagnostic as error:
        return error.message


def saved(model: ModelProto | bytes, folder: Path) -> Path:
    path = folder / "m.onnx"
    path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    return path


def test_a_large_weight_is_a_view_of_the_file_and_a_small_one_is_parsed(tmp_path: Path) -> None:
    model = model_of(weight("small", 1), weight("large"), weight("larger", 3 * N), weight("half", 4 * N, np.float16))
    loaded = load(saved(model, tmp_path))
    assert sorted(loaded.weights) == ["half", "large", "larger"]
    assert [len(each.raw_data) for each in loaded.proto.graph.initializer] == [4, 0, 0, 0]
    for proto in model.graph.initializer[1:]:
        found = loaded.weights[proto.name]
        np.testing.assert_array_equal(found, numpy_helper.to_array(proto))
        assert not found.flags.writeable and not found.flags.owndata
    proto = loaded.proto
    for each, original in zip(proto.graph.initializer, model.graph.initializer, strict=True):
        each.raw_data = original.raw_data
    assert proto == model, "all else is as it was"


def test_a_file_means_what_its_model_means(tmp_path: Path) -> None:
    in_other_fields = helper.make_tensor("listed", TensorProto.FLOAT, [N], [1.5] * N)
    brains = helper.make_tensor("brains", TensorProto.BFLOAT16, [2 * N], bytes(range(128)) * (N // 32), raw=True)
    truths = numpy_helper.from_array(np.arange(4 * N) % 3 == 0, "truths")
    model = model_of(
        weight("a"), in_other_fields, brains, truths, weight("b", N, np.int64), weight("c", 8 * N, np.int8)
    )
    assert outcome(saved(model, tmp_path)) == outcome(model)


def test_what_is_wrong_with_a_large_weight_is_said_as_of_a_small_one(tmp_path: Path) -> None:
    short, odd, negative, twice = (model_of(weight("a"), weight("b")) for _ in range(4))
    short.graph.initializer[0].raw_data += b"1234"
    odd.graph.initializer[0].data_type = 77
    negative.graph.initializer[0].dims[:] = [-1, -N]
    twice.graph.initializer[0].name = "b"
    said = [(outcome(saved(model, tmp_path)), outcome(model)) for model in (short, odd, negative, twice)]
    assert all(file == memory for file, memory in said)
    assert [("relay" in file) for file, _ in said] == [False] * 4, said


def test_what_is_written_in_an_odd_way_is_left_to_protobuf(tmp_path: Path) -> None:
    a, b = model_of(weight("a")), model_of(weight("b"))
    data = a.SerializeToString() + ModelProto(graph=b.graph).SerializeToString()
    with pytest.raises(Unusual):
        without_weights(memoryview(data))
    merged = load(saved(data, tmp_path))
    assert not merged.weights and merged.proto == ModelProto.FromString(data)
    assert [each.name for each in merged.proto.graph.initializer] == ["a", "b"]


def test_damaged_files_are_read_as_protobuf_reads_them(tmp_path: Path) -> None:
    """Bytes are changed and cut off beside the data, where the fields are."""
    chance = random.Random(1)
    model = model_of(weight("a"), weight("b", 8), weight("c", 5 * N))
    whole = model.SerializeToString()
    data = [whole.index(each.raw_data) for each in model.graph.initializer]
    for _ in range(300):
        damaged = bytearray(whole)
        place = chance.choice([*data, len(whole), 40]) - chance.randrange(40)
        damaged[place:] = damaged[place:] if chance.randrange(4) else b""
        for _ in range(chance.randrange(3)):
            at = max(place - chance.randrange(12), 0)
            damaged[at : at + 1] = bytes([chance.randrange(256)])
        path = saved(bytes(damaged), tmp_path)
        try:
            expected = ModelProto.FromString(bytes(damaged))
        except DecodeError:
            expected = None
        if expected is None or not expected.HasField("graph"):
            with pytest.raises(Diagnostic, match="not an ONNX model"):
                load(path)
            continue
        loaded = load(path)
        for each in loaded.proto.graph.initializer:
            if each.name in loaded.weights:
                each.raw_data = loaded.weights[each.name].tobytes()
        assert loaded.proto == expected


X = np.ones(1, np.float32)


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model in a file that is taken to be large, with no program kept of it."""
    monkeypatch.setattr(file_facts, "LARGE", 1)
    kept_programs.forget()
    return saved(model_of(weight("a"), weight("b")), tmp_path)


def values(name: str) -> npt.NDArray[np.float32]:
    return numpy_helper.to_array(weight(name)).astype(np.float32)


def is_mapped(array: object) -> bool:
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


def test_a_large_file_is_mapped_where_somebody_watches_it(large: Path) -> None:
    assert not any(map(is_mapped, load(large).weights.values())), "a module may outlive what is in the file"
    with watching():
        loaded = load(large).weights
    assert len(loaded) == 2 and all(map(is_mapped, loaded.values()))


def test_a_program_does_not_need_the_file_it_was_compiled_from(large: Path) -> None:
    exe = weft.compile(large)
    large.write_bytes(b"")
    np.testing.assert_array_equal(exe(X), 1 + values("a") + values("b"))
    with pytest.raises(Diagnostic, match="written to since it was compiled"):
        _ = exe.ir["llvm"]


def test_a_file_that_another_takes_the_place_of_is_still_there(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = large.with_name("other.onnx")
    other.write_bytes(model_of(weight("a"), weight("bb")).SerializeToString())
    monkeypatch.setattr(compilation, "compile_graph", after(lambda: other.replace(large)))
    exe = weft.compile(large)
    np.testing.assert_array_equal(exe(X), 1 + values("a") + values("b"))
    assert "relay.add" in exe.ir["import"]
    monkeypatch.undo()
    np.testing.assert_array_equal(weft.compile(large)(X), 1 + values("a") + values("bb"))


def test_a_file_that_is_written_to_while_it_is_compiled_is_refused(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray(large.read_bytes())
    data[data.index(values("a").tobytes())] ^= 1
    monkeypatch.setattr(compilation, "compile_graph", after(lambda: large.write_bytes(data)))
    with pytest.raises(Diagnostic, match="written to while it was compiled"):
        weft.compile(large)


def after(change: Callable[[], object]) -> Callable[..., object]:
    """`compile_graph`, with a change before it."""

    def compile_graph(*args: Any, **options: Any) -> object:
        change()
        return unchanged(*args, **options)

    unchanged = compilation.compile_graph
    return compile_graph

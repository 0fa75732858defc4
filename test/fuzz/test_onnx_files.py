"""Mutated ONNX models: importing and compiling them ends in success or in a diagnostic."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mutate import mutated_bytes, run_cases, run_tool

pytest.importorskip("onnx")

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx_cases import KINDS, cases_of, groups

from weft.testing.models import transformer_encoder
from weft.tools import weft_import, weft_run

INTEGERS = (0, -1, 1, 2, 3, 64, 2**31 - 1, 2**31, -(2**31), 2**40, 2**62, -(2**63))


@cache
def small_models() -> list[bytes]:
    """Some of ONNX's tests of single operators, and a transformer and a convolutional network of a few kilobytes."""
    rng = np.random.default_rng(0)
    weight = numpy_helper.from_array(rng.standard_normal((4, 3, 3, 3)).astype(np.float32), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2], name="conv"),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], ceil_mode=1),
        helper.make_node("Flatten", ["c"], ["d"]),
        helper.make_node("Softmax", ["d"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 9, 9])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    convolution = helper.make_model(helper.make_graph(nodes, "g", [x], [y], [weight]))
    encoder = transformer_encoder(layers=1, hidden=8, heads=2, tokens=4, vocabulary=10)
    slow = ("averagepool", "lppool", "maxpool")  # to make in ONNX
    chosen = [group for group in groups() if group not in (*KINDS, *slow)][::4]
    models = [case.model for group in chosen for case in cases_of(group)[::3] if case.model is not None]
    return [model.SerializeToString() for model in [convolution, encoder] * 20 + models]


def mutated_message(message: Message, rng: random.Random) -> None:
    """Change one field somewhere in `message`."""
    target, parents = message, 0
    while parents < 6:
        inner = [(f, v) for f, v in target.ListFields() if f.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE]
        if not inner or (parents > 1 and rng.random() < 0.4):
            break
        field, value = rng.choice(inner)
        target = rng.choice(list(value)) if field.is_repeated else value
        parents += 1
    fields = target.ListFields()
    if not fields:
        return
    field, value = rng.choice(fields)
    changed: dict[int, Callable[[], object]] = {
        FieldDescriptor.CPPTYPE_STRING: lambda: "".join(rng.choices(string.printable, k=rng.randrange(6))),
        FieldDescriptor.CPPTYPE_INT32: lambda: rng.choice([i for i in INTEGERS if abs(i) < 2**31]),
        FieldDescriptor.CPPTYPE_INT64: lambda: rng.choice(INTEGERS),
        FieldDescriptor.CPPTYPE_FLOAT: lambda: rng.choice((0.0, -1.0, 1e38, float("nan"), float("inf"))),
        FieldDescriptor.CPPTYPE_ENUM: lambda: rng.randrange(30),
    }
    if field.is_repeated and len(value):
        place = rng.randrange(len(value))
        if rng.random() < 0.3:
            del value[place]
        elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            value.add().CopyFrom(value[place])
        elif field.cpp_type in changed and field.type != FieldDescriptor.TYPE_BYTES:
            value[place] = changed[field.cpp_type]()
    elif field.type == FieldDescriptor.TYPE_BYTES:
        setattr(target, field.name, mutated_bytes(value, rng))
    elif field.cpp_type in changed:
        try:
            setattr(target, field.name, changed[field.cpp_type]())
        except ValueError:  # an enumeration that is closed
            target.ClearField(field.name)
    else:
        target.ClearField(field.name)


def test_mutated_models_end_in_success_or_a_diagnostic(onnx_cases: range, tmp_path: Path) -> None:
    models = small_models()

    def run(case: int) -> None:
        rng = random.Random(case)
        data = rng.choice(models)
        if rng.random() < 0.3:
            data = mutated_bytes(data, rng)
        else:
            model = ModelProto.FromString(data)
            for _ in range(rng.choice((1, 1, 2, 3))):
                mutated_message(model, rng)
            data = model.SerializeToString()
        path = tmp_path / "m.onnx"
        path.write_bytes(data)
        if rng.random() < 0.6:
            run_tool(weft_import.main, [str(path), "-o", str(tmp_path / "m.mlir")])
        else:
            run_tool(weft_run.main, [str(path), "--threads", "1", "--quiet"])

    wrong = run_cases(onnx_cases, run)
    assert not wrong, f"{len(wrong)} of {len(onnx_cases)}:\n" + "\n".join(wrong[:20])

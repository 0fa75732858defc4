"""Nodes made at random: each is imported, or declined with a message that names it, but never ends in a traceback."""

import random
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper

from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import FIRST_OPSET, LAST_OPSET, from_onnx, supported_operators

SHAPES = [(), (1,), (3,), (0,), (2, 3), (0, 3), (2, 3, 4), (1, 3, 8, 8), ("N",), ("N", 3)]
CONSTANTS = [0, 1, 2, -1, [], [1], [0, -1], [2, 2], [-1, 3], [1, 1, 2, 2], [5, 5, 5, 5], [[0, 1], [1, 0]]]
VALUES = {
    AttributeProto.INT: [0, 1, 2, -1, 7],
    AttributeProto.FLOAT: [0.0, 1.0, -2.0],
    AttributeProto.STRING: ["nonsense", "none", "linear", "SAME_UPPER", "ij,jk->ik", "...i->...", "i,i"],
    AttributeProto.INTS: [[1], [2, 2], [0, 1], [1, 1, 1, 1], [-1], [3, 3, 3]],
    AttributeProto.FLOATS: [[1.0, 2.0]],
    AttributeProto.TENSOR: [numpy_helper.from_array(np.ones(1, np.int64)), numpy_helper.from_array(np.ones((2, 2)))],
}


def random_model(operator: str, choose: random.Random) -> ModelProto | None:
    """A model of one node; `None` where the opset has no such operator."""
    opset = choose.randint(FIRST_OPSET, LAST_OPSET)
    try:
        schema = onnx.defs.get_schema(operator, opset)
    except onnx.defs.SchemaError:
        return None
    names = [f"x{i}" for i in range(choose.randint(schema.min_input, max(schema.min_input, min(schema.max_input, 5))))]
    weights = {
        name: np.array(choose.choice(CONSTANTS), choose.choice([np.int64, np.float32]))
        for name in names
        if choose.random() < 0.5
    }
    attributes: dict[str, Any] = {}
    for name, attribute in schema.attributes.items():
        choices = VALUES.get(attribute.type.value)
        if choices and (attribute.required or choose.random() < 0.3):
            attributes[name] = choose.choice(choices)
    outputs = ["y0", "y1"][: choose.randint(1, 2)]
    graph = helper.make_graph(
        [helper.make_node(operator, names, outputs, **attributes)],
        "g",
        [
            helper.make_tensor_value_info(
                name, choose.choice([TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.INT64]), choose.choice(SHAPES)
            )
            for name in names
            if name not in weights
        ],
        [helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("operator", supported_operators())
def test_a_random_node_is_imported_or_declined_with_a_place(operator: str):
    choose = random.Random(operator)
    for _ in range(30):
        model = random_model(operator, choose)
        if model is None:
            continue
        try:
            module = from_onnx(model)
        except Diagnostic as error:
            assert error.place is not None, str(error)
        else:
            module.verify()

"""Graphs of Relay operators as ONNX models, so that another engine can evaluate them. Needs `onnx`.

What an operator is in ONNX is said by its class (`RelayOp.ONNX`), as the importer reads it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, ValueInfoProto, helper, numpy_helper
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, SSAValue

from ..dialects.relay.base import RelayOp, tensor
from ..dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from ..dialects.relay.ops.broadcast import DivideOp
from ..dialects.support.dtypes import numpy_dtype

NDArray: TypeAlias = npt.NDArray[np.generic]

OPSET = 18


class NoCounterpart(Exception):
    """Something in a graph is not in ONNX, or not determined there."""


def to_onnx(module: ModuleOp) -> ModelProto:
    """The function `@main` of `module`, which takes and returns tensors, as a model.

    Raises:
        NoCounterpart: an operator's class names no ONNX operator; or it divides integers, where ONNX leaves open what
            a division by zero does (ONNX Runtime's ends the process).
    """
    function = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    names: dict[SSAValue, str] = {}
    nodes: list[NodeProto] = []
    weights: list[Any] = []
    inputs = [_info(_name(argument, names), argument) for argument in function.body.block.args]
    outputs: list[ValueInfoProto] = []
    for op in function.body.block.ops:
        match op:
            case ConstantOp() if (array := op.numpy()) is not None:
                weights.append(numpy_helper.from_array(array, _name(op.result, names)))
            case ReturnOp():
                for number, value in enumerate(op.operands):  # a value may be returned twice, or be an argument
                    nodes.append(helper.make_node("Identity", [names[value]], [f"result{number}"]))
                    outputs.append(_info(f"result{number}", value))
            case RelayOp() if op.ONNX and not _divides_integers(op):
                results = [_name(result, names) for result in op.results]
                attributes: dict[str, Any] = {name: _python(value) for name, value in op.properties.items()}
                nodes.append(helper.make_node(op.ONNX[0], [names[v] for v in op.operands], results, **attributes))
            case _:
                raise NoCounterpart(op.name)
    graph = helper.make_graph(nodes, "main", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def _name(value: SSAValue, names: dict[SSAValue, str]) -> str:
    return names.setdefault(value, f"value{len(names)}")


def _info(name: str, value: SSAValue) -> ValueInfoProto:
    type = tensor(value)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(numpy_dtype(type.element_type)))
    return helper.make_tensor_value_info(name, element, type.get_shape())


def _divides_integers(op: RelayOp) -> bool:
    return isinstance(op, DivideOp) and isinstance(tensor(op.results[0]).element_type, IntegerType)


def _python(value: Attribute) -> int | float:
    match value:
        case IntegerAttr():
            return cast("IntegerAttr[Any]", value).value.data
        case FloatAttr():
            return value.value.data
        case _:
            raise NoCounterpart(f"an attribute {value}")


def run_onnx_runtime(model: ModelProto, inputs: list[NDArray]) -> list[NDArray] | None:
    """What ONNX Runtime gives; `None` where it has no kernel for one of the types."""
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions have no common base
        if any(name in type(error).__name__ for name in ("NotImplemented", "InvalidGraph", "Fail")):
            return None
        raise
    inputs = [np.asarray(array) for array in inputs]  # one of no dimensions may be a scalar of NumPy
    if any(array.dtype.name == "bfloat16" for array in inputs):
        return None  # its Python interface does not take them
    names = [value.name for value in session.get_inputs()]
    return cast("list[NDArray]", session.run(None, dict(zip(names, inputs, strict=True))))

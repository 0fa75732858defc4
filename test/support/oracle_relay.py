"""Recorded graphs as `relay.func`s, with real operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from oracle_records import DType, Graph, Json, Node, Shape
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, FunctionType, IntegerAttr, ModuleOp, TensorType, TupleType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from weft.dialects.relay import Relay
from weft.dialects.relay.base import DYNAMIC, RelayOp, as_attribute
from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from weft.dialects.support.dtypes import scalar_type

FALSE, TRUE = as_attribute(False), as_attribute(True)

ID = "oracle.id"
"""The attribute of every operation of a built function that holds the id of its node; copies keep it."""

OPERATORS = {op.name.removeprefix("relay."): op for op in Relay.operations if issubclass(op, RelayOp)}

LATER_STAGE = frozenset({"let", "if", "function", "call", "global_var", "ref_create", "ref_read", "ref_write"})
"""Nodes that are no operators: control flow, references, nested functions, and `let`, which keeps apart what it binds,
where SSA keeps nothing apart. `oracle_control` builds some of them."""

# What records say beyond an operator's attributes, always the default, and what they leave out.
_IGNORED = {("broadcast_to", "dtype"), ("sort", "dtype")}
_LEFT_OUT: dict[str, dict[str, int]] = {"cumsum": {"axis": 0}}


def unsupported(graph: Graph) -> list[str]:
    """The kinds of nodes of a graph that `build` does not build."""
    return sorted({node.op for node in graph.nodes if node.op in LATER_STAGE})


def relay_type(shape: Shape, dtype: DType) -> TypeAttribute:
    """The type of a recorded shape and dtype; `"?"` is a dynamic dimension."""
    if isinstance(dtype, str):
        return TensorType(scalar_type(np.dtype(dtype)), [DYNAMIC if n == "?" else cast(int, n) for n in shape])
    fields = zip(cast("Sequence[Shape]", shape), dtype, strict=True)
    return TupleType(ArrayAttr([relay_type(s, d) for s, d in fields]))


def type_of(node: Node) -> TypeAttribute:
    """The recorded type of a node that is no function."""
    assert node.shape is not None and node.dtype is not None
    return relay_type(node.shape, node.dtype)


def build(graph: Graph) -> ModuleOp:
    """A module whose `@main` is the graph.

    Raises:
        AssertionError: an inferred type differs from the recorded one.
    """
    nodes = {node.id: node for node in graph.nodes}
    types = {node.id: type_of(node) for node in graph.nodes}
    block = Block(arg_types=[types[i] for i in graph.params])
    values: dict[int, SSAValue] = dict(zip(graph.params, block.args, strict=True))
    for node in graph.nodes:
        if node.id in values:
            continue
        op = operation(node, [values[i] for i in node.inputs])
        op.attributes[ID] = IntegerAttr(node.id, 64)
        block.add_op(op)
        values[node.id] = op.results[0]
        assert op.results[0].type == types[node.id], f"node {node.id}, {node.op}: {op.results[0].type}"
    assert graph.output in nodes
    result = values[graph.output]
    block.add_op(ReturnOp(result))
    function_type = FunctionType.from_lists([types[i] for i in graph.params], [result.type])
    return ModuleOp([FuncOp("main", function_type, Region(block))])


def operation(node: Node, operands: list[SSAValue]) -> Operation:
    """A node that is an operator, a constant, or makes or opens a tuple."""
    match node.op:
        case "const":
            return _constant(node)
        case "tuple":
            return TupleOp(*operands)
        case "tuple_getitem":
            return TupleGetOp(operands[0], node.index)
        case _:
            return OPERATORS[node.op](*operands, **_properties(OPERATORS[node.op], node))


def _constant(node: Node) -> ConstantOp:
    """The constant; the values of large ones are not recorded, and are zero here."""
    shape, dtype = cast("Sequence[int]", node.shape), np.dtype(cast(str, node.dtype))
    return ConstantOp.from_numpy(np.zeros(shape, dtype) if node.value is None else np.array(node.value, dtype))


def _properties(op: type[RelayOp], node: Node) -> dict[str, Attribute | Sequence[int] | int | float | str | bool]:
    """The operator's properties from TVM's attributes: the same names, truth values for 0 and 1, lists made flat."""
    defined = op.get_irdl_definition().properties
    properties: dict[str, Attribute | Sequence[int] | int | float | str | bool] = dict(_LEFT_OUT.get(node.op, {}))
    for name, value in node.attrs.items():
        if value is None or (node.op, name) in _IGNORED:
            continue
        default = defined[name].default_value
        if default == FALSE or default == TRUE:
            properties[name] = bool(value)
        elif isinstance(default, FloatAttr):
            properties[name] = float(cast(float, value))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            properties[name] = [cast(int, v) for v in _flat(value)]
        else:
            properties[name] = cast("int | float | str", value)
    return properties


def _flat(values: Sequence[Json]) -> list[Json]:
    return [v for value in values for v in (_flat(value) if isinstance(value, list) else [value])]

"""Random graphs of the kinds that TVM's results are recorded of, in their form."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from random import Random
from typing import cast

import numpy as np
from oracle_records import SHIPPED, DType, Graph, Json, Node, Shape
from oracle_relay import operation, relay_type
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block
from xdsl.utils.exceptions import VerifyException

from weft.dialects.relay.base import tensors_in
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.dtypes import numpy_dtype

UNARY = ("tanh", "exp", "negative", "sqrt", "abs", "floor", "sigmoid", "sign", "nn.relu", "copy", "zeros_like")
BINARY = ("add", "multiply", "subtract", "maximum", "minimum", "divide")
COMPARED = ("less", "greater", "equal", "less_equal")
REDUCED = ("sum", "max", "mean", "min", "prod")
DTYPES = ("float32",) * 12 + ("int32", "int64", "float16", "bool")
SHAPES = ((4, 8), (1, 8, 4, 4), (16,), (2, 4, 8), (8, 1), ())
KINDS = (
    "unary",
    "binary",
    "compare",
    "reduce",
    "reshape",
    "move",
    "heavy",
    "opaque",
    "tuple",
    "split",
    "stop",
    "constant",
)
POOL: Mapping[str, Json] = {"strides": [1, 1], "dilation": [1, 1], "layout": "NCHW", "out_layout": "", "ceil_mode": 0}
CONV: Mapping[str, Json] = {"strides": [1, 1], "dilation": [1, 1], "groups": 1, "out_layout": "", "out_dtype": ""}


def random_record(seed: int) -> Graph:
    """The graph of a seed: 5 to some 120 nodes, of one kind of operators or of several."""
    return _Growing(Random(seed)).run()


@cache
def patterns() -> Mapping[str, str]:
    """The fusion patterns of TVM's operators."""
    table = json.loads(gzip.decompress((SHIPPED / "op_table.json.gz").read_bytes()))
    return {name: entry["TOpPattern"] for name, entry in table.items() if "TOpPattern" in entry}


def _described(type: Attribute) -> tuple[Shape, DType]:
    if isinstance(type, TupleType):
        fields = [_described(field) for field in type.types.data]
        return [shape for shape, _ in fields], [dtype for _, dtype in fields]
    (tensor,) = tensors_in(type)
    return list(tensor.get_shape()), np.dtype(numpy_dtype(tensor.element_type)).name


class _Growing:
    """A graph that grows node by node."""

    def __init__(self, rng: Random):
        self.rng = rng
        self.nodes: list[Node] = []
        self.params: list[int] = []
        self.weights = [rng.choice((0, 0, 1, 3, 8)) + (kind in ("unary", "binary")) for kind in KINDS]
        self.recent = rng.choice((2, 3, 6, 20, 1000))
        self.shapes = rng.sample(SHAPES, rng.randint(1, len(SHAPES)))
        for _ in range(rng.randint(1, 6)):
            self.parameter(rng.choice(self.shapes), rng.choice(DTYPES))

    def run(self) -> Graph:
        size = self.rng.choice((5, 8, 12, 20, 30, 45, 60, 90, 120))
        makers = [cast("Callable[[Node], int | None]", getattr(self, kind)) for kind in KINDS]
        for _ in range(4 * size):
            if len(self.nodes) >= size:
                break
            self.rng.choices(makers, self.weights)[0](self.pick())
        return _ordered(self.nodes, self.params, self.result())

    def result(self) -> int:
        """One of the last values, or some of those that nothing uses."""
        used = {i for node in self.nodes for i in node.inputs}
        calls = [node.id for node in self.nodes if node.op not in ("var", "const")]
        loose = [i for i in calls if i not in used]
        self.rng.shuffle(loose)
        if not loose:
            return self.params[0]
        if self.rng.random() < 0.3:
            return self.rng.choice(calls[-3:])
        fields = loose[: self.rng.choice((1, 2, 4, 50))]
        if self.rng.random() < 0.3:
            fields.append(self.rng.randrange(len(self.nodes)))
        return self.tuple_of(fields)

    # Nodes.

    def add(self, op: str, inputs: Sequence[int], attrs: Mapping[str, Json], shape: Shape, dtype: DType) -> int:
        number = len(self.nodes)
        index = cast(int, attrs.get("index", 0))
        value = None
        if op == "const" and 0 < prod(cast("Sequence[int]", shape)) <= 64:
            value = cast("Json", np.zeros(cast("Sequence[int]", shape), cast(str, dtype)).tolist())
        pattern = patterns().get(op)
        self.nodes.append(Node(number, op, tuple(inputs), attrs, pattern, shape, dtype, value, index, ()))
        return number

    def call(self, op: str, inputs: Sequence[int], **attrs: Json) -> int | None:
        """A node, if its operands are such that there can be one."""
        shapes = [self.nodes[i] for i in inputs]
        block = Block(arg_types=[relay_type(cast("Shape", n.shape), cast("DType", n.dtype)) for n in shapes])
        index = cast(int, attrs.get("index", 0))
        try:
            made = operation(Node(0, op, tuple(inputs), attrs, None, None, None, None, index, ()), list(block.args))
            made.verify()
        except (Diagnostic, VerifyException, ValueError):
            return None
        return self.add(op, inputs, attrs, *_described(made.results[0].type))

    def parameter(self, shape: Sequence[int], dtype: str) -> int:
        self.params.append(made := self.add("var", (), {}, list(shape), dtype))
        return made

    def constant_of(self, shape: Sequence[int], dtype: str) -> int:
        return self.add("const", (), {}, list(shape), dtype)

    def tuple_of(self, fields: Sequence[int]) -> int:
        shapes = [cast("Shape", self.nodes[i].shape) for i in fields]
        return self.add("tuple", fields, {}, shapes, [cast("DType", self.nodes[i].dtype) for i in fields])

    def tensors(self, holds: Callable[[Node], bool] = lambda _: True) -> list[Node]:
        return [node for node in self.nodes if isinstance(node.dtype, str) and holds(node)]

    def pick(self, holds: Callable[[Node], bool] = lambda _: True) -> Node:
        found = self.tensors(holds)
        return self.rng.choice(found[-self.recent :] if self.rng.random() < 0.75 else found)

    # Kinds of operators: each makes a node, or some, that read a tensor.

    def unary(self, x: Node) -> int | None:
        op = self.rng.choice((*UNARY, "clip", "cast"))
        if op == "clip":
            return self.call(op, (x.id,), a_min=-1.0, a_max=1.0)
        return self.call(op, (x.id,), dtype=self.rng.choice(DTYPES)) if op == "cast" else self.call(op, (x.id,))

    def binary(self, x: Node) -> int | None:
        shape, dtype = cast("Sequence[int]", x.shape), cast(str, x.dtype)
        match self.rng.randrange(3):
            case 0:
                other = self.constant_of(self.rng.choice(((), (), shape, shape[-1:])), dtype)
            case 1:
                other = self.pick(lambda n: n.dtype == dtype and n.shape == shape).id
            case _:
                other = self.pick(lambda n: n.dtype == dtype).id
        return self.call(self.rng.choice(BINARY), self.rng.sample((x.id, other), 2))

    def compare(self, x: Node) -> int | None:
        other = self.pick(lambda n: n.dtype == x.dtype).id
        condition = self.call(self.rng.choice(COMPARED), (x.id, other))
        return None if condition is None else self.call("where", (condition, x.id, other))

    def reduce(self, x: Node) -> int | None:
        axis = self.axis(x)
        if self.rng.random() < 0.2:
            more: Mapping[str, Json] = {"axis": [axis], "keepdims": 1, "select_last_index": 0, "exclude": 0}
            return self.call("argmax", (x.id,), **more)
        axes: Json = self.rng.choice((None, [axis]))
        return self.call(
            self.rng.choice(REDUCED), (x.id,), axis=axes, keepdims=self.rng.randint(0, 1), exclude=0
        )  # fmt: skip

    def axis(self, x: Node) -> int:
        return self.rng.randrange(max(1, len(cast("Shape", x.shape))))

    def reshape(self, x: Node) -> int | None:
        match self.rng.choice(("reshape", "reshape", "expand_dims", "squeeze", "nn.batch_flatten")):
            case "reshape":
                shape: Json = self.rng.choice(([-1], [1, -1], [-1, 2], list(reversed(cast("Sequence[int]", x.shape)))))
                return self.call("reshape", (x.id,), newshape=shape, allowzero=0)
            case "expand_dims":
                return self.call("expand_dims", (x.id,), axis=0, num_newaxis=1)
            case "squeeze":
                return self.call("squeeze", (x.id,), axis=None)
            case op:
                return self.call(op, (x.id,))

    def move(self, x: Node) -> int | None:
        shape, axis = cast("Sequence[int]", x.shape), self.axis(x)
        match self.rng.choice(
            ("transpose", "repeat", "tile", "take", "strided_slice", "reverse", "broadcast_to", "pad")
        ):
            case "transpose":
                return self.call("transpose", (x.id,), axes=self.rng.sample(range(len(shape)), len(shape)))
            case "repeat":
                return self.call("repeat", (x.id,), repeats=2, axis=axis)
            case "tile":
                return self.call("tile", (x.id,), reps=[self.rng.randint(1, 2) for _ in shape])
            case "take":
                indices = self.constant_of(self.rng.choice(((2,), (4,), ())), "int32")
                return self.call("take", (x.id, indices), batch_dims=0, axis=axis, mode="clip")
            case "strided_slice":
                end = [max(1, extent - self.rng.randint(0, 1)) for extent in shape]
                begin = [0] * len(shape)
                return self.call(
                    "strided_slice", (x.id,), begin=begin, end=end, strides=[1], slice_mode="end", axes=None
                )
            case "reverse":
                return self.call("reverse", (x.id,), axis=axis)
            case "broadcast_to":
                return self.call("broadcast_to", (x.id,), shape=self.rng.choice(([*shape], [2, *shape])), dtype="")
            case _:
                zero = self.constant_of((), cast(str, x.dtype))
                width: Json = [[0, self.rng.randint(0, 1)] for _ in shape]
                return self.call("nn.pad", (x.id, zero), pad_width=width, pad_mode="constant")

    def heavy(self, x: Node) -> int | None:
        shape, dtype = cast("Sequence[int]", x.shape), cast(str, x.dtype)
        make = self.rng.choice((self.constant_of, self.parameter))
        channels = shape[1] if len(shape) > 1 else 0
        match len(shape), self.rng.randrange(4):
            case 4, 0 | 1:
                kernel = self.rng.choice((1, 3))
                data: Mapping[str, Json] = {"channels": channels, "kernel_size": [kernel] * 2, "data_layout": "NCHW"}
                weight = make((channels, channels, kernel, kernel), dtype)
                pad: Json = [kernel // 2] * 4
                made = self.call("nn.conv2d", (x.id, weight), **CONV, **data, kernel_layout="OIHW", padding=pad)
                if made is None or self.rng.random() < 0.4:
                    return made
                return self.call("nn.bias_add", (made, make((channels,), dtype)), axis=1)
            case 4, 2:
                return self.call("nn.max_pool2d", (x.id,), **POOL, pool_size=[3, 3], padding=[1, 1, 1, 1])
            case 4, _:
                return self.call("nn.global_avg_pool2d", (x.id,), layout="NCHW", out_layout="")
            case _, 0 if shape:
                return self.call("nn.dense", (x.id, make((8, shape[-1]), dtype)), units=None, out_dtype="")
            case _, 1 if len(shape) > 1:
                return self.call("nn.bias_add", (x.id, make((channels,), dtype)), axis=1)
            case _:
                return self.call("nn.softmax", (x.id,), axis=-1)

    def opaque(self, x: Node) -> int | None:
        match self.rng.choice(("sort", "argsort", "topk", "cumsum")):
            case "sort":
                return self.call("sort", (x.id,), axis=-1, is_ascend=1, dtype="")
            case "argsort":
                return self.call("argsort", (x.id,), axis=-1, is_ascend=1, dtype="int32")
            case "cumsum":
                return self.call("cumsum", (x.id,), axis=self.axis(x), dtype="", exclusive=0)
            case _:
                made = self.call("topk", (x.id,), k=1, axis=-1, ret_type="both", is_ascend=0, dtype="int32")
                return None if made is None else self.call("tuple_getitem", (made,), index=self.rng.randint(0, 1))

    def tuple(self, x: Node) -> None:
        alike = [node.id for node in self.tensors(lambda n: (n.dtype, n.shape) == (x.dtype, x.shape))]
        fields = [x.id, *(self.rng.choice(alike) for _ in range(self.rng.randint(1, 3)))]
        if len(set(fields)) == 1:  # to take its fields is to reshape nothing, which Weft knows, and TVM not always
            fields.append(self.constant_of(cast("Sequence[int]", x.shape), cast(str, x.dtype)))
        made = self.tuple_of(fields)
        for _ in range(self.rng.randint(1, 3)):
            match self.rng.randrange(4):
                case 0:
                    self.call("concatenate", (made,), axis=self.axis(x))
                case 1:
                    self.call("stack", (made,), axis=self.axis(x))
                case _:
                    self.call("tuple_getitem", (made,), index=self.rng.randrange(len(fields)))
        if self.rng.random() < 0.2:
            nested = self.tuple_of((made, x.id))
            inner = self.call("tuple_getitem", (nested,), index=0)
            assert inner is not None
            self.call("tuple_getitem", (inner,), index=0)
            self.call("tuple_getitem", (nested,), index=1)

    def split(self, x: Node) -> None:
        sections: Json = self.rng.choice((2, 4, [1]))
        if (made := self.call("split", (x.id,), indices_or_sections=sections, axis=self.axis(x))) is None:
            return
        parts = len(cast("Sequence[DType]", self.nodes[made].dtype))
        for _ in range(self.rng.randint(1, 4)):
            self.call("tuple_getitem", (made,), index=self.rng.randrange(parts))
        if self.rng.random() < 0.3:
            self.call("concatenate", (made,), axis=self.axis(x))

    def stop(self, x: Node) -> int | None:
        return self.call("annotation.stop_fusion", (x.id,))

    def constant(self, x: Node) -> int:
        return self.constant_of(cast("Sequence[int]", x.shape), cast(str, x.dtype))


def _ordered(nodes: Sequence[Node], params: Sequence[int], output: int) -> Graph:
    """What an output needs, numbered as TVM does: parameters first, then depth first."""
    order = list(params)
    done = set(params)

    def visit(i: int) -> None:
        if i not in done:
            done.add(i)
            for read in nodes[i].inputs:
                visit(read)
            order.append(i)

    visit(output)
    number = {old: new for new, old in enumerate(order)}
    renamed = [replace(nodes[i], id=number[i], inputs=tuple(number[read] for read in nodes[i].inputs)) for i in order]
    return Graph(tuple(number[p] for p in params), number[output], tuple(renamed))

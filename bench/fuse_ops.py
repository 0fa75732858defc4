"""fuse-ops and outline-primitives on growing graphs: time per operator must not grow.

    python bench/fuse_ops.py [--operators 2500,5000,10000,20000] [--json OUT]

Four shapes of graphs:

* `chain`     elementwise operators, one after another
* `blocks`    residual blocks: convolution, bias, activation, convolution, sum with the block's input
* `branches`  inception blocks: four branches of elementwise operators, concatenated
* `skips`     a chain whose first half is read again by the second, outermost pairs last: long ways to post-dominators

Times are of the passes alone, on a module in memory; each is the median of three runs on copies.
"""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.ir import Block, Operation, Region, SSAValue

from weft.dialects.relay.core import FuncOp, PrimitiveOp, ReturnOp, TupleOp
from weft.dialects.relay.ops.broadcast import AddOp
from weft.dialects.relay.ops.nn.activation import ReluOp
from weft.dialects.relay.ops.nn.convolution import Conv2dOp
from weft.dialects.relay.ops.nn.dense import BiasAddOp
from weft.dialects.relay.ops.slicing import ConcatenateOp, StridedSliceOp
from weft.dialects.relay.ops.transcendental import ExpOp, TanhOp
from weft.transforms.infra.walk import clone
from weft.transforms.relay.fuse_ops import FuseOpsPass
from weft.transforms.relay.outline_primitives import OutlinePrimitivesPass

DATA = TensorType(f32, [1, 8, 16, 16])
WEIGHT = TensorType(f32, [8, 8, 3, 3])
BIAS = TensorType(f32, [8])


class Graph:
    """A function under construction."""

    def __init__(self) -> None:
        self.block = Block(arg_types=[DATA, WEIGHT, BIAS])
        self.input, self.weight, self.bias = self.block.args
        self.operators = 0

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        self.operators += 1
        return op.results[0]

    def module(self, result: SSAValue) -> ModuleOp:
        self.block.add_op(ReturnOp(result))
        types = FunctionType.from_lists([DATA, WEIGHT, BIAS], [result.type])
        return ModuleOp([FuncOp("main", types, Region(self.block))])


def chain(operators: int) -> ModuleOp:
    graph = Graph()
    value: SSAValue = graph.input
    while graph.operators < operators:
        value = graph.add((ExpOp, TanhOp, ReluOp)[graph.operators % 3](value))
    return graph.module(value)


def blocks(operators: int) -> ModuleOp:
    graph = Graph()
    value: SSAValue = graph.input
    while graph.operators < operators:
        inner = value
        for _ in range(2):
            inner = graph.add(Conv2dOp(inner, graph.weight, padding=[1, 1, 1, 1]))
            inner = graph.add(BiasAddOp(inner, graph.bias))
            inner = graph.add(ReluOp(inner))
        value = graph.add(AddOp(inner, value))
    return graph.module(value)


def branches(operators: int) -> ModuleOp:
    graph = Graph()
    value: SSAValue = graph.input
    while graph.operators < operators:
        ends: list[SSAValue] = []
        for depth in range(4):
            end = value
            for _ in range(depth + 1):
                end = graph.add(TanhOp(end))
            ends.append(end)
        whole = graph.add(ConcatenateOp(graph.add(TupleOp(*ends)), axis=1))
        value = graph.add(StridedSliceOp(whole, begin=[0, 0], end=[1, 8], strides=[1, 1]))
    return graph.module(value)


def skips(operators: int) -> ModuleOp:
    graph = Graph()
    first: list[SSAValue] = [graph.input]
    while graph.operators < operators // 2:
        first.append(graph.add(ExpOp(first[-1])))
    value = first.pop()
    while graph.operators < operators and first:
        value = graph.add(AddOp(value, first.pop()))
    return graph.module(value)


GRAPHS: dict[str, Callable[[int], ModuleOp]] = {f.__name__: f for f in (chain, blocks, branches, skips)}


def measure(module: ModuleOp, repeats: int = 3) -> dict[str, float]:
    """Seconds of each pass, kernels and distinct functions made."""
    context = Context()
    fuse: list[float] = []
    outline: list[float] = []
    kernels = functions = 0
    for _ in range(repeats):
        copy = clone(module)
        gc.collect()
        start = perf_counter()
        FuseOpsPass().apply(context, copy)
        fuse.append(perf_counter() - start)
        (main,) = copy.ops
        kernels = sum(isinstance(op, PrimitiveOp) for op in main.regions[0].block.ops)
        start = perf_counter()
        OutlinePrimitivesPass().apply(context, copy)
        outline.append(perf_counter() - start)
        functions = sum(isinstance(op, FuncOp) for op in copy.ops) - 1
    return {"fuse_ops": median(fuse), "outline": median(outline), "kernels": kernels, "functions": functions}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--operators", default="2500,5000,10000,20000", help="sizes of the graphs")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    rows: list[dict[str, str | float]] = []
    print(
        f"{'graph':10}{'operators':>10}{'kernels':>9}{'functions':>10}{'fuse-ops':>12}{'outline':>12}{'us/operator':>13}"
    )
    for name, make in GRAPHS.items():
        for size in map(int, options.operators.split(",")):
            module = make(size)
            figures = measure(module)
            rows.append({"graph": name, "operators": size, **figures})
            each = (figures["fuse_ops"] + figures["outline"]) / size * 1e6
            print(
                f"{name:10}{size:10}{figures['kernels']:9}{figures['functions']:10}"
                f"{figures['fuse_ops']:11.3f}s{figures['outline']:11.3f}s{each:13.1f}"
            )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()

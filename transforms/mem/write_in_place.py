"""Have a kernel write its output where an input lies that nobody needs any more.

Before -> after, where `@relu` says that it reads an element of its input only where it writes that of its output
(`weft.in_place = array<i64: 0, 1>`):

```mlir
mem.call @dense(%x) writes(%a) : ...               mem.call @dense(%x) writes(%a) : ...
mem.call @relu(%a) writes(%b) : ...         ->     mem.call @relu(%a) writes(%a) : ...
mem.call @dense(%b) writes(%c) : ...               mem.call @dense(%a) writes(%c) : ...
```

The input is all of an allocation of the graph's own, which is accessed here for the last time, in no other way than the
kernel says; inputs of the graph, constants, parts of other buffers and what is planned stay as they are, and so do
buffers whose sizes are not known. Of several inputs the first serves. TVM has no counterpart for graphs: its storages
are never written over by a kernel that reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.mem.core import AliasOp, AllocOp, CallOp, buffer_type, byte_size, root_of, start_in_root
from ...dialects.mem.graph import GraphOp
from ...dialects.mem.in_place import Pairs, overwritable
from ...dialects.mem.lifetimes import Timeline
from ..infra import ModulePass, report_changed
from ..infra.execution import report_figures
from ..infra.remarks import passed


@dataclass(frozen=True)
class WriteInPlacePass(ModulePass):
    """Outputs of `mem.call`s -> the memory of inputs that they are needed after for the last time."""

    name = "write-in-place"
    required = ("elide-copies",)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = {name: pairs for each in op.ops if (name := _name(each)) and (pairs := overwritable(each))}
        changed = False
        for graph in op.ops:
            if isinstance(graph, GraphOp):
                changed |= self._graph(graph, kernels)
        report_changed(changed)

    def _graph(self, graph: GraphOp, kernels: Mapping[str, Pairs]) -> bool:
        """Work on one graph. Buffers are joined as the calls come, so that a chain of kernels has one."""
        timeline = Timeline.of(graph.body.block)
        last = {root: life.last for root, life in timeline.lifetimes.items()}
        first = {root: life.first for root, life in timeline.lifetimes.items()}
        saved = count = 0
        for number, step in enumerate(timeline.steps):
            call = step.op
            if not isinstance(call, CallOp) or not (pairs := kernels.get(call.callee.root_reference.data)):
                continue
            for place in range(len(call.outputs)):
                found = _victim(call, place, pairs, lambda root, n=number: last.get(root) == n)
                target = call.outputs[place]
                if found is None or not isinstance(alloc := target.owner, AllocOp) or alloc.pool is not None:
                    continue
                if first.get(target) != number or byte_size(buffer_type(target)) is None:
                    continue
                root = root_of(found)
                last[root] = last.pop(target)
                saved, count = saved + (byte_size(buffer_type(target)) or 0), count + 1
                _join(alloc, root)
                passed(self.name, call, f"output {place} is written over an input")
        if count:
            report_figures({"outputs in the place of inputs": count, "bytes in the place of inputs": saved})
        return bool(count)


def _name(op: Operation) -> str | None:
    name = op.properties.get("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def _victim(call: CallOp, place: int, pairs: Pairs, dies: Callable[[SSAValue], bool]) -> SSAValue | None:
    """The input of a call in whose memory an output can be."""
    output, total = call.outputs[place], len(call.inputs) + place
    for number, source in enumerate(call.inputs):
        root = root_of(source)
        if not isinstance(alloc := root.owner, AllocOp) or alloc.pool is not None or not dies(root):
            continue
        others = [n for n, value in enumerate(call.inputs) if root_of(value) is root]
        if any((n, total) not in pairs or start_in_root(call.inputs[n]) for n in others):
            continue
        given, made, whole = buffer_type(source), buffer_type(output), buffer_type(root)
        if given != made or byte_size(given) != byte_size(whole) or any(root_of(v) is root for v in call.writes):
            continue
        if number == others[0]:
            return source
    return None


def _join(alloc: AllocOp, root: SSAValue) -> None:
    """Have `root` for an allocation, which is erased."""
    block, before = alloc.parent, root.owner
    assert block is not None and isinstance(before, AllocOp)
    if alloc.is_before_in_block(before):
        before.detach()
        block.insert_op_before(before, alloc)
    new = root
    if alloc.result.type != root.type:
        view = AliasOp(root, buffer_type(alloc.result))
        view.location = alloc.location
        block.insert_op_after(view, before)
        new = view.result
        new.name_hint = alloc.result.name_hint
    alloc.result.replace_all_uses_with(new)
    alloc.detach()
    alloc.erase()

"""Put operators that can run in one loop nest into one `relay.primitive`, which becomes one kernel.

    %0 = relay.nn.conv2d %x, %w          %2 = relay.primitive(%x, %w, %b) {
    %1 = relay.add %0, %b          ->    ^bb0(%p0, %p1, %p2):
    %2 = relay.nn.relu %1                  %0 = relay.nn.conv2d %p0, %p1
                                           %1 = relay.add %0, %p2
                                           %3 = relay.nn.relu %1
                                           relay.yield %3
                                         }

Which operators go together is TVM's algorithm (`fusion/`), group for group: a graph in depth-first order from the
results, its post-dominator tree, three phases. Every operator ends up in a group, if only its own. Outside stay
arguments, constants but for scalars, tuples that are no kernel's own, calls, and operators that are not computed
(`NonComputational`). `annotation.stop_fusion` goes away after it has kept groups apart.

`strategy=tvm` leaves it at that. `strategy=weft` then merges groups that can be computed row by row (`fusion/rows.py`),
so that reductions are fused with what follows them, too, and groups that read the same rows (`fusion/several.py`);
leaves slices outside that are memory (`fusion/views.py`); and has what is cheap computed by each of the kernels that
read it (`fusion/again.py`).

Unlike TVM the pass looks at each block by itself, so that nothing is fused into or out of a nested region. Pure
operations that no result needs are dropped, as TVM's graphs cannot have any.

Counterpart of TVM's `FuseOps`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FusedLoc, LocationAttr, ModuleOp, NoneAttr, TensorType, UnknownLoc
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ...dialects.relay.base import ReshapeLike
from ...dialects.relay.core import ConstantOp, FuncOp, PrimitiveOp, TupleGetOp, TupleOp, YieldOp
from ...dialects.relay.ops.annotation import StopFusionOp
from ...dialects.support.diagnostics import did_you_mean
from ...dialects.support.vector_unit import VectorUnit, vector_unit_of
from ..infra import FunctionPass, PassContext, remarks, report_changed
from ..infra.walk import erase
from .fusion.again import compute_again
from .fusion.dataflow import block_dataflow, is_operator
from .fusion.explain import explain
from .fusion.partition import DEFAULT_MAX_DEPTH, partition
from .fusion.rows import merge_rows
from .fusion.several import merge_several
from .fusion.views import separate_views

STRATEGIES = ("tvm", "weft")
"""TVM's groups; and these, merged where they can be computed row by row, or what they read computed again."""


@dataclass(frozen=True)
class FuseOpsPass(FunctionPass):
    """Options: `fuse-opt-level` (or `opt-level`) 0 makes every operator a kernel of its own, all others fuse (-1: the
    context's level); `max-depth` limits the nodes of a group; `link-params` copies constants into the kernels that read
    them; `vector-bytes` is the width of the target's vectors, `machine` what it takes for its work: without them, the
    module's `weft.target` says it."""

    name = "fuse-ops"
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "FuseOps"

    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {"fuse_opt_level": (-1, 4), "max_depth": (1, None)}
    option_aliases: ClassVar[dict[str, str]] = {"opt_level": "fuse_opt_level"}

    fuse_opt_level: int = -1
    max_depth: int = DEFAULT_MAX_DEPTH
    link_params: bool = False
    strategy: str = "weft"
    """One of `STRATEGIES`."""
    vector_bytes: int | None = None
    machine: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        VectorUnit().with_machine(self.machine)
        if self.strategy not in STRATEGIES:
            hint = did_you_mean(self.strategy, STRATEGIES) or f"strategies are {', '.join(STRATEGIES)}"
            raise ValueError(f"there is no strategy '{self.strategy}'; {hint}")

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        functions = (f for f in module.ops if isinstance(f, FuncOp) and not f.is_primitive)
        return not any(is_operator(op) for f in functions for block in _blocks(f) for op in block.ops)

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        level = PassContext.current().opt_level if self.fuse_opt_level == -1 else self.fuse_opt_level
        unit = vector_unit_of(func).with_machine(self.machine)
        unit = replace(unit, bytes=self.vector_bytes or unit.bytes)
        changed = False
        for block in _blocks(func):
            changed |= _Fusion(block, self, level > 0, unit).run()
        report_changed(changed)


def _blocks(func: FuncOp) -> list[Block]:
    """The blocks of `func`, without those of kernels and of other nested functions."""
    blocks: list[Block] = []
    pending: list[Operation] = [func]
    while pending:
        op = pending.pop()
        for block in (block for region in op.regions for block in region.blocks):
            blocks.append(block)
            pending.extend(inner for inner in block.ops if inner.regions and not inner.has_trait(IsolatedFromAbove))
    return blocks


class _Fusion:
    """The fusion of one block."""

    def __init__(self, block: Block, options: FuseOpsPass, fuse: bool, unit: VectorUnit):
        self.block = block
        self.link_params = options.link_params
        self.flow = block_dataflow(block)
        self.partition = partition(self.flow.graph, fuse=fuse, max_depth=options.max_depth)
        if fuse and options.strategy == "weft":
            merge_rows(self.flow, self.partition, options.max_depth, unit)
            merge_several(block, self.flow, self.partition, options.max_depth, unit)
            separate_views(self.flow, self.partition)
            compute_again(self.flow, self.partition, options.max_depth, unit)

    def run(self) -> bool:
        """Rewrite the block; return whether there was anything to do."""
        if remarks.listening():
            explain(self.flow, self.partition)
        order = {op: float(number) for number, op in enumerate(self.block.ops)} if self.partition.places else {}
        changed = bool(self.flow.dead)
        for op in self.flow.dead:
            erase(op)
        for op in self.flow.ops:
            if isinstance(op, StopFusionOp):
                op.result.replace_all_uses_with(op.data)
                erase(op)
                changed = True
        copies = {group: self._copy(group, nodes) for group, nodes in self.partition.again.items()}
        constants: set[ConstantOp] = set()
        for group, members in self.kernels():
            members = [*copies.get(group, ()), *members]
            primitive, copied = _outline(members, self._results(group), self.link_params)
            there = self.partition.before.get(group, group)
            order[primitive] = self.partition.places.get(there, order.get(self._results(there)[-1], 0.0))
            constants.update(copied)
            changed = True
        for node in sorted(self.partition.dropped, reverse=True):
            erase(self.flow.ops[node])
        if self.partition.places:
            _sort(self.block, order)
        for constant in constants:
            if constant.result.first_use is None:
                erase(constant)
        return changed

    def _results(self, group: int) -> list[Operation]:
        """The operators that give a group's results."""
        return [self.flow.ops[node] for node in self.partition.results.get(group, [group])]

    def _copy(self, group: int, nodes: list[int]) -> list[Operation]:
        """Copies of nodes of other groups, each in front of what it is one of, for a group that computes them again."""
        readers = {op for node, op in enumerate(self.flow.ops) if self.partition.root[node] == group}
        copies: list[Operation] = []
        for op in (self.flow.ops[node] for node in nodes):
            copy = op.clone()
            self.block.insert_op_before(copy, op)
            copies.append(copy)
            readers.add(copy)
        for op, copy in zip((self.flow.ops[node] for node in nodes), copies, strict=True):
            op.results[0].replace_uses_with_if(copy.results[0], lambda use: use.operation in readers)
        return copies

    def kernels(self) -> Iterator[tuple[int, list[Operation]]]:
        """The members of each group that becomes a `relay.primitive`, in graph order, with the group's number."""
        root, node = self.partition.root, self.flow.node
        members: dict[int, list[Operation]] = {}
        for i, op in enumerate(self.flow.ops):
            if i not in self.partition.dropped:
                members.setdefault(root[i], []).append(op)
        for group in sorted(members):
            op = self.flow.ops[group]
            if isinstance(op, TupleGetOp):
                made_by = op.tuple.owner
                inside = isinstance(made_by, Operation) and made_by in node and root[node[made_by]] == group
            else:
                inside = is_operator(op) and not isinstance(op, StopFusionOp)
            if inside:
                yield group, members[group]


def _sort(block: Block, order: dict[Operation, float]) -> None:
    """Have the operations of a block in an order."""
    ops = sorted(block.ops, key=order.__getitem__)
    for op in ops:
        op.detach()
    block.add_ops(ops)


def _outline(
    members: list[Operation], results: list[Operation], link_params: bool
) -> tuple[PrimitiveOp, set[ConstantOp]]:
    """Move `members` into a `relay.primitive` in the place of the last one, with the values of `results` for its own.
    Return it, and the constants copied into it."""
    last = members[-1]
    inside = set(members)
    block = Block()
    arguments: dict[SSAValue, SSAValue] = {}
    copied: dict[SSAValue, SSAValue] = {}
    sources: set[ConstantOp] = set()
    for op in members:
        for i, value in enumerate(op.operands):
            if (owner := value.owner) in inside:
                continue
            if link_params and isinstance(owner, ConstantOp):
                if value not in copied:
                    block.add_op(copy := owner.clone())
                    copied[value] = copy.result
                    sources.add(owner)
                op.operands[i] = copied[value]
                continue
            if value not in arguments:
                argument = arguments[value] = block.insert_arg(value.type, len(arguments))
                argument.name_hint = f"p{len(arguments) - 1}"
            op.operands[i] = arguments[value]
        if op is not last:
            op.detach()
            block.add_op(op)
    primitive = PrimitiveOp(
        list(arguments),
        [op.results[0].type for op in results],
        Region(block),
        reshape_only=_is_reshape_only(members, arguments),
    )
    primitive.location = _fused_location(members)
    parent = last.parent
    assert parent is not None
    parent.insert_op_before(primitive, last)
    for op, given in zip(results, primitive.results, strict=True):
        op.results[0].replace_uses_with_if(given, lambda use: use.operation not in inside)
    last.detach()
    end = YieldOp(*(op.results[0] for op in results))
    end.location = last.location
    block.add_ops([last, end])
    return primitive, sources


def _is_call(op: Operation) -> bool:
    """Whether TVM would have `op` as a call of an operator: it computes something."""
    return not isinstance(op, ConstantOp | TupleOp | TupleGetOp)


def _is_reshape_only(members: list[Operation], arguments: dict[SSAValue, SSAValue]) -> bool:
    """Whether all that the members do is to see tensors under other shapes."""
    calls = [op for op in members if _is_call(op)]
    return (
        bool(calls)
        and all(type(op).has_trait(ReshapeLike) for op in calls)
        and all(isinstance(value.type, TensorType) for value in arguments)
    )


def _fused_location(members: list[Operation]) -> LocationAttr:
    """The places of all members, each once."""
    places = dict.fromkeys(op.location for op in members if not isinstance(op.location, UnknownLoc))
    return FusedLoc(ArrayAttr(places), NoneAttr()) if len(places) > 1 else next(iter(places), UnknownLoc())

"""Give every buffer of a graph its place: buffers that are not needed at the same time may share memory.

Before -> after:

```mlir
%a = mem.alloc : memref<8xf32>                       %pool = mem.pool : memref<128xi8>
mem.call @k(%x) writes(%a) : ...                     %a = mem.alloc at %pool[0] : memref<8xf32> in memref<128xi8>
%b = mem.alloc : memref<8xf32>                 ->    mem.call @k(%x) writes(%a) : ...
mem.call @k(%a) writes(%b) : ...                     %b = mem.alloc at %pool[64] : memref<8xf32> in memref<128xi8>
%c = mem.alloc : memref<8xf32>                       mem.call @k(%a) writes(%b) : ...
mem.call @k(%b) writes(%c) : ...                     %c = mem.alloc at %pool[0] : memref<8xf32> in memref<128xi8>

```

A kernel's outputs never share memory with its inputs. Buffers of different devices lie in different pools. Strategies:

* `best`: the least memory that several strategies find, never more than `tvm-greedy`;
* `tvm-greedy`: TVM's GraphPlanMemory, a pool for each of its storages;
* `greedy-by-size`, `greedy-by-conflicts`, `hill-climb`: those of TVM's Unified Static Memory Planner;
* `custom:NAME`: the function that is registered as `tir.usmp.algo.NAME` (`usmp.py`).

With `pools=65536,1048576` there are pools of so many bytes only, -1 of one that is as large as it needs to be, and the
first that has room is taken. What is never accessed is erased. Buffers whose size depends on symbols share pools with
those whose size depends on the same: their places are planned for one value of the extents, and scale with them when
the graph runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.mem.core import AllocOp, ExtentOp, PoolOp, buffer_type, unit_bytes
from ...dialects.mem.graph import GraphOp
from ...dialects.mem.lifetimes import Timeline
from ...dialects.support.alignment import ALIGNMENT
from ...dialects.support.diagnostics import Diagnostic
from ..infra import ModulePass
from ..infra.execution import report_figures
from ..infra.remarks import analysis
from .planning.problem import UNRESTRICTED, DoesNotFit, Problem, Request
from .planning.strategies import configured_strategy, strategy_named


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Place every `mem.alloc` in a `mem.pool`."""

    name = "plan-memory"
    required = ("bufferize-graph",)
    tvm_name = "GraphPlanMemory"
    ranges = {"alignment": (1, None)}

    strategy: str = "best"
    """One of `planning/strategies.py`."""
    alignment: int = ALIGNMENT
    """Bytes of which offsets are multiples."""
    pools: tuple[int, ...] = ()
    """Bytes of the pools there are, -1 of one that is as large as it needs to be, which is the one there is unless they
    are given."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(size < UNRESTRICTED for size in self.pools):
            raise ValueError(f"a pool has a number of bytes, or -1, and not {min(self.pools)}")
        strategy_named(self.strategy)
        if self.pools and self.strategy == "tvm-greedy":
            raise ValueError("the strategy 'tvm-greedy' makes its own pools, and takes none")

    @classmethod
    def configured(cls) -> PlanMemoryPass:
        """As the options of the current `PassContext` say that TVM has; see `configured_strategy`. Where they say
        nothing, `plan-memory.strategy` may."""
        strategy = configured_strategy()
        return cls() if strategy == cls.strategy else cls(strategy=strategy)

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        graphs = [op for op in module.ops if isinstance(op, GraphOp)]
        return bool(graphs) and all(alloc.pool is not None for graph in graphs for alloc in _allocs(graph))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for graph in op.ops:
            if isinstance(graph, GraphOp):
                self._plan(graph)

    def _plan(self, graph: GraphOp) -> None:
        timeline = Timeline.of(graph.body.block)
        kinds: dict[tuple[Attribute, tuple[SSAValue, ...]], list[AllocOp]] = {}
        numbers: dict[SSAValue, int] = {}
        for alloc in _allocs(graph):
            if alloc.result not in timeline.lifetimes:
                _erase_unused(alloc)
            elif alloc.pool is None:
                for extent in alloc.extents:
                    numbers.setdefault(extent, len(numbers))
                extents = tuple(sorted(alloc.extents, key=numbers.__getitem__))
                kinds.setdefault((buffer_type(alloc.result).memory_space, extents), []).append(alloc)
        for (device, extents), allocs in kinds.items():
            self._plan_pools(graph, timeline, device, extents, allocs)

    def _plan_pools(
        self,
        graph: GraphOp,
        timeline: Timeline,
        device: Attribute,
        extents: Sequence[SSAValue],
        allocs: Sequence[AllocOp],
    ) -> None:
        capacities = tuple(None if size == UNRESTRICTED else size for size in self.pools)
        problem = Problem(requests_of(timeline, allocs), self.alignment, capacities)
        try:
            plan = strategy_named(self.strategy)(problem)
        except DoesNotFit as error:
            alloc = allocs[error.request]
            room = " and ".join(map(str, self.pools))
            raise Diagnostic.at(
                alloc,
                f"there is no room for {buffer_type(alloc.result)} in pools of {room} bytes",
                hint=f"{problem.lower_bound} bytes are needed at one time",
            ) from None
        pools = [PoolOp(size, device, extents) for size in plan.pools]
        block = graph.body.block
        first = next(op for op in block.ops if not (extents and isinstance(op, ExtentOp | PoolOp)))
        for pool in pools:
            pool.result.name_hint = "pool"
            pool.location = graph.location
            block.insert_op_before(pool, first)
        for alloc, place in zip(allocs, plan.places, strict=True):
            alloc.place(pools[place.pool].result, place.offset)
        figures = {
            "bytes planned": plan.size,
            "bytes needed at one time (lower bound)": problem.lower_bound,
            "bytes without reuse": problem.without_reuse,
        }
        report_figures(figures)
        told = ", ".join(f"{number} {what}" for what, number in figures.items())
        analysis(self.name, graph, f"{len(allocs)} buffers in {len(pools)} pools: {told}")


def _allocs(graph: GraphOp) -> list[AllocOp]:
    return [op for op in graph.body.block.ops if isinstance(op, AllocOp)]


def _erase_unused(alloc: AllocOp) -> None:
    """Erase a buffer that nothing reads or writes, and what is made of it."""
    pending: list[Operation] = [alloc]
    made: list[Operation] = []
    while pending:
        made.append(op := pending.pop())
        pending += [use.operation for result in op.results for use in result.uses]
    for op in reversed(list(dict.fromkeys(made))):
        op.detach()
        op.erase()


def requests_of(timeline: Timeline, allocs: Sequence[AllocOp]) -> tuple[Request, ...]:
    """What the allocations of a graph ask for: bytes, for each value of the extents that they have in common."""
    requests: list[Request] = []
    for alloc in allocs:
        type = buffer_type(alloc.result)
        size = unit_bytes(type)
        life = timeline.lifetimes[alloc.result]
        step = timeline.steps[life.last]
        # What nothing reads is given back first; inputs when they are passed for the last time.
        reads = [place for place, value in enumerate(step.reads) if value is alloc.result]
        rank = 1 + reads[-1] if reads else step.writes.index(alloc.result) - len(step.writes)
        requests.append(Request(size, life.first, life.last, rank))
    return tuple(requests)

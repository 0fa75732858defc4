"""What a reduction combines its steps with, where the order in which it does is of no account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from ....dialects.tir.core import BlockOp
from ..schedule.errors import ScheduleError

SUMS: dict[type[Operation], float] = {
    arith.AddfOp: 0,
    arith.AddiOp: 0,
    arith.MulfOp: 1,
    arith.MuliOp: 1,
    arith.XOrIOp: 0,
}
"""Combining operations, and what a partial result must start from for the whole to come out right."""
IDEMPOTENT: tuple[type[Operation], ...] = (
    arith.MaximumfOp, arith.MaxnumfOp, arith.MinimumfOp, arith.MinnumfOp, arith.MaxSIOp, arith.MaxUIOp, arith.MinSIOp,
    arith.MinUIOp, arith.AndIOp, arith.OrIOp,
)  # fmt: skip
"""Combining operations for which the start may be taken any number of times."""


@dataclass(frozen=True)
class Reduction:
    """A reduction whose steps may be taken in parts, in any order: its stores, one for each result; for each what it
    reads of it, and the value that is combined with that; and the operations that combine, in order."""

    block: BlockOp
    stores: tuple[memref.StoreOp, ...]
    loads: tuple[memref.LoadOp, ...]
    steps: tuple[SSAValue, ...]
    combine: tuple[Operation, ...]

    def combined(self, so_far: Sequence[SSAValue], parts: Sequence[SSAValue]) -> tuple[list[Operation], list[SSAValue]]:
        """Operations that combine, for each result, what there is of it so far with a part of it; and the results.

        An operation that takes a step takes what there is of the same result too, which says whose part it is: several
        results may have one step.
        """
        values: dict[SSAValue, SSAValue] = {load.res: value for load, value in zip(self.loads, so_far, strict=True)}
        made: list[Operation] = []
        for op in self.combine:
            own = {step: part for load, step, part in zip(self.loads, self.steps, parts, strict=True)
                   if load.res in op.operands}  # fmt: skip
            made.append(op.clone(values | own))
            values.update(zip(op.results, made[-1].results, strict=True))
        return made, [values[store.value] for store in self.stores]


def reduction_of(block: BlockOp, stores: Sequence[memref.StoreOp]) -> Reduction:
    """How `block`, which has an init, and of which `stores` are all, combines its steps: each result by an operation of
    its own, or several as one comparison says.

    Raises:
        ScheduleError: not by one known operation from a start that may be taken more than once, or the step of one
            result is made of what there is of another.
    """
    loads = [_so_far(block, store) for store in stores]
    groups: list[list[memref.StoreOp]] = []
    for store in stores:
        groups += [] if any(store in group for group in groups) else [_chosen_with(store, stores)]
    found = [_selection(block, group) or _combination(block, group) for group in groups]
    whole = {
        store: (load, step)
        for each in found
        for store, load, step in zip(each.stores, each.loads, each.steps, strict=True)
    }
    so_far: set[SSAValue] = {load.res for load in loads if load is not None}
    for store in stores:
        if _depends(whole[store][1], so_far):
            name = f"block @{block.block_name}"
            raise ScheduleError.at(store, f"{name} combines one of its results with what there is of another so far")
    combining = {op for each in found for op in each.combine}
    return Reduction(
        block,
        tuple(stores),
        tuple(whole[store][0] for store in stores),
        tuple(whole[store][1] for store in stores),
        tuple(op for op in block.body.block.ops if op in combining),
    )


def _chosen_with(store: memref.StoreOp, stores: Sequence[memref.StoreOp]) -> list[memref.StoreOp]:
    """The results that one comparison chooses together with that of `store`, itself among them."""
    chosen = store.value.owner
    if not isinstance(chosen, arith.SelectOp):
        return [store]
    owners = [(each, each.value.owner) for each in stores]
    return [each for each, op in owners if isinstance(op, arith.SelectOp) and _same(op.cond, chosen.cond)]


def _so_far(block: BlockOp, store: memref.StoreOp) -> memref.LoadOp | None:
    """The one read of what a reduction has so far, at the place where it is written."""
    loads = [
        access.op
        for access in block.accesses()
        if access.buffer is store.memref and not access.is_write and access.op.parent_region() is block.body
    ]
    if len(loads) != 1 or not isinstance(load := loads[0], memref.LoadOp) or load.parent is not store.parent:
        return None
    return load if list(load.indices) == list(store.indices) else None


def _selection(block: BlockOp, stores: Sequence[memref.StoreOp]) -> Reduction | None:
    """A reduction that keeps what it has or takes the step, as a comparison of the two says: the greatest with its
    place, and such. What it starts from may be taken any number of times, since one of those that are there is chosen.
    """
    loads = [_so_far(block, store) for store in stores]
    chosen = [store.value.owner for store in stores]
    known = [load for load in loads if load is not None]
    selects = [op for op in chosen if isinstance(op, arith.SelectOp)]
    if not len(known) == len(selects) == len(stores) or not all(_same(op.cond, selects[0].cond) for op in selects):
        return None
    keeps = [op.lhs is load.res for op, load in zip(selects, known, strict=True)]
    steps = [op.rhs if keep else op.lhs for op, keep in zip(selects, keeps, strict=True)]
    own = [op.lhs if keep else op.rhs for op, keep in zip(selects, keeps, strict=True)]
    if len(set(keeps)) != 1 or any(value is not load.res for value, load in zip(own, known, strict=True)):
        return None
    pairs = [{load.res, step} for load, step in zip(known, steps, strict=True)]
    found: dict[Operation, None] = {}

    def compares(value: SSAValue) -> bool:
        """Whether a truth value is made of comparisons of what there is with the step."""
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not block.body.block:
            return False
        if isinstance(op, arith.CmpfOp | arith.CmpiOp):
            holds = set(op.operands) in pairs
        else:
            holds = isinstance(op, arith.AndIOp | arith.OrIOp) and all(compares(operand) for operand in op.operands)
        found[op] = None
        return holds

    so_far: set[SSAValue] = {load.res for load in known}
    if not all(compares(op.cond) for op in selects) or any(_depends(step, so_far) for step in steps):
        return None
    order = [op for op in block.body.block.ops if op in found or op in selects]
    return Reduction(block, tuple(stores), tuple(known), tuple(steps), tuple(order))


def _same(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are computed alike."""
    one, other = a.owner, b.owner
    if a is b or not isinstance(one, Operation) or not isinstance(other, Operation):
        return a is b
    alike = one.name == other.name and one.name.startswith("arith.") and one.properties == other.properties
    return alike and all(_same(x, y) for x, y in zip(one.operands, other.operands, strict=True))


def _depends(value: SSAValue, on: set[SSAValue]) -> bool:
    """Whether a value is computed from one of others."""
    if value in on:
        return True
    op = value.owner
    return isinstance(op, Operation) and (bool(op.regions) or any(_depends(each, on) for each in op.operands))


def _combination(block: BlockOp, stores: Sequence[memref.StoreOp]) -> Reduction:
    """A reduction of one result, which is combined with each step by one operation."""
    name = f"block @{block.block_name}"
    if len(stores) > 1:
        raise ScheduleError.at(
            block,
            f"{name} has {len(stores)} results that are not chosen by one comparison of them with the step",
            hint="T.Select(c, so_far, step) for each, where c compares them",
        )
    store = stores[0]
    combine, load = store.value.owner, _so_far(block, store)
    if load is None or not isinstance(combine, Operation) or len(list(combine.operands)) != 2:
        raise ScheduleError.at(block, f"{name} does not combine its result with one value")
    alone = load.res in combine.operands and len(list(load.res.uses)) == 1
    if not alone or combine.parent is not store.parent:
        raise ScheduleError.at(block, f"{name} does not combine its result with one value")
    first, second = combine.operands
    found = Reduction(block, (store,), (load,), (second if first is load.res else first,), (combine,))
    if isinstance(combine, IDEMPOTENT):
        return found
    start = SUMS.get(type(combine))
    if start is None:
        raise ScheduleError.at(combine, f"{name} combines by {combine.name}, whose order may not be changed")
    if _start_of(block, store.memref) != start:
        raise ScheduleError.at(block, f"{name} does not start at {start}, and each part would start there")
    return found


def _start_of(block: BlockOp, result: SSAValue) -> float | int | None:
    """The constant that `init` stores to a result, if it is one."""
    assert block.init is not None
    stores = [op for op in block.init.walk() if isinstance(op, memref.StoreOp) and op.memref is result]
    if len(stores) != 1 or not isinstance(constant := stores[0].value.owner, arith.ConstantOp):
        return None
    value = constant.value
    return value.value.data if isinstance(value, IntegerAttr | FloatAttr) else None

"""Make regions for one compiler as large as may be: drop the bounds between those that can be one.

    %1 = relay.nn.relu %0                                               %1 = relay.nn.relu %0
    %2 = relay.annotation.compiler_end %1 {compiler = "test"}     ->    %4 = relay.exp %1
    %3 = relay.annotation.compiler_begin %2 {compiler = "test"}
    %4 = relay.exp %3

Two regions become one only where no value goes out of it and comes back in: a region is restricted by those of other
compilers that it depends on, and by all that these depend on.

Counterpart of TVM's `MergeCompilerRegions`, with its order: parents first, each with the first of its inputs first.
Looked at besides is what those regions depend on that were merged with others since, and what operations in no region
pass on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context

from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.annotation import CompilerBeginOp, CompilerEndOp
from ..infra import FunctionPass, remarks, report_changed
from ..infra.walk import erase
from .compiler_regions.regions import CompilerRegion, CompilerRegions, bounds
from .dataflow.pattern import defining_op


@dataclass(frozen=True)
class MergeCompilerRegionsPass(FunctionPass):
    """Has no options."""

    name = "merge-compiler-regions"
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "MergeCompilerRegions"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        """
        Raises:
            Diagnostic: regions are not bounded as they should be.
        """
        regions = CompilerRegions(func)
        merge_regions(regions)
        changed = False
        for begin in bounds(func):
            end = defining_op(begin.data)
            if isinstance(begin, CompilerBeginOp) and isinstance(end, CompilerEndOp):
                if regions.of(begin) is regions.of(end):
                    begin.result.replace_all_uses_with(end.data)
                    erase(begin)
                    changed = True
                    if end.result.first_use is None:
                        erase(end)
        report_changed(changed)


def merge_regions(regions: CompilerRegions) -> None:
    """Merge the regions of a function."""
    done: set[CompilerRegion] = set()
    restrictions: dict[CompilerRegion, set[CompilerRegion]] = {}
    for start in list(regions):
        stack = [start]
        entered: set[CompilerRegion] = set()
        while stack:
            region = stack[-1]
            if region in done:
                stack.pop()
                continue
            waiting = [parent for parent in regions.parents(region) if parent not in done and parent not in entered]
            if region not in entered:
                entered.add(region)
                if waiting:
                    stack += reversed(waiting)
                    continue
            stack.pop()
            _merge_parents(regions, region, restrictions)
            done.add(region)


def _merge_parents(
    regions: CompilerRegions, region: CompilerRegion, restrictions: dict[CompilerRegion, set[CompilerRegion]]
) -> None:
    parents = regions.parents(region)
    own = restrictions.setdefault(region, set())
    for parent in parents:
        own |= restrictions.setdefault(parent, set())
    for parent in parents:
        if parent.target != region.target:
            own.add(parent)
            continue
        if parent in own or regions.would_wait_for_itself(parent, region):
            message = f"stays apart from a region of '{region.target}' that it uses: another compiler is between"
            remarks.missed("merge-compiler-regions", region.inputs[0], message)
            continue
        regions.merge(parent, region)
        for others in restrictions.values():
            if parent in others:
                others.discard(parent)
                others.add(region)

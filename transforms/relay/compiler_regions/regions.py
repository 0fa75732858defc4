"""The regions that `compiler_begin` and `compiler_end` bound, as TVM's `AnnotatedRegionSet` has them.

A `compiler_begin` begins a region. An operator is in the region of its operands, and joins the regions of several;
what comes by a `compiler_end` is from another one. A region has a target, which all its bounds name, and is within one
block: a branch is a world of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ....dialects.relay.core import ConstantOp, FuncOp
from ....dialects.relay.ops.annotation import CompilerBeginOp, CompilerEndOp
from ....dialects.support.diagnostics import Diagnostic
from ...infra.walk import erase, walk
from ..dataflow.pattern import defining_op
from .order import blocks_of, expression_order, makers

DEFAULT = "default"
"""The compiler of what no other one takes: Weft."""


@dataclass(eq=False)
class CompilerRegion:
    """Operators for one compiler, with what enters and leaves."""

    number: int
    target: str
    block: Block
    ops: dict[Operation, None] = field(default_factory=dict[Operation, None])
    inputs: list[CompilerBeginOp] = field(default_factory=list[CompilerBeginOp])
    outputs: list[CompilerEndOp] = field(default_factory=list[CompilerEndOp])


class CompilerRegions:
    """The regions of a function, by number. Numbers are TVM's: one for each `compiler_begin`, in the order of the
    expression; a region has that of the first.

    Raises:
        Diagnostic: an operand of a region comes from outside without `compiler_begin`; a `compiler_end` stands outside
            of a region, or names another compiler; a result leaves without `compiler_end`.
    """

    def __init__(self, function: FuncOp):
        self._of: dict[Operation, CompilerRegion] = {}
        self._begun = 0
        for block in blocks_of(function.body):
            for op in expression_order(block):
                self._add(op, block)
        for region in self:
            self._check(region)

    def __iter__(self) -> Iterator[CompilerRegion]:
        return iter(dict.fromkeys(self._of.values()))

    def of(self, op: Operation | None) -> CompilerRegion | None:
        """The region that an operation is in, or bounds."""
        return None if op is None else self._of.get(op)

    def parents(self, region: CompilerRegion) -> list[CompilerRegion]:
        """The regions that the inputs of one come from."""
        found = (self.of(defining_op(begin.data)) for begin in region.inputs)
        return list(dict.fromkeys(parent for parent in found if parent is not None and parent is not region))

    def would_wait_for_itself(self, source: CompilerRegion, into: CompilerRegion) -> bool:
        """Whether a value of `source` comes into `into` by way of something else, so that they cannot be one."""
        if source.block is not into.block:
            return True
        both = (source, into)
        if all(self.of(use.operation) in both for end in source.outputs for use in end.result.uses):
            return False
        seen: set[CompilerRegion | Operation] = {source, into}
        stack = [each for each in self._makers(into) if each is not source]
        while stack:
            if (each := stack.pop()) in seen:
                continue
            seen.add(each)
            makers = self._makers(each)
            if source in makers:
                return True
            stack += makers
        return False

    def _makers(self, what: CompilerRegion | Operation) -> list[CompilerRegion | Operation]:
        """The regions, and the operations in none, of which a region, or an operation in none, uses something."""
        ops = what.inputs if isinstance(what, CompilerRegion) else [what]
        block = what.block if isinstance(what, CompilerRegion) else what.parent
        made = [maker for op in ops if block is not None for maker in makers(op, block)]
        return [self.of(maker) or maker for maker in made]

    def merge(self, source: CompilerRegion, into: CompilerRegion) -> None:
        """Make one region of two. What went from the first to the second no longer leaves or enters."""
        for op in source.ops:
            into.ops[op] = None
            self._of[op] = into
        inside = set(source.ops)
        into.inputs += source.inputs
        into.outputs += source.outputs
        inner = [begin for begin in into.inputs if defining_op(begin.data) in inside]
        ended = {defining_op(begin.data) for begin in inner}
        into.inputs = [begin for begin in into.inputs if begin not in inner]
        into.outputs = [end for end in into.outputs if end not in ended]

    def _add(self, op: Operation, block: Block) -> None:
        if isinstance(op, CompilerBeginOp):
            region = CompilerRegion(self._begun, op.compiler.data, block)
            self._begun += 1
            region.inputs.append(op)
        elif isinstance(op, CompilerEndOp):
            region = self.of(defining_op(op.data))
            if region is None or defining_op(op.data) in region.outputs:
                raise Diagnostic.at(op, "ends a region that nothing has begun", hint="begin it by compiler_begin")
            if region.target != op.compiler.data:
                message = f"ends a region of '{region.target}' for '{op.compiler.data}'"
                raise Diagnostic.at(op, message)
            region.outputs.append(op)
        elif op.has_trait(IsTerminator):
            return
        else:
            region = self._joined(op)
            if region is None:
                return
        region.ops[op] = None
        self._of[op] = region

    def _joined(self, op: Operation) -> CompilerRegion | None:
        """The region of an operation's operands, made one."""
        open_regions: dict[CompilerRegion, None] = {}
        outside: SSAValue | None = None
        for operand in op.operands:
            maker = defining_op(operand)
            region = self.of(maker)
            if region is None or isinstance(maker, CompilerEndOp):
                if not isinstance(maker, ConstantOp):
                    outside = operand
            elif region.block is op.parent:
                open_regions[region] = None
        if not open_regions:
            return None
        first, *others = open_regions
        if outside is not None:
            message = f"is in a region of '{first.target}', and has an operand from outside of it"
            raise Diagnostic.at(op, message, hint="have it enter by compiler_begin")
        for other in others:
            if other.target != first.target:
                raise Diagnostic.at(op, f"is in a region of '{first.target}' and in one of '{other.target}'")
            self.merge(other, first)
        return first

    def _check(self, region: CompilerRegion) -> None:
        for op in region.ops:
            if isinstance(op, CompilerEndOp):
                continue
            users = [use.operation for result in op.results for use in result.uses]
            for user in users:
                if self.of(user) is not region:
                    message = f"is in a region of '{region.target}', and used outside of it"
                    raise Diagnostic.at(op, message, hint="have its result leave by compiler_end")


def bounds(root: Operation) -> list[CompilerBeginOp | CompilerEndOp]:
    """The bounds of regions within `root`."""
    return [op for op in walk(root) if isinstance(op, CompilerBeginOp | CompilerEndOp)]


def drop_bound(op: CompilerBeginOp | CompilerEndOp) -> None:
    """Put what enters or leaves in the place of a bound."""
    op.result.replace_all_uses_with(op.data)
    erase(op)


def beyond_bounds(value: SSAValue) -> SSAValue:
    """What a value is, bounds left out."""
    while isinstance(maker := defining_op(value), CompilerBeginOp | CompilerEndOp):
        value = maker.data
    return value


def partitionable(function: Operation) -> bool:
    """Whether a function is Weft's to take apart: no kernel, and for no other compiler."""
    apart = ("primitive", "Compiler", "Extern", "SkipOptimization")
    return isinstance(function, FuncOp) and not any(mark in function.attributes for mark in apart)

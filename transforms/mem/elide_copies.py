"""Do without copies: what would be copied is computed where it is to be, or seen where it is.

* A buffer that is a copy of another, a reshape, is that other one under another shape (`mem.alias`).
* A buffer that is a copy of a part of another, a slice, is that part of it (`mem.part`).
* What a kernel would only lay one after the other is computed into its place there (`mem.part`).
* What is returned is computed in the caller's memory.

Before -> after:

```mlir
mem.call @k(%x) writes(%a) : ...                     %c = mem.alloc : memref<16xf32>
mem.call @k(%a) writes(%b) : ...                     %a = mem.part %c[0] : memref<16xf32> to memref<8xf32>
mem.copy %a, %b to %c by @concatenate : ...    ->    %b = mem.part %c[32] : memref<16xf32> to memref<8xf32>
mem.call @k(%c) writes(%d) : ...                     mem.call @k(%x) writes(%a) : ...
mem.copy %d to %out : ...                            mem.call @k(%a) writes(%b) : ...
                                                     mem.call @k(%c) writes(%out) : ...
```

The declaration of a kernel that made such copies goes with the last of them, so that a compilation need not make the
kernel (`transforms/infra/apart.py`).

A copy stays where source or target are written again later, where the source is not the graph's own (inputs, constants
and other outputs have their places), or where it has one already; a remark says which. Counterpart of TVM's reshape
aliasing in GraphPlanMemory; TVM copies concatenations, and results that are returned twice, as this does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects.mem.core import (
    Access,
    AliasOp,
    AllocOp,
    CallOp,
    ConstantOp,
    CopyOp,
    PartOp,
    ScanOp,
    buffer_type,
    byte_size,
    root_of,
)
from ...dialects.mem.graph import GraphOp
from ..infra import ModulePass
from ..infra.parts import is_declaration, references, symbol_name
from ..infra.remarks import missed


@dataclass(frozen=True)
class ElideCopiesPass(ModulePass):
    """Turn `mem.copy`s into `mem.alias`es and `mem.part`s."""

    name = "elide-copies"
    required = ("bufferize-graph",)
    drops_declarations: ClassVar[bool] = True

    reshapes: bool = True
    """Elide copies of one buffer to another."""
    slices: bool = True
    """Elide copies of a part of one buffer to another."""
    concatenations: bool = True
    """Elide copies of several buffers to one."""
    outputs: bool = True
    """Elide copies to the graph's outputs."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        made: set[str] = set()
        for graph in op.ops:
            if isinstance(graph, GraphOp):
                made |= self._elide(graph)
        _drop_declarations(op, made)

    def _elide(self, graph: GraphOp) -> set[str]:
        """Elide the copies of a graph; the kernels that made those that it had."""
        copies = _Copies(graph)
        found = [op for op in graph.body.block.ops if isinstance(op, CopyOp)]
        kernels = {copy.callee.root_reference.data for copy in found if copy.callee is not None}
        for copy in found:
            if copy.offset is not None:
                reason = copies.slice(copy, copy.offset.value.data) if self.slices else None
            elif isinstance(copy.target, BlockArgument):
                reason = copies.compute_in_output(copy) if self.outputs else None
            elif len(copy.sources) == 1:
                reason = copies.alias(copy) if self.reshapes else None
            else:
                reason = copies.join(copy) if self.concatenations else None
            if reason is not None:
                missed(self.name, copy, reason)
        return kernels


def _drop_declarations(module: ModuleOp, made: set[str]) -> None:
    """Drop the declarations of those functions, of the names `made`, that nothing refers to any more."""
    declared = {name: op for op in module.ops if (name := symbol_name(op)) in made and is_declaration(op)}
    left = references(module) if declared else set[str]()
    for name, declaration in declared.items():
        if name not in left:
            _erase(declaration)


class _Copies:
    """The copies of a graph. Each method elides one, or says why it cannot be."""

    def __init__(self, graph: GraphOp):
        self.graph = graph
        self.position = {op: number for number, op in enumerate(graph.body.block.ops)}
        self.last_write: dict[SSAValue, int] = {}
        """Of the buffers that are no parts of others: where one was last written, copies that are elided included. They
        are looked at in order, so that what is elided is before what is looked at."""
        for op, number in self.position.items():
            if isinstance(op, CallOp | CopyOp | ScanOp):
                self.last_write |= dict.fromkeys(map(root_of, op.writes), number)

    def alias(self, copy: CopyOp) -> str | None:
        """Take the source for the target."""
        source, target = copy.sources[0], copy.target
        if buffer_type(source).memory_space != buffer_type(target).memory_space:
            return "it is from one device to another"
        if (reason := self._why_not_target(copy) or self._why_changing(source, copy)) is not None:
            return reason
        if not isinstance(root_of(source).owner, AllocOp) and _is_scanned(target):
            return NO_ROWS
        seen = source
        if source.type != target.type:
            alias = AliasOp(source, buffer_type(target))
            alias.location = copy.location
            self._insert(alias, before=copy)
            seen = alias.result
            seen.name_hint = target.name_hint
        _erase(copy)
        self._replace(target, seen)
        return None

    def slice(self, copy: CopyOp, offset: int) -> str | None:
        """Take a part of the source for the target."""
        source, target = copy.sources[0], copy.target
        if isinstance(target, BlockArgument):
            return "the target is the graph's output"
        root = root_of(source).owner
        if not isinstance(root, AllocOp) or root.pool is not None or byte_size(buffer_type(root.result)) is None:
            return "the source is not the graph's own, has a place already or an unknown size: its parts have no memory"
        if buffer_type(source).memory_space != buffer_type(target).memory_space:
            return "it is from one device to another"
        if (reason := self._why_not_target(copy) or self._why_changing(source, copy)) is not None:
            return reason
        part = PartOp(source, offset, buffer_type(target))
        part.location = copy.location
        part.result.name_hint = target.name_hint
        self._insert(part, before=copy)
        _erase(copy)
        self._replace(target, part.result)
        return None

    def join(self, copy: CopyOp) -> str | None:
        """Compute the sources in their places in the target."""
        roots = [root_of(source) for source in copy.sources]
        if (reason := self._why_not_target(copy)) is not None:
            return reason
        if len(set(roots)) != len(roots):
            return "a part that stands twice can be computed in one of its places only"
        for source in copy.sources:
            if (reason := self._why_not_own(source) or self._why_changing(source, copy)) is not None:
                return reason
        target = copy.target.owner
        assert isinstance(target, AllocOp)
        allocs = [root.owner for root in roots if isinstance(root.owner, AllocOp)]
        first = min(allocs, key=self.position.__getitem__)
        if self.position[first] < self.position[target]:
            target.detach()
            self._insert(target, before=first)
        start = 0
        for alloc in allocs:
            part = PartOp(copy.target, start, buffer_type(alloc.result))
            part.location = alloc.location
            part.result.name_hint = alloc.result.name_hint
            self._insert(part, before=alloc)
            start += byte_size(buffer_type(alloc.result)) or 0
            self._replace(alloc.result, part.result)
        _erase(copy)
        return None

    def compute_in_output(self, copy: CopyOp) -> str | None:
        """Compute the source in the caller's memory."""
        source, output = copy.sources[0], copy.target
        root = root_of(source)
        if buffer_type(source).memory_space != buffer_type(output).memory_space:
            return "it is from one device to another"
        if len(copy.sources) > 1:
            return "several buffers are copied to the output, whose parts have no memory of their own"
        if (reason := self._why_not_own(source) or self._why_changing(source, copy)) is not None:
            return reason
        if len(_accesses(output)) > 1:
            return "the output is in use before"
        if any(isinstance(view, PartOp) for view in _views(root)):
            return "what is returned has parts, and an output's parts have no memory of their own"
        if _is_scanned(root):
            return NO_ROWS
        seen: SSAValue = output
        if output.type != root.type:
            alias = AliasOp(output, buffer_type(root))
            assert isinstance(root.owner, AllocOp)
            alias.location = root.owner.location
            self._insert(alias, before=root.owner)
            seen = alias.result
            seen.name_hint = root.name_hint
        _erase(copy)
        self._replace(root, seen)
        return None

    def _why_not_target(self, copy: CopyOp) -> str | None:
        """Why the memory of a copy's target cannot be another's."""
        if not isinstance(alloc := copy.target.owner, AllocOp):
            return "the target is a part of another buffer"
        if alloc.pool is not None:
            return "the target has a place already"
        if any(writes and op is not copy for op, writes in _accesses(copy.target)):
            return "the target is written by others, too"
        return None

    @staticmethod
    def _why_not_own(source: SSAValue) -> str | None:
        """Why the memory of a source cannot be chosen."""
        root = root_of(source)
        match root.owner:
            case AllocOp() if root.owner.pool is not None:
                return "the source has a place already"
            case AllocOp() if byte_size(buffer_type(source)) is None and root is not source:
                return "the size of the source is not known"
            case AllocOp() if byte_size(buffer_type(source)) != byte_size(buffer_type(root)):
                return "the source is a part of another buffer, and computed there"
            case AllocOp():
                return None
            case ConstantOp():
                return "the source is a constant"
            case _:
                return "the source is the caller's: an input, or returned already"

    def _why_changing(self, source: SSAValue, copy: CopyOp) -> str | None:
        """Why what is copied may not be what stands there later."""
        if self.last_write.get(root_of(source), -1) >= self.position[copy]:
            return "the source is written again later"
        return None

    def _insert(self, op: Operation, *, before: Operation) -> None:
        self.graph.body.block.insert_op_before(op, before)
        self.position[op] = self.position[before]

    def _replace(self, old: SSAValue, new: SSAValue) -> None:
        """Have `new` for an allocation, which is erased."""
        assert isinstance(old.owner, AllocOp)
        root = root_of(new)
        self.last_write[root] = max(self.last_write.get(root, -1), self.last_write.pop(old, -1))
        old.replace_all_uses_with(new)
        _erase(old.owner)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


def _views(root: SSAValue) -> Sequence[AliasOp | PartOp]:
    """All that is made of a buffer."""
    found: list[AliasOp | PartOp] = []
    pending = [root]
    while pending:
        for use in pending.pop().uses:
            if isinstance(view := use.operation, AliasOp | PartOp):
                found.append(view)
                pending.append(view.result)
    return found


NO_ROWS = "turns take rows of it, or give them, and a row has memory only in the graph's own"


def _is_scanned(root: SSAValue) -> bool:
    """Whether a buffer is read or written row by row, or carried from turn to turn."""
    found = [(op, value) for value in (root, *(v.result for v in _views(root))) for op in _uses(value)]
    return any(value in op.scanned for op, value in found)


def _uses(value: SSAValue) -> list[ScanOp]:
    return [use.operation for use in value.uses if isinstance(use.operation, ScanOp)]


def _accesses(root: SSAValue) -> list[tuple[Access, bool]]:
    """What reads or writes a buffer, and whether it writes."""
    found: list[tuple[Access, bool]] = []
    for value in (root, *(view.result for view in _views(root))):
        for use in value.uses:
            if isinstance(op := use.operation, CallOp | CopyOp | ScanOp):
                found.append((op, any(written is value for written in op.writes)))
    return found

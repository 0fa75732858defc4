"""What the handles of a schedule stand for.

A primitive moves operations and does not copy them, so that a handle stands for the operation itself. Where one takes a
loop or block away, the handles of it end, and say what ended them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ....dialects.schedule.core import Instruction
from ....dialects.support.diagnostics import did_you_mean
from ....dialects.tir.core import BlockOp, ForOp, OuterBlockOp, PrimFuncOp, enclosing_loops
from ..analysis.block_scopes import AnyBlock, CachedFlags, DepKind, Root, cached_flags, dependencies_in
from ..schedule.errors import HandleError, ScheduleError, UnknownFunctionError

if TYPE_CHECKING:
    from ....dialects.tir.nodes.statements import Stmt


class Location(Enum):
    """A place to compute a block in that is no loop."""

    ROOT = -1
    """Where it stands."""
    INLINE = -2
    """In its readers."""


Statement: TypeAlias = BlockOp | OuterBlockOp | ForOp | PrimFuncOp
"""A block or loop; a function is the root of its blocks."""

Meaning: TypeAlias = Statement | int | Location
"""What a handle may stand for."""


def known_in(functions: Iterable[str]) -> str:
    """The names of functions, for messages."""
    return ", ".join(f"@{known}" for known in functions) or "none"


class State:
    """A module or function that is being scheduled, and the handles into it."""

    def __init__(self, root: ModuleOp | PrimFuncOp, function: str | None = None, seed: int | None = None):
        self.root = root
        self.function_name = function
        self.random = Random(seed)
        self.meanings: dict[SSAValue, Meaning] = {}
        self.ended: dict[SSAValue, str] = {}
        self.twins: dict[SSAValue, SSAValue] = {}
        """Of a copy: for each handle of the schedule that it is a copy of, that which it has itself."""

    @property
    def mod(self) -> ModuleOp | PrimFuncOp:
        """What is scheduled, as it is now."""
        return self.root

    def functions(self) -> list[PrimFuncOp]:
        """The functions that can be scheduled."""
        if isinstance(self.root, PrimFuncOp):
            return [self.root]
        return [op for op in self.root.ops if isinstance(op, PrimFuncOp)]

    def function(self, name: str | None = None) -> PrimFuncOp:
        """The function of a name; without one, that which is worked on: the only one, or `@main`. An only function may
        be called `main` whatever its name, as where TVM makes a module of a function.

        Raises:
            ScheduleError: there is none.
        """
        functions = {func.sym_name.data: func for func in self.functions()}
        wanted = name or self.function_name or (next(iter(functions)) if len(functions) == 1 else "main")
        if wanted == "main" and wanted not in functions and len(functions) == 1:
            return next(iter(functions.values()))
        if wanted not in functions:
            if name is None and self.function_name is None:
                raise UnknownFunctionError(
                    f"the schedule does not know which function to be working on: there is {known_in(functions)}",
                    hint="schedule.work_on(name)",
                )
            hint = did_you_mean(f"@{wanted}", [f"@{known}" for known in functions])
            known = known_in(functions)
            raise UnknownFunctionError(f"there is no function @{wanted} to schedule", hint=hint or f"there is {known}")
        return functions[wanted]

    def is_live(self, op: Operation) -> bool:
        """Whether `op` stands in what is scheduled."""
        parent: Operation | None = op
        while parent is not None:
            if parent is self.root:
                return True
            parent = parent.parent_op()
        return False

    def get_sref(self, stmt: Statement | Stmt) -> StmtSRef:
        """The place of a block or loop; of a node, that of the operation that it was read from.

        Raises:
            HandleError: it stands in nothing that is scheduled here.
        """
        if not isinstance(stmt, Operation):
            if not isinstance(stmt.operation, Statement):
                raise HandleError("the node was read from no block or loop", hint="take one of a function's tree")
            stmt = stmt.operation
        if not self.is_live(stmt):
            raise HandleError("this is no block or loop of what is scheduled")
        return StmtSRef(self, stmt)

    def get_block_scope(self, block_sref: StmtSRef) -> BlockScope:
        """What the blocks in a block have to do with each other."""
        return BlockScope(self, _root_at(block_sref))

    def get_cached_flags(self, block_sref: StmtSRef) -> CachedFlags:
        """What is known of a block, now: nothing is kept that a primitive could make untrue."""
        return cached_flags(_root_at(block_sref))

    _get_cached_flags = get_cached_flags
    """TVM's name of it."""

    def meaning(self, value: SSAValue) -> Meaning:
        """What a handle stands for.

        Raises:
            ScheduleError: it is none of this schedule, or what it stood for is gone.
        """
        value = self.twins.get(value, value)
        name = f"%{value.name_hint or 'handle'}"
        if (reason := self.ended.get(value)) is not None:
            raise HandleError(
                f"the handle {name} is stale: {reason}", hint="take the handles that the primitive gave, or ask anew"
            )
        if (found := self.meanings.get(value)) is None:
            raise HandleError(f"the handle {name} is none of this schedule")
        if isinstance(found, Operation) and not self.is_live(found):
            raise HandleError(
                f"the handle {name} is stale: an earlier primitive has taken away what it stood for",
                hint="ask for the block or its loops anew",
            )
        return found

    def block(self, value: SSAValue) -> BlockOp:
        """The block that a handle stands for.

        Raises:
            ScheduleError: as `meaning` says, or it is an outer block, which computes nothing itself.
        """
        found = self.meaning(value)
        if isinstance(found, OuterBlockOp):
            raise ScheduleError.at(
                found, f"block @{found.block_name} is one of loops and blocks", hint="take a block in it"
            )
        if isinstance(found, PrimFuncOp):
            raise ScheduleError.at(found, "the root block is the function itself", hint="take a block in it")
        assert isinstance(found, BlockOp)
        return found

    def any_block(self, value: SSAValue) -> AnyBlock:
        """The block, or the block of blocks, that a handle stands for.

        Raises:
            ScheduleError: as `meaning` says, or it is the function.
        """
        found = self.meaning(value)
        return found if isinstance(found, OuterBlockOp) else self.block(value)

    def loop(self, value: SSAValue) -> ForOp:
        """The loop that a handle stands for.

        Raises:
            ScheduleError: as `meaning` says, or it stands for a place that is no loop.
        """
        found = self.meaning(value)
        if not isinstance(found, ForOp):
            raise ScheduleError("the handle stands for no loop: its block was to stay, or to be inlined")
        return found

    def integer(self, value: SSAValue) -> int:
        found = self.meaning(value)
        assert isinstance(found, int)
        return found

    def touched_by(self, op: Instruction) -> list[Operation]:
        """The blocks and loops that an instruction is about, and those around them: it may take them away."""
        found: list[Operation] = []
        for value in op.inputs:
            stands_for = self.meanings.get(value)
            if isinstance(stands_for, Operation):
                found += [stands_for, *enclosing_loops(stands_for)]
        return found

    def end(self, ops: Iterable[Operation], reason: str) -> None:
        """Let the handles of `ops` end."""
        gone = set(ops)
        for value, stands_for in list(self.meanings.items()):
            if isinstance(stands_for, Operation) and stands_for in gone:
                del self.meanings[value]
                self.ended[value] = reason


@dataclass(frozen=True)
class StmtSRef:
    """A block or loop of a state, as long as it stands there. Counterpart of TVM's `StmtSRef`.

    A primitive moves operations and does not copy them, so that it stands for the same block or loop whatever is done
    around that.
    """

    state: State
    op: Statement

    @property
    def stmt(self) -> Stmt | None:
        """The block or loop as a node of the function's tree; `None` where a primitive has taken it away."""
        return node_of(self.op) if self.state.is_live(self.op) else None

    @property
    def parent(self) -> StmtSRef | None:
        """The block or loop around; that of a function is `None`."""
        around = None if isinstance(self.op, PrimFuncOp) else self.op.parent_op()
        return StmtSRef(self.state, around) if isinstance(around, OuterBlockOp | ForOp | PrimFuncOp) else None

    def same_as(self, other: object) -> bool:
        """Whether `other` is the same place of the same state."""
        return isinstance(other, StmtSRef) and other.state is self.state and other.op is self.op


def node_of(op: Statement) -> Stmt:
    """A block or loop as a node of its function's tree; of a function, its root block."""
    from ....dialects.tir.nodes.tree import node_in_tree  # nodes are loaded when they are asked for

    return node_in_tree(op)


def _root_at(sref: StmtSRef) -> Root:
    op = sref.op
    if not sref.state.is_live(op) or isinstance(op, ForOp):
        raise HandleError("this is no block of what is scheduled")
    return op


@dataclass(frozen=True)
class Dependency:
    """The block `dst` depends on `src`, which stands before it. Counterpart of TVM's `Dependency`."""

    src: StmtSRef
    dst: StmtSRef
    kind: DepKind


@dataclass(frozen=True)
class BlockScope:
    """What the blocks in a block, a function say, have to do with each other. Counterpart of TVM's `BlockScope`."""

    state: State
    root: Root

    def get_deps_by_src(self, block: StmtSRef) -> list[Dependency]:
        """How later blocks depend on this one."""
        return [each for each in self._all() if each.src.same_as(block)]

    def get_deps_by_dst(self, block: StmtSRef) -> list[Dependency]:
        """How this block depends on earlier ones."""
        return [each for each in self._all() if each.dst.same_as(block)]

    def _all(self) -> list[Dependency]:
        at = self.state.get_sref
        return [Dependency(at(each.src), at(each.dst), each.kind) for each in dependencies_in(self.root)]

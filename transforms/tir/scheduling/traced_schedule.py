"""What is scheduled, and the instructions that are recorded as they are applied to it: `weft.tir.Schedule` without its
primitives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar, cast, overload

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects.schedule.core import Instruction, SequenceOp
from ....dialects.support.arguments import checked_methods
from ....dialects.tir.core import BlockOp, ForOp, OuterBlockOp, PrimFuncOp
from ....dialects.tir.legality.midway import faults_midway, verify_midway
from ....dialects.tir.script.modules import IRModule
from ..schedule.errors import HandleError, ScheduleError
from .handles import BlockRV, ExprRV, LoopRV
from .instructions import APPLY
from .rehearsal import check_given, needs_rehearsal, rehearse
from .state import Location, Meaning, State, StmtSRef, node_of
from .trace import Trace

if TYPE_CHECKING:
    from ....dialects.tir.nodes.blocks import Block
    from ....dialects.tir.nodes.statements import For, Stmt

NOT_SHOWN = "an instruction does not apply (not rendered)"
"""What is said of an error at the level `"none"`."""

LEVELS = ("detail", "fast", "none")
"""How much is said of an instruction that does not apply."""

RV = TypeVar("RV", BlockRV, LoopRV, ExprRV)
Handle = TypeVar("Handle", BlockRV, LoopRV)
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="TracedSchedule")
C = TypeVar("C", bound="type[TracedSchedule]")


def whole_methods(cls: C) -> C:
    """Let each public method of a class be one step: where it raises, what it has asked for before, such as the block
    of a name, is in the trace no more."""
    for name, method in list(vars(cls).items()):
        if callable(method) and not name.startswith("_"):
            setattr(cls, name, _whole(method))
    return cls


def _whole(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    @wraps(method)
    def step(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        last = self.trace.op.body.block.last_op
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.forget_after(last)
            raise

    return step


@checked_methods
class TracedSchedule:
    """A function or module that instructions are applied to, the handles that they give, and the trace of both."""

    @classmethod
    def on(cls, func: PrimFuncOp, name: str | None = None) -> Self:
        """A schedule that works on `func` itself, in place: what passes use."""
        made = cls.__new__(cls)
        made._start(func, func.sym_name.data, None, "none", name)
        return made

    def _start(
        self,
        root: ModuleOp | PrimFuncOp,
        function: str | None,
        seed: int | None,
        debug_mask: str,
        name: str | None = None,
    ) -> None:
        self.state = State(root, function, seed)
        self._sequence = SequenceOp(name or f"{function or 'any'}_schedule", function)
        self._verifies = debug_mask == "all"
        self._known = (
            frozenset(each.message for each in faults_midway(self.mod)) if self._verifies else frozenset[str]()
        )

    _level: str = "detail"

    # the whole

    @property
    def mod(self) -> IRModule:
        """The module as it is now. Changing it by hand makes handles stale."""
        root = self.state.root
        if not isinstance(root, IRModule):
            raise TypeError("this schedule works on a function in place; its module is its owner's")
        return root

    @property
    def trace(self) -> Trace:
        """What has been done."""
        return Trace(self._sequence)

    def show(self) -> None:
        """Print the module, and what has been done."""
        print(self.state.root)
        print(self._sequence)

    def work_on(self, func_name: str) -> None:
        """Let `get_block` look in this function unless told otherwise."""
        self.state.function(func_name)
        self.state.function_name = func_name
        if not self._sequence.instructions:
            self._sequence = SequenceOp(f"{func_name}_schedule", func_name)

    def seed(self, seed: int) -> None:
        """Start the sampling anew; -1 for a seed that nobody knows."""
        self.state.random.seed(None if seed == -1 else seed)

    def fork_seed(self) -> int:
        """A seed for another schedule."""
        return self.state.random.randrange(1, 1 << 31)

    def copy(self) -> Self:
        """Another schedule of a copy of the module, at the same point. The handles that this one has given stand for
        the same blocks and loops there; what either gives from now on is its own."""
        if not isinstance(self.state.root, ModuleOp):
            raise TypeError("a schedule that works on a function in place cannot be copied")
        other = type(self).__new__(type(self))
        module = self.state.root.clone()
        other._start(module, self.state.function_name, self.fork_seed(), "all" if self._verifies else "none")
        other._level = self._level
        moved: dict[Operation, Operation] = dict(zip(self.state.root.walk(), module.walk(), strict=True))
        mapped: dict[SSAValue, SSAValue] = {}
        other._sequence = self._sequence.clone(mapped)
        for value, meaning in self.state.meanings.items():
            if isinstance(meaning, Operation):
                if meaning in moved:
                    other.state.meanings[mapped[value]] = cast("Meaning", moved[meaning])
            else:
                other.state.meanings[mapped[value]] = meaning
        other.state.ended = {mapped[value]: reason for value, reason in self.state.ended.items()}
        other.state.twins = {**{old: mapped[own] for old, own in self.state.twins.items() if own in mapped}, **mapped}
        return other

    def same(self, rv: RV) -> RV:
        """The handle of this schedule, a copy, for one of the schedule it was copied from."""
        if rv.value not in self.state.twins:
            raise HandleError("the handle is none of the schedule that this is a copy of")
        return type(rv)(self.state.twins[rv.value])

    @overload
    def get(self, rand_var_or_sref: BlockRV) -> Block: ...
    @overload
    def get(self, rand_var_or_sref: LoopRV) -> For: ...
    @overload
    def get(self, rand_var_or_sref: ExprRV) -> int | Location: ...
    @overload
    def get(self, rand_var_or_sref: StmtSRef) -> Stmt: ...
    def get(self, rand_var_or_sref: BlockRV | LoopRV | ExprRV | StmtSRef) -> Stmt | int | Location:
        """What a handle, or a place, stands for: a loop or a block as a node of the function's tree, which is the same
        one as long as nothing has changed. `operation` gives what that was read from.

        Raises:
            HandleError: it is stale, or another schedule's; as all primitives do.
        """
        if isinstance(rand_var_or_sref, ExprRV):
            found = self.state.meaning(rand_var_or_sref.value)
            assert isinstance(found, int | Location)
            return found
        return node_of(self.operation(rand_var_or_sref))

    def operation(self, rand_var_or_sref: BlockRV | LoopRV | StmtSRef) -> BlockOp | OuterBlockOp | ForOp | PrimFuncOp:
        """The operation that a handle, or a place, stands for: primitives move it, and do not copy it.

        Raises:
            HandleError: it is stale, or another schedule's.
        """
        if isinstance(rand_var_or_sref, StmtSRef):
            return self.get_sref(rand_var_or_sref.op).op
        found = self.state.meaning(rand_var_or_sref.value)
        if isinstance(found, int | Location):
            raise HandleError("the handle stands for no block or loop")
        return found

    def get_sref(
        self, rand_var_or_stmt: BlockRV | LoopRV | BlockOp | OuterBlockOp | ForOp | PrimFuncOp | Stmt
    ) -> StmtSRef:
        """The place of a block or loop, of a handle, of the operation itself or of a node that was read from it.

        Raises:
            HandleError: it stands in nothing that is scheduled here.
        """
        given = rand_var_or_stmt
        if not isinstance(given, BlockRV | LoopRV):
            return self.state.get_sref(given)
        op = self.state.meaning(given.value)
        if not isinstance(op, Operation):
            raise HandleError("the handle stands for no block or loop")
        return self.state.get_sref(op)

    def remove_rv(self, rand_var: BlockRV | LoopRV | ExprRV) -> None:
        """Let a handle stand for nothing any more."""
        self.state.meaning(rand_var.value)
        value = self.state.twins.get(rand_var.value, rand_var.value)
        del self.state.meanings[value]
        self.state.ended[value] = "it was removed"

    def apply(self, op: Instruction) -> Sequence[SSAValue]:
        """Apply an instruction that stands in no sequence, and record it. Gives its results.

        Raises:
            ScheduleError: it does not apply, or gives another number of blocks or loops than it says.
        """
        body = self._sequence.body.block
        op.operands = [self.state.twins.get(value, value) for value in op.operands]
        body.add_op(op)
        try:
            self._check(op)
            if needs_rehearsal(self.state, op):
                rehearse(self.state, op)
            touched = self.state.touched_by(op)
            meanings = APPLY[type(op)](self.state, op)
            check_given(op, meanings)
        except BaseException as error:
            op.detach()
            op.erase(safe_erase=False)
            if isinstance(error, ScheduleError) and self._level != "detail":
                raise type(error)(error.message if self._level == "fast" else NOT_SHOWN) from None
            raise
        if gone := [each for each in touched if not self.state.is_live(each)]:
            self.state.end(gone, f"{op.name} has taken it away")
        for value, meaning in zip(op.outputs, meanings, strict=True):
            self.state.meanings[value] = meaning
            if value.name_hint is None:
                _name(value, meaning)
        if self._verifies and op.CHANGES:
            verify_midway(self.mod, self._known)
        return op.outputs

    def forget_after(self, last: Operation | None) -> None:
        """Take what was asked behind an instruction of the trace out of it."""
        body = self._sequence.body.block
        while (op := body.last_op) is not last:
            assert isinstance(op, Instruction) and not op.CHANGES, "what has changed the module stays in the trace"
            for value in op.outputs:
                self.state.meanings.pop(value, None)
            op.detach()
            op.erase(safe_erase=False)

    def _check(self, op: Instruction) -> None:
        try:
            op.verify_()
        except VerifyException as error:
            raise ScheduleError(f"{op.name}: {error}") from error
        for value in op.inputs:
            self.state.meaning(value)

    def _block(self, op: Instruction) -> BlockRV:
        return BlockRV(self.apply(op)[0])

    def _loop(self, op: Instruction) -> LoopRV:
        return LoopRV(self.apply(op)[0])

    def _many(self, kind: type[Handle], op: type[Instruction], of: BlockRV | LoopRV) -> list[Handle]:
        """The results of a query, of which there are as many as there are."""
        probe = op.of(self.state.twins.get(of.value, of.value))
        self._sequence.body.block.add_op(probe)
        try:
            self._check(probe)
            count = len(APPLY[op](self.state, probe))
        finally:
            probe.detach()
            probe.erase(safe_erase=False)
        return [kind(value) for value in self.apply(op.of(of.value, results=count))]


def _name(value: SSAValue, meaning: Meaning) -> None:
    """Call a handle as its block or loop is called."""
    match meaning:
        case BlockOp() | OuterBlockOp():
            name = meaning.block_name
        case ForOp():
            name = meaning.var.name_hint
        case _:
            name = None
    if name is not None and SSAValue.is_valid_name(name):
        value.name_hint = name

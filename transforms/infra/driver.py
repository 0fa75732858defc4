"""The pattern-rewrite driver: applies xDSL `RewritePattern`s to a module until none of them matches.

    driver = RewriteDriver([FoldAddZero(), FuseCasts()])
    changed = driver.rewrite_module(module)

Patterns are ordinary xDSL ones. Unlike `PatternRewriteWalker` with `GreedyRewritePatternApplier` the driver

* looks patterns up by operation type, so that an operation costs nothing that no pattern is about;
* never recurses;
* stops a set of patterns that does not converge, and names the pattern;
* gives new operations the location of the one they were made for;
* erases what a rewrite left without use, but nothing that was dead before;
* counts tries, matches and, if asked, time for each pattern.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter_ns

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.folder import Folder
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriterListener,
    RewritePattern,
)
from xdsl.rewriter import InsertPoint
from xdsl.traits import ConstantLike, HasFolder
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from ...dialects.support.arguments import checked_methods
from ...dialects.support.diagnostics import InternalError, Place
from ...dialects.support.insides import operands_of
from . import execution, walk
from .pattern_table import PatternTable


class NonConvergenceError(InternalError):
    """A set of patterns that would go on rewriting for ever."""


@dataclass(eq=False)
class RewriteListener(PatternRewriterListener):
    """xDSL's listener for insertion, removal, modification and replacement, and one event more."""

    pattern_applied_handler: list[Callable[[str, Operation], None]] = field(
        default_factory=list[Callable[[str, Operation], None]], kw_only=True
    )
    """Called with the pattern's name and the operation it matched, after the rewrite; the operation may be gone."""


_OBSERVERS: ContextVar[tuple[PatternRewriterListener, ...]] = ContextVar("weft_rewrite_observers", default=())


@contextmanager
def observed_by(*listeners: PatternRewriterListener) -> Generator[None]:
    """Have `listeners` hear of everything that any driver rewrites in the `with` block, in this thread."""
    token = _OBSERVERS.set((*_OBSERVERS.get(), *listeners))
    try:
        yield
    finally:
        _OBSERVERS.reset(token)


@checked_methods
class RewriteDriver:
    """Applies patterns to everything inside a module or operation.

    Args:
        patterns: tried in this order on each operation until one acts.
        recursive: go on until no pattern matches anywhere; else look at each operation once, and not at new ones.
        post_order: look at an operation after its regions rather than before them.
        reverse: look at later operations first.
        dead_code: erase pure operations that a rewrite has left without use.
        folding: fold operations, and materialise constants with this context, before patterns are tried.
        max_rewrites_per_op: bound on rewrites, for each operation there was at the start.
        timing: measure the time spent in each pattern.
        listener: told of what happens.

    `statistics` holds what each pattern did, over all calls.
    """

    def __init__(
        self,
        patterns: Sequence[RewritePattern],
        *,
        recursive: bool = True,
        post_order: bool = False,
        reverse: bool = False,
        dead_code: bool = True,
        folding: Context | None = None,
        max_rewrites_per_op: int = 16,
        timing: bool = False,
        listener: PatternRewriterListener | None = None,
    ):
        self._recursive = recursive
        self._post_order = post_order
        self._reverse = reverse
        self._dead_code = dead_code
        self._max_rewrites_per_op = max_rewrites_per_op
        self._timing = timing
        self._listener = listener
        fold = [] if folding is None else [_Fold(folding)]
        self._table = PatternTable([*fold, *patterns])
        self.statistics = self._table.statistics
        self._stack: list[Operation] = []
        self._queued: set[int] = set()
        self._maybe_dead: list[Operation] = []

    def rewrite_module(self, module: ModuleOp) -> bool:
        """Rewrite what is in `module`; see `rewrite`."""
        return self.rewrite(module)

    def rewrite(self, root: Operation) -> bool:
        """Rewrite everything nested in `root`, but not `root` itself.

        Returns:
            Whether anything changed.

        Raises:
            NonConvergenceError: more rewrites were made than the bound allows; the message names the pattern.
        """
        before = {name: s.matched for name, s in self.statistics.items()}
        rewriter = _Rewriter(self)
        applied: list[Callable[[str, Operation], None]] = []
        for listener in (*_OBSERVERS.get(), *filter(None, (self._listener,))):
            rewriter.extend_from_listener(listener)
            if isinstance(listener, RewriteListener):
                applied += listener.pattern_applied_handler
        bound = _Bound(self._max_rewrites_per_op)
        changed = False
        while True:
            bound.allow(self._fill(root))
            changed_now = self._drain(rewriter, bound, applied)
            changed |= changed_now
            if not (changed_now and self._recursive):
                break
        for name, statistics in self.statistics.items():
            if count := statistics.matched - before[name]:
                execution.report_rewrites(name, count)
        return changed

    def _fill(self, root: Operation) -> int:
        """Queue the operations under `root` that some pattern is about; return how many operations there are."""
        table, stack = self._table, self._stack
        count = 0
        for op in walk.walk_post_order(root) if self._post_order else walk.walk(root):
            count += 1
            if table[type(op)] and op is not root:
                stack.append(op)
        if not self._reverse:
            stack.reverse()  # it is popped from the end
        self._queued.update(map(id, stack))
        return count

    def _drain(self, rewriter: _Rewriter, bound: _Bound, applied: Sequence[Callable[[str, Operation], None]]) -> bool:
        """Process the queue until it is empty; return whether anything changed."""
        stack, queued, table = self._stack, self._queued, self._table
        timing, recursive = self._timing, self._recursive
        changed = False
        try:
            while stack:
                op = stack.pop()
                if id(op) not in queued:
                    continue  # erased since
                queued.discard(id(op))
                rewriter.look_at(op)
                for entry in table[type(op)]:
                    statistics = entry.statistics
                    statistics.tried += 1
                    try:
                        if timing:
                            start = perf_counter_ns()
                            entry.rewrite(op, rewriter)
                            statistics.nanoseconds += perf_counter_ns() - start
                        else:
                            entry.rewrite(op, rewriter)
                    except Exception as error:
                        error.add_note(f"while applying the pattern {statistics.name} to '{op.name}' at {op.location}")
                        raise
                    if rewriter.has_done_action:
                        changed = True
                        statistics.matched += 1
                        bound.count(statistics.name, op)
                        for handler in applied:
                            handler(statistics.name, op)
                        if recursive and op.parent is not None:
                            self._push(op)
                        break
                if self._maybe_dead:
                    self._erase_dead(rewriter)
        except BaseException:
            self._stack.clear()
            self._queued.clear()
            self._maybe_dead.clear()
            raise
        return changed

    def _push(self, op: Operation) -> None:
        if self._table[type(op)] and id(op) not in self._queued:
            self._queued.add(id(op))
            self._stack.append(op)

    def inserted(self, op: Operation) -> None:
        if self._recursive:
            if op.regions:
                for nested in walk.walk(op):
                    self._push(nested)
            else:
                self._push(op)

    def modified(self, op: Operation) -> None:
        if self._recursive:
            self._push(op)

    def removed(self, op: Operation) -> None:
        gone = list(walk.walk(op)) if op.regions else [op]
        for nested in gone:
            for operand in operands_of(nested):
                if isinstance(operand, OpResult):
                    self.released(operand)
                    if operand.has_one_use():
                        self.modified(operand.op)
        self._queued.difference_update(map(id, gone))  # at last: what one of them gives may be another's operand

    def released(self, value: SSAValue) -> None:
        """The uses of `value` went elsewhere."""
        if self._dead_code and isinstance(value, OpResult):
            self._maybe_dead.append(value.op)

    def _erase_dead(self, rewriter: _Rewriter) -> None:
        while self._maybe_dead:
            op = self._maybe_dead.pop()
            if op.parent is not None and is_trivially_dead(op):
                rewriter.erase(op)


class _Fold(RewritePattern):
    """Fold by the operation's own folder. Constants are left: they would be folded to themselves for ever."""

    pattern_name = "fold"

    def __init__(self, context: Context):
        self._folder = Folder(context)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not op.has_trait(HasFolder, value_if_unregistered=False) or op.has_trait(ConstantLike):
            return
        if (folded := self._folder.try_fold(op)) is not None:
            values, constants = folded
            rewriter.replace(op, constants, values)


class _Bound:
    """Counts rewrites, and knows what to say when there are too many."""

    def __init__(self, per_op: int):
        self._per_op = per_op
        self._limit = 0
        self._count = 0
        self._latest: deque[str] = deque(maxlen=256)

    def allow(self, operations: int) -> None:
        if not self._limit:
            self._limit = self._per_op * max(operations, 64)

    def count(self, pattern: str, op: Operation) -> None:
        self._count += 1
        self._latest.append(pattern)
        if self._count <= self._limit:
            return
        common = Counter(self._latest).most_common(2)
        culprits = sorted(n for n, times in common if times * 4 >= len(self._latest)) or [common[0][0]]
        what = (
            f"the pattern {culprits[0]} does not converge"
            if len(culprits) == 1
            else f"the patterns {culprits[0]} and {culprits[1]} do not converge: they seem to undo one another"
        )
        raise NonConvergenceError(
            f"{what}; stopped after {self._count - 1} rewrites, the last one of '{op.name}'",
            Place.of_location(op.location),
        )


class _Rewriter(PatternRewriter):
    """xDSL's rewriter, which tells the driver what happens and keeps locations."""

    def __init__(self, driver: RewriteDriver):
        PatternRewriterListener.__init__(self)
        self._current_operation = None
        self._point: InsertPoint | None = None
        self._name_hint = None
        self._driver = driver
        self.operation_insertion_handler.append(self._inserted)
        self.operation_modification_handler.append(driver.modified)
        self.operation_removal_handler.append(driver.removed)

    def look_at(self, op: Operation) -> None:
        """Start over with another operation."""
        self.has_done_action = False
        self._current_operation = op
        self._point = None
        self._name_hint = None

    @property
    def insertion_point(self) -> InsertPoint:
        """Before the matched operation, unless the pattern has set it; made when it is first asked for."""
        if self._point is None:
            assert self._current_operation is not None
            self._point = InsertPoint.before(self._current_operation)
        return self._point

    @insertion_point.setter
    def insertion_point(self, point: InsertPoint) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._point = point

    def _inserted(self, op: Operation) -> None:
        if self._current_operation is not None and isinstance(op.location, UnknownLoc):
            location = self._current_operation.location
            for nested in walk.walk(op) if op.regions else (op,):
                if isinstance(nested.location, UnknownLoc):
                    nested.location = location
        self._driver.inserted(op)

    def erase(self, op: Operation, safe_erase: bool = True) -> None:
        if not op.regions:
            super().erase(op, safe_erase)
            return
        self.has_done_action = True
        self.handle_operation_removal(op)
        walk.erase(op, safe_erase)

    def replace_all_uses_with(self, from_value: SSAValue, to_value: SSAValue | None, safe_erase: bool = True) -> None:
        super().replace_all_uses_with(from_value, to_value, safe_erase)
        if from_value is not to_value:
            self._driver.released(from_value)

"""A pass that takes a module apart, works on one part after the other, and then on the rest.

    apart(each(schedule-rules,convert-tir-to-loops,convert-loops-to-llvm),
          rest(bufferize-graph,plan-memory,materialize-memory,convert-loops-to-llvm,add-entry-point))

Every part (`parts`) goes all the way through `each`, in a module of its own, before the next is begun; then `rest`
runs on what is left, where the functions of the parts are declared as they were before they became the llvm dialect's,
so that calls of them can be made. Last the parts are put back, but for those whose declarations a pass has dropped,
since nothing calls them any more (`Pass.drops_declarations`). With a `sink` they are not put back: it takes each part
as soon as that is ready, and a code generator can work on it meanwhile. Which parts will be dropped is tried before on
a copy of the rest: these need not go through `each`. Where there are instruments, which may keep a pass from running,
they do, and wait, with all behind them: the sink takes what is left of them when the rest is done.

What is only proposed for a part, a schedule that tuning has found, may turn out to be of no use: then the part goes
through `each` once more without it (`Proposals`).

MLIR nests pass pipelines on functions, which may look at nothing but the function. A part is the same with a module
around it, so that any pass can work on it; and the rest, which has to know what became of the parts, has a place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from xdsl.context import Context
from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.support.diagnostics import Diagnostic, InternalError
from . import remarks
from .context import PassContext
from .execution import active_run, run, working_on_part
from .parts import Part, Sink, declared, join, rename_what_is_taken, symbol_name, take_apart
from .sequential import Sequential
from .trials import Proposals, try_passes
from .walk import clone


class Memo(Protocol):
    """Remembers parts that have gone through `each` before, where there is a sink, which needs no module of them."""

    def begin(self, parts: Sequence[Part], through: Callable[[Part], None]) -> None:
        """Told of all parts before the first is begun, and of what has one go `through`: another process may do so."""
        ...

    def find(self, part: Part, taken: dict[str, str]) -> tuple[func.FuncOp, llvm.FuncOp] | None:
        """What stands for a part in the rest, before and after that becomes the llvm dialect's, if it is known."""
        ...

    def lowered(self, part: Part, linked: llvm.FuncOp, renamed: bool) -> None:
        """Told of a part that has gone through, before the sink is."""
        ...

    def finish(self) -> None:
        """Told that all parts are through, before the rest is begun."""
        ...


class Apart(Sequential):
    """Runs `each` on the parts of a module, one after the other, then `rest` on the rest of it."""

    each: Sequential
    rest: Sequential
    sink: Sink | None
    memo: Memo | None
    proposals: Proposals | None

    def __init__(
        self,
        each: Sequential,
        rest: Sequential,
        sink: Sink | None = None,
        memo: Memo | None = None,
        proposals: Proposals | None = None,
    ):
        super().__init__([each, rest], name="apart")
        text = f"apart(each({each.members_text}),rest({rest.members_text}))"
        object.__setattr__(self, "sequence_info", replace(self.sequence_info, spec=text))
        object.__setattr__(self, "each", each)
        object.__setattr__(self, "rest", rest)
        object.__setattr__(self, "sink", sink)
        object.__setattr__(self, "memo", memo if sink is not None else None)
        object.__setattr__(self, "proposals", proposals)

    def __str__(self) -> str:
        return self.info.spec

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            UnknownPassError, RequirementError: the requirements of an enabled pass cannot be resolved; no pass has run.
        """
        self.begin()
        waiting: list[Part] = []
        taken: dict[str, str] = {}
        declarations: dict[str, llvm.FuncOp] = {}
        parts, dropped = self._parts(ctx, op)
        while parts:
            part = parts.popleft()
            if self.memo is not None and (known := self.memo.find(part, taken)) is not None:
                part.replace_placeholder(known[0])
                declarations[part.name] = known[1]
                continue
            self._through(ctx, part)
            renamed = rename_what_is_taken(part, taken)
            if isinstance(function := part.function, llvm.FuncOp):
                declaration = declared(function)
                assert isinstance(declaration, llvm.FuncOp)
                declarations[part.name] = declaration
                if self.memo is not None:
                    self.memo.lowered(part, declaration, renamed)
            if self.sink is None or waiting or part.name in dropped:
                waiting.append(part)
            else:
                self.sink(part.name, part.module)
        if self.memo is not None:
            self.memo.finish()
        run(self.rest, op, ctx)
        _declare_as_they_are(op, declarations)
        if self.sink is None:
            join(op, [(part.name, part.module) for part in waiting])
        else:
            left = set(map(symbol_name, op.ops))
            for part in waiting:
                if part.name in left:
                    self.sink(part.name, part.module)
            self.sink(None, op)
        if (current := active_run()) is not None:
            current.changed = True

    def _parts(self, ctx: Context, op: ModuleOp) -> tuple[deque[Part], set[str]]:
        """The parts of a module, and the names of those that will not be called, if a sink takes them. Of these there
        are only any where there are instruments, which may see to it that they are called nevertheless."""
        parts = deque(take_apart(op))
        if self.sink is None:
            return parts, set()
        dropped = self._dropped(ctx, op)
        if not PassContext.current().instruments:
            parts = deque(part for part in parts if part.name not in dropped)
        if self.memo is not None:
            self.memo.begin(tuple(parts), partial(self._through, ctx))
        return parts, dropped

    def _dropped(self, ctx: Context, rest: ModuleOp) -> set[str]:
        """The functions whose declarations `self.rest` will drop from the rest of a module.

        Its passes run on a copy, up to the last that drops any, and nobody hears of that. What is wrong is said when
        they run on the rest itself.
        """
        passes = list(_each_pass(self.rest))
        dropping = [number for number, pass_ in enumerate(passes) if getattr(pass_, "drops_declarations", False)]
        if not dropping:
            return set()
        tried = clone(rest)
        try:
            try_passes(passes[: dropping[-1] + 1], tried, ctx)
        except Diagnostic:
            return set()
        return {name for op in rest.ops if (name := symbol_name(op)) is not None} - set(map(symbol_name, tried.ops))

    def _through(self, ctx: Context, part: Part) -> None:
        """Have a part go through `each`; without what is only proposed for it, where that cannot go through."""
        if self.proposals is None or (plain := self.proposals.without(part.module)) is None:
            self._through_each(ctx, part)
            return
        try:
            self._through_each(ctx, part)
            try_passes(self.proposals.beyond, clone(part.module), ctx)
        except InternalError:
            raise
        except Diagnostic as error:
            part.become(plain)
            what = f"what is proposed for @{part.name} cannot be compiled, and is left out: {error.message}"
            remarks.missed("apply-schedule", part.function, what)
            self._through_each(ctx, part)

    def _through_each(self, ctx: Context, part: Part) -> None:
        with working_on_part(part.module):
            for step in self.each.passes:
                run(step, part.module, ctx)
                if isinstance(part.function, func.FuncOp):
                    part.declare()


def _each_pass(sequence: Sequential) -> Iterator[ModulePass]:
    """The passes of a sequence, and of those within it."""
    for pass_ in sequence.passes:
        if isinstance(pass_, Sequential):
            yield from _each_pass(pass_)
        else:
            yield pass_


def _declare_as_they_are(rest: ModuleOp, declarations: dict[str, llvm.FuncOp]) -> None:
    """Have the rest's declarations of the parts say what is true of the functions, now that they are known."""
    for op in list(rest.ops):
        if isinstance(op, llvm.FuncOp) and (declaration := declarations.get(op.sym_name.data)) is not None:
            rest.body.block.insert_op_before(declaration, op)
            op.detach()
            op.erase(safe_erase=False)

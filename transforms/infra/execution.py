"""The one entry point through which passes run: enable rule, requirements, configuration, instruments, the pass.

    run(pass, module)            in place: what pipelines and tools use
    pass(module) -> ModuleOp     on a copy: what Python users use; the caller's module is never touched

Requirements are resolved here. Before a pass runs, what it requires is made to hold: each required pass runs once, its
own requirements first, unless it still holds from before, or the pass sees in the module that it does (`holds_in`).
What holds is tracked for the length of the outermost run:

* a pass establishes itself and what it lists in `establishes`;
* a pass that changed the module undoes everything that it does not list in `preserves`, but for `persistent` passes,
  whose effect holds until a pass lists it in `invalidates`;
* a pass that says that it changed nothing (`report_changed(False)`) undoes nothing.

A required pass runs even where it is disabled or above the context's level, since the pass that requires it would be
wrong without; that is TVM's rule, and a remark says so. An instrument's `should_run` can still keep it from running.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.support.diagnostics import Diagnostic, Diagnostics, Severity, emit, handled_by
from . import remarks
from .config import configured, overruled
from .context import PassContext
from .errors import RequirementError
from .info import PassInfo, info_of
from .requirements import Effects, Requirement, effects_of, order_requirements, requirements_of

ALL = "*"


@dataclass
class PassRun:
    """One pass running on one module: what it has reported so far."""

    info: PassInfo
    module: ModuleOp
    required_by: str | None = None
    parent: PassRun | None = None
    changed: bool | None = None
    """`None`: the pass did not say."""
    composite: bool = False
    """The run of other passes, which tell about themselves."""
    rewrites: dict[str, int] = field(default_factory=dict[str, int])
    """Times that each pattern rewrote something."""
    figures: dict[str, int] = field(default_factory=dict[str, int])
    """What the pass has measured, by what it is."""


_RUN: ContextVar[PassRun | None] = ContextVar("weft_pass_run", default=None)


def active_run() -> PassRun | None:
    """The innermost pass that is running in this thread."""
    return _RUN.get()


def report_changed(changed: bool) -> None:
    """Called by a pass that knows: whether it has changed the module. A later `True` outweighs an earlier `False`."""
    if (run := _RUN.get()) is not None:
        run.changed = bool(run.changed) or changed


def report_rewrites(pattern: str, count: int) -> None:
    """Called by the rewrite driver: `pattern` has rewritten `count` times."""
    if (run := _RUN.get()) is not None:
        run.rewrites[pattern] = run.rewrites.get(pattern, 0) + count


def report_figures(figures: Mapping[str, int]) -> None:
    """Called by a pass that measures something: numbers by what they are. Those of one name are added up."""
    if (run := _RUN.get()) is not None:
        for what, number in figures.items():
            run.figures[what] = run.figures.get(what, 0) + number


@dataclass
class _Tracked:
    """A module, and the passes whose effect holds in it."""

    module: ModuleOp
    holds: dict[str, Effects] = field(default_factory=dict[str, Effects])
    undone_by: dict[str, str] = field(default_factory=dict[str, str])
    """Effects that a pass has undone by name, and that pass."""

    def update(self, name: str, effects: Effects, changed: bool | None) -> None:
        if changed is not False:
            self.holds = {
                other: e
                for other, e in self.holds.items()
                if other not in effects.invalidates
                and (e.persistent or other in effects.preserves or ALL in effects.preserves)
            }
            self.undone_by.update(dict.fromkeys(effects.invalidates, name))
        for established in (name, *effects.establishes):
            self.holds[established] = effects
            self.undone_by.pop(established, None)

    def part(self, module: ModuleOp) -> _Tracked:
        """What is known of `module`, a part of this one, before anything has run on it."""
        return _Tracked(module, dict(self.holds), dict(self.undone_by))


_TRACKED: ContextVar[_Tracked | None] = ContextVar("weft_tracked_module", default=None)


@contextmanager
def _tracking(module: ModuleOp) -> Generator[_Tracked]:
    tracked = _TRACKED.get()
    if tracked is not None and tracked.module is module:
        yield tracked
        return
    tracked = _Tracked(module)
    token = _TRACKED.set(tracked)
    try:
        yield tracked
    finally:
        _TRACKED.reset(token)


def run(pass_: ModulePass, module: ModuleOp, ir_context: Context | None = None, *, force: bool = False) -> bool:
    """Run a pass on `module`, in place, by the rules of the current `PassContext`.

    Args:
        ir_context: the xDSL context the pass gets; that of the `PassContext` where none is given.
        force: run the pass whatever the enable rule says.

    Returns:
        Whether the pass ran.

    Raises:
        UnknownPassError, RequirementError: its requirements cannot be resolved; nothing has run then.
        Exception: whatever the pass or an instrument raises. The module is then as the pass left it.
    """
    context = PassContext.current()
    info = info_of(pass_)
    if not force and not context.enabled(info):
        why = "disabled" if info.name in context.disabled_pass else f"above the context's level {context.opt_level}"
        remarks.missed(info.name, module, f"not run: {why}", f"name '{info.name}' in required_pass")
        return False
    ir = context.ir_context if ir_context is None else ir_context
    with _tracking(module) as tracked:
        _Resolver(module, ir, context, tracked).establish(info)
        return _execute(pass_, module, ir, context, tracked, None)


@contextmanager
def working_on_part(part: ModuleOp) -> Generator[None]:
    """Have passes run in the `with` block on `part`, which was taken out of the module that is being worked on: what
    holds there holds in it."""
    tracked = _TRACKED.get()
    token = _TRACKED.set(_Tracked(part) if tracked is None else tracked.part(part))
    try:
        yield
    finally:
        _TRACKED.reset(token)


_Steps: TypeAlias = "Generator[_Steps]"
"""Work that may wait for other work first, which it yields; so that no chain of requirements is too long to follow."""


@dataclass
class _Resolver:
    """Makes hold what one pass requires."""

    module: ModuleOp
    ir: Context
    context: PassContext
    tracked: _Tracked
    met: set[str] = field(default_factory=set[str])
    """What has run, or was refused by an instrument, on behalf of this pass."""

    def establish(self, info: PassInfo) -> None:
        """Make what `info` requires hold.

        Each requirement runs once, as in TVM, even if a later one may have undone its effect. Only where a later one
        says that it does (`invalidates`) is it run again before a pass that requires it. What holds needs nothing.
        """
        if not info.required:
            return
        order_requirements(info)  # nothing runs if anything is unknown, or in a circle
        stack: list[_Steps] = [self._meet(info.name, info.required)]
        while stack:
            try:
                stack.append(next(stack[-1]))
            except StopIteration:
                stack.pop()

    def _meet(self, by: str, required: Sequence[str]) -> _Steps:
        requirements = [Requirement.of(name, by) for name in required]
        runs: dict[str, int] = {}
        while (requirement := next(filter(self._is_missing, requirements), None)) is not None:
            name = requirement.name
            culprit = self.tracked.undone_by.get(name)
            runs[name] = runs.get(name, 0) + 1
            if culprit is not None and runs[name] > 2:
                raise RequirementError(f"'{by}' requires both '{name}' and '{culprit}', which undo one another")
            yield self._meet(name, requirements_of(name))
            if self._is_missing(requirement):
                self._run(requirement, culprit)

    def _is_missing(self, requirement: Requirement) -> bool:
        name = requirement.name
        if name in self.tracked.holds:
            return False
        if name in self.tracked.undone_by:
            return True
        return name not in self.met and not _holds_in(requirement, self.module)

    def _run(self, requirement: Requirement, culprit: str | None) -> None:
        name, by = requirement.name, requirement.required_by
        required = requirement.instance()
        although = "" if self.context.enabled(info_of(required)) else " although it is not enabled,"
        again = name in self.met and culprit is not None
        reason = f"again because '{culprit}' has undone it" if again else f"because '{by}' requires it"
        remarks.analysis(name, self.module, f"runs{'' if again else although} {reason}")
        self.met.add(name)
        if not _execute(required, self.module, self.ir, self.context, self.tracked, by):
            self.tracked.undone_by.pop(name, None)  # an instrument's word is the last


def _holds_in(requirement: Requirement, module: ModuleOp) -> bool:
    """Whether the required pass sees that its effect holds in `module`."""
    seen: Callable[[ModuleOp], bool] | None = getattr(requirement.pass_type, "holds_in", None)
    return seen is not None and seen(module)


@contextmanager
def _errors_raised() -> Generator[None]:
    """What is emitted in the `with` block is passed on when it ends, but for errors, which are raised together; where
    something else is raised, they are passed on too."""
    emitted: list[Diagnostic] = []
    errors: list[Diagnostic] = []
    try:
        with handled_by(emitted.append):
            yield
        errors = [diagnostic for diagnostic in emitted if diagnostic.severity is Severity.ERROR]
    finally:
        for diagnostic in emitted:
            if diagnostic not in errors:
                emit(diagnostic)
    if errors:
        raise Diagnostics(errors)


def _execute(
    pass_: ModulePass,
    module: ModuleOp,
    ir: Context,
    context: PassContext,
    tracked: _Tracked,
    required_by: str | None,
) -> bool:
    pass_ = configured(pass_, context.config)
    info = info_of(pass_)
    for name, held in overruled(pass_, context.config).items() if remarks.listening() else ():
        option = f"{info.name}.{name.replace('_', '-')}"
        remarks.missed(info.name, module, f"the configuration's '{option}' is passed over: it was made with {held!r}")
    if not context.before_pass(module, info):
        remarks.missed(info.name, module, "not run: an instrument's should_run said no")
        return False
    parent = _RUN.get()
    current = PassRun(info, module, required_by, parent)
    token = _RUN.set(current)
    try:
        try:
            with nullcontext() if info.is_sequence else _errors_raised():
                pass_.apply(ir, module)
        except Exception as error:
            because = f", which '{required_by}' requires" if required_by else ""
            error.add_note(f"while running the pass {info.name if info.is_sequence else info.spec}{because}")
            context.after_failure(module, info, error)
            raise
        if not current.composite:
            tracked.update(info.name, effects_of(pass_), current.changed)
            if parent is not None and parent.module is module and current.changed is not False:
                parent.changed = True
        context.after_pass(module, info)
    finally:
        _RUN.reset(token)
    return True

"""What is scheduled, for what target, and how its design space is made: see `weft.meta_schedule`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import cpu_count
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.tir.core import BlockOp, OuterBlockOp, PrimFuncOp
from ..lowering.machine.target import Target
from ..transforms.tir.schedule.errors import HandleError, ScheduleError
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.instructions import ROOT
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import text_in
from .postproc import Postproc
from .rule import Context, OfContext
from .schedule_rule import ScheduleRule

CUSTOM = "schedule_rule"
"""The annotation of a block that is scheduled by a rule of its own, which it names, and by no other."""


Designs: TypeAlias = Schedule | Sequence[Schedule] | None
"""What a function gives: its schedule where it gives none."""


class SpaceGenerator(OfContext):
    """Gives the designs of a module. Counterpart of TVM's `meta_schedule.SpaceGenerator`."""

    postprocs: Sequence[Postproc] | None = None

    def generate_design_space(self, mod: ModuleOp | PrimFuncOp) -> list[Schedule]:
        """The designs: schedules whose decisions may be drawn anew.

        Raises:
            ScheduleError: a primitive refuses.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method generate_design_space")


@checked_methods
@dataclass
class PostOrderApply(SpaceGenerator):
    """Applies each rule to each block, from the last to the first. Counterpart of TVM's generator of this name.

    Args:
        f_block_filter: which blocks, by the operation; all, unless given.
        sch_rules: the rules, in order; those of `ScheduleRule.create` for the context's target, unless given.
        postprocs: what repairs or rejects a design; those for the target, unless given.
        mutator_probs: nothing: decisions are drawn anew by `Trace.with_decision`.
        seed: for what is sampled; the context's, unless given.
    """

    f_block_filter: Callable[[BlockOp | OuterBlockOp | PrimFuncOp], object] | None = None
    sch_rules: Sequence[ScheduleRule] | None = None
    postprocs: Sequence[Postproc] | None = None
    mutator_probs: Mapping[object, float] | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.mutator_probs:
            raise UsageError("there are no mutators", hint="Trace.with_decision draws a decision anew")

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take the rules for the target where none are given, and tell all of the context."""
        if self.seed is None and context.rand_state != -1:
            self.seed = context.rand_state
        kind = "cuda" if context.target.is_gpu else "llvm"
        self.sch_rules = ScheduleRule.create(kind) if self.sch_rules is None else list(self.sch_rules)
        self.postprocs = Postproc.create(kind) if self.postprocs is None else list(self.postprocs)
        for each in (*self.sch_rules, *self.postprocs):
            each.initialize_with_tune_context(context)

    def generate_design_space(self, mod: ModuleOp | PrimFuncOp) -> list[Schedule]:
        """One design or more: a rule may give several, to each of which the next one is applied."""
        if self.sch_rules is None:
            raise UsageError("no rules are given", hint="sch_rules=ScheduleRule.create('llvm')")
        first = Schedule(mod, seed=self.seed)
        blocks = self._blocks(first)
        designs = [first]
        for rule in self.sch_rules:
            waiting = [(design, blocks) for design in designs]
            designs = list[Schedule]()
            while waiting:
                design, left = waiting.pop()
                if not left:
                    designs.append(design)
                    continue
                applied = rule.apply(design, left[-1]) if _is_for_rules(design, left[-1]) else [design]
                waiting += [(each, left[:-1]) for each in applied]
        return designs

    def _blocks(self, sch: Schedule) -> list[BlockRV]:
        """Handles of all blocks, those in others before these."""
        found: list[BlockRV] = []
        for func in sch.mod.ops:
            if isinstance(func, PrimFuncOp):
                inner = [op for op in func.walk() if isinstance(op, BlockOp | OuterBlockOp)]
                names = [op.block_name for op in inner]
                counts = {op: names[:n].count(op.block_name) for n, op in enumerate(inner)}
                for op in (*_post_order(func), func):
                    if self.f_block_filter is not None and not self.f_block_filter(op):
                        continue
                    if isinstance(op, PrimFuncOp):
                        if ROOT not in names:
                            found.append(sch.get_block(ROOT, func.sym_name.data))
                        continue
                    number = counts[op] if names.count(op.block_name) > 1 else None
                    found.append(sch.get_block(op.block_name, func.sym_name.data, number))
        return found


def _post_order(around: Operation) -> Iterable[BlockOp | OuterBlockOp]:
    for region in around.regions:
        for op in region.ops:
            yield from _post_order(op)
            if isinstance(op, BlockOp | OuterBlockOp):
                yield op


def _is_for_rules(sch: Schedule, block: BlockRV) -> bool:
    """Whether a block still stands, and is not scheduled by a rule of its own."""
    try:
        op = sch.get(block)
    except HandleError:
        return False
    return not isinstance(op, BlockOp | OuterBlockOp) or text_in(op, CUSTOM) is None


@dataclass
class ScheduleFn(SpaceGenerator):
    """What a function makes of a schedule. Counterpart of TVM's generator of this name.

    Args:
        sch_fn: is given a `Schedule`; it changes that and gives `None`, or gives one or several.
        postprocs: what repairs or rejects a design; none, unless given.
    """

    sch_fn: Callable[[Schedule], Designs]
    postprocs: Sequence[Postproc] | None = None

    def initialize_with_tune_context(self, context: Context) -> None:
        """Tell the postprocessors of the context."""
        for each in self.postprocs or ():
            each.initialize_with_tune_context(context)

    def generate_design_space(self, mod: ModuleOp | PrimFuncOp) -> list[Schedule]:
        """What the function has made.

        Raises:
            UsageError: it has given something else.
        """
        sch = Schedule(mod)
        given = self.sch_fn(sch)
        if given is None:
            return [sch]
        designs: list[object] = [given] if isinstance(given, Schedule) else list(given)
        if not all(isinstance(each, Schedule) for each in designs):
            raise UsageError(f"sch_fn gives schedules, and not {given!r}")
        return [each for each in designs if isinstance(each, Schedule)]


@checked_methods
class TuneContext:
    """A module, a target, and a space generator. Counterpart of TVM's `meta_schedule.TuneContext`, of its parts that
    make a design space; `weft.tune` searches one.

    Args:
        mod: the module or function.
        target: what code is made for; this machine, unless given.
        space_generator: what gives the designs, or a function for `ScheduleFn`; the rules for the target, unless given.
        task_name: what reports call it.
        num_threads: the cores that rules reckon with where the target does not say (`-num-cores`); this machine's,
            unless given.
        rand_state: the seed for what is sampled; -1 for one that nobody knows.
    """

    def __init__(
        self,
        mod: ModuleOp | PrimFuncOp,
        target: Target | str | None = None,
        space_generator: SpaceGenerator | Callable[[Schedule], Designs] | None = None,
        task_name: str = "main",
        num_threads: int | None = None,
        rand_state: int = -1,
    ):
        self.mod = mod
        self.target = Target() if target is None else Target.parse(target)
        self.task_name = task_name
        self.num_threads = num_threads or cpu_count() or 1
        self.rand_state = rand_state
        given = PostOrderApply() if space_generator is None else space_generator
        self.space_generator: SpaceGenerator = given if isinstance(given, SpaceGenerator) else ScheduleFn(given)
        self.space_generator.initialize_with_tune_context(self)

    @property
    def cores(self) -> int:
        """How many cores rules reckon with."""
        told = self.target.option("num-cores")
        return self.num_threads if told is None else int(told)

    def generate_design_space(self) -> list[Schedule]:
        """The designs, before postprocessors."""
        return self.space_generator.generate_design_space(self.mod)

    def postprocess(self, sch: Schedule) -> bool:
        """Apply the generator's postprocessors to a design, in order; whether all have taken it. One to which a
        primitive of theirs does not apply is none to be built."""
        sch.enter_postproc()
        try:
            return all(each.apply(sch) for each in self.space_generator.postprocs or ())
        except ScheduleError:
            return False

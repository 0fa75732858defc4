"""What makes design spaces (`tvm.meta_schedule.space_generator`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar

from xdsl.ir import Operation

from ..dialects.support.arguments import checked, checked_methods
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..dialects.tir.core import BlockOp, OuterBlockOp, PrimFuncOp
from ..transforms.tir.schedule.errors import HandleError, ScheduleError
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.instructions import ROOT
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import text_in
from .custom_rule import CUSTOM, ApplyCustomRule
from .mutator import Mutator
from .postproc import Postproc
from .rule import Context, OfContext, Scheduled, only_function
from .schedule_rule import ScheduleRule

if TYPE_CHECKING:
    from ..tuning.space import DesignSpace

Designs: TypeAlias = Schedule | Sequence[Schedule] | None
"""What a function gives: its schedule where it gives none."""


class SpaceGenerator(OfContext):
    """Gives the designs of a module. Counterpart of TVM's `meta_schedule.SpaceGenerator`.

    A class derived from it defines `generate_design_space`; `weft.tune` and `tune_tir` search what it gives.
    """

    sch_rules: Sequence[ScheduleRule] | None = None
    postprocs: Sequence[Postproc] | None = None
    mutator_probs: Mapping[Mutator, float] | None = None
    """What varies a design, each with how often it is asked: weights, of whatever sum."""

    @staticmethod
    @checked
    def create(kind: str = "post-order-apply") -> SpaceGenerator:
        """The generator of a name: `"post-order-apply"`, TVM's rules; `"weft-rules"`, Weft's; `"union"`, both.

        Raises:
            UsageError: there is none of the name.
        """
        match kind:
            case "post-order-apply":
                return PostOrderApply()
            case "weft-rules":
                return WeftRules()
            case "union":
                return SpaceGeneratorUnion([WeftRules(), PostOrderApply()])
            case _:
                known = ["post-order-apply", "weft-rules", "union"]
                raise UsageError(f"there is no space generator '{kind}'", hint=did_you_mean(kind, known))

    def initialize_with_tune_context(self, context: Context) -> None:
        """Tell the rules, postprocessors and mutators of the context; those that vary designs are the target's where
        none are given."""
        if self.mutator_probs is None:
            self.mutator_probs = Mutator.create(kind_of(context))
        for each in (*(self.sch_rules or ()), *(self.postprocs or ()), *self.mutator_probs):
            each.initialize_with_tune_context(context)

    def clone(self) -> Self:
        """A copy, for another context, with copies of what has been given."""
        made = super().clone()
        if self.sch_rules is not None:
            made.sch_rules = [each.clone() for each in self.sch_rules]
        if self.postprocs is not None:
            made.postprocs = [each.clone() for each in self.postprocs]
        if self.mutator_probs is not None:
            made.mutator_probs = {each.clone(): often for each, often in self.mutator_probs.items()}
        return made

    def generate_design_space(self, mod: Scheduled) -> list[Schedule]:
        """The designs: schedules whose decisions may be drawn anew.

        Raises:
            ScheduleError: a primitive refuses.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method generate_design_space")

    def postprocess(self, sch: Schedule) -> bool:
        """Apply the postprocessors to a design, in order; whether all have taken it. One to which a primitive of theirs
        does not apply is none to be built."""
        sch.enter_postproc()
        try:
            return all(each.apply(sch) for each in self.postprocs or ())
        except ScheduleError:
            return False

    def space(self, context: Context) -> DesignSpace:
        """What a search of the designs of the context's function draws from.

        Raises:
            ScheduleError: a primitive refuses.
        """
        from ..tuning.trace_space import TraceSpace

        return TraceSpace(context, self)


PySpaceGenerator = SpaceGenerator
"""TVM's name of what one's own are derived from."""


def kind_of(context: Context) -> str:
    """The kind of target whose rules, postprocessors and mutators are taken."""
    if context.target.is_gpu:
        return "cuda"
    return "vnni" if context.target.vector_unit().dot == "vnni" else "llvm"


FROM_TARGET = "from-target"
"""In place of rules, postprocessors or mutators: those of the context's target."""
_Given = TypeVar("_Given")


def _given(parts: _Given | str | None, create: Callable[[str], _Given]) -> _Given | None:
    """What is given, or what there is for the kind that is named; `None` for that of the target."""
    if not isinstance(parts, str):
        return parts
    return None if parts == FROM_TARGET else create(parts)


@checked_methods
class PostOrderApply(SpaceGenerator):
    """Applies each rule to each block, from the last to the first. Counterpart of TVM's generator of this name.

    Rules, postprocessors and mutators are lists, or those that `create` gives for a kind, as `"cuda-tensorcore"`, or
    for the context's target: `"from-target"`.

    Args:
        f_block_filter: which blocks, by the operation; all, unless given.
        sch_rules: the rules, in order.
        postprocs: what repairs or rejects a design.
        mutator_probs: what varies a design, and how often.
        seed: for what is sampled; the context's, unless given.
    """

    def __init__(
        self,
        f_block_filter: Callable[[BlockOp | OuterBlockOp | PrimFuncOp], object] | None = None,
        sch_rules: Sequence[ScheduleRule] | str | None = FROM_TARGET,
        postprocs: Sequence[Postproc] | str | None = FROM_TARGET,
        mutator_probs: Mapping[Mutator, float] | str | None = FROM_TARGET,
        seed: int | None = None,
    ):
        self.f_block_filter = f_block_filter
        self.sch_rules = _given(sch_rules, ScheduleRule.create)
        self.postprocs = _given(postprocs, Postproc.create)
        self.mutator_probs = _given(mutator_probs, Mutator.create)
        self.seed = seed

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take the rules for the target where none are given, and tell all of the context."""
        if self.seed is None and context.rand_state != -1:
            self.seed = context.rand_state
        kind = kind_of(context)
        self.sch_rules = ScheduleRule.create(kind) if self.sch_rules is None else list(self.sch_rules)
        self.postprocs = Postproc.create(kind) if self.postprocs is None else list(self.postprocs)
        super().initialize_with_tune_context(context)

    def generate_design_space(self, mod: Scheduled) -> list[Schedule]:
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
                applied = rule.apply(design, left[-1]) if _is_for(rule, design, left[-1]) else [design]
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
    for op in (op for region in around.regions for block in region.blocks for op in block.ops):
        yield from _post_order(op)
        if isinstance(op, BlockOp | OuterBlockOp):
            yield op


def _is_for(rule: ScheduleRule, sch: Schedule, block: BlockRV) -> bool:
    """Whether a block still stands, and, where it has a rule of its own, `rule` applies that."""
    try:
        op = sch.operation(block)
    except HandleError:
        return False
    return (
        isinstance(rule, ApplyCustomRule) or not isinstance(op, BlockOp | OuterBlockOp) or text_in(op, CUSTOM) is None
    )


@dataclass
class ScheduleFn(SpaceGenerator):
    """What a function makes of a schedule. Counterpart of TVM's generator of this name.

    Args:
        sch_fn: is given a `Schedule`; it changes that and gives `None`, or gives one or several.
        sch_rules: nothing: the function is the rule.
        postprocs: what repairs or rejects a design; none, unless given.
        mutator_probs: what varies a design, and how often; those for the target, unless given.
    """

    sch_fn: Callable[[Schedule], Designs]
    sch_rules: Sequence[ScheduleRule] | None = None
    postprocs: Sequence[Postproc] | None = None
    mutator_probs: Mapping[Mutator, float] | None = None

    def __post_init__(self) -> None:
        if self.sch_rules:
            raise UsageError("a ScheduleFn has no rules but its function", hint="PostOrderApply applies rules")

    def generate_design_space(self, mod: Scheduled) -> list[Schedule]:
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


class WeftRules(SpaceGenerator):
    """Weft's own rules, as `weft.compile` uses them: what `weft.tune` searches unless told otherwise.

    As a list it has one design, that which the rules choose by analysis. What they leave open is decided anew by a
    search (`RuleSpace`): the decisions are the rules', and no instructions of the trace.
    """

    _context: Context | None = None

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take the target from the context."""
        self._context = context

    def generate_design_space(self, mod: Scheduled) -> list[Schedule]:
        """The schedule that the rules choose; none where they cannot schedule the function.

        Raises:
            UsageError: the module holds another number of functions than one.
        """
        from ..tuning.space import RuleSpace, schedule_of

        if self._context is None:
            raise UsageError("it has been told of no target", hint="initialize_with_tune_context tells it")
        function = only_function(mod)
        default = RuleSpace(function, self._context.target).default()
        return [] if default is None else [schedule_of(default.schedule, function)]

    def space(self, context: Context) -> DesignSpace:
        """What the rules leave open."""
        from ..tuning.space import RuleSpace

        return RuleSpace(only_function(context.mod), context.target)


@checked_methods
class SpaceGeneratorUnion(SpaceGenerator):
    """The designs of several generators. Counterpart of TVM's generator of this name.

    Args:
        space_generators: the generators, each with rules, postprocessors and mutators of its own.
    """

    def __init__(self, space_generators: Sequence[SpaceGenerator]):
        if not space_generators:
            raise UsageError("of no generators there is no union")
        self.space_generators = list(space_generators)

    def initialize_with_tune_context(self, context: Context) -> None:
        """Tell each of the context."""
        for each in self.space_generators:
            each.initialize_with_tune_context(context)

    def clone(self) -> Self:
        """A copy, with copies of its generators."""
        return type(self)([each.clone() for each in self.space_generators])

    def generate_design_space(self, mod: Scheduled) -> list[Schedule]:
        """The designs of one after the other."""
        return [design for each in self.space_generators for design in each.generate_design_space(mod)]

    def space(self, context: Context) -> DesignSpace:
        """All of them at once: each candidate is of one, and varied as that does."""
        from ..tuning.space import UnionSpace

        return UnionSpace([each.space(context) for each in self.space_generators])

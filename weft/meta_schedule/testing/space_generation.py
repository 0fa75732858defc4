"""Design spaces, made and compared with what they have to be (`tvm.meta_schedule.testing.space_generation`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ...dialects.support.arguments import checked
from ...dialects.tir.nodes.equality import structural_equal
from ...lowering.machine.target import Target
from ...tir.schedule.testing import verify_trace_roundtrip
from ...transforms.tir.scheduling.schedule import Schedule
from ...transforms.tir.scheduling.trace import Trace
from ..rule import Scheduled, only_function
from ..schedule_rule import ScheduleRule
from ..space_generator import PostOrderApply
from ..tune_context import TuneContext

Decisions: TypeAlias = Sequence[tuple[str, object]]
"""What the sampling instructions of a design decide, in order: each by the name of its kind."""


@checked
def get_rules(kind: str, types: type | tuple[type, ...]) -> list[ScheduleRule]:
    """The rules of a kind of target, as `"cuda-tensorcore"`, that are of these classes, in order."""
    return [rule for rule in ScheduleRule.create(kind) if isinstance(rule, types)]


@checked
def generate_design_space(
    kind: str,
    mod: Scheduled,
    target: Target | str,
    types: type | tuple[type, ...] | None,
    sch_rules: Sequence[ScheduleRule] | None = None,
) -> list[Schedule]:
    """The designs that rules give of a module, before postprocessors: those of the kind that are of the classes
    `types`, or the `sch_rules`.

    Raises:
        ScheduleError: a primitive refuses.
        ValueError: both are given, or neither.
    """
    if (types is None) == (sch_rules is None):
        raise ValueError("generate_design_space takes the classes of rules, or sch_rules, and not both")
    rules = list(sch_rules) if sch_rules is not None else get_rules(kind, types or ())
    generator = PostOrderApply(sch_rules=rules, postprocs=[], mutator_probs={})
    return TuneContext(mod, target, space_generator=generator, task_name="test").generate_design_space()


@checked
def check_sketches(
    mod: Scheduled,
    sketches: Sequence[Schedule],
    expected_mods: Sequence[Scheduled],
    expected_decisions: Sequence[Decisions],
    *,
    debug_mask: str | int = "all",
) -> None:
    """Hold designs of `mod` to what they have to be, in whatever order: each of `expected_mods` is what one of them
    makes of `mod` by its `expected_decisions`, and what its trace makes again after it was written as JSON.

    Raises:
        AssertionError: they are not as many, or one is none of them.
    """
    assert len(sketches) == len(expected_mods) == len(expected_decisions), (
        f"there are {len(sketches)} designs, and {len(expected_mods)} modules and {len(expected_decisions)} lists of "
        "decisions are expected"
    )
    left = list(sketches)
    for number, (expected, decisions) in enumerate(zip(expected_mods, expected_decisions, strict=True)):
        for sketch in left:
            found = _decided(mod, sketch, decisions, debug_mask)
            if found is not None and structural_equal(only_function(found.mod), only_function(expected)):
                verify_trace_roundtrip(found, mod, debug_mask=debug_mask, text_format="json")
                left.remove(sketch)
                break
        else:
            raise AssertionError(f"no design is the expected one of number {number}, by the decisions {decisions}")


def _decided(mod: Scheduled, sketch: Schedule, decisions: Decisions, debug_mask: str | int) -> Schedule | None:
    """What a design makes of a module by these decisions; `None` where it takes others."""
    trace: Trace = sketch.trace
    sampling = [number for number, inst in enumerate(trace.insts) if inst.kind.name.startswith("Sample")]
    if [trace.insts[number].kind.name for number in sampling] != [name for name, _ in decisions]:
        return None
    for number, (_, decision) in zip(sampling, decisions, strict=True):
        trace = trace.with_decision(trace.insts[number], decision)
    found = Schedule(mod, debug_mask=debug_mask)
    trace.apply_to_schedule(found, remove_postproc=True)
    return found


@checked
def print_sketches(sketches: Sequence[Schedule]) -> None:
    """Print designs, and what their sampling instructions have decided, as a test's expectations have them."""
    for number, sketch in enumerate(sketches):
        print(f"###### {number}\n{sketch.mod}")
        for inst in sketch.trace.insts:
            if inst.kind.name.startswith("Sample"):
                print(f'    ("{inst.kind.name}", {inst.decision}),')

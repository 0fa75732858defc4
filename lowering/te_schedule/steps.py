"""Stages of what a `te.scan` computes in each of its steps: `s[update].split(update.op.axis[1], factor=8)`.

Such a stage has loops over all axes but the first, which is the time: the scan takes that in order. It may be computed
inline, or in a loop of another of the same scan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from ...dialects import te
from ...dialects.te.scan import Recipe, Scan
from ...transforms.tir.schedule.errors import ScheduleError
from .layouts import Layout
from .stage import Stage

ALLOWED = ("compute_at", "compute_inline")
"""What moves a step."""


class StepStage(Stage):
    """What a scan computes in each step, but for the first ones."""

    def __init__(self, tensor: te.Tensor, compute: te.Compute, recipe: Recipe):
        self.recipe = recipe
        super().__init__(tensor, replace(compute, by=None), False, _keep)

    def root_loops(self) -> list[te.IterVar]:
        return super().root_loops()[1:]

    def first_loops(self) -> list[te.IterVar]:
        return self.root_loops()

    def refuse(self, what: str) -> NoReturn:
        """Say that a primitive is none for what is computed step by step.

        Raises:
            ScheduleError: always.
        """
        raise ScheduleError(
            f"te: '{self.tensor.name}' is computed in each step of '{self.recipe.name}': there is no {what} of it",
            hint="its loops are split, fused, reordered, vectorized, unrolled and parallel; compute_inline puts its "
            "formula where it is read",
        )

    def compute_inline(self) -> None:
        if self.tensor in self.recipe.updates:
            raise ScheduleError(f"te: '{self.tensor.name}' is what '{self.recipe.name}' gives, and stays")
        super().compute_inline()

    def _check_place(self, parent: Stage) -> None:
        if not isinstance(parent, StepStage) or parent.recipe is not self.recipe:
            raise ScheduleError(
                f"te: '{self.tensor.name}' is computed in each step of '{self.recipe.name}', and not in a loop of "
                f"'{parent.tensor.name}'"
            )

    def _check_movable(self, what: str) -> None:
        if what not in ALLOWED:
            self.refuse(what)


def _keep(stage: Stage, layout: Layout) -> None:
    """Nothing lays a step's tensor out otherwise."""


def _refusal(what: str) -> Callable[..., NoReturn]:
    def refuse(self: StepStage, *args: object, **options: object) -> NoReturn:
        self.refuse(what)

    return refuse


for _name in ("set_scope", "tensorize", "transform_layout"):
    setattr(StepStage, _name, _refusal(_name))


def _scan_of(stage: Stage) -> Scan | None:
    """The scan whose result a stage is."""
    body = None if stage.compute is None else stage.compute.body
    return body.procedure if isinstance(body, te.Filled) and isinstance(body.procedure, Scan) else None


def steps_of(stages: list[Stage]) -> dict[te.Tensor, StepStage]:
    """A stage for each tensor that scans among `stages` compute in their steps."""
    found: dict[te.Tensor, StepStage] = {}
    for stage in stages:
        if (scan := _scan_of(stage)) is not None:
            for tensor, formula in scan.recipe.formulas.items():
                if tensor not in found:
                    found[tensor] = StepStage(tensor, formula, scan.recipe)
    return found


def copied_in_steps(
    stages: Sequence[Stage],
    steps: dict[te.Tensor, StepStage],
    tensor: te.Tensor,
    name: str,
    scope: str,
    readers: Sequence[StepStage],
) -> te.Tensor:
    """A copy, in a scope, of what `readers` read of a tensor, made in each step of their scan: they read that instead.
    `steps` of a schedule of these `stages` takes its stage.

    Raises:
        ScheduleError: the steps are of several scans, or one of them does not read the tensor, or not at its own time.
    """
    recipe = readers[0].recipe
    if any(each.recipe is not recipe for each in readers):
        raise ScheduleError("te: cache_read names steps of several scans", hint="copy for those of each scan apart")
    scans = {stage: scan for stage in stages if (scan := _scan_of(stage)) is not None and scan.recipe is recipe}
    read_as = [dict(zip(scan.inputs, recipe.inputs, strict=True)).get(tensor) for scan in scans.values()]
    original = next((each for each in read_as if each is not None), None)
    for reader in readers:
        formula = recipe.formulas[reader.tensor]
        read = [each for each in formula.reads() if each.tensor is original]
        if not read:
            raise ScheduleError(f"te: '{reader.tensor.name}' does not read '{tensor.name}'")
        if any(not each.indices or each.indices[0] is not formula.axes[0] for each in read):
            raise ScheduleError(
                f"te: '{reader.tensor.name}' reads '{tensor.name}' at another time than its own, and a step copies "
                "that",
                hint=f"readers=[...] of the scan, '{recipe.name}', copies all of it before",
            )
    assert original is not None, "what is read is an input"
    names = [f"ax{number}" for number in range(tensor.rank)]
    copy = te.compute(tensor.dims, lambda *i: original[i], name, names)
    assert copy.producer is not None
    changed = recipe.with_copy(original, copy, [each.tensor for each in readers])
    made: dict[te.External, te.External] = {}
    for stage, scan in scans.items():
        assert stage.compute is not None and isinstance(stage.compute.body, te.Filled)
        if scan not in made:
            made[scan] = scan.by(changed)
        stage.compute = replace(stage.compute, body=replace(stage.compute.body, procedure=made[scan]))
    for reader in readers:
        reader.compute = replace(changed.formulas[reader.tensor], by=None)
    step = StepStage(copy, copy.producer, changed)
    step.scope = scope
    steps[copy] = step
    for each in steps.values():
        each.recipe = changed if each.recipe is recipe else each.recipe
    for each in changed.formulas:  # in the order in which they are computed
        steps[each] = steps.pop(each)
    return copy


def with_inlined(body: te.Expr, steps: dict[te.Tensor, StepStage], made: dict[te.External, te.External]) -> te.Expr:
    """The body of a stage; of a scan with the steps in place that are inlined. `made` takes what was made of scans."""
    if not isinstance(body, te.Filled) or not isinstance(scan := body.procedure, Scan):
        return body
    if scan not in made:
        gone = [each for each in scan.recipe.formulas if steps[each].is_inlined]
        made[scan] = scan.inlined(gone) if gone else scan
    return replace(body, procedure=made[scan])

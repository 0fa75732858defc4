"""Stages of what a `te.scan` computes in each of its steps: `s[update].split(update.op.axis[1], factor=8)`.

Such a stage has loops over all axes but the first, which is the time: the scan takes that in order. It may be computed
inline, or in a loop of another of the same scan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

from ...dialects import te
from ...dialects.te.scan import Scan
from ...transforms.tir.schedule.errors import ScheduleError
from .layouts import Layout
from .stage import Stage

ALLOWED = ("compute_at", "compute_inline")
"""What moves a step."""


class StepStage(Stage):
    """What a scan computes in each step, but for the first ones."""

    def __init__(self, tensor: te.Tensor, compute: te.Compute, scan: Scan):
        self.scan = scan
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
            f"te: '{self.tensor.name}' is computed in each step of '{self.scan.recipe.name}': there is no {what} of it",
            hint="its loops are split, fused, reordered, vectorized, unrolled and parallel; compute_inline puts its "
            "formula where it is read",
        )

    def compute_inline(self) -> None:
        if self.tensor in self.scan.recipe.updates:
            raise ScheduleError(f"te: '{self.tensor.name}' is what '{self.scan.recipe.name}' gives, and stays")
        super().compute_inline()

    def _check_place(self, parent: Stage) -> None:
        if not isinstance(parent, StepStage) or parent.scan is not self.scan:
            raise ScheduleError(
                f"te: '{self.tensor.name}' is computed in each step of '{self.scan.recipe.name}', and not in a loop of "
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


def steps_of(stages: list[Stage]) -> dict[te.Tensor, StepStage]:
    """A stage for each tensor that scans among `stages` compute in their steps."""
    found: dict[te.Tensor, StepStage] = {}
    for stage in stages:
        body = None if stage.compute is None else stage.compute.body
        if isinstance(body, te.Filled) and isinstance(scan := body.procedure, Scan):
            for tensor, formula in scan.recipe.formulas.items():
                if tensor not in found:
                    found[tensor] = StepStage(tensor, formula, scan)
    return found


def with_inlined(body: te.Expr, steps: dict[te.Tensor, StepStage], made: dict[te.External, te.External]) -> te.Expr:
    """The body of a stage; of a scan with the steps in place that are inlined. `made` takes what was made of scans."""
    if not isinstance(body, te.Filled) or not isinstance(scan := body.procedure, Scan):
        return body
    if scan not in made:
        gone = [each for each in scan.recipe.formulas if steps[each].is_inlined]
        made[scan] = scan.inlined(gone) if gone else scan
    return replace(body, procedure=made[scan])

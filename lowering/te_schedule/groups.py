"""Where stages are computed: in a loop of another stage, by themselves or as groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...dialects import te
from ...dialects.support.arguments import checked_methods
from ...transforms.tir.schedule.errors import ScheduleError
from .relations import Split, made_by, taken_by

if TYPE_CHECKING:
    from .stage import Stage


@dataclass(frozen=True)
class Attachment:
    """A stage is computed in a loop of another."""

    stage: Stage
    axis: te.IterVar

    @property
    def loop(self) -> te.IterVar:
        """The loop: where the axis was split afterwards the inner one, where it was fused what it is part of."""
        axis = self.axis
        for action in self.stage.relations:
            if axis in taken_by(action):
                axis = action.inner if isinstance(action, Split) else made_by(action)[0]
        return axis


@checked_methods
class Group:
    """Stages, and groups, that move together: those of them that are not told where to be computed are where the group
    is. Counterpart of what TVM's `create_group` gives.

        g = s.create_group(outputs=C, inputs=A)
        g.compute_at(s[E], E.op.axis[0])
    """

    def __init__(self, group: Group | None):
        self.group = group
        """The group that it is in."""
        self.children: list[Stage | Group] = []
        self._attachment: Attachment | None = None

    @property
    def attachment(self) -> Attachment | None:
        """The loop that the group is computed in; that of the group around, if it is not told one."""
        if self._attachment is None and self.group is not None:
            return self.group.attachment
        return self._attachment

    @property
    def attach_stage(self) -> Stage | None:
        """The stage in whose loop it is computed."""
        return None if self.attachment is None else self.attachment.stage

    @property
    def num_child_stages(self) -> int:
        """How many stages and groups are directly in it."""
        return len(self.children)

    def stages(self) -> list[Stage]:
        """All stages in it."""
        return [each for child in self.children for each in (child.stages() if isinstance(child, Group) else [child])]

    def compute_at(self, parent: Stage, scope: te.IterVar) -> None:
        """Compute the group's stages in a loop of another one, which reads what they compute.

        Raises:
            ScheduleError: the loop is none of that stage's, or the stage is in the group.
        """
        parent.check_leaf(scope)
        if parent in self.stages():
            raise ScheduleError(f"te: '{parent.tensor.name}' is in the group: it cannot be computed in itself")
        self._attachment = Attachment(parent, scope)

    def compute_root(self) -> None:
        """Compute the group's stages by themselves; so it is unless told otherwise."""
        self._attachment = None

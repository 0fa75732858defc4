"""A list of passes that is a pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass as XdslPass

from ...dialects.support.arguments import checked_methods
from .context import PassContext
from .execution import active_run, run
from .info import PassInfo, info_of
from .passes import Pass
from .registry import note_name
from .requirements import order_requirements


@checked_methods
@dataclass(frozen=True, init=False)
class Sequential(Pass):
    """Runs passes in order; nests. TVM's `Sequential`.

    Each pass runs by the rules of the current `PassContext`, after what it requires. Instruments see the sequence too,
    as a pass of its own; one that vetoes it skips all of it.

        module = Sequential([SimplifyInferencePass(), FoldConstantPass(), FuseOpsPass(max_depth=4)])(module)
    """

    name = "sequential"

    passes: tuple[XdslPass, ...]
    sequence_info: PassInfo

    def __init__(
        self,
        passes: Sequence[XdslPass] = (),
        opt_level: int = 0,
        name: str = "sequential",
        required: Sequence[str] = (),
    ):
        """
        Args:
            passes: instances of passes, in order.
        """
        note_name(name)
        object.__setattr__(self, "passes", tuple(passes))
        text = self.members_text or "any()"
        object.__setattr__(self, "sequence_info", PassInfo(opt_level, name, required, text, is_sequence=True))

    @property
    def info(self) -> PassInfo:
        return self.sequence_info

    @property
    def members_text(self) -> str:
        """The pipeline text of what is in the sequence."""
        return ",".join(info_of(pass_).spec for pass_ in self.passes)

    def __str__(self) -> str:
        return self.members_text

    def __iter__(self) -> Iterator[XdslPass]:
        return iter(self.passes)

    def __len__(self) -> int:
        return len(self.passes)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            UnknownPassError, RequirementError: the requirements of an enabled pass cannot be resolved; no pass has run.
        """
        self.begin()
        for pass_ in self.passes:
            run(pass_, op, ctx)

    def begin(self) -> None:
        """Said first by what runs the passes: these tell about themselves, and all that they require must be there.

        Raises:
            UnknownPassError, RequirementError: the requirements of an enabled pass cannot be resolved.
        """
        if (current := active_run()) is not None and current.info is self.sequence_info:
            current.composite = True
        if current is None or current.parent is None or not current.parent.info.is_sequence:
            self.check_requirements()

    def check_requirements(self) -> None:
        """Look whether every requirement of what would run can be met, in sequences within this one too.

        Raises:
            UnknownPassError, RequirementError: one cannot.
        """
        context = PassContext.current()
        pending: list[XdslPass] = list(reversed(self.passes))
        while pending:
            pass_ = pending.pop()
            if context.enabled(info := info_of(pass_)):
                order_requirements(info)
                if isinstance(pass_, Sequential):
                    pending.extend(reversed(pass_.passes))

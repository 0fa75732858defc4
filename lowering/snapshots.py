"""What a module is after each phase of one run: for dumps, and for tests of the driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from ..transforms.infra.parts import join
from ..transforms.infra.walk import clone
from .phases import PHASES, REST, WHOLE


@dataclass
class Snapshots:
    """Observes a run of the pipeline, and gives each phase to `take` as one module: the kernels as they were, each at
    its own time, in the rest as it was.

        snapshots = Snapshots(take)
        snapshots("import", module, None)
        run(pipeline(target, observer=snapshots), module)
        snapshots.finish()
    """

    take: Callable[[str, ModuleOp], None]
    _whole: ModuleOp | None = None
    """The module before its kernels were taken out of it."""
    _kernels: dict[str, dict[str, ModuleOp]] = field(default_factory=dict[str, dict[str, ModuleOp]])
    """What went through a phase last under each name: a kernel whose schedule was of no use goes twice."""
    _rest: dict[str, ModuleOp] = field(default_factory=dict[str, ModuleOp])

    def __call__(self, phase: str, module: ModuleOp, kernel: str | None) -> None:
        if kernel is not None:
            self._kernels.setdefault(phase, {})[kernel] = clone(module)
        elif self._whole is not None and phase not in ("import", *WHOLE):
            self._rest[phase] = clone(module)
        else:
            self._whole = clone(module)
            self.take(phase, module)

    def finish(self) -> None:
        """Give those phases that kernels went through one by one; also after a failure, as far as all got."""
        kernels = 0
        for phase in PHASES:
            done = self._kernels.get(phase, {})
            kernels = max(kernels, len(done))
            rest = self._rest.get(phase) if phase in REST else self._whole
            if rest is None or len(done) < kernels or (phase not in self._kernels and phase not in self._rest):
                continue
            rest = clone(rest)
            join(rest, list(done.items()))
            self.take(phase, rest)

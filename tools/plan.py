"""Which passes `weft-opt` is to run: a pipeline, or the phases of the compiler."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects.relay.weights import resources, weights_path, write_weights
from ..dialects.support.diagnostics import Diagnostic, Place, UsageError, did_you_mean
from ..dialects.support.vector_unit import VectorUnit, set_vector_unit
from ..dialects.support.verifier import verify
from ..transforms.infra.context import DEFAULT_OPT_LEVEL
from ..transforms.infra.execution import run
from ..transforms.infra.info import info_of
from ..transforms.infra.pipeline import parse_pipeline
from ..transforms.infra.printing import module_text
from ..transforms.infra.sequential import Sequential
from .options import Options
from .output import write_output

DEFAULT_TARGET = "llvm -mcpu=native"

if TYPE_CHECKING:
    from ..lowering.phases import Observer


@dataclass(frozen=True)
class Plan:
    """The pipeline, then the phases after `start` up to `end` where there are any; where the module is written after
    each phase, and the opt level unless the user gives one."""

    pipeline: Sequential | None = None
    start: str | None = None
    end: str | None = None
    target: str = ""
    required: tuple[str, ...] = ()
    dump_to: Path | None = None
    default_opt_level: int = DEFAULT_OPT_LEVEL
    vectors: VectorUnit | None = None
    """What the module is made to say of its target before anything runs."""

    @property
    def spec(self) -> str:
        """The pipeline that makes the same passes run."""
        steps = [self.pipeline, self._phases()]
        return ",".join(info_of(step).spec for step in steps if step is not None and len(step))

    def run(self, module: ModuleOp, context: Context) -> None:
        """Run all of it on `module`, in place, by the rules of the current `PassContext`.

        Raises:
            Diagnostic: a pass has found something to object to, or the module does not verify after it.
            Exception: whatever a pass raises.
        """
        if self.vectors is not None:
            set_vector_unit(module, self.vectors)
        if self.pipeline is not None:
            run(self.pipeline, module, context)
            verify(module)
        if self.start is None:
            return
        if self.dump_to is None:
            if (phases := self._phases()) is not None:
                run(phases, module, context)
            return
        from ..lowering.snapshots import Snapshots

        snapshots = Snapshots(_Dump(self.dump_to))
        try:
            snapshots(self.start, module, None)
            if (phases := self._phases(snapshots)) is not None:
                run(phases, module, context)
        finally:
            snapshots.finish()

    def _phases(self, observer: Observer | None = None) -> Sequential | None:
        from ..lowering.machine.target import Target
        from ..lowering.phases import pipeline

        if self.start is None or self.end is None:
            return None
        return pipeline(Target.parse(self.target), self.start, self.end, required=self.required, observer=observer)

    def pass_names(self) -> list[str]:
        """The names of the pipeline's passes, those within groups too: the user has asked for each of them."""
        return [info_of(pass_).name for pass_ in _flatten(self.pipeline or ())]


class _Dump:
    """Writes each phase to a file of its name."""

    def __init__(self, directory: Path):
        self._directory = directory
        self._before: tuple[set[str], Path] | None = None

    def __call__(self, phase: str, module: ModuleOp) -> None:
        self._before = _dump(module, self._directory / f"{phase}.mlir", self._before)


def _dump(module: ModuleOp, path: Path, before: tuple[set[str], Path] | None) -> tuple[set[str], Path]:
    """Write a phase; weights that the phase before has too are the same file, and take no room."""
    arrays = resources(module)
    target = weights_path(path)
    target.unlink(missing_ok=True)
    if before is not None and arrays and before[0] == set(arrays):
        os.link(before[1], target)
    else:
        write_weights(arrays, target)
    write_output(str(path), module_text(module))
    return set(arrays), target


def _flatten(passes: Sequence[ModulePass] | Sequential) -> Iterator[ModulePass]:
    for pass_ in passes:
        if isinstance(pass_, Sequential):
            yield from _flatten(pass_)
        else:
            yield pass_


def plan_of(options: Options) -> Plan:
    """What the options ask for: first the pipeline, then the phases.

    Raises:
        UsageError: the pipeline cannot be read, a phase has another name, or options contradict one another.
    """
    pipeline = None if options.pipeline is None else parse_pipeline(options.pipeline)
    phases = options.compile_to is not None or options.compile_from is not None or options.dump_phases_to is not None
    if phases or (options.opt_level is not None and pipeline is None):
        return _with_phases(options, pipeline, "graph" if not phases else options.compile_to)
    return Plan(pipeline, vectors=_vectors(options.target))


def _vectors(target: str | None) -> VectorUnit | None:
    """The vectors of the target that the user names."""
    if target is None:
        return None
    from ..lowering.machine.target import Target

    return Target.parse(target).vector_unit()


def _with_phases(options: Options, pipeline: Sequential | None, last: str | None) -> Plan:
    from ..lowering.machine.target import Target
    from ..lowering.phases import PHASES

    names = [name for name in PHASES if name != "object"]
    first = _index(names, "import" if options.compile_from is None else options.compile_from)
    end = _index(names, last) if last is not None else len(names) - 1
    if end < first:
        raise UsageError(f"the phase '{last}' comes before '{options.compile_from}'", Place("weft-opt"))
    target = DEFAULT_TARGET if options.target is None else options.target
    Target.parse(target)
    directory = None
    if options.dump_phases_to is not None:
        directory = Path(options.dump_phases_to)
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Diagnostic(f"cannot be made: {(error.strerror or '').lower()}", Place(str(directory))) from error
    required = tuple(options.required_pass)
    vectors = None if pipeline is None else _vectors(options.target)
    return Plan(pipeline, names[first], names[end], target, required, directory, 3, vectors)


def _index(names: list[str], name: str) -> int:
    if name == "object":
        raise UsageError("machine code is not a module", Place("weft-opt"), hint="use --emit=obj")
    if name not in names:
        hint = did_you_mean(name, names) or f"the phases are: {', '.join(names)}"
        raise UsageError(f"there is no phase '{name}'", Place("weft-opt"), hint=hint)
    return names.index(name)

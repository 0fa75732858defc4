"""Which passes `weft-opt` is to run: a pipeline, or the phases of the compiler."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class Step:
    """Some passes, after which the module is verified."""

    passes: Sequential
    phase: str | None = None


@dataclass(frozen=True)
class Plan:
    """Steps, where the module is written after each phase, and the opt level unless the user gives one."""

    steps: tuple[Step, ...] = ()
    dump_to: Path | None = None
    default_opt_level: int = DEFAULT_OPT_LEVEL
    vectors: VectorUnit | None = None
    """What the module is made to say of its target before anything runs."""

    @property
    def spec(self) -> str:
        """The pipeline that makes the same passes run."""
        return ",".join(info_of(step.passes).spec for step in self.steps if len(step.passes))

    def run(self, module: ModuleOp, context: Context) -> None:
        """Run all steps on `module`, in place, by the rules of the current `PassContext`.

        Raises:
            Diagnostic: a pass has found something to object to, or the module does not verify after a step.
            Exception: whatever a pass raises.
        """
        written: tuple[set[str], Path] | None = None
        if self.vectors is not None:
            set_vector_unit(module, self.vectors)
        for step in self.steps:
            run(step.passes, module, context)
            verify(module)
            if self.dump_to is not None and step.phase is not None:
                written = _dump(module, self.dump_to / f"{step.phase}.mlir", written)

    def pass_names(self) -> list[str]:
        """The names of all passes, those within groups too."""
        return [info_of(pass_).name for step in self.steps for pass_ in _flatten(step.passes)]


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
    """What the options ask for.

    Raises:
        UsageError: the pipeline cannot be read, a phase has another name, or options contradict one another.
    """
    phases = options.compile_to is not None or options.compile_from is not None or options.dump_phases_to is not None
    if options.pipeline is not None:
        if phases:
            raise UsageError("a pipeline and phases cannot both be asked for", Place("weft-opt"))
        return Plan((Step(parse_pipeline(options.pipeline)),), vectors=_vectors(options.target))
    if phases or options.opt_level is not None:
        return _phases(options, "graph" if not phases else options.compile_to)
    return Plan()


def _vectors(target: str | None) -> VectorUnit | None:
    """The vectors of the target that the user names."""
    if target is None:
        return None
    from ..lowering.machine.target import Target

    return Target.parse(target).vector_unit()


def _phases(options: Options, last: str | None) -> Plan:
    from ..lowering.machine.target import Target
    from ..lowering.phases import PHASES, phase_passes

    names = [name for name in PHASES if name != "object"]
    first = _index(names, options.compile_from or "import")
    end = _index(names, last) if last is not None else len(names) - 1
    if end < first:
        raise UsageError(f"the phase '{last}' comes before '{options.compile_from}'", Place("weft-opt"))
    target = Target.parse(options.target or DEFAULT_TARGET)
    directory = None
    if options.dump_phases_to is not None:
        directory = Path(options.dump_phases_to)
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Diagnostic(f"cannot be made: {(error.strerror or '').lower()}", Place(str(directory))) from error
    steps = [Step(Sequential(phase_passes(name, target), name=name), name) for name in names[first + 1 : end + 1]]
    return Plan((Step(Sequential(), names[first]), *steps), directory, default_opt_level=3)


def _index(names: list[str], name: str) -> int:
    if name == "object":
        raise UsageError("machine code is not a module", Place("weft-opt"), hint="use --emit=obj")
    if name not in names:
        hint = did_you_mean(name, names) or f"the phases are: {', '.join(names)}"
        raise UsageError(f"there is no phase '{name}'", Place("weft-opt"), hint=hint)
    return names.index(name)

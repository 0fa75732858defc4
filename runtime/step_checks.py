"""Whether the steps of a graph stay within what there is: they are run as they stand."""

from __future__ import annotations

from ..dialects.support.checks import RECORD_BYTES
from ..lowering.abi import (
    BUFFER,
    NUMBERS,
    OPEN_BUFFER,
    Argument,
    CompiledGraph,
    Loop,
    Parameter,
    Step,
    steps_within,
)
from ..lowering.sizes import read_extents, symbols_of


def misfit(graph: CompiledGraph) -> str | None:
    """What is wrong with the steps of a graph, if anything is. Of what depends on the graph's symbols nothing is known
    here: that is judged when they are (`sizes.graph_at`)."""
    decided = len(read_extents(graph.extents, len(graph.symbols)).read)
    counts = graph.outputs[max(0, len(graph.outputs) - decided) :]
    if len(counts) < decided or any((spec.dtype, spec.shape) != ("int64", (1,)) for spec in counts):
        return "data decides extents, and no outputs say what they are"
    if not graph.devices:
        told = graph.records_at + RECORD_BYTES * len(graph.checks)
        if max(graph.counter_bytes, told if graph.checks else 0) > graph.arena_bytes:
            return "counters or records of checks do not fit into the arena"
    if (graph.steps or graph.parts) and len(graph.kernels) != len(graph.parameters):
        return "what kernels take is said of more or fewer than there are"
    if graph.steps and (reason := _wrong_step(graph)) is not None:
        return reason
    taken = dict(zip(graph.kernels, graph.parameters, strict=False))
    for code in graph.device_code:
        kinds = [parameter.kind for parameter in taken.get(code.function, ())]
        numbers = [number for launch in code.launches for number in launch.arguments]
        sizes = [number for launch in code.launches for size in launch.grid for number in symbols_of(size)]
        if any(n >= len(kinds) for n in (*numbers, *sizes)) or any(kinds[n] != "extent" for n in sizes):
            return f"'{code.function}' launches kernels on what it is not given"
    return None


def misfit_of_parts(graph: CompiledGraph) -> str | None:
    """What is wrong with the steps of a program's parts, if anything is, as far as that is known before they run."""
    taken = dict(zip(graph.kernels, graph.parameters, strict=False))
    for part in graph.parts:
        held = {"input": part.inputs, "output": part.outputs, "constant": len(graph.constants)}
        for number, step in enumerate(steps_within(part.steps)):
            wanted = taken.get(step.kernel, ()) if step.kernel else _moved(step)
            kinds = [BUFFER if a.kind in ("arena", *held) else a.kind for a in step.arguments]
            given = [BUFFER if parameter.kind == OPEN_BUFFER else parameter.kind for parameter in wanted]
            places = [a.at if a.sizes is None else a.sizes[0] for a in step.arguments]
            inside = [
                isinstance(at, int) and at < held[a.kind]
                for a, at in zip(step.arguments, places, strict=True)
                if a.kind in held
            ]
            pairs = zip(step.arguments, wanted, strict=False)
            fits = all(p.kind == OPEN_BUFFER or _has_kind(a, p.kind, p) for a, p in pairs)
            if kinds != given or not kinds or not all(inside) or not fits or part.decided > part.outputs:
                return f"step {number} of '{part.thread}' uses what is not there"
    return None


def _wrong_step(graph: CompiledGraph) -> str | None:
    arenas = [each.arena_bytes for each in graph.devices] or [graph.arena_bytes]
    sizes = {
        "input": [spec.bytes for spec in graph.inputs],
        "output": [spec.bytes for spec in graph.outputs],
        "constant": [array.nbytes for array in graph.constants],
    }
    taken = dict(zip(graph.kernels, graph.parameters, strict=False))
    if any(isinstance(step, Loop) for step in graph.steps) and (graph.devices or not graph.symbols):
        return "steps are taken in turns of which it is not known how many there are"
    for number, step in enumerate(steps_within(graph.steps)):
        if not step.arguments:
            return f"step {number} uses nothing"
        wanted = taken.get(step.kernel, ()) if step.kernel else _moved(step)
        fits = len(wanted) == len(step.arguments) and step.device < len(arenas)
        for argument, parameter in zip(step.arguments, wanted, strict=False):
            held = sizes.get(argument.kind)
            kind = BUFFER if argument.kind in ("arena", *sizes) else argument.kind
            fits = fits and argument.device < len(arenas)
            is_open = kind == BUFFER and parameter.kind == OPEN_BUFFER
            if argument.sizes is not None:
                fits = fits and bool(graph.symbols) and (is_open or _has_kind(argument, kind, parameter))
                place = argument.sizes[0]
                fits = fits and (held is None or (isinstance(place, int) and 0 <= place < len(held)))
                continue
            fits = fits and (is_open or _has_kind(argument, kind, parameter))
            fits = fits and min(argument.at, argument.bytes) >= 0
            if held is not None:
                fits = fits and argument.at < len(held) and argument.bytes <= held[argument.at]
            elif argument.kind not in NUMBERS:
                fits = fits and argument.at + argument.bytes <= arenas[argument.device]
        if not fits:
            return f"step {number} uses what is not there"
    return None


def _has_kind(argument: Argument, kind: str, parameter: Parameter) -> bool:
    """Whether an argument is of a parameter's kind, and as large as that."""
    size = argument.bytes if argument.sizes is None else argument.sizes[1]
    return (kind, size) == (parameter.kind, parameter.bytes)


def _moved(step: Step) -> list[Parameter]:
    """What a copy takes, or one that clears memory."""
    last = step.arguments[-1]
    taken = Parameter(BUFFER, last.bytes) if last.sizes is None else Parameter(OPEN_BUFFER)
    return [taken] * min(2, len(step.arguments))

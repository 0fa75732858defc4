"""From a module of the `loops` phase to object code by way of C source and the C compiler of the system.

The compiler is what `$CC` says, else `cc`, `gcc` or `clang`. A file is compiled with OpenMP where the compiler has it;
without, it runs on one thread.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation

from ...dialects.mem.graph import GraphOp
from ...dialects.rt.sources import SourceOp
from ...dialects.support.aligned_arrays import aligned
from ...dialects.support.diagnostics import Diagnostic, UsageError
from ...dialects.support.guard import Guard, guarded
from ...dialects.support.knobs import CC
from ..abi import TEAM, THREADS, Argument, CompiledGraph, Loop, Parameter, Step, steps_within
from ..check_sites import read_checks
from ..constant_data import constant_data
from ..graph_to_memory.signature import read_signature, read_sizes
from ..hosted_steps import HostedProgram, hosted_graph, hosted_graphs, hosted_segment, read_hosted
from ..loops_to_llvm.symbols import CONSTANT_INDEX
from ..machine.codegen import CodegenError, compile_module
from ..machine.half_floats import CONVERSIONS, calls_conversions
from ..machine.kernel_cache import KernelCache
from ..machine.target import Target
from ..manifest import manifest, mark_text
from ..read_steps import StepTable, read_steps
from .module import FLAGS, emit_graph, emit_kernels, flags_for_gcc
from .types import identifier

Part = TypeVar("Part", Argument, Parameter)


class NoCompilerError(UsageError):
    """There is no C compiler on this system for what is asked."""


def compile_c_graph(module: ModuleOp, target: Target, level: int = 3, flags: tuple[str, ...] = ()) -> CompiledGraph:
    """A graph at phase `loops`, compiled, with `flags` for the compiler besides its own.

    Raises:
        NoCompilerError: there is no C compiler.
        CodegenError: it does not accept the file.
        Diagnostic: something has no counterpart in C.
    """
    hosted = read_hosted(module)
    if hosted and not hosted[0].is_segment:
        return _compiled_kernels(module, hosted[0], target, level, flags)
    kernels, table = _steps(module)
    graphs: list[GraphOp] = []
    if hosted:
        graphs = hosted_graphs(module)
        kernels = list(dict.fromkeys([*kernels, *(each for part in hosted for each in _called_by_host(module, part))]))
        parameters = {name: tuple(map(_alone, held)) for name, held in hosted[0].parameters.items()}
        table = replace(table, parameters={**table.parameters, **parameters})
    graph = emit_graph([op for op in module.ops if op not in graphs], kernels, graphs)
    inputs, outputs = read_signature(graph.attributes)
    held = [op for op in module.ops if isinstance(op, memref.GlobalOp)]
    held.sort(key=_constant_number)
    constants = [aligned(constant_data(op, op.attributes["weft.value"], op.attributes["weft.type"])) for op in held]
    segments = tuple(hosted_segment(replace(each, steps=_taken(each.steps)), constants) for each in hosted)
    checks, records_at = read_checks(graph.attributes)
    symbols, pools, extents = read_sizes(graph.attributes)
    objects = _objects(graph.text, module, target, level, flags)
    compiled = CompiledGraph(
        objects,
        tuple(constants),
        inputs,
        outputs,
        graph.arena_bytes,
        graph.kernels,
        target.platform(),
        checks,
        records_at,
        table.counter_bytes,
        tuple(table.parameters[name] for name in graph.kernels) if kernels else (),
        table.steps,
        symbols=symbols,
        pools=pools,
        segments=segments,
        code_constants=len(held) if segments else None,
        extents=extents,
        parts=tuple(
            replace(part, thread=graph.threads[part.thread]) for part in table.parts if part.thread in graph.threads
        ),
    )
    return _marked(compiled, objects, target)


def _objects(text: str, module: ModuleOp, target: Target, level: int, flags: tuple[str, ...]) -> tuple[bytes, ...]:
    """The object files of a text, of the sources in a module, and of what these call besides."""
    files = [text, *(op.text.data for op in module.ops if isinstance(op, SourceOp))]
    objects = tuple(cached_c(file, target.resolved(), level, flags) for file in files)
    if any(calls_conversions(each, target.resolved().triple) for each in objects):
        objects += (compile_module(CONVERSIONS, target),)
    return objects


def _marked(compiled: CompiledGraph, objects: tuple[bytes, ...], target: Target) -> CompiledGraph:
    """An artefact with its object files, the last of which says what they belong to."""
    return replace(compiled, objects=(*objects, compile_module(mark_text(manifest(compiled), objects), target)))


def _compiled_kernels(
    module: ModuleOp, program: HostedProgram, target: Target, level: int, flags: tuple[str, ...]
) -> CompiledGraph:
    """A graph on several devices: its kernels. The host runs the rest.

    Raises:
        Diagnostic: a kernel has a name that C has not.
    """
    kernels = _called_by_host(module, program)
    text = emit_kernels([op for op in module.ops if isinstance(op, func.FuncOp | memref.GlobalOp | SourceOp)], kernels)
    parameters = {name: tuple(map(_alone, held)) for name, held in program.parameters.items()}
    taken = replace(program, steps=_taken(program.steps), parameters=parameters)
    names = tuple(kernel.sym_name.data for kernel in kernels)
    return _marked(hosted_graph(taken, names, target.platform()), _objects(text, module, target, level, flags), target)


def _called_by_host(module: ModuleOp, program: HostedProgram) -> list[func.FuncOp]:
    """The kernels of what the host runs.

    Raises:
        Diagnostic: one has a name that C has not.
    """
    called = {step.kernel for step in program.steps}
    kernels = [op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data in called]
    for kernel in kernels:
        if identifier(name := kernel.sym_name.data) != name:
            raise Diagnostic.at(kernel, f"the host calls it by its name, and '{name}' is no name in C")
    return kernels


def _steps(module: ModuleOp) -> tuple[list[func.FuncOp], StepTable]:
    """The steps of a graph, or of the parts of a program, and the kernels that they call; none where nothing has steps,
    or a kernel a name that C has not. A kernel in C is called by one thread, and takes a team."""
    table = read_steps(module)
    called = {
        step.kernel for steps in (table.steps, *(part.steps for part in table.parts)) for step in steps_within(steps)
    }
    kernels = [op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data in called]
    if any(identifier(kernel.sym_name.data) != kernel.sym_name.data for kernel in kernels):
        return [], StepTable()

    parts = tuple(replace(part, steps=_in_loops(part.steps)) for part in table.parts)
    parameters = {name: tuple(map(_alone, held)) for name, held in table.parameters.items()}
    return kernels, replace(table, steps=_in_loops(table.steps), parameters=parameters, parts=parts)


def _alone(each: Part) -> Part:
    """An argument, or a parameter, of a kernel that one thread calls."""
    return replace(each, kind=TEAM) if each.kind == THREADS else each


def _taken(steps: Sequence[Step]) -> tuple[Step, ...]:
    return tuple(replace(step, arguments=tuple(map(_alone, step.arguments))) for step in steps)


def _in_loops(steps: Sequence[Step | Loop]) -> tuple[Step | Loop, ...]:
    taken: list[Step | Loop] = []
    for step in steps:
        if isinstance(step, Loop):
            taken.append(replace(step, steps=_in_loops(step.steps)))
        else:
            taken += _taken([step])
    return tuple(taken)


def _constant_number(op: Operation) -> int:
    number = op.attributes.get(CONSTANT_INDEX)
    return number.value.data if isinstance(number, IntegerAttr) else 0


def cached_c(text: str, target: Target, level: int = 3, flags: tuple[str, ...] = ()) -> bytes:
    """The object file of a text, which is kept where kernels are kept on disk. Raises what `compile_c` does."""
    cache = KernelCache.from_environment()
    if cache is None:
        return compile_c(text, target, level, flags)
    key = KernelCache.key(f"{' '.join((*compiler_command(), *flags))}\n{text}", target, level)
    if (known := cache.get(key)) is None:
        known = compile_c(text, target, level, flags)
        cache.put(key, known)
    return known


def _found() -> tuple[str, ...]:
    given = CC.get()
    if given != CC.default:
        return tuple(shlex.split(given))
    path = next((path for name in (given, "gcc", "clang") if (path := shutil.which(name)) is not None), None)
    return () if path is None else (path,)


def compiler_command() -> tuple[str, ...]:
    """The C compiler's command.

    Raises:
        NoCompilerError: there is none.
    """
    if not (command := _found()):
        raise NoCompilerError("there is no C compiler on this system", hint="install gcc or clang, or say $CC")
    return command


def has_compiler() -> bool:
    """Whether there is a C compiler."""
    return bool(_found())


def compile_c(text: str, target: Target, level: int = 3, flags: tuple[str, ...] = ()) -> bytes:
    """The object file of a text.

    Raises:
        NoCompilerError: there is no C compiler.
        CodegenError: it does not accept the text.
    """
    command = compiler_command()
    own = [f"-O{level}" if flag == "-O3" else flag for flag in FLAGS]
    own += [flag for flag in flags_for_gcc(text) if accepts(command, flag)]
    with tempfile.TemporaryDirectory(prefix="weft-c-") as folder, guarded(Path(folder)) as guard:
        source, made = Path(folder, "unit.c"), Path(folder, "unit.o")
        source.write_text(text)
        openmp = ["-fopenmp"] if has_openmp(command) else []
        words = [*command, *own, *flags, *openmp, *_machine_flags(target), "-fPIC", "-c", str(source), "-o", str(made)]
        done = _run(guard, words)
        if done.returncode:
            first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip())
            raise CodegenError(f"the C compiler does not accept the module: {first.replace(str(source), 'unit.c')}")
        return made.read_bytes()


def _machine_flags(target: Target) -> list[str]:
    """How the compiler is told of the processor."""
    resolved, here = target.resolved(), Target("c").resolved()
    if resolved.triple != here.triple:
        raise NoCompilerError(
            f"C source for {resolved.triple} is compiled there, or by a compiler of yours",
            hint="weft.build(...).get_source(), weft-opt --emit=c",
        )
    if resolved.cpu == here.cpu and resolved.attributes == here.attributes:
        return ["-march=native"]
    words = [f"-march={resolved.cpu}"]
    for feature in filter(None, target.attributes.split(",")):
        if feature != "-prefer-256-bit":
            words.append(f"-m{'no-' if feature[0] == '-' else ''}{feature[1:]}")
    return words


@lru_cache(maxsize=8)
def accepts(command: tuple[str, ...], flag: str) -> bool:
    """Whether a compiler knows a flag."""
    with tempfile.TemporaryDirectory(prefix="weft-c-") as folder, guarded(Path(folder)) as guard:
        return _run(guard, [*command, flag, "-x", "c", "-", "-fsyntax-only"], "int unit;\n").returncode == 0


@lru_cache(maxsize=8)
def has_openmp(command: tuple[str, ...]) -> bool:
    """Whether a compiler has OpenMP."""
    words = [*command, "-fopenmp", "-x", "c", "-", "-fsyntax-only"]
    text = "#include <omp.h>\nint main(void) { return omp_get_max_threads() > 0; }\n"
    with tempfile.TemporaryDirectory(prefix="weft-c-") as folder, guarded(Path(folder)) as guard:
        return _run(guard, words, text).returncode == 0


def _run(guard: Guard, words: Sequence[str], text: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return guard.run(words, input=text)
    except OSError as error:
        raise NoCompilerError(f"the C compiler '{words[0]}' cannot be run: {error.strerror}", hint="see $CC") from None

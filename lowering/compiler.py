"""The compiler driver: a Relay module in, object code and constants out.

Compiling is running the pipeline of the phases (`phases`), by the rules of the current `PassContext` as any pass, with
a sink behind it: kernels come out of it one at a time and are handed to the code generator as soon as they are ready,
but for those that are like one before them up to numbers (`llvm_ir/alike`). Where there are several, other processes
lower them (`kernel_memo`), and LLVM compiles them in other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute

from ..dialects.relay.attributes import Resource, ResourceAttr
from ..dialects.relay.core import ConstantOp
from ..dialects.rt.sources import SourceOp
from ..dialects.support.aligned_arrays import aligned
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.garbage import rare_garbage_collection
from ..dialects.support.hints import isa
from ..dialects.support.verifier import verify
from ..transforms.infra.context import PassContext
from ..transforms.infra.execution import run
from ..transforms.infra.parts import Sink, settle, take_apart
from ..transforms.infra.timing import timed
from .abi import (
    CONSTANTS_TABLE,
    ENTRY,
    INPUTS,
    POOL,
    Argument,
    CompiledGraph,
    DeviceCode,
    HostedSegment,
    Site,
    TensorSpec,
)
from .check_sites import read_checks
from .constant_data import constant_data
from .entry.add_entry_point import GRAPH
from .graph_to_memory.signature import read_signature, read_sizes
from .hosted_steps import HostedProgram, erase_hosted, read_hosted
from .kernel_memo import KernelMemo, kernel_memo
from .llvm_ir.alike import Alike
from .llvm_ir.module import emit_llvm_ir
from .loops_to_llvm.convert_loops_to_llvm import ARENA_BYTES
from .loops_to_llvm.symbols import CONSTANT_TYPES, CONSTANT_VALUES
from .machine.codegen import CodegenPool
from .machine.kernel_cache import IN_MEMORY, CacheCounts
from .machine.target import Target
from .phases import Observer, late_checks, pipeline
from .read_steps import StepTable, read_steps
from .sizes import Size
from .threads.pool import pool_text
from .tir_to_gpu.device_code import device_code, device_text, is_device_code

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

MAIN = "main"


def lower(module: ModuleOp, target: Target, end: str, start: str = "import", observer: Observer | None = None) -> None:
    """Take `module`, which is at phase `start`, to phase `end`, in place, by the rules of the current `PassContext`.

    Raises:
        Diagnostic: something in the module cannot be lowered.
    """
    run(pipeline(target, start, end, required=PassContext.current().required_pass, observer=observer), module)


def compile_graph(
    module: ModuleOp,
    target: Target,
    *,
    start: str = "import",
    codegen_level: int = 3,
    jobs: int | None = None,
    counted: Callable[[CacheCounts], None] | None = None,
    verified: bool = False,
    fused: Callable[[ModuleOp], None] | None = None,
) -> CompiledGraph:
    """Compile a module that is at phase `start` (which it no longer is afterwards) to object code, by the rules of the
    current `PassContext`.

    `codegen_level` is LLVM's, 0 to 3. `jobs` processes generate code: as many as there are processors, unless given.
    `counted` is told where the kernels came from. `verified` says that the module was verified already. `fused` is
    shown the module at the end of phase `fuse`, before any kernel is compiled, and may refuse it.

    Raises:
        Diagnostic: the module is not valid, something in it cannot be lowered, or a constant's data is missing.
    """
    if (generate := target.generator) is not None:
        if not verified:
            verify(module)
        lower(module, target, "loops", start, _at_fuse(fused))
        return generate(module, target, codegen_level)
    if not verified:
        with timed("Verifier"):
            verify(module)
    facts: list[_Facts] = []
    names: list[str] = []
    keys: list[str] = []
    tables: list[StepTable] = []
    hosted: list[HostedProgram] = []
    sources: list[str] = []
    graphics: list[DeviceCode] = []
    memos: list[KernelMemo] = []
    weights: list[Resource] = []

    show = _at_fuse(fused)

    def observe(phase: str, module: ModuleOp, kernel: str | None) -> None:
        show(phase, module, kernel)
        if phase == "fuse":
            weights.extend(_large_constants(module))
        if phase == "loops" and kernel is None:
            tables.append(read_steps(module))
            hosted.extend(read_hosted(module))

    observe(start, module, None)

    def make_weights() -> None:
        for each in weights:
            _ = each.array

    processor = target.processor
    with (
        rare_garbage_collection(),
        CodegenPool(processor, jobs, codegen_level, memory=IN_MEMORY, meanwhile=make_weights) as pool,
    ):

        def memo(passes: str) -> KernelMemo | None:
            if (made := kernel_memo(target, passes, take, kernels.finish, _unit_text, pool)) is not None:
                memos.append(made)
            return made

        def compile(key: str, text: str) -> None:
            if not keys:  # not before the first kernel is there: workers are forked then
                pool.submit(POOL, pool_text(processor.resolved().triple))
            keys.append(key)
            pool.submit(key, text)

        kernels = Alike(compile)

        def take(kernel: str, text: str) -> None:
            names.append(kernel)
            kernels.take(kernel, text)

        def submit(kernel: str | None, module: ModuleOp) -> None:
            if kernel is not None and is_device_code(module):
                graphics.append(device_code(kernel, module, target.gpu or Target.parse("cuda"), codegen_level))
                return
            if kernel is None and all(program.is_segment for program in hosted):
                attributes = entry_of(module).attributes
                facts.append(
                    _Facts(*_signature(module), _constants(module), *read_checks(attributes), *read_sizes(attributes))
                )
            if kernel is None:
                sources.extend(op.text.data for op in module.ops if isinstance(op, SourceOp))
            with timed("LLVM IR"):
                text = _unit_text(module)
            if kernel is not None:
                take(kernel, text)
            else:
                kernels.finish()
                compile(MAIN, text)
            for each in memos:
                each.written(kernel or MAIN, text)

        if start == "llvm":
            late_checks(start)
            _submit_parts(module, submit)
        else:
            required = PassContext.current().required_pass
            run(pipeline(target, start, required=required, observer=observe, sink=submit, memo=memo), module)
        with timed("constants"):  # while workers generate code
            constants = [aligned(data()) for each in facts for data in each.constants]
        with timed("code generation"):
            objects = tuple(pool.result(name) for name in [*keys, POOL])
    objects += _compiled_sources(sources, target, codegen_level)
    if counted is not None:
        pool.counts.known = sum(each.found for each in memos)
        counted(pool.counts)
    if hosted and not hosted[0].is_segment:
        return _hosted_graph(hosted[0], objects, tuple(names), target, tuple(graphics))
    found, *_ = facts
    table = tables[0] if tables else StepTable()
    segments = tuple(_hosted_segment(program, constants) for program in hosted)
    names += [each.function for each in graphics]
    if segments:
        table = replace(table, parameters={**table.parameters, **hosted[0].parameters})
    return CompiledGraph(
        objects,
        tuple(constants),
        found.inputs,
        found.outputs,
        found.arena_bytes,
        tuple(names),
        target.platform(),
        found.checks,
        found.records_at,
        table.counter_bytes,
        tuple(table.parameters.get(name, ()) for name in names),
        table.steps,
        found.symbols,
        found.pools,
        device_code=tuple(graphics),
        segments=segments,
        code_constants=len(found.constants) if segments else None,
        extents=found.extents,
        parts=table.parts,
    )


def _hosted_segment(program: HostedProgram, constants: list[NDArray]) -> HostedSegment:
    """A part of a program that branches; its constants are put behind those that there are."""
    first = len(constants)
    constants += map(aligned, program.constants)

    def moved(argument: Argument) -> Argument:
        return replace(argument, at=argument.at + first) if argument.kind == "constant" else argument

    steps = tuple(replace(step, arguments=tuple(map(moved, step.arguments))) for step in program.steps)
    symbols, extents = program.symbols, program.extents
    return HostedSegment(program.inputs, program.outputs, program.checks, steps, program.devices, symbols, extents)


def _at_fuse(fused: Callable[[ModuleOp], None] | None) -> Observer:
    """What shows a module at the end of phase `fuse`."""

    def observe(phase: str, module: ModuleOp, _: str | None) -> None:
        if phase == "fuse" and fused is not None:
            fused(module)

    return observe


def _compiled_sources(sources: Sequence[str], target: Target, level: int) -> tuple[bytes, ...]:
    """The object files of C sources that other compilers' kernels came with."""
    if not sources:
        return ()
    from .loops_to_c.compile import cached_c

    return tuple(cached_c(text, target.processor.resolved(), level) for text in sources)


def _hosted_graph(
    program: HostedProgram,
    objects: tuple[bytes, ...],
    names: tuple[str, ...],
    target: Target,
    graphics: tuple[DeviceCode, ...],
) -> CompiledGraph:
    """The artefact of a graph on several devices, which has no entry."""
    names = (*names, *(each.function for each in graphics))
    return CompiledGraph(
        objects,
        tuple(map(aligned, program.constants)),
        program.inputs,
        program.outputs,
        program.devices[0].arena_bytes,
        names,
        target.platform(),
        program.checks,
        parameters=tuple(program.parameters.get(name, ()) for name in names),
        steps=program.steps,
        symbols=program.symbols,
        pools=program.devices[0].pools,
        devices=program.devices,
        device_code=graphics,
        extents=program.extents,
    )


@dataclass(frozen=True)
class _Facts:
    """What the graph's own function says, once it is in the llvm dialect."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    arena_bytes: int
    constants: tuple[Callable[[], NDArray], ...]
    """What gives the data of each."""
    checks: tuple[tuple[Site, ...], ...]
    records_at: int
    symbols: tuple[str, ...]
    pools: tuple[tuple[Size, ...], ...]
    extents: str


def code_units(module: ModuleOp) -> list[tuple[str | None, str]]:
    """What the code generator is given for a module of phase `llvm`: the LLVM IR of each kernel by its name, that of
    what kernels have in common by names of its own, and last that of the rest, which has none. Byte for byte what was
    compiled, if this is what compiling has made."""
    units: list[tuple[str | None, str]] = []
    kernels = Alike(lambda name, text: units.append((name, text)))

    def take(name: str | None, part: ModuleOp) -> None:
        if name is None:
            kernels.finish()
            units.append((None, _unit_text(part)))
        else:
            kernels.take(name, _unit_text(part))

    _submit_parts(module.clone(), take)
    return units


def _submit_parts(module: ModuleOp, sink: Sink) -> None:
    """Give each kernel of a module of phase `llvm` to `sink`, and last the rest."""
    for part in take_apart(module):
        sink(part.name, part.module)
    sink(None, module)


def _unit_text(module: ModuleOp) -> str:
    if is_device_code(module):
        return device_text(module)
    erase_hosted(module)
    settle(module)
    return emit_llvm_ir(module)


def entry_of(module: ModuleOp) -> llvm.FuncOp:
    """The function of an `llvm` module that the entry point runs.

    Raises:
        Diagnostic: there is none.
    """
    mains = [f for f in module.ops if isinstance(f, llvm.FuncOp) and INPUTS in f.attributes]
    if not mains:
        raise Diagnostic("there is no function to run: none carries the signature of a graph (weft.inputs)")
    return next((f for f in mains if f.sym_name.data in (GRAPH, ENTRY)), mains[0])


def _signature(module: ModuleOp) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...], int]:
    """Inputs, outputs, and bytes of the arena, from the attributes of the graph's function."""
    main = entry_of(module)
    inputs, outputs = read_signature(main.attributes)
    arena = main.attributes.get(ARENA_BYTES)
    if not isinstance(arena, IntegerAttr):
        raise Diagnostic.at(main, f"it does not say how many bytes of memory it works in ({ARENA_BYTES})")
    return inputs, outputs, arena.value.data


def _large_constants(module: ModuleOp) -> Iterator[Resource]:
    """The data of the graph's constants that does not stand in the text."""
    for op in module.walk():
        if isinstance(op, ConstantOp) and isinstance(op.value, ResourceAttr):
            yield op.value.data


def _constants(module: ModuleOp) -> tuple[Callable[[], NDArray], ...]:
    """What gives the constants' data, by place in the constants' table."""
    for op in module.ops:
        if isinstance(op, llvm.GlobalOp) and op.sym_name.data == CONSTANTS_TABLE:
            values, types = op.attributes.get(CONSTANT_VALUES), op.attributes.get(CONSTANT_TYPES)
            if (
                not isa(values, ArrayAttr[Attribute])
                or not isa(types, ArrayAttr[Attribute])
                or len(values) != len(types)
            ):
                raise Diagnostic.at(op, f"it does not say what the constants are ({CONSTANT_VALUES}, {CONSTANT_TYPES})")
            return tuple(partial(constant_data, op, value, type) for value, type in zip(values, types, strict=True))
    return ()

"""The compiler driver: a Relay module in, object code and constants out.

Compiling is running the pipeline of the phases (`phases`), by the rules of the current `PassContext` as any pass, with
a sink behind it: kernels come out of it one at a time and are handed to the code generator as soon as they are ready,
but for those that are like one before them up to numbers (`llvm_ir/alike`). Where there are several, other processes
lower them (`kernel_memo`), and LLVM compiles them in other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from ..dialects.relay.attributes import Resource
from ..dialects.rt.sources import SourceOp
from ..dialects.support.aligned_arrays import aligned
from ..dialects.support.garbage import rare_garbage_collection
from ..dialects.support.verifier import verify
from ..dialects.tir.core import PrimFuncOp
from ..transforms.infra.context import PassContext
from ..transforms.infra.execution import run
from ..transforms.infra.parts import Sink, settle, take_apart
from ..transforms.infra.timing import timed
from .abi import (
    POOL,
    CompiledGraph,
    DeviceCode,
)
from .graph_facts import GraphFacts, large_constants
from .hosted_steps import HostedProgram, erase_hosted, hosted_graph, hosted_segment, read_hosted
from .kernel_memo import KernelMemo, kernel_memo
from .llvm_ir.alike import Alike
from .llvm_ir.module import emit_llvm_ir
from .machine.codegen import CodegenPool
from .machine.kernel_cache import IN_MEMORY, CacheCounts
from .machine.target import Target, check_made
from .manifest import manifest, mark_text
from .phases import Observer, late_checks, pipeline
from .read_steps import StepTable, read_steps, shapes_given, with_shapes
from .threads.pool import pool_text
from .tir_to_gpu.device_code import device_code, device_text, is_device_code

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

MAIN, MARK = "main", "mark"
"""What the code generator calls the graph's own function, and what says what all of it was made for."""


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
    codegen_level: int | None = None,
    jobs: int | None = None,
    counted: Callable[[CacheCounts], None] | None = None,
    verified: bool = False,
    fused: Callable[[ModuleOp], None] | None = None,
    known: Callable[[Sequence[NDArray]], None] | None = None,
) -> CompiledGraph:
    """Compile a module that is at phase `start` (which it no longer is afterwards) to object code, by the rules of the
    current `PassContext`.

    `codegen_level` is LLVM's, 0 to 3; the target's, unless given. `jobs` processes generate code: as many as there are
    processors, unless given. `counted` is told where the kernels came from. `verified` says that the module was
    verified already. `fused` is shown the module at the end of phase `fuse`, before any kernel is compiled, and may
    refuse it. `known` is given the graph's constants when there is nothing left to do but to wait for code.

    Raises:
        TargetError: no code is made for the target.
        Diagnostic: the module is not valid, something in it cannot be lowered, or a constant's data is missing.
    """
    check_made(target)
    codegen_level = target.codegen_level if codegen_level is None else codegen_level
    if (generate := target.generator) is not None:
        if not verified:
            verify(module)
        lower(module, target, "loops", start, _at_fuse(fused))
        return generate(module, target, codegen_level)
    if not verified:
        with timed("Verifier"):
            verify(module)
    compilation = _Compilation(target, codegen_level, fused)
    compilation.observe(start, module, None)
    with (
        rare_garbage_collection(),
        CodegenPool(
            target.processor, jobs, codegen_level, memory=IN_MEMORY, meanwhile=compilation.make_weights
        ) as pool,
    ):
        compilation.run(module, start, pool)
        with timed("constants"):  # while workers generate code
            constants = compilation.constants()
        graph = compilation.artefact(constants)
        if known is not None:
            known(graph.constants)
        described = manifest(graph)
        with timed("code generation"):
            graph = replace(graph, objects=compilation.objects(pool))
        if counted is not None:
            counted(replace(pool.counts, known=compilation.known))
        pool.submit(MARK, mark_text(described, graph.objects))
        return replace(graph, objects=(*graph.objects, pool.result(MARK)))


class _Compilation:
    """A compilation at work, and what its kernels and the graph's own function have told so far.

    The pipeline shows it the graph (`observe`) and gives it the kernels one at a time, last the graph's own function
    (`run`); it hands their LLVM IR to the code generator."""

    def __init__(self, target: Target, codegen_level: int, fused: Callable[[ModuleOp], None] | None):
        self._target = target
        self._level = codegen_level
        self._show = _at_fuse(fused)
        self._weights: list[Resource] = []
        self._names: list[str] = []
        """Of kernels, in order."""
        self._keys: list[str] = []
        """Of what the code generator was given, in order."""
        self._facts: GraphFacts | None = None
        """Of the graph's own function, where it has one that is compiled."""
        self._table = StepTable()
        self._shapes: dict[str, tuple[tuple[int, ...], ...]] = {}
        """Of the buffers that kernels are given; those of the phase `loops` have one dimension, and say none."""
        self._hosted: list[HostedProgram] = []
        self._sources: list[str] = []
        self._device_code: list[DeviceCode] = []
        self._memos: list[KernelMemo] = []

    def observe(self, phase: str, module: ModuleOp, kernel: str | None) -> None:
        """Look at what a phase has made."""
        self._show(phase, module, kernel)
        if phase == "fuse":
            self._weights.extend(large_constants(module))
        if phase in ("tir", "schedule"):
            self._shapes |= {op.sym_name.data: shapes_given(op) for op in module.ops if isinstance(op, PrimFuncOp)}
        if phase == "loops" and kernel is None:
            self._table = read_steps(module)
            self._hosted.extend(read_hosted(module))

    def make_weights(self) -> None:
        """Make the data of weights that is not there yet."""
        for each in self._weights:
            _ = each.array

    def run(self, module: ModuleOp, start: str, pool: CodegenPool) -> None:
        """Lower a module that is at phase `start`, and have `pool` generate code."""

        def compile(key: str, text: str) -> None:
            if not self._keys:  # not before the first kernel is there: workers are forked then
                pool.submit(POOL, pool_text(self._target.processor.resolved().triple))
            self._keys.append(key)
            pool.submit(key, text)

        kernels = Alike(compile)

        def take(kernel: str, text: str) -> None:
            self._names.append(kernel)
            kernels.take(kernel, text)

        def submit(kernel: str | None, part: ModuleOp) -> None:
            if (text := self._text_of(kernel, part)) is None:
                return
            if kernel is not None:
                take(kernel, text)
            else:
                kernels.finish()
                compile(MAIN, text)
            for each in self._memos:
                each.written(kernel or MAIN, text)

        def memo(passes: str) -> KernelMemo | None:
            made = kernel_memo(self._target, passes, take, kernels.finish, _unit_text, pool)
            if made is not None:
                self._memos.append(made)
            return made

        if start == "llvm":
            late_checks(start)
            _submit_parts(module, submit)
        else:
            required = PassContext.current().required_pass
            run(pipeline(self._target, start, required=required, observer=self.observe, sink=submit, memo=memo), module)

    def _text_of(self, kernel: str | None, module: ModuleOp) -> str | None:
        """The LLVM IR of a kernel or, where that has no name, of the rest; `None` for one that is for a device."""
        if kernel is not None and is_device_code(module):
            gpu = self._target.gpu or Target.parse("cuda")
            self._device_code.append(device_code(kernel, module, gpu, self._level))
            return None
        if kernel is None:
            if all(program.is_segment for program in self._hosted):
                self._facts = GraphFacts.of(module)
            self._sources.extend(op.text.data for op in module.ops if isinstance(op, SourceOp))
        with timed("LLVM IR"):
            return _unit_text(module)

    @property
    def known(self) -> int:
        """How many kernels were not lowered, because their LLVM IR was known."""
        return sum(each.found for each in self._memos)

    def constants(self) -> list[NDArray]:
        """The data of the constants that the graph's own function reads."""
        return [] if self._facts is None else [aligned(data()) for data in self._facts.constants]

    def objects(self, pool: CodegenPool) -> tuple[bytes, ...]:
        """What the code generator has made, once that is all there, and other compilers of C sources."""
        made = [pool.result(name) for name in [*self._keys, POOL]]
        return (*made, *_compiled_sources(self._sources, self._target, self._level))

    def artefact(self, constants: list[NDArray]) -> CompiledGraph:
        """What was compiled, with all that whoever loads it has to know, but for the code."""
        device_code = tuple(self._device_code)
        hosted = self._hosted
        if hosted and not hosted[0].is_segment:
            return hosted_graph(hosted[0], tuple(self._names), self._target.platform(), device_code)
        found, table = self._facts, self._table
        assert found is not None, "the graph's own function comes last, and always"
        segments = tuple(hosted_segment(program, constants) for program in hosted)
        names = [*self._names, *(each.function for each in device_code)]
        if segments:
            table = replace(table, parameters={**table.parameters, **hosted[0].parameters})
        return CompiledGraph(
            (),
            tuple(constants),
            found.inputs,
            found.outputs,
            found.arena_bytes,
            tuple(names),
            self._target.platform(),
            found.checks,
            found.records_at,
            table.counter_bytes,
            tuple(with_shapes(table.parameters.get(name, ()), self._shapes.get(name, ())) for name in names),
            table.steps,
            found.symbols,
            found.pools,
            device_code=device_code,
            segments=segments,
            code_constants=len(found.constants) if segments else None,
            extents=found.extents,
            parts=table.parts,
        )


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

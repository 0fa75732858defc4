"""The phases of a compilation: one pipeline, whoever runs it.

Each phase is a flat list of passes; they read top to bottom, and so does the compiler. Up to `tir` they work on the
whole module. From `schedule` on, one kernel after the other goes through all phases that are left, in a module of its
own; then what is left, the graph's own function, goes through them (`transforms/infra/apart.py`):

    graph, fuse, tir, apart(each(schedule, loops, llvm), rest(loops, llvm))

`weft.compile`, `weft-opt --compile-to`, `--compile-from`, `--dump-phases-to` and `exe.ir[...]` use these names, and
run this pipeline or the beginning of it. A pass from elsewhere joins by what it declares (`Pass.joins_phase`,
`Pass.joins_after`), or by being named in `required_pass`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects.support.diagnostics import UsageError
from ..dialects.support.verifier import verify
from ..transforms.infra import remarks
from ..transforms.infra.apart import Apart, Memo
from ..transforms.infra.by_target import ByTarget
from ..transforms.infra.config import BOUNDS_CHECKS, PASS_EXTENTS, TUNING_RECORDS
from ..transforms.infra.context import PassContext
from ..transforms.infra.info import info_of
from ..transforms.infra.parts import Sink, symbol_name
from ..transforms.infra.registry import canonical_name, get_pass_type
from ..transforms.infra.requirements import order_requirements
from ..transforms.infra.sequential import Sequential
from ..transforms.infra.timing import timed
from ..transforms.infra.trials import Proposals
from .gpu_phases import gpu_passes
from .joining_passes import add_joining
from .networks_of_bytes import on_bytes

if TYPE_CHECKING:
    from .machine.target import Target

PHASES: tuple[str, ...] = ("import", "graph", "fuse", "tir", "schedule", "loops", "llvm", "object")
"""In order. `import` is done by a frontend, `object` by the code generator; the others are passes."""

WHOLE = ("graph", "fuse", "tir")
"""The phases that need the whole module."""

MAKERS: Mapping[str, tuple[str, ...]] = {
    "fuse": ("outline-primitives",),
    "tir": ("outline-open-segments", "lower-te"),
    "loops": ("convert-tir-to-loops", "convert-tir-to-gpu", "outline-segments", "materialize-memory"),
    "llvm": ("expand-math", "convert-loops-to-llvm", "convert-control-to-llvm", "add-entry-point"),
}
"""The passes without which the module is not what a phase promises. Nor is it without what they require."""

Observer: TypeAlias = Callable[[str, ModuleOp, "str | None"], None]
"""Told of the end of each phase: its name, the module, and the kernel's name where the module holds but one."""


class Phase(Sequential):
    """The passes of one phase. What they make is verified, whoever runs them; then the observer is told."""

    observer: Observer | None
    is_part: bool

    def __init__(
        self, name: str, passes: Sequence[ModulePass], observer: Observer | None = None, is_part: bool = False
    ):
        super().__init__(passes, name=name)
        object.__setattr__(self, "observer", observer)
        object.__setattr__(self, "is_part", is_part)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            Diagnostics: what the passes have made is no valid module.
        """
        super().apply(ctx, op)
        with timed("Verifier"):
            verify(op)
        if self.observer is not None:
            self.observer(self.info.name, op, _kernel_name(op) if self.is_part else None)


def _kernel_name(part: ModuleOp) -> str:
    """The function that a part is called by: the last one."""
    last = part.body.block.last_op
    name = None if last is None else symbol_name(last)
    assert name is not None
    return name


@timed("making passes")
def pipeline(
    target: Target,
    start: str = "import",
    end: str = "llvm",
    *,
    required: Sequence[str] = (),
    observer: Observer | None = None,
    sink: Sink | None = None,
    memo: Callable[[str], Memo | None] | None = None,
) -> Sequential:
    """The phases after `start` up to and including `end`, as one pass.

    Args:
        required: passes from elsewhere that are to run, by name, even if they do not say where.
        observer: told of the end of each phase.
        sink: takes each kernel that has reached `end`, and last what is left of the module; without one the kernels
            are put back.
        memo: gives what remembers kernels that have gone through the phases from `schedule` on; it is told the passes.

    Raises:
        ValueError: there is no phase of a name.
        UsageError: a pass from elsewhere says that it joins where there is nothing, or an option names a pass that is
            none.
    """
    from ..transforms.tir.apply_schedule import without_tuned
    from .verify_loop_accesses import VerifyLoopAccessesPass

    names = [name for name in _between(start, end) if name not in ("import", "object")]
    each = {name: phase_passes(name, target) for name in PHASES}
    rest = {name: rest_passes(name) for name in PHASES}
    add_joining((each, rest), required)
    if (gpu := target.gpu) is not None:
        for name in ("schedule", "loops"):
            each[name] = [ByTarget(cpu=each[name], gpu=gpu_passes(name, gpu))]
    steps: list[ModulePass] = [Phase(name, each[name], observer) for name in names if name in WHOLE]
    if start == "tir":
        steps += schedules_beside(target)
    if start == "loops":
        steps.append(VerifyLoopAccessesPass())
    steps += late_checks(start)
    if apart := [name for name in names if name not in WHOLE]:
        parts = Sequential([Phase(name, each[name], observer, is_part=True) for name in apart], name="each")
        left = Sequential([Phase(name, rest[name], observer) for name in apart if name in REST], name="rest")
        beyond = [Phase(name, each[name]) for name in _between(apart[-1], "llvm")]
        proposals = Proposals(without_tuned, beyond)
        steps.append(Apart(parts, left, sink, None if memo is None else memo(parts.members_text), proposals))
    return Compilation(steps, names)


class Compilation(Sequential):
    """Phases, one after the other. What they cannot do without runs where it stands in them, even if it is disabled,
    as what a pass requires does."""

    needed: Sequence[str]

    def __init__(self, steps: Sequence[ModulePass], phases: Sequence[str]):
        super().__init__(steps, name="compile")
        object.__setattr__(self, "needed", [name for phase in phases for name in MAKERS.get(phase, ())])

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            Diagnostic: a pass cannot do its work.
        """
        context = PassContext.current()
        disabled = {name: canonical_name(name) for name in context.disabled_pass}
        if not disabled or disabled.keys().isdisjoint(needed := self._all_needed()):
            super().apply(ctx, op)
            return
        for name in filter(needed.__contains__, disabled):
            remarks.analysis(name, op, "runs although it is disabled: compiling needs it")
        kept = [name for name, pass_name in disabled.items() if pass_name not in needed]
        with context.at_level(context.opt_level, disabled_pass=kept):
            super().apply(ctx, op)

    def _all_needed(self) -> set[str]:
        required = {r.name for name in self.needed for r in order_requirements(info_of(get_pass_type(name)()))}
        return required | set(self.needed)


def _between(start: str, end: str) -> tuple[str, ...]:
    for name in (start, end):
        if name not in PHASES:
            raise ValueError(f"there is no phase '{name}'; phases: {', '.join(PHASES)}")
    return PHASES[PHASES.index(start) + 1 : PHASES.index(end) + 1]


def phase_passes(phase: str, target: Target) -> list[ModulePass]:
    """The passes of one phase; from `schedule` on, those that a kernel goes through.

    Raises:
        ValueError: there is no phase of that name.
    """
    match phase:
        case "import" | "object":
            return []
        case "graph":
            return graph(target)
        case "fuse":
            return fuse(target)
        case "tir":
            return tir(target)
        case "schedule":
            return schedule(target)
        case "loops":
            return loops(target)
        case "llvm":
            return llvm(None if target.is_gpu else target)
        case _:
            raise ValueError(f"there is no phase '{phase}'; phases: {', '.join(PHASES)}")


def rest_passes(phase: str) -> list[ModulePass]:
    """The passes of one phase that the graph's own function goes through, once the kernels have passed."""
    match phase:
        case "loops":
            return graph_loops()
        case "llvm":
            return [*llvm(), *control(), *entry()]
        case _:
            return []


REST = ("loops", "llvm")
"""The phases that have something to do with the graph's own function."""


def graph(target: Target) -> list[ModulePass]:
    """Relay's optimisations; the context's opt level says which of them run. TVM's order, as `relay.build` has it."""
    from ..transforms.relay.bound_extents import BoundExtentsPass
    from ..transforms.relay.canonicalize_cast import CanonicalizeCastPass
    from ..transforms.relay.canonicalize_ops import CanonicalizeOpsPass
    from ..transforms.relay.dead_code_elimination import DeadCodeEliminationPass
    from ..transforms.relay.eliminate_common_subexpr import EliminateCommonSubexprPass
    from ..transforms.relay.fast_math import FastMathPass
    from ..transforms.relay.flatten_atrous_conv import FlattenAtrousConvPass
    from ..transforms.relay.fold_constant import FoldConstantPass
    from ..transforms.relay.fold_explicit_padding import FoldExplicitPaddingPass
    from ..transforms.relay.fold_scale_axis import FoldScaleAxisPass
    from ..transforms.relay.inline import InlinePass
    from ..transforms.relay.lambda_lift import LambdaLiftPass
    from ..transforms.relay.outline_compiler_functions_with_existing_global_symbols import (
        OutlineCompilerFunctionsWithExistingGlobalSymbolsPass as OutlineCompilerFunctionsPass,
    )
    from ..transforms.relay.plan_devices import PlanDevicesPass
    from ..transforms.relay.remove_unused_functions import RemoveUnusedFunctionsPass
    from ..transforms.relay.separate_pools import SeparatePoolsPass
    from ..transforms.relay.simplify_expr import SimplifyExprPass
    from ..transforms.relay.simplify_inference import SimplifyInferencePass
    from ..transforms.relay.simplify_quantize import SimplifyQuantizePass
    from ..transforms.relay.sink_reshape import SinkReshapePass
    from ..transforms.relay.sink_transpose import SinkTransposePass
    from ..transforms.relay.specialize_functions import SpecializeFunctionsPass
    from ..transforms.relay.tabulate_bytes import TabulateBytesPass
    from ..transforms.relay.unroll_scans import UnrollScansPass

    return [
        SpecializeFunctionsPass(),
        RemoveUnusedFunctionsPass(),
        OutlineCompilerFunctionsPass(),
        LambdaLiftPass(),
        InlinePass(),
        UnrollScansPass(all=True) if target.is_gpu else UnrollScansPass(),
        *on_bytes(target.vector_unit(), _dot(target)),
        *([] if target.is_gpu else [_widened(target)]),
        SimplifyInferencePass(),
        EliminateCommonSubexprPass(),
        SinkTransposePass(),
        FoldConstantPass(),
        FoldScaleAxisPass(),
        SimplifyExprPass(),
        FoldExplicitPaddingPass(),
        CanonicalizeCastPass(),
        CanonicalizeOpsPass(),
        FlattenAtrousConvPass(),
        FastMathPass(),
        *([] if target.is_gpu else [_interleaved(target), _along_two_axes(target), SeparatePoolsPass()]),
        FoldConstantPass(),
        *([] if target.is_gpu else [_layouts(target)]),
        SinkReshapePass(),
        SimplifyExprPass(),
        FoldConstantPass(),
        TabulateBytesPass(),
        SimplifyQuantizePass(),
        BoundExtentsPass(),
        EliminateCommonSubexprPass(),
        DeadCodeEliminationPass(),
        PlanDevicesPass(("llvm", "cuda"), "cuda") if target.is_gpu else PlanDevicesPass(),
    ]


def fuse(target: Target) -> list[ModulePass]:
    """Group operators into kernels, and make each distinct kernel a function."""
    from ..transforms.relay.fuse_ops import FuseOpsPass
    from ..transforms.relay.outline_primitives import OutlinePrimitivesPass

    return [
        FuseOpsPass(vector_bytes=target.vector_bytes(), machine=_machine(target)),
        OutlinePrimitivesPass(pass_scalars=True),
    ]


def tir(target: Target) -> list[ModulePass]:
    """Kernels become loop nests over blocks, from their operators' `compute`; where there are schedules for them, these
    stand beside them."""
    from ..transforms.relay.outline_open_segments import OutlineOpenSegmentsPass
    from .relay_to_tir.lower_te import LowerTEPass
    from .relay_to_tir.strategies import is_empty

    gpu = None if target.gpu is None else "cuda"
    beside = schedules_beside(target)
    if is_empty():
        shared = not beside and PassContext.current().get_config(PASS_EXTENTS, True)  # a schedule is for one function
        return [OutlineOpenSegmentsPass(), LowerTEPass(gpu=gpu, pass_extents=bool(shared)), *beside]
    return [
        OutlineOpenSegmentsPass(),
        LowerTEPass(gpu=gpu, target=str(target.processor), gpu_target=_gpu_text(target)),
        *beside,
    ]


def schedules_beside(target: Target) -> list[ModulePass]:
    """What puts schedules beside their functions: those of a database or of users' and packages' rules, if there are
    any, and those that tuning has found, where there are records."""
    from ..transforms.tir.attach_tuned_schedules import AttachTunedSchedulesPass
    from .relay_to_tir.attach_schedules import AttachSchedulesPass, current_database
    from .relay_to_tir.schedules import rules

    passes: list[ModulePass] = []
    if rules() or current_database() is not None:
        passes.append(AttachSchedulesPass(target=str(target.processor), gpu_target=_gpu_text(target)))
    if not target.is_gpu and PassContext.current().get_config(TUNING_RECORDS, None) is not None:
        passes.append(AttachTunedSchedulesPass(target=target.name()))
    return passes


def _gpu_text(target: Target) -> str | None:
    return None if target.gpu is None else str(replace(target.gpu, host=None))


def late_checks(start: str) -> list[ModulePass]:
    """What checks accesses in a module that is scheduled already, if that is wanted.

    Raises:
        UsageError: its accesses are no longer those of buffers, whose bounds are known.
    """
    from ..transforms.tir.insert_bounds_checks import InsertBoundsChecksPass
    from .insert_loop_checks import InsertLoopChecksPass

    if not PassContext.current().get_config(BOUNDS_CHECKS, False):
        return []
    match start:
        case "schedule":
            return [InsertBoundsChecksPass()]
        case "loops":
            return [InsertLoopChecksPass()]
        case "llvm" | "object":
            raise UsageError(
                f"the accesses of a module at the phase '{start}' cannot be checked any more",
                hint="checks are put in at the phases 'schedule' and 'loops': compile what stands there",
            )
        case _:
            return []


def schedule(target: Target) -> list[ModulePass]:
    """Choose loop order, tiles, vectors and threads, as schedules say, else by rules; then what `weft.lower` does."""
    from ..transforms.tir.apply_schedule import ApplySchedulePass
    from ..transforms.tir.insert_bounds_checks import InsertBoundsChecksPass
    from ..transforms.tir.keep_roundings import KeepRoundingsPass
    from ..transforms.tir.schedule_rules import ScheduleRulesPass
    from .lower_passes import lower_passes

    context = PassContext.current()
    return [
        *([InsertBoundsChecksPass(own=True)] if context.get_config(BOUNDS_CHECKS, False) else []),
        KeepRoundingsPass(),
        ApplySchedulePass(),
        ScheduleRulesPass(
            vector_bytes=target.vector_bytes(),
            vector_registers=target.vector_registers(),
            dot=_dot(target),
            matrix=_matrix(target),
            machine=_machine(target),
        ),
        *lower_passes(context, simple_mode=False),
    ]


def loops(target: Target) -> list[ModulePass]:
    """Blocks, loop kinds and buffers become scf, vector and flat memrefs; streams of vectors are asked for early."""
    from .tir_to_loops.convert_tir_to_loops import ConvertTirToLoopsPass
    from .tir_to_loops.prefetch_streams import PrefetchStreamsPass

    scopes = tuple(f"{name}={scope}" for name, scope in target.scopes.items())
    convert = ConvertTirToLoopsPass(
        vector_bytes=target.vector_bytes(), dot=_dot(target), matrix=_matrix(target), scopes=scopes
    )
    return [convert, PrefetchStreamsPass(machine=_machine(target))]


def _dot(target: Target) -> str | None:
    """The dot products of bytes that the target has, and that its code can say."""
    return target.vector_unit().dot if target.kind != "c" else None


def _widened(target: Target) -> ModulePass:
    """Products of 16 bits, but those that the target has instructions for, and its code can say."""
    from ..transforms.relay.widen_products import WidenProductsPass

    unit = target.vector_unit()
    on_bf16 = target.kind != "c" and (unit.amx_bf16 or unit.bf16_pairs)
    return WidenProductsPass(types=("float16",) if on_bf16 else ("float16", "bfloat16"))


def _interleaved(target: Target) -> ModulePass:
    """Transposed convolutions as convolutions."""
    from ..transforms.relay.interleave_transposed_conv import InterleaveTransposedConvPass

    return InterleaveTransposedConvPass(vector_bytes=target.vector_bytes())


def _along_two_axes(target: Target) -> ModulePass:
    """Convolutions along one and three axes become such along two, where that pays on the target."""
    from ..transforms.relay.conv_to_conv2d import ConvToConv2dPass

    return ConvToConv2dPass(vector_bytes=target.vector_bytes(), machine=_machine(target))


def _layouts(target: Target) -> ModulePass:
    """Values and weights in the order in which the target's kernels read them."""
    from ..transforms.relay.alter_op_layout import AlterOpLayoutPass

    return AlterOpLayoutPass(
        vector_bytes=target.vector_bytes(), dot=_dot(target), matrix=_matrix(target), machine=_machine(target)
    )


def _machine(target: Target) -> str:
    """What the target's processor takes for its work."""
    return str(target.machine_model())


def _matrix(target: Target) -> tuple[str, ...]:
    """What the target's matrix unit multiplies, as far as its code can say so."""
    return target.vector_unit().matrix if target.kind != "c" else ()


def graph_loops() -> list[ModulePass]:
    """The graph becomes one over buffers, which find their places, and then a sequence of calls on one arena."""
    from ..transforms.mem.elide_copies import ElideCopiesPass
    from ..transforms.mem.plan_memory import PlanMemoryPass
    from ..transforms.mem.write_in_place import WriteInPlacePass
    from ..transforms.relay.outline_segments import OutlineSegmentsPass
    from .graph_to_memory.bufferize_graph import BufferizeGraphPass
    from .memory_to_loops.materialize_memory import MaterializeMemoryPass

    return [
        OutlineSegmentsPass(),
        BufferizeGraphPass(),
        ElideCopiesPass(),
        WriteInPlacePass(),
        PlanMemoryPass.configured(),
        MaterializeMemoryPass(),
    ]


def llvm(target: Target | None = None) -> list[ModulePass]:
    """Complete conversion to the llvm dialect, for a processor's vectors."""
    from .loops_to_llvm.convert_loops_to_llvm import ConvertLoopsToLLVMPass
    from .machine.vectors_of import divides_doubles
    from .math.expand_math import ExpandMathPass

    if target is None:
        return [ExpandMathPass(), ConvertLoopsToLLVMPass()]
    unit, on_floats = target.vector_unit(), divides_doubles(target.platform())
    return [ExpandMathPass(fma=unit.fma), ConvertLoopsToLLVMPass(vector_bytes=unit.bytes, float_divisions=on_floats)]


def control() -> list[ModulePass]:
    """What branches and calls becomes the function that the runtime calls."""
    from .control_to_llvm.convert_control_to_llvm import ConvertControlToLLVMPass

    return [ConvertControlToLLVMPass()]


def entry() -> list[ModulePass]:
    """The entry point that the runtime calls."""
    from .entry.add_entry_point import AddEntryPointPass

    return [AddEntryPointPass()]

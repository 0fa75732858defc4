"""The phases of a compilation, each one flat list of passes. They read top to bottom; so does the compiler.

`weft-opt --compile-to`, `--compile-from`, `--dump-phases-to` and `exe.ir[...]` use these names.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING

from xdsl.passes import ModulePass
from xdsl.universe import Universe

from ..dialects.support.entry_points import plugins

if TYPE_CHECKING:
    from .machine.target import Target

PHASES: tuple[str, ...] = ("import", "graph", "fuse", "tir", "schedule", "loops", "llvm", "object")
"""In order. `import` is done by a frontend, `object` by the code generator; the others are passes."""


def phase_passes(phase: str, target: Target) -> list[ModulePass]:
    """The passes of one phase: Weft's, then those of plug-ins that state it as their `phase`.

    Raises:
        ValueError: there is no phase of that name.
    """
    return [*own_passes(phase, target), *(pass_type() for pass_type in joining_passes(phase))]


@cache
def joining_passes(phase: str) -> list[type[ModulePass]]:
    """The passes of installed plug-ins whose class attribute `phase` names this one, sorted by name.

    A plug-in that cannot be loaded is warned of.
    """
    found: list[type[ModulePass]] = []
    for plugin in plugins("xdsl.universe"):
        match plugin:
            case Universe():
                found += [cls for load in plugin.all_passes.values() if getattr(cls := load(), "phase", None) == phase]
            case _:
                warnings.warn(str(plugin), stacklevel=2)
    return sorted(found, key=lambda cls: cls.name)


def own_passes(phase: str, target: Target) -> list[ModulePass]:
    """Weft's passes of one phase."""
    match phase:
        case "import" | "object":
            return []
        case "graph":
            return graph(target)
        case "fuse":
            return fuse()
        case "tir":
            return tir()
        case "schedule":
            return schedule(target)
        case "loops":
            return loops()
        case "llvm":
            return llvm()
        case _:
            raise ValueError(f"there is no phase '{phase}'; phases: {', '.join(PHASES)}")


def passes_between(start: str, end: str, target: Target) -> list[tuple[str, list[ModulePass]]]:
    """The phases after `start` up to and including `end`, each with its passes."""
    first, last = PHASES.index(start), PHASES.index(end)
    return [(phase, phase_passes(phase, target)) for phase in PHASES[first + 1 : last + 1]]


def graph(target: Target) -> list[ModulePass]:
    """Relay's optimisations; the context's opt level says which of them run. TVM's order, as `relay.build` has it."""
    from ..transforms.relay.alter_op_layout import AlterOpLayoutPass
    from ..transforms.relay.canonicalize_cast import CanonicalizeCastPass
    from ..transforms.relay.canonicalize_ops import CanonicalizeOpsPass
    from ..transforms.relay.dead_code_elimination import DeadCodeEliminationPass
    from ..transforms.relay.eliminate_common_subexpr import EliminateCommonSubexprPass
    from ..transforms.relay.fold_constant import FoldConstantPass
    from ..transforms.relay.fold_explicit_padding import FoldExplicitPaddingPass
    from ..transforms.relay.fold_scale_axis import FoldScaleAxisPass
    from ..transforms.relay.inline import InlinePass
    from ..transforms.relay.remove_unused_functions import RemoveUnusedFunctionsPass
    from ..transforms.relay.simplify_expr import SimplifyExprPass
    from ..transforms.relay.simplify_inference import SimplifyInferencePass
    from ..transforms.relay.sink_reshape import SinkReshapePass

    return [
        RemoveUnusedFunctionsPass(),
        InlinePass(),
        SimplifyInferencePass(),
        EliminateCommonSubexprPass(),
        FoldConstantPass(),
        FoldScaleAxisPass(),
        SimplifyExprPass(),
        FoldExplicitPaddingPass(),
        CanonicalizeCastPass(),
        CanonicalizeOpsPass(),
        FoldConstantPass(),
        AlterOpLayoutPass(vector_bytes=target.vector_bytes()),
        SinkReshapePass(),
        SimplifyExprPass(),
        FoldConstantPass(),
        EliminateCommonSubexprPass(),
        DeadCodeEliminationPass(),
    ]


def fuse() -> list[ModulePass]:
    """Group operators into kernels, and make each distinct kernel a function."""
    from ..transforms.relay.fuse_ops import FuseOpsPass
    from ..transforms.relay.outline_primitives import OutlinePrimitivesPass

    return [FuseOpsPass(), OutlinePrimitivesPass()]


def tir() -> list[ModulePass]:
    """Kernels become loop nests over blocks, from their operators' `compute`."""
    from .relay_to_tir.lower_te import LowerTEPass

    return [LowerTEPass()]


def schedule(target: Target) -> list[ModulePass]:
    """Choose loop order, tiles, vectors and threads."""
    from ..transforms.tir.loop_partition import LoopPartitionPass
    from ..transforms.tir.schedule_rules import ScheduleRulesPass

    return [
        ScheduleRulesPass(vector_bytes=target.vector_bytes(), vector_registers=target.vector_registers()),
        LoopPartitionPass(),
    ]


def loops() -> list[ModulePass]:
    """Blocks, loop kinds and buffers become scf, vector and flat memrefs; the graph becomes a sequence of calls."""
    from .graph_to_loops.convert_main_to_loops import ConvertMainToLoopsPass
    from .tir_to_loops.convert_tir_to_loops import ConvertTirToLoopsPass

    return [ConvertTirToLoopsPass(), ConvertMainToLoopsPass()]


def llvm() -> list[ModulePass]:
    """Complete conversion to the llvm dialect, and the entry point that the runtime calls."""
    from .entry.add_entry_point import AddEntryPointPass
    from .loops_to_llvm.convert_loops_to_llvm import ConvertLoopsToLLVMPass
    from .math.expand_math import ExpandMathPass

    return [
        ExpandMathPass(),
        ConvertLoopsToLLVMPass(),
        AddEntryPointPass(),
    ]

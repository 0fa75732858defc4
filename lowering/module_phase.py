"""What phase a module is at, and which of its functions is the graph: read off its operations."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..dialects.mem.graph import GraphOp
from ..dialects.relay.core import FuncOp, PrimitiveOp
from ..dialects.relay.functions import COMPOSITE, is_for
from ..dialects.support.advice import give_function
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..dialects.tir.core import PrimFuncOp
from ..transforms.relay.outline_segments import SEGMENT
from ..transforms.relay.remove_unused_functions import RemoveUnusedFunctionsPass
from .abi import ENTRY, INPUTS, SEGMENT_MARK, TensorSpec
from .entry.add_entry_point import GRAPH
from .graph_to_memory.bufferize_graph import TURN
from .graph_to_memory.signature import graph_signature, memory_signature, read_signature

ENTRY_NAME = "main"


def phase_of(module: ModuleOp) -> str:
    """The phase that `module` is at, so that the phases after it can be run.

    A module of `tir` functions is at `tir`, scheduled or not: rules leave alone what is scheduled already. A graph over
    buffers is on its way from `schedule` to `loops`; passes that have been run find nothing to do.

    Raises:
        UsageError: it is of no phase: there is no `relay.func` in it, nor a function that `loops` or `llvm` has made.
    """
    ops = list(module.ops)
    if any(isinstance(op, PrimFuncOp) for op in ops):
        return "tir"
    if any(isinstance(op, GraphOp) for op in ops):
        return "schedule"
    if any(isinstance(op, func.FuncOp) and INPUTS in op.attributes for op in ops):
        return "loops"
    functions = [op for op in ops if isinstance(op, FuncOp)]
    own = [function for function in functions if not is_for(function)]
    if any(function.is_primitive for function in own):
        return "fuse"
    if any(_is_kernel(op) for function in own for op in function.body.block.ops):
        return "graph"
    if functions:
        return "import"
    if any(isinstance(op, llvm.FuncOp) and INPUTS in op.attributes for op in ops):
        return "llvm"
    raise UsageError("there is no function to run in this module", hint="a graph is a relay.func")


def _is_kernel(op: Operation) -> bool:
    """Whether fusion has made this; a composite, or what is for another compiler, stands in graphs before it."""
    return isinstance(op, PrimitiveOp) and COMPOSITE not in op.attributes and not is_for(op)


def entry_names(module: ModuleOp) -> list[str]:
    """The functions of `module` that can be run: public functions of tensors, in their order."""
    return [name for op in module.ops if (name := _entry_name(op)) is not None]


def select_entry(module: ModuleOp, name: str | None = None) -> str:
    """Keep one function to run, `@main` or the only one unless `name` says which, and what it calls.

    Returns:
        The function's name.

    Raises:
        UsageError: there is no such function, or several and none is called `main`.
    """
    names = entry_names(module)
    if name is None:
        name = ENTRY_NAME if ENTRY_NAME in names or len(names) != 1 else names[0]
    if name not in names:
        hint = did_you_mean(name, names) or (give_function(names) if names else None)
        if not names and any(isinstance(op, PrimFuncOp) for op in module.ops):
            raise UsageError(
                "there is no function to run in this module, only kernels",
                hint="`weft.build` makes a function of a tir.prim_func; a relay.func runs it by relay.call_lowered",
            )
        raise UsageError(f"there is no function @{name} to run", hint=hint)
    if len(names) > 1 and phase_of(module) != "llvm":
        RemoveUnusedFunctionsPass(entry=(name,)).apply(Context(), module)
    return name


def signature_of(module: ModuleOp, name: str) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """The inputs and outputs of the function `name`, one of `entry_names`."""
    entry = next(op for op in module.ops if _entry_name(op) == name)
    match entry:
        case FuncOp():
            return read_signature(graph_signature(entry))
        case GraphOp():
            return read_signature(memory_signature(entry))
        case _:
            return read_signature(entry.attributes)


def _entry_name(op: Operation) -> str | None:
    if isinstance(op, FuncOp) and op.sym_visibility is None and not op.is_primitive:
        return op.sym_name.data
    if SEGMENT_MARK in op.attributes or SEGMENT in op.attributes or TURN in op.attributes:
        return None
    if isinstance(op, GraphOp) or (isinstance(op, func.FuncOp) and INPUTS in op.attributes):
        return op.sym_name.data
    if isinstance(op, llvm.FuncOp) and op.sym_name.data in (GRAPH, ENTRY) and INPUTS in op.attributes:
        return op.sym_name.data  # the one that the entry point of a module of the llvm dialect runs
    return None

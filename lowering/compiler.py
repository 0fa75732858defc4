"""The compiler driver: a Relay module in, object code and constants out.

Kernels are lowered one at a time, each in a module of its own, and handed to the code generator as soon as they are
ready: LLVM compiles one in another process while the next is being lowered here.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from xdsl.context import Context
from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from ..dialects.relay.attributes import attribute_to_array
from ..dialects.relay.base import flatten_types
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.dtypes import dtype_name, numpy_dtype
from ..dialects.tir.core import PrimFuncOp
from ..transforms.infra import Sequential
from .abi import CONSTANTS_TABLE, POOL, CompiledGraph, TensorSpec
from .entry.add_entry_point import GRAPH
from .graph_to_loops.convert_main_to_loops import INPUTS, OUTPUTS
from .llvm_ir.module import emit_llvm_ir
from .loops_to_llvm.convert_loops_to_llvm import ARENA_BYTES
from .loops_to_llvm.symbols import CONSTANT_TYPES, CONSTANT_VALUES
from .machine.codegen import CodegenPool
from .machine.target import Target
from .phases import PHASES, passes_between
from .threads.pool import compile_pool, pool_source

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

MAIN = "main"
PhaseListener: TypeAlias = Callable[[str, ModuleOp], None]
"""Called after each phase with its name and the module."""


@contextmanager
def rare_garbage_collection() -> Generator[None]:
    """Collect garbage seldom meanwhile: a compilation makes many objects that live long, and few circles."""
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def run_passes(passes: Sequence[ModulePass], module: ModuleOp) -> None:
    """Run passes on `module`, in place, by the rules of the current `PassContext`."""
    Sequential(list(passes)).apply(Context(), module)


def lower(
    module: ModuleOp, target: Target, end: str, start: str = "import", listener: PhaseListener | None = None
) -> None:
    """Take `module`, which is at phase `start`, to phase `end`, in place.

    Raises:
        Diagnostic: something in the module cannot be lowered.
    """
    for phase, passes in passes_between(start, end, target):
        run_passes(passes, module)
        if listener is not None:
            listener(phase, module)


def compile_graph(
    module: ModuleOp, target: Target, *, start: str = "import", opt_level: int = 3, jobs: int | None = None
) -> CompiledGraph:
    """Compile a module that is at phase `start` (which it no longer is afterwards) to object code.

    `opt_level` is LLVM's; Relay's is the current `PassContext`'s. `jobs` processes generate code: as many as there are
    processors, unless given.

    Raises:
        Diagnostic: something in the module cannot be lowered, or a constant's data is missing.
    """
    position = PHASES.index(start)
    with rare_garbage_collection(), CodegenPool(target, jobs=jobs, opt_level=opt_level) as pool:
        names: list[str] = []
        pool.submit(POOL, pool_source(target), compile_pool)
        if position < PHASES.index("tir"):
            lower(module, target, "tir", start)
            start = "tir"
        if PHASES.index(start) < PHASES.index("loops"):
            for prim_func in [f for f in module.ops if isinstance(f, PrimFuncOp)]:
                _compile_kernel(module, prim_func, target, start, pool)
                names.append(prim_func.sym_name.data)
        if PHASES.index(start) < PHASES.index("loops"):
            lower(module, target, "loops", "schedule")
            start = "loops"
        if PHASES.index(start) < PHASES.index("llvm"):
            lower(module, target, "llvm", start)
        pool.submit(MAIN, emit_llvm_ir(module))
        signature = _signature(module)
        constants = _constants(module)
        objects = tuple(pool.result(name) for name in [*names, MAIN, POOL])
    inputs, outputs, arena = signature
    return CompiledGraph(objects, constants, inputs, outputs, arena, tuple(names), target.platform())


def _compile_kernel(module: ModuleOp, prim_func: PrimFuncOp, target: Target, start: str, pool: CodegenPool) -> None:
    """Lower one kernel to LLVM IR and submit it; a declaration takes its place in `module`."""
    marker = prim_func.next_op
    prim_func.detach()
    kernel = ModuleOp([prim_func])
    name = prim_func.sym_name.data
    lower(kernel, target, "loops", start)
    lowered = next(f for f in kernel.ops if isinstance(f, func.FuncOp) and f.sym_name.data == name)
    declaration = func.FuncOp.external(name, lowered.function_type.inputs.data, [])
    declaration.attributes |= lowered.attributes
    if marker is None:
        module.body.block.add_op(declaration)
    else:
        module.body.block.insert_op_before(declaration, marker)
    lower(kernel, target, "llvm", "loops")
    pool.submit(name, emit_llvm_ir(kernel))


def entry_of(module: ModuleOp) -> llvm.FuncOp:
    """The function of an `llvm` module that the entry point runs.

    Raises:
        Diagnostic: there is none.
    """
    mains = [f for f in module.ops if isinstance(f, llvm.FuncOp) and INPUTS in f.attributes]
    if not mains:
        raise Diagnostic("there is no function to run: none carries the signature of a graph (weft.inputs)")
    return next((f for f in mains if f.sym_name.data == GRAPH), mains[0])


def _signature(module: ModuleOp) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...], int]:
    """Inputs, outputs, and bytes of the arena, from the attributes of the graph's function."""
    main = entry_of(module)
    inputs, outputs = read_signature(main.attributes)
    arena = main.attributes.get(ARENA_BYTES)
    if not isinstance(arena, IntegerAttr):
        raise Diagnostic.at(main, f"it does not say how many bytes of memory it works in ({ARENA_BYTES})")
    return inputs, outputs, arena.value.data


def read_signature(attributes: Mapping[str, Attribute]) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """The inputs and outputs that `graph_signature` has described."""
    specs: list[tuple[TensorSpec, ...]] = []
    for key in (INPUTS, OUTPUTS):
        entries = attributes[key]
        assert isa(entries, ArrayAttr[Attribute])
        specs.append(tuple(_spec(entry) for entry in entries))
    return specs[0], specs[1]


def _spec(entry: Attribute) -> TensorSpec:
    assert isinstance(entry, DictionaryAttr)
    name = entry.data["name"]
    assert isinstance(name, StringAttr)
    type = flatten_types([entry.data["type"]])[0]
    return TensorSpec(name.data, dtype_name(type.element_type), tuple(type.get_shape()))


def _constants(module: ModuleOp) -> tuple[NDArray, ...]:
    """The constants' data, by place in the constants' table."""
    for op in module.ops:
        if isinstance(op, llvm.GlobalOp) and op.sym_name.data == CONSTANTS_TABLE:
            values, types = op.attributes.get(CONSTANT_VALUES), op.attributes.get(CONSTANT_TYPES)
            if (
                not isa(values, ArrayAttr[Attribute])
                or not isa(types, ArrayAttr[Attribute])
                or len(values) != len(types)
            ):
                raise Diagnostic.at(op, f"it does not say what the constants are ({CONSTANT_VALUES}, {CONSTANT_TYPES})")
            return tuple(_data(op, value, type) for value, type in zip(values, types, strict=True))
    return ()


def _data(op: Operation, value: Attribute, type: Attribute) -> NDArray:
    described = flatten_types([type])[0]
    array = attribute_to_array(value, described)
    if array is None:
        raise Diagnostic.at(
            op, f"the data of {value} was not loaded", hint="keep the .weights.npz file beside the .mlir file"
        )
    if array.shape != described.get_shape() or array.dtype != numpy_dtype(described.element_type):
        raise Diagnostic.at(op, f"the weights hold {array.dtype}{list(array.shape)} for {value}, which is {described}")
    return array

"""What the graph's own function says, once it is in the llvm dialect, and the constants that the code reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute

from ..dialects.relay.attributes import Resource, ResourceAttr
from ..dialects.relay.core import ConstantOp
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.hints import isa
from .abi import CONSTANTS_TABLE, ENTRY, INPUTS, Site, TensorSpec
from .check_sites import read_checks
from .constant_data import constant_data
from .entry.add_entry_point import GRAPH
from .graph_to_memory.signature import read_signature, read_sizes
from .loops_to_llvm.convert_loops_to_llvm import ARENA_BYTES
from .loops_to_llvm.symbols import CONSTANT_TYPES, CONSTANT_VALUES
from .sizes import Size

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]


@dataclass(frozen=True)
class GraphFacts:
    """What whoever loads the code of a graph has to know of it."""

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

    @classmethod
    def of(cls, module: ModuleOp) -> GraphFacts:
        """The facts of a module of phase `llvm`.

        Raises:
            Diagnostic: there is no function of a graph in it, or one that does not say all.
        """
        main = entry_of(module)
        inputs, outputs = read_signature(main.attributes)
        arena = main.attributes.get(ARENA_BYTES)
        if not isinstance(arena, IntegerAttr):
            raise Diagnostic.at(main, f"it does not say how many bytes of memory it works in ({ARENA_BYTES})")
        constants = _constants(module)
        checks, sizes = read_checks(main.attributes), read_sizes(main.attributes)
        return cls(inputs, outputs, arena.value.data, constants, *checks, *sizes)


def entry_of(module: ModuleOp) -> llvm.FuncOp:
    """The function of an `llvm` module that the entry point runs.

    Raises:
        Diagnostic: there is none.
    """
    mains = [f for f in module.ops if isinstance(f, llvm.FuncOp) and INPUTS in f.attributes]
    if not mains:
        raise Diagnostic("there is no function to run: none carries the signature of a graph (weft.inputs)")
    return next((f for f in mains if f.sym_name.data in (GRAPH, ENTRY)), mains[0])


def large_constants(module: ModuleOp) -> Iterator[Resource]:
    """The data of a graph's constants that does not stand in the text."""
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

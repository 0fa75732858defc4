"""Weights in the order in which they are read: the postprocessor `RewriteLayout`."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import SSAValue

from ..dialects.support.diagnostics import UsageError
from ..dialects.support.dtypes import dtype_name
from ..dialects.support.hints import isa
from ..dialects.te.expr import Var
from ..dialects.tir.affine import substitute
from ..dialects.tir.analyzer.index_map import IndexMap
from ..dialects.tir.annotation_keys import LAYOUT_FREE_BUFFERS
from ..dialects.tir.buffers import memref_of, shape_of
from ..dialects.tir.core import BlockOp, PrimFuncOp, enclosing_loops
from ..dialects.tir.nodes.affine_expressions import expression
from ..dialects.tir.nodes.buffers import decl_buffer
from ..dialects.tir.nodes.statements import Evaluate, For
from ..dialects.tir.symbols import is_symbol
from ..transforms.tir.analysis.block_scopes import buffers_of
from ..transforms.tir.analysis.suggest_index_map import suggest_index_map
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import handle_of_block, op_of
from .postprocs import functions_of
from .rule import Postproc

PREPROCESSED = "meta_schedule.layout_rewrite_preproc"
"""The annotation of a block that only lays such a parameter out anew: it can be done before the function is called."""


class RewriteLayout(Postproc):
    """Copies each parameter of which a function says that its layout is free (`layout_free_buffers`) into that in which
    the loops around its reader touch its elements one after the other. Counterpart of TVM's postprocessor of this name.

    The copy is a block of its own with the annotation `meta_schedule.layout_rewrite_preproc`. Where the parameter is
    copied already, as `cache_read` does, these copies are laid out so, too. A parameter whose reader touches its
    elements in no order that a layout has stays as it is.
    """

    def apply(self, sch: Schedule) -> bool:
        """True; the copies are made with `cache_read` and `transform_layout`."""
        for func in functions_of(sch):
            for number in _numbers(func):
                _rewrite(sch, func, func.region.block.args[number])
        return True


def _numbers(func: PrimFuncOp) -> list[int]:
    """The numbers of the parameters whose layout is free.

    Raises:
        UsageError: one is no buffer's.
    """
    said = func.attributes.get(LAYOUT_FREE_BUFFERS)
    found = [each.value.data for each in said] if isa(said, ArrayAttr[IntegerAttr]) else []
    for number in found:
        if not 0 <= number < len(func.region.block.args) or is_symbol(func.region.block.args[number]):
            raise UsageError(f"{LAYOUT_FREE_BUFFERS}: @{func.sym_name.data} has no buffer of number {number}")
    return found


def _rewrite(sch: Schedule, func: PrimFuncOp, parameter: SSAValue) -> None:
    copies = _copies(func, parameter)
    buffer = copies[-1].writes[0] if copies else parameter
    reader = next((op for op in reversed(list(func.walk())) if isinstance(op, BlockOp) and buffer in op.reads), None)
    index_map = None if reader is None else _suggested(reader, buffer)
    if reader is None or index_map is None:
        return
    blocks = [handle_of_block(sch, op) for op in (*copies, reader)]
    copy = sch.cache_read(blocks[0], _number(sch, blocks[0], parameter), "global", [blocks[0]])
    sch.annotate(copy, PREPROCESSED, True)
    for writer, block in zip([copy, *blocks[:-1]], blocks, strict=True):
        (written,) = buffers_of(_block(sch, writer), "write")
        sch.transform_layout(block, ("read", _number(sch, block, written)), index_map)


def _number(sch: Schedule, block: BlockRV, buffer: SSAValue) -> int:
    """The number of a buffer among those that a block reads."""
    return buffers_of(_block(sch, block), "read").index(buffer)


def _block(sch: Schedule, block: BlockRV) -> BlockOp:
    op = op_of(sch, block)
    assert isinstance(op, BlockOp)
    return op


def _copies(func: PrimFuncOp, buffer: SSAValue) -> list[BlockOp]:
    """The blocks that copy the buffer, and its copy, and so on."""
    found: list[BlockOp] = []
    for op in func.walk():
        if isinstance(op, BlockOp) and op.init is None and list(op.reads) == [buffer] and len(op.writes) == 1:
            found.append(op)
            buffer = op.writes[0]
    return found


def _suggested(block: BlockOp, buffer: SSAValue) -> IndexMap | None:
    """The layout in which the loops around a block touch the elements of a buffer in order, if there is one."""
    maps = [access.map for access in block.accesses() if access.buffer is buffer and not access.is_write]
    shape = [extent for extent in shape_of(buffer) if isinstance(extent, int)]
    loops = enclosing_loops(block)
    sizes = [loop.size for loop in loops if isinstance(loop.size, int)]
    known = len(shape) == len(shape_of(buffer)) and len(sizes) == len(loops)
    if not maps or (place := maps[-1]) is None or not known or place.num_symbols + block.bindings.data.num_symbols:
        return None
    variables: dict[SSAValue, Var] = {loop.var: Var(loop.var.name_hint or "i") for loop in loops}
    dims = [variables[value] for value in block.loop_vars]
    indices = [expression(substitute(each, block.bindings.data.results), dims, {}) for each in place.results]
    declared = decl_buffer(shape, dtype_name(memref_of(buffer).element_type))
    nest = [
        For(variables[loop.var], loop.start, size, "serial", Evaluate(0))
        for loop, size in zip(loops, sizes, strict=True)
    ]
    return suggest_index_map(declared, indices, nest)

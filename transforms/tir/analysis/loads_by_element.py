"""Which loads of a block take one and the same element."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import linear, substitute
from ....dialects.tir.core import BlockOp
from ....dialects.tir.symbols import dimension
from .strides import iterator_ranges


def loads_by_element(reader: BlockOp, buffer: SSAValue) -> list[list[memref.LoadOp]]:
    """The loads of `buffer` in `reader`, which does not write it, those of one element together, in program order: what
    the first gives, all others of its group may take. Loads in a branch are with those of the same branch only."""
    ranges = iterator_ranges(reader)
    values: list[AffineExpr] = [AffineConstantExpr(0) if n == 1 else dimension(i) for i, n in enumerate(reader.sizes)]
    groups: list[list[memref.LoadOp]] = []
    found: dict[tuple[object, ...], list[memref.LoadOp]] = {}
    for access in reader.accesses():
        if access.buffer is not buffer or not isinstance(access.op, memref.LoadOp):
            continue
        group: list[memref.LoadOp] = []
        if access.map is not None:
            element = tuple(linear(substitute(index, values), ranges).to_expr() for index in access.map.results)
            group = found.setdefault((access.op.parent, *element), group)
        if not group:
            groups.append(group)
        group.append(access.op)
    return groups

"""Functions that fill tensors (`te.extern`), put into the function of a computation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects import te
from ...dialects.te.external import External
from ...dialects.tir.blocks import BlockOp, blocks_under
from ...dialects.tir.loop_iterators import STATEMENT
from ...dialects.tir.symbols import affine_map, replaced


def emit_external(
    external: External,
    buffers: Sequence[SSAValue],
    symbols: Mapping[te.Var, BlockArgument],
    into: Block,
    unique: Callable[[str], str],
) -> dict[str, BlockOp]:
    """Append what the function does with `buffers`, its inputs and results, where its symbols are `symbols`; gives its
    blocks, by what the function calls them."""
    function = external.function.clone()
    arguments = list(function.region.block.args)
    given = [*buffers, *(symbols[symbol] for symbol in external.symbols)]
    numbers = {
        old.index: new.index for old, new in zip(arguments, given, strict=True) if isinstance(new, BlockArgument)
    }
    if external.symbols:
        for op in function.region.walk():
            for name, attribute in list(op.properties.items()):
                op.properties[name] = _renumbered(attribute, numbers)
    for old, new in zip(arguments, given, strict=True):
        old.replace_all_uses_with(new)
    _, _, name = external.shapes[0]
    blocks: dict[str, BlockOp] = {}
    for block in blocks_under(function):
        own = block.block_name
        blocks[own] = block
        block.properties["sym_name"] = StringAttr(unique(name.removesuffix(".v0") if own == STATEMENT else own))
    for op in list(function.region.block.ops):
        op.detach()
        into.add_op(op)
    return blocks


def _renumbered(attribute: Attribute, numbers: Mapping[int, int]) -> Attribute:
    """The maps of an attribute with other numbers for symbols."""
    if isinstance(attribute, AffineMapAttr) and (count := attribute.data.num_symbols):
        map = attribute.data
        dims = [AffineExpr.dimension(number) for number in range(map.num_dims)]
        new = [AffineExpr.symbol(numbers.get(number, number)) for number in range(count)]
        exprs = tuple(replaced(expr, dims, new) for expr in map.results)
        return AffineMapAttr(affine_map(map.num_dims, exprs))
    if type(attribute) is ArrayAttr:
        return ArrayAttr([_renumbered(each, numbers) for each in attribute])
    return attribute

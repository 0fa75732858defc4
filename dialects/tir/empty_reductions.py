"""Reductions of no steps: they give their starting value, what their `init` does.

Where sizes are known, a reduction that has no steps becomes its `init` (`reduce_nothing`). Where they are not, and the
`init` cannot stand before the steps for all sizes, since a loop or a condition is of elements and steps together, what
begins without steps stands there beside it (`begin_without_steps`).
"""

from __future__ import annotations

from itertools import pairwise

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from .affine import substitute
from .blocks import BlockOp, IterKind, blocks_under
from .loops import ForOp, enclosing_loops
from .symbols import as_affine, dimension


def reduce_nothing(block: BlockOp) -> None:
    """A reduction of no steps gives its starting value: let `block` do its `init` only, in place of its steps if it is
    alone in their loops, else before them."""
    reduce = [kind == IterKind.REDUCE for kind in block.kinds]
    if any(extent == 0 for extent, step in zip(block.sizes, reduce, strict=True) if not step):
        return
    bindings = block.bindings.data.results
    moving = _moving(block)
    loops = [loop for loop in enclosing_loops(block) if loop.var in moving]
    elements = {block.loop_vars[d] for b, step in zip(bindings, reduce, strict=True) if not step for d in b.used_dims()}
    if elements & moving or (loops and blocks_under(loops[0]) != [block]):
        _begin_before(block, loops[0], moving)
    else:
        for loop in loops:
            loop.size = 1
        kept = [c for c in block.conditions if not {block.loop_vars[d] for d in c.used_dims()} & moving]
        bound = [AffineConstantExpr(0) if step else b for b, step in zip(bindings, reduce, strict=True)]
        block.set_bindings(bound, list(block.loop_vars))
        block.set_predicate(kept)
    _only_begin(block)


def begin_without_steps(block: BlockOp) -> None:
    """Let what `block` does in its `init` be done before its steps where it has none of these, as sizes say, by a block
    of its own for each number of steps that depends on sizes. `block` stays as it is."""
    moving = _moving(block)
    steps = next(loop for loop in enclosing_loops(block) if loop.var in moving)
    assert block.parent is not None
    for extent, kind in zip(block.sizes, block.kinds, strict=True):
        if kind == IterKind.REDUCE and not isinstance(extent, int):
            begun = block.clone()
            begun.location = block.location
            block.parent.insert_op_before(begun, block)
            _begin_before(begun, steps, moving)
            begun.set_predicate([*begun.conditions, as_affine(extent) * -1])
            _only_begin(begun)


def _moving(block: BlockOp) -> set[SSAValue]:
    """The variables of the loops over the steps of a reduction."""
    bindings = zip(block.bindings.data.results, block.kinds, strict=True)
    return {block.loop_vars[d] for b, kind in bindings if kind == IterKind.REDUCE for d in b.used_dims()}


def _only_begin(block: BlockOp) -> None:
    """Let a reduction do its `init`, and nothing else."""
    reduce = [kind == IterKind.REDUCE for kind in block.kinds]
    block.sizes = [1 if step else extent for extent, step in zip(block.sizes, reduce, strict=True)]
    block.properties["iter_kinds"] = ArrayAttr([StringAttr(IterKind.SPATIAL.value)] * len(reduce))
    init = block.init
    assert init is not None
    block.detach_region(init)
    old, new = block.body.block, init.block
    block.body.detach_block(old)
    init.detach_block(new)
    block.body.add_block(new)
    old.erase(safe_erase=False)
    block.update_accesses()


def _begin_before(block: BlockOp, steps: ForOp, moving: set[SSAValue]) -> None:
    """Take a block without steps out of `steps`, the outermost of their loops, and put it before it, in loops of its
    own: those within `steps` that lead to other elements, and one for each iterator that is bound to one of the
    `moving` variables of the steps, too."""
    values = list(block.loop_vars)
    own: dict[SSAValue, ForOp] = {}
    for loop in enclosing_loops(block):
        if loop.var not in moving and steps.is_ancestor(loop) and loop.var in values:
            own[loop.var] = copy = ForOp(loop.size, name_hint=loop.var.name_hint)
            copy.properties.update(loop.properties)
    kept = [c for c in block.conditions if not {values[d] for d in c.used_dims()} & moving]
    bound: list[AffineExpr] = []
    for binding, kind, extent in zip(block.bindings.data.results, block.kinds, block.sizes, strict=True):
        if kind == IterKind.REDUCE:
            binding = AffineConstantExpr(0)
        elif {values[d] for d in binding.used_dims()} & moving:
            loop = ForOp(extent, name_hint=block.iters[len(bound)].name_hint)
            own[loop.var] = loop
            values.append(loop.var)
            binding = dimension(len(values) - 1)
        bound.append(binding)
    loops = list(own.values())
    for outer, inner in pairwise(loops):
        outer.body.block.add_op(inner)
    place, emptied = steps.parent, block.parent_op()
    assert place is not None
    block.detach()
    if loops:
        loops[-1].body.block.add_op(block)
    place.insert_op_before(loops[0] if loops else block, steps)
    used = sorted({d for each in (*bound, *kept) for d in each.used_dims()})
    numbered = [dimension(used.index(d)) if d in used else dimension(d) for d in range(len(values))]
    block.set_predicate([])
    around = [own[values[d]].var if values[d] in own else values[d] for d in used]  # none of the steps' own, not there
    block.set_bindings([substitute(each, numbered) for each in bound], around)
    block.set_predicate([substitute(each, numbered) for each in kept])
    while isinstance(emptied, ForOp) and emptied.body.block.is_empty:
        outside = emptied.parent_op()
        emptied.detach()
        emptied.erase()
        emptied = outside

"""References that stay in sight, as the values that they hold: how `partial-evaluate` follows them.

    %r = relay.ref_create %x                              %y = relay.exp %x
    %a = relay.ref_read %r
    %y = relay.exp %a                             ->      relay.return %y
    relay.ref_write %r, %y
    %b = relay.ref_read %r
    relay.return %b

In sight is a reference that nothing but reads and writes in its own block uses: what it holds is known at each.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from ...dialects.relay.control import RefCreateOp, RefReadOp, RefWriteOp
from ..infra.walk import erase, walk


def follow_references(module: ModuleOp) -> bool:
    """Put what references in sight hold in the place of what is read of them; return whether there were any."""
    made = [op for op in walk(module) if isinstance(op, RefCreateOp) and _is_in_sight(op)]
    blocks = {block: None for op in made if (block := op.parent) is not None}
    for block in blocks:
        _follow(block, {op.result for op in made if op.parent is block})
    return bool(made)


def _is_in_sight(made: RefCreateOp) -> bool:
    return all(
        isinstance(user := use.operation, RefReadOp | RefWriteOp) and use.index == 0 and user.parent is made.parent
        for use in made.result.uses
    )


def _follow(block: Block, references: AbstractSet[SSAValue]) -> None:
    """Take references of a block away."""
    held: dict[SSAValue, SSAValue] = {}
    for op in list(block.ops):
        match op:
            case RefCreateOp() if op.result in references:
                held[op.result] = op.value
            case RefReadOp() if op.ref in references:
                op.result.replace_all_uses_with(held[op.ref])
                erase(op)
            case RefWriteOp() if op.ref in references:
                held[op.ref] = op.value
                erase(op)
            case _:
                pass
    for reference in held:
        made = reference.owner
        assert isinstance(made, RefCreateOp)
        erase(made)

"""The tree of dominators against its definition: a block dominates another if no way avoids it."""

import random
from itertools import pairwise

from xdsl.dialects.test import TestTermOp as Branches
from xdsl.ir import Block, Region

from weft.dialects.support.verifier import dominator_tree


def random_region(chooser: random.Random, size: int) -> Region:
    blocks = [Block() for _ in range(size)]
    for block in blocks:
        block.add_op(Branches(successors=chooser.choices(blocks[1:], k=chooser.randrange(3)) if size > 1 else []))
    return Region(blocks)


def reached(entry: Block, without: Block | None) -> set[int]:
    """The blocks that some way leads to which avoids one."""
    found: set[int] = set()
    pending = [entry] if entry is not without else []
    while pending:
        block = pending.pop()
        if id(block) in found:
            continue
        found.add(id(block))
        last = block.last_op
        pending.extend(s for s in (last.successors if last is not None else ()) if s is not without)
    return found


def test_a_block_dominates_what_cannot_be_reached_without_it() -> None:
    chooser = random.Random(7)
    for _ in range(120):
        region = random_region(chooser, chooser.randrange(1, 9))
        blocks = list(region.blocks)
        tree = dominator_tree(region)
        everywhere = reached(blocks[0], None)
        assert set(tree) == everywhere
        for block in blocks:
            if id(block) not in everywhere:
                continue
            avoided = reached(blocks[0], block)
            for other in everywhere:
                low, high = tree[id(block)]
                assert (low <= tree[other][0] <= high) == (other not in avoided)


def test_a_region_without_blocks_has_no_tree() -> None:
    assert dominator_tree(Region()) == {}


def test_a_long_chain_of_blocks_is_no_depth_of_recursion() -> None:
    blocks = [Block() for _ in range(5000)]
    for block, after in pairwise(blocks):
        block.add_op(Branches(successors=[after]))
    tree = dominator_tree(Region(blocks))
    assert tree[id(blocks[0])] == (0, 4999) and tree[id(blocks[-1])] == (4999, 4999)

"""The tree of dominators against its definition: a block dominates another if no way avoids it."""

import random
from itertools import pairwise

from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.test import TestOp as Defines
from xdsl.dialects.test import TestTermOp as Branches
from xdsl.ir import Block, Region, SSAValue

from weft.dialects.support.dominance import dominator_tree
from weft.dialects.support.verifier import find_failures, verify


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


def test_a_value_may_be_used_where_its_block_dominates_and_where_nothing_leads() -> None:
    chooser = random.Random(11)
    refused = 0
    for _ in range(60):
        region = random_region(chooser, chooser.randrange(2, 8))
        blocks = list(region.blocks)
        defining = [Defines(result_types=[i32]) for _ in blocks]
        everywhere = reached(blocks[0], None)
        wrong: list[Defines] = []
        for block, definition in zip(blocks, defining, strict=True):
            user = chooser.choice(defining)
            source = blocks[defining.index(user)]
            use = Defines(operands=[user.res[0]])
            last = block.last_op
            assert last is not None
            block.insert_ops_before([definition, use], last)
            is_met = source is block or id(block) not in everywhere or id(block) not in reached(blocks[0], source)
            wrong += [] if is_met else [use]
        found = find_failures(ModuleOp([Defines(regions=[region])]))
        assert len(found) == len(wrong)
        assert all("not defined on every way" in each.message for each in found)
        refused += len(wrong)
    assert refused > 20


def test_what_stands_in_regions_sees_what_is_before_them_and_leaves_nothing_behind() -> None:
    def uses(value: SSAValue) -> Defines:
        return Defines(operands=[value])

    before, inner, after = (Defines(result_types=[i32]) for _ in range(3))
    body = Block([inner, uses(before.res[0]), uses(inner.res[0]), end := Branches()])
    around = Defines(result_types=[i32], regions=[Region(body)])
    verify(ModuleOp([before, around, after, uses(around.res[0])]))
    for value in (after.res[0], around.res[0]):
        body.insert_op_before(wrong := uses(value), end)
        (found,) = find_failures(_module_of(around))
        assert "not defined on every way" in found.message
        wrong.detach()
    assert around.parent is not None
    around.parent.add_op(uses(inner.res[0]))
    (found,) = find_failures(_module_of(around))
    assert "not defined on every way" in found.message


def _module_of(op: Defines) -> ModuleOp:
    module = op.parent_op()
    assert isinstance(module, ModuleOp)
    return module

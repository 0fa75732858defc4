"""`decompose_reduction` of a block of blocks: what it begins with, in the first step alone, becomes a block before.

In such a block the statements that TVM calls its init are those it begins with, whose blocks run only in the first
iteration of loops around.
"""

from __future__ import annotations

from itertools import pairwise

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue

from ....dialects.tir.affine import access_map, linear
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    OuterBlockOp,
    accessing_blocks,
    blocks_under,
    enclosing_loops,
)
from ....dialects.tir.legality.bounds import buffer_name
from ..analysis.block_scopes import scope_of
from .checks import check_live
from .copies import empty_loop, free_block_name
from .errors import ScheduleError
from .rebind import ValueExpr, assign, rebind


def _stepping(block: BlockOp) -> set[ForOp]:
    """The loops of which `block` runs in the first iteration only, and is not bound to."""
    bound = {d for binding in block.bindings.data.results for d in binding.used_dims()}
    found: set[ForOp] = set()
    for loop in enclosing_loops(block):
        if loop.var not in block.loop_vars:
            continue
        number = list(block.loop_vars).index(loop.var)
        if number not in bound and any(_is_first(block, number, loop, c) for c in range(len(block.conditions))):
            found.add(loop)
    return found


def _is_first(block: BlockOp, number: int, loop: ForOp, condition: int) -> bool:
    """Whether a condition says that the variable of `loop`, dimension `number`, is not greater than where it starts."""
    expr = block.conditions[condition]
    form = linear(expr)
    return expr.used_dims() == {number} and list(form.terms.values()) == [-1] and form.constant == loop.start


def _writes_elsewhere(block: BlockOp, loop: ForOp) -> bool:
    """Whether `block` surely writes other elements in each iteration of `loop`."""
    if loop.var not in block.loop_vars:
        return False
    number = list(block.loop_vars).index(loop.var)
    bound = {i for i, binding in enumerate(block.bindings.data.results) if number in binding.used_dims()}
    for op in block.walk():
        if isinstance(op, memref.StoreOp):
            map = access_map(op, block.iters)
            if map is None or bound.isdisjoint(d for each in map.results for d in each.used_dims()):
                return False
    return True


def check_decompose_outer(outer: OuterBlockOp, loop: ForOp) -> tuple[list[Operation], set[ForOp]]:
    """Whether what `outer` begins with can move before `loop`; gives its statements, and the loops in the first
    iteration of which they run.

    Raises:
        ScheduleError: there are no such statements, `loop` is not around it in its scope, one of those loops lies
            outside of `loop`, or its iterations are shared by threads; the statements write the same elements again in
            each iteration of another loop; or what they touch is touched by other blocks in `loop`.
    """
    check_live(outer, loop)
    name = f"block @{outer.block_name}"
    around = [each for each in enclosing_loops(outer) if each not in enclosing_loops(scope_of(outer))]
    if loop not in around:
        raise ScheduleError.at(loop, f"the loop is not around {name}")
    begins: list[Operation] = []
    steps: set[ForOp] = set()
    for op in outer.body.block.ops:
        if isinstance(op, AllocBufferOp):
            continue
        each = [_stepping(block) & set(around) for block in blocks_under(op)]
        if not each or not each[0] or any(other != each[0] for other in each) or (steps and each[0] != steps):
            break
        begins.append(op)
        steps = each[0]
    if not begins or begins[-1] is outer.body.block.last_op:
        raise ScheduleError.at(outer, f"{name} has no init to take apart")
    for each in steps:
        if around.index(each) < around.index(loop):
            raise ScheduleError.at(each, f"a reduction loop of @{outer.block_name} lies outside the loop")
        if each.for_kind == ForKind.THREAD_BINDING:
            raise ScheduleError.at(each, f"threads share the reduction of {name}, init included")
    inside = {block for op in begins for block in blocks_under(op)}
    for each in around[around.index(loop) :]:
        if each not in steps and each.size != 1:
            for block in inside:
                if not _writes_elsewhere(block, each):
                    raise ScheduleError.at(
                        each, f"the init of {name} begins anew in each iteration of the loop, with the same elements"
                    )
    for buffer in dict.fromkeys(v for block in inside for v in (*block.reads, *block.writes)):
        if isinstance(buffer.owner, AllocBufferOp) and outer.is_ancestor(buffer.owner):
            raise ScheduleError.at(outer, f"{buffer_name(buffer)} is allocated in {name}, which its init would leave")
        for other in accessing_blocks(buffer):
            if loop.is_ancestor(other) and not outer.is_ancestor(other):
                raise ScheduleError.at(
                    other, f"block @{other.block_name} touches {buffer_name(buffer)} in the loop, too"
                )
            written = buffer in other.writes and any(buffer in block.reads for block in inside)
            if loop.is_ancestor(other) and written and other not in inside:
                raise ScheduleError.at(other, f"block @{other.block_name} writes what the init of {name} reads")
    return begins, steps


def decompose_outer(outer: OuterBlockOp, loop: ForOp) -> OuterBlockOp:
    """Move what `outer` does in the first step of its reduction into a block of its own before `loop`. Returns that.

    It stands under copies of those loops from `loop` inwards that are no steps of the reduction. Counterpart of TVM's
    `decompose_reduction`.

    Raises:
        ScheduleError: as `check_decompose_outer` says.
    """
    begins, steps = check_decompose_outer(outer, loop)
    loops = enclosing_loops(outer)
    copied = [each for each in loops[loops.index(loop) :] if each not in steps]
    copies = [empty_loop(each) for each in copied]
    renamed: dict[SSAValue, ValueExpr] = {
        old.var: ValueExpr.of(new.var) for old, new in zip(copied, copies, strict=True)
    }
    init = OuterBlockOp(free_block_name(outer, f"{outer.block_name}_init"), attributes=dict(outer.attributes))
    chain: list[Operation] = [*copies, init]
    assert loop.parent is not None
    loop.parent.insert_op_before(chain[0], loop)
    for around, nested in pairwise(chain):
        assert isinstance(around, ForOp)
        around.body.block.add_op(nested)
    for op in begins:
        op.detach()
        init.body.block.add_op(op)
        for block in blocks_under(op):
            values = list(block.loop_vars)
            stepped = {values.index(each.var) for each in steps}
            kept = [condition for condition in block.conditions if not stepped & condition.used_dims()]
            assign(block, block.bindings.data.results, kept, values)
            rebind(block, renamed)
    return init

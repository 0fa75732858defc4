"""`decompose_reduction`: what begins a reduction becomes a block of its own, before the steps.

Before -> after `decompose_reduction(sum, k)`:

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %k = 0 to 8 {
      tir.block @sum(%vi: spatial 4, %vk: reduce 8) = [%i, %k] reads(%x[%vi, %vk] : memref<4x8xf32>)
          writes(%y[%vi] : memref<4xf32>) {
        %0 = memref.load %y[%vi] : memref<4xf32>
        %1 = memref.load %x[%vi, %vk] : memref<4x8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%vi] : memref<4xf32>
      } init(%vi_1, %vk_1) {
        %3 = arith.constant 0.000000e+00 : f32
        memref.store %3, %y[%vi_1] : memref<4xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @sum_init(%vi: spatial 4) = [%i] reads() writes(%y[%vi] : memref<4xf32>) {
      %0 = arith.constant 0.000000e+00 : f32
      memref.store %0, %y[%vi] : memref<4xf32>
    }
    tir.for %k = 0 to 8 {
      tir.block @sum(%vi_1: spatial 4, %vk: reduce 8) = [%i, %k] reads(%x[%vi_1, %vk] : memref<4x8xf32>)
          writes(%y[%vi_1] : memref<4xf32>) {
        %1 = memref.load %y[%vi_1] : memref<4xf32>
        %2 = memref.load %x[%vi_1, %vk] : memref<4x8xf32>
        %3 = arith.addf %1, %2 : f32
        memref.store %3, %y[%vi_1] : memref<4xf32>
      }
    }
  }
}
```

Counterpart of TVM's `decompose_reduction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects.support.facts import while_unchanged
from ....dialects.tir.affine import dims_in, substitute
from ....dialects.tir.alignment import BUFFER_DIM_ALIGN
from ....dialects.tir.core import (
    BlockOp,
    ForKind,
    ForOp,
    IterKind,
    enclosing_loops,
)
from ....dialects.tir.legality.dependence import leads_apart
from .checks import check_live, check_sole_writer, tells
from .copies import empty_loop
from .errors import ScheduleError
from .rebind import assign

ANEW = "may reduce into one element in several iterations, each time anew"


MOST_IDLE = 4096
"""Iterations of loops to which a block binds nothing that are tried out."""


@while_unchanged
def check_decompose_reduction(block: BlockOp, loop: ForOp) -> None:
    """Whether the `init` of `block` can move before `loop`.

    Raises:
        ScheduleError: the block has no init, `loop` is not around it, threads share the reduction, a reduction loop
            lies outside `loop`, a loop or a condition within it concerns elements and steps together, or a loop
            neither; it may reduce an element anew in it; or another block writes what it reduces into.
    """
    check_live(block, loop)
    if block.init is None:
        raise ScheduleError.at(block, f"block @{block.block_name} has no init to take apart")
    loops = enclosing_loops(block)
    if loop not in loops:
        raise ScheduleError.at(loop, f"the loop is not around block @{block.block_name}")
    reduce_vars = {
        block.loop_vars[d]
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind == IterKind.REDUCE
        for d in dims_in(binding)
    }
    name = f"block @{block.block_name}"
    if shared := [each for each in loops if each.var in reduce_vars and each.for_kind == ForKind.THREAD_BINDING]:
        raise ScheduleError.at(shared[0], f"threads share the reduction of {name}, init included")
    if any(each.var in reduce_vars for each in loops[: loops.index(loop)]):
        raise ScheduleError.at(loop, f"a reduction loop of @{block.block_name} lies outside the loop")
    spatial_vars = {
        block.loop_vars[d]
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind != IterKind.REDUCE
        for d in dims_in(binding)
    }
    for each in loops[loops.index(loop) :]:
        if each.var in spatial_vars and each.var in reduce_vars:
            raise ScheduleError.at(each, f"{name} binds elements and steps of its reduction to this loop, together")
    idle = [each for each in loops[loops.index(loop) :] if each.var not in spatial_vars | reduce_vars]
    if idle and not _runs_once(block, idle):
        again = next((each for each in idle if each.size != 1), idle[0])
        raise ScheduleError.at(again, f"{name} binds nothing to this loop: it reduces anew in each iteration")
    for condition in block.conditions:
        used = {block.loop_vars[d] for d in dims_in(condition)}
        if used & spatial_vars and used & reduce_vars:
            raise ScheduleError.at(block, f"{name} has a predicate on elements and steps of its reduction, together")
    _check_begins_once(block, [each for each in loops[loops.index(loop) :] if each.var in spatial_vars])
    for buffer in block.writes:
        check_sole_writer(block, buffer)


def _runs_once(block: BlockOp, idle: Sequence[ForOp]) -> bool:
    """Whether the block's conditions leave one iteration of loops to which it binds nothing, as those of a loop of one
    iteration that is split."""
    sizes = [each.size for each in idle if isinstance(each.size, int)]
    if len(sizes) < len(idle) or prod(sizes) > MOST_IDLE:
        return False
    if 0 in sizes:
        return True
    places = {d: number for number, each in enumerate(idle) for d, v in enumerate(block.loop_vars) if v is each.var}
    conditions = [each for each in block.conditions if dims_in(each) & places.keys()]
    if any(dims_in(each) - places.keys() for each in conditions):
        return False

    def holds(steps: Sequence[int]) -> bool:
        values = [steps[places[d]] if d in places else 0 for d in range(len(block.loop_vars))]
        return all(each.eval(values, []) >= 0 for each in conditions)

    return sum(map(holds, product(*map(range, sizes)))) == 1


def _check_begins_once(block: BlockOp, inside: Sequence[ForOp]) -> None:
    """No two iterations of the loops `inside`, to which spatial iterators are bound, reduce into one element, as they
    do where each computes what the next one needs, too."""
    moving = {each.var for each in inside if each.size not in (0, 1)}
    numbers = {d for d, value in enumerate(block.loop_vars) if value in moving}
    values = [AffineExpr.dimension(d) if d in numbers else AffineExpr.constant(0) for d in range(len(block.loop_vars))]
    indices = [
        substitute(binding, values)
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind != IterKind.REDUCE and dims_in(binding) & numbers
    ]
    if indices and not leads_apart(block, indices, numbers):
        raise ScheduleError.at(inside[0], f"block @{block.block_name} {ANEW}")
    moved = {
        number
        for number, (kind, binding) in enumerate(zip(block.kinds, block.bindings.data.results, strict=True))
        if kind != IterKind.REDUCE and dims_in(binding) & numbers
    }
    for access in block.accesses():
        assert block.init is not None
        if access.is_write and block.init.is_ancestor(access.op) and not tells(block, access, moved):
            raise ScheduleError.at(inside[0], f"block @{block.block_name} {ANEW}")


def decompose_reduction(block: BlockOp, loop: ForOp) -> BlockOp:
    """Move the `init` of `block` into a block of its own, before `loop`. Returns that block.

    The new block stands under copies of those loops, from `loop` inwards, that its spatial iterators are bound to, and
    has the annotations of `block`; how what both write lies in memory is said by that one. Counterpart of TVM's
    `decompose_reduction`.

    Raises:
        ScheduleError: as `check_decompose_reduction` says.
    """
    check_decompose_reduction(block, loop)
    assert block.init is not None
    loops = enclosing_loops(block)
    loop_vars = list(block.loop_vars)
    reduce_vars: set[SSAValue] = set()
    spatial_vars: set[SSAValue] = set()
    for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True):
        used = {loop_vars[d] for d in dims_in(binding)}
        if kind == IterKind.REDUCE:
            reduce_vars |= used
        else:
            spatial_vars |= used
    copied = [each for each in loops[loops.index(loop) :] if each.var in spatial_vars]
    copies = [empty_loop(each) for each in copied]
    renamed: dict[SSAValue, SSAValue] = {old.var: new.var for old, new in zip(copied, copies, strict=True)}
    spatial = [i for i, kind in enumerate(block.kinds) if kind != IterKind.REDUCE]
    init_block = block.init.block
    body = Block(arg_types=[IndexType()] * len(spatial))
    mapping: dict[SSAValue, SSAValue] = {}
    for argument, i in zip(body.args, spatial, strict=True):
        argument.name_hint = block.iters[i].name_hint
        mapping[init_block.args[i]] = argument
    for op in init_block.ops:
        body.add_op(op.clone(mapping))
    init = BlockOp(
        f"{block.block_name}_init",
        [(IterKind.SPATIAL, block.sizes[i]) for i in spatial],
        AffineMap(0, 0, tuple(AffineExpr.constant(0) for _ in spatial)),
        [],
        Region(body),
        attributes={key: value for key, value in block.attributes.items() if key != BUFFER_DIM_ALIGN},
    )
    nest: Operation = init
    for each in reversed(copies):
        each.body.block.add_op(nest)
        nest = each
    assert loop.parent is not None
    loop.parent.insert_op_before(nest, loop)
    values = [renamed.get(v, v) for v in loop_vars]
    inside = {each.var for each in loops[loops.index(loop) :]} - spatial_vars
    kept = [c for c in block.conditions if not {loop_vars[d] for d in dims_in(c)} & (reduce_vars | inside)]
    assign(init, [block.bindings.data.results[i] for i in spatial], kept, values)
    init.partial_iters = frozenset(n for n, i in enumerate(spatial) if i in block.partial_iters)
    began = block.init
    block.detach_region(began)
    began.erase()
    block.update_accesses()
    return init

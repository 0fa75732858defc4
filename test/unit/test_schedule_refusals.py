"""Schedule primitives refuse what would change results, at its place and with a reason, and leave all as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from te_samples import batch_matmul, dense, softmax
from tir_run import prim_func
from xdsl.ir import Operation

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    PrimFuncOp,
    Scope,
    blocks_under,
    enclosing_loops,
)
from weft.tir import Schedule
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.schedule.cache_write import cache_write
from weft.transforms.tir.schedule.compute_at import compute_at
from weft.transforms.tir.schedule.decompose_reduction import decompose_reduction
from weft.transforms.tir.schedule.errors import ScheduleError
from weft.transforms.tir.schedule.fuse import fuse
from weft.transforms.tir.schedule.inline import compute_inline
from weft.transforms.tir.schedule.iters import fuse_buffer_dims, fuse_iters
from weft.transforms.tir.schedule.loops import bind_constant
from weft.transforms.tir.schedule.reorder import reorder
from weft.transforms.tir.schedule.set_kind import set_kind
from weft.transforms.tir.schedule.set_scope import set_scope
from weft.transforms.tir.schedule.split import split


def parsed(text: str) -> PrimFuncOp:
    """The function that `text` holds, verified."""
    module = parse_module(text, new_ir_context(), "f.mlir")
    module.verify()
    func = module.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


def block_of(func: PrimFuncOp, name: str) -> BlockOp:
    return next(block for block in blocks_under(func) if block.block_name == name)


def loops_of(func: PrimFuncOp, name: str) -> list[ForOp]:
    return enclosing_loops(block_of(func, name))


def matmul() -> PrimFuncOp:
    return prim_func(batch_matmul(2, 5, 12, 7))


def refused(action: Callable[[], object], func: PrimFuncOp, reason: str) -> None:
    """`action` raises a diagnostic that says `reason`, and leaves `func` as it was."""
    before = str(func)
    with pytest.raises(ScheduleError, match=reason) as raised:
        action()
    assert isinstance(raised.value, Diagnostic)
    assert str(func) == before


CHAIN = """
tir.prim_func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  %c = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %a = 0 to 2 {
    tir.for %b = 0 to 4 {
      tir.block @first(%v: spatial 8) = [%a * 4 + %b]
          reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
        %0 = memref.load %x[%v] : memref<8xf32>
        memref.store %0, %t[%v] : memref<8xf32>
      }
      tir.block @second(%v: spatial 8) = [%a * 4 + %b]
          reads(%t[%v floordiv 2] : memref<8xf32>) writes(%c[%v] : memref<8xf32>) {
        %c2 = arith.constant 2 : index
        %0 = arith.divui %v, %c2 : index
        %1 = memref.load %t[%0] : memref<8xf32>
        memref.store %1, %c[%v] : memref<8xf32>
      }
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @change(%v: spatial 8) = [%i] reads() writes(%x[%v] : memref<8xf32>) {
      %z = arith.constant 0.0 : f32
      memref.store %z, %x[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @third(%v: spatial 8) = [%i] reads(%c[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %c[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
"""


# loops


def test_loops_that_carry_a_value_from_block_to_block_keep_their_order() -> None:
    func = parsed(CHAIN)
    outer, inner = loops_of(func, "first")
    refused(lambda: reorder(inner, outer), func, "its order stays: .*@first writes elements of %t that block @second")


def test_an_opaque_iterators_loop_keeps_its_order() -> None:
    func = matmul()
    block = block_of(func, "matmul")
    block.properties["iter_kinds"] = type(block.iter_kinds)(
        [type(kind)("opaque") if n == 1 else kind for n, kind in enumerate(block.iter_kinds)]
    )
    loops = loops_of(func, "matmul")
    refused(lambda: reorder(loops[2], loops[1]), func, "is opaque: its order stays")


def test_a_parallel_loop_stays_outside() -> None:
    func = matmul()
    loops = loops_of(func, "matmul")
    set_kind(loops[0], ForKind.PARALLEL)
    refused(lambda: reorder(loops[1], loops[0]), func, "a parallel loop stays outside")


@pytest.mark.parametrize("kind", [ForKind.PARALLEL, ForKind.VECTORIZED])
def test_the_steps_of_a_reduction_do_not_run_at_the_same_time(kind: ForKind) -> None:
    func = matmul()
    refused(lambda: set_kind(loops_of(func, "matmul")[3], kind), func, "which is a reduction")


def test_a_parallel_loop_does_not_get_another_one_inside_or_around() -> None:
    func = matmul()
    loops = loops_of(func, "matmul")
    set_kind(loops[1], ForKind.PARALLEL)
    refused(lambda: set_kind(loops[0], ForKind.PARALLEL), func, "cannot stand in another one")
    refused(lambda: set_kind(loops[2], ForKind.PARALLEL), func, "cannot stand in another one")


def test_iterations_that_meet_do_not_run_at_the_same_time() -> None:
    func = parsed(CHAIN)
    refused(lambda: set_kind(loops_of(func, "first")[0], ForKind.PARALLEL), func, "@first writes elements of %t")


def test_a_loop_is_not_bound_to_a_thread_without_a_name() -> None:
    func = matmul()
    refused(lambda: set_kind(loops_of(func, "matmul")[0], ForKind.THREAD_BINDING), func, "names its thread")


def test_loops_of_two_kinds_are_not_fused() -> None:
    func = matmul()
    loops = loops_of(func, "matmul")
    set_kind(loops[0], ForKind.PARALLEL)
    refused(lambda: fuse(*loops[:2]), func, "is serial, not parallel")


def test_a_loop_without_iterations_is_not_fused() -> None:
    func = matmul()
    loops = loops_of(func, "matmul")
    loops[1].trip_count = 0
    refused(lambda: fuse(*loops[:2]), func, "has no iterations")


def test_annotated_loops_are_neither_split_nor_fused() -> None:
    func = parsed(CHAIN.replace("%i = 0 to 8 {", "%i = 0 to 8 annotations {pragma = 1 : i64} {"))
    (loop,) = loops_of(func, "third")
    refused(lambda: split(loop, [2]), func, "annotations, which would be lost")


def test_a_loop_of_several_iterations_does_not_give_way_to_its_body() -> None:
    func = matmul()
    refused(lambda: bind_constant(loops_of(func, "matmul")[0]), func, "has 2 iterations")


def test_handles_of_loops_that_are_gone_are_refused() -> None:
    func = matmul()
    outer, inner, *_ = loops_of(func, "matmul")
    fuse(outer, inner)
    for action in (lambda: split(inner, [2]), lambda: set_kind(inner, ForKind.UNROLLED), lambda: fuse(outer, inner)):
        refused(action, func, "is no part of a function any more")


def test_a_handle_of_a_block_that_was_inlined_is_refused() -> None:
    func = prim_func(softmax(4, 9))
    block = block_of(func, "power")
    compute_inline(block)
    refused(lambda: compute_inline(block), func, "is no part of a function any more")


def test_loops_of_two_functions_are_refused() -> None:
    func, other = matmul(), matmul()
    refused(lambda: fuse(loops_of(func, "matmul")[0], loops_of(other, "matmul")[1]), func, "not in the function of the")


# compute_at, compute_inline


def test_a_block_does_not_move_past_what_changes_its_input() -> None:
    func = parsed(CHAIN)
    block = block_of(func, "first")
    refused(lambda: compute_at(block, loops_of(func, "third")[0]), func, "read outside the loop")
    compute_at(block_of(func, "second"), loops_of(func, "third")[0])  # reads %t, which nothing changes
    refused(lambda: compute_at(block, loops_of(func, "third")[0]), func, "@change writes %x, which block @first reads")
    refused(lambda: compute_inline(block), func, "@change writes %x, which block @first reads")


def test_a_block_keeps_its_handle_when_it_moves() -> None:
    func = prim_func(dense(6, 8, 5))
    block = block_of(func, "dense")
    compute_at(block, loops_of(func, "relu")[0])
    assert block_of(func, "dense") is block and loops_of(func, "relu")[0] in enclosing_loops(block)
    func.verify()


def test_a_block_with_two_writers_does_not_move() -> None:
    func = prim_func(dense(6, 8, 5))
    block = block_of(func, "dense")
    decompose_reduction(block, loops_of(func, "dense")[0])
    refused(lambda: compute_at(block, loops_of(func, "relu")[0]), func, "not alone in writing .*: @dense_init")


def test_a_predicate_that_would_be_lost_keeps_a_block_in_its_place() -> None:
    func = prim_func(dense(6, 8, 5))
    block = block_of(func, "dense")
    block.set_predicate([block.bindings.data.results[0] * -1 + 3])
    refused(lambda: compute_at(block, loops_of(func, "relu")[0]), func, "a predicate that would be lost")


# cache_write, decompose_reduction, set_scope


def test_a_result_with_two_writers_is_not_cached() -> None:
    func = matmul()
    block = block_of(func, "matmul")
    decompose_reduction(block, loops_of(func, "matmul")[0])
    refused(lambda: cache_write(block, Scope.GLOBAL), func, "not alone in writing .*: @matmul_init writes it too")


def test_what_stood_in_a_buffer_before_is_not_lost_by_caching() -> None:
    func = parsed("""
tir.prim_func @add(%y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @add(%v: spatial 8) = [%i] reads(%y[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %y[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}
""")
    refused(lambda: cache_write(block_of(func, "add"), Scope.GLOBAL), func, "reads what stood in its buffer before")


def test_a_part_of_a_buffer_is_not_cached() -> None:
    func = parsed("""
tir.prim_func @half(%y: memref<16xf32>, %z: f32) {
  tir.for %i = 0 to 8 {
    tir.block @half(%v: spatial 8) = [%i] reads() writes(%y[%v] : memref<16xf32>) {
      memref.store %z, %y[%v] : memref<16xf32>
    }
  }
}
""")
    refused(lambda: cache_write(block_of(func, "half"), Scope.GLOBAL), func, "does not write all elements")


def test_a_private_buffer_does_not_leave_a_parallel_loop() -> None:
    func = matmul()
    copy = cache_write(block_of(func, "matmul"), Scope.LOCAL)
    func.verify()  # one thread runs both nests
    compute_at(block_of(func, "matmul"), enclosing_loops(copy)[0])
    func.verify()
    enclosing_loops(copy)[0].for_kind = ForKind.PARALLEL
    func.verify()


def test_a_buffer_of_a_parallel_loop_and_another_nest_does_not_become_private() -> None:
    func = prim_func(dense(6, 8, 5))
    enclosing_loops(block_of(func, "dense"))[0].for_kind = ForKind.PARALLEL
    action = partial(set_scope, block_of(func, "dense").writes[0], Scope.LOCAL)
    refused(action, func, 'used in and outside of a parallel loop cannot be "local"')


# fuse_iters, fuse_buffer_dims


def test_iterators_that_are_not_there_are_not_fused() -> None:
    func = matmul()
    refused(lambda: fuse_iters(block_of(func, "matmul"), 3), func, "has no iterators 3 and 4")


def test_iterators_of_loops_in_another_order_are_not_fused() -> None:
    func = prim_func(batch_matmul(2, 5, 5, 7))
    loops = loops_of(func, "matmul")
    reorder(loops[2], loops[1])
    refused(lambda: fuse_iters(block_of(func, "matmul"), 1), func, "in their order")


def test_dimensions_that_are_not_there_are_not_fused() -> None:
    func = prim_func(dense(6, 8, 5))
    blocks = [block_of(func, "dense"), block_of(func, "relu")]
    alloc = blocks[0].writes[0].owner
    assert isinstance(alloc, AllocBufferOp)
    refused(lambda: fuse_buffer_dims(alloc, 1, blocks), func, "has no dimensions 1 and 2")
    refused(lambda: fuse_buffer_dims(alloc, 0, blocks[:1]), func, "by all blocks that access the buffer")
    refused(lambda: fuse_buffer_dims(alloc, 0, blocks), func, "quotient and remainder of one fused iterator")


def test_a_refusal_is_shown_at_its_place() -> None:
    func = parsed(CHAIN)
    with pytest.raises(ScheduleError) as raised:
        set_kind(loops_of(func, "first")[0], ForKind.PARALLEL)
    assert str(raised.value).startswith("f.mlir:7:7: error: 'tir.block': it stands in a parallel loop, %a")
    assert "hint:" in str(raised.value)


# the first step of a reduction, where init runs


def fused_elements_and_steps() -> PrimFuncOp:
    """A product of matrices whose columns and steps are one loop, in parts of 4."""
    func = matmul()
    split(fuse(*loops_of(func, "matmul")[2:]), [4])
    return func


def test_a_reduction_begins_with_its_first_step_in_any_order_that_is_accepted() -> None:
    func = fused_elements_and_steps()
    loops = loops_of(func, "matmul")
    refused(lambda: reorder(loops[3], loops[2]), func, "order stays.*does not begin its reduction with the first step")


def test_init_does_not_leave_a_loop_of_elements_and_steps() -> None:
    func = fused_elements_and_steps()
    block, loops = block_of(func, "matmul"), loops_of(func, "matmul")
    refused(lambda: decompose_reduction(block, loops[2]), func, "elements and steps of its reduction to this loop")


def test_init_does_not_leave_a_loop_that_reduces_anew() -> None:
    func = prim_func(softmax(3, 5))
    compute_at(block_of(func, "total"), loops_of(func, "softmax")[1])
    block, loops = block_of(func, "total"), loops_of(func, "total")
    refused(lambda: decompose_reduction(block, loops[1]), func, "reduces anew")


def test_a_block_does_not_move_to_where_all_iterations_would_write_what_it_writes() -> None:
    func = prim_func(softmax(3, 5))
    loop = loops_of(func, "softmax")[1]
    set_kind(loop, ForKind.PARALLEL)
    refused(lambda: compute_at(block_of(func, "total"), loop), func, "iterations depend on each other")


def test_a_loop_that_is_handed_a_private_buffer_from_outside_is_not_shared_by_threads() -> None:
    func = prim_func(softmax(3, 5))
    compute_at(block_of(func, "total"), loops_of(func, "softmax")[0])
    set_scope(block_of(func, "total").writes[0], Scope.LOCAL)
    loop = loops_of(func, "softmax")[1]
    refused(lambda: set_kind(loop, ForKind.PARALLEL), func, "each thread's own, is used in this loop and outside")
    loop.for_kind = ForKind.PARALLEL
    with pytest.raises(Diagnostic, match="do not stand in the same parallel loops") as error:
        parsed(str(func))
    assert error.value.place is not None


THREE = """
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %a = tir.alloc_buffer "global" : memref<4x8xf32>
  %b = tir.alloc_buffer "global" : memref<4x8xf32>
  tir.for %i = 0 to 4 {
    BEFORE
    tir.for %j = 0 to 8 {
      INSIDE
      tir.block @negate(%vi: spatial 4, %vj: spatial 8) = [%i, %j]
          reads(%a[%vi, %vj] : memref<4x8xf32>) writes(%b[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %a[%vi, %vj] : memref<4x8xf32>
        %1 = arith.negf %0 : f32
        memref.store %1, %b[%vi, %vj] : memref<4x8xf32>
      }
    }
    tir.for %j = 0 to 8 {
      tir.block @double(%vi: spatial 4, %vj: spatial 8) = [%i, %j]
          reads(%b[%vi, %vj] : memref<4x8xf32>) writes(%y[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %b[%vi, %vj] : memref<4x8xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %y[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}
"""
COPY = """tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i, %j]
          reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%a[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %a[%vi, %vj] : memref<4x8xf32>
      }"""


ONE_NEST = THREE.replace(
    """    }
    tir.for %j = 0 to 8 {
      tir.block @double""",
    "      tir.block @double",
)


@pytest.mark.parametrize("place", ["BEFORE", "INSIDE"])
def test_a_block_that_stays_in_a_loop_stays_behind_what_it_reads(place: str) -> None:
    copy = COPY if place == "INSIDE" else f"tir.for %j = 0 to 8 {{\n{COPY}\n}}"
    func = parsed(THREE.replace(place, copy).replace("BEFORE", "").replace("INSIDE", ""))
    compute_at(block_of(func, "negate"), loops_of(func, "negate")[0])
    assert [block.block_name for block in blocks_under(func)] == ["copy", "negate", "double"]
    func.verify()


def test_a_block_does_not_move_before_what_computes_what_it_reads() -> None:
    func = parsed(ONE_NEST.replace("BEFORE", "").replace("INSIDE", COPY))
    refused(
        lambda: compute_at(block_of(func, "negate"), loops_of(func, "negate")[0]), func, "block @copy writes what block"
    )


def test_a_block_that_is_moved_is_verified_in_a_copy_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the primitive's own checks let through."""

    def accept(block: BlockOp, following: Operation) -> None:
        pass

    monkeypatch.setattr("weft.transforms.tir.schedule.compute_at.check_inputs_are_there", accept)
    schedule = Schedule(parsed(ONE_NEST.replace("BEFORE", "").replace("INSIDE", COPY)))
    func = schedule.mod.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    loop = schedule.get_loops("negate")[0]
    refused(lambda: schedule.compute_at("negate", loop), func, "reads %a before anything is written to it")


PRIVATE = """
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = tir.alloc_buffer "local" : memref<8xf32>
  %b = tir.alloc_buffer "global" : memref<8xf32>
  tir.for parallel %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%a[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %a[%v] : memref<8xf32>
    }
    tir.block @negate(%v: spatial 8) = [%i] reads(%a[%v] : memref<8xf32>) writes(%b[%v] : memref<8xf32>) {
      %0 = memref.load %a[%v] : memref<8xf32>
      %1 = arith.negf %0 : f32
      memref.store %1, %b[%v] : memref<8xf32>
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.block @double(%v: spatial 8) = [%i] reads(%b[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %b[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}
"""


def test_a_block_is_not_inlined_where_what_it_reads_is_gone() -> None:
    """What a private buffer held is another thread's when the next loop of threads begins."""
    schedule = Schedule(parsed(PRIVATE))
    func = schedule.mod.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    refused(lambda: schedule.compute_inline("negate"), func, 'of scope "local"')


def test_threads_do_not_part_the_nests_that_share_a_private_buffer() -> None:
    text = PRIVATE.replace("parallel ", "").replace('%b = tir.alloc_buffer "global"', '%b = tir.alloc_buffer "local"')
    schedule = Schedule(parsed(text))
    func = schedule.mod.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    loop = schedule.get_loops("negate")[0]
    refused(lambda: schedule.parallel(loop), func, 'of scope "local"')


TWO_READERS = """
tir.prim_func @f(%x: memref<8xi32>, %y: memref<8xi32>, %z: memref<8xi32>) {
  tir.for %i = 0 to 8 {
    tir.block @first(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xi32>) writes(%y[%v] : memref<8xi32>) {
      %0 = memref.load %x[%v] : memref<8xi32>
      memref.store %0, %y[%v] : memref<8xi32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @second(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xi32>) writes(%z[%v] : memref<8xi32>) {
      %0 = memref.load %x[%v] : memref<8xi32>
      memref.store %0, %z[%v] : memref<8xi32>
    }
  }
}
"""


def test_a_copy_for_readers_in_and_outside_of_a_block_of_loops_is_made_before_both() -> None:
    schedule = Schedule(parsed(TWO_READERS))
    schedule.blockize(schedule.get_loops(schedule.get_block("first"))[0])
    schedule.cache_read("first", 0, "global", ["first", "second"])
    schedule.mod.verify()
    assert str(schedule.mod).index("@x_global") < str(schedule.mod).index("tir.outer_block")


def test_a_value_that_an_annotation_does_not_have_is_refused() -> None:
    schedule = Schedule(parsed(TWO_READERS))
    before = str(schedule.mod)
    with pytest.raises(ScheduleError, match="'pragma_auto_unroll_max_step' is a number that is not negative"):
        schedule.annotate(schedule.get_loops(schedule.get_block("first"))[0], "pragma_auto_unroll_max_step", "x")
    assert str(schedule.mod) == before


def test_a_parallel_loop_keeps_the_assertion_that_it_needs() -> None:
    stored = "%at = arith.index_cast %0 : i32 to index\n      memref.store %0, %z[%at] : memref<8xi32>"
    text = TWO_READERS.replace("memref.store %0, %z[%v] : memref<8xi32>", stored)
    schedule = Schedule(parsed(text.replace("writes(%z[%v] :", "writes(%z :")))
    (plain,), (loop,) = (schedule.get_loops(schedule.get_block(name)) for name in ("first", "second"))
    for each in (plain, loop):
        schedule.annotate(each, "independent", 1)
        schedule.parallel(each)
    with pytest.raises(ScheduleError, match="stands in a parallel loop"):
        schedule.unannotate(loop, "independent")
    schedule.mod.verify()
    schedule.unannotate(plain, "independent")
    schedule.mod.verify()


def test_a_parallel_loop_is_split_into_no_more_iterations_than_it_takes() -> None:
    schedule = Schedule(parsed(TWO_READERS))
    (loop,) = schedule.get_loops(schedule.get_block("first"))
    schedule.parallel(loop)
    before = str(schedule.mod)
    with pytest.raises(ScheduleError, match="what it repeats would run at the same time"):
        schedule.split(loop, [5, 2])
    assert str(schedule.mod) == before
    schedule.split(loop, [4, 2])
    schedule.mod.verify()

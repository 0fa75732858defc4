"""Control flow, functions, views and memory of the loops phase run as machine code and do as they are written."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from native import INDICES, Native, aligned, lower, run
from xdsl.dialects.llvm import CallOp


def test_a_loop_with_dynamic_bounds_may_not_run_at_all() -> None:
    text = f"""
func.func @f(%out: memref<1xi64>, %n: index) {{
{INDICES}
  %zero = arith.constant 0 : i64
  %sum = scf.for %i = %c1 to %n step %c2 iter_args(%a = %zero) -> (i64) {{
    %j = arith.index_cast %i : index to i64
    %b = arith.addi %a, %j : i64
    scf.yield %b : i64
  }}
  memref.store %sum, %out[%c0] : memref<1xi64>
  func.return
}}"""
    native, out = Native(text), aligned((1,), np.int64)
    for n, wanted in ((-3, 0), (0, 0), (1, 0), (2, 1), (8, 1 + 3 + 5 + 7)):
        native("f", out, n)
        assert out[0] == wanted, n


@pytest.mark.parametrize(("first", "end", "step"), [(0, 0, 1), (3, 4, 1), (0, 7, 3), (5, 2, 1), (-4, 4, 4)])
def test_a_loop_with_static_bounds_runs_as_range_does(first: int, end: int, step: int) -> None:
    out = aligned((2,), np.int64)
    run(
        f"""
{INDICES}
  %first = arith.constant {first} : index
  %end = arith.constant {end} : index
  %step = arith.constant {step} : index
  %r:2 = scf.for %i = %first to %end step %step iter_args(%n = %c0, %s = %c0) -> (index, index) {{
    %m = arith.addi %n, %c1 : index
    %t = arith.addi %s, %i : index
    scf.yield %m, %t : index, index
  }}
  memref.store %r#0, %out[%c0] : memref<2xindex>
  memref.store %r#1, %out[%c1] : memref<2xindex>""",
        out,
        signature="%out: memref<2xindex>",
    )
    assert list(out) == [len(range(first, end, step)), sum(range(first, end, step))]


def test_if_while_and_switch_choose_as_written() -> None:
    text = f"""
func.func @f(%out: memref<8xindex>, %n: index) {{
{INDICES}
  %small = arith.cmpi slt, %n, %c4 : index
  %a = scf.if %small -> (index) {{
    %t = arith.muli %n, %n : index
    scf.yield %t : index
  }} else {{
    scf.yield %n : index
  }}
  memref.store %a, %out[%c0] : memref<8xindex>
  scf.if %small {{
    memref.store %c1, %out[%c1] : memref<8xindex>
  }}
  %halved, %steps = scf.while (%x = %n, %k = %c0) : (index, index) -> (index, index) {{
    %more = arith.cmpi sgt, %x, %c1 : index
    scf.condition(%more) %x, %k : index, index
  }} do {{
  ^bb0(%x: index, %k: index):
    %y = arith.divsi %x, %c2 : index
    %l = arith.addi %k, %c1 : index
    scf.yield %y, %l : index, index
  }}
  memref.store %steps, %out[%c2] : memref<8xindex>
  %s = scf.index_switch %n -> index
  case 2 {{
    scf.yield %c7 : index
  }}
  case 5 {{
    scf.yield %c8 : index
  }}
  default {{
    scf.yield %c16 : index
  }}
  memref.store %s, %out[%c3] : memref<8xindex>
  func.return
}}"""
    native = Native(text)
    for n, wanted in ((2, [4, 1, 1, 7]), (5, [5, 0, 2, 8]), (9, [9, 0, 3, 16])):
        out = aligned((8,), np.int64)
        native("f", out, n)
        assert list(out[:4]) == wanted


def test_blocks_and_branches_are_kept() -> None:
    text = """
func.func @f(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %n : index, index)
^head(%sum: index, %left: index):
  %done = arith.cmpi eq, %left, %c0 : index
  cf.cond_br %done, ^end(%sum : index), ^body
^body:
  %next = arith.addi %sum, %left : index
  %less = arith.subi %left, %c1 : index
  cf.br ^head(%next, %less : index, index)
^end(%result: index):
  func.return %result : index
}"""
    assert Native(text)("f", 10, result=ctypes.c_int64) == 55


def test_blocks_may_stand_in_any_order() -> None:
    """What a block uses may be computed in one that is written behind it; what nobody reaches is left out."""
    text = """
func.func @f(%n: index) -> index {
  cf.br ^first
^second:
  func.return %twice : index
^unreached:
  %more = arith.addi %twice, %n : index
  func.return %more : index
^first:
  %twice = arith.addi %n, %n : index
  cf.br ^second
}"""
    assert Native(text)("f", 21, result=ctypes.c_int64) == 42


def test_both_edges_of_a_branch_may_lead_to_one_block_with_different_values() -> None:
    text = """
func.func @f(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %odd = arith.remsi %n, %c1 : index
  %positive = arith.cmpi sgt, %n, %c0 : index
  cf.cond_br %positive, ^end(%n : index), ^end(%c1 : index)
^end(%result: index):
  func.return %result : index
}"""
    native = Native(text)
    assert [native("f", n, result=ctypes.c_int64) for n in (-5, 5)] == [1, 5]


def test_a_function_may_return_several_values() -> None:
    text = """
func.func private @both(%a: index, %b: index) -> (index, index) {
  func.return %b, %a : index, index
}
func.func @f(%a: index, %b: index) -> index {
  %x:2 = func.call @both(%a, %b) : (index, index) -> (index, index)
  %y = arith.subi %x#0, %x#1 : index
  func.return %y : index
}"""
    assert Native(text)("f", 3, 10, result=ctypes.c_int64) == 7


def test_a_failed_assertion_ends_the_process_with_its_message() -> None:
    import subprocess
    import sys
    from pathlib import Path

    support = Path(__file__).parents[1] / "support"
    body = '%c = arith.index_cast %n : index to i1\n  cf.assert %c, "n is even"\n  func.return\n'
    text = f"func.func @f(%n: index) {{\n  {body}}}"
    load = f"import sys; sys.path.insert(0, {str(support)!r})\nfrom native import Native\n"
    code = f"{load}f = Native({text!r})\nf('f', 1)\nf('f', 2)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "n is even" in done.stdout


def test_strided_views_reach_the_right_elements() -> None:
    a = aligned((6, 8), np.float32)
    a[...] = np.arange(48).reshape(6, 8)
    out = aligned((2, 3), np.float32)
    run(
        f"""
{INDICES}
  %v = memref.subview %a[1, 2] [2, 3] [2, 2] : memref<6x8xf32> to memref<2x3xf32, strided<[16, 2], offset: 10>>
  "memref.copy"(%v, %out) : (memref<2x3xf32, strided<[16, 2], offset: 10>>, memref<2x3xf32>) -> ()""",
        a,
        out,
        signature="%a: memref<6x8xf32>, %out: memref<2x3xf32>",
    )
    np.testing.assert_array_equal(out, a[1:5:2, 2:8:2])


def test_a_view_with_dynamic_offset_and_size_knows_its_extent() -> None:
    a, out = aligned((16,), np.float32), aligned((1,), np.int64)
    a[...] = np.arange(16)
    text = f"""
func.func @f(%a: memref<16xf32>, %out: memref<1xindex>, %o: index, %n: index) {{
{INDICES}
  %v = memref.subview %a[%o] [%n] [1] : memref<16xf32> to memref<?xf32, strided<[1], offset: ?>>
  %d = memref.dim %v, %c0 : memref<?xf32, strided<[1], offset: ?>>
  %last = arith.subi %d, %c1 : index
  %x = memref.load %v[%last] : memref<?xf32, strided<[1], offset: ?>>
  %y = arith.fptosi %x : f32 to i64
  %z = arith.index_cast %y : i64 to index
  memref.store %z, %out[%c0] : memref<1xindex>
  func.return
}}"""
    Native(text)("f", a, out, 3, 6)
    assert out[0] == 8


def test_a_transposed_layout_is_addressed_by_its_strides() -> None:
    a = aligned((3, 4), np.float32)
    a[...] = np.arange(12).reshape(3, 4)
    out = aligned((4, 3), np.float32)
    run(
        f"""
{INDICES}
  %t = memref.reinterpret_cast %a to offset: [0], sizes: [4, 3], strides: [1, 4]
    : memref<3x4xf32> to memref<4x3xf32, strided<[1, 4]>>
  scf.for %i = %c0 to %c4 step %c1 {{
    scf.for %j = %c0 to %c3 step %c1 {{
      %x = memref.load %t[%i, %j] : memref<4x3xf32, strided<[1, 4]>>
      memref.store %x, %out[%i, %j] : memref<4x3xf32>
    }}
  }}""",
        a,
        out,
        signature="%a: memref<3x4xf32>, %out: memref<4x3xf32>",
    )
    np.testing.assert_array_equal(out, a.T)


def test_views_of_an_arena_of_bytes() -> None:
    arena, out = aligned((256,), np.int8), aligned((8,), np.float32)
    arena[64:96] = np.arange(8, dtype=np.float32).view(np.int8)
    run(
        f"""
{INDICES}
  %shift = arith.constant 64 : index
  %v = memref.view %arena[%shift][] : memref<256xi8> to memref<2x4xf32>
  %w = memref.collapse_shape %v [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  %u = memref.expand_shape %w [[0, 1]] output_shape [4, 2] : memref<8xf32> into memref<4x2xf32>
  %x = memref.load %u[%c3, %c1] : memref<4x2xf32>
  "memref.copy"(%w, %out) : (memref<8xf32>, memref<8xf32>) -> ()
  memref.store %x, %out[%c0] : memref<8xf32>""",
        arena,
        out,
        signature="%arena: memref<256xi8>, %out: memref<8xf32>",
    )
    assert list(out) == [7, 1, 2, 3, 4, 5, 6, 7]


def test_allocations_on_stack_and_heap_hold_their_values() -> None:
    out = aligned((2,), np.float32)
    run(
        f"""
{INDICES}
  %x = arith.constant 1.5 : f32
  %stack = memref.alloca() : memref<4x5xf32>
  %heap = memref.alloc() : memref<7xf32>
  %more = memref.alloc(%n) : memref<?x3xf32>
  memref.store %x, %stack[%c3, %c4] : memref<4x5xf32>
  memref.store %x, %more[%c4, %c2] : memref<?x3xf32>
  %y = memref.load %more[%c4, %c2] : memref<?x3xf32>
  memref.store %y, %heap[%c5] : memref<7xf32>
  %a = memref.load %stack[%c3, %c4] : memref<4x5xf32>
  %b = memref.load %heap[%c5] : memref<7xf32>
  %d = memref.dim %more, %c0 : memref<?x3xf32>
  memref.store %a, %out[%c0] : memref<2xf32>
  memref.store %b, %out[%c1] : memref<2xf32>
  memref.dealloc %heap : memref<7xf32>
  memref.dealloc %more : memref<?x3xf32>""",
        out,
        5,
        signature="%out: memref<2xf32>, %n: index",
    )
    assert list(out) == [1.5, 1.5]


def test_a_large_local_buffer_is_on_the_heap() -> None:
    text = f"""
func.func @f(%out: memref<1xf32>, %n: index) {{
{INDICES}
  %large = memref.alloca() : memref<64x65536xf32>
  %x = arith.constant 2.5 : f32
  memref.store %x, %large[%c7, %n] : memref<64x65536xf32>
  %y = memref.load %large[%c7, %n] : memref<64x65536xf32>
  memref.store %y, %out[%c0] : memref<1xf32>
  func.return
}}"""
    names = [op.callee.root_reference.data for op in lower(text).walk() if isinstance(op, CallOp) and op.callee]
    assert names == ["aligned_alloc", "free"]
    out = aligned((1,), np.float32)
    Native(text)("f", out, 100)
    assert out[0] == 2.5


def test_memory_on_the_heap_is_given_back_at_each_return() -> None:
    """At one that is lowered before the allocation, too: that is made in the function's entry."""
    text = f"""
func.func @f(%n: index) -> f32 {{
{INDICES}
  %none = arith.constant 0.0 : f32
  %early = arith.cmpi slt, %n, %c0 : index
  cf.cond_br %early, ^early, ^late
^early:
  func.return %none : f32
^late:
  %large = memref.alloca() : memref<65536x2xf32>
  memref.store %none, %large[%n, %c0] : memref<65536x2xf32>
  %x = memref.load %large[%n, %c0] : memref<65536x2xf32>
  func.return %x : f32
}}"""
    names = [op.callee.root_reference.data for op in lower(text).walk() if isinstance(op, CallOp) and op.callee]
    assert names == ["aligned_alloc", "free", "free"]


def test_globals_hold_their_initial_values() -> None:
    out = aligned((2, 3), np.float32)
    run(
        f"""
{INDICES}
  %g = memref.get_global @g : memref<2x3xf32>
  %b = memref.get_global @bits : memref<3xi1>
  %z = memref.get_global @zeros : memref<3xf32>
  "memref.copy"(%g, %out) : (memref<2x3xf32>, memref<2x3xf32>) -> ()
  %bit = memref.load %b[%c1] : memref<3xi1>
  %zero = memref.load %z[%c1] : memref<3xf32>
  scf.if %bit {{
    memref.store %zero, %out[%c1, %c2] : memref<2x3xf32>
  }}""",
        out,
        signature="%out: memref<2x3xf32>",
        declarations="""

"memref.global"() <{sym_name = "g", sym_visibility = "private", type = memref<2x3xf32>, constant,
  initial_value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>}> : () -> ()
"memref.global"() <{sym_name = "bits", sym_visibility = "private", type = memref<3xi1>, constant,
  initial_value = dense<[false, true, false]> : tensor<3xi1>}> : () -> ()
"memref.global"() <{sym_name = "zeros", sym_visibility = "private", type = memref<3xf32>, initial_value}> : () -> ()""",
    )
    np.testing.assert_array_equal(out, [[1, 2, 3], [4, 5, 0]])


def test_constants_are_found_through_the_table() -> None:
    text = """
"memref.global"() <{sym_name = "w", sym_visibility = "private", type = memref<4xf32>, constant, initial_value}>
  {weft.constant_index = 2 : i64} : () -> ()
func.func @f(%out: memref<4xf32>) {
  %w = memref.get_global @w : memref<4xf32>
  "memref.copy"(%w, %out) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}"""
    native = Native(text)
    data, out = np.arange(4, dtype=np.float32), aligned((4,), np.float32)
    table = (ctypes.c_void_p * 3).from_address(native.address("weft_constants"))
    table[2] = data.ctypes.data
    native("f", out)
    np.testing.assert_array_equal(out, data)

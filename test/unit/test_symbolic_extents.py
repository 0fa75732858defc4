"""Functions whose extents are symbols: in text, on the interpreter, scheduled, and as machine code at many sizes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from native import parse
from tir_run import Stage
from xdsl.dialects.builtin import f32
from xdsl.ir.affine import AffineExpr

import weft
from weft.dialects import te
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.te.dims import value_of
from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.blocks import BlockOp, blocks_under
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.dialects.tir.legality import symbolic
from weft.dialects.tir.legality.definedness import all_values_are_shown
from weft.dialects.tir.legality.function import findings, not_proved
from weft.dialects.tir.legality.sample_sizes import sizes_that_hold
from weft.dialects.tir.loops import enclosing_loops
from weft.dialects.tir.specialize import specialize, symbols_of
from weft.kernel import build_kernel
from weft.lowering.machine.target import Target
from weft.lowering.phases import pipeline
from weft.lowering.relay_to_tir.te_to_tir import create_prim_func
from weft.tir import from_source
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(5)

SIZES = (0, 1, 7, 16, 17, 200)
n, m = te.var("n"), te.var("m")


def exponentials() -> Stage:
    x = te.placeholder((n,), f32)
    return [x], [te.compute((n,), lambda i: te.exp(x[i]))]


def chain() -> Stage:
    x = te.placeholder((n, m), f32)
    square = te.compute((n, m), lambda i, j: x[i, j] * x[i, j])
    return [x], [te.compute((n, m), lambda i, j: te.exp(-square[i, j]) + x[i, j])]


def transpose_of_what_is_left() -> Stage:
    x = te.placeholder((n, m), f32)
    k = te.reduce_axis(m)
    total = te.compute((n,), lambda i: te.sum(x[i, k], k))
    return [x], [te.compute((m, n), lambda i, j: x[j, i] - total[j])]


def sum_of_columns() -> Stage:
    x = te.placeholder((n, 64), f32)
    k = te.reduce_axis(n)
    return [x], [te.compute((64,), lambda j: te.sum(x[k, j], k))]


def softmax(columns: te.Dim = 64) -> Stage:
    x = te.placeholder((n, columns), f32)
    k, k1 = te.reduce_axis(columns), te.reduce_axis(columns)
    greatest = te.compute((n,), lambda i: te.max(x[i, k], k))
    powers = te.compute((n, columns), lambda i, j: te.exp(x[i, j] - greatest[i]))
    total = te.compute((n,), lambda i: te.sum(powers[i, k1], k1))
    return [x], [te.compute((n, columns), lambda i, j: powers[i, j] / total[i])]


def softmax_of_rows_of_any_length() -> Stage:
    return softmax(m)


def dense() -> Stage:
    x, w, b = te.placeholder((n, 96), f32), te.placeholder((96, 64), f32), te.placeholder((64,), f32)
    k = te.reduce_axis(96)
    y = te.compute((n, 64), lambda i, j: te.sum(x[i, k] * w[k, j], k))
    return [x, w, b], [te.compute((n, 64), lambda i, j: te.maximum(y[i, j] + b[j], 0.0))]


def batch_matmul() -> Stage:
    x, w = te.placeholder((3, n, 32), f32), te.placeholder((3, 32, m), f32)
    k = te.reduce_axis(32)
    return [x, w], [te.compute((3, n, m), lambda b, i, j: te.sum(x[b, i, k] * w[b, k, j], k))]


STAGES = [
    exponentials, chain, transpose_of_what_is_left, sum_of_columns, softmax, softmax_of_rows_of_any_length, dense,
    batch_matmul,
]  # fmt: skip


def arrays_of(stage: Stage, sizes: dict[te.Var, int]) -> list[npt.NDArray[np.generic]]:
    generator = np.random.default_rng(0)
    shapes = [tuple(value_of(dim, sizes) for dim in tensor.dims) for tensor in stage[0]]
    return [generator.standard_normal(shape).astype(np.float32) for shape in shapes]


def same(got: npt.NDArray[np.generic], want: npt.NDArray[np.generic], where: str) -> None:
    np.testing.assert_allclose(got.astype(np.float32), want.astype(np.float32), rtol=1e-4, atol=1e-4, err_msg=where)


@pytest.mark.parametrize(("make", "start"), [*((make, "tir") for make in STAGES), (softmax, "schedule")])
def test_machine_code_of_one_compilation_serves_every_size(make: Callable[[], Stage], start: str) -> None:
    stage = make()
    kernel = build_kernel(create_prim_func("k", *stage), threads=2, start=start)
    others = SIZES if any(m in te.variables(tensor.dims) for tensor in stage[0]) else (0,)
    for rows, columns in product(SIZES, others):
        if rows * columns > 200 * 17:
            continue
        arrays = arrays_of(stage, {n: rows, m: columns})
        expected = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
        for got, want in zip(kernel(*arrays), expected, strict=True):
            np.testing.assert_allclose(
                got.astype(np.float32), want.astype(np.float32), rtol=1e-4, atol=1e-4, err_msg=f"{rows}, {columns}"
            )


@pytest.mark.parametrize("make", STAGES)
def test_the_interpreter_runs_it_and_the_analyzer_proves_it(make: Callable[[], Stage]) -> None:
    stage = make()
    func = create_prim_func("k", *stage)
    func.verify()
    assert not not_proved(func)
    interpreter = Interpreter(func)
    for rows, columns in ((0, 3), (1, 1), (3, 2)):
        arrays = arrays_of(stage, {n: rows, m: columns})
        expected = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
        for got, want in zip(interpreter(arrays), expected, strict=True):
            same(got, want, f"{rows}, {columns}")


TEXT = """
tir.prim_func @k(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %n: index) shapes(%x[%n, 4], %y[%n, 4]) {
  tir.for parallel %i = 0 to (%n + 2) floordiv 3 {
    tir.for %r = 0 to 3 {
      tir.for vectorized %j = 0 to 4 {
        tir.block @b(%v: spatial %n, %w: spatial 4) = [%i * 3 + %r, %j] where [%n - %i * 3 - %r - 1]
            reads(%x[%v, %w] : memref<?x4xf32>) writes(%y[%v, %w] : memref<?x4xf32>) {
          %0 = memref.load %x[%v, %w] : memref<?x4xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %y[%v, %w] : memref<?x4xf32>
        }
      }
    }
  }
}
"""


def test_text_with_symbols_is_printed_as_it_parses_and_runs() -> None:
    module = parse(TEXT)
    assert str(parse(str(module))) == str(module)
    (func,) = module.ops
    assert isinstance(func, PrimFuncOp)
    assert not not_proved(func)
    kernel = build_kernel(func, start="schedule")
    for rows in (0, 1, 2, 3, 10):
        x = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
        np.testing.assert_array_equal(kernel(x)[0], 2 * x)
        np.testing.assert_array_equal(Interpreter(func)([x])[0], 2 * x)


def test_inputs_that_disagree_on_a_symbol_are_refused() -> None:
    x, y = te.placeholder((n,), f32), te.placeholder((n,), f32)
    func = create_prim_func("k", [x, y], [te.compute((n,), lambda i: x[i] + y[i])])
    with pytest.raises(Diagnostic, match="%p1 has the extent 4 where it should have 3, for %n = 3"):
        Interpreter(func)([np.zeros(3, np.float32), np.zeros(4, np.float32)])


def test_an_integer_cannot_be_had_of_an_extent_that_is_a_symbol() -> None:
    with pytest.raises(te.SymbolicExtentError, match="the extent of 'k' is known only when the computation runs"):
        _ = te.reduce_axis(n, "k").extent
    with pytest.raises(TypeError, match="te: an expression has no truth value before it runs"):
        max(3, te.placeholder((n, 4), f32, "x").shape[0])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((n * 4) // 4, n),
        (n * m // m, n),
        ((n + 1) - 1, n),
        ((n * 8 + m + 5) // 4, (m + 1) // 4 + n * 2 + 1),
        (((n + 1) // 2 + 1) // 2, (n + 3) // 4),
        (-(-n // 1), n),
        (2 * n - n - n, 0),
        (n * m * 6, m * 3 * n * 2),
        (n < n * 64, True),
        (n * 64 < n, False),
        (n > 0, True),
        (n % 4 < 4, True),
        (n - n % 4, n // 4 * 4),
        (n * n * m // (n * m), n),
    ],
)
def test_equal_extents_are_one_object(given: object, expected: object) -> None:
    assert given is expected or (isinstance(given, int) and given == expected)


@pytest.mark.parametrize("ask", [lambda: bool(n > 1), lambda: bool(n < m), lambda: n // m])
def test_what_sizes_decide_has_no_answer(ask: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        ask()


STEPS_WITH_A_STAGE = """
tir.prim_func @f(%x: memref<2x?xf32>, %out: memref<2xf32>, %m: index) shapes(%x[2, %m]) {
  %square = tir.alloc_buffer "global" [2, %m] : memref<2x?xf32>
  tir.for %i = 0 to 2 {
    tir.for %k = 0 to %m {
      tir.block @square(%vi: spatial 2, %vk: spatial %m) = [%i, %k] reads(%x[%vi, %vk] : memref<2x?xf32>)
          writes(%square[%vi, %vk] : memref<2x?xf32>) {
        %0 = memref.load %x[%vi, %vk] : memref<2x?xf32>
        %1 = arith.mulf %0, %0 : f32
        memref.store %1, %square[%vi, %vk] : memref<2x?xf32>
      }
      tir.block @sum(%vi: spatial 2, %vk: reduce %m) = [%i, %k] reads(%square[%vi, %vk] : memref<2x?xf32>)
          writes(%out[%vi] : memref<2xf32>) {
        %0 = memref.load %out[%vi] : memref<2xf32>
        %1 = memref.load %square[%vi, %vk] : memref<2x?xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %out[%vi] : memref<2xf32>
      } init(%vi, %vk) {
        %0 = arith.constant 0.0 : f32
        memref.store %0, %out[%vi] : memref<2xf32>
      }
    }
  }
}
"""


def test_a_sum_that_leaves_its_loop_for_want_of_steps_names_that_loop_no_more() -> None:
    func = next(op for op in parse(STEPS_WITH_A_STAGE).ops if isinstance(op, PrimFuncOp))
    found = specialize(func, {symbols_of(func)[0].index: 0})
    (block,) = [op for op in found.walk() if isinstance(op, BlockOp) and op.block_name == "sum"]
    assert list(block.loop_vars) == [loop.var for loop in enclosing_loops(block)]
    (total,) = Interpreter(func)([np.zeros((2, 0), np.float32)], None)
    assert total.tolist() == [0, 0]


TILES = """
tir.prim_func @tiles(%x: memref<?x16xf32>, %out: memref<?x16xf32>, %n: index) shapes(%x[%n, 16], %out[%n, 16]) {
  %t = tir.alloc_buffer "local" : memref<16xf32>
  tir.for parallel %i = 0 to %n {
    tir.for %j = 0 to 4 {
      tir.for %k = 0 to 4 {
        tir.block @fill(%vi: spatial %n, %vj: spatial 16) = [%i, %j * 4 + %k] reads(%x[%vi, %vj] : memref<?x16xf32>)
            writes(%t[%vj] : memref<16xf32>) {
          %0 = memref.load %x[%vi, %vj] : memref<?x16xf32>
          memref.store %0, %t[%vj] : memref<16xf32>
        }
      }
    }
    tir.for %j = 0 to 16 {
      tir.block @use(%vi: spatial %n, %vj: spatial 16) = [%i, %j] reads(%t[%vj] : memref<16xf32>)
          writes(%out[%vi, %vj] : memref<?x16xf32>) {
        %0 = memref.load %t[%vj] : memref<16xf32>
        memref.store %0, %out[%vi, %vj] : memref<?x16xf32>
      }
    }
  }
}
"""


FUSED = """
tir.prim_func @fused(%x: memref<?x3x4xf32>, %out: memref<?x3x4xf32>, %n: index)
    shapes(%x[%n, 3, 4], %out[%n, 3, 4]) {
  %t = tir.alloc_buffer "global" [%n, 3, 4] : memref<?x3x4xf32>
  tir.for parallel %ij = 0 to %n * 6 {
    tir.for %k = 0 to 2 {
      tir.block @twice(%vi: spatial %n, %vj: spatial 3, %vk: spatial 4) =
          [%ij floordiv 6, (%ij floordiv 2) mod 3, (%ij mod 2) * 2 + %k]
          reads(%x[%vi, %vj, %vk] : memref<?x3x4xf32>) writes(%t[%vi, %vj, %vk] : memref<?x3x4xf32>) {
        %0 = memref.load %x[%vi, %vj, %vk] : memref<?x3x4xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %t[%vi, %vj, %vk] : memref<?x3x4xf32>
      }
    }
  }
  tir.for %i = 0 to %n {
    tir.for %j = 0 to 3 {
      tir.for %k = 0 to 4 {
        tir.block @reverse(%vi: spatial %n, %vj: spatial 3, %vk: spatial 4) = [%i, %j, %k]
            reads(%t[%vi, 2 - %vj, %vk] : memref<?x3x4xf32>) writes(%out[%vi, %vj, %vk] : memref<?x3x4xf32>) {
          %c = arith.constant 2 : index
          %w = arith.subi %c, %vj : index
          %0 = memref.load %t[%vi, %w, %vk] : memref<?x3x4xf32>
          memref.store %0, %out[%vi, %vj, %vk] : memref<?x3x4xf32>
        }
      }
    }
  }
}
"""
"""Iterators that are digits of a loop over two axes and a part of a third."""

RESTS = """
tir.prim_func @rests(%x: memref<?xf32>, %out: memref<?xf32>, %n: index) shapes(%x[%n * 49], %out[%n * 49]) {
  tir.for %i = 0 to (%n * 49) floordiv 8 {
    tir.for %k = 0 to 8 {
      tir.block @copy(%v: spatial %n * 49) = [%i * 8 + %k] reads(%x[%v] : memref<?xf32>)
          writes(%out[%v] : memref<?xf32>) {
        %0 = memref.load %x[%v] : memref<?xf32>
        memref.store %0, %out[%v] : memref<?xf32>
      }
    }
  }
  tir.for %i = 0 to (%n floordiv 4) mod 2 {
    tir.for %k = 0 to 4 {
      tir.block @copy(%v: spatial %n * 49) = [(%n * 49) floordiv 8 * 8 + %i * 4 + %k] reads(%x[%v] : memref<?xf32>)
          writes(%out[%v] : memref<?xf32>) {
        %0 = memref.load %x[%v] : memref<?xf32>
        memref.store %0, %out[%v] : memref<?xf32>
      }
    }
  }
  tir.for %i = 0 to %n mod 4 {
    tir.block @copy(%v: spatial %n * 49) = [(%n * 49) floordiv 8 * 8 + (%n floordiv 4) mod 2 * 4 + %i]
        reads(%x[%v] : memref<?xf32>) writes(%out[%v] : memref<?xf32>) {
      %0 = memref.load %x[%v] : memref<?xf32>
      memref.store %0, %out[%v] : memref<?xf32>
    }
  }
}
"""
"""Tiles of 8, one of 4 where there is one, and the rest."""


@pytest.mark.parametrize(
    ("text", "right", "wrong", "message"),
    [
        (FUSED, "%ij = 0 to %n * 6", "%ij = 0 to %n * 6 - 1", "@reverse reads %t at .*nothing is written"),
        (FUSED, "(%ij mod 2) * 2 + %k]", "(%ij mod 2) * 2]", "@twice"),
        (FUSED, "(%ij floordiv 2) mod 3", "(%ij floordiv 2) mod 2", "@twice"),
        (RESTS, "%i = 0 to %n mod 4", "%i = 0 to %n mod 2", "@copy"),
        (RESTS, "(%n floordiv 4) mod 2 * 4 + %i]", "(%n floordiv 4) mod 2 * 4 + %i + 1]", "@copy"),
        (RESTS, "%i = 0 to (%n floordiv 4) mod 2 {", "%i = 0 to (%n floordiv 2) mod 2 {", "@copy"),
    ],
)
def test_a_mistake_in_what_is_shown_for_all_sizes_is_found(text: str, right: str, wrong: str, message: str) -> None:
    assert right in text
    parse(text).verify()
    with pytest.raises(Diagnostic, match=message):
        parse(text.replace(right, wrong)).verify()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (TEXT, "%j = 0 to 4", "%j = 0 to 3"),
        (TEXT, "%j = 0 to 4", "%j = 0 to 5"),
        (TEXT, "(%n + 2) floordiv 3", "(%n + 1) floordiv 3"),
        (TEXT, "%n - %i * 3 - %r - 1", "%n - %i * 3 - %r"),
        (TEXT, "%n - %i * 3 - %r - 1", "%n - %i * 3 - %r - 2"),
        (RESTS, "%k = 0 to 8", "%k = 0 to 7"),
        (RESTS, "%k = 0 to 4", "%k = 0 to 3"),
        (FUSED, "%k = 0 to 2", "%k = 0 to 1"),
    ],
)
def test_what_is_wrong_at_some_size_is_not_shown(text: str, right: str, wrong: str) -> None:
    """Without a look at any size."""
    assert right in text
    for each, is_right in ((text, True), (text.replace(right, wrong, 1), False)):
        (func,) = parse_module(each, new_ir_context(), "k.mlir").ops
        assert isinstance(func, PrimFuncOp)
        assert is_right != any("is not shown" in finding.message for finding in findings(func))


def test_loops_that_never_run_at_a_size_are_left_out() -> None:
    func = next(op for op in parse(RESTS).ops if isinstance(op, PrimFuncOp))
    for rows, tiles in ((0, 0), (1, 2), (4, 2), (7, 3)):
        found = specialize(func, {symbols_of(func)[0].index: rows})
        found.verify()
        assert len(blocks_under(found)) == tiles
        x = np.arange(rows * 49, dtype=np.float32)
        np.testing.assert_array_equal(Interpreter(found)([x])[0], x)


OVER_STEPS = """
tir.prim_func @steps(%x: memref<4xf32>, %out: memref<4xf32>, %y: memref<?xf32>, %n: index)
    shapes(%x[4], %out[4], %y[%n]) {
  %t = tir.alloc_buffer "global" : memref<4xf32>
  tir.for %k = 0 to %n {
    tir.for %i = 0 to 4 {
      tir.block @again(%vk: opaque %n, %vi: spatial 4) = [%k, %i] reads(%x[%vi] : memref<4xf32>)
          writes(%t[%vi] : memref<4xf32>) {
        %0 = memref.load %x[%vi] : memref<4xf32>
        memref.store %0, %t[%vi] : memref<4xf32>
      }
    }
  }
  tir.for %i = 0 to 4 {
    tir.block @use(%vi: spatial 4) = [%i] reads(%t[%vi] : memref<4xf32>) writes(%out[%vi] : memref<4xf32>) {
      %0 = memref.load %t[%vi] : memref<4xf32>
      memref.store %0, %out[%vi] : memref<4xf32>
    }
  }
}
"""


def test_what_perhaps_no_step_writes_is_not_shown_to_be_written() -> None:
    func = next(op for op in parse(OVER_STEPS).ops if isinstance(op, PrimFuncOp))
    assert not all_values_are_shown(blocks_under(func))
    assert all_values_are_shown(blocks_under(specialize(func, {symbols_of(func)[0].index: 2})))


SUMS = """
tir.prim_func @sums(%x: memref<4x?xf32>, %out: memref<4xf32>, %m: index) shapes(%x[4, %m], %out[4]) {
  %t = tir.alloc_buffer "local" : memref<4xf32>
  tir.for parallel %i = 0 to 4 {
    tir.for %k = 0 to %m {
      tir.block @sum(%v: spatial 4, %r: reduce %m) = [%i, %k] reads(%x[%v, %r] : memref<4x?xf32>)
          writes(%t[%v] : memref<4xf32>) {
        %0 = memref.load %t[%v] : memref<4xf32>
        %1 = memref.load %x[%v, %r] : memref<4x?xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %t[%v] : memref<4xf32>
      } init(%v, %r) {
        %0 = arith.constant 1.0 : f32
        memref.store %0, %t[%v] : memref<4xf32>
      }
    }
    tir.block @use(%v: spatial 4) = [%i] reads(%t[%v] : memref<4xf32>) writes(%out[%v] : memref<4xf32>) {
      %0 = memref.load %t[%v] : memref<4xf32>
      memref.store %0, %out[%v] : memref<4xf32>
    }
  }
}
"""


def test_a_sum_of_perhaps_no_steps_is_written_where_it_has_an_init() -> None:
    func = next(op for op in parse(SUMS).ops if isinstance(op, PrimFuncOp))
    func.verify()
    assert all_values_are_shown(blocks_under(func))
    kernel = build_kernel(func, threads=2, start="schedule")
    for size in (0, 1, 5):
        x = np.arange(4 * size, dtype=np.float32).reshape(4, size)
        np.testing.assert_array_equal(kernel(x)[0], 1 + x.sum(1))
        np.testing.assert_array_equal(Interpreter(func)([x])[0], 1 + x.sum(1))


def test_what_is_shown_for_all_sizes_is_not_looked_for_at_some(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(func: PrimFuncOp, sizes: object) -> PrimFuncOp:
        raise AssertionError(f"@{func.sym_name.data} was looked at with {sizes}")

    monkeypatch.setattr(symbolic, "specialize", unwanted)
    for text in (STEPS_WITH_A_STAGE, TILES, FUSED, RESTS):
        parse(text).verify()


def test_products_over_tiles_of_any_batch_are_shown_for_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Minimal filtering: rows of tiles in sixes, what is left in threes, and what is left of that; six rows of what is
    summed are read in one block."""

    def unwanted(func: PrimFuncOp, sizes: object) -> PrimFuncOp:
        raise AssertionError(f"@{func.sym_name.data} was looked at with {sizes}")

    image, result = "tensor<?x16x55x55xf32>", "tensor<?x64x55x55xf32>"
    text = f"""
relay.func @main(%x: {image}) -> {result} {{
  %w = relay.constant dense<0.5> : tensor<64x16x3x3xf32>
  %0 = relay.nn.conv2d %x, %w {{padding = array<i64: 1, 1, 1, 1>, channels = 64 : i64,
      kernel_size = array<i64: 3, 3>}} : ({image}, tensor<64x16x3x3xf32>) -> {result}
  relay.return %0 : {result}
}}
"""
    ctx = new_ir_context()
    module = parse_module(text, ctx)
    monkeypatch.setattr(symbolic, "specialize", unwanted)
    with weft.PassContext(opt_level=3):
        pipeline(Target.parse("llvm -mcpu=x86-64-v3"), end="schedule").apply(ctx, module)
    assert "@winograd_product(" in str(module)


def test_what_is_not_shown_for_all_sizes_is_looked_for_at_some() -> None:
    first = STEPS_WITH_A_STAGE.replace("writes(%square[%vi, %vk]", "writes(%square[%vi, 0]").replace(
        "memref.store %1, %square[%vi, %vk]", "%z = arith.constant 0 : index memref.store %1, %square[%vi, %z]"
    )
    with pytest.raises(Diagnostic, match=r"reads %square at .*where nothing is written to it \(for %m = "):
        parse(first).verify()


PICK = """
@T.prim_func
def pick(a: T.handle, b: T.handle, c: T.handle):
    n = T.var("int64")
    l = T.var("int64")
    A = T.match_buffer(a, (n, l), "float32")
    B = T.match_buffer(b, (n,), "int32")
    C = T.match_buffer(c, (n,), "float32")
    R = T.alloc_buffer((n, l), "float32", scope="local")
    for i in T.parallel(n, annotations={"independent": 1}):
        for j in T.serial(l):
            with T.block("twice"):
                vi, vj = T.axis.remap("SS", [i, j])
                R[vi, vj] = A[vi, vj] * 2.0
        with T.block("pick"):
            vi = T.axis.spatial(n, i)
            C[vi] = R[vi, B[vi]]
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 9), (70, 3)])
def test_what_data_says_of_a_threads_own_buffer_is_read_where_that_thread_has_it(
    rows: int, columns: int, threads: int
) -> None:
    built = weft.build(from_source(PICK), target="llvm -mcpu=native", threads=threads)
    a = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    b = np.arange(rows, dtype=np.int32) % columns
    c = np.zeros(rows, np.float32)
    built(a, b, c)
    np.testing.assert_array_equal(c, 2 * a[np.arange(rows), b])


FOR_SOME_SIZES = """
tir.prim_func @f(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %m: index) shapes(%x[%n], %y[%m])
    attributes {{assumed = [{assumed}]}} {{
  %b = tir.alloc_buffer "global" [%n] : memref<?xf32>
  tir.for %i = 0 to %n floordiv 4 {{
    tir.for %j = 0 to 4 {{
      tir.block @write(%v: partial spatial %n) = [%i * 4 + %j] reads(%x[%v] : memref<?xf32>)
          writes(%b[%v] : memref<?xf32>) {{
        %0 = memref.load %x[%v] : memref<?xf32>
        memref.store %0, %b[%v] : memref<?xf32>
      }}
    }}
  }}
  tir.for %i = 0 to %n {{
    tir.block @read(%v: spatial %n) = [%i] reads(%b[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {{
      %0 = memref.load %b[%v] : memref<?xf32>
      memref.store %0, %y[%v] : memref<?xf32>
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("assumed", "refused"),
    [
        (["s2 - 64", "s3 - s2", "s2 - s3"], True),  # larger than all that functions are looked at with
        (["s3 - s2", "s2 - s3"], True),
        (["s3 - s2", "8 - s3"], True),
        (["s3 - s2 - 1000"], True),
        (["s3 - s2", "s2 - s3", "s2 floordiv 4 * 4 - s2"], False),  # multiples of four
        (["s3 - s2", "s2 - 3", "2 - s2"], False),  # there are no such sizes
    ],
)
def test_what_is_not_shown_is_looked_for_at_sizes_that_a_function_is_for(assumed: list[str], refused: bool) -> None:
    text = FOR_SOME_SIZES.format(assumed=", ".join(f"affine_map<()[s0, s1, s2, s3] -> ({each})>" for each in assumed))
    if refused:
        with pytest.raises(Diagnostic, match="block @read reads %b at index"):
            parse(text).verify()
    else:
        parse(text).verify()


def test_sizes_that_hold_are_near_those_that_are_wanted() -> None:
    n, m, k = map(AffineExpr.symbol, range(3))
    for assumed, sizes in [
        ([], {0: 6, 1: 59, 2: 1}),
        ([n - 64], {0: 70, 1: 118, 2: 2}),
        ([n - m, m - n], {0: 6, 1: 6, 2: 1}),
        ([n - m, m - n, m - 64], {0: 70, 1: 70, 2: 7}),
        ([n - m * 2, m * 2 - n, m - k, k - m], {0: 6, 1: 3, 2: 3}),
        ([n % 8 * -1], {0: 8, 1: 59, 2: 1}),
        ([n - 5, n * -1 + 3], None),
    ]:
        assert sizes_that_hold({0: 6, 1: 59, 2: 1}, assumed) == sizes

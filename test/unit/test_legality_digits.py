"""What is shown for all sizes of blocks that are bound to quotients and remainders of loops is so at each."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from tvmscript_texts import function
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.affine import Linear, linear, linear_range, simplify
from weft.dialects.tir.core import BlockOp, PrimFuncOp, blocks_under
from weft.dialects.tir.legality.definedness import all_values_are_shown
from weft.dialects.tir.legality.digits import joined
from weft.dialects.tir.legality.function import not_proved
from weft.dialects.tir.loops import enclosing_loops
from weft.dialects.tir.specialize import specialize, symbols_of
from weft.tir import Schedule
from weft.transforms.infra.registry import new_ir_context

FUNCTION = """
tir.prim_func @f(%x: memref<?x{b}xf32>, %y: memref<?x{b}xf32>, %n: index) shapes(%x[%n, {b}], %y[%n, {b}]) {{
  %t = tir.alloc_buffer "global" [%n, {b}] : memref<?x{b}xf32>
  tir.for %o = 0 to {size} {{
    tir.for %u = 0 to {u} {{
      tir.block @write(%v: spatial %n, %w: spatial {b}) = [{first}, {second}]{where}
          reads(%x[%v, %w] : memref<?x{b}xf32>) writes(%t[%v, %w] : memref<?x{b}xf32>) {{
        %0 = memref.load %x[%v, %w] : memref<?x{b}xf32>
        memref.store %0, %t[%v, %w] : memref<?x{b}xf32>
      }}
    }}
  }}
  tir.for %i = 0 to %n {{
    tir.for %j = 0 to {b} {{
      tir.block @read(%v: spatial %n, %w: spatial {b}) = [%i, %j]
          reads(%t[%v, %w] : memref<?x{b}xf32>) writes(%y[%v, %w] : memref<?x{b}xf32>) {{
        %0 = memref.load %t[%v, %w] : memref<?x{b}xf32>
        memref.store %0, %y[%v, %w] : memref<?x{b}xf32>
      }}
    }}
  }}
}}
"""


def random_function(random: Random) -> str:
    """A function that writes elements at digits of two loops, often all of them, and reads all."""
    u, m, k = random.choice([1, 2, 3]), random.choice([1, 2, 4]), random.choice([1, 2, 3])
    b = random.choice([u, u, u, u + 1]) * m
    size = f"%n * {m * k}" + random.choice(["", "", "", " + 1", " - 1"])
    unit, count = random.choice([m, m, m, 1, 2]), random.choice([m, m, m, 2])
    first = f"%o floordiv {random.choice([m * k, m * k, m * k, m, 2])}" + random.choice([*[""] * 5, f" + %u * {u}"])
    second = random.choice(
        [
            first,
            f"%o mod {m} * {u} + %o mod {u}",
            f"(%o mod {m}) * {u + 1} + %u",
            f"(%o mod {count}) * {u} + %u",
            f"%u * {m} + %o mod {count}",
            f"(%o floordiv {unit}) mod {count} * {u} + %u",
            f"(%o mod {m * k}) floordiv {k} * {u} + %u",
        ]
    )
    where = random.choice(["", "", "", f" where [%n * {m} - %o]"])
    return FUNCTION.format(b=b, u=u, size=size, first=first, second=second, where=where)


def touched(block: BlockOp) -> set[tuple[int, ...]]:
    """The values that the iterators of a block take together."""
    found: set[tuple[int, ...]] = set()
    loops = enclosing_loops(block)
    for point in product(*(range(loop.start, loop.start + loop.trip_count) for loop in loops)):
        at: dict[SSAValue, int] = {loop.var: value for loop, value in zip(loops, point, strict=True)}
        values = [at[v] for v in block.loop_vars]
        if all(condition.eval(values, []) >= 0 for condition in block.conditions):
            found.add(tuple(binding.eval(values, []) for binding in block.bindings.data.results))
    return found


def test_what_is_shown_of_digits_is_so_at_each_size() -> None:
    random = Random(3)
    bound, covered, written, refused = 0, 0, 0, 0
    for _ in range(40):
        module = parse_module(random_function(random), new_ir_context())
        func = module.body.block.first_op
        assert isinstance(func, PrimFuncOp)
        said = [finding.message for finding in not_proved(func)]
        for size in (1, 2, 3, 4, 7):
            known = specialize(func, {symbols_of(func)[0].index: size})
            points = {
                point for block in blocks_under(known)[:-1] for point in touched(block)
            }  # of no loop that never runs
            columns = blocks_under(known)[-1].sizes[1]
            assert isinstance(columns, int)
            if not any("stay within" in message for message in said):
                assert all(0 <= v < size and 0 <= w < columns for v, w in points), str(func)
            for number, extent in enumerate((size, columns)):
                if not any("every value" in message for message in said):
                    assert {point[number] for point in points} >= set(range(extent)), str(func)
            if all_values_are_shown(blocks_under(func)):
                assert points >= set(product(range(size), range(columns))), str(func)
        bound += not any("stay within" in message for message in said)
        covered += not any("every value" in message for message in said)
        written += all_values_are_shown(blocks_under(func))
        try:
            func.verify()
        except Diagnostic:
            refused += 1
    assert bound >= 8 and covered >= 8 and written >= 4 and refused >= 8, (bound, covered, written, refused)


DIAGONAL = """
tir.prim_func @f(%x: memref<4xf32>, %y: memref<4x4xf32>) {
  %t = tir.alloc_buffer "global" : memref<4x4xf32>
  tir.for %o = 0 to 8 {
    tir.block @write(%v: spatial 4, %w: spatial 4) = [%o mod 4, %o mod 4]
        reads(%x[%v] : memref<4xf32>) writes(%t[%v, %w] : memref<4x4xf32>) {
      %0 = memref.load %x[%v] : memref<4xf32>
      memref.store %0, %t[%v, %w] : memref<4x4xf32>
    }
  }
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 4 {
      tir.block @read(%v: spatial 4, %w: spatial 4) = [%i, %j]
          reads(%t[%v, %w] : memref<4x4xf32>) writes(%y[%v, %w] : memref<4x4xf32>) {
        %0 = memref.load %t[%v, %w] : memref<4x4xf32>
        memref.store %0, %y[%v, %w] : memref<4x4xf32>
      }
    }
  }
}
"""


def test_one_digit_in_two_indices_writes_a_diagonal_only() -> None:
    func = parse_module(DIAGONAL, new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    assert not all_values_are_shown(blocks_under(func))
    whole = DIAGONAL.replace("[%o mod 4, %o mod 4]", "[%o mod 4, %o floordiv 4]").replace("%o = 0 to 8", "%o = 0 to 16")
    func = parse_module(whole, new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    assert all_values_are_shown(blocks_under(func))


@pytest.mark.parametrize(("times", "is_written"), [("1", True), ("%m + 1", True), ("%m", False), ("%m - 1", False)])
def test_what_a_loop_repeats_that_may_have_no_iterations_may_not_be_written(times: str, is_written: bool) -> None:
    text = FUNCTION.format(b=1, u=times, size="%n", first="%o", second="0", where="")
    func = parse_module(text.replace("%n: index)", "%n: index, %m: index)"), new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    assert all_values_are_shown(blocks_under(func)) is is_written


@pytest.mark.parametrize(
    ("size", "first", "where", "lacking"),
    [
        ("%n", "%o", "", None),
        ("%n", "%o - 1", "", "stay within"),
        ("%n", "%o + 1", "", "stay within"),
        ("%n + 3", "%o", " where [%n - 1 - %o]", None),
        ("%n + 3", "%o", " where [%n - %o]", "stay within"),
        ("%n + 3", "%o", " where [%n - 2 - %o]", "every value"),
    ],
)
def test_an_iterator_takes_all_values_of_its_extent_and_no_others(
    size: str, first: str, where: str, lacking: str | None
) -> None:
    text = FUNCTION.format(b=1, u=1, size=size, first=first, second="0", where=where)
    func = parse_module(text, new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    said = [finding.message for finding in not_proved(func)]
    assert any(lacking in each for each in said) if lacking else not said


COPY = """
@T.prim_func
def f(A: T.Buffer[(64, 64), "float32"], B: T.Buffer[(64, 64), "float32"]):
    S = T.alloc_buffer((64, 64), "float32", scope="shared")
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for o, t in T.grid({outer}, {threads}):
            for v in range({lanes}):
                with T.block("copy"):
                    T.where((o * {threads} + t) * {lanes} + v < {rows} * {columns})
                    vi = T.axis.spatial(64, ((o * {threads} + t) * {lanes} + v) // {columns}, partial=True)
                    vj = T.axis.spatial(64, b * {step} + ((o * {threads} + t) * {lanes} + v) % {columns}, partial=True)
                    S[vi, vj] = A[vi, vj]
        for i, j in T.grid({rows}, {columns}):
            with T.block("take"):
                vi = T.axis.spatial(64, i)
                vj = T.axis.spatial(64, b * {step} + j)
                B[vi, vj] = S[vi, vj]
"""


@pytest.mark.parametrize("lanes", [1, 2, 3])
@pytest.mark.parametrize(("rows", "columns", "step"), [(7, 13, 4), (5, 32, 16), (13, 7, 7)])
def test_copies_may_be_shared_out_whatever_their_rows_and_threads_are(
    rows: int, columns: int, step: int, lanes: int
) -> None:
    """The digits of a fused loop are the same only where it is: not told by how many elements they may count."""
    threads = 8
    outer = -(-rows * columns // (threads * lanes))
    text = COPY.format(outer=outer, threads=threads, lanes=lanes, rows=rows, columns=columns, step=step)
    schedule = Schedule(function(text), debug_mask="all")
    _, _, along, vector = schedule.get_loops("copy")
    schedule.bind(along, "threadIdx.x")
    schedule.vectorize(vector)


def test_digits_that_are_not_of_one_number_are_not_put_together() -> None:
    a, b, c = (AffineExpr.dimension(number) for number in range(3))
    number = a * 56 + b
    ranges = {a: (0, 9), b: (0, 55), c: (0, 3)}

    def told(*indices: AffineExpr) -> list[str]:
        found = joined(indices, lambda expr: expr, lambda expr: linear_range(linear(expr), ranges))
        return [str(each) for each in found]

    assert told(number // 61, number % 61) == [str(number)] == told(number // 183, number // 61 % 3, number % 61 + 5)
    assert told(number // 61, (a * 56 + b + 1) % 61) == [str(number // 61), str((number + 1) % 61)]
    assert told(number // 61, number % 60) == [str(number // 61), str(number % 60)]
    assert sorted(told(number // 8, (b % 8) * 4 + c)) == ["d0", "d1", "d2"]
    assert told((b * 4 + c) % 16, b // 4) == [str(b * 4 + c)]  # what is added to a quotient stays below it
    assert len(told((b * 3 + c) % 12, b // 4)) == len(told((b * 4 - c * 5) % 16, b // 4)) == 2
    assert told(a * 4 + b * 6 + c) == [str(a * 4 + b * 6 + c)]  # not all greater steps are multiples of the least
    assert sorted(told(b, (b + c) // 2)) == sorted([str(b), str((b + c) // 2)]) and told(b, b // 3) == [str(b)]


def test_what_digits_together_are_is_the_same_where_they_are() -> None:
    """At every two points, for random numbers of two or three loops and random digits of them."""
    random, seen = Random(5), 0
    for _ in range(150):
        sizes = [random.choice([2, 3, 4, 5]) for _ in range(3)]
        dims = [AffineExpr.dimension(number) for number in range(3)]
        number = sum(
            (dim * random.choice([1, 2, 3, 4, 6, 12]) for dim in dims[1:]), dims[0] * random.choice([1, 5, 12])
        )
        low, by = random.choice([1, 2, 3, 4]), random.choice([2, 3, 5])
        whole = [number // (low * by), number // low % by, number % low + random.choice([0, 3])]
        indices = [simplify(each) for each in random.sample(whole, random.choice([2, 3]))]
        indices += [dims[random.randrange(3)] * random.choice([0, 1])]
        ranges = {dim: (0, size - 1) for dim, size in zip(dims, sizes, strict=True)}
        fixed = random.choice([(), (0,)])

        def moved(expr: AffineExpr, fixed: tuple[int, ...] = fixed) -> AffineExpr:
            terms = {t: f for t, f in linear(expr).terms.items() if set(t.used_dims()) - set(fixed)}
            return Linear(terms, 0).to_expr()

        found = joined(indices, moved, lambda expr, ranges=ranges: linear_range(linear(expr), ranges))
        seen += len(found) < len(indices)
        places: dict[tuple[int, ...], tuple[int, ...]] = {}
        for point in product(*map(range, sizes)):
            still = [point[each] for each in fixed]
            here = (*still, *(each.eval(point, []) for each in indices))
            assert places.setdefault(here, (*still, *(each.eval(point, []) for each in found))) == (
                *still,
                *(each.eval(point, []) for each in found),
            ), (indices, found)
        assert len(set(places.values())) == len(places), (indices, found)
    assert seen > 40

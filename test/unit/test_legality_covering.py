"""What an iteration reads of a thread's own buffer, it has written: that is shown, or the loop is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest
from tvmscript_texts import function as script
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.affine import substitute
from weft.dialects.tir.core import BlockOp, PrimFuncOp, blocks_under
from weft.dialects.tir.legality import carried
from weft.dialects.tir.legality.covering import Place, covers
from weft.dialects.tir.legality.definedness import all_values_are_shown
from weft.dialects.tir.loops import enclosing_loops
from weft.transforms.infra.registry import new_ir_context

FUNCTION = """
tir.prim_func @f(%x: memref<64xf32>, %i: memref<64xi32>, %y: memref<64x64xf32>) {{
  %b = tir.alloc_buffer "local" : memref<64xf32>
  tir.for {kind} %o = 0 to 4 {annotations} {{
    tir.for %u = {first} to {u} {{
      tir.for %v = 0 to {v} {{
        tir.block @write(%w: partial spatial 64, %t: partial spatial 64) = [{written}, 0]{where}
            reads(%x[%w] : memref<64xf32>) writes(%b[%w] : memref<64xf32>) {{
          %0 = memref.load %x[%w] : memref<64xf32>
          memref.store %0, %b[%w] : memref<64xf32>
        }}
      }}
    }}
    tir.for %p = 0 to {p} {{
      tir.for %q = 0 to {q} {{
        tir.block @read(%a: partial spatial 64, %r: partial spatial 64, %n: partial spatial 64) =
            [%o, {read}, %p * 8 + %q]{when}
            reads(%b[%r] : memref<64xf32>) writes(%y[%a, %n] : memref<64x64xf32>) {{
          %0 = memref.load %b[%r] : memref<64xf32>
          memref.store %0, %y[%a, %n] : memref<64x64xf32>
        }}
      }}
    }}
  }}
}}
"""


def function(kind: str, written: str, read: str, sizes: tuple[int, int, int, int], **more: str) -> PrimFuncOp:
    u, v, p, q = sizes
    given = {"first": "0", "where": "", "when": "", "annotations": "", **more}
    text = FUNCTION.format(kind=kind, written=written, read=read, u=u, v=v, p=p, q=q, **given)
    func = parse_module(text, new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


def places(func: PrimFuncOp) -> list[Place]:
    """What is written of the private buffer, and what is read."""
    found: list[Place] = []
    for block in blocks_under(func):
        bound = block.bindings.data.results
        found.append(Place(block, block.writes[0], (bound[0 if block.block_name == "write" else 1],)))
    return found


def elements(block: BlockOp, place: Place, iteration: int) -> set[int]:
    """The elements that are touched in an iteration of the loop around both blocks."""
    assert place.index is not None
    outermost, *loops = enclosing_loops(block)
    found: set[int] = set()
    for point in product(*(range(loop.start, loop.start + loop.trip_count) for loop in loops)):
        at: dict[SSAValue, int] = {loop.var: value for loop, value in zip(loops, point, strict=True)}
        at[outermost.var] = iteration
        values = [at[v] for v in block.loop_vars]
        if all(c.eval(values, []) >= 0 for c in block.conditions):
            found.add(place.index[0].eval(values, []))
    return found


def terms(random: Random, common: int, first: str, second: str, count: int) -> str:
    """An index over the common loop and two of a block's own, the second of which has `count` iterations."""
    step = random.choice([1, 1, 1, 2])
    other = random.choice([count, count, count, 1, 3]) * step
    return f"%o * {common} + {first} * {other} + {second} * {step} + {random.choice([0, 0, 0, 1])}"


def test_what_is_said_to_be_covered_is() -> None:
    random = Random(0)
    said = 0
    for _ in range(24):
        u, v, p, q = (random.choice([1, 2, 3, 4]) for _ in range(4))
        u, common = u + random.choice([0, 0, 4]), random.choice([0, 1, 8])
        limits = [random.choice(["", f" where [%u * -{random.choice([1, 4])} - %v + {random.randint(3, 9)}]"])]
        limits += [random.choice(["", f" where [%p * -{random.choice([1, 4])} - %q + {random.randint(0, 9)}]"])]
        written, read = terms(random, common, "%u", "%v", v), terms(random, common, "%p", "%q", q)
        func = function("serial", written, read, (u, v, p, q), where=limits[0], when=limits[1])
        write, wanted = places(func)
        if covers([write], wanted):
            said += 1
            for iteration in range(4):
                assert elements(wanted.block, wanted, iteration) <= elements(write.block, write, iteration), str(func)
    assert said >= 4


def test_what_lies_about_an_index_is_covered_where_each_of_it_is() -> None:
    random = Random(5)
    said = 0
    for _ in range(24):
        u, v, p, q = (random.choice([1, 2, 3, 4]) for _ in range(4))
        where = random.choice(["", f" where [%u * -{v} - %v + {random.randint(3, 9)}]"])
        func = function("serial", f"%u * {v} + %v", f"%p * {q} + %q", (u + 4, v, p, q), where=where)
        write, wanted = places(func)
        far = random.randint(0, 6)
        if covers([write], replace(wanted, spread=(far,))):
            said += 1
            for above in range(far + 1):
                assert wanted.index is not None
                each = replace(wanted, index=(wanted.index[0] + above,))
                assert elements(each.block, each, 0) <= elements(write.block, write, 0), str(func)
    assert said >= 4


ROWS = """
tir.prim_func @rows(%x: memref<?x12xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n, 12], %y[%n]) {{
  %b = tir.alloc_buffer "global" [%n, 12] : memref<?x12xf32>
  tir.for parallel %i = 0 to %n {{
    tir.for %k = 0 to {written} {{
      tir.block @write(%v: spatial %n, %w: partial spatial 12) = [%i, %k]
          reads(%x[%v, %w] : memref<?x12xf32>) writes(%b[%v, %w] : memref<?x12xf32>) {{
        %0 = memref.load %x[%v, %w] : memref<?x12xf32>
        memref.store %0, %b[%v, %w] : memref<?x12xf32>
      }}
    }}
  }}
  tir.for parallel %i = 0 to %n {{
    tir.block @read(%v: spatial %n) = [%i] reads(%b : memref<?x12xf32>)
        writes(%y[%v] : memref<?xf32>) {{
      %c3 = arith.constant 3 : index
      %c5 = arith.constant 5 : index
      %cl = arith.constant {last} : index
      %0 = memref.load %b[%v, %c3] : memref<?x12xf32>
      %1 = memref.load %b[%v, %c5] : memref<?x12xf32>
      %2 = memref.load %b[%v, %cl] : memref<?x12xf32>
      %3 = arith.addf %0, %1 : f32
      %4 = arith.addf %3, %2 : f32
      memref.store %4, %y[%v] : memref<?xf32>
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("written", "last", "questions", "shown"), [(12, 11, 1, True), (8, 7, 1, True), (8, 8, 4, False), (6, 0, 1, True)]
)
def test_reads_that_differ_in_constants_are_looked_at_together(
    written: int, last: int, questions: int, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    func = parse_module(ROWS.format(written=written, last=last), new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    asked: list[Place] = []

    def counted(writes: list[Place], read: Place) -> bool:
        asked.append(read)
        return covers(writes, read)

    monkeypatch.setattr(carried, "covers", counted)
    assert all_values_are_shown(blocks_under(func)) == shown
    assert len(asked) <= questions


@pytest.mark.parametrize(
    ("written", "read", "sizes", "where", "when"),
    [
        ("%u * 4 + %v", "%p * 8 + %q", (4, 4, 2, 8), "", ""),
        ("%o * 16 + %u * 4 + %v", "%o * 16 + %p * 8 + %q", (4, 4, 2, 8), "", ""),
        ("%u * 4 + %v", "%p * 8 + %q + 1", (4, 4, 1, 8), "", ""),
        ("%u * 4 + %v", "%p * 8 + %q", (4, 4, 2, 8), " where [%u * -4 - %v + 10]", " where [%p * -8 - %q + 10]"),
        ("%u", "%p * 4 + %q", (63, 1, 4, 4), " where [62 - %u]", " where [%p * -4 - %q + 12]"),
    ],
)
def test_elements_that_other_loops_write_are_found(
    written: str, read: str, sizes: tuple[int, int, int, int], where: str, when: str
) -> None:
    func = function("parallel", written, read, sizes, where=where, when=when)
    write, wanted = places(func)
    assert covers([write], wanted)
    func.verify()


@pytest.mark.parametrize(("first", "is_covered"), [("0", True), ("1", False)])
def test_digits_are_those_of_a_loop_that_begins_at_zero(first: str, is_covered: bool) -> None:
    func = function("serial", "%u mod 4 * 4 + %u floordiv 4", "%p * 8 + %q", (16 + int(first), 1, 2, 8), first=first)
    write, wanted = places(func)
    assert covers([write], wanted) is is_covered
    assert (elements(wanted.block, wanted, 0) <= elements(write.block, write, 0)) is is_covered


SEVERAL = """
tir.prim_func @f(%x: memref<64xf32>, %y: memref<4x64xf32>) {{
  %b = tir.alloc_buffer "local" : memref<64xf32>
  tir.for parallel %o = 0 to 4 {{
{writers}
    tir.for %p = 0 to {size} {{
      tir.block @read(%a: spatial 4, %r: partial spatial 64) = [%o, %p]
          reads(%b[%r] : memref<64xf32>) writes(%y[%a, %r] : memref<4x64xf32>) {{
        %0 = memref.load %b[%r] : memref<64xf32>
        memref.store %0, %y[%a, %r] : memref<4x64xf32>
      }}
    }}
  }}
}}
"""
WRITER = """
    tir.for %u = 0 to {u} {{
      tir.for %v = 0 to {v} {{
        tir.block @write(%w: partial spatial 64) = [%u * {v} + %v + {start}]{where}
            reads(%x[%w] : memref<64xf32>) writes(%b[%w] : memref<64xf32>) {{
          %0 = memref.load %x[%w] : memref<64xf32>
          memref.store %0, %b[%w] : memref<64xf32>
        }}
      }}
    }}
"""


def written_by(size: int, *parts: tuple[int, int, int, str]) -> PrimFuncOp:
    """A function in which blocks write `u * v` elements from `start` on, and one reads `size`."""
    writers = "".join(WRITER.format(start=start, u=u, v=v, where=where) for start, u, v, where in parts)
    func = parse_module(SEVERAL.format(writers=writers, size=size), new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


@pytest.mark.parametrize(
    ("size", "parts"),
    [
        (17, [(0, 1, 16, ""), (16, 1, 1, "")]),
        (33, [(0, 2, 16, ""), (32, 2, 16, " where [%u * -16 - %v]")]),
        (40, [(32, 4, 4, " where [%u * -4 - %v + 7]"), (16, 1, 16, ""), (0, 4, 4, "")]),
        (24, [(8, 2, 4, ""), (0, 2, 4, ""), (12, 3, 4, "")]),
    ],
)
def test_elements_that_several_blocks_write_are_found(size: int, parts: list[tuple[int, int, int, str]]) -> None:
    written_by(size, *parts).verify()
    with pytest.raises(Diagnostic):
        written_by(size + 1, *parts).verify()


def test_what_several_blocks_are_said_to_cover_they_do() -> None:
    random = Random(1)
    said = 0
    for _ in range(24):
        parts: list[tuple[int, int, int, str]] = []
        at = 0
        for _ in range(random.randint(2, 3)):
            u, v = random.randint(1, 4), random.randint(1, 4)
            keep = random.choice([u * v, u * v, random.randint(0, u * v)])
            where = "" if keep == u * v and random.random() < 0.7 else f" where [%u * -{v} - %v + {keep - 1}]"
            parts.append((max(0, at + random.choice([0, 0, 0, 0, -1, 1])), u, v, where))
            at += keep
        random.shuffle(parts)
        func = written_by(max(1, at + random.choice([0, 0, 0, -1, 1])), *parts)
        *writes, wanted = places(func)
        if covers(writes, wanted):
            said += 1
            written = set[int]().union(*(elements(write.block, write, 0) for write in writes))
            assert elements(wanted.block, wanted, 0) <= written, str(func)
    assert said >= 6


GATHERED = """
tir.prim_func @f(%x: memref<8xf32>, %i: memref<4x8xindex>, %y: memref<4x8xf32>) {
  %b = tir.alloc_buffer "local" : memref<8xf32>
  tir.for parallel %o = 0 to 4 {
    tir.for %u = 0 to EXTENT {
      tir.block @write(%w: partial spatial 8) = [%u] reads(%x[%w] : memref<8xf32>) writes(%b[%w] : memref<8xf32>) {
        %0 = memref.load %x[%w] : memref<8xf32>
        memref.store %0, %b[%w] : memref<8xf32>
      }
    }
    tir.for %p = 0 to 8 {
      tir.block @read(%a: spatial 4, %r: spatial 8) = [%o, %p]
          reads(%i[%a, %r] : memref<4x8xindex>, %b : memref<8xf32>) writes(%y[%a, %r] : memref<4x8xf32>) {
        %0 = memref.load %i[%a, %r] : memref<4x8xindex>
        %1 = memref.load %b[%0] : memref<8xf32>
        memref.store %1, %y[%a, %r] : memref<4x8xf32>
      }
    }
  }
}
"""


def test_what_is_read_at_a_place_that_data_says_is_written_where_all_is() -> None:
    parse_module(GATHERED.replace("EXTENT", "8"), new_ir_context()).verify()


@pytest.mark.parametrize(("guard", "covered"), [("p - 1", True), ("p + q - 2", True), ("p", False)])
def test_what_is_never_read_needs_no_writer(guard: str, covered: bool) -> None:
    """As where a loop was cut into its first iteration, in the padding, and the others: `p` is 0, and `q` at most 1."""
    write, read = places(function("parallel", "%v", "%q - 1", (1, 8, 1, 2)))
    q, p = (AffineExpr.dimension(n) for n in (1, 2))  # as they stand in the block's bindings
    guards = {"p - 1": p - 1, "p + q - 2": p + q - 2, "p": p}
    assert covers([write], replace(read, guards=(guards[guard],))) is covered


def test_what_an_iteration_is_not_shown_to_write_is_refused_unless_the_loop_says_that_it_is_independent() -> None:
    text = GATHERED.replace("EXTENT", "7")
    with pytest.raises(Diagnostic, match="parallel loop: it is not shown that each iteration of %o writes"):
        parse_module(text, new_ir_context()).verify()
    annotated = text.replace("%o = 0 to 4", "%o = 0 to 4 annotations {independent}")
    parse_module(annotated, new_ir_context()).verify()


ADDED_UP = """
tir.prim_func @f(%x: memref<8x4xf32>, %y: memref<4xf32>) {
  %b = tir.alloc_buffer "local" : memref<4xf32>
  tir.for %k = 0 to 8 {
    tir.for parallel %i = 0 to 4 {
      tir.block @sum(%v: spatial 4, %s: reduce 8) = [%i, %k]
          reads(%x[%s, %v] : memref<8x4xf32>) writes(%b[%v] : memref<4xf32>) {
        %0 = memref.load %b[%v] : memref<4xf32>
        %1 = memref.load %x[%s, %v] : memref<8x4xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %b[%v] : memref<4xf32>
      } init(%w, %t) {
        %3 = arith.constant 0.0 : f32
        memref.store %3, %b[%w] : memref<4xf32>
      }
      tir.block @copy(%v: spatial 4) = [%i] where [%k - 7]
          reads(%b[%v] : memref<4xf32>) writes(%y[%v] : memref<4xf32>) {
        %0 = memref.load %b[%v] : memref<4xf32>
        memref.store %0, %y[%v] : memref<4xf32>
      }
    }
  }
}
"""


def test_a_sum_that_threads_would_go_on_with_in_a_later_iteration_is_refused() -> None:
    """Which of them begins it at the first step says nothing of which of them takes the next."""
    with pytest.raises(Diagnostic, match="it is not shown that each iteration of %i writes what it reads of %b"):
        parse_module(ADDED_UP, new_ir_context()).verify()


GUARDED = """
@T.prim_func
def f(x: T.Buffer[(112,), "float32"], y: T.Buffer[(56,), "float32"]):
    for h in T.parallel(14):
        b = T.alloc_buffer((112,), "float32", scope="local")
        for i in range(9):
            with T.block("to"):
                T.where({written} <= h * 8 + i)
                b[h * 8 - 1 + i] = x[h * 8 - 1 + i]
        for i, k in T.grid(4, 3):
            with T.block("from"):
                y[h * 4 + i] = T.float32(0)
                if {read} <= (h * 4 + i) * 2 + k:
                    y[h * 4 + i] = b[(h * 4 + i) * 2 + k - 1]
"""

BEGUN = """
@T.prim_func
def f(x: T.Buffer[(8, 4), "float32"], y: T.Buffer[(8,), "float32"]):
    for o in range(2):
        for i in T.parallel(8):
            b = T.alloc_buffer((8,), "float32", scope="local")
            for k in range(4):
                with T.block("sum"):
                    if {begins}:
                        b[i] = T.float32(0)
                    b[i] = b[i] + x[i, k]
            with T.block("out"):
                y[i] = b[i]
"""


def is_refused(text: str) -> bool:
    try:
        script(text).verify()
    except Diagnostic as error:
        assert "b" in str(error)
        return True
    return False


@pytest.mark.parametrize(("written", "read", "refused"), [(1, 1, False), (1, 2, False), (2, 1, True)])
def test_what_is_read_under_a_branch_is_written_where_a_predicate_holds(written: int, read: int, refused: bool) -> None:
    assert is_refused(GUARDED.format(written=written, read=read)) is refused


@pytest.mark.parametrize(
    ("begins", "refused"),
    [("k == 0", False), ("k < 1", False), ("k == 0 and o == 0", True), ("k == 1", True), ("k == 0 and i < 4", True)],
)
def test_a_sum_begins_under_a_branch_in_its_first_step(begins: str, refused: bool) -> None:
    assert is_refused(BEGUN.format(begins=begins)) is refused


@pytest.mark.parametrize(("where", "refused"), [("", False), ("T.where(k > 0)", True)])
def test_a_sum_whose_first_step_is_left_out_does_not_begin(where: str, refused: bool) -> None:
    text = BEGUN[: BEGUN.index('            with T.block("out")')] + "                    y[i] = b[i]\n"
    text = text.replace('T.block("sum"):', f'T.block("sum"):\n                    {where or "pass"}')
    assert is_refused(text.format(begins="k == 0")) is refused


FUSED = """from weft.script import tir as T
@T.prim_func
def copies(X: T.Buffer[(256, 256, 16), "float32"], Y: T.Buffer[(2, 256, 256, 16), "float32"]):
  B = T.alloc_buffer((256, 256, 16), "float32")
  for o in range(2):
      for u, t, v in T.grid({u}, {t}, {v}):
          with T.block("write"):
              w = T.axis.spatial(256, {number} // {of_row}, partial=True)
              x = T.axis.spatial(256, {number} // {deep} % {columns} + {shift}, partial=True)
              y = T.axis.spatial(16, {number} % {deep}, partial=True)
              T.where({number} < {limit})
              B[w, x, y] = X[w, x, y]
      for i, j, k in T.grid({rows}, {columns}, {deep}):
          with T.block("read"):
              vo, vi, vj, vk = T.axis.remap("SSSS", [o, i, j, k])
              Y[vo, vi, vj, vk] = B[vi, vj, vk]
"""


def fused_copy(loops: tuple[int, int, int], box: tuple[int, int, int], **more: object) -> list[Place]:
    """A copy into a box whose loops are fused, and handed to three others; and what reads the box."""
    (u, t, v), (rows, columns, deep) = loops, box
    given = {
        "number": f"(u * {t * v} + t * {v} + v)", "shift": 0, "limit": rows * columns * deep, "rows": rows, **more,
    }  # fmt: skip
    text = FUSED.format(u=u, t=t, v=v, columns=columns, deep=deep, of_row=columns * deep, **given)
    func = script(text)
    found: list[Place] = []
    for block in blocks_under(func):
        (access,) = [each for each in block.accesses() if each.buffer.name_hint == "B"]
        assert access.map is not None
        index = tuple(substitute(each, block.bindings.data.results) for each in access.map.results)
        found.append(Place(block, access.buffer, index))
    return found


def touched(place: Place) -> set[tuple[int, ...]]:
    """The elements of a box that are touched in the first iteration of the loop around both blocks."""
    assert place.index is not None
    outermost, *loops = enclosing_loops(place.block)
    found: set[tuple[int, ...]] = set()
    for point in product(*(range(loop.trip_count) for loop in loops)):
        at: dict[SSAValue, int] = {loop.var: value for loop, value in zip(loops, point, strict=True)}
        values = [at.get(v, 0) for v in place.block.loop_vars]
        assert outermost.start == 0
        if all(c.eval(values, []) >= 0 for c in place.block.conditions):
            found.add(tuple(each.eval(values, []) for each in place.index))
    return found


def test_a_copy_whose_fused_loop_is_handed_to_others_covers_what_it_writes() -> None:
    random = Random(1)
    said = reached = 0
    for _ in range(24):
        box = random.randint(1, 4), random.randint(1, 5), random.randint(1, 3)
        size = box[0] * box[1] * box[2]
        t, v = random.choice([2, 3, 4]), random.choice([1, 2, 3, 4])
        u = max(1, -(-size // (t * v)) + random.choice([0, 0, -1, 1]))
        more: dict[str, object] = {"limit": size + random.choice([0, 0, -1, 2]), "shift": random.choice([0, 0, 0, 1])}
        if random.random() < 0.2:
            more["number"] = f"(u * {t * v + 1} + t * {v} + v)"
        write, read = fused_copy((u, t, v), box, **more)
        is_covered = touched(read) <= touched(write)
        reached += is_covered
        if covers([write], read):
            said += 1
            assert is_covered, str(write.block)
    assert reached >= 8 and said * 3 >= reached * 2


@pytest.mark.parametrize(
    ("loops", "box"),
    [((4, 218, 3), (7, 21, 16)), ((5, 4, 2), (4, 5, 2)), ((4, 3, 4), (4, 5, 2)), ((722, 218, 1), (229, 229, 3))],
)
def test_digits_of_a_number_of_several_loops_are_put_together(
    loops: tuple[int, int, int], box: tuple[int, int, int]
) -> None:
    write, read = fused_copy(loops, box)
    assert covers([write], read)
    for write, read in (
        fused_copy(loops, box, limit=box[0] * box[1] * box[2] - 1),
        fused_copy(loops, box, shift=1),
        fused_copy(loops, box, number=f"(u * {loops[1] * loops[2] + 1} + t * {loops[2]} + v)"),
    ):
        assert not covers([write], read)

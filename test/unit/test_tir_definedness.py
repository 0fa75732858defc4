"""What is read was written before: programs that are refused, and such that are not, held to following them by hand."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.integers import Range
from weft.dialects.tir.legality.reached import MAX_TRIED, Instances, fills
from weft.dialects.tir.symbols import dimension
from weft.tir import from_source
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(3)

WRITE = """
    for i, j in T.grid(4, 4):
        with T.block("WORD"):
            vi, vj = T.axis.remap("SS", [i, j])
            WHERE
                t[vi, vj] = x[vi]
"""
READ = """
    for i, j in T.grid(4, 4):
        with T.block("r"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi * 4 + vj] = VALUE
"""


def written(where: str, word: str = "w") -> str:
    return WRITE.replace("WHERE", where).replace("WORD", word)


def read(value: str = "t[vi, vj]") -> str:
    return READ.replace("VALUE", value)


def each(count: int, statements: str, name: str = "w") -> str:
    body = "\n".join(f"            {line}" for line in statements.split("\n"))
    head = f"    for i in range({count}):\n        with T.block({name!r}):\n            v = T.axis.opaque({count}, i)"
    return f"\n{head}\n{body}"


REFUSED = {
    "a diagonal": ("(4, 4)", each(4, "t[v, v] = x[v]") + read(), r"reads %t at \[0, 1\], where nothing is written"),
    "a triangle under a branch": ("(4, 4)", written("if vj <= vi:") + read(), r"reads %t at \[0, 1\], where nothing"),
    "more than is written, under a branch": (
        "(4, 4)",
        written("if vj <= vi:") + read("T.if_then_else(vj <= vi + 1, t[vi, vj], T.float32(0))"),
        r"reads %t at \[0, 1\], where nothing is written to it",
    ),
    "every other element": ("(16,)", each(8, "t[v * 2] = x[v]\nt[15] = x[0]") + each(16, "y[v] = t[v]"), r"at \[1\]"),
    "remainders": ("(16,)", each(16, "t[v * 4 % 16] = x[0]\nt[15] = x[0]") + each(16, "y[v] = t[v]"), r"at \[1\], wh"),
    "what comes later": ("(16,)", each(16, "t[v] = x[v]\ny[v] = t[15 - v]"), r"reads %t at \[15\] before that is wri"),
    "the next iteration's": ("(16,)", each(15, "y[v] = t[v]\nt[v + 1] = x[v]\nt[0] = x[v]"), "reads %t before any"),
    "steps that data counts": (
        "(16,)",
        each(16, 'for j in range(T.cast(x[v], "int32")):\n    t[v] = x[j]') + each(16, "y[v] = t[v]", name="r"),
        "reads %t at any index, where nothing is written to it, unless data says so",
    ),
    "a large diagonal": (
        "(512, 512)",
        each(512, "t[v, v] = x[0]") + each(512, "y[0] = t[v, 511 - v]", name="r"),
        r"reads %t at \[0, 511\], where nothing is written to it",
    ),
}  # fmt: skip
ACCEPTED = {
    "two triangles": ("(4, 4)", written("if vj <= vi:") + written("if vj > vi:", "other") + read()),
    "a triangle where it is written": (
        "(4, 4)",
        written("if vj <= vi:") + read("T.if_then_else(vj <= vi, t[vi, vj], T.float32(0))"),
    ),
    "even and odd": ("(16,)", each(8, "t[v * 2] = x[v]\nt[v * 2 + 1] = x[v]") + each(16, "y[v] = t[v]", name="r")),
    "remainders": ("(16,)", each(16, "t[v * 3 % 16] = x[0]") + each(16, "y[v] = t[v]", name="r")),
    "what came before": ("(16,)", each(16, "t[v] = x[v]\ny[v] = t[v // 2]")),
    "as many steps as the row says": (
        "(16,)",
        each(16, "for j in range(v + 1):\n    t[v] = x[j]") + each(16, "y[v] = t[v]", name="r"),
    ),
    "a scan": (
        "(16,)",
        each(16, "if v == 0:\n    t[v] = x[v]\nelse:\n    t[v] = t[v - 1] + x[v]\ny[v] = t[v]"),
    ),
}  # fmt: skip


def source(shape: str, body: str) -> str:
    head = 'def f(x: T.Buffer[(16,), "float32"], y: T.Buffer[(16,), "float32"]):'
    return f'@T.prim_func\n{head}\n    t = T.alloc_buffer({shape}, "float32")\n{body}'


@pytest.mark.parametrize("name", REFUSED)
def test_what_nobody_has_written_is_not_read(name: str) -> None:
    shape, body, message = REFUSED[name]
    with pytest.raises(Diagnostic, match=message):
        from_source(source(shape, body), check_well_formed=True)


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_written_is_read(name: str) -> None:
    from_source(source(*ACCEPTED[name]), check_well_formed=True)


def test_threads_of_a_block_are_not_taken_for_one_after_the_other() -> None:
    from_source(
        """
@T.prim_func
def f(x: T.Buffer[(16,), "float32"], y: T.Buffer[(16,), "float32"]):
    t = T.alloc_buffer((16,), "float32", scope="shared")
    for i in T.thread_binding(16, "threadIdx.x"):
        with T.block("w"):
            v = T.axis.spatial(16, i)
            t[v] = x[v]
        with T.block("r"):
            v = T.axis.spatial(16, i)
            y[v] = t[15 - v]
""",
        check_well_formed=True,
    )


KERNEL = """relay.func @main(%x: tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<4xf32>) -> tensor<4x4xf32>
  relay.return %0 : tensor<4x4xf32>
}
tir.prim_func @k(%x: memref<4xf32>, %y: memref<4x4xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 4 {
      tir.block @w(%v: spatial 4, %w: spatial 4) = [%i, %j] reads(%x[%v] : memref<4xf32>)
          writes(%y[%v, %w] : memref<4x4xf32>) {
        %0 = memref.load %x[%v] : memref<4xf32>
        %c = arith.cmpi PREDICATE, %w, %v : index
        scf.if %c {
          memref.store %0, %y[%v, %w] : memref<4x4xf32>
        }
      }
    }
  }
}
"""


@pytest.mark.parametrize(
    ("predicate", "place"), [("sle", "0, 1"), ("ne", "0, 0"), ("eq", "0, 1"), ("ult", "0, 0"), ("sge", "1, 0")]
)
def test_every_element_of_a_result_is_written(predicate: str, place: str) -> None:
    with pytest.raises(Diagnostic, match=rf"nothing is written to %y at \[{place}\]"):
        parse_module(KERNEL.replace("PREDICATE", predicate), new_ir_context()).verify()


Index = tuple[int, int, int]
"""What `i` and `j` are multiplied with, and what is added."""
Touched = tuple[int, int, Index, Index, Index | None]
"""How many iterations there are of `i` and `j`, the two indices, and what is at least 0 where the access is made."""

small = st.integers(0, 4)
limits = st.none() | st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(-3, 3))
indices = st.tuples(small, small, small)
accesses = st.tuples(st.integers(1, 4), st.integers(1, 4), indices, indices, limits)


def nest(number: int, access: Touched, done: str) -> str:
    rows, columns, first, second, limit = access
    place = ", ".join(f"(vi * {a} + vj * {b} + {c}) % {n}" for (a, b, c), n in ((first, 3), (second, 4)))
    guard = "" if limit is None else f"if vi * {limit[0]} + vj * {limit[1]} + {limit[2]} >= 0:\n                "
    return f"""
    for i, j in T.grid({rows}, {columns}):
        with T.block("b{number}"):
            vi = T.axis.opaque({rows}, i)
            vj = T.axis.opaque({columns}, j)
            {guard}{done.format(place)}
"""


def places(access: Touched) -> set[tuple[int, int]]:
    """The elements that an access touches."""
    rows, columns, (a, b, c), (d, e, f), limit = access
    return {
        ((i * a + j * b + c) % 3, (i * d + j * e + f) % 4)
        for i, j in product(range(rows), range(columns))
        if limit is None or i * limit[0] + j * limit[1] + limit[2] >= 0
    }


@settings(max_examples=60, deadline=None)
@given(st.lists(accesses, min_size=1, max_size=3), accesses)
def test_small_functions_are_decided_rightly(writes: list[Touched], last: Touched) -> None:
    nests = [nest(number, access, "t[{}] = x[0]") for number, access in enumerate(writes)]
    text = source("(3, 4)", "".join(nests) + nest(len(writes), last, "y[0] = t[{}]"))
    if places(last) <= set[tuple[int, int]]().union(*map(places, writes)):
        from_source(text, check_well_formed=True)
    else:
        with pytest.raises(Diagnostic, match="reads %t "):
            from_source(text, check_well_formed=True)


def part(kind: int, loop: int, first: int, second: int, factor: int) -> AffineExpr:
    d = dimension(loop)
    return [d, d // first, d % second, d // first % second, d // first + d % second][kind] * factor + first


ends = st.tuples(st.integers(-2, 2), st.integers(0, 11)).map(lambda pair: (pair[0], pair[0] + pair[1]))
parts = st.builds(
    part, st.integers(0, 4), st.integers(0, 1), st.integers(1, 6), st.integers(1, 6), st.sampled_from([-2, -1, 1, 2, 3])
)


@settings(max_examples=300, deadline=None)
@given(ends, ends, st.lists(parts, min_size=1, max_size=3), st.integers(0, 200))
def test_the_iterations_that_touch_an_element_are_those_that_do(
    first: Range, second: Range, index: list[AffineExpr], number: int
) -> None:
    access = Instances([], [first, second], index, [], True)
    points = list(product(*[range(low, high + 1) for low, high in (first, second)]))
    element = access.element(points[number % len(points)])
    found = access.touching(element)
    assert found is not None
    moving = {n: (n in access.deciding) for n in (0, 1)}
    expected = {
        tuple(value if moving[n] else access.ranges[n][0] for n, value in enumerate(point))
        for point in points
        if access.element(point) == element
    }
    assert sorted(map(tuple, found)) == sorted(expected)


def test_quotients_and_remainders_lead_to_few_of_many_iterations() -> None:
    loop = dimension(0)
    access = Instances([], [(0, 999_999)], [loop // 1400, loop // 14 % 100, loop % 14], [], True)
    assert access.touching((3, 5, 7)) == [(3 * 1400 + 5 * 14 + 7,)]
    assert Instances([], [(0, 999_999)], [loop // 14, loop % 14], [], True).touching((3, 14)) == []
    stretch = Instances([], [(0, 999_999)], [loop // MAX_TRIED], [], True).touching((3,))
    assert stretch is not None and len(stretch) == MAX_TRIED  # as many as are tried
    other = dimension(1)
    access = Instances([], [(0, 9), (0, 9999)], [loop * 2, other // 3 + other % 5], [], True)
    assert access.touching((4, 7)) is None and access.touching((3, 7)) == []


def test_an_index_fills_a_dimension_where_its_steps_leave_no_gaps() -> None:
    one, other = dimension(0), dimension(1)
    assert fills(Instances([], [(0, 1), (0, 1)], [one * 2 + other], [], True), (4,))
    assert fills(Instances([], [(0, 3)], [one // 2, one % 2], [], True), (2, 2))
    assert not fills(Instances([], [(0, 1)], [one * 2], [], True), (3,))
    assert not fills(Instances([], [(0, 3)], [one // 2 * 2], [], True), (3,))

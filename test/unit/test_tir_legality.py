"""The checks of `tir` are never mistaken: what they prove holds everywhere, what they refute fails somewhere."""

from __future__ import annotations

import re
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir import Operation
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.affine import Range
from weft.dialects.tir.core import OPS, ForKind, ForOp, PrimFuncOp
from weft.dialects.tir.legality.decide import Space, Verdict, within
from weft.dialects.tir.legality.dependence import _are_digits, check_independence  # pyright: ignore[reportPrivateUsage]
from weft.dialects.tir.legality.function import not_proved
from weft.dialects.tir.legality.loops import check_kind
from weft.lowering.tir_to_loops.convert_tir_to_loops import lower_prim_func
from weft.transforms.infra.registry import new_ir_context

many = settings(max_examples=80)

dims = st.integers(0, 2).map(AffineExpr.dimension)
exprs = st.recursive(
    st.one_of(dims, st.integers(-4, 9).map(AffineConstantExpr)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, st.integers(-3, 5)).map(lambda p: p[0] * p[1]),
        st.tuples(inner, st.integers(1, 5)).map(lambda p: p[0] // p[1]),
        st.tuples(inner, st.integers(1, 5)).map(lambda p: p[0] % p[1]),
    ),
    max_leaves=5,
)
ranges = st.tuples(st.integers(-2, 3), st.integers(0, 5)).map(lambda p: (p[0], p[0] + p[1]))


@many
@given(exprs, st.integers(1, 12), st.tuples(ranges, ranges, ranges), st.lists(exprs, max_size=2), st.booleans())
def test_a_verdict_on_a_range_is_right(
    expr: AffineExpr, extent: int, of: tuple[Range, ...], conditions: list[AffineExpr], search: bool
) -> None:
    answer = within(expr, extent, Space(of, tuple(conditions)), search=search)
    points = product(*(range(low, high + 1) for low, high in of))
    values = [expr.eval(p, []) for p in points if all(c.eval(p, []) >= 0 for c in conditions)]
    if answer.verdict == Verdict.PROVED:
        assert all(0 <= value < extent for value in values)
    elif answer.verdict == Verdict.REFUTED:
        assert answer.value == expr.eval(answer.point, []) and not 0 <= answer.value < extent
        assert all(c.eval(answer.point, []) >= 0 for c in conditions)
    assert not search or answer.verdict != Verdict.UNKNOWN  # so small a space is searched


def parsed(text: str) -> PrimFuncOp:
    """The first function of `text`."""
    func = parse_module(text, new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


indices = st.sampled_from([
    "%v", "%v floordiv 2", "%v floordiv 3", "%v mod 2", "%v mod 3", "%v * 2", "%w", "%v + %w", "%v * 2 + %w",
    "%v * 3 + %w", "%v floordiv 2 * 3 + %w", "0", "%w + 1", "%v + 1",
])  # fmt: skip
OPERATIONS = {"+": "addi", "*": "muli", "floordiv": "divui", "mod": "remui"}


def value_of(index: str, v: int, w: int) -> int:
    """The value of one of `indices`, whose operators all bind to the left."""
    total, operator = 0, "+"
    for token in index.split():
        if token in OPERATIONS:
            operator = token
            continue
        value = {"%v": v, "%w": w}.get(token) if token.startswith("%") else int(token)
        assert value is not None
        total = {
            "+": total + value,
            "*": total * value,
            "floordiv": total // (value or 1),
            "mod": total % (value or 1),
        }[operator]
    return total


def operations(name: str, index: str) -> tuple[list[str], str]:
    """The operations that compute one of `indices`, and the name of the result."""
    lines: list[str] = []
    result, operator = "", "+"
    for number, token in enumerate(index.split()):
        if token in OPERATIONS:
            operator = token
            continue
        operand = token
        if not token.startswith("%"):
            operand = f"%{name}c{number}"
            lines.append(f"{operand} = arith.constant {token} : index")
        if result:
            lines.append(f"%{name}r{number} = arith.{OPERATIONS[operator]} {result}, {operand} : index")
            operand = f"%{name}r{number}"
        result = operand
    return lines, result


@many
@given(indices, indices, indices, indices, st.integers(2, 6), st.integers(1, 4))
def test_iterations_are_said_to_be_independent_where_they_are(
    a: str, b: str, c: str, d: str, extent: int, inner: int
) -> None:
    computed = [operations(name, index) for name, index in zip("abcd", (a, b, c, d), strict=True)]
    lines = [line for found, _ in computed for line in found]
    p, q, r, s = (result for _, result in computed)
    body = "\n".join([
        *lines, f"%x = memref.load %t[{r}, {s}] : memref<40x40xf32>",
        f"memref.store %x, %t[{p}, {q}] : memref<40x40xf32>",
    ])  # fmt: skip
    func = parsed(f"""
tir.prim_func @f(%t: memref<40x40xf32>) {{
  tir.for %i = 0 to {extent} {{
    tir.for %j = 0 to {inner} {{
      tir.block @b(%v: spatial {extent}, %w: spatial {inner}) = [%i, %j]
          reads(%t[{c}, {d}] : memref<40x40xf32>) writes(%t[{a}, {b}] : memref<40x40xf32>) {{
        {body}
      }}
    }}
  }}
}}""")
    func.verify()
    loop = next(op for op in func.walk() if isinstance(op, ForOp))
    points = list(product(range(extent), range(inner)))
    writes = [((value_of(a, *p), value_of(b, *p)), p[0]) for p in points]
    reads = [((value_of(c, *p), value_of(d, *p)), p[0]) for p in points]
    meet = any(x == y and i != j for x, i in writes for y, j in (*writes, *reads))
    # So small a space is searched: where they meet, that is certain.
    assert any(finding.certain for finding in check_independence(loop)) == meet
    assert any(finding.certain for finding in check_kind(loop, ForKind.PARALLEL)) == meet
    assert not meet or list(check_kind(loop, ForKind.SERIAL)) == []


def test_a_fused_loop_of_tiles_is_independent() -> None:
    func = parsed("""
tir.prim_func @f(%y: memref<40x1200xf32>, %z: f32) {
  tir.for parallel %ij = 0 to 1200 {
    tir.for %k = 0 to 40 {
      tir.block @b(%v: spatial 40, %w: spatial 1200) = [%ij floordiv 300 * 10 + %k floordiv 4,
          (%ij mod 300) * 4 + %k mod 4] reads() writes(%y[%v, %w] : memref<40x1200xf32>) {
        memref.store %z, %y[%v, %w] : memref<40x1200xf32>
      }
    }
  }
}""")
    func.verify()
    assert not_proved(func) == []


@pytest.mark.parametrize(
    "row, place", [("%i mod 90000 floordiv 300", "%i mod 90000 mod 300"), ("%i floordiv 300 mod 300", "%i mod 300")]
)
def test_digits_of_a_fused_loop_tell_its_iterations_apart_however_many_they_are(row: str, place: str) -> None:
    func = parsed(f"""
tir.prim_func @f(%y: memref<4x300x300xf32>, %z: f32) {{
  tir.for parallel %i = 0 to 360000 {{
    tir.block @b(%u: spatial 4, %v: spatial 300, %w: spatial 300) = [%i floordiv 90000, {row}, {place}]
        reads() writes(%y[%u, %v, %w] : memref<4x300x300xf32>) {{
      memref.store %z, %y[%u, %v, %w] : memref<4x300x300xf32>
    }}
  }}
}}""")
    func.verify()
    assert not_proved(func) == []


def test_what_are_digits_tells_every_number() -> None:
    i = AffineExpr.dimension(0)
    atoms = [i // 2, i % 2, i // 4, i % 4, i // 2 % 2, i % 4 // 2, i % 4 % 2, i // 3, i % 3, i // 8, i // 4 % 2, i % 5]
    are = [
        chosen for number in (1, 2, 3, 4) for chosen in combinations(atoms, number) if _are_digits(frozenset(chosen))
    ]
    for chosen in are:
        assert len({tuple(atom.eval([value], []) for atom in chosen) for value in range(64)}) == 64, chosen
    assert (i // 4, i % 4 // 2, i % 4 % 2) in are and (i % 2, i // 2 % 2, i // 4) not in are
    assert (i % 2, i // 4, i // 2 % 2) in are and (i // 4, i % 4) in are and (i // 2, i % 4) not in are


def test_pixels_that_are_counted_on_from_row_to_row_are_told_apart_by_their_number() -> None:
    """Tiles of 9 of 13 * 1300 pixels leave a rest, so that no tile begins where a row does."""
    func = parsed("""
tir.prim_func @f(%y: memref<1300x13x40xf32>, %z: f32) {
  tir.for parallel %i = 0 to 1878 {
    tir.for %j = 0 to 9 {
      tir.for %k = 0 to 40 {
        tir.block @b(%v: spatial 16900, %w: spatial 40) = [%i * 9 + %j, %k] where [%i * -9 + %j * -1 + 16899]
            reads() writes(%y[%v floordiv 13, %v mod 13, %w] : memref<1300x13x40xf32>) {
          %c = arith.constant 13 : index
          %row = arith.divui %v, %c : index
          %place = arith.remui %v, %c : index
          memref.store %z, %y[%row, %place, %w] : memref<1300x13x40xf32>
        }
      }
    }
  }
}""")
    func.verify()
    assert not_proved(func) == []


def test_what_is_not_proved_is_named() -> None:
    func = parsed("""
tir.prim_func @f(%n: memref<4xindex>, %x: memref<8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @take(%v: spatial 4) = [%i]
        reads(%n[%v] : memref<4xindex>, %x : memref<8xf32>) writes(%y[%v] : memref<4xf32>) {
      %0 = memref.load %n[%v] : memref<4xindex>
      %1 = memref.load %x[%0] : memref<8xf32>
      memref.store %1, %y[%v] : memref<4xf32>
    }
  }
}""")
    func.verify()
    assert [finding.message for finding in not_proved(func)] == ["where block @take reads %x depends on data"]


@pytest.mark.parametrize(
    ("column", "unproved"), [("%v", []), ("%w", None), ("%r", ["where block @take reads %x depends on data"])]
)
def test_an_index_beside_one_that_data_decides_is_judged_as_any_other(column: str, unproved: list[str] | None) -> None:
    """Of open extents too: the row is kept within the buffer's, and the column is its iterator, another's, or data."""
    func = parsed(f"""
tir.prim_func @f(%n: memref<?xindex>, %x: memref<8x?xf32>, %y: memref<?x?xf32>, %a: index, %b: index)
    shapes(%n[%a], %x[8, %b], %y[%a, %b]) {{
  tir.for %i = 0 to %a {{
    tir.for %j = 0 to %b {{
      tir.block @take(%w: spatial %a, %v: spatial %b) = [%i, %j]
          reads(%n[%w] : memref<?xindex>, %x : memref<8x?xf32>) writes(%y[%w, %v] : memref<?x?xf32>) {{
        %c0 = arith.constant 0 : index
        %c7 = arith.constant 7 : index
        %r = memref.load %n[%w] : memref<?xindex>
        %low = arith.maxsi %r, %c0 : index
        %row = arith.minsi %low, %c7 : index
        %0 = memref.load %x[%row, {column}] : memref<8x?xf32>
        memref.store %0, %y[%w, %v] : memref<?x?xf32>
      }}
    }}
  }}
}}""")
    if unproved is None:
        with pytest.raises(Diagnostic, match=r"reads %x outside: index 1 in dimension 1 .* \(for %a = 59, %b = 1\)"):
            func.verify()
    else:
        func.verify()
        assert [finding.message for finding in not_proved(func)] == unproved


@pytest.mark.parametrize(
    ("stored", "loaded", "apart"),
    [
        ("%v, %k", "%v, %k", True),
        ("%v, %k", "%v, %v", True),
        ("%k, %v", "%k, %v", True),
        ("%c0, %k", "%c0, %k", False),
        ("%half, %k", "%half, %k", False),
        ("%v, %k", "%k, %v", False),
        ("%v, %k", "%c0, %k", False),
    ],
)
def test_indices_that_no_loop_in_a_block_moves_tell_iterations_apart(stored: str, loaded: str, apart: bool) -> None:
    func = f"""
tir.prim_func @f(%y: memref<4x4xf32>) {{
  tir.for parallel %i = 0 to 4 {{
    tir.block @rows(%v: spatial 4) = [%i] reads(%y : memref<4x4xf32>) writes(%y : memref<4x4xf32>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %half = arith.floordivsi %v, %c2 : index
      %end = scf.while (%a = %c0) : (index) -> index {{
        %goes_on = arith.cmpi slt, %a, %c4 : index
        scf.condition(%goes_on) %a : index
      }} do {{
      ^bb0(%k: index):
        %0 = memref.load %y[{loaded}] : memref<4x4xf32>
        memref.store %0, %y[{stored}] : memref<4x4xf32>
        %next = arith.addi %k, %c1 : index
        scf.yield %next : index
      }}
    }}
  }}
}}"""
    if apart:
        parsed(func).verify()
    else:
        with pytest.raises(Diagnostic, match="not shown that no two iterations of %i meet"):
            parsed(func).verify()


SETTINGS = {
    "tir.prim_func": "{}",
    "tir.alloc_buffer": "tir.prim_func @f() {{ {} }}",
    "tir.for": "tir.prim_func @f() {{ {} }}",
    "tir.storage_sync": "tir.prim_func @f() {{ {} }}",
    "tir.check": "tir.prim_func @f(%y: memref<10xindex>) {{ tir.for %i = 0 to 10 {{"
    " tir.block @b(%at: spatial 10) = [%i] reads() writes(%y[%at] : memref<10xindex>) {{"
    " %given = arith.constant 1 : index {} memref.store %0, %y[%at] : memref<10xindex> }} }} }}",
    "tir.outer_block": "tir.prim_func @f(%x: memref<128xf32>, %y: memref<128xf32>) {{ {} }}",
    "tir.dot": "tir.prim_func @f(%y: memref<1xi32>) {{ tir.block @b() = [] reads() writes(%y[0] : memref<1xi32>) {{"
    " %at = arith.constant 0 : index %acc = arith.constant 1 : i32"
    + "".join(f" %{side}{n} = arith.constant {n} : i8" for side in "ab" for n in range(4))
    + " {} memref.store %0, %y[%at] : memref<1xi32> }} }}",
    **{
        name: f"tir.prim_func @f(%a: memref<4x16xf32>, %row: memref<16xf32>, %y: memref<4xf32>) {{{{"
        f" tir.for %i = 0 to 4 {{{{ tir.block @b(%vi: spatial 4) = [%i] reads({reads}) writes({writes}) {{{{"
        f" %c0 = arith.constant 0 : index %n = arith.constant 16 : i32 %x = arith.constant 1.0 : f32"
        f" %holds = arith.constant true {{}} memref.store %x, %y[%vi] : memref<4xf32> }}}} }}}} }}}}"
        for name, reads, writes in (
            ("tir.assert", "", "%y[%vi] : memref<4xf32>"),
            ("tir.assume", "", "%y[%vi] : memref<4xf32>"),
            ("tir.undef", "", "%y[%vi] : memref<4xf32>"),
            ("tir.address_of", "", "%y[%vi] : memref<4xf32>"),
            ("tir.call", "%row : memref<16xf32>", "%row : memref<16xf32>, %y[%vi] : memref<4xf32>"),
        )
    },
    "tir.block": "tir.prim_func @f(%x: memref<4x64xf32>, %y: memref<4xf32>) {{"
    "tir.for %i = 0 to 4 {{ tir.for %k0 = 0 to 4 {{ tir.for %k1 = 0 to 16 {{ {} }} }} }} }}",
}
"""What has to stand around an operation's example."""


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_an_example_in_a_docstring_verifies_and_is_printed_as_it_parses(op: type[Operation]) -> None:
    examples: list[str] = re.findall("`{3}mlir\n(.*?)`{3}", op.__doc__ or "", re.DOTALL)
    assert len(examples) == 1, f"{op.__name__} has no example, or several"
    func = parsed(SETTINGS[op.name].format(examples[0]))
    func.verify()
    assert any(isinstance(each, op) for each in func.walk())
    again = parsed(str(func))
    assert str(again) == str(func)


# What was not verified is not lowered in silence.


def test_a_private_buffer_that_another_nests_threads_read_is_not_lowered() -> None:
    func = parsed("""
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "local" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @a(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[%v] : memref<8xf32>
    }
  }
  tir.for parallel %i = 0 to 8 {
    tir.block @b(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %t[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}""")
    with pytest.raises(Diagnostic, match="do not stand in the same parallel loops"):
        lower_prim_func(func)


@pytest.mark.parametrize("around", ["{}", "tir.for %i = 0 to 8 {{ {} }}"])
def test_an_operation_among_loops_is_not_dropped(around: str) -> None:
    statement = around.format("%z = arith.constant 1.0 : f32")
    func = parsed(f"tir.prim_func @f(%y: memref<8xf32>) {{ {statement} }}")
    with pytest.raises(Diagnostic, match="stands among loops"):
        lower_prim_func(func)


def test_iterators_that_the_index_tells_are_enough_to_tell_iterations_apart() -> None:
    """Not all of the tiles is in the buffer, so that the index alone is no sum of digits of the loops' variables."""
    text = """
tir.prim_func @f(%y: memref<?x10x10xf32>, %z: f32, %n: index) shapes(%y[%n, 10, 10]) {
  tir.for %i = 0 to %n {
    tir.for vectorized %k = 0 to 7 {
      tir.for %l = 0 to 16 {
        tir.block @b(%v: spatial %n, %w: spatial 100) = [%i, %k * STEP + %l] where [%k * -STEP + %l * -1 + 99] reads()
            writes(%y[%v, %w floordiv 10, %w mod 10] : memref<?x10x10xf32>) {
          %c = arith.constant 10 : index
          %0 = arith.divui %w, %c : index
          %1 = arith.remui %w, %c : index
          memref.store %z, %y[%v, %0, %1] : memref<?x10x10xf32>
        }
      }
    }
  }
}"""
    parsed(text.replace("STEP", "16")).verify()
    with pytest.raises(Diagnostic, match="iterations of %k"):
        parsed(text.replace("STEP", "15")).verify()


PART = """
    tir.for %k = {low} to {high} {{
      tir.block @sum(%vi: spatial 4, %vk: {kind} {extent}) = [%i, %k]
          reads(%x[%vi, %vk] : memref<4x9000xf32>) writes(%y[%vi] : memref<4xf32>) {{
        %0 = memref.load %y[%vi] : memref<4xf32>
        %1 = memref.load %x[%vi, %vk] : memref<4x9000xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%vi] : memref<4xf32>
      }} init(%wi, %wk) {{
        %3 = arith.constant 0.0 : f32
        memref.store %3, %y[%wi] : memref<4xf32>
      }}
    }}
"""


@pytest.mark.parametrize(
    ("kind", "extent", "parts", "right"),
    [
        ("reduce", 64, [(0, 32), (32, 64)], True),
        ("reduce", 64, [(32, 64), (0, 32)], False),
        ("reduce", 64, [(8, 32), (32, 64), (0, 8)], False),
        ("partial reduce", 64, [(0, 32)], True),
        ("partial reduce", 64, [(32, 64)], False),
        ("partial reduce", 9000, [(1, 9000)], False),
    ],
)
def test_a_reduction_is_begun_by_a_part_that_stands_before_the_others(
    kind: str, extent: int, parts: list[tuple[int, int]], right: bool
) -> None:
    body = "".join(PART.format(low=low, high=high, kind=kind, extent=extent) for low, high in parts)
    text = f"tir.prim_func @f(%x: memref<4x9000xf32>, %y: memref<4xf32>) {{\n  tir.for %i = 0 to 4 {{{body}  }}\n}}"
    if right:
        parsed(text).verify()
        return
    with pytest.raises(Diagnostic, match="does not begin its reduction with the first step, where init runs"):
        parsed(text).verify()


WARPS = """
tir.prim_func @f(%x: memref<4x8xf32>) {{
  tir.for thread_binding "{outer}" %i = 0 to 4 {{
    tir.for thread_binding "{inner}" %t = 0 to 8 {{
      %b = tir.alloc_buffer "warp" : memref<8xf32>
      tir.block @to(%u: spatial 4, %v: spatial 8) = [%i, %t] reads() writes(%b[%v] : memref<8xf32>) {{
        %0 = arith.index_cast %u : index to i32
        %1 = arith.sitofp %0 : i32 to f32
        memref.store %1, %b[%v] : memref<8xf32>
      }}
      tir.block @from(%u: spatial 4, %v: spatial 8) = [%i, %t] reads(%b[%v] : memref<8xf32>) writes(%x[%u, %v] : memref<4x8xf32>) {{
        %0 = memref.load %b[%v] : memref<8xf32>
        memref.store %0, %x[%u, %v] : memref<4x8xf32>
      }}
    }}
  }}
}}
"""  # noqa: E501


@pytest.mark.parametrize(
    ("outer", "inner", "right"),
    [("blockIdx.x", "threadIdx.x", True), ("threadIdx.y", "threadIdx.x", True), ("threadIdx.x", "threadIdx.y", False)],
)
def test_each_warp_and_each_block_has_a_buffer_of_warps_for_itself(outer: str, inner: str, right: bool) -> None:
    func = parsed(WARPS.format(outer=outer, inner=inner))
    if right:
        func.verify()
        return
    with pytest.raises(Diagnostic, match="writes the same element of %b in several iterations of %i"):
        func.verify()

"""Around which loops that fill memory LLVM may not write loops out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from native import lower

FILL = "memref.store %zero, %m[%i, %k] : memref<100x231xi8>"
ROLLED = "{loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}"
WHOLE = "{loop_annotation = #llvm.loop_annotation<unroll = <disable = false, full = true>>}"


def loop(trips: str | int, body: str, name: str = "i", annotation: str = "") -> str:
    return f"scf.for %{name} = %c0 to %{'' if trips == 'n' else 'c'}{trips} step %c1 {{\n{body}\n}} {annotation}\n"


def row(body: str = FILL, name: str = "k") -> str:
    return loop(81, body, name)


def times_forbidden(body: str) -> int:
    """How many loops of a function are not to be unrolled."""
    numbers = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 8, 32, 33, 64, 65, 81))
    text = f"""
    func.func private @called()
    func.func @k(%m: memref<100x231xi8>, %at: memref<231xindex>, %p: memref<231x8xi8>, %zero: i8, %n: index) {{
      %v = vector.broadcast %zero : i8 to vector<8xi8>
      {numbers}
      {body}
      func.return
    }}"""
    return str(lower(text)).count("disable = true")


@pytest.mark.parametrize(
    ("body", "times"),
    [
        ([loop(64, row())], 0),
        ([loop(65, row())], 1),
        ([loop("n", row())], 0),  # which LLVM does not unroll fully
        ([loop(32, row() + row())], 0),  # both count
        ([loop(33, row() + row())], 1),
        ([loop(8, loop(8, row(), "j"))], 0),
        ([loop(8, loop(32, row(), "j"))], 1),  # the outer one has the fills that the inner one is unrolled to
        ([loop(2, loop(65, row(), "j"))], 1),  # the inner one keeps them to itself
        ([loop(64, row()), loop(64, row())], 0),  # one after the other, each a block of its own
        ([loop(2, loop(64, row(), "j", ROLLED))], 1),  # as its annotation says, and no other
        ([loop(2, loop(65, row(), "j", WHOLE))], 1),  # what is asked for counts around it
        ([loop(65, row(), annotation=WHOLE)], 0),
    ],
)
def test_a_loop_has_as_many_fills_as_its_turns_have_together(body: Sequence[str], times: int) -> None:
    assert times_forbidden("".join(body)) == times


@pytest.mark.parametrize(
    ("body", "is_one"),
    [
        (FILL, True),
        ("%c = arith.constant 3 : i8\nmemref.store %c, %m[%i, %k] : memref<100x231xi8>", True),
        ("vector.store %v, %p[%k, %c0] : memref<231x8xi8>, vector<8xi8>", True),
        (f"{FILL}\nmemref.store %zero, %m[%k, %i] : memref<100x231xi8>", False),
        ("%x = arith.addi %i, %k : index\nmemref.store %x, %at[%k] : memref<231xindex>", False),
        ("%a = memref.load %at[%k] : memref<231xindex>\nmemref.store %zero, %m[%i, %a] : memref<100x231xi8>", False),
        (
            "%w = vector.load %at[%k] : memref<231xindex>, vector<1xindex>\n%a = vector.extract %w[0] : index from "
            "vector<1xindex>\nmemref.store %zero, %m[%i, %a] : memref<100x231xi8>",
            False,
        ),
        (f"func.call @called() : () -> ()\n{FILL}", False),
        (f"scf.if %t {{\n{FILL}\n}}", False),
        ("%y = arith.addi %i, %k : index", False),
    ],
)
def test_a_fill_stores_what_it_does_not_compute_in_one_place_of_each_turn(body: str, is_one: bool) -> None:
    body = body if "%t" not in body else f"%t = arith.cmpi eq, %i, %k : index\n{body}"
    assert times_forbidden(loop(65, row(body))) == is_one

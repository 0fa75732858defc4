"""Calls that change what references hold, which data types and tuples hold: they happen in the order of the `Let`s."""

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.frontend.relay.state import may_hold_state, note_fields

pytestmark = pytest.mark.sampled(3)

relay: Any = relay

VERSION = '#[version = "0.0.5"]\n'
CELLS = (
    VERSION
    + """
type Cell { Cell(ref(int32)), }
type Box[A] { Box(A), }
def @swap(%c: Cell, %v: int32) -> int32 {
  match (%c) { Cell(%r) => { let %old = ref_read(%r); ref_write(%r, %v); %old } }
}
def @boxed(%b: Box[Cell], %v: int32) -> int32 { match (%b) { Box(%c) => @swap(%c, %v) } }
def @in_tuple(%t: (int32, ref(int32)), %v: int32) -> int32 {
  let %r = %t.1; let %old = ref_read(%r); ref_write(%r, %v); %old
}
"""
)


@pytest.mark.parametrize("kind", ["debug", "vm"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("let %c = Cell(ref(1)); let %a = @swap(%c, %v); (@swap(%c, 0), %a)", (7, 1)),
        ("let %c = Cell(ref(1)); let %a = @swap(%c, %v); (@swap(%c, 0), 0)", (7, 0)),
        (
            "let %c = Cell(ref(1)); let %a = @swap(%c, %v); let %z = @swap(%c, 0); let %y = @swap(%c, 5); (%y, %z)",
            (0, 7),
        ),
        ("let %c = Cell(ref(1)); (@swap(%c, 3), { let %a = @swap(%c, %v); let %z = @swap(%c, 0); %z })", (1, 7)),
        ("let %r = ref(1); let %c = Cell(%r); let %a = @swap(%c, %v); (ref_read(%r), %a)", (7, 1)),
        ("let %c = (0, ref(1)); let %a = @in_tuple(%c, %v); (@in_tuple(%c, 0), %a)", (7, 1)),
        ("let %c = Box(Cell(ref(1))); let %a = @boxed(%c, %v); (@boxed(%c, 0), %a)", (7, 1)),
    ],
)
def test_what_a_call_does_to_what_it_is_given_happens_where_it_stands(
    kind: str, body: str, expected: tuple[int, int]
) -> None:
    module = relay.parse(f"{CELLS}def @main(%v: int32) {{ {body} }}")
    found = relay.create_executor(kind, mod=module).evaluate()(np.int32(7))
    assert tuple(map(int, found)) == expected


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_what_is_done_last_may_be_the_result(kind: str) -> None:
    body = "let %c = Cell(ref(1)); let %y = @swap(%c, %v); let %z = @swap(%c, 0); %z"
    module = relay.parse(f"{CELLS}def @main(%v: int32) {{ {body} }}")
    assert relay.create_executor(kind, module).evaluate()(np.int32(7)) == 7


def test_what_is_done_one_after_the_other_stands_so() -> None:
    x, r = relay.var("x", shape=(2,)), relay.var("r")
    body = relay.RefRead(r)
    for number in range(30):
        write = relay.RefWrite(r, relay.RefRead(r) + relay.const(np.float32(number)) * x)
        body = relay.Let(relay.var(f"u{number}"), write, body)
    function = relay.Function([x], relay.Let(r, relay.RefCreate(x), body))
    lines = function.astext().splitlines()
    assert max(len(line) - len(line.lstrip()) for line in lines) == 4
    done = [line.partition("ref_")[2].partition("(")[0] for line in lines if "ref_" in line]
    assert done == ["read", "write"] * 30 + ["read"]
    found: Any = relay.create_executor().evaluate(function)
    np.testing.assert_array_equal(found(np.ones(2, np.float32)), np.full(2, 436, np.float32))


ALIASES = """
def @counter(%s: int32) -> (fn () -> int32, fn (int32) -> ()) {
  let %r = ref(%s);
  (
    fn () -> int32 { let %v = ref_read(%r); ref_write(%r, %v + 1); %v },
    fn (%k: int32) -> () { ref_write(%r, ref_read(%r) * %k); () }
  )
}
def @main(%c: bool, %v: int32) {
  let %a = ref(%v); let %b = ref(%v * 10);
  let %t = if (%c) { (%a, %b) } else { (%b, %b) };
  let %p = %t.0; let %q = %t.1;
  ref_write(%p, ref_read(%q) + 1);
  ref_write(%q, ref_read(%p) * 2);
  let %turns = fn (%i: int32) -> int32 {
    if (less(%i, %v)) { ref_write(%a, ref_read(%a) + %i); %turns(%i + 1) } else { ref_read(%a) }
  };
  let %d = @counter(%v); let %next = %d.0; let %scale = %d.1;
  let %x = %next();
  let %y = if (greater(%x, 2)) { let %z = %next(); %z - %next() } else { %next() };
  %scale(10);
  (ref_read(%b), %turns(0), %y, %next())
}
"""


def test_the_text_of_what_is_done_to_references_does_the_same() -> None:
    module = relay.parse(VERSION + ALIASES)
    for each in (module, relay.parse(module.astext())):
        run = relay.create_executor("debug", each).evaluate()
        assert run(np.bool_(True), np.int32(3)) == (62, 34, -1, 60)
        assert run(np.bool_(False), np.int32(2)) == (42, 3, 3, 40)


def test_variables_without_a_type_may_be_cells() -> None:
    module = relay.parse(CELLS)
    cell, make = module.get_type("Cell")
    swap, v = module.get_global_var("swap"), relay.var("v", shape=(), dtype="int32")
    c, a = relay.var("c"), relay.var("a")
    seven = relay.Let(a, swap(c, v), relay.Tuple([swap(c, relay.const(0)), a]))
    module["main"] = relay.Function([v], relay.Let(c, make(relay.RefCreate(relay.const(1))), seven))
    assert tuple(map(int, relay.create_executor(mod=module).evaluate()(np.int32(7)))) == (7, 1)
    assert may_hold_state(cell())


def test_which_types_may_hold_references() -> None:
    tensor = relay.TensorType((2,))
    note_fields("EffectsA", [tensor, relay.GlobalTypeVar("EffectsB")()])
    assert not may_hold_state(relay.GlobalTypeVar("EffectsA")()) and not may_hold_state(tensor)
    note_fields("EffectsB", [relay.GlobalTypeVar("EffectsA")(), relay.RefType(tensor)])
    for each in ("EffectsA", "EffectsB"):
        assert may_hold_state(relay.GlobalTypeVar(each)())
    assert may_hold_state(relay.TupleType([tensor, relay.FuncType([tensor], tensor)]))
    assert may_hold_state(relay.GlobalTypeVar("EffectsC")(relay.RefType(tensor)))
    assert not may_hold_state(relay.GlobalTypeVar("EffectsC")(tensor))

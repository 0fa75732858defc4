"""Function values for any types, called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.support.diagnostics import Diagnostic, UsageError

T = relay.TypeVar("T")


def identity() -> FuncOp:
    x = relay.var("x", T)
    return relay.Function([x], x, T, [T])


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_one_function_is_called_with_several_types(kind: str):
    x = relay.var("x", T)
    twice = relay.Function([x], relay.Tuple([x, x]), type_params=[T])
    both = relay.Tuple([twice(relay.const(1)), twice(relay.const(2.5))])
    assert str(both.checked_type) == "tuple<tuple<tensor<i32>, tensor<i32>>, tuple<tensor<f32>, tensor<f32>>>"
    found: Any = relay.create_executor(kind).evaluate(both)
    assert found == ((1, 1), (2.5, 2.5))


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_a_function_for_any_types_is_an_argument_of_one(kind: str):
    U = relay.TypeVar("U")
    f, y = relay.var("f", relay.FuncType([U], U)), relay.var("y", U)
    applied = relay.Function([f, y], f(y), U, [U])
    assert relay.create_executor(kind).evaluate(applied(identity(), relay.const(7))) == 7


def test_two_types_for_one_parameter_are_refused():
    x, y = relay.var("x", T), relay.var("y", T)
    first = relay.Function([x, y], x, T, [T])
    with pytest.raises(UsageError, match=r"the operands \(tensor<i32>, tensor<f32>\) do not match the function"):
        first(relay.const(1), relay.const(np.float32(1)))


def test_within_a_function_for_any_types_it_is_called_with_its_parameter():
    U = relay.TypeVar("U")
    y = relay.var("y", U)
    outer = relay.Function([y], identity()(y), U, [U])
    assert relay.create_executor().evaluate(outer(relay.const(3))) == 3


TEXT = """#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil, }
def @id[A](%x: A) -> A { %x }
def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
  match (%xs) { Cons(%x, %rest) => Cons(%f(%x), @map(%f, %rest)), Nil => Nil, }
}
def @first[A](%xs: List[A], %other: A) -> A { match (%xs) { Cons(%x, _) => %x, Nil => %other, } }
def @main(%y: float32) -> float32 {
  %0 = @map(@id, Cons(%y, Nil));
  %1 = @map(fn [A](%x: A) -> A { %x }, %0);
  @first(%1, 0f)
}
"""


def test_global_functions_take_functions_for_any_types_as_those_for_the_types_of_the_others():
    module = relay.parse(TEXT)
    for each in map(relay.IRModule.of, (module, relay.transform.Defunctionalization()(module))):
        run: Any = relay.create_executor("debug", each).evaluate()
        each["main"] = relay.Function([], relay.const(1.0))  # which the program does not see
        assert run(np.float32(3)) == 3


def test_calls_whose_types_are_not_known_are_no_data():
    V = relay.TypeVar("V")
    f, x, y = relay.var("f", relay.FuncType([T], V)), relay.var("x", T), relay.var("y", shape=(2,))
    named = relay.GlobalVar("any")
    main = relay.Function([y], relay.Tuple([y, named(identity(), y)]))
    module = relay.IRModule({named: relay.Function([f, x], f(x), V, [T, V]), "main": main})
    with pytest.raises(Diagnostic, match="not known which types @any is called with"):
        relay.transform.Defunctionalization()(module)


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_a_global_function_for_any_types_that_is_not_there_yet_is_one_for_those_it_is_used_with(kind: str):
    names: Any = relay
    module: Any = relay.IRModule()
    same, t = relay.GlobalVar("same"), relay.TypeVar("t")
    prelude, a = names.Prelude(module), relay.var("a", t)
    _, cons, nil = module.get_type("List")
    copied: Any = module.get_global_var("map")(same, cons(relay.const(4), nil()))
    module[same] = relay.Function([a], a, t, [t])
    module["main"] = relay.Function([], prelude.hd(copied))
    assert module["main"].ret_type == relay.scalar_type("int32")
    run: Any = relay.create_executor(kind, module).evaluate()
    assert run() == 4


LOCAL = """#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil, }
def @map[A, B](%f: fn (A) -> B, %l: List[A]) -> List[B] {
  match (%l) { Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)), Nil => Nil }
}
def @pair[A](%x: A, %n: int32) -> (A, (int32, A)) {
  let %there = fn () -> A { %x };
  let %beside = fn [B](%y: B) -> (B, A) { (%y, %x) };
  let %p = %beside(%n);
  ({ let %q = %beside(%x); %q.0 }, (%p.0, %there()))
}
def @main(%x: Tensor[(2), float32], %i: int32) {
  let %calls = ref(0);
  let %id = fn [A](%v: A) -> A { ref_write(%calls, ref_read(%calls) + 1); %v };
  let %length = fn [A](%l: List[A]) -> int32 { match (%l) { Cons(%h, %t) => 1 + %length(%t), Nil => 0 } };
  let %reversed = fn [A](%l: List[A], %r: List[A]) -> List[A] {
    match (%l) { Cons(%h, %t) => %reversed(%t, Cons(%h, %r)), Nil => %r }
  };
  let %first = fn [A](%d: A, %l: List[A]) -> A { match (%l) { Cons(%h, %t) => %h, Nil => %d } };
  let %twice = fn [A, B, C](%f: fn (B) -> C, %g: fn (A) -> B, %v: A) -> C { %f(%g(%v)) };
  let %a = Cons(%i, Cons(%i, Nil));
  let %b = @map(%id, Cons(%x, Cons(%x + %x, Nil)));
  let %c = %length(%reversed(%a, Nil)) + %length(%b) + %first(%i, Nil);
  let %d = %twice(fn (%j: float32) -> float32 { %j * 2f }, fn (%j: int32) -> float32 { cast(%j, dtype="float32") }, %i);
  (%id(%c), %first(%x, %reversed(%b, Nil)), %d, @pair(%x, %i), ref_read(%calls))
}
"""


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_a_local_function_for_any_types_is_one_for_those_of_each_place_where_its_name_stands(kind: str):
    run: Any = relay.create_executor(kind, relay.parse(LOCAL)).evaluate()
    x = np.array([1, 2], np.float32)
    total, last, doubled, (same, (number, there)), calls = run(x, np.int32(3))
    assert (total, doubled, number, calls) == (7, 6, 3, 3)
    for found, wanted in ((last, 2 * x), (same, x), (there, x)):
        np.testing.assert_array_equal(np.asarray(found), wanted)


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_let_gives_a_function_for_any_types_to_each_of_its_uses(kind: str):
    x, i, same = relay.var("x", shape=(2,)), relay.var("i", shape=(), dtype="int32"), relay.var("same")
    both = relay.Let(same, identity(), relay.Tuple([same(x), same(i), same(relay.Tuple([i, x]))]))
    run: Any = relay.create_executor(kind).evaluate(relay.Function([x, i], both))
    first, second, (third, _) = run(np.array([1, 2], np.float32), np.int32(3))
    assert [*np.asarray(first), second, third] == [1, 2, 3, 3]


def test_the_types_that_a_local_function_sees_around_it_are_not_its_own():
    text = """#[version = "0.0.5"]
    def @main[A](%y: A, %z: Tensor[(2), float32]) -> A { let %g = fn (%o: A) -> A { %y }; %g(%z) }"""
    with pytest.raises(Diagnostic, match="do not match the function"):
        relay.parse(text)

"""Branches, clauses and functions whose types leave open what they differ in."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.types import IncompleteType, either, tuple_type
from weft.dialects.support.diagnostics import Diagnostic, UsageError

pytestmark = pytest.mark.sampled(3)

relay: Any = relay
ANY = relay.Any()
VERSION = '#[version = "0.0.5"]\n'
KINDS = pytest.mark.parametrize("kind", ["debug", "vm"])


def ones(*shape: int) -> npt.NDArray[np.float32]:
    return np.ones(shape, np.float32)


def run(kind: str, module: Any, *args: object) -> Any:
    return relay.create_executor(kind, mod=module).evaluate()(*args)


@KINDS
@pytest.mark.parametrize("open", [False, True])
def test_what_branches_differ_in_is_open(kind: str, open: bool) -> None:
    c, x = relay.var("c", shape=(), dtype="bool"), relay.var("x", shape=(2, 3))
    y = relay.var("y", shape=(ANY if open else 4, 3))
    chosen = relay.If(c, relay.Tuple([x, relay.Tuple([x + x])]), relay.Tuple([y, relay.Tuple([x])]))
    total = relay.sum(chosen[0], axis=1) * relay.const(2.0)
    module = relay.IRModule.from_expr(relay.Function([c, x, y], relay.Tuple([total, chosen[1]])))
    assert str(module["main"].ret_type) == "tuple<tensor<?xf32>, tuple<tensor<2x3xf32>>>"
    for which, rows in ((True, 2), (False, 4)):
        first, (second,) = run(kind, module, np.bool_(which), ones(2, 3), ones(4, 3))
        np.testing.assert_array_equal(first, np.full(rows, 6))
        np.testing.assert_array_equal(second, ones(2, 3) * (2 if which else 1))


@KINDS
@pytest.mark.parametrize("turned", [False, True])
def test_what_clauses_differ_in_is_open(kind: str, turned: bool) -> None:
    prelude = relay.Prelude()
    _, some, none = prelude.mod.get_type("Option")
    c, x, y = relay.var("c", shape=(), dtype="bool"), relay.var("x", shape=(2, 3)), relay.var("y", shape=(ANY, 3))
    v = relay.var("v", shape=(2, 3))
    clauses = [
        relay.Clause(relay.PatternConstructor(some, [relay.PatternVar(v)]), v + v),
        relay.Clause(relay.PatternConstructor(none, []), y),
    ]
    given = relay.If(c, some(x), none())
    module = prelude.mod
    module["main"] = relay.Function([c, x, y], relay.Match(given, clauses[::-1] if turned else clauses))
    assert str(module["main"].ret_type) == "tensor<?x3xf32>"
    np.testing.assert_array_equal(run(kind, module, np.bool_(True), ones(2, 3), ones(5, 3)), ones(2, 3) * 2)
    np.testing.assert_array_equal(run(kind, module, np.bool_(False), ones(2, 3), ones(5, 3)), ones(5, 3))


@KINDS
def test_what_a_function_or_a_variable_leaves_open_may_be_known(kind: str) -> None:
    text = """
    def @rows(%n: int32) -> Tensor[(?, 2), float32] {
      if (equal(%n, 0)) { ones(shape=[1, 2], dtype="float32") }
      else { let %r = @rows(%n - 1); concatenate((%r, %r)) }
    }
    def @known(%x: Tensor[(2, 2), float32]) -> Tensor[(?, ?), float32] { %x }
    def @main(%n: int32, %x: Tensor[(2, 2), float32]) {
      let %z: Tensor[(?, ?), float32] = @known(%x);
      sum(@rows(%n), axis=[0]) + sum(%z, axis=[0])
    }
    """
    module = relay.parse(VERSION + text)
    for turns in (0, 3):
        np.testing.assert_array_equal(run(kind, module, np.int32(turns), ones(2, 2)), np.full(2, 2**turns + 2))


@KINDS
def test_clauses_of_a_pair_share_what_is_known_of_its_fields(kind: str) -> None:
    text = """
    type O { S(float32), E, }
    def @f(%p: (O, O)) -> float32 {
      match (%p) { (S(%a), S(%b)) => %a * %b, (S(%a), E) => %a, (E, S(%b)) => negative(%b), (E, E) => 0f }
    }
    def @made(%c: bool, %v: float32) -> O { if (%c) { S(%v) } else { E } }
    def @main(%c: bool, %d: bool) -> float32 { @f((@made(%c, 3f), @made(%d, 5f))) }
    """
    module = relay.parse(VERSION + text)
    assert str(module["f"]).count("relay.tuple_get") == 2 and str(module["f"]).count("relay.match") == 3
    found = [run(kind, module, np.bool_(c), np.bool_(d)) for c in (1, 0) for d in (1, 0)]
    assert [float(each) for each in found] == [15, 3, -5, 0]


@KINDS
def test_references_are_types_in_text(kind: str) -> None:
    text = """
    type Cell { Cell(ref(int32)), }
    def @swap(%c: Cell, %v: int32) -> int32 {
      match (%c) { Cell(%r) => { let %old = ref_read(%r); ref_write(%r, %v); %old } }
    }
    def @main(%v: int32) { let %c = Cell(ref(1)); let %a = @swap(%c, %v); (%a, @swap(%c, 0)) }
    """
    module = relay.parse(VERSION + text)
    assert "Cell(ref(int32))" in module.astext()
    assert [int(each) for each in run(kind, module, np.int32(7))] == [1, 7]


def itself(value: Any) -> Any:
    return value


def chosen(value: Any) -> Any:
    return relay.If(relay.const(True), value, value)


def added(value: Any) -> Any:
    return value + relay.const(1.0)


def recursion(result: Any, used: Any = itself) -> Any:
    """A function that doubles one row as often as it is told, whose branches are made before it is known itself."""
    rows, n = relay.GlobalVar("rows"), relay.var("n", shape=(), dtype="int32")
    twice = relay.concatenate([rows(n - relay.const(1))] * 2, axis=0)
    body = relay.If(relay.equal(n, relay.const(0)), relay.ones((1, 2), "float32"), twice)
    k = relay.var("k", shape=(), dtype="int32")
    return relay.IRModule({rows: relay.Function([n], used(body), result), "main": relay.Function([k], rows(k))})


@KINDS
@pytest.mark.parametrize("used", [itself, chosen])
def test_a_function_that_calls_itself_gives_what_it_is_declared_to(kind: str, used: Any) -> None:
    module = recursion(relay.TensorType((ANY, 2)), used)
    for turns in (0, 2):
        np.testing.assert_array_equal(run(kind, module, np.int32(turns)), ones(2**turns, 2))


@pytest.mark.parametrize("result", [None, relay.TensorType((1, 2))])
def test_a_branch_that_turns_out_wider_than_the_other_one_is_refused(result: Any) -> None:
    with pytest.raises(Diagnostic, match="is used as one of them") as refused:
        recursion(result)
    assert "'ret_type'" in str(refused.value)
    with pytest.raises(Diagnostic, match="is used as one of them"):
        recursion(relay.TensorType((ANY, 2)), added)


def test_types_that_nothing_is_of_are_refused() -> None:
    c, x = relay.var("c", shape=(), dtype="bool"), relay.var("x", shape=(2, 3))
    for other in (relay.var("y", shape=(3,)), relay.cast(x, "int32"), relay.Tuple([x])):
        with pytest.raises(UsageError, match="the branches of an If are of the types"):
            relay.If(c, x, other)
    _, some, none = relay.Prelude().mod.get_type("Option")
    clauses = [
        relay.Clause(relay.PatternConstructor(some, [relay.PatternWildcard()]), x),
        relay.Clause(relay.PatternConstructor(none, []), relay.cast(x, "int32")),
    ]
    with pytest.raises(UsageError, match="the clauses of a Match are of the types"):
        relay.Match(some(x), clauses)
    with pytest.raises(UsageError, match="the body is of type"):
        relay.Function([open := relay.var("o", shape=(ANY,))], open, relay.TensorType((3,)))


def test_the_type_of_either_of_two() -> None:
    a, b, c = (relay.TensorType((rows, 3)) for rows in (2, ANY, 4))
    assert either(a, a) == a and either(a, b) == b and either(a, c) == b
    assert either(a, relay.TensorType((2, 3), "int8")) is None and either(a, relay.TensorType((3,))) is None
    assert either(tuple_type(a, a), tuple_type(a, c)) == tuple_type(a, b)
    assert either(tuple_type(a), tuple_type(a, a)) is None and either(tuple_type(a), a) is None
    assert either(IncompleteType(), a) == a
    assert either(tuple_type(a, IncompleteType()), tuple_type(c, c)) == tuple_type(b, c)


TUPLES = """
def @f(%p: ((Tensor[(?, 2), float32], Tensor[(?, 2), float32]), int32)) -> (Tensor[(?, 2), float32], (int32, Tensor[(?), float32])) {
  let %q = %p.0;
  let %c = concatenate((%q.0, %q.1));
  if (greater(%p.1, 0)) { (%c, (%p.1, sum(%c, axis=[1]))) } else { (%q.1, (0, max(%q.1, axis=[1]))) }
}
def @main(%a: Tensor[(?, 2), float32], %b: Tensor[(?, 2), float32], %n: int32) {
  let %r = @f(((%a, negative(%b)), %n));
  @f(((%r.0, %a), %n - 1))
}
"""  # noqa: E501


@pytest.mark.parametrize("level", [0, 3])
def test_tuples_of_tuples_of_what_is_computed_go_through_calls_and_branches(level: int) -> None:
    module = relay.parse(VERSION + TUPLES)
    with weft.transform.PassContext(opt_level=level):
        program = relay.create_executor("vm", mod=module).evaluate()
    a, b = 2 * ones(1, 2), 3 * ones(2, 2)
    for n, joined, number in ((0, a, 0), (1, a, 0), (2, np.concatenate([a, -b, a]), 1)):
        rows, (told, found) = program(a, b, np.int32(n))
        assert told == number
        np.testing.assert_array_equal(np.asarray(rows), joined)
        np.testing.assert_array_equal(np.asarray(found), joined.sum(1) if number else joined.max(1))

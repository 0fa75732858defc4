"""Data types, matches and functions for any types, written in Python."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import relay
from weft.dialects.relay.data import MatchOp
from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.relay.data import ConstructorValue
from weft.frontend.relay.expr import Expr, Var
from weft.frontend.relay.module import IRModule
from weft.transforms.relay.infer_type import InferTypePass

pytestmark = pytest.mark.sampled(3)


@pytest.fixture(scope="module")
def prelude() -> Any:
    made = relay.Prelude()
    made.mod.import_from_std("nat.rly")
    made.mod.verify()
    return made


def constructors(prelude: Any, name: str) -> Any:
    return prelude.mod.get_type(name)[1:]


def evaluated(prelude: Any, expr: Any) -> Any:
    return relay.create_executor(mod=prelude.mod).evaluate(expr)


def made_list(prelude: Any, *items: Any) -> Any:
    cons, nil = constructors(prelude, "List")
    made = nil()
    for item in reversed(items):
        made = cons(item if isinstance(item, Expr) else relay.const(item), made)
    return made


def shown(value: Any) -> Any:
    """A list of a program as one of Python, a natural number as an int, a tree as a number and its children."""
    match value:
        case ConstructorValue(_, (), constructor) if constructor.name_hint == "Nil":
            return []
        case ConstructorValue(_, (head, tail), constructor) if constructor.name_hint == "Cons":
            return [shown(head), *shown(tail)]
        case ConstructorValue(_, fields, constructor):
            return (constructor.name_hint, *map(shown, fields))
        case tuple():
            return tuple(shown(each) for each in value)  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value.item()


def variables(*names: str) -> list[Var]:
    return [relay.var(name) for name in names]


def test_an_empty_list_is_one_of_what_it_is_put_in_front_of(prelude: Any) -> None:
    cons, nil = constructors(prelude, "List")
    empty = nil()
    assert str(empty.checked_type) == "!relay.adt<@List, [!relay.incomplete]>"
    assert str(cons(relay.const(1.0), empty).checked_type) == "!relay.adt<@List, [tensor<f32>]>"
    assert str(empty.checked_type) == "!relay.adt<@List, [tensor<f32>]>"


@pytest.mark.parametrize("name", ["hd", "tl", "nth", "length", "sum", "rev", "update", "concat", "zip"])
def test_functions_on_lists_give_what_pythons_do(prelude: Any, name: str) -> None:
    xs, n, v = made_list(prelude, 4, 5, 6), relay.const(1), relay.const(9)
    arguments = {"nth": [xs, n], "update": [xs, n, v], "concat": [xs, xs], "zip": [xs, made_list(prelude, 1, 2)]}
    wanted = {
        "hd": 4, "tl": [5, 6], "nth": 5, "length": 3, "sum": 15, "rev": [6, 5, 4], "update": [4, 9, 6],
        "concat": [4, 5, 6, 4, 5, 6], "zip": [(4, 1), (5, 2)],
    }  # fmt: skip
    found = evaluated(prelude, getattr(prelude, name)(*arguments.get(name, [xs])))
    assert shown(found) == wanted[name]


def test_functions_that_take_functions_apply_them(prelude: Any) -> None:
    xs = made_list(prelude, 1, 2, 3)
    x, y = variables("x", "y")
    less = relay.Function([x, y], x - y)
    twice = relay.Function([x], x + x)
    sums = relay.Function([x, y], relay.Tuple([x + y, x]))
    results = {
        "map": (prelude.map(twice, xs), [2, 4, 6]),
        "filter": (prelude.filter(relay.Function([x], relay.less(x, relay.const(3))), xs), [1, 2]),
        "foldl": (prelude.foldl(less, relay.const(0), xs), -6),
        "foldr": (prelude.foldr(less, relay.const(0), xs), 2),
        "foldr1": (prelude.foldr1(less, xs), 2),
        "map_accuml": (prelude.map_accuml(sums, relay.const(0), xs), (6, [3, 1, 0])),
        "map_accumr": (prelude.map_accumr(sums, relay.const(0), xs), (6, [5, 3, 0])),
        "iterate": (prelude.iterate(twice, relay.const(5))(relay.const(1)), 32),
        "compose": (prelude.compose(twice, twice)(relay.const(3)), 12),
        "flip": (prelude.flip(less)(relay.const(3), relay.const(10)), 7),
    }  # fmt: skip
    some, none = constructors(prelude, "Option")
    down = relay.If(relay.equal(x, relay.const(0)), none(), some(relay.Tuple([x - relay.const(1), x])))
    n = relay.var("n", shape=(), dtype="int32")
    counts = relay.Function([n], relay.Let(x, n, down))
    results["unfoldr"] = prelude.unfoldr(counts, relay.const(3)), [3, 2, 1]
    results["unfoldl"] = prelude.unfoldl(counts, relay.const(3)), [1, 2, 3]
    assert {name: shown(evaluated(prelude, expr)) for name, (expr, _) in results.items()} == {
        name: wanted for name, (_, wanted) in results.items()
    }


def test_trees_and_natural_numbers_are_there(prelude: Any) -> None:
    (rose,) = constructors(prelude, "Tree")
    z, s = constructors(prelude, "nat")
    leaf = rose(s(z()), made_list(prelude))
    tree = rose(z(), made_list(prelude, leaf, leaf))
    x = relay.var("x")
    assert shown(evaluated(prelude, prelude.size(tree))) == 3
    found = shown(evaluated(prelude, prelude.tmap(relay.Function([x], s(x)), tree)))
    two = ("s", ("s", ("z",)))
    assert found == ("Rose", ("s", ("z",)), [("Rose", two, []), ("Rose", two, [])])
    assert shown(evaluated(prelude, prelude.nat_add(s(z()), prelude.nat_double(s(z()))))) == ("s", ("s", ("s", ("z",))))


def test_the_first_clause_that_fits_is_taken(prelude: Any) -> None:
    cons, nil = constructors(prelude, "List")
    wildcard, constructed = relay.PatternWildcard, relay.PatternConstructor
    a, b, rest = variables("a", "b", "rest")
    xs = relay.var("xs", prelude.mod.get_global_type_var("List")(relay.scalar_type("int32")))
    clauses = [
        relay.Clause(constructed(cons, [relay.PatternVar(a), constructed(nil)]), a),
        relay.Clause(constructed(cons, [wildcard(), constructed(cons, [relay.PatternVar(b), wildcard()])]), b + b),
        relay.Clause(relay.PatternVar(rest), relay.const(-1)),
    ]
    function = relay.Function([xs], relay.Match(xs, clauses), relay.scalar_type("int32"))
    for items, wanted in (([], -1), ([7], 7), ([7, 8], 16), ([7, 8, 9], 16)):
        assert shown(evaluated(prelude, relay.Call(function, [made_list(prelude, *items)]))) == wanted


def test_tuples_are_taken_apart_by_patterns(prelude: Any) -> None:
    some, none = constructors(prelude, "Option")
    a, b, p = variables("a", "b", "p")
    either = relay.PatternTuple([relay.PatternConstructor(some, [relay.PatternVar(a)]), relay.PatternVar(b)])
    clauses = [relay.Clause(either, a - b), relay.Clause(relay.PatternWildcard(), relay.const(0))]
    function = relay.Function([p], relay.Match(p, clauses))
    two = relay.const(2)
    assert shown(evaluated(prelude, relay.Call(function, [relay.Tuple([some(relay.const(5)), two])]))) == 3
    assert shown(evaluated(prelude, relay.Call(function, [relay.Tuple([none(), two])]))) == 0


def test_a_match_that_is_not_complete_fails_on_what_it_has_no_case_for(prelude: Any) -> None:
    with pytest.raises(Diagnostic, match="the match has no case for 'Nil'"):
        evaluated(prelude, prelude.hd(prelude.tl(made_list(prelude, 1))))
    (match,) = [op for op in prelude.mod["hd"].walk() if isinstance(op, MatchOp)]
    (left,) = relay.analysis.unmatched_cases(match, prelude.mod)
    assert left == relay.PatternConstructor(constructors(prelude, "List")[1])


def test_what_is_left_out_of_a_match_is_told_by_patterns(prelude: Any) -> None:
    cons, nil = constructors(prelude, "List")
    constructed, wildcard = relay.PatternConstructor, relay.PatternWildcard
    xs, one = relay.var("xs"), relay.const(1)
    longer = constructed(cons, [wildcard(), constructed(cons)])
    match = relay.Match(xs, [relay.Clause(longer, one)])
    found = relay.analysis.unmatched_cases(match, prelude.mod)
    assert found == [constructed(cons, [wildcard(), constructed(nil)]), constructed(nil)]
    whole = relay.Match(xs, [relay.Clause(longer, one), relay.Clause(wildcard(), one)])
    assert relay.analysis.unmatched_cases(whole, prelude.mod) == []
    module = relay.IRModule.of(prelude.mod)
    module["main"] = relay.Function([relay.var("ys", prelude.mod.get_global_type_var("List")(one.checked_type))], one)
    module.verify()


def shapes() -> tuple[IRModule, Any, Any, Any]:
    """A module with a data type of tensors."""
    box = relay.GlobalTypeVar("box")
    t = relay.TypeVar("t")
    full, empty = relay.Constructor("full", [t], box), relay.Constructor("empty", [], box)
    return relay.IRModule(type_definitions={box: relay.TypeData(box, [t], [full, empty])}), box, full, empty


def test_a_program_on_data_of_ones_own_is_right() -> None:
    module, _, full, empty = shapes()
    x, y = relay.var("x", shape=(3,)), relay.var("y")
    some = relay.If(relay.greater(relay.sum(x), relay.const(0.0)), full(x), empty())
    clauses = [
        relay.Clause(relay.PatternConstructor(full, [relay.PatternVar(y)]), y * y),
        relay.Clause(relay.PatternConstructor(empty), relay.zeros((3,), "float32")),
    ]
    module["main"] = relay.Function([x], relay.Match(some, clauses))
    module.verify()
    program: Any = relay.create_executor("debug", module).evaluate()
    for array in (np.array([1, 2, 3], np.float32), -np.ones(3, np.float32)):
        np.testing.assert_array_equal(program(array), array**2 * (array.sum() > 0))


def test_machine_code_of_a_match_that_is_not_complete_fails_as_the_interpreter_does() -> None:
    module, box, full, empty = shapes()
    b, y, x = relay.var("b", box(relay.TensorType((3,)))), relay.var("y"), relay.var("x", shape=(3,))
    taken = relay.Match(b, [relay.Clause(relay.PatternConstructor(full, [relay.PatternVar(y)]), y)], complete=False)
    take, own = relay.GlobalVar("take"), relay.GlobalVar("main")
    module[take] = relay.Function([b], taken)
    some = relay.If(relay.less(relay.sum(x), relay.const(1.0)), full(x), empty())
    module[own] = relay.Function([x], module.get_global_var("take")(some))
    program: Any = weft.compile(module, threads=1)
    interpreted: Any = relay.create_executor("debug", module).evaluate()
    few, many = np.array([0, 0.25, 0.5], np.float32), np.ones(3, np.float32)
    for _ in range(3):  # what fails leaves nothing behind
        np.testing.assert_array_equal(program(few), few)
        with pytest.raises(CheckError, match="the match has no case for 'empty'"):
            program(many)
    np.testing.assert_array_equal(interpreted(few), few)
    with pytest.raises(Diagnostic, match="the match has no case for 'empty'"):
        interpreted(many)


def test_mistakes_are_told() -> None:
    module, box, full, _ = shapes()
    with pytest.raises(UsageError, match="'full' has 1 fields, not 2"):
        full(relay.const(1), relay.const(2))
    with pytest.raises(UsageError, match="takes 1 types, not 0"):
        box()
    with pytest.raises(UsageError, match="has no definition"):
        relay.Constructor("c", [], relay.GlobalTypeVar("open"))()
    with pytest.raises(UsageError, match="has 1 fields, not 2"):
        relay.PatternConstructor(full, [relay.PatternWildcard()] * 2)
    with pytest.raises(UsageError, match="constructor full of box is not for values of type"):
        relay.Match(
            relay.var("b", relay.GlobalTypeVar("other")()),
            [relay.Clause(relay.PatternConstructor(full), relay.const(1))],
        )
    with pytest.raises(KeyError, match="no data type 'bix'; did you mean 'box'"):
        module.get_type("bix")
    with pytest.raises(UsageError, match=r"there is no 'nothing\.rly'"):
        module.import_from_std("nothing.rly")
    other = relay.GlobalTypeVar("box")
    with pytest.raises(UsageError, match="defines the data type 'box' otherwise"):
        module[other] = relay.TypeData(other, [], [relay.Constructor("none", [], other)])
    with pytest.raises(UsageError, match="a match has a clause at least"):
        relay.Match(relay.var("x"), [])


def test_a_module_keeps_its_data_types() -> None:
    module, _, full, _ = shapes()
    copy = relay.IRModule()
    copy.update(module)
    assert isinstance(copy, ModuleOp)
    assert [each.name_hint for each in copy.type_definitions["box"].constructors] == ["full", "empty"]
    assert copy.type_definitions["box"].constructors[0] == full
    assert full.place == 0


def test_tags_tell_constructors_of_all_types_apart() -> None:
    modules = [relay.Prelude().mod, relay.Prelude().mod]
    for module in modules:
        module.import_from_std("nat.rly")
    tags: dict[int, Any] = {}
    for name, definition in modules[0].type_definitions.items():
        for place, constructor in enumerate(definition.constructors):
            assert constructor.tag - definition.constructors[0].tag == place
            assert constructor.tag > 0xFFFF and constructor.tag not in tags
            tags[constructor.tag] = constructor
            assert modules[1].get_constructor(constructor.tag) == constructor
            assert modules[1].get_type(name)[1 + place].tag == constructor.tag
    with pytest.raises(KeyError, match="the module has no constructor of tag 3"):
        modules[0].get_constructor(3)


def test_a_call_of_a_function_for_any_types_keeps_its_own(prelude: Any) -> None:
    module = relay.IRModule.of(prelude.mod)
    module["main"] = relay.Function([], prelude.hd(made_list(prelude, 1, 2)))
    module = IRModule.of(InferTypePass()(module))
    assert str(module["main"].function_type) == "() -> tensor<i32>"
    module.verify()


def test_a_match_is_walked_and_changed() -> None:
    module, box, full, empty = shapes()
    b, y = relay.var("b", box(relay.TensorType((3,)))), relay.var("y")
    clauses = [
        relay.Clause(relay.PatternConstructor(full, [relay.PatternVar(y)]), relay.exp(y)),
        relay.Clause(relay.PatternConstructor(empty), relay.zeros((3,), "float32")),
    ]
    match = relay.Match(b, clauses)

    class Squared(relay.ExprMutator):
        def visit_call(self, call: Expr) -> Expr:
            made: Expr = super().visit_call(call)
            return made * made if getattr(call.value.owner, "name", "") == "relay.exp" else made

    assert isinstance(match, relay.Match) and isinstance(full(relay.const(1)), relay.Call)
    changed = Squared().visit(match)
    assert changed is not match and relay.ExprMutator().visit(match) is match
    x = relay.var("x", shape=(3,))
    call = relay.Call(relay.Function([b], changed), [full(x)])
    module["main"] = relay.Function([x], call)
    found: Any = relay.create_executor("debug", module).evaluate()
    array = np.array([0, 1, 2], np.float32)
    np.testing.assert_allclose(found(array), np.exp(array) ** 2, rtol=1e-5)


def test_integers_are_natural_numbers_and_back(prelude: Any) -> None:
    testing = relay.testing
    four = evaluated(prelude, prelude.nat_double(testing.make_nat_expr(prelude, 2)))
    assert testing.count(prelude, four) == 4 == testing.count(prelude, testing.make_nat_value(prelude, 4))
    assert shown(testing.make_nat_value(prelude, 1)) == shown(evaluated(prelude, testing.make_nat_expr(prelude, 1)))
    for make in (testing.make_nat_expr, testing.make_nat_value):
        with pytest.raises(UsageError, match="-1 is no natural number"):
            make(prelude, -1)
    with pytest.raises(UsageError, match="is no natural number"):
        testing.count(prelude, evaluated(prelude, made_list(prelude, 1)))


def test_data_types_are_in_the_module_that_tvm_has_them_in() -> None:
    adt: Any = import_module("weft.relay.adt")
    assert adt.TypeData is relay.TypeData and adt.Match is relay.Match and relay.adt.Clause is relay.Clause


def test_the_type_of_a_patterns_variable_says_what_is_matched():
    T, box, type = relay.TypeVar("T"), relay.GlobalTypeVar("box"), relay.TensorType((2, 2))
    make = relay.Constructor("make", [T], box)
    module = relay.IRModule(type_definitions={box: relay.TypeData(box, [T], [make])})
    x, inner = relay.var("x"), relay.var("inner", type)
    clause = relay.Clause(relay.PatternConstructor(make, [relay.PatternVar(inner)]), relay.Tuple([]))
    module["main"] = relay.Function([x], relay.Match(make(x), [clause]))
    assert module["main"].params[0].checked_type == type

"""Values of data types, references and functions, given to programs and by them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import UsageError
from weft.frontend.relay.data import ConstructorValue, RefValue
from weft.runtime.tensors import InputError

pytestmark = pytest.mark.sampled(3)

relay: Any = relay
F32 = relay.TensorType((2,), "float32")
ONES = np.ones(2, np.float32)


@pytest.fixture(scope="module")
def prelude() -> Any:
    return relay.Prelude()


def made(prelude: Any, *values: object) -> Any:
    _, cons, nil = prelude.mod.get_type("List")
    result = ConstructorValue(nil.tag, [], nil)
    for value in reversed(values):
        result = ConstructorValue(cons.tag, [value, result], cons)
    return result


def listed(value: Any) -> list[Any]:
    found: list[Any] = []
    while len(value) == 2:
        found.append(value[0])
        value = value.fields[1]
    return found


def test_values_of_data_types_and_tuples_are_what_tvm_calls_adt(prelude: Any) -> None:
    adt = weft.runtime.container.ADT
    assert isinstance(made(prelude, ONES), adt) and isinstance((ONES, ONES), adt)
    assert not isinstance(ONES, adt)


def test_tuples_and_shapes_are_made_by_the_names_of_tvm() -> None:
    container: Any = weft.runtime.container
    pair = relay.var("pair", relay.TupleType([relay.TensorType((), "int32"), relay.TensorType((), "int32")]))
    second = relay.create_executor().evaluate(relay.Function([pair], relay.TupleGetItem(pair, 1)))
    assert second(container.tuple_object([np.int32(11), np.int32(12)])) == 12
    shape = container.ShapeTuple([2, 3])
    assert shape == [2, 3] and shape == (2, 3) and shape != [2, 4] and shape != "ab"
    assert pickle.loads(pickle.dumps(shape)) == shape and shape in {(2, 3)}
    for wrong in (
        lambda: container.ShapeTuple(["a"]),
        lambda: container.ShapeTuple(3),
        lambda: container.tuple_object(3),
    ):
        with pytest.raises(UsageError, match="is a sequence"):
            wrong()


def evaluate(prelude: Any, function: Any) -> Any:
    return relay.create_executor(mod=prelude.mod).evaluate(function)


def test_what_a_program_gives_is_what_another_is_given(prelude: Any) -> None:
    reverse: Any = evaluate(prelude, prelude.rev)
    result = reverse(reverse(made(prelude, ONES, 2 * ONES)))
    assert [each.tolist() for each in listed(result)] == [[1, 1], [2, 2]]


def test_a_list_may_be_long(prelude: Any) -> None:
    result = evaluate(prelude, prelude.id)(made(prelude, *range(20000)))
    assert len(listed(result)) == 20000


def test_a_function_for_any_types_takes_a_value_of_any(prelude: Any) -> None:
    same: Any = evaluate(prelude, prelude.id)
    assert same(RefValue(ONES)).value.tolist() == [1, 1]
    assert [each.tolist() for each in same((ONES, (3, 4)))[1]] == [3, 4]
    assert same(made(prelude, ONES)).constructor.name_hint == "Cons"


def test_references_to_one_value_stay_references_to_one(prelude: Any) -> None:
    cell = relay.var("cell", relay.RefType(F32))
    done = relay.var("done")
    body = relay.Let(done, relay.RefWrite(cell, relay.const(5 * ONES)), relay.Tuple([cell, cell]))
    given: Any = RefValue(ONES)
    first, second = evaluate(prelude, relay.Function([cell], body))(given)
    assert first is second and first.value.tolist() == [5, 5]
    assert given.value.tolist() == [1, 1]


def test_a_function_that_a_program_gives_is_called_and_given_to_others(prelude: Any) -> None:
    x = relay.var("x", F32)
    twice: Any = evaluate(prelude, relay.Tuple([relay.Function([x], x + x)]))[0]
    assert twice(ONES).tolist() == [2, 2]
    f = relay.var("f", relay.FuncType([F32], F32))
    applied: Any = evaluate(prelude, relay.Function([f, x], f(f(x))))
    assert applied(twice, ONES).tolist() == [4, 4]
    g = relay.var("g", relay.FuncType([F32, F32], F32))
    with pytest.raises(UsageError, match=r"a function of type .* is given where a value of type"):
        evaluate(prelude, relay.Function([g, x], g(x, x)))(twice, ONES)


def test_values_of_other_types_are_refused(prelude: Any) -> None:
    list_, cons, _ = prelude.mod.get_type("List")
    xs = relay.var("xs", list_(F32))
    run: Any = evaluate(prelude, relay.Function([xs], prelude.hd(xs)))
    assert run(made(prelude, ONES)).tolist() == [1, 1]
    with pytest.raises(InputError, match="has shape"):
        run(made(prelude, np.ones(3, np.float32)))
    with pytest.raises(UsageError, match="a tuple is given where a value of type"):
        run(made(prelude, (ONES, ONES)))
    with pytest.raises(UsageError, match="an array is given where a value of type"):
        run(ONES)
    with pytest.raises(UsageError, match="'Cons' has 2 fields, not 1"):
        run(ConstructorValue(cons.tag, [ONES], cons))
    with pytest.raises(UsageError, match="a reference is given where a value of type"):
        run(RefValue(ONES))
    with pytest.raises(UsageError, match="takes 1 arguments, but 2 are given"):
        run(made(prelude), made(prelude))
    other = relay.Constructor("Other", [], list_)
    with pytest.raises(UsageError, match="the module has no relay constructor Other of List"):
        run(ConstructorValue(0, [], other))
    _, rose = prelude.mod.get_type("Tree")
    with pytest.raises(UsageError, match="is given where one of type"):
        run(ConstructorValue(rose.tag, [ONES, made(prelude)], rose))
    pair = relay.var("pair", relay.TupleType([list_(F32), F32]))
    with pytest.raises(UsageError, match="a tuple of 1 is given where one of 2 is taken"):
        evaluate(prelude, relay.Function([pair], pair))((made(prelude),))


def shapes_and_lists(prelude: Any) -> Any:
    """A tuple of a tensor and a list of options of pairs, one of them of an open extent."""
    _, cons, nil = prelude.mod.get_type("List")
    _, some, none = prelude.mod.get_type("Option")
    x, y = relay.var("x", shape=(relay.Any(), 2)), relay.var("y", shape=(3,), dtype="int64")
    pairs = [some(relay.Tuple([x, y])), none(), some(relay.Tuple([relay.concatenate([x, x], 0), y + y]))]
    made_list = nil()
    for each in reversed(pairs):
        made_list = cons(each, made_list)
    return relay.Function([x, y], relay.Tuple([y, made_list]))


def plain(value: Any) -> Any:
    if isinstance(value, ConstructorValue):
        return value.constructor.name_hint, [plain(each) for each in value.fields]
    if hasattr(value, "dtype"):
        return value.dtype.name, value.tolist()
    return [plain(each) for each in value]


def test_native_code_gives_values_of_data_types(prelude: Any) -> None:
    module = relay.IRModule.of(prelude.mod.clone())
    module["main"] = shapes_and_lists(prelude)
    arrays = np.ones((2, 2), np.float32), np.arange(3)
    wanted = plain(relay.create_executor("debug", module).evaluate()(*arrays))
    assert wanted[1][0] == "Cons" and len(wanted[1][1][1][1][1][1][0][1][0][0][1]) == 4
    with weft.PassContext(opt_level=1):
        assert plain(relay.create_executor("vm", module).evaluate()(*arrays)) == wanted
        machine = relay.vm.VirtualMachine(relay.vm.compile(module))
    for rows in (1, 0):
        given = np.ones((rows, 2), np.float32), np.arange(3)
        result = machine.run(*given)
        assert plain(result) == plain(relay.create_executor("debug", module).evaluate()(*given))


def test_fields_of_a_value_of_a_data_type_are_no_tensor(prelude: Any) -> None:
    x, (_, cons, _) = relay.var("x", shape=(2,)), prelude.mod.get_type("List")
    given: Any = ConstructorValue(cons.tag, [np.float32(1), np.float32(2)], cons)
    with pytest.raises(InputError, match="takes numbers of float32, and no ConstructorValue"):
        weft.compile(relay.Function([x], relay.exp(x)))(given)
    with pytest.raises(InputError, match="tensors are taken, and no ConstructorValue"):
        relay.vm.VirtualMachine(relay.vm.compile(relay.Function([x], relay.exp(x)))).run(given)


def test_results_that_no_tensors_say_are_refused(prelude: Any) -> None:
    module = relay.IRModule.of(prelude.mod.clone())
    x = relay.var("x", F32)
    module["main"] = relay.Function([x], relay.RefCreate(x))
    with pytest.raises(weft.Diagnostic, match="what is run takes and gives tensors"):
        relay.create_executor("vm", module).evaluate()


@pytest.mark.parametrize(
    "taken",
    [
        F32, relay.TupleType([F32]), relay.RefType(F32), relay.FuncType([F32], relay.TensorType((2,), "int32")),
        relay.FuncType([F32, F32], F32), relay.FuncType([F32], relay.TupleType([F32])),
    ],
    ids=str,
)  # fmt: skip
def test_a_function_is_refused_where_another_value_is_taken(taken: Any) -> None:
    """It was taken for a tensor, or for a function that gives other elements."""
    x, value = relay.var("x", F32), relay.var("value", taken)
    twice: Any = relay.create_executor().evaluate(relay.Tuple([relay.Function([x], x + x)]))[0]
    same = relay.Function([value], relay.Tuple([value, relay.RefCreate(relay.const(1.0))]))
    with pytest.raises(UsageError, match=r"a function of type .* is given where a value of type"):
        relay.create_executor().evaluate(same)(twice)


def test_a_function_fits_where_extents_or_types_are_open(prelude: Any) -> None:
    x, any_length = relay.var("x", F32), relay.TensorType((relay.Any(),), "float32")
    twice: Any = evaluate(prelude, relay.Tuple([relay.Function([x], x + x)]))[0]
    value, data = relay.var("value", relay.FuncType([any_length], any_length)), relay.var("data", F32)
    assert evaluate(prelude, relay.Function([value, data], value(data)))(twice, ONES).tolist() == [2, 2]
    doubled = evaluate(prelude, prelude.map)(twice, made(prelude, ONES, 2 * ONES))
    assert [each.tolist() for each in listed(doubled)] == [[2, 2], [4, 4]]


def test_what_stands_in_many_places_is_read_and_shown_once(prelude: Any) -> None:
    """A tree of 60 levels whose branches are one: each place was visited."""
    value: Any = made(prelude, ONES)
    for _ in range(60):
        value = (value, value)
    result: Any = evaluate(prelude, prelude.id)(value)
    for _ in range(60):
        assert result[0] is result[1]
        result = result[0]
    assert [each.tolist() for each in listed(result)] == [[1, 1]]


def test_an_array_is_copied_to_an_array_or_a_device() -> None:
    array, plain = weft.nd.array([1.0, 2.0]), np.zeros(2)
    assert np.array_equal(array.copyto(plain), plain) and plain.tolist() == [1, 2]
    copy = array.copyto(weft.cpu(0))
    copy[0] = 5
    assert isinstance(copy, weft.runtime.NDArray) and array.tolist() == [1, 2]
    with pytest.raises(ValueError, match="the array is"):
        array.copyto(np.zeros(3))

"""Programs of `relay.create_executor` whose open extents are 1 in some calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.runtime.tensors import InputError

pytestmark = pytest.mark.sampled(2)

relay: Any = relay
ANY = relay.Any()
Shape = tuple[Any, ...]


def program(*shapes: Shape) -> Any:
    x, y = (relay.var(name, shape=shape) for name, shape in zip("xy", shapes, strict=True))
    return relay.create_executor("vm").evaluate(relay.Function([x, y], relay.exp(x) + y))


def numbers(shape: Shape) -> npt.NDArray[np.float32]:
    return np.random.default_rng(0).random(shape).astype(np.float32)


FORMS = {
    "a vector beside rows": ((ANY,), (3, 2), [((1,), (3, 2)), ((2,), (3, 2))]),
    "rows beside one": ((ANY, 2), (1, 2), [((3, 2), (1, 2)), ((1, 2), (1, 2))]),
    "one of each": ((ANY, 2), (3, ANY), [((1, 2), (3, 1)), ((3, 2), (3, 2)), ((1, 2), (3, 2))]),
    "either": ((ANY, ANY), (ANY, ANY), [((1, 4), (3, 1)), ((3, 4), (3, 4)), ((3, 1), (3, 4)), ((0, 4), (1, 4))]),
}


@pytest.mark.parametrize("form", FORMS)
def test_open_extents_broadcast_where_one_is_1(form: str) -> None:
    *shapes, calls = FORMS[form]
    run = program(*shapes)
    for given in calls:
        x, y = map(numbers, given)
        np.testing.assert_allclose(run(x, y), np.exp(x) + y, rtol=1e-6)


@pytest.mark.parametrize("given", [((4, 2), (3, 2)), ((2, 2), (1, 2)), ((1,), (3, 2))])
def test_what_does_not_broadcast_is_refused(given: tuple[Shape, Shape]) -> None:
    run = program((ANY, 2), (3, 2))
    with pytest.raises(InputError):
        run(*map(numbers, given))


def test_virtual_machines_broadcast_and_those_of_files_refuse_it() -> None:
    x, y = relay.var("x", shape=(ANY, 2)), relay.var("y", shape=(3, 2))
    made = relay.vm.compile(weft.IRModule.from_expr(relay.Function([x, y], relay.exp(x) + y)), "llvm")
    machine = relay.vm.VirtualMachine(made)
    for rows in (1, 3, 1):
        given = numbers((rows, 2)), numbers((3, 2))
        np.testing.assert_allclose(machine.invoke("main", *given), np.exp(given[0]) + given[1], rtol=1e-6)
    with pytest.raises(InputError):
        machine.invoke("main", numbers((2, 2)), numbers((3, 2)))
    again = relay.vm.VirtualMachine(relay.vm.Executable.load_exec(*made.save()))
    same = [numbers((3, 2))] * 2
    np.testing.assert_allclose(again.invoke("main", *same), machine.invoke("main", *same))
    with pytest.raises(InputError):
        again.invoke("main", numbers((1, 2)), numbers((3, 2)))


def test_a_program_is_compiled_once_for_each_set_of_extents_of_1(monkeypatch: pytest.MonkeyPatch) -> None:
    from weft import compiler

    made: list[Any] = []
    compile = compiler.compile

    def counted(*args: Any, **kwargs: Any) -> Any:
        made.append(kwargs.get("shapes"))
        return compile(*args, **kwargs)

    monkeypatch.setattr(compiler, "compile", counted)
    run = program((ANY, 2), (ANY, 2))
    for rows in (3, 5, 3):
        for x, y in ((1, rows), (rows, rows), (rows, 1)):
            run(numbers((x, 2)), numbers((y, 2)))
    assert made == [None, {"x": (1, -1)}, {"y": (1, -1)}]


def test_what_is_compiled_alone_says_which_extents_are_one() -> None:
    x, y = (relay.var(name, shape=(ANY, 2)) for name in "xy")
    exe = weft.compile(relay.Function([x, y], x + y))
    with pytest.raises(InputError, match=r"input 'y' has shape \[1, 2\], the graph takes \[3, 2\]"):
        exe(numbers((3, 2)), numbers((1, 2)))

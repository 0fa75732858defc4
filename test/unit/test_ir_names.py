"""`weft.ir` and `weft.IRModule`: what Relay and TIR share, by TVM's names."""

from typing import Any

import pytest

import weft
from weft import relay, tir
from weft.script import tir as T

relay: Any = relay
weft: Any = weft
X = relay.var("x", shape=(8,))


def function(buffer: str) -> Any:
    return tir.from_source(f"""
@T.prim_func
def doubled({buffer}: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            {buffer}[vi] = {buffer}[vi] + {buffer}[vi]
""")


doubled, doubled_too = function("A"), function("B")


def test_a_module_is_of_the_kind_of_its_functions() -> None:
    assert isinstance(weft.IRModule({"main": relay.Function([X], X)}), relay.IRModule)
    assert isinstance(weft.IRModule({relay.GlobalVar("f"): doubled}), tir.IRModule)
    assert weft.IRModule({relay.GlobalVar("f"): doubled}).functions.keys() == {"f"}
    assert weft.ir.IRModule is weft.IRModule
    assert isinstance(weft.IRModule.from_expr(X), relay.IRModule)
    assert isinstance(weft.IRModule.from_expr(doubled), tir.IRModule)
    assert isinstance(relay.IRModule(), weft.IRModule) and isinstance(tir.IRModule(), weft.IRModule)
    assert not isinstance(X, weft.IRModule)


def test_what_is_the_same_but_for_names_is_told_of_both() -> None:
    same = weft.ir.structural_equal
    assert same(X + X, X + X) and not same(X + X, X - X)
    assert same(doubled, doubled_too)
    assert same(weft.IRModule({"f": doubled}), weft.IRModule({"f": doubled_too}))
    assert not same(doubled, X)
    assert weft.ir.structural_hash(doubled) == weft.ir.structural_hash(doubled_too)
    weft.ir.assert_structural_equal(relay.IRModule.from_expr(X), relay.IRModule.from_expr(X))
    for one, other in ((X + X, X - X), (doubled, X)):
        with pytest.raises(ValueError, match=r"differ|one is of Relay"):
            weft.ir.assert_structural_equal(one, other)


def test_a_module_of_both_is_compared_in_both() -> None:
    def module(func: Any) -> Any:
        made = relay.IRModule.from_expr(X)
        made.body.block.add_op(func.with_attr("global_symbol", "f"))
        return made

    assert weft.ir.structural_equal(module(doubled), module(doubled))
    changed = doubled.with_attr("global_symbol", "g")
    assert not weft.ir.structural_equal(module(doubled), relay.IRModule.from_expr(X))
    assert not weft.ir.structural_equal(module(doubled), module(changed.with_attr("tir.noalias", True)))


def test_operators_are_found_by_name() -> None:
    assert weft.ir.Op.get("nn.relu") == relay.op.get("nn.relu")
    with pytest.raises(AttributeError, match=r"nn\.relu"):
        weft.ir.Op.get("nn.rellu")


def test_an_empty_module_is_of_what_is_first_put_into_it() -> None:
    @T.prim_func
    def copied(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):  # pyright: ignore  # noqa: F821
        for i in range(8):  # pyright: ignore
            B[i] = A[i]  # pyright: ignore

    module = weft.IRModule()
    module["main"] = copied
    assert list(module.functions) == ["main"]
    assert weft.ir.structural_equal(module["main"], copied)
    assert weft.tir.transform.Simplify()(module)["main"].script() == module["main"].script()

    x = relay.var("x", shape=(2,))
    module = weft.IRModule({})
    module["main"] = relay.Function([x], x)
    assert [each.name_hint for each in module.functions] == ["main"]
    with pytest.raises(weft.Diagnostic, match=r"has functions or data types of Relay, and is given one of tir"):
        module["other"] = copied

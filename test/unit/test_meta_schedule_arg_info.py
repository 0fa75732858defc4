"""What a function is called with, for measuring it."""

from __future__ import annotations

import json

import pytest

from weft import te, tir
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.meta_schedule.arg_info import ArgInfo, TensorInfo


def product(n: int | None = None) -> PrimFuncOp:
    extent = te.var("n") if n is None else n
    a = te.placeholder((extent, 4), "float32", name="a")
    b = te.placeholder((4,), "int8", name="b")
    c = te.compute((extent, 4), lambda i, j: a[i, j] * b[j].astype("float32"), name="c")
    return te.create_prim_func([a, b, c])


def test_a_tensor_is_told_by_its_dtype_and_shape() -> None:
    info = TensorInfo("float32", [1, 224, 3])
    assert str(info) == 'TensorInfo("float32", [1, 224, 3])'
    assert info.as_json() == ["TENSOR", "float32", [1, 224, 3]]
    again = ArgInfo.from_json(json.loads(json.dumps(info.as_json())))
    assert again == info == TensorInfo.from_json(info.as_json())


@pytest.mark.parametrize("given", [[], ["TENSOR", "float32"], ["SCALAR", "float32", [1]], ["TENSOR", "int8", ["n"]]])
def test_other_lists_describe_no_argument(given: list[object]) -> None:
    with pytest.raises(UsageError, match="describes no argument"):
        ArgInfo.from_json(given)


def test_the_arguments_of_functions_and_modules_are_told_in_order() -> None:
    expected = [TensorInfo("float32", [3, 4]), TensorInfo("int8", [4]), TensorInfo("float32", [3, 4])]
    assert ArgInfo.from_prim_func(product(3)) == expected
    assert ArgInfo.from_entry_func(tir.IRModule({"only": product(3)})) == expected
    assert ArgInfo.from_entry_func(tir.IRModule({"other": product(5), "main": product(3)})) == expected


def test_what_is_known_only_when_it_runs_is_refused() -> None:
    with pytest.raises(UsageError, match="the shape of 'a' is known only when"):
        ArgInfo.from_prim_func(product())
    with pytest.raises(UsageError, match="none is called main"):
        ArgInfo.from_entry_func(tir.IRModule({"one": product(3), "two": product(3)}))

"""Attributes as Python values, both ways, and where they pass through functions as trees."""

import subprocess
import sys

import pytest
from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, IndexType, IntegerAttr, f32, i8, i32
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from weft.dialects.support.parser import parse_module
from weft.dialects.support.python_values import attribute_of, value_of
from weft.dialects.tir.core import PrimFuncOp
from weft.transforms.infra.registry import new_ir_context

VALUES = [True, 0, -3, 0.5, "text", None, [1, [True, "x"]], {"a": 1.0, "b": {"c": None}}, AffineMap.identity(2)]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_value_is_what_its_attribute_stands_for(value: object) -> None:
    back = value_of(attribute_of(value))
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize("attribute", [IntegerAttr(3, i32), IntegerAttr(3, IndexType()), FloatAttr(0.5, f32)], ids=str)
def test_an_attribute_that_no_value_gives_back_stands_for_itself(attribute: Attribute) -> None:
    assert value_of(attribute) is attribute and attribute_of(attribute) is attribute
    inside = DictionaryAttr({"each": attribute})
    assert attribute_of(value_of(inside)) == inside


def test_what_has_no_attribute_is_refused() -> None:
    with pytest.raises(TypeError, match="no attribute for a set"):
        attribute_of([{1}])


def test_an_annotation_keeps_its_type_when_a_functions_body_is_replaced() -> None:
    text = """
    tir.prim_func @f(%a: memref<4xf32>) {
      tir.for %i = 0 to 4 annotations {short = 3 : i8, long = 3 : i64} {
        tir.block @b(%v: spatial 4) = [%i] reads() writes(%a[%v] : memref<4xf32>) {
          %one = arith.constant 1.0 : f32
          memref.store %one, %a[%v] : memref<4xf32>
        }
      }
    }"""
    (func,) = parse_module(text, new_ir_context()).ops
    assert isinstance(func, PrimFuncOp)
    again = str(func.with_body(func.body))
    assert f"short = {IntegerAttr(3, i8)}" in again and "long = 3 : i64" in again


def test_a_function_is_read_as_a_tree_by_whoever_has_just_the_dialect() -> None:
    code = """
from weft.dialects.support.parser import parse_module
from weft.transforms.infra.registry import new_ir_context
(func,) = parse_module("tir.prim_func @f(%a: memref<4xf32>) {}", new_ir_context()).ops
print(type(func.body).__name__)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "Evaluate\n", done.stderr

"""Kernels by themselves: which calls are refused."""

from __future__ import annotations

import numpy as np
import pytest
from native import parse

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import PrimFuncOp
from weft.kernel import build_kernel
from weft.lowering.prim_func_graph import graph_of
from weft.runtime.tensors import InputError

PARTLY = """
tir.prim_func @partly(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 4 {
    tir.block @copy(%v: partial spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
"""


def test_results_of_which_elements_are_not_written_are_no_results() -> None:
    (func,) = parse(PARTLY).ops
    assert isinstance(func, PrimFuncOp)
    kernel = build_kernel(func, start="schedule")
    for _ in range(2):
        with pytest.raises(Diagnostic, match="%y"):
            kernel(np.ones(8, np.float32))
    with pytest.raises(Diagnostic, match="%x"):
        kernel()
    assert kernel(np.ones(8, np.float32), np.ones(8, np.float32)) == []


def test_a_number_that_says_an_extent_is_what_that_extent_is():
    """The sizes of a function of `tir` are inputs of a graph that calls it."""
    text = """tir.prim_func @double(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n], %y[%n]) {
      tir.for %i = 0 to %n {
        tir.block @b(%v: spatial %n) = [%i] reads(%x[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
          %0 = memref.load %x[%v] : memref<?xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %y[%v] : memref<?xf32>
        }
      }
    }"""
    function = parse(text).body.block.first_op
    assert isinstance(function, PrimFuncOp)
    exe, x = weft.compile(graph_of(function), threads=1), np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(exe(x, np.array(4)), 2 * x)
    with pytest.raises(InputError, match="element 0 of input 'n' is 5, the graph takes 4 where n = 4"):
        exe(x, np.array(5))

"""Kernels by themselves: which calls are refused."""

from __future__ import annotations

import numpy as np
import pytest
from native import parse

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import PrimFuncOp
from weft.kernel import build_kernel

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

"""Checks that are put into loops guard the index that is in doubt."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.ir import OpResult

from weft.dialects.rt.checks import CheckOp
from weft.dialects.support.parser import parse_module
from weft.lowering.insert_loop_checks import InsertLoopChecksPass
from weft.transforms.infra.registry import new_ir_context

DIAGONAL = """
func.func private @f.nest_0(%x: memref<8x4xf32>, %at: memref<3xi64>, %out: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %0 = memref.load %at[%i] : memref<3xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.remui %1, %c8 : index
    %3 = memref.load %x[%2, %2] : memref<8x4xf32>
    memref.store %3, %out[%i] : memref<3xf32>
  }
  func.return
}
func.func @f(%x: memref<8x4xf32>, %at: memref<3xi64>, %out: memref<3xf32>, %slots: !rt.slots<1>, %num_threads: index) {
  rt.share %slots[0] {
    func.call @f.nest_0(%x, %at, %out) : (memref<8x4xf32>, memref<3xi64>, memref<3xf32>) -> ()
  } : !rt.slots<1>
  func.return
}
"""


def test_of_an_index_in_two_dimensions_that_is_replaced_which_is_in_doubt() -> None:
    module = parse_module(DIAGONAL, new_ir_context())
    InsertLoopChecksPass().apply(Context(), module)
    (check,) = (op for op in module.walk() if isinstance(op, CheckOp))
    load = next(op for op in module.walk() if isinstance(op, memref.LoadOp) and len(op.indices) == 2)
    row, column = load.indices
    assert column is check.result
    assert isinstance(row, OpResult) and row is check.operands[0] and row is not check.result
    module.verify()

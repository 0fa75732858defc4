"""What rules let run at once asserts that it may, where that cannot be seen, and nowhere else."""

from __future__ import annotations

import pytest

from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import ForKind, ForOp, PrimFuncOp
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.schedule import set_kind
from weft.transforms.tir.schedule.errors import ScheduleError
from weft.transforms.tir.scheduling import recorded

TEXT = """
tir.prim_func @f(%i: memref<8xindex>, %x: memref<9xf32>, %y: memref<9xf32>) {{
  tir.for %k = 0 to 8 {{
    tir.block @copy(%v: spatial 8) = [%k] reads({reads}%x[%v] : memref<9xf32>) writes({writes}) {{
      %0 = memref.load %x[%v] : memref<9xf32>
      {body}
    }}
  }}
}}
"""
SEEN = {"reads": "", "writes": "%y[%v] : memref<9xf32>", "body": "memref.store %0, %y[%v] : memref<9xf32>"}
BY_DATA = {
    "reads": "%i[%v] : memref<8xindex>, ",
    "writes": "%y : memref<9xf32>",
    "body": "%1 = memref.load %i[%v] : memref<8xindex>\n memref.store %0, %y[%1] : memref<9xf32>",
}
DEPENDENT = {
    "reads": "",
    "writes": "%x : memref<9xf32>",
    "body": "%1 = arith.constant 1 : index\n%2 = arith.addi %v, %1 : index\n memref.store %0, %x[%2] : memref<9xf32>",
}


def loop_of(parts: dict[str, str]) -> ForOp:
    func = parse_module(TEXT.format(**parts), new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    loop = func.region.block.first_op
    assert isinstance(loop, ForOp)
    return loop


@pytest.mark.parametrize("kind", [ForKind.PARALLEL, ForKind.VECTORIZED])
def test_what_can_be_seen_is_not_asserted(kind: ForKind) -> None:
    loop = loop_of(SEEN)
    recorded.set_kind(loop, kind)
    assert loop.for_kind == kind and loop.annotations is None


def test_what_cannot_be_seen_is_asserted() -> None:
    loop = loop_of(BY_DATA)
    with pytest.raises(ScheduleError, match="it is not shown that no two iterations of %k meet"):
        set_kind.set_kind(loop, ForKind.PARALLEL)
    func = loop.parent_op()
    assert isinstance(func, PrimFuncOp)
    with recorded.recording(func, "shared") as trace:
        recorded.set_kind(loop, ForKind.PARALLEL)
    assert loop.is_independent and str(trace.op).index("independent") < str(trace.op).index("parallel")
    func.verify()


def test_what_is_wrong_is_refused_and_leaves_no_word() -> None:
    loop = loop_of(DEPENDENT)
    with pytest.raises(ScheduleError, match="whose iterations depend on each other"):
        recorded.set_kind(loop, ForKind.PARALLEL)
    assert loop.annotations is None and loop.for_kind == ForKind.SERIAL

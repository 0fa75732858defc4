"""A reduction that loses a step, or takes one twice, is found; one that does not is left alone."""

from __future__ import annotations

import re
from itertools import permutations

import numpy as np
import pytest
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.affine import affine_of
from weft.dialects.tir.core import BlockOp, PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.dialects.tir.legality.function import findings
from weft.transforms.infra.registry import new_ir_context

BODY = """
        %0 = memref.load %y[%vi] : memref<3xf32>
        %1 = memref.load %x[%vi, %vk] : memref<3x8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%vi] : memref<3xf32>
      } init(%wi, %wk) {
        %3 = arith.constant 0.0 : f32
        memref.store %3, %y[%wi] : memref<3xf32>
      }"""


def rows(loops: list[str], bindings: str) -> PrimFuncOp:
    """The sums of rows of eight elements: `loops`, outermost first, around a block with those bindings."""
    text = "tir.prim_func @k(%x: memref<3x8xf32>, %y: memref<3xf32>) {\n"
    text += "".join(f"tir.for {loop} {{\n" for loop in loops)
    text += f"tir.block @sum(%vi: spatial 3, %vk: reduce 8) = [{bindings}]\n"
    text += f"reads(%x[%vi, %vk] : memref<3x8xf32>) writes(%y[%vi] : memref<3xf32>) {{{BODY}\n"
    text += "}\n" * (len(loops) + 1)
    func = parse_module(text, new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


def mistakes(func: PrimFuncOp) -> list[str]:
    return [finding.message for finding in findings(func)]


def gives_the_sums(func: PrimFuncOp) -> bool:
    x = np.arange(24, dtype=np.float32).reshape(3, 8)
    try:
        return np.array_equal(Interpreter(func)([x])[0], x.sum(1))
    except Diagnostic as error:
        assert "before it is written" in error.message
        return False


@pytest.mark.parametrize(
    ("loops", "bindings", "message"),
    [
        (["%i = 0 to 3", "%k = 0 to 8"], "%i, 7 - %k", r"%vk = 7 comes before it"),
        (["%i = 0 to 3", "%k = 0 to 8"], "%i, (%k + 1) mod 8", r"%vk = 1 comes before it"),
        (["%i = 0 to 3", "%k = 0 to 16"], "%i, %k floordiv 2", r"twice: %vk = 1"),
        (["%i = 0 to 3", "%k = 0 to 8", "%z = 0 to 2"], "%i, %k", r"twice: %vk = 1"),
        (["%k = 0 to 8", "%z = 0 to 2", "%i = 0 to 3"], "%i, %k", r"twice: %vk = 1"),
        (["%k = 0 to 4", "%f = 0 to 6"], "%f floordiv 2, (%f mod 2) * 4 + 3 - %k", "comes before it"),
        (["%f1 = 0 to 4", "%f0 = 0 to 6"], "(%f0 * 4 + %f1) floordiv 8, (%f0 * 4 + %f1) mod 8", None),
        (["%f1 = 0 to 8", "%f0 = 0 to 3"], "(%f0 * 8 + %f1) floordiv 8, (%f0 * 8 + %f1) mod 8", None),
        (["%z = 0 to 2", "%i = 0 to 3", "%k = 0 to 8"], "%i, %k", None),
        (["%i = 0 to 3", "%k = 0 to 16"], "%i, %k mod 8", None),
        (["%i = 0 to 3", "%k0 = 0 to 4", "%k1 = 0 to 2"], "%i, %k0 * 2 + %k1", None),
        (["%i = 0 to 3", "%k1 = 0 to 2", "%k0 = 0 to 4"], "%i, %k0 * 2 + %k1", None),
        (["%k1 = 0 to 2", "%i = 0 to 3", "%k0 = 0 to 4"], "%i, %k0 * 2 + %k1", None),
        (["%i = 0 to 3", "%k = 2 to 10"], "%i, %k - 2", None),
    ],
)
def test_a_reduction_gives_its_sum_where_nothing_is_found(loops: list[str], bindings: str, message: str | None) -> None:
    func = rows(loops, bindings)
    found = mistakes(func)
    assert gives_the_sums(func) == (message is None) == (not found), found
    assert message is None or re.search(message, found[0])


def test_every_order_of_split_and_fused_loops_is_judged_as_the_interpreter_does() -> None:
    loops = ["%a = 0 to 2", "%b = 0 to 3", "%c = 0 to 4"]
    judged: set[bool] = set()
    for order in permutations(loops):
        for bindings in ("%b, %a * 4 + %c", "(%a * 12 + %b * 4 + %c) floordiv 8, (%a * 12 + %b * 4 + %c) mod 8"):
            func = rows(list(order), bindings)
            right = gives_the_sums(func)
            assert right == (not mistakes(func)), (order, bindings)
            judged.add(right)
    assert judged == {True, False}


@pytest.mark.parametrize(
    ("operation", "offset", "affine"),
    [("remui", 3, False), ("divui", 3, False), ("floordivsi", 3, True), ("remui", 0, True), ("divui", 0, True)],
)
def test_an_unsigned_division_of_a_negative_index_is_not_taken_for_a_signed_one(
    operation: str, offset: int, affine: bool
) -> None:
    text = f"""tir.prim_func @k(%x: memref<9xf32>, %y: memref<9xf32>) {{
      tir.for %i = 0 to 9 {{
        tir.block @b(%v: spatial 9) = [%i] reads(%x : memref<9xf32>) writes(%y[%v] : memref<9xf32>) {{
          %c = arith.constant {offset} : index
          %5 = arith.constant 5 : index
          %a = arith.subi %v, %c : index
          %b = arith.{operation} %a, %5 : index
          %0 = memref.load %x[%b] : memref<9xf32>
          memref.store %0, %y[%v] : memref<9xf32>
        }}
      }}
    }}"""
    func = parse_module(text, new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    block = next(op for op in func.walk() if isinstance(op, BlockOp))
    dims: dict[SSAValue, AffineExpr] = {v: AffineExpr.dimension(d) for d, v in enumerate(block.iters)}
    index = block.accesses()[0].op.indices[0]
    assert (affine_of(index, dims) is not None) == affine

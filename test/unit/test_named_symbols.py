"""Operations that name others of a module: what they name is there, of the kind and type that they say."""

from __future__ import annotations

import pytest
from native import parse

from weft.dialects.support.diagnostics import Diagnostic, Diagnostics
from weft.lowering.tir_to_loops.convert_tir_to_loops import ConvertTirToLoopsPass
from weft.transforms.infra.registry import new_ir_context

GLOBAL = """
memref.global "private" constant @ones : memref<4xf32> = dense<1.0>
func.func @f() {{
  %g = memref.get_global {0} : memref<{1}xf32>
  func.return
}}
"""
BLOCK = """
memref.global "private" constant @ones : memref<4xf32> = dense<1.0>
tir.prim_func @f(%x: memref<4xf32>, %y: memref<4xf32>) {{
  tir.for %i = 0 to 4 {{
    tir.block @b(%vi: spatial 4) = [%i] reads(%x[%vi] : memref<4xf32>) writes(%y[%vi] : memref<4xf32>) {{
      %g = memref.get_global {0} : memref<{1}xf32>
      %0 = memref.load %x[%vi] : memref<4xf32>
      memref.store %0, %y[%vi] : memref<4xf32>
    }}
  }}
}}
"""
ADDRESS = """
llvm.func @ones() {{
  %0 = llvm.mlir.addressof {0} : !llvm.ptr
  llvm.return
}}
"""


@pytest.mark.parametrize("text", [GLOBAL, BLOCK, ADDRESS])
def test_what_is_named_is_found(text: str) -> None:
    parse(text.format("@ones", 4))
    with pytest.raises(Diagnostics, match=r"names no .*: '@one' is not there"):
        parse(text.format("@one", 4))


def test_a_function_is_no_memory() -> None:
    with pytest.raises(Diagnostics, match=r"names no memref.global: '@f' is a func.func"):
        parse(GLOBAL.format("@f", 4))


@pytest.mark.parametrize("text", [GLOBAL, BLOCK])
def test_memory_is_of_the_type_that_its_global_has(text: str) -> None:
    with pytest.raises(Diagnostics, match=r"'@ones' is of type memref<4xf32>, not memref<5xf32>"):
        parse(text.format("@ones", 5))


def test_what_gives_nothing_and_is_not_known_is_no_part_of_a_block() -> None:
    text = BLOCK.format("@ones", 4).replace(
        "%g = memref", '"builtin.unrealized_conversion_cast"() : () -> ()\n %g = memref'
    )
    with pytest.raises(Diagnostic, match=r"cannot be lowered in a tir.block"):
        ConvertTirToLoopsPass().apply(new_ir_context(), parse(text))

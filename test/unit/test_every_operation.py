"""An operation of each class that can be made of its definition: every lowering takes it, or says where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import pytest
from random_operations import BUFFERS, SCALARS, TENSORS, VECTORS, Maker, constant
from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import FunctionType, ModuleOp, f32
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.traits import IsTerminator, is_side_effect_free

from weft.dialects.relay.core import FuncOp, ReturnOp
from weft.dialects.support.diagnostics import Diagnostic, Diagnostics
from weft.dialects.support.verifier import verify
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.frontend.mlir import parse_mlir
from weft.lowering.graph_to_memory.bufferize_graph import BufferizeGraphPass
from weft.lowering.llvm_ir.module import emit_llvm_ir
from weft.lowering.loops_to_c.module import emit_c
from weft.lowering.loops_to_llvm.convert_loops_to_llvm import ConvertLoopsToLLVMPass
from weft.lowering.math.expand_math import ExpandMathPass
from weft.lowering.memory_to_loops.materialize_memory import MaterializeMemoryPass
from weft.lowering.tir_to_loops.convert_tir_to_loops import ConvertTirToLoopsPass
from weft.transforms.infra import ModulePass
from weft.transforms.infra.registry import new_ir_context

DIALECTS = "scf cf arith math memref vector llvm gpu tir mem rt ub func relay builtin affine"
CONTEXT = new_ir_context()
NOT_DROPPED = {"vector.bitcast", "tir.assume"}
"""Of no effect, though their classes do not say so: a cast, and what is only to be known."""


@cache
def classes() -> dict[str, type[Operation]]:
    return {kind.name: kind for name in DIALECTS.split() for kind in CONTEXT.get_dialect(name).operations}


@cache
def maker(types: tuple[Attribute, ...]) -> Maker:
    ends: dict[str, list[type[Operation]]] = {}
    for name, kind in classes().items():
        if kind.has_trait(IsTerminator) and name.split(".")[1] in ("yield", "return", "end", "terminator"):
            ends.setdefault(name.split(".")[0], []).append(kind)
    return Maker(types, ends)


def made(types: Sequence[Attribute]) -> Iterator[Operation]:
    for kind in classes().values():
        if (op := maker(tuple(types)).make(kind)) is not None:
            yield op


def body_of(op: Operation) -> Block:
    block = op.parent
    assert block is not None
    return block


def in_function(op: Operation) -> ModuleOp:
    """In a function that returns what it gives."""
    block, results = body_of(op), [] if op.has_trait(IsTerminator) else list(op.results)
    if not op.has_trait(IsTerminator):
        block.add_op(func.ReturnOp(*results))
    for each in op.successors:
        each.add_op(func.ReturnOp())
    region = Region([block, *op.successors])
    type = FunctionType.from_lists(block.arg_types, [each.type for each in results])
    return ModuleOp([func.FuncOp("k", type, region)])


def in_llvm_function(op: Operation) -> ModuleOp:
    block, results = body_of(op), list(op.results)[:1]
    if not op.has_trait(IsTerminator):
        block.add_op(llvm.ReturnOp(*results))
    else:
        results = []
    for each in op.successors:
        each.add_op(llvm.ReturnOp())
    type = llvm.LLVMFunctionType(list(block.arg_types), results[0].type if results else llvm.LLVMVoidType())
    return ModuleOp([llvm.FuncOp("k", type, body=Region([block, *op.successors]))])


def in_relay_function(op: Operation) -> ModuleOp:
    block = body_of(op)
    block.add_op(ReturnOp(*op.results))
    type = FunctionType.from_lists(block.arg_types, [each.type for each in op.results])
    return ModuleOp([FuncOp("main", type, Region(block))])


BLOCK = """
tir.prim_func @k(%x: memref<8xf32>, %m: memref<4x4xf32>, %b: memref<64xi8>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @b(%v: opaque 8) = [%i] reads(%x : memref<8xf32>, %m : memref<4x4xf32>, %b : memref<64xi8>)
        writes(%y : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.constant 0 : index
      %2 = memref.load %m[%1, %1] : memref<4x4xf32>
      %3 = memref.load %b[%1] : memref<64xi8>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
"""
LOOPS = """
func.func private @k(%x: memref<8xf32>, %m: memref<4x4xf32>, %b: memref<64xi8>, %y: memref<8xf32>) {
  %0 = arith.constant 0 : index
  %1 = memref.load %x[%0] : memref<8xf32>
  memref.store %1, %y[%0] : memref<8xf32>
  func.return
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %arena: memref<128xi8>, %num_threads: index)
    attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.counter_bytes = 128 : i64,
                weft.outputs = [{name = "y", type = tensor<8xf32>}]} {
  %m = memref.alloca() : memref<4x4xf32>
  %b = memref.alloca() : memref<64xi8>
  func.call @k(%x, %m, %b, %y) : (memref<8xf32>, memref<4x4xf32>, memref<64xi8>, memref<8xf32>) -> ()
  func.return
}
"""


def among(text: str, op: Operation) -> ModuleOp:
    """In front of a store, which stores what it gives if that is of its type."""
    module = parse_mlir(text, "k.mlir")
    store = next(each for each in module.walk() if isinstance(each, memref.StoreOp))
    function = next(iter(module.ops))
    buffers = {each.type: each for each in function.regions[0].block.args}
    before = body_of(store)
    operands = list(op.operands)
    op.detach()
    for number, operand in enumerate(operands):
        if (buffer := buffers.get(operand.type)) is not None:
            op.operands[number] = buffer
        else:
            before.insert_op_before(given := constant(operand.type), store)
            op.operands[number] = given.results[0]
    before.insert_op_before(op, store)
    if op.results and op.results[0].type == f32:
        store.operands[0] = op.results[0]
    return module


def by(*passes: ModulePass) -> Callable[[ModuleOp], str]:
    def run(module: ModuleOp) -> str:
        for each in passes:
            each.apply(CONTEXT, module)
        return str(module)

    return run


def interpreted(module: ModuleOp) -> str:
    function = next(iter(module.ops))
    assert isinstance(function, PrimFuncOp)
    return Interpreter(function).source


WAYS = {
    "loops to llvm": (in_function, (*SCALARS, *VECTORS, *BUFFERS), by(ExpandMathPass(), ConvertLoopsToLLVMPass()), 150),
    "loops to C": (partial(among, LOOPS), (*SCALARS, *VECTORS, *BUFFERS), emit_c, 50),
    "llvm to text": (in_llvm_function, (f32, *SCALARS[1:4], *VECTORS, llvm.LLVMPointerType()), emit_llvm_ir, 100),
    "tir to loops": (partial(among, BLOCK), (*SCALARS, *BUFFERS), by(ConvertTirToLoopsPass()), 50),
    "tir interpreted": (partial(among, BLOCK), (*SCALARS, *BUFFERS), interpreted, 50),
    "relay to memory": (in_relay_function, TENSORS, by(BufferizeGraphPass()), 1),
    "memory to loops": (in_function, BUFFERS, by(MaterializeMemoryPass()), 1),
}


def tried(place: Callable[[Operation], ModuleOp], lower: Callable[[ModuleOp], str], op: Operation) -> str | None:
    """What becomes of an operation: the text, or nothing where it is refused."""
    module = place(op)
    try:
        verify(module)
        return lower(module)
    except Diagnostics:
        return None
    except Diagnostic as error:
        assert error.message
        return None


@pytest.mark.parametrize("way", WAYS)
def test_an_operation_is_lowered_or_refused(way: str) -> None:
    place, types, lower, least = WAYS[way]  # so many are lowered, at least
    taken, wrong = 0, list[str]()
    for op in made(types):
        name, pure = op.name, is_side_effect_free(op) or op.name in NOT_DROPPED
        is_alone = not op.has_trait(IsTerminator) and not pure and not op.results
        try:
            text = tried(place, lower, op)
            taken += text is not None
            if text is not None and is_alone:
                op = maker(tuple(types)).make(classes()[name])
                assert op is not None
                module = place(op)
                op.detach()
                op.erase()
                if lower(module) == text:
                    wrong.append(f"{name} is dropped")
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
    assert taken >= least, taken

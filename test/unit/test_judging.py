"""Judging an operation by its looks refuses all that asking it each time would."""

import random
from collections.abc import Callable

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr, i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.traits import OpTrait, SymbolTable
from xdsl.utils.exceptions import VerifyException

from weft.dialects.support.diagnostics import Diagnostics
from weft.dialects.support.facts import unchanged
from weft.dialects.support.looks import by_looks
from weft.dialects.support.parser import parse_module
from weft.dialects.support.retyping import retype
from weft.dialects.support.symbols import lookup_symbol
from weft.dialects.support.verifier import find_failures, verify
from weft.lowering.compiler import lower
from weft.lowering.machine.target import Target
from weft.transforms.infra.registry import new_ir_context


def parsed(text: str) -> ModuleOp:
    return parse_module(text, new_ir_context(), "m.mlir")


def refused(text: str) -> str:
    with pytest.raises(Diagnostics) as error:
        verify(parsed(text))
    return str(error.value)


RIGHT = """
func.func @callee(%x: i32) -> i32 {
  func.return %x : i32
}
func.func @caller(%x: i32) -> i32 {
  %y = func.call @callee(%x) : (i32) -> i32
  func.return %y : i32
}
"""


def test_a_symbol_that_was_there_in_another_module_is_not_taken_to_be_here() -> None:
    verify(parsed(RIGHT))
    assert "callee" in refused(RIGHT.replace("func.func @callee", "func.func @renamed"))


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("@callee(%x) : (i32) -> i32", "@other(%x) : (i32) -> i32", "could not be found"),
        ("@callee(%x: i32) -> i32 {\n  func.return %x : i32", "@callee() {\n  func.return", "number of operands"),
        ("callee(%x: i32) -> i32 {\n  func.return %x : i32", "callee(%x: i32) {\n  func.return", "number of results"),
        ("callee(%x: i32) -> i32 {\n  func.return %x", "callee(%x: i64) -> i64 {\n  func.return %x", "operand type"),
    ],
)
def test_a_call_that_does_not_suit_its_callee_is_refused(right: str, wrong: str, reason: str) -> None:
    assert right in RIGHT
    changed = RIGHT.replace(right, wrong)
    if "i64) -> i64" in changed:
        changed = changed.replace("return %x : i32", "return %x : i64", 1)
    assert reason in refused(changed)


def test_a_call_of_what_is_no_function_is_refused() -> None:
    text = """
llvm.mlir.global internal constant @callee(1 : i32) : i32
llvm.func @caller() {
  llvm.call @callee() : () -> ()
  llvm.return
}
"""
    assert "must reference an 'llvm.func'" in refused(text)
    verify(parsed(text.replace("llvm.mlir.global internal constant @callee(1 : i32) : i32", "llvm.func @callee()")))


def test_symbols_are_found_as_xdsl_finds_them() -> None:
    module = parsed(RIGHT)
    (call,) = [op for op in module.walk() if op.name == "func.call"]
    with unchanged():
        for name in ("callee", "caller", "nowhere"):
            symbol = SymbolRefAttr(name)
            assert lookup_symbol(call, symbol) is SymbolTable.lookup_symbol(call, symbol)
    callee = module.body.block.first_op
    assert callee is not None
    callee.properties["sym_name"] = StringAttr("renamed")
    assert lookup_symbol(call, SymbolRefAttr("callee")) is None and lookup_symbol(call, SymbolRefAttr("renamed"))


def test_a_terminator_in_the_midst_of_a_block_is_refused_though_it_looks_like_one_at_the_end() -> None:
    verify(parsed("func.func @f() {\n  func.return\n}"))
    assert "last operation" in refused("func.func @f() {\n  func.return\n  func.return\n}")


def test_an_operation_in_a_wrong_parent_is_refused_though_it_looks_like_one_in_its_own() -> None:
    loop = """
func.func @f(%a: index) {
  scf.for %i = %a to %a step %a {
    scf.yield
  }
  func.return
}
"""
    verify(parsed(loop))
    assert "scf.yield" in refused(loop.replace("func.return", "scf.yield"))


def test_attributes_and_types_are_looked_at_each_time() -> None:
    right = "func.func @f(%a: i32) -> i32 {\n  %b = arith.addi %a, %a : i32\n  func.return %b : i32\n}"
    for _ in range(2):
        verify(parsed(right))
        module = parsed(right)
        add = next(op for op in module.walk() if isinstance(op, arith.AddiOp))
        add.properties["overflowFlags"] = StringAttr("none of these")
        assert find_failures(module)


CALLED_WITHOUT_TYPE = """
"relay.func"() <{sym_name = "f"}> ({
^bb0(%x: tensor<2xf32>):
  "relay.return"(%x) : (tensor<2xf32>) -> ()
}) : () -> ()
relay.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  relay.return %0 : tensor<2xf32>
}
"""
RETURN_OF_NO_FUNCTION_TYPE = """
"func.func"() <{sym_name = "f", function_type = []}> ({
^bb0(%x: i32):
  "func.return"(%x) : (i32) -> ()
}) : () -> ()
"""
BUFFER_OF_NO_SCOPE = """
tir.prim_func @k(%x: memref<4xf32>) {
  %b = "tir.alloc_buffer"() <{scope}> : () -> memref<4xf32>
  tir.for %i = 0 to 4 {
    tir.block @a(%v: spatial 4) = [%i] reads(%x[%v] : memref<4xf32>) writes(%b[%v] : memref<4xf32>) {
      %0 = memref.load %x[%v] : memref<4xf32>
      memref.store %0, %b[%v] : memref<4xf32>
    }
  }
}
"""


@pytest.mark.parametrize("text", [CALLED_WITHOUT_TYPE, RETURN_OF_NO_FUNCTION_TYPE, BUFFER_OF_NO_SCOPE])
def test_what_leans_on_an_operation_at_fault_is_left_out(text: str) -> None:
    (failure,) = find_failures(parsed(text))
    assert "property 'function_type'" in failure.message or "property 'scope'" in failure.message


def test_a_mistake_of_a_condition_is_told_where_nothing_else_is_wrong() -> None:
    @irdl_op_definition
    class MistakenOp(IRDLOperation):
        name = "test.mistaken"

        def verify_(self) -> None:
            raise KeyError("a mistake")

    with pytest.raises(KeyError, match="a mistake"):
        find_failures(ModuleOp([MistakenOp(), MistakenOp()]))


def test_a_trait_that_a_class_gets_later_is_asked() -> None:
    class Never(OpTrait):
        def verify(self, op: Operation) -> None:
            raise VerifyException("never")

    @irdl_op_definition
    class LateOp(IRDLOperation):
        name = "test.late"
        traits = traits_def()

    module = ModuleOp([LateOp()])
    verify(module)
    LateOp.traits.add_trait(Never())
    with pytest.raises(Diagnostics, match="never"):
        verify(module)


def test_what_a_class_demands_later_is_asked_of_what_was_right_before(monkeypatch: pytest.MonkeyPatch) -> None:
    @irdl_op_definition
    class OnceOp(IRDLOperation):
        name = "test.once"
        value = prop_def(IntegerAttr)

        @by_looks()
        def verify_(self) -> None:
            if self.value.value.data > limit:
                raise VerifyException("too much")

    limit = 9
    module = ModuleOp([OnceOp.create(properties={"value": IntegerAttr(7, i32)}) for _ in range(3)])
    verify(module)
    limit = 5
    verify(module)  # what is said to be a matter of looks is asked once
    asked = OnceOp.verify_

    def again(self: OnceOp) -> None:
        asked(self)

    monkeypatch.setattr(OnceOp, "verify_", again)
    assert len(find_failures(module)) == 3


def test_a_class_is_asked_for_what_it_inherits() -> None:
    class BaseOp(IRDLOperation):
        value = prop_def(IntegerAttr)
        out = result_def(i32)

        def verify_(self) -> None:
            if self.value.value.data < 0:
                raise VerifyException("less than nothing")

    @irdl_op_definition
    class DerivedOp(BaseOp):
        name = "test.derived"

        def verify_(self) -> None:
            super().verify_()
            if self.value.value.data > 9:
                raise VerifyException("too much")

    def module(value: Attribute, type: Attribute = i32) -> ModuleOp:
        return ModuleOp([DerivedOp.create(properties={"value": value}, result_types=[type])])

    verify(module(IntegerAttr(1, i32)))
    for wrong in (
        module(IntegerAttr(-1, i32)),
        module(IntegerAttr(10, i32)),
        module(StringAttr("1")),
        module(IntegerAttr(1, i32), i64),
    ):
        assert find_failures(wrong)


def _drop_property(op: Operation, rng: random.Random) -> None:
    op.properties.pop(rng.choice(list(op.properties)))


def _strange_property(op: Operation, rng: random.Random) -> None:
    op.properties[rng.choice(list(op.properties))] = StringAttr("strange")


def _unknown_property(op: Operation, rng: random.Random) -> None:
    op.properties["nobody_knows_this"] = StringAttr("strange")


def _fewer_operands(op: Operation, rng: random.Random) -> None:
    op.operands = list(op.operands)[1:]


def _twice_an_operand(op: Operation, rng: random.Random) -> None:
    op.operands = [*op.operands, op.operands[0]]


def _other_result(op: Operation, rng: random.Random) -> None:
    retype(op.results[0], Float32Type())


def _other_argument(op: Operation, rng: random.Random) -> None:
    op.regions[0].blocks[0].insert_arg(Float32Type(), 0)


def _no_last(op: Operation, rng: random.Random) -> None:
    last = op.regions[0].blocks[0].last_op
    assert last is not None
    last.detach()


Change = Callable[[Operation, random.Random], None]
CHANGES: list[tuple[Change, Callable[[Operation], bool]]] = [
    (_drop_property, lambda op: bool(op.properties)),
    (_strange_property, lambda op: bool(op.properties)),
    (_unknown_property, lambda op: True),
    (_fewer_operands, lambda op: bool(op.operands)),
    (_twice_an_operand, lambda op: bool(op.operands)),
    (_other_result, lambda op: bool(op.results)),
    (_other_argument, lambda op: bool(op.regions) and bool(op.regions[0].blocks)),
    (_no_last, lambda op: bool(op.regions) and bool(op.regions[0].blocks) and bool(op.regions[0].blocks[0].ops)),
]


@pytest.mark.parametrize("phase", ["import", "fuse", "tir", "schedule", "loops", "llvm"])
def test_what_xdsl_refuses_in_a_phase_is_refused(phase: str) -> None:
    text = (
        "relay.func @main(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) -> tensor<2x4xf32> {\n"
        "  %0 = relay.nn.dense %x, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>\n"
        "  %1 = relay.nn.relu %0 : tensor<2x4xf32>\n"
        "  relay.return %1 : tensor<2x4xf32>\n}"
    )
    module = parse_module(text, new_ir_context(), "m.mlir")
    if phase != "import":
        lower(module, Target.parse("llvm -mcpu=x86-64-v3"), phase)
    verify(module)
    refusals = 0
    rng = random.Random(7)
    for _ in range(40):
        changed = module.clone()
        change, fits = rng.choice(CHANGES)
        ops = [op for op in changed.walk() if op is not changed and fits(op)]
        if not ops:
            continue
        change(rng.choice(ops), rng)
        try:
            changed.verify()
        except Exception:  # what reads a property of a wrong class fails in other ways
            refusals += 1
            assert find_failures(changed), f"{change.__name__} is not seen"
    assert refusals > 15

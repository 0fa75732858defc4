"""Text that xDSL's parser takes badly: never a hang, never an exception, always a place."""

import time

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, BytesAttr, ModuleOp, StringAttr, TensorType
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from weft.dialects.relay.base import RelayOp
from weft.dialects.relay.core import ConstantOp
from weft.dialects.support.diagnostics import Diagnostic, Severity, UsageError, handled_by
from weft.dialects.support.parser import parse_module
from weft.dialects.support.text import decode
from weft.dialects.support.verifier import verify
from weft.frontend.onnx.node import relay_operator
from weft.lowering.module_phase import signature_of
from weft.transforms.infra.printing import module_text
from weft.transforms.infra.registry import new_ir_context


def parse(text: str) -> ModuleOp:
    return parse_module(text, new_ir_context(), "m.mlir")


def refused(text: str) -> Diagnostic:
    with pytest.raises(Diagnostic) as error:
        verify(parse(text))
    assert error.value.exit_code == 1 and error.value.place is not None
    return error.value


@pytest.mark.parametrize("text", ['"' + "a" * 5000, 'module attributes {a = "' + "a\\n" * 5000 + "\n} {}"])
def test_a_forgotten_closing_quote_is_found_in_linear_time(text: str) -> None:
    start = time.perf_counter()
    assert "string literal" in refused(text).message
    assert time.perf_counter() - start < 5


def test_strings_are_read_as_before() -> None:
    module = parse(r'module attributes {a = "", b = "x\22\n\t\\\"", c = "\ff"} {}')
    a, b, c = module.attributes.values()
    assert (a, b, c) == (StringAttr(""), StringAttr('x"\n\t\\"'), BytesAttr(b"\xff"))


@pytest.mark.parametrize("name", ["é", "漢字", "\u2028", "\ufeffz", '𝄞 \n"'])
def test_a_string_of_any_letters_is_a_string_again(name: str) -> None:
    text = f"relay.func @f(%x: tensor<2xf32>) -> tensor<2xf32> attributes {{input_names = [{_quoted(name)}]}} {{\n"
    module = parse(f"{text}  relay.return %x : tensor<2xf32>\n}}")
    for each in (module, parse(module_text(module))):
        (function,) = each.ops
        assert function.attributes["input_names"] == ArrayAttr([StringAttr(name)])
        assert signature_of(each, "f")[0][0].name == name


def _quoted(name: str) -> str:
    return '"' + "".join(f"\\{byte:02X}" for byte in name.encode()) + '"'


def test_labels_may_be_numbers() -> None:
    """As MLIR has them; they are used before they stand, and behind."""
    text = """func.func @f() {
  cf.br ^1
^0:
  cf.br ^2
^1:
  cf.br ^0
^2:
  func.return
}
"""
    assert str(parse(text)) == str(parse(text.replace("^", "^bb")))
    assert refused(text.replace("^0\n", "^7\n")).message == "block '^7' is used but not defined"


@pytest.mark.parametrize("end", ["", "^", "^:", "cf.br ^", "cf.br ^0", "^0:"])
def test_a_text_may_end_where_a_label_could_stand(end: str) -> None:
    error = refused(f"func.func @f() {{\n{end}")
    assert "IndexError" not in error.message


@pytest.mark.parametrize("name", ["b", "0"])
@pytest.mark.parametrize("jumps", [False, True])
def test_a_label_that_stands_twice_is_shown_with_the_first(name: str, jumps: bool) -> None:
    use = f"  cf.br ^{name}\n" if jumps else ""
    error = refused(f"func.func @f() {{\n{use}^{name}:\n  func.return\n^{name}:\n  func.return\n}}\n")
    assert error.message == f"re-declaration of block '{name}'" and error.notes[0].place is not None
    assert error.notes[0].place.line == 2 + jumps


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module attributes {a = array<i128: 4>} {}", "cannot be read"),
        ("module attributes {a = 1.0 : f80} {}", "type f80 are not supported"),
        ("module attributes {a = 0xFFFFFFFFFFFFFFFFF : f32} {}", "too large for its type"),
        (f"module attributes {{a = {'1' * 5000}}} {{}}", "so many digits"),
        ("%0 = relay.constant dense<1.0> : tensor<100000x100000xf32>", "literal of 40000000000 bytes"),
        ('%0 = arith.constant dense<"0x00000000"> : tensor<99999x99999xi32>', "literal of"),
        ("func.func @g(%x: tensor<9223372036854775807xf32>) { func.return }", "fits into no memory"),
    ],
)  # fmt: skip
def test_what_memory_and_numbers_cannot_hold_is_refused(text: str, message: str) -> None:
    assert message in refused(text).message


def test_what_xdsl_fails_at_is_told_at_its_place() -> None:
    text = """llvm.func @f(%a: !llvm.struct<(i64, i1)>) -> i1 {
  %b = llvm.extractvalue %a[1000] : !llvm.struct<(i64, i1)>
  llvm.return %b : i1
}"""
    with pytest.raises(Diagnostic, match=r"'llvm\.extractvalue' cannot be read: IndexError") as caught:
        parse_module(text, new_ir_context(), "f.mlir")
    assert caught.value.exit_code == 1
    assert caught.value.place is not None and caught.value.place.line == 2


def test_a_message_about_a_long_name_is_short() -> None:
    error = refused(f'"{"a" * 1_000_000}"() : () -> ()')
    assert len(str(error)) < 4000


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert decode(b"\xef\xbb\xbfmodule {}", "m.mlir") == "module {}"
    assert isinstance(parse("\ufeffmodule {}"), ModuleOp)


@pytest.mark.parametrize("data", [b"\x08\xff", b"\x08\x0b:\x17ASCII only"])
def test_an_onnx_model_is_no_text(data: bytes) -> None:
    with pytest.raises(Diagnostic, match="this is an ONNX model") as error:
        decode(data, "dir/m.onnx")
    assert error.value.hint is not None and "weft-import dir/m.onnx -o dir/m.mlir" in error.value.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("%x = relay.add 1 : tensor<4xf32>", "it is written like this: %z = relay.add"),
        ("tir.for vectorised %i = 0 to 4 {}", "did you mean 'vectorized'?"),
        ("tir.for %i = 0 to 4\n", "it is written like this: tir.for"),
        ("tir.block @b() = [] reads() writes(%y[0]) {}", "writes(%y[%vi] : memref<4xf32>) {"),
    ],
)
def test_a_syntax_error_shows_how_the_operation_is_written(text: str, hint: str) -> None:
    assert hint in (refused(text).hint or "")


def test_a_misspelt_property_is_warned_about() -> None:
    warnings: list[Diagnostic] = []
    text = """relay.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = relay.nn.softmax %x {AXIS} : tensor<2x3xf32>
  relay.return %y : tensor<2x3xf32>
}"""
    with handled_by(warnings.append):
        parse(text.replace("AXIS", "axsi = 0 : i64"))
        parse(text.replace("AXIS", "note = 0 : i64, my.axsi = 1"))
    [warning] = warnings
    assert warning.severity is Severity.WARNING and warning.hint == "did you mean 'axis'?"
    assert "has no property 'axsi'" in warning.message and warning.place is not None and warning.place.line == 2


def test_a_misspelt_property_of_the_generic_form_has_a_near_name() -> None:
    text = """relay.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = "relay.nn.softmax"(%x) <{axsi = 0 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %y : tensor<2x3xf32>
}"""
    assert refused(text).hint == "did you mean 'axis'?"


def test_a_property_that_stands_among_the_attributes_is_a_property() -> None:
    """`llvm.func` writes `no_unwind` among its attributes in one form and among its properties in the other."""
    text = '"llvm.func"() <{sym_name = "f", function_type = !llvm.func<void ()>, CConv = #llvm.cconv<ccc>, linkage = #llvm.linkage<"external">, visibility_ = 0 : i64, no_unwind}> ({}) : () -> ()'  # noqa: E501
    pretty = module_text(parse(text))
    generic = module_text(parse(pretty), generic=True)
    assert module_text(parse(generic)) == pretty
    assert module_text(parse(module_text(parse(generic), generic=True)), generic=True) == generic
    assert "no_unwind}>" in generic


def test_locations_can_be_read_where_a_type_stands_before_regions() -> None:
    text = """func.func @f(%n: i32, %c: i1) {
  %0 = scf.while (%i = %n) : (i32) -> i32 {
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%j: i32):
    scf.yield %j : i32
  }
  func.return
}"""
    located = module_text(parse(text), debuginfo=True)
    assert module_text(parse(located), debuginfo=True) == located and 'loc("m.mlir":2:8)' in located


def test_a_misspelt_property_is_an_error_in_python() -> None:
    x, y = (ConstantOp.from_numpy(np.zeros((2, 3), np.float32)).result for _ in range(2))
    with pytest.raises(UsageError, match=r"relay\.nn\.dense has no property 'unts'") as error:
        relay_operator("nn.dense")(x, y, unts=2)
    assert error.value.hint == "did you mean 'units'?"


def test_a_property_left_out_in_python_is_named() -> None:
    x = ConstantOp.from_numpy(np.zeros((2, 3), np.float32)).result
    with pytest.raises(UsageError, match=r"relay\.tile needs the property 'reps'"):
        relay_operator("tile")(x)


def test_a_result_that_no_tensor_can_be_is_refused() -> None:
    x = ConstantOp.from_numpy(np.zeros((), np.float32)).result
    for operator in ("broadcast_to", "full"):
        with pytest.raises(VerifyException, match=r"would have a result of shape \[2, -3\]"):
            relay_operator(operator)(x, shape=[2, -3])
        with pytest.raises(VerifyException, match="which is too large"):
            relay_operator(operator)(x, shape=[1 << 40, 1 << 40])


def test_an_operator_without_a_type_relation_says_so() -> None:
    @irdl_op_definition
    class NothingOp(RelayOp):
        name = "relay.nothing"
        x = operand_def(TensorType)
        result = result_def(TensorType)

    with pytest.raises(VerifyException, match=r"test_parser\.NothingOp has no type relation: it lacks `infer`"):
        NothingOp(ConstantOp.from_numpy(np.zeros(2, np.float32)).result)


def test_the_header_of_a_wide_function_is_broken_and_read_again() -> None:
    arguments = ", ".join(f"%argument_{i}: tensor<2x64x16xf32>" for i in range(9))
    text = f"relay.func @f({arguments}) -> tensor<2x64x16xf32> {{ relay.return %argument_0 : tensor<2x64x16xf32> }}"
    printed = str(parse_module(text, new_ir_context(), "wide.mlir"))
    assert max(map(len, printed.splitlines())) <= 160
    assert str(parse_module(printed, new_ir_context(), "again.mlir")) == printed


def test_hexadecimal_digits_among_floats_are_their_bits() -> None:
    two, one = "dense<[0x4B400000, 2.0]> : vector<2xf32>", "dense<0x7FF8000000000000> : tensor<f64>"
    text = f"%0 = arith.constant {two}\n%1 = arith.constant {one}"
    first, second = parse_module(text, new_ir_context()).body.block.ops
    assert first.properties["value"].get_values() == (12582912.0, 2.0)  # pyright: ignore
    assert np.isnan(second.properties["value"].get_values()[0])  # pyright: ignore
    with pytest.raises(Diagnostic, match="f32 has no more than 32 bits"):
        parse_module("%0 = arith.constant dense<0x14B400000> : vector<2xf32>", new_ir_context())


GRAPH = "relay.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{\n  {}\n  relay.return %y : tensor<4x8xf32>\n}}"


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        (
            "%y = relay.nn.softmax %x {axis = 0 : i32} : tensor<4x8xf32>",
            "'relay.nn.softmax': property 'axis': Expected attribute i64 but got i32",
            "`weft-opt --explain relay.nn.softmax` describes the operation",
        ),
        (
            '%y = relay.squeeze %x {axis = "a"} : (tensor<4x8xf32>) -> tensor<4x8xf32>',
            "'relay.squeeze': property 'axis': ",
            None,
        ),
        (
            "%y = relay.call @mian(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>",
            "'relay.call': there is no relay.func @mian",
            "did you mean 'main'?",
        ),
        ("%y = relay.nn.relu %x : tensor<4x8xf33>", "a type is expected here", "did you mean 'f32'?"),
        ("y = relay.nn.relu %x : tensor<4x8xf32>", "operation 'y' is not registered", "values begin with '%', as in"),
        ("# a comment", "a name is expected behind this", None),
    ],
)
def test_a_slip_is_named_and_what_was_meant_is_told(line: str, message: str, hint: str | None) -> None:
    error = refused(GRAPH.format(line))
    assert error.message.startswith(message)
    assert hint is None or (error.hint or "").startswith(hint), error.hint


def test_a_second_value_of_a_name_is_shown_beside_the_first() -> None:
    line = "%y = relay.nn.relu %x : tensor<4x8xf32>"
    error = refused(GRAPH.format(f"{line}\n  {line}"))
    assert error.message == "there is another value '%y'" and error.hint is None
    (note,) = error.notes
    assert note.place is not None and (note.place.line, note.place.column) == (2, 8)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("func @main() {\n  return\n}\n", "'relay.func' or 'func.func'"),
        (GRAPH.format("%y = relu %x"), "'relay.nn.relu'"),
    ],
)
def test_a_name_without_its_dialect_is_told_with_it(text: str, meant: str) -> None:
    assert refused(text).hint == f"did you mean {meant}?"


@pytest.mark.parametrize("text", ["import numpy as np\n", "hello world\n"])
def test_what_is_no_module_is_said_to_be_another_kind_of_file(text: str) -> None:
    assert "is this another kind of file?" in (refused(text).hint or "")

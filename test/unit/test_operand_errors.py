"""Type errors are shown at the operand that is at fault, with what was expected and found."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from weft import relay
from weft.dialects.relay import Relay
from weft.dialects.support.blame import place_of_operand
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.support.parser import parse_module
from weft.dialects.support.verifier import verify
from weft.testing import examples_of
from weft.testing.examples import docstring, example_text, parse_example
from weft.transforms.infra.registry import new_ir_context


def refused(text: str, name: str = "<string>") -> Diagnostic:
    with pytest.raises(Diagnostic) as error:
        verify(parse_module(text, new_ir_context(), name))
    return error.value.each()[0]


def shown(diagnostic: Diagnostic) -> tuple[str, str]:
    """What the caret is under, and what is noted."""
    place = diagnostic.place
    assert place is not None and place.text is not None
    (note,) = diagnostic.notes
    return place.text[place.column - 1 : place.column - 1 + place.length], note.message


def of(op: str, types: str, results: str) -> str:
    """A function of one operation, of operands `types` that are told apart by semicolons."""
    given = types.split("; ")
    arguments = ", ".join(f"%{name}: {type}" for name, type in zip("xyz", given, strict=False))
    form = types if results == "" else f"({', '.join(given)}) -> {results}"
    return f"relay.func @main({arguments}) {{\n  %r = {op} : {form}\n  relay.return\n}}\n"


CASES = {
    "extents_that_are_summed_over": (
        of("relay.nn.dense %x, %y", "tensor<4x64xf32>; tensor<32x63xf32>", "tensor<4x32xf32>"),
        ("%y", "operand 1 ('weight'): expected tensor<32x64xf32>, found tensor<32x63xf32>"),
    ),
    "the_first_of_three": (
        of("relay.nn.layer_norm %x, %y, %z", "tensor<2x4xf32>; tensor<3xf32>; tensor<3xf32>", "tensor<2x4xf32>"),
        ("%x", "operand 0 ('data'): expected tensor<2x3xf32>, found tensor<2x4xf32>"),
    ),
    "elements": (
        of("relay.add %x, %y", "tensor<4xf32>; tensor<4xi32>", "tensor<4xf32>"),
        ("%y", "operand 1 ('rhs'): expected tensor<4xf32>, found tensor<4xi32>"),
    ),
    "elements_of_several_types": (
        of("relay.exp %x", "tensor<4xi32>", ""),
        ("%x", "operand 0 ('data'): expected elements of f32, f16, bf16 or f64, found tensor<4xi32>"),
    ),
    "rank": (
        of("relay.nn.batch_matmul %x, %y", "tensor<2x3x4xf32>; tensor<5x4xf32>", "tensor<2x3x5xf32>"),
        ("%y", "operand 1 ('y'): expected a tensor of rank 3, found tensor<5x4xf32>"),
    ),
    "an_extent_of_many": (
        of("relay.split %x {indices_or_sections = 3 : i64}", "tensor<4xf32>", "tuple<tensor<4xf32>>"),
        ("%x", "operand 0 ('data'): expected another extent in dimension 0, found tensor<4xf32>"),
    ),
    "a_tensor_of_a_tuple": (
        of("relay.concatenate %x", "tuple<tensor<2x4xf32>, tensor<2x3xf32>>", "tensor<4x4xf32>"),
        ("%x", "tensor 1 of operand 0 ('data'): expected tensor<2x4xf32>, found tensor<2x3xf32>"),
    ),
    "two_that_are_one_value": (
        of("relay.logical_and %x, %x", "tensor<4xi32>", "tensor<4xi32>").replace(
            ": (tensor<4xi32>)", ": (tensor<4xi32>, tensor<4xi32>)"
        ),
        ("%x", "operand 0 ('lhs'): expected tensor<4xi1>, found tensor<4xi32>"),
    ),
    "behind_a_line_break_and_a_comment": (
        of("relay.nn.dense %x, // 4 of %y\n    %y", "tensor<4x64xf32>; tensor<32x63xf32>", "tensor<4x32xf32>"),
        ("%y", "operand 1 ('weight'): expected tensor<32x64xf32>, found tensor<32x63xf32>"),
    ),
    "the_generic_form": (
        of('"relay.add"(%x, %y)', "tensor<4xf32>; tensor<3xf32>", "tensor<4xf32>"),
        ("%y", "operand 1 ('rhs'): expected tensor<4xf32>, found tensor<3xf32>"),
    ),
    "an_argument_of_a_call": (
        "relay.func private @f(%a: tensor<4xf32>, %b: tensor<2xf32>) {\n  relay.return\n}\n"
        "relay.func @main(%x: tensor<4xf32>) {\n  relay.call @f(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()\n"
        "  relay.return\n}\n",
        ("%x", "operand 1 ('arguments[1]'): expected tensor<2xf32>, found tensor<4xf32>"),
    ),
    "a_result": (
        "relay.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {\n"
        "  relay.return %x, %x : tensor<4xf32>, tensor<4xf32>\n}\n",
        ("%x", "operand 1 ('arguments[1]'): expected tensor<2xf32>, found tensor<4xf32>"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_operand_is_shown_with_what_was_expected_and_found(name: str):
    text, wanted = CASES[name]
    assert shown(refused(text)) == wanted


def test_what_is_wrong_with_a_property_is_shown_at_the_operation():
    error = refused(of("relay.nn.lrn %x {size = 0 : i64}", "tensor<1x2x3x4xf32>", ""))
    assert not error.notes and error.place is not None and error.place.column == 8


def test_a_file_that_was_changed_since_is_not_shown(tmp_path: Path):
    text, _ = CASES["elements"]
    (tmp_path / "m.mlir").write_text(text)
    module = parse_module(text, new_ir_context(), str(tmp_path / "m.mlir"))
    (tmp_path / "m.mlir").write_text("another\n" * 5)
    with pytest.raises(Diagnostic) as error:
        verify(module)
    place = error.value.each()[0].place
    assert place is not None and (place.line, place.column, place.text) == (2, 8, None)


def test_python_is_told_of_the_operand():
    x, w = relay.var("x", shape=(4, 64)), relay.var("w", shape=(32, 63))
    for call in (lambda: relay.nn.dense(x, w), lambda: relay.nn.dense(x, weight=w, units=32)):
        assert told(call) == "operand 1 ('weight'): expected tensor<32x64xf32>, found tensor<32x63xf32>"
    assert told(lambda: x + w) == "operand 1 ('rhs'): expected tensor<4x64xf32>, found tensor<32x63xf32>"


def told(call: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as error:
        call()
    return error.value.notes[0].message


def test_a_refused_operator_leaves_its_operands_unused():
    x, w = relay.var("x", shape=(4, 64)), relay.var("w", shape=(32, 63))
    told(lambda: relay.nn.dense(x, w))
    assert not list(x.value.uses) and not list(w.value.uses)


def test_an_onnx_model_is_told_of_the_edge():
    onnx = pytest.importorskip("onnx")
    from onnx_samples import graph_of, model_of

    from weft.frontend.onnx import from_onnx

    nodes = [
        onnx.helper.make_node("Transpose", ["w"], ["t"], perm=[0, 1]),
        onnx.helper.make_node("MatMul", ["x", "t"], ["y"], name="project"),
    ]
    graph = graph_of(nodes, {"x": [1, 8]}, weights={"w": np.ones((7, 4), np.float32)})
    with pytest.raises(Diagnostic) as error:
        from_onnx(model_of(graph))
    assert '("project")' in str(error.value.place)
    (note,) = error.value.notes
    assert note.message.endswith("expected tensor<4x8xf32>, found tensor<4x7xf32>; it comes from 't'")


EXAMPLES = {str(example): example_text(example.op_type) for example in examples_of(Relay)} | {
    op.name: example_text(op) for op in Relay.operations if "```mlir" in docstring(op)
}


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", EXAMPLES)
def test_operands_stand_in_the_text_in_their_order(name: str):
    text = str(parse_example(EXAMPLES[name]))
    for op in parse_module(text, new_ir_context()).walk():
        if op.name == name:
            for number, operand in enumerate(op.operands):
                place = place_of_operand(op, number)
                assert place is not None and place.text is not None
                word = place.text[place.column - 1 : place.column - 1 + place.length]
                assert operand.name_hint is None or word == f"%{operand.name_hint}"

"""Places of operations that come from no file: `annotate-spans`."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from weft import relay
from weft.dialects.support.diagnostics import Place
from weft.dialects.support.parser import parse_module
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.annotate_spans import AnnotateSpansPass
from weft.transforms.relay.first_order_gradient import FirstOrderGradientPass


def places(module: ModuleOp) -> dict[str, str]:
    return {op.name: str(Place.of_location(op.location)) for op in module.walk()}


def test_an_operation_made_in_python_gets_the_line_of_the_text() -> None:
    x = relay.var("x", shape=(4,))
    module = AnnotateSpansPass()(relay.IRModule.from_expr(relay.tanh(relay.exp(x))))
    lines = str(module).splitlines()
    for op in module.walk():
        place = Place.of_location(op.location)
        assert place is not None and place.file == "GeneratedSource"
        assert op.name in lines[(place.line or 1) - 1]


def test_what_comes_from_a_file_keeps_its_place() -> None:
    text = "relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  relay.return %x : tensor<4xf32>\n}\n"
    module = relay.IRModule.of(parse_module(text, new_ir_context(), "given.mlir"))
    before = places(module)
    after = places(AnnotateSpansPass()(module))
    assert after["relay.return"] == before["relay.return"] == "given.mlir:2:3"


def test_a_pass_that_fails_names_the_line() -> None:
    x = relay.var("x", shape=(4,))
    module = AnnotateSpansPass()(
        relay.IRModule.from_expr(relay.Function([x], relay.nn.relu(relay.reinterpret(x, "float32"))))
    )
    with pytest.raises(Exception, match=r"GeneratedSource:3"):
        FirstOrderGradientPass()(module)

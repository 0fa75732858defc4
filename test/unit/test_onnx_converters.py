"""Where the ONNX importer finds converters: on operators' classes, in its tables, in other packages."""

from importlib.metadata import EntryPoint
from typing import cast

import pytest

pytest.importorskip("onnx")

import onnx

from weft.dialects.relay.ops.nn.activation import LeakyReluOp
from weft.dialects.support import plugins
from weft.dialects.support.diagnostics import Diagnostic, handled_by
from weft.frontend.onnx import from_onnx, registry
from weft.frontend.onnx.node import Converter, Node


def custom_model(operator: str, **attributes: float) -> onnx.ModelProto:
    """One node of the domain `com.example` on a tensor of two floats."""
    x, y = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy")
    node = onnx.helper.make_node(operator, ["x"], ["y"], "custom", domain="com.example")
    node.attribute.extend(onnx.helper.make_attribute(name, value) for name, value in attributes.items())
    imports = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.example", 2)]
    return onnx.helper.make_model(onnx.helper.make_graph([node], "g", [x], [y]), opset_imports=imports)


def test_an_operator_of_another_domain_is_imported_by_a_registered_converter(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "CONVERTERS", dict(registry.CONVERTERS))
    registry.register_converter(
        "com.example.Bent", lambda node: node.emit("nn.leaky_relu", node.input(0), alpha=node.real("slope"))
    )
    text = str(from_onnx(custom_model("Bent", slope=0.25)))
    assert "relay.nn.leaky_relu %x {alpha = 2.500000e-01 : f64}" in text


def test_a_class_names_an_operator_of_another_domain(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(LeakyReluOp, "ONNX", ("com.example.Bent",))
    named = registry.named_by_classes([LeakyReluOp])
    monkeypatch.setattr(registry, "CONVERTERS", {**registry.CONVERTERS, **named})
    assert "{alpha = 2.500000e-01 : f64}" in str(from_onnx(custom_model("Bent", alpha=0.25)))
    with pytest.raises(Diagnostic) as error:
        from_onnx(custom_model("Bent", slope=0.25))
    assert "attribute 'slope' has no counterpart in relay.nn.leaky_relu" in error.value.notes[0].message


def test_a_converter_for_later_versions_of_a_domain_is_not_taken(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "CONVERTERS", dict(registry.CONVERTERS))
    registry.register_converter("com.example.Bent", lambda node: node.emit("nn.relu", node.input(0)), since=3)
    with pytest.raises(Diagnostic) as error:
        from_onnx(custom_model("Bent"))
    assert "version 2 of its domain is older than its converters" in error.value.notes[0].message


def test_an_operator_of_a_domain_that_nobody_knows_is_named():
    with pytest.raises(Diagnostic) as error:
        from_onnx(custom_model("Bent"))
    assert "no installed package brings a converter" in error.value.notes[0].message


def test_a_plugin_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch):
    entry = EntryPoint("mine", "no_such_module_of_mine:CONVERTERS", "weft.importers")

    def entry_points(group: str) -> list[EntryPoint]:
        return [entry] if group == entry.group else []

    monkeypatch.setattr(plugins, "entry_points", entry_points)
    monkeypatch.setattr(plugins, "_broken", {})
    plugins.installed_universes.cache_clear()
    registry.forget_plugins()
    try:
        with pytest.raises(Diagnostic) as error:
            from_onnx(custom_model("Bent"))
        assert "the plug-in mine = no_such_module_of_mine:CONVERTERS cannot be loaded" in error.value.notes[0].message
        assert "ModuleNotFoundError" in error.value.notes[0].message
    finally:
        plugins.installed_universes.cache_clear()
        registry.forget_plugins()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (3, "it is int, and no mapping"),
        ({"x.Bent": 3}, "no converters by version for 'x.Bent'"),
        ({"x.Bent": {"1": 2}}, "'1'"),
    ],
)
def test_a_plugin_that_names_no_converters_is_warned_about(
    value: object, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[Diagnostic] = []
    monkeypatch.setattr(registry, "importers", lambda: [("mine = mine:CONVERTERS", value)])
    monkeypatch.setattr(plugins, "_broken", {})
    registry.forget_plugins()
    try:
        with handled_by(warnings.append), pytest.raises(Diagnostic) as error:
            from_onnx(custom_model("Bent"))
    finally:
        registry.forget_plugins()
    assert "the plug-in mine = mine:CONVERTERS cannot be loaded" in error.value.notes[0].message
    (warning,) = warnings
    assert reason in warning.message


def test_a_converter_that_gives_no_value_is_named(monkeypatch: pytest.MonkeyPatch):
    def forgetful(node: Node) -> None:
        node.emit("tanh", node.input(0))

    monkeypatch.setattr(registry, "CONVERTERS", dict(registry.CONVERTERS))
    registry.register_converter("com.example.Bent", cast("Converter", forgetful))
    with pytest.raises(Diagnostic, match="forgetful gives NoneType, and not the values of the node's outputs"):
        from_onnx(custom_model("Bent"))

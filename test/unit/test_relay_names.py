"""What expressions, modules and names answer under TVM's names."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

import weft
from weft import relay
from weft.frontend.relay.namespace import operator_names
from weft.frontend.relay.support_levels import LEVELS

PLACE = FileLineColLoc(StringAttr("model.py"), IntAttr(3), IntAttr(7))


def test_an_expression_is_there_but_a_comparison_is_not_decided():
    x, y = relay.var("x", shape=()), relay.var("y", shape=())
    assert x and x + y and relay.const(0) and relay.var("b", shape=(), dtype="bool")
    with pytest.raises(TypeError, match="no truth value before it runs"):
        assert x < y


def test_a_variable_has_its_annotation_and_no_place():
    x, free = relay.var("x", shape=(2,)), relay.var("free")
    assert x.type_annotation == relay.TensorType((2,)) and free.type_annotation is None
    assert x.span is None and x.vid.name_hint == "x" and x.vid.same_as(x)


def test_a_call_has_the_place_that_it_is_given():
    ir: Any = weft.ir
    x = relay.var("x", shape=(2,))
    span = relay.Span(relay.SourceName("model.py"), 3, 3, 7, 7)
    for given in (PLACE, span):
        assert relay.Call(relay.op.get("exp"), [x], None, None, given).span == span
    assert relay.exp(x).span is None
    assert PLACE == span.location and str(span) == "model.py:3:7" and relay.base.Span is relay.Span
    y = relay.Call(relay.op.get("exp"), [x], None, None, span)
    assert "exp(%x) /* span=model.py:3:7 */" in y.astext()
    assert ir.structural_equal(relay.parse_expr((y + x).astext()), y + x, map_free_vars=True)


def test_what_is_called_is_no_value_by_itself():
    add, none = relay.op.get("add"), relay.Prelude().mod.get_type("List")[2]
    for each in (add, none):
        with pytest.raises(weft.Diagnostic, match=r"is none\n.*a function is, whose body calls them"):
            relay.Tuple([relay.const(1), each])


def test_every_level_is_that_of_an_operator():
    assert not set(LEVELS) - operator_names()


def test_a_span_is_written_as_json():
    for source in (None, relay.SourceName("model.py")):
        span = relay.Span(source, 1, 2, 3, 4)
        back: Any = weft.ir.load_json(weft.ir.save_json(span))
        assert back == span and back.same_as(span) and (back.source_name, back.end_column) == (source, 4)


def test_the_data_of_a_constant_is_an_array_of_tvms_too():
    assert relay.const([1, 2]).data.numpy().tolist() == [1, 2]


def test_a_module_finds_data_types_by_their_names():
    module = relay.IRModule()
    relay.Prelude(module)
    name = module.get_global_type_var("List")
    assert [each.name_hint for each in module[name].constructors] == ["Cons", "Nil"]
    assert name in module.get_global_type_vars()
    with pytest.raises(KeyError, match="the module has no data type 'list'; did you mean 'List'"):
        module.__getitem__(relay.GlobalTypeVar("list"))


def test_names_are_compared():
    ir: Any = weft.ir
    one, other = relay.GlobalVar("f"), relay.GlobalVar("g")
    assert ir.structural_equal(one, relay.GlobalVar("f")) and not ir.structural_equal(one, other)
    assert ir.structural_equal(relay.op.get("exp"), relay.op.op.get("exp"))
    assert not ir.structural_equal(relay.op.get("exp"), one)
    assert ir.structural_hash(relay.GlobalTypeVar("List")) == ir.structural_hash(relay.GlobalTypeVar("List"))


def test_modules_are_where_tvm_has_them():
    assert sys.modules["weft.relay.backend.interpreter"].ConstructorValue
    for name, held in {
        "expr_functor": "ExprVisitor", "op": "add", "op.op": "register_op_attr", "op.nn": "conv2d", "nn": "relu",
        "op.transform": "reshape", "op.annotation": "on_device", "prelude": "Prelude", "qnn.op": "quantize",
        "scope_builder": "ScopeBuilder", "testing.temp_op_attr": "TempOpAttr", "testing.init": "create_workload",
        "testing.lstm": "get_workload", "testing.mlp": "get_workload", "testing.mobilenet": "get_workload",
        "testing.resnet": "get_workload", "testing.synthetic": "get_workload", "type_functor": "TypeVisitor",
        "vision": "roi_align",
    }.items():  # fmt: skip
        module = import_module(f"weft.relay.{name}")
        assert hasattr(module, held) and isinstance(module, ModuleType), name
    ty: Any = relay.ty
    assert ty.TypeVar is relay.TypeVar and relay.op.const is relay.const
    with pytest.raises(weft.Diagnostic, match="is to stand for a ShapeVar"):
        relay.TypeVar("n", 1)


def test_what_compilations_share_is_forgotten():
    from weft.lowering.machine.kernel_cache import IN_MEMORY

    IN_MEMORY.put("key", b"code")
    backend: Any = relay.backend
    backend.te_compiler.get().clear()
    assert IN_MEMORY.get("key") is None and len(IN_MEMORY) == 0


def test_devices_have_a_number_for_their_type():
    assert (weft.cpu().device_type, weft.cuda(1).device_type, weft.cuda(1).device_id) == (1, 2, 1)

"""Dialects whose operations are imported when they are first met."""

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

from xdsl.context import Context

from weft.dialects.relay import Relay, ops
from weft.dialects.relay.ops import nn
from weft.transforms.infra.registry import new_ir_context

PREFIX = "weft.dialects.relay.ops."


def imported_by(code: str) -> set[str]:
    code = f"from weft.dialects.relay import Relay\nfrom weft.transforms.infra.registry import new_ir_context\n{code}"
    report = (
        f"{code}\nimport sys\nprint(*(n for n in sys.modules if n.startswith({PREFIX!r}) and n != {PREFIX + 'nn'!r}))"
    )
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return {name.removeprefix(PREFIX) for name in done.stdout.split()}


def test_the_dialect_alone_imports_no_operators() -> None:
    assert imported_by("") == set()


def test_a_context_imports_the_families_that_it_is_asked_for() -> None:
    families = imported_by("assert new_ir_context().get_op('relay.abs').name == 'relay.abs'")
    assert "elementwise" in families and not families & {"image", "vision", "nn.dense", "dilation"}


def test_a_context_finds_every_operation_by_its_name() -> None:
    context = new_ir_context()
    for op in Relay.operations:
        assert context.get_op(op.name) is op
        assert context.get_op(op.name.removeprefix("relay."), dialect_stack=["relay"]) is op
    assert context.get_optional_op("relay.nn.no_such_operator") is None


def test_each_operation_is_there_once_and_has_the_prefix_of_its_family() -> None:
    names = [op.name for op in Relay.operations]
    assert len(names) == len(set(names)) > 200
    for family in Relay.families:
        assert all(op.name.startswith(family.prefix) for op in family.load())
    nested = [op.name for family in Relay.families if family.prefix == "relay." for op in family.load()]
    assert not [name for name in nested if name.startswith("relay.nn.")]


def test_every_module_that_lists_operators_is_a_family() -> None:
    families = {family.module for family in Relay.families}
    for package in (ops, nn):
        for found in iter_modules(package.__path__, f"{package.__name__}."):
            assert not hasattr(import_module(found.name), "OPS") or found.name in families, f"{found.name} is no family"


def test_a_context_of_xdsl_loads_all_of_it() -> None:
    context = Context()
    context.load_dialect(Relay)
    assert {op.name for op in context.loaded_ops} == {op.name for op in Relay.operations}


def test_a_copy_of_a_context_knows_what_the_context_does_and_shares_no_table() -> None:
    context = new_ir_context()
    exp = context.get_op("relay.exp")
    copy = context.clone()
    assert copy.get_op("relay.exp") is exp and type(copy) is type(context)
    assert copy.get_op("relay.nn.softmax") is context.get_op("relay.nn.softmax")
    copy.load_registered_dialect("tir")
    assert context.get_optional_op("tir.block") is copy.get_op("tir.block")


def test_all_operations_of_a_lazy_context_are_there_when_they_are_listed() -> None:
    context = new_ir_context()
    context.load_registered_dialect("relay")
    assert {op.name for op in Relay.operations} <= {op.name for op in context.loaded_ops}

"""Mistakes of who extends Weft are told with the class or file that they stand in."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

import weft
from weft.dialects import te
from weft.dialects.relay.base import Fusion, FusionPattern, RelayOp, tensor
from weft.dialects.relay.core import FuncOp, ReturnOp
from weft.dialects.support import plugins
from weft.dialects.support.diagnostics import Diagnostic
from weft.testing import OperatorExample
from weft.tools.entry import internal_error


class Unary(RelayOp):
    """One tensor in, one out."""

    data = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"


@irdl_op_definition
class WithoutInfer(Unary):
    """No type relation."""

    name = "relay.test_without_infer"


@irdl_op_definition
class WithoutCompute(Unary):
    """No compute."""

    name = "relay.test_without_compute"
    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE))

    def infer(self) -> Sequence[Attribute]:
        return [tensor(self.data)]


@irdl_op_definition
class WithoutPattern(Unary):
    """No fusion pattern."""

    name = "relay.test_without_pattern"

    def infer(self) -> Sequence[Attribute]:
        return [tensor(self.data)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        return inputs[0]


@irdl_op_definition
class OtherShape(Unary):
    """Another shape than declared.

    ```mlir
    %y = relay.test_other_shape %x : tensor<4xf32> -> tensor<4xf32>
    ```
    """

    name = "relay.test_other_shape"
    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE))

    def infer(self) -> Sequence[Attribute]:
        return [tensor(self.data)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        return te.compute([2], lambda i: inputs[0][i])


def module_of(op_type: type[RelayOp]) -> ModuleOp:
    block = Block(arg_types=[TensorType(f32, [4])])
    op = op_type(*block.args)
    block.add_ops([op, ReturnOp(*op.results)])
    return ModuleOp([FuncOp("main", FunctionType.from_lists(block.arg_types, op.result_types), Region(block))])


def test_an_operator_without_a_type_relation_is_named_with_its_file() -> None:
    with pytest.raises(VerifyException, match=r"class WithoutInfer \(.*test_plugin_mistakes.py:\d+\) lacks `infer`"):
        module_of(WithoutInfer)


@pytest.mark.parametrize(
    ("op_type", "facet"),
    [(WithoutCompute, "`compute`"), (WithoutPattern, "lacks a FusionPattern among its traits")],
)
def test_an_operator_that_lacks_a_facet_is_named_with_its_file(op_type: type[RelayOp], facet: str) -> None:
    with pytest.raises(Diagnostic) as error:
        weft.compile(module_of(op_type), threads=1)
    told = f"{error.value.message} {error.value.hint}"
    assert facet in told and f"class {op_type.__name__}" in told and "test_plugin_mistakes.py" in told, told


def test_an_example_shows_that_another_shape_is_computed_than_declared() -> None:
    example = OperatorExample(OtherShape)
    example.__dict__["module"] = module_of(OtherShape)
    with pytest.raises(AssertionError, match=r"declares tensor<4xf32>, but computes float32 of shape \[2\]: class"):
        example.check_types()


def test_an_exception_in_a_plugin_is_blamed_on_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "my_plugin.py").write_text("def broken():\n    return [][1]\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    entry = EntryPoint("mine", "my_plugin:UNIVERSE", "xdsl.universe")

    def entry_points(group: str) -> list[EntryPoint]:
        return [entry] if group == entry.group else []

    monkeypatch.setattr(plugins, "entry_points", entry_points)
    with pytest.raises(IndexError) as caught:
        __import__("my_plugin").broken()
    told = internal_error(caught.value)
    assert told.message == "error in a plug-in: IndexError: list index out of range"
    assert f"{tmp_path / 'my_plugin.py'}:2, in broken (plug-in 'my_plugin')" in (told.hint or "")


def test_an_exception_of_wefts_own_is_not_blamed_on_others() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        np.zeros(1)[0] = 1 // 0
    assert "a mistake in Weft" in (internal_error(caught.value).hint or "")

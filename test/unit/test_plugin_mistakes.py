"""Mistakes of who extends Weft are told with the class or file that they stand in."""

from __future__ import annotations

from collections.abc import Sequence

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
from weft.dialects.support.diagnostics import Diagnostic
from weft.testing import OperatorExample


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


@irdl_op_definition
class OtherFormula(Unary):
    """Not what its formula says.

    `y = x + 1`

    ```mlir
    %y = relay.test_other_formula %x : tensor<4xf32> -> tensor<4xf32>
    ```
    """

    name = "relay.test_other_formula"
    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE))

    def infer(self) -> Sequence[Attribute]:
        return [tensor(self.data)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        return te.compute([4], lambda i: inputs[0][i] + 2)


def module_of(op_type: type[RelayOp]) -> ModuleOp:
    block = Block(arg_types=[TensorType(f32, [4])])
    block.args[0].name_hint = "x"
    op = op_type(*block.args)
    block.add_ops([op, ReturnOp(*op.results)])
    return ModuleOp([FuncOp("main", FunctionType.from_lists(block.arg_types, op.result_types), Region(block))])


def test_an_operator_without_a_type_relation_is_named_with_its_file() -> None:
    with pytest.raises(VerifyException, match="WithoutInfer has no type relation: it lacks `infer`"):
        module_of(WithoutInfer)


def test_an_operator_without_a_fusion_pattern_is_named() -> None:
    with pytest.raises(Diagnostic, match="WithoutPattern lacks a `FusionPattern` among its traits"):
        weft.compile(module_of(WithoutPattern), threads=1)


def test_an_example_names_the_facets_that_are_missing_and_the_class() -> None:
    with pytest.raises(AssertionError, match=r"lacks `compute`: class WithoutCompute \(.*mistakes.py:\d+\)"):
        OperatorExample(WithoutCompute).check_facets()


def test_an_example_shows_that_another_shape_is_computed_than_declared() -> None:
    example = OperatorExample(OtherShape)
    example.__dict__["module"] = module_of(OtherShape)
    with pytest.raises(AssertionError, match=r"has shape \[2\] .* but it declares tensor<4xf32>: class"):
        example.check_types()


def test_an_example_shows_the_values_on_which_compute_and_formula_differ() -> None:
    example = OperatorExample(OtherFormula)
    example.__dict__["module"] = module_of(OtherFormula)
    with pytest.raises(
        AssertionError, match=r"formula `x \+ 1` gives for x = array\(.*: class OtherFormula \(.*py:\d+\)"
    ):
        example.check_formula([np.zeros(4, np.float32)])

"""Result types that are inferred once for operators that are alike."""

import gc
import weakref
from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from weft.dialects.relay.attributes import MAX_INLINE_ELEMENTS
from weft.dialects.relay.base import Tensor
from weft.dialects.relay.core import ConstantOp
from weft.dialects.relay.ops.broadcast import AddOp
from weft.dialects.relay.ops.creation import ArangeOp
from weft.dialects.relay.ops.nn.activation import ReluOp
from weft.dialects.relay.ops.nn.convolution import Conv2dOp
from weft.dialects.relay.ops.nn.dense import BatchMatmulOp


def value(*shape: int) -> SSAValue:
    return test.TestOp(result_types=[TensorType(f32, shape)]).results[0]


def test_operators_that_are_alike_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    original = ReluOp.infer

    def infer(self: ReluOp) -> Sequence[Attribute]:
        nonlocal asked
        asked += 1
        return original(self)

    monkeypatch.setattr(ReluOp, "infer", infer)
    for _ in range(5):
        op = ReluOp(value(3, 61))
        op.verify_()
    assert asked == 1  # what type a result has by now is of no account
    ReluOp(value(3, 62))
    assert asked == 2


def test_what_follows_from_the_values_of_constants_is_asked_for_each() -> None:
    def extent(stop: float) -> int:
        operands = [ConstantOp.from_numpy(np.array(v, np.float32)) for v in (0, stop, 1)]
        type = ArangeOp(*operands, dtype="float32").result.type
        assert isinstance(type, TensorType)
        return type.get_shape()[0]

    assert [extent(n) for n in (4, 7, 4, 1)] == [4, 7, 4, 1]


def test_what_follows_from_types_alone_is_asked_once_for_all_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    checked, output_channels = AddOp.checked_types, Conv2dOp.output_channels

    def of_add(self: AddOp) -> tuple[Tensor, Tensor]:
        asked.append("add")
        return checked(self)

    def of_conv2d(self: Conv2dOp, weight: Sequence[int]) -> int:
        asked.append("conv2d")
        return output_channels(self, weight)

    monkeypatch.setattr(AddOp, "checked_types", of_add)
    monkeypatch.setattr(Conv2dOp, "output_channels", of_conv2d)
    for n in range(5):
        weight = ConstantOp.from_numpy(np.full((2, 3, 1, 1), n, np.float32))
        bias = ConstantOp.from_numpy(np.arange(61, dtype=np.float32) + n)
        AddOp(Conv2dOp(value(1, 3, 7, 61), weight), bias)
    assert asked == ["conv2d", "add"]


def test_an_operator_that_overrides_what_sees_types_alone_is_asked_for_each_constant() -> None:
    class Told(AddOp):
        def infer(self) -> Sequence[Attribute]:
            owner = self.rhs.owner
            assert isinstance(owner, ConstantOp)
            array = owner.numpy()
            assert array is not None
            return [TensorType(f32, array.astype(np.int64).tolist())]

    types = [Told(value(1), ConstantOp.from_numpy(np.array([n], np.float32))).result.type for n in (4, 7, 4)]
    assert types == [TensorType(f32, [n]) for n in (4, 7, 4)]


def test_what_is_wrong_is_said_each_time() -> None:
    for _ in range(3):
        with pytest.raises(VerifyException):
            BatchMatmulOp(value(2, 3, 4), value(2, 3, 5))


def test_no_weights_are_kept() -> None:
    array = np.arange(4 * MAX_INLINE_ELEMENTS, dtype=np.float32)
    constant = ConstantOp.from_numpy(array)
    ReluOp(constant)
    held = constant.numpy()
    assert held is not None
    alive = weakref.ref(held)
    del array, constant, held
    gc.collect()
    assert alive() is None

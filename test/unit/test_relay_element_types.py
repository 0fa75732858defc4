"""What an operator's type relation accepts, its `compute` can compute, and machine code can be made of: all types."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.utils.exceptions import VerifyException

import weft
from weft import relay
from weft.dialects import te
from weft.dialects.relay import Relay
from weft.dialects.relay.base import RelayOp, flatten_types, is_static, tensor
from weft.dialects.relay.core import ConstantOp, TupleOp
from weft.dialects.relay.reference import evaluate_compute, evaluate_directly
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.dtypes import numpy_dtype, scalar_type
from weft.dialects.support.element_types import item_bytes
from weft.dialects.support.retyping import retype
from weft.dialects.support.verifier import verify
from weft.lowering.relay_to_tir.te_to_tir import create_prim_func
from weft.testing import OperatorExample, assert_close, examples_of, run_operator

pytestmark = pytest.mark.sampled(3)

NDArray = npt.NDArray[np.generic]

ELEMENTS = [
    scalar_type(name)
    for name in (
        "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8",
        "uint64", "uint32", "uint16", "uint8", "bool", "float8_e4m3fn", "float4_e2m1fn", "int4", "uint2",
    )
]  # fmt: skip


def retyped(value: SSAValue, old: Attribute, new: Attribute) -> SSAValue:
    """A value like `value` whose element type, where it is `old`, is `new`; constants stay."""
    if isinstance(value.owner, ConstantOp):
        return value
    if isinstance(value.owner, TupleOp):
        return TupleOp(*(retyped(field, old, new) for field in value.owner.fields)).result
    type = tensor(value)
    element = new if type.element_type == old else type.element_type
    return Block(arg_types=[TensorType(element, type.get_shape())]).args[0]


def variants(example: OperatorExample) -> Iterator[RelayOp]:
    """The example's operation with other element types, as far as the type relation accepts them."""
    elements = {tensor(v).element_type for v in example.operands()}
    for old in elements:
        for new in ELEMENTS:
            op = example.op.clone()
            op.operands = [retyped(operand, old, new) for operand in op.operands]
            try:
                for result, type in zip(op.results, op.inferred(), strict=True):
                    retype(result, type)
                op.verify()
            except (VerifyException, Diagnostic):
                continue
            if all(is_static(v.type) for v in (*op.operands, *op.results)):
                yield op


EXAMPLES = [e for e in examples_of(Relay) if e.op_type.has_compute()]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.large)])
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_what_the_type_relation_accepts_is_computed(example: OperatorExample, every: int) -> None:
    """All types are computed with; a function is made of every eighth, of others for each operator."""
    first = EXAMPLES.index(example)
    for number, op in enumerate(variants(example), first):
        types = flatten_types([v.type for v in op.operands])
        inputs = [te.placeholder(type.get_shape(), type.element_type) for type in types]
        try:
            outputs = op.compute(*inputs)
            outputs = [outputs] if isinstance(outputs, te.Tensor) else list(outputs)
            made = [(tuple(t.shape), t.element_type) for t in outputs]
            if number % every == 0:
                verify(ModuleOp([create_prim_func("kernel", inputs, outputs)]))
        except Exception as error:
            raise AssertionError(f"{op}: {error}") from error
        declared = [(type.get_shape(), type.element_type) for type in flatten_types([r.type for r in op.results])]
        assert made == declared, op


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.has_direct_evaluation()], ids=str)
def test_the_direct_evaluation_equals_the_compute_for_all_types(example: OperatorExample) -> None:
    for op in variants(example):
        inputs = [like(value, given) for value, given in zip(tensors_read(op), example.inputs(), strict=True)]
        direct = evaluate_directly(op, inputs)
        for found, expected in zip(direct, evaluate_compute(op, inputs), strict=True) if direct is not None else ():
            assert found.dtype == expected.dtype, op
            assert_close(found, expected, 0.05 if found.dtype.itemsize <= 2 else 1e-4)


def tensors_read(op: RelayOp) -> list[SSAValue]:
    """The tensors that `op` reads, those of its tuples among them."""
    return [f for v in op.operands for f in (v.owner.fields if isinstance(v.owner, TupleOp) else (v,))]


def like(value: SSAValue, given: NDArray) -> NDArray:
    """`given` with the element type of `value`: where that is a truth value, whether it is above zero."""
    dtype = numpy_dtype(tensor(value).element_type)
    wide = given.astype(np.float64)
    return (wide > 0 if dtype == np.bool_ else abs(wide) if dtype.kind == "u" else wide).astype(dtype)


@pytest.mark.parametrize("name", ["relay.nn.softmax", "relay.nn.fast_softmax", "relay.nn.log_softmax"])
def test_a_softmax_of_nothing_is_nothing(name: str) -> None:
    (op_type,) = [op for op in Relay.operations if op.name == name]
    for shape in ((0,), (3, 0), (0, 3)):
        assert run_operator(op_type, [np.zeros(shape, np.float32)], axis=-1).shape == shape  # pyright: ignore[reportArgumentType]


def test_bounds_outside_of_an_integer_type_clip_to_its_own() -> None:
    (clip,) = [op for op in Relay.operations if op.name == "relay.clip"]
    x = np.array([0, 1, 250], np.uint8)
    assert run_operator(clip, [x], a_min=0.0, a_max=-1.0).tolist() == [0, 0, 0]  # pyright: ignore[reportArgumentType]
    assert run_operator(clip, [x], a_min=-5.0, a_max=1e9).tolist() == [0, 1, 250]  # pyright: ignore[reportArgumentType]
    assert run_operator(clip, [x], a_min=300.0, a_max=400.0).tolist() == [255] * 3  # pyright: ignore[reportArgumentType]


def test_bounds_of_integers_lose_their_fraction_and_are_numbers() -> None:
    x = relay.var("x", shape=(5,), dtype="int8")
    exe = weft.compile(relay.IRModule.from_expr(relay.Function([x], relay.clip(x, 0.5, 6.75))))
    data = np.array([-3, 0, 1, 5, 9], np.int8)
    np.testing.assert_array_equal(np.asarray(exe(data)), np.array([0, 0, 1, 5, 6], np.int8))
    with pytest.raises(Diagnostic, match="'a_max' is not a number"):
        relay.clip(x, 0.0, float("nan"))


def test_batch_dimensions_of_a_take_without_an_axis_are_refused() -> None:
    (take,) = [op for op in Relay.operations if op.name == "relay.take"]
    with pytest.raises(VerifyException, match="'batch_dims' 1 does not fit axis 0"):
        run_operator(take, [np.zeros((2, 2), np.float32), np.zeros((2, 2), np.int32)], batch_dims=1)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("batch", [-2, -1, 2])
def test_batch_dimensions_that_a_gather_has_not_are_refused(batch: int) -> None:
    (gather,) = [op for op in Relay.operations if op.name == "relay.gather_nd"]
    with pytest.raises(VerifyException, match=f"{batch} batch dimensions and 2 indices do not fit 2 dimensions"):
        run_operator(gather, [np.zeros((7, 2), np.float32), np.zeros((2, 6), np.int64)], batch_dims=batch)  # pyright: ignore[reportArgumentType]


def test_an_element_takes_the_bytes_that_its_name_says() -> None:
    assert {name: item_bytes(name) for name in ("bool", "int8", "float16", "bfloat16", "float32", "int64")} == {
        "bool": 1, "int8": 1, "float16": 2, "bfloat16": 2, "float32": 4, "int64": 8,
    }  # fmt: skip


def test_an_average_of_short_integers_is_summed_in_longer_ones() -> None:
    (pool,) = [op for op in Relay.operations if op.name == "relay.nn.avg_pool2d"]
    x = np.full((1, 1, 2, 2), 32767, np.int16)
    assert run_operator(pool, [x], pool_size=[2, 2]).tolist() == [[[[32767]]]]  # pyright: ignore[reportArgumentType]

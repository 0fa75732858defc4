"""Operators evaluated on NumPy arrays: for constant folding, the interpreter, and the tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Block
from xdsl.utils.exceptions import VerifyException

from .. import te
from ..support.blame import at_fault
from ..support.checks import CheckError
from ..support.dtypes import numpy_dtype, scalar_type
from ..support.retyping import retype
from ..te.evaluate import evaluate
from .base import DYNAMIC, RelayOp, flatten_types, is_static, shape_of, tensor
from .computing import compute_results
from .types import tuple_type

NDArray: TypeAlias = npt.NDArray[np.generic]


def evaluate_op(op: RelayOp, inputs: Sequence[NDArray]) -> list[NDArray]:
    """The results of `op` on `inputs`: one array for each tensor operand and result, tuples flattened.

    The direct evaluation `op.numpy` is taken where there is one, else `compute`. Shapes come from the arrays, so an
    operator on tensors of dynamic shape can be evaluated too. Do not write to the results: they may be views.

    Raises:
        NotImplementedError: the operator has neither evaluation.
        ValueError: an array does not fit its operand.
        CheckError: an index lies outside, and the operator's policy is that this is an error.
    """
    types = flatten_types([operand.type for operand in op.operands])
    if len(types) != len(inputs):
        raise ValueError(f"'{op.name}' takes {len(types)} tensors, but {len(inputs)} arrays are given")
    for position, (type, array) in enumerate(zip(types, inputs, strict=True)):
        shape = shape_of(type)
        fits = len(shape) == array.ndim and all(n in (DYNAMIC, m) for n, m in zip(shape, array.shape, strict=True))
        if not fits or array.dtype != numpy_dtype(type.element_type):
            raise ValueError(f"'{op.name}': input {position} is {type}, not {array.dtype.name} of shape {array.shape}")
    special = specialize(op, inputs)
    try:
        if (direct := evaluate_directly(special, inputs)) is not None:
            return direct
        return evaluate_compute(special, inputs)
    except CheckError as error:
        raise error.within(op) from None


def specialize(op: RelayOp, inputs: Sequence[NDArray]) -> RelayOp:
    """`op` on tensors of the shapes that `inputs` have; `op` itself where its types are those.

    Raises:
        Diagnostic: the operator does not take such shapes.
    """
    types = flatten_types([operand.type for operand in op.operands])
    if all(map(is_static, op.result_types)) and all(
        type.get_shape() == array.shape for type, array in zip(types, inputs, strict=True)
    ):
        return op
    arrays = iter(inputs)

    def of_arrays(type: Attribute) -> Attribute:
        if isinstance(type, TupleType):
            return tuple_type(*map(of_arrays, type.types))
        return TensorType(tensor(type).element_type, next(arrays).shape)

    clone = op.clone()
    clone.operands = Block(arg_types=[of_arrays(operand.type) for operand in op.operands]).args
    try:
        inferred = clone.infer()
    except VerifyException as error:  # what only the shapes at hand show
        raise at_fault(op, clone.at_an_operand(error)) from None
    for result, type in zip(clone.results, inferred, strict=True):
        retype(result, type)
    return clone


def evaluate_directly(op: RelayOp, inputs: Sequence[NDArray]) -> list[NDArray] | None:
    """The results by the operator's NumPy evaluation; `None` where it has none."""
    with np.errstate(all="ignore"):
        results = op.numpy(*inputs)
    if results is None:
        return None
    return [results] if isinstance(results, np.ndarray | np.generic) else list(results)


def evaluate_compute(op: RelayOp, inputs: Sequence[NDArray]) -> list[NDArray]:
    """The results by the operator's `compute`.

    Raises:
        NotImplementedError: it has none.
        Diagnostic: it does not give what the operator declares.
    """
    tensors = [te.placeholder(array.shape, scalar_type(array.dtype)) for array in inputs]
    return evaluate(compute_results(op, tensors), dict(zip(tensors, inputs, strict=True)))

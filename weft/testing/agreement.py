"""Whether machine code computes what the operators' definitions say, as exactly as the graph allows.

Fusing, folding and vectorising change rounding, and a graph may magnify that without bound: `floor` and comparisons
turn the last bit into a whole number. So the graph tells its own tolerance: it is evaluated several times with every
operand of every operator off by a few units in the last place, and a result may differ by as much as these evaluations.
Sums that no operand changes so, as those of constants and of places in a grid, are off by as much of the largest one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, f32
from xdsl.ir import Block, SSAValue

from ..dialects.relay.base import RelayOp, ints, tensor
from ..dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from ..dialects.relay.ops.elementwise import CastLikeOp, CastOp
from ..dialects.relay.ops.image import Resize1dOp, Resize2dOp, Resize3dOp
from ..dialects.relay.ops.nn.conv_transpose import Conv1dTransposeOp, Conv2dTransposeOp, Conv3dTransposeOp
from ..dialects.relay.precision import SINGLE, Accuracy
from ..dialects.relay.reference import evaluate_op
from ..dialects.support.conversion import converted
from ..dialects.support.dtypes import numpy_dtype
from ..dialects.support.retyping import retype
from .tolerance import difference, float_info, is_float, wide

NDArray: TypeAlias = npt.NDArray[np.generic]
Offsets: TypeAlias = "Callable[[tuple[int, ...]], npt.NDArray[np.float64]]"
"""For a shape, how far each element is off, from -1 to 1."""

Transposed: TypeAlias = Conv1dTransposeOp | Conv2dTransposeOp | Conv3dTransposeOp
Narrowed: TypeAlias = "Callable[[list[NDArray]], list[NDArray]]"
"""What makes results be of the types that are declared."""

ULPS = Accuracy.FUNCTION.ulps()
"""Units in the last place by which operands are off."""
TRIALS = 4
MARGIN = 8
"""How much more than the evaluations differ results may."""


class Undetermined(Exception):
    """A graph has no meaning on its inputs: it makes floats integers that cannot hold them, say."""


def evaluate_perturbed(function: FuncOp, inputs: Sequence[NDArray], offsets: Offsets | None) -> list[NDArray]:
    """The results of a function of operators on tensors; with `offsets`, operands are off by these parts of `ULPS`.

    Constants stay as they are: they may say of which shape a result is.

    Raises:
        Undetermined: the graph has no meaning on these inputs.
        NotImplementedError: there is something else than operators, constants and tuples in the function.
    """
    values: dict[SSAValue, list[NDArray]] = {
        argument: [array] for argument, array in zip(function.body.block.args, inputs, strict=True)
    }
    for op in function.body.block.ops:
        flat = [array for operand in op.operands for array in values[operand]]
        exact = [isinstance(operand.owner, ConstantOp) for operand in op.operands for _ in values[operand]]
        match op:
            case ReturnOp():
                return flat
            case ConstantOp():
                array = op.numpy()
                assert array is not None
                results = [array]
            case TupleOp():
                results = flat
            case TupleGetOp():
                results = [flat[op.index.value.data]]
            case RelayOp():
                if isinstance(op, CastOp | CastLikeOp):
                    _check_range(flat[0], op.result)
                if op.name.startswith("relay.image."):
                    _check_interpolated(flat[0])
                if isinstance(op, Transposed):
                    _check_finite(op, flat)
                least = SINGLE if op.accuracy() is Accuracy.PLACED else 0.0
                computed, flat, narrowed = _interpolating(op, flat)
                operands = [a if e else _perturbed(a, offsets, least) for a, e in zip(flat, exact, strict=True)]
                results = narrowed(evaluate_op(computed, operands))
                if offsets is not None and (accuracy := op.accuracy()) is not None and accuracy.mixes:
                    if _are_equal(results, narrowed(evaluate_op(computed, flat))):
                        results = [_off_by_the_largest(each, offsets) for each in results]
            case _:
                raise NotImplementedError(f"'{op.name}' cannot be evaluated with other roundings")
        if len(op.results) == 1:
            values[op.results[0]] = results
        else:
            values.update((result, [array]) for result, array in zip(op.results, results, strict=True))
    raise ValueError("the function has no terminator")


def _check_range(array: NDArray, result: SSAValue) -> None:
    dtype = numpy_dtype(tensor(result).element_type)
    if is_float(array) and dtype.kind in "iu":
        whole = np.trunc(array.astype(np.longdouble))
        info = np.iinfo(dtype.name)
        if not np.all((whole >= info.min) & (whole <= info.max)):
            raise Undetermined(f"floats cast to {dtype}, which cannot hold them")


def _check_interpolated(array: NDArray) -> None:
    """Integers are interpolated as floats, which hold no more than 53 bits, and overshoot below zero."""
    if array.dtype.kind == "u" or (array.dtype.kind == "i" and array.dtype.itemsize == 8):
        raise Undetermined(f"images of {array.dtype}")


def _interpolating(op: RelayOp, arrays: list[NDArray]) -> tuple[RelayOp, list[NDArray], Narrowed]:
    """An operator on integers that computes floats between them, on floats, with what makes its results integers."""
    if (
        not isinstance(op, Resize1dOp | Resize2dOp | Resize3dOp)
        or op.method.data == "nearest_neighbor"
        or arrays[0].dtype.kind != "i"
    ):
        return op, arrays, lambda results: results
    whole = numpy_dtype(tensor(op.result).element_type)
    op = op.clone()
    op.operands = Block(arg_types=[TensorType(f32, tensor(op.data).get_shape())]).args
    retype(op.result, TensorType(f32, tensor(op.result).get_shape()))
    op.out_dtype = StringAttr("")
    return op, [arrays[0].astype(np.float32)], lambda results: [converted(each, whole) for each in results]


def _check_finite(op: Transposed, arrays: Sequence[NDArray]) -> None:
    """Between elements that lie apart there are zeros, whose products tell an infinity from a number: they are made or
    left out as is quicker."""
    if max(ints(op.strides), default=1) > 1 and any(
        is_float(array) and not np.isfinite(array).all() for array in arrays
    ):
        raise Undetermined(f"{op.name} of infinities or NaN")


def _offsets() -> list[Offsets]:
    """By what operands are off in each trial: as much as they may be, this way and that, and by random parts of it. All
    the random ones may stay on one side of where a function jumps."""
    return [lambda shape: np.ones(shape), lambda shape: -np.ones(shape), *map(_random_offsets, range(TRIALS - 2))]


def _random_offsets(seed: int) -> Offsets:
    rng = np.random.default_rng(seed)
    return lambda shape: rng.uniform(-1, 1, shape)


def _perturbed(array: NDArray, offsets: Offsets | None, least: float) -> NDArray:
    """`array` off by a few units in the last place, or of `least` where the operator computes no more exactly."""
    if offsets is None or not is_float(array):
        return array
    epsilon = max(float(float_info(array.dtype).eps), least) * ULPS
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64)
        return (wide * (1 + epsilon * offsets(array.shape))).astype(array.dtype)


def _are_equal(results: Sequence[NDArray], others: Sequence[NDArray]) -> bool:
    return all(not difference(a, b).any() for a, b in zip(results, others, strict=True))


def _off_by_the_largest(array: NDArray, offsets: Offsets) -> NDArray:
    """`array` off by a few units in the last place of its largest element."""
    if not is_float(array) or not array.size:
        return array
    exact = array.astype(np.float64)
    largest = np.abs(np.where(np.isfinite(exact), exact, 0)).max()
    epsilon = float(float_info(array.dtype).eps) * ULPS
    return (exact + epsilon * largest * offsets(array.shape)).astype(array.dtype)


class Expectation:
    """What a graph's function gives on some inputs, and by how much results may differ.

    Args:
        module: has the function `@main`.
        inputs: an array for each of its arguments.
    """

    def __init__(self, module: ModuleOp, inputs: Sequence[NDArray]):
        function = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
        self.results = evaluate_perturbed(function, inputs, None)
        trials = [evaluate_perturbed(function, inputs, offsets) for offsets in _offsets()]
        self._trials = list(zip(*trials, strict=True))

    def difference(self, found: Sequence[NDArray]) -> str | None:
        """What of `found` cannot be explained by rounding; `None` where all can."""
        if len(found) != len(self.results):
            return f"{len(found)} results instead of {len(self.results)}"
        for number, (got, want) in enumerate(zip(found, self.results, strict=True)):
            if got.shape != want.shape or got.dtype != want.dtype:
                return f"result {number} is {got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
            wrong = difference(got, want) > self._allowed(number, want)
            if wrong.any():
                place = tuple(int(i) for i in np.argwhere(wrong)[0])
                return f"result {number} at {list(place)}: {got[place]} instead of {want[place]} ({wrong.sum()} wrong)"
        return None

    def _allowed(self, number: int, want: NDArray) -> npt.NDArray[np.longdouble]:
        """By how much the elements of a result may differ; infinite where the evaluations disagree on its kind."""
        spread = np.max([difference(trial, want) for trial in self._trials[number]], axis=0)
        if not is_float(want):
            return spread * MARGIN
        info = float_info(want.dtype)
        size = np.where(np.isfinite(wide(want)), np.abs(wide(want)), 0)
        return spread * MARGIN + float(info.eps) * ULPS * np.maximum(size, float(info.tiny))

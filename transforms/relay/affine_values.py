"""Quantised values while a graph is rewritten: what `fake-quantization-to-integer` knows of each, and how one becomes
another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from ...dialects.relay.base import shape_of, tensor
from ...dialects.relay.core import ConstantOp
from ...dialects.relay.ops.qnn.quantization import DequantizeOp, QuantizeOp, RequantizeOp
from ...dialects.support.dtypes import dtype_name, numpy_dtype, scalar_type
from .emitter import Emitter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float32]
    Integers: TypeAlias = npt.NDArray[np.int32]


class NotQuantizedError(Exception):
    """An operator cannot be computed with integers; the message says why."""


@dataclass(frozen=True)
class Affine:
    """Which numbers integers stand for: `(q - zero) * scale`, with one scale, or one for each slice along `axis`."""

    scale: Floats
    zero: Integers
    dtype: str
    axis: int = -1

    @property
    def is_single(self) -> bool:
        """Whether there is one scale and one zero point."""
        return self.scale.size == self.zero.size == 1

    def same(self, other: Affine) -> bool:
        """Whether integers of the two stand for the same numbers."""
        import numpy as np

        if self.dtype != other.dtype or self.scale.size != other.scale.size:
            return False
        if not (self.is_single and other.is_single) and self.axis != other.axis:
            return False
        scales = np.allclose(self.scale.reshape(-1), other.scale.reshape(-1), rtol=1e-6, atol=0)
        return bool(scales and (self.zero.reshape(-1) == other.zero.reshape(-1)).all())

    def single(self, what: str) -> Affine:
        """Itself, with numbers without dimensions.

        Raises:
            NotQuantizedError: there are several scales.
        """
        if not self.is_single:
            raise NotQuantizedError(f"{what} has a scale for each slice")
        return replace(self, scale=self.scale.reshape(()), zero=self.zero.reshape(()))

    def of(self, array: npt.NDArray[np.generic], axis: int) -> npt.NDArray[np.generic]:
        """The integers of floats, halves rounded to even; slices are those along `axis`."""
        import numpy as np

        bounds = np.iinfo(self.dtype)
        scale, zero = (np.asarray(along(each, array.ndim, axis), np.float64) for each in (self.scale, self.zero))
        quantized = np.round(array.astype(np.float64) / scale) + zero
        return np.clip(quantized, bounds.min, bounds.max).astype(numpy_dtype(scalar_type(self.dtype)))

    def parameters(self, emit: Emitter) -> tuple[SSAValue, SSAValue]:
        """Scale and zero point as constants."""
        import numpy as np

        scale, zero = (each.reshape(()) if each.size == 1 else each.reshape(-1) for each in (self.scale, self.zero))
        if scale.ndim != zero.ndim:
            zero = np.broadcast_to(zero, np.broadcast_shapes(scale.shape, zero.shape))
        return emit.constant(scale, f32, "scale"), emit.constant(zero, i32, "zero_point")


def affine_of(op: QuantizeOp | DequantizeOp) -> Affine:
    """Which numbers the integers of a border stand for.

    Raises:
        NotQuantizedError: scale or zero point are no constants, a scale is not above zero, or a zero point is none of
            the integers.
    """
    import numpy as np

    if isinstance(op, QuantizeOp):
        parameters, dtype = (op.output_scale, op.output_zero_point), op.out_dtype.data
    else:
        parameters, dtype = (op.input_scale, op.input_zero_point), dtype_name(tensor(op.data).element_type)
    scale, zero = map(known, parameters)
    if scale is None or zero is None:
        raise NotQuantizedError("its scale and zero point are no constants")
    axis = op.axis.value.data % max(1, len(shape_of(op.data)))
    scales = scale.astype(np.float32)
    if not (scales > 0).all():
        raise NotQuantizedError("its scale is not above zero")
    zeros, bounds = zero.astype(np.int32), np.iinfo(dtype)
    if not ((zeros >= bounds.min) & (zeros <= bounds.max)).all():
        raise NotQuantizedError(f"its zero point is no number of {dtype}")
    return Affine(scales, zeros, dtype, axis)


def along(parameter: npt.NDArray[np.generic], rank: int, axis: int) -> npt.NDArray[np.generic]:
    """One number, or one for each slice along `axis`, in a shape that broadcasts."""
    if parameter.size == 1:
        return parameter.reshape(())
    return parameter.reshape([-1 if d == axis % rank else 1 for d in range(rank)])


def known(value: SSAValue) -> npt.NDArray[np.generic] | None:
    """The array of a constant."""
    return value.owner.numpy() if isinstance(value.owner, ConstantOp) else None


def requantize(emit: Emitter, value: SSAValue, given: Affine, wanted: Affine) -> SSAValue:
    """Integers that stand for numbers in one way as those that stand for them in another."""
    if given.same(wanted):
        return value
    axis = (given.axis if not given.is_single else wanted.axis) % max(1, len(shape_of(value)))
    parameters = (*given.parameters(emit), *wanted.parameters(emit))
    return emit(RequantizeOp(value, *parameters, axis=axis, out_dtype=wanted.dtype))

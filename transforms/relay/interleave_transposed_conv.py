"""Compute a transposed convolution as one convolution, whose channels are then interleaved into pixels.

    %y = relay.nn.conv2d_transpose %x, %w {strides = [2, 2], padding = [1, 1]}     // kernel 4x4, C channels
->
    %w1 = the taps of each of the 2x2 phases, turned round: [2 * 2 * C, I, 2, 2]
    %0 = relay.nn.conv2d %x, %w1 {padding = [1, 1]}                                // 2x2 taps, 2 * 2 * C channels
    %1 = relay.nn.depth_to_space %0 {block_size = 2}
    %y = relay.strided_slice %1                                                    // what the padding cuts off

By its definition a transposed convolution goes over data between whose elements there are `stride - 1` zeros: of its
products only one in `stride * stride` has a factor that is none of them. Along an axis, with the stride `s` and what is
before the padding is cut off, element `s*u + a` of the result is the sum of `x[u - t] * w[a + s*t]` over `t`: a
convolution of `ceil(k / s)` taps for each phase `a`, all over the same data. So the phases are channels of one
convolution. Along one or three axes, or where strides differ, a transposition interleaves them.

Where `s` does not divide `k`, the taps that are missing are zeros. Where these or the places that are cut off are many,
each phase is a convolution of its own, with its own taps and without what is cut off, whose channels are joined then:

    kernel 3x3, stride 2: taps of 2x2 in four phases, 16 in all; or of 1x1, 1x2, 2x1 and 2x2, which are 9

Where the data is a single pixel, any stride will do, and one as large as the kernel leaves one tap: a matrix product.

Left as they are, with a remark: groups, taps that lie apart, layouts other than `NCHW` and `IOHW` (and their likes of
one and three axes), integers that are not summed in 32 bits, paddings of more than the kernel, and numbers of channels
or taps that are not known. How many places there are need not be: all that is chosen is the same for any number.
`fold-constant` should follow, `conv-to-conv2d`, and `alter-op-layout`.

No counterpart in TVM, whose schedules for single processors have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.relay.core import FuncOp, TupleOp
from ...dialects.relay.ops.nn.conv_transpose import Conv1dTransposeOp, Conv2dTransposeOp, Conv3dTransposeOp
from ...dialects.relay.ops.nn.convolution import Conv1dOp, Conv2dOp, Conv3dOp
from ...dialects.relay.ops.nn.convolution_base import Convolution
from ...dialects.relay.ops.nn.padding import PadOp
from ...dialects.relay.ops.nn.spatial import DepthToSpaceOp
from ...dialects.relay.ops.slicing import ConcatenateOp, StridedSliceOp
from ...dialects.relay.ops.transform import ReshapeOp, ReverseOp, TransposeOp
from ...dialects.relay.slices import ENDLESS
from ...dialects.support.vector_unit import vector_unit_of
from ..infra import FunctionPass, RewriteDriver, remarks, report_changed
from .emitter import Emitter

NAME = "interleave-transposed-conv"

TYPICAL_PLACES = 32
"""An open extent of the data is taken for so many places more than the kernel's. What is padded and cut off does not
depend on it; phases apart are compared with all together at it."""

WORTH = 0.9
"""Of the products of all phases together, those of the phases apart up to which these are worth their own kernels."""


@dataclass(frozen=True)
class InterleaveTransposedConvPass(FunctionPass):
    """Options: `vector-bytes` is the width of the target's vectors; without it, the module's `weft.target` says it."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    vector_bytes: int | None = None

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        lanes = max(1, (self.vector_bytes or vector_unit_of(func).bytes) // 4)
        report_changed(RewriteDriver((InterleavePhases(lanes),)).rewrite(func))


@dataclass(frozen=True)
class Axis:
    """A spatial axis: extents of the data, the kernel and the result, the stride, and what is cut off before."""

    data: int
    kernel: int
    result: int
    stride: int
    before: int

    @property
    def taps(self) -> int:
        """How many taps each phase has."""
        return -(-self.kernel // self.stride)

    @property
    def first(self) -> int:
        """The first place of the phases of which something is left."""
        return self.before // self.stride

    @property
    def padding(self) -> tuple[int, int]:
        """What to pad before and after the data, for a convolution from the first place to the last that is needed."""
        last = (self.before + self.result - 1) // self.stride
        return self.taps - 1 - self.first, max(0, last - self.data + 1)

    @property
    def cut(self) -> int:
        """Where the result begins among the interleaved phases."""
        return self.before - self.first * self.stride

    @property
    def places(self) -> int:
        """How many places all phases together are computed at."""
        return self.data + sum(self.padding) - self.taps + 1

    def apart(self) -> list[Phase] | None:
        """The phases from the first element of the result on, each by itself; `None` where one has no tap, or does
        not see all data."""
        count = -(-self.result // self.stride)
        phases = [
            Phase(first, -(-(first - self.kernel + 1) // self.stride), count + first // self.stride - self.data)
            for first in range(self.before, self.before + self.stride)
        ]
        seen = all(phase.first // self.stride >= phase.low <= 0 <= phase.after for phase in phases)
        return phases if seen else None


@dataclass(frozen=True)
class Phase:
    """One phase of an axis: the tap that the first element of the result has of the first one of the data, how many
    elements further on in the data the first one is that it sees, and what to pad after the data."""

    first: int
    low: int
    after: int

    def taps(self, stride: int) -> int:
        return self.first // stride - self.low + 1


Transposed: TypeAlias = Conv1dTransposeOp | Conv2dTransposeOp | Conv3dTransposeOp

CONVOLUTIONS: dict[type[Transposed], type[Convolution]] = {
    Conv1dTransposeOp: Conv1dOp,
    Conv2dTransposeOp: Conv2dOp,
    Conv3dTransposeOp: Conv3dOp,
}
"""What each becomes."""


class InterleavePhases(RewritePattern):
    """`conv2d_transpose(x, w)` -> `strided_slice(depth_to_space(conv2d(x, phases(w))))`, or of the phases' own
    convolutions, joined, where channels fill vectors of `lanes`."""

    def __init__(self, lanes: int):
        self.lanes = lanes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Transposed, rewriter: PatternRewriter, /) -> None:
        obstacle = _obstacle(op)
        if obstacle is not None:
            remarks.missed(NAME, op, obstacle)
            return
        axes = _axes(op)
        emit = Emitter()
        if (phases := self._apart(op, axes)) is not None:
            fields = [_phase_apart(emit, op, axes, each) for each in phases]
            joined = emit(ConcatenateOp(emit(TupleOp(*fields)), axis=1))
            value, begin = _interleaved(emit, joined, axes), [0] * len(axes)
        else:
            starts, ends = zip(*(axis.padding for axis in axes), strict=True)
            value = _interleaved(emit, _convolution(emit, op, _phases(emit, op.weight, axes), starts, ends), axes)
            begin = [axis.cut for axis in axes]
        end = [first + axis.result for first, axis in zip(begin, axes, strict=True)]
        whole = [axis.stride * (-(-axis.result // axis.stride) if phases is not None else axis.places) for axis in axes]
        if any(begin) or end != whole:
            open_axes = [extent == DYNAMIC for extent in shape_of(op.data)[2:]]
            ends = zip(end, whole, open_axes, strict=True)
            end = [(last - extent or ENDLESS) if is_open else last for last, extent, is_open in ends]
            emit(StridedSliceOp(value, begin=begin, end=end, axes=list(range(2, 2 + len(axes)))))
        rewriter.replace(op, emit.ops)

    def _apart(self, op: Transposed, axes: Sequence[Axis]) -> list[tuple[Phase, ...]] | None:
        """The phases, if each is to be computed by itself."""
        outputs, count = shape_of(op.weight)[1], prod(axis.stride for axis in axes)
        each = [phases for axis in axes if (phases := axis.apart()) is not None]
        if count == 1 or len(each) < len(axes) or outputs % self.lanes:
            return None
        found = list(product(*each))
        taps = sum(prod(p.taps(axis.stride) for p, axis in zip(phases, axes, strict=True)) for phases in found)
        apart = taps * prod(-(-axis.result // axis.stride) for axis in axes)
        together = count * prod(axis.taps * axis.places for axis in axes)
        return found if apart <= WORTH * together else None


def _convolution(
    emit: Emitter, op: Transposed, weight: SSAValue, starts: Sequence[int], ends: Sequence[int]
) -> SSAValue:
    """The data by a weight `[outputs, I, *taps]`, padded at the starts and ends of its axes."""
    convolution = CONVOLUTIONS[type(op)](
        op.data,
        weight,
        strides=[1] * len(starts),
        padding=[*starts, *ends],
        dilation=[1] * len(starts),
        data_layout=op.data_layout,
        kernel_layout=f"OI{op.SPATIAL}",
        out_dtype=op.out_dtype,
    )
    return emit(convolution)


def _phase_apart(emit: Emitter, op: Transposed, axes: Sequence[Axis], phases: Sequence[Phase]) -> SSAValue:
    """One phase of the result by itself: `[N, O, *places]`."""
    rank = 2 + len(axes)
    begin = [phase.first % axis.stride for phase, axis in zip(phases, axes, strict=True)]
    end = [phase.first - axis.stride * phase.low + 1 for phase, axis in zip(phases, axes, strict=True)]
    strides, spatial = [axis.stride for axis in axes], list(range(2, rank))
    weight = emit(StridedSliceOp(op.weight, begin=begin, end=end, strides=strides, axes=spatial))
    weight = emit(TransposeOp(weight, axes=[1, 0, *spatial]))
    for axis in spatial:
        if shape_of(weight)[axis] > 1:
            weight = emit(ReverseOp(weight, axis=axis))
    return _convolution(emit, op, weight, [-phase.low for phase in phases], [phase.after for phase in phases])


def _interleaved(emit: Emitter, value: SSAValue, axes: Sequence[Axis]) -> SSAValue:
    """The phases, which are channels `[N, s * s * O, *places]`, as pixels: `[N, O, *(places * s)]`."""
    strides = [axis.stride for axis in axes]
    if len(axes) == 2 and len(set(strides)) == 1:
        return value if strides[0] == 1 else emit(DepthToSpaceOp(value, block_size=strides[0]))
    batch, channels, *places = shape_of(value)
    outputs, rank = channels // prod(strides), len(axes)
    is_open = DYNAMIC in (batch, *places)
    if is_open:
        for number, stride in enumerate(strides):  # one dimension is taken apart into two at a time
            rest = prod(strides[number + 1 :]) * outputs
            value = emit(ReshapeOp(value, newshape=[0] * (1 + number) + [-4, stride, rest] + [0] * rank))
    else:
        value = emit(ReshapeOp(value, newshape=[batch, *strides, outputs, *places]))
    apart = [number for axis in range(rank) for number in (rank + 2 + axis, 1 + axis)]
    value = emit(TransposeOp(value, axes=[0, rank + 1, *apart]))
    whole = [extent * stride for extent, stride in zip(places, strides, strict=True)]
    return emit(ReshapeOp(value, newshape=[0, 0, *[-3] * rank] if is_open else [batch, outputs, *whole]))


def _obstacle(op: Transposed) -> str | None:
    """What stands against computing it so."""
    layouts, data = tuple(layout.text for layout in op.layouts()), tensor(op.data)
    window = op.window(shape_of(op.weight))
    if layouts != tuple(kind + op.SPATIAL for kind in ("NC", "IO", "NC")):
        return f"its layouts are {', '.join(layouts)}"
    if op.group_count() != 1:
        return f"it has {op.group_count()} groups"
    if set(window.dilation) != {1}:
        return "its taps lie apart"
    if not isinstance(data.element_type, AnyFloat) and op.out_dtype.data != "int32":
        return f"its elements are {data.element_type}, not floats, and its sums not of int32"
    if DYNAMIC in (data.get_shape()[1], *shape_of(op.weight)):
        return "its channels or taps are dynamic"
    if 0 in (*data.get_shape(), *shape_of(op.weight)):
        return "there is nothing to sum, or no result"
    if any(padding >= taps for padding, taps in zip(window.before, window.kernel, strict=True)):
        return "it is padded by more than its kernel"
    return None


def _axes(op: Transposed) -> list[Axis]:
    window = op.window(shape_of(op.weight))
    places = zip(shape_of(op.data)[2:], window.kernel, strict=True)
    extents = [TYPICAL_PLACES + kernel if extent == DYNAMIC else extent for extent, kernel in places]
    strides: Sequence[int] = window.strides
    if set(extents) == {1}:
        strides = [max(*window.kernel, *strides)] * len(extents)
    results = op.output_extents(extents, window)
    return [Axis(*values) for values in zip(extents, window.kernel, results, strides, window.before, strict=True)]


def _phases(emit: Emitter, weight: SSAValue, axes: Sequence[Axis]) -> SSAValue:
    """A weight `[I, O, *k]` as `[s * s * O, I, *taps]`: of each phase the taps, from the last to the first."""
    inputs, outputs = shape_of(weight)[:2]
    missing = [axis.taps * axis.stride - axis.kernel for axis in axes]
    if any(missing):
        zero = emit.constant(0, tensor(weight).element_type)
        weight = emit(PadOp(weight, zero, pad_width=[0] * 4 + [n for each in missing for n in (0, each)]))
    split = [n for axis in axes for n in (axis.taps, axis.stride)]
    weight = emit(ReshapeOp(weight, newshape=[inputs, outputs, *split]))
    places = range(2, 2 + len(split), 2)
    weight = emit(TransposeOp(weight, axes=[*(place + 1 for place in places), 1, 0, *places]))  # [s, s, O, I, *taps]
    phases = prod(axis.stride for axis in axes) * outputs
    weight = emit(ReshapeOp(weight, newshape=[phases, inputs, *(axis.taps for axis in axes)]))
    for axis, extent in enumerate(axes, start=2):
        if extent.taps > 1:
            weight = emit(ReverseOp(weight, axis=axis))
    return weight

"""Make one convolution of several that read the same data, by concatenating their weights.

    %1 = relay.nn.conv2d %x, %w1              %w = relay.concatenate %w1, %w2, %w3
    %2 = relay.nn.conv2d %x, %w2        ->    %0 = relay.nn.conv2d %x, %w
    %3 = relay.nn.conv2d %x, %w3              %1 = relay.strided_slice %0 [first channels]; ...

They have the same strides, padding, dilation, layouts and kernel size, and one group. Arithmetic that follows each of
them in the same way is done once (`combining.py`). One large convolution uses the machine better than several small
ones where those are too small to fill it; else the slices cost more than is gained, so that this is no part of a
compilation but for those who ask for it.

Counterpart of TVM's `CombineParallelConv2D`, which runs at level 4.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ..infra import FunctionPass, report_changed
from .combining import Concatenating, combine_parallel, element, total
from .emitter import Emitter


@dataclass(frozen=True)
class CombineParallelConv2DPass(FunctionPass):
    """Options: `min-num-branches` is how many there must be at least."""

    name = "combine-parallel-conv2d"
    opt_level: ClassVar[int] = 4
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "CombineParallelConv2D"
    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {"min_num_branches": (1, None)}

    min_num_branches: int = 3

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(combine_parallel(func, ConvolutionCombiner(), self.min_num_branches, self.name))


class ConvolutionCombiner(Concatenating[Conv2dOp]):
    op_type = Conv2dOp

    def axis(self, op: Conv2dOp) -> int:
        return op.layouts()[2].position("C")

    def key(self, op: Conv2dOp) -> Hashable | None:
        outputs, weight = op.layouts()[1].position("O"), shape_of(op.weight)
        if op.group_count() != 1 or DYNAMIC in weight or op.has_blocks():
            return None
        others = (*weight[:outputs], *weight[outputs + 1 :])
        kept = frozenset((name, value) for name, value in op.properties.items() if name != "channels")
        return op.data, element(op.weight), others, kept, "channels" in op.properties

    def combined(self, emit: Emitter, ops: Sequence[Conv2dOp]) -> SSAValue:
        axis = ops[0].layouts()[1].position("O")
        weight = self.concatenate(emit, [op.weight for op in ops], axis)
        properties = total(ops, "channels", shape_of(weight)[axis])
        return emit(Conv2dOp(ops[0].data, weight, **properties))

"""Schedules of `topi`'s tensors that suit any target (`tvm.topi.generic`): nothing is asked of a stage, but that those
which do not reduce are computed where they are read, where TVM has it so.

    s = topi.generic.schedule_injective(topi.exp(A))

Fast ones are those of `weft.compile`, or one's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import te
from ..dialects.support.arguments import checked

Outputs = te.Tensor | Sequence[te.Tensor]


@checked
def schedule_extern(outs: Outputs) -> te.Schedule:
    """Every stage on its own, one after the other."""
    return te.create_schedule([each.op for each in _all(outs)])


@checked
def schedule_injective(outs: Outputs) -> te.Schedule:
    """The same, and what does not reduce is computed where it is read."""
    schedule = schedule_extern(outs)
    te.schedule.AutoInlineInjective(schedule)
    return schedule


def _all(outs: Outputs) -> list[te.Tensor]:
    return [outs] if isinstance(outs, te.Tensor) else list(outs)


schedule_elemwise = schedule_broadcast = schedule_concatenate = schedule_injective
schedule_conv1d_ncw = schedule_conv1d_nwc = schedule_conv2d_nchw = schedule_conv2d_nhwc = schedule_extern
schedule_conv2d_hwcn = schedule_group_conv2d_nchw = schedule_conv2d_transpose_nchw = schedule_extern
schedule_conv3d_ncdhw = schedule_conv3d_ndhwc = schedule_extern
schedule_depthwise_conv2d_nchw = schedule_depthwise_conv2d_nhwc = schedule_extern
schedule_dense = schedule_batch_matmul = schedule_softmax = schedule_fast_softmax = schedule_lrn = schedule_extern


@checked
def schedule_reduce(outs: Outputs) -> te.Schedule:
    """The schedule of sums and other reductions."""
    return schedule_injective(outs)


@checked
def schedule_pool(outs: Outputs, layout: str) -> te.Schedule:
    """The schedule of pooling, whatever the layout."""
    return schedule_extern(outs)


@checked
def schedule_adaptive_pool(outs: Outputs) -> te.Schedule:
    """The schedule of pooling to a size."""
    return schedule_extern(outs)

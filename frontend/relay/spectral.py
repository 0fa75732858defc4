"""Spectra of signals, made of operators: TVM's `relay.stft`."""

from __future__ import annotations

import numpy as np

from ...dialects.relay.base import DYNAMIC
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .expr import Expr, Operand, as_value, const
from .operators import operator


@checked
def stft(
    data: Operand,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Operand | None = None,
    normalized: bool = False,
    onesided: bool = True,
) -> Expr:
    """The Fourier transforms of frames of a signal that overlap: `[batch, frequencies, frames, 2]`, the last dimension
    being real and imaginary part; of a signal without a batch, without it.

    `y[b, f, t] = sum_k window[k] * data[b, t * hop_length + k] * exp(-2 pi i f k / n_fft)`, over `sqrt(n_fft)` where it
    is `normalized`. It is a convolution: every frequency is two channels of its result.

    Args:
        data: floats `[batch, time]`, or `[time]`.
        n_fft: how many elements a frame has.
        hop_length: how far apart frames begin; a quarter of `n_fft` unless given.
        win_length: how many elements the window has, which stands in the middle of zeros; `n_fft` unless given.
        window: what the elements of a frame are multiplied by; ones unless given.
        onesided: whether only the first `n_fft // 2 + 1` frequencies are wanted; the others are their conjugates.

    Raises:
        UsageError: the shapes or the sizes do not fit.
    """
    data = Expr(as_value(data))
    hop = max(n_fft // 4, 1) if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if n_fft < 1 or hop < 1 or not 1 <= length <= n_fft:
        raise UsageError(f"relay.stft: a window of {length} in frames of {n_fft}, {hop} apart")
    if (rank := len(data.shape)) not in (1, 2):
        raise UsageError(f"relay.stft takes a signal [time] or [batch, time], and got {data!r}")
    rows = n_fft // 2 + 1 if onesided else n_fft
    # the product modulo the length is exact, where an angle of many turns would not be
    turns = np.outer(np.arange(rows), np.arange(n_fft)) % n_fft * (2 * np.pi / n_fft)
    waves = np.concatenate([np.cos(turns), -np.sin(turns)]) / (np.sqrt(n_fft) if normalized else 1)
    kernel = const(waves[:, None], data.dtype)
    if window is not None:
        kernel = operator("multiply")(kernel, _in_frame(Expr(as_value(window)), length, n_fft, data.dtype))
    batched = operator("expand_dims")(data, 0) if rank == 1 else data
    channels = operator("nn.conv1d")(operator("expand_dims")(batched, 1), kernel, strides=hop)
    parts = operator("reshape")(channels, [0, -4, 2, rows, -2])
    result = operator("transpose")(parts, [0, 2, 3, 1])
    return operator("squeeze")(result, [0]) if rank == 1 else result


def _in_frame(window: Expr, length: int, n_fft: int, dtype: str) -> Expr:
    """The window in the middle of a frame, with zeros around it."""
    if len(window.shape) != 1 or window.shape[0] not in (length, -1, DYNAMIC):
        raise UsageError(f"relay.stft: a window of {length} elements is not {window!r}")
    ones = const(np.ones(length), dtype)  # which says how many elements there are, where the window does not
    known = operator("multiply")(operator("cast")(window, dtype), ones)
    before = (n_fft - length) // 2
    return operator("nn.pad")(known, pad_width=((before, n_fft - length - before),)) if length < n_fft else known

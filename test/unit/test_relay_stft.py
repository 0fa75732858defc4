"""Spectra of frames of a signal, against NumPy's transform."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import UsageError
from weft.testing.operators import assert_close, random_floats

NDArray = npt.NDArray[Any]


def spectra(x: NDArray, n: int, hop: int, window: NDArray, normalized: bool, onesided: bool) -> NDArray:
    before = (n - len(window)) // 2
    whole = np.pad(window, (before, n - len(window) - before))
    frames = np.stack([x[:, t : t + n] * whole for t in range(0, x.shape[1] - n + 1, hop)], 1)
    found = np.fft.fft(frames).swapaxes(1, 2) / (np.sqrt(n) if normalized else 1)
    found = found[:, : n // 2 + 1] if onesided else found
    return np.stack([found.real, found.imag], -1).astype(np.float32)


@pytest.mark.parametrize("length", [8, 5])
@pytest.mark.parametrize("is_open", [False, True])
def test_frames_are_transformed(length: int, is_open: bool) -> None:
    x, window = random_floats(2, 21), random_floats(length)
    data = relay.var("x", shape=(relay.Any(), relay.Any()) if is_open else x.shape)
    taps = relay.var("w", shape=(relay.Any(),) if is_open else window.shape)
    module = relay.IRModule.from_expr(relay.Function([data, taps], relay.stft(data, 8, 3, length, taps, True, False)))
    wanted = spectra(x, 8, 3, window, normalized=True, onesided=False)
    debug: Any = relay.create_executor("debug", module).evaluate()
    assert_close(debug(x, window), wanted)
    assert_close(weft.compile(module)(x, window), wanted)


def test_what_is_not_given_is_a_window_of_ones_a_quarter_apart() -> None:
    x = random_floats(1, 12)
    data = relay.var("x", shape=(12,))
    run: Any = relay.create_executor("debug").evaluate(relay.Function([data], relay.op.stft(data, 8)))
    wanted = spectra(x, 8, 2, np.ones(8), normalized=False, onesided=True)
    assert_close(run(x[0]), wanted[0])


@pytest.mark.parametrize("arguments", [(0,), (8, 0), (8, 2, 9), (8, 2, 0)])
def test_sizes_that_make_no_frames_are_refused(arguments: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match=r"relay.stft: a window of"):
        relay.stft(relay.var("x", shape=(1, 12)), *arguments)


def test_a_window_of_another_length_is_refused() -> None:
    x = relay.var("x", shape=(1, 12))
    with pytest.raises(UsageError, match=r"a window of 8 elements is not"):
        relay.stft(x, 8, window=relay.var("w", shape=(1,)))

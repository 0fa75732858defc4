"""Transforms, grids, columns and what else asks for sizes, where these are open or come with a call."""

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import parser

import weft
from weft.dialects.support.diagnostics import Diagnostic

pytestmark = pytest.mark.sampled(6)

random = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


def agree(text: str, *calls: dict[str, np.ndarray], opset: int = 20) -> Any:
    """One compilation gives what ONNX Runtime gives, for each call."""
    proto = parser.parse_model(f'<ir_version: 9, opset_import: ["": {opset}]> g {text}')
    program: Any = weft.compile(proto, threads=1)
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for given in calls:
        made = program.run(given)
        for got, wanted in zip(made.values(), session.run(None, given), strict=True):
            assert got.shape == wanted.shape and got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5)
    return program


def test_signals_of_any_length_are_transformed():
    agree(
        """(float[n, t, 1] x, float[n, 6, t, 2] z) => (float[n, t, 2] a, float[n, 6, t, 2] b, float[n, u, 2] c) {
            one = Constant<value_int = 1>() two = Constant<value_int = 2>()
            a = DFT(x, , one) b = DFT<inverse = 1>(z, , two) c = DFT<onesided = 1>(x, , one)
        }""",
        *({"x": normal(n, t, 1), "z": normal(n, 6, t, 2)} for n, t in ((2, 8), (1, 5))),
    )


def test_frames_of_signals_of_any_length_are_transformed():
    agree(
        """(float[n, t, 1] x, float[16] w, int64 s)
            => (float[n, f, 9, 2] a, float[n, g, 16, 2] b, float[n, f, 9, 2] c) {
            four = Constant<value_int = 4>() last = Constant<value_ints = [2]>() plain = Squeeze(x, last)
            a = STFT(x, four, w) b = STFT<onesided = 0>(x, s, w) c = STFT(plain, four, w)
        }""",
        *({"x": normal(n, t, 1), "w": normal(16), "s": np.array(s)} for n, t, s in ((2, 40, 3), (1, 16, 5))),
    )


def test_grids_are_of_any_size():
    """Those of an image that is there, and those that a call says."""
    program = agree(
        """(float[n, 2, 3] x, float[n, 3, h, w] y, int64[5] s, float[1, 3, 4] z)
            => (float[n, h, w, 2] a, float[n, h, w, 2] b, float[1, d, e, f, 3] c) {
            size = Shape(y) a = AffineGrid(x, size) b = AffineGrid<align_corners = 1>(x, size) c = AffineGrid(z, s)
        }""",
        *(
            {"x": normal(n, 2, 3), "y": normal(n, 3, h, w), "s": np.array([1, 2, h, w, 2]), "z": normal(1, 3, 4)}
            for n, h, w in ((2, 4, 5), (1, 3, 2))
        ),
    )
    with pytest.raises(Diagnostic):
        program.run(
            {"x": normal(2, 2, 3), "y": normal(2, 3, 4, 5), "s": np.array([2, 2, 3, 4, 2]), "z": normal(1, 3, 4)}
        )


def test_columns_are_put_back_into_images_of_any_size():
    agree(
        """(float[n, 8, k] x, float[n, 2, h, w] y, float[n, 8, l] z) => (float[n, 2, h, w] a, float[n, 2, h, w] b) {
            size = Shape<start = 2>(y) block = Constant<value_ints = [2, 2]>()
            a = Col2Im<strides = [2, 2]>(x, size, block)
            b = Col2Im<pads = [1, 0, 0, 1], dilations = [1, 2]>(z, size, block)
        }""",
        *(
            {"x": normal(n, 8, h * w // 4), "y": normal(n, 2, h, w), "z": normal(n, 8, h * (w - 1))}
            for n, h, w in ((2, 4, 6), (1, 2, 4))
        ),
    )


def test_softmax_of_several_dimensions_takes_any_of_them():
    agree(
        """(float[n, 3, m] x) => (float[n, 3, m] a, float[n, 3, m] b, float[n, 3, m] c) {
            a = Softmax<axis = 1>(x) b = LogSoftmax<axis = 0>(x) c = Hardmax<axis = 1>(x)
        }""",
        {"x": normal(2, 3, 4)},
        {"x": normal(1, 3, 5)},
        opset=11,
    )
    agree("(float[n, 3, m] x) => (float[n, 3, m] a) { a = Hardmax<axis = 1>(x) }", {"x": normal(2, 3, 4)})


def test_what_has_one_element_is_squeezed_where_the_others_have_more():
    program = agree("(float[n, 1, 4] x) => (float[n, 4] a) { a = Squeeze(x) }", {"x": normal(3, 1, 4)})
    with pytest.raises(Diagnostic):
        program(normal(1, 1, 4))


def test_a_loop_of_fewer_than_no_turns_gives_no_rows():
    agree(
        """(int64 k, float[2] x) => (float[2] a, float[n, 2] b) {
            go = Constant<value = bool {1}>()
            a, b = Loop(k, go, x) <body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w, float[2] o) {
                d = Identity(c) w = Add(v, v) o = Identity(w)
            }>
        }""",
        *({"k": np.array(k), "x": normal(2)} for k in (3, 0, -1)),
    )


def test_signals_are_cut_or_filled_to_a_length_that_a_call_says():
    agree(
        """(float[n, t, 1] x, float[n, t, 2] z, int64 l) => (float[n, u, 2] a, float[n, v, 2] b, float[n, 4, 2] c) {
            one = Constant<value_int = 1>() six = Constant<value_int = 6>()
            a = DFT(x, l, one) b = DFT<inverse = 1>(z, l, one) c = DFT<onesided = 1>(x, six, one)
        }""",
        *(
            {"x": normal(n, t, 1), "z": normal(n, t, 2), "l": np.array(length)}
            for n, t, length in ((2, 5, 3), (1, 4, 9), (1, 6, 6), (1, 1, 1))
        ),
    )


def test_frames_are_as_long_as_a_call_says():
    agree(
        """(float[n, t, 1] x, int64 s, float[l] w, int64 m) => (float[n, f, g, 2] a, float[n, h, k, 2] b) {
            a = STFT(x, s, w, m) b = STFT(x, s, , m)
        }""",
        *(
            {"x": normal(n, t, 1), "s": np.array(s), "w": normal(m), "m": np.array(m)}
            for n, t, s, m in ((1, 16, 4, 8), (2, 17, 3, 5))
        ),
    )


def test_columns_are_added_into_an_image_of_a_size_that_a_call_says():
    program = agree(
        """(float[n, p, l] x, int64[2] s) => (float[n, c, h, w] a) {
            k = Constant<value_ints = [2, 2]>()
            a = Col2Im<strides = [2, 1], pads = [1, 0, 1, 0]>(x, s, k)
        }""",
        *(
            {"x": normal(n, c * 4, (h // 2 + 1) * (w - 1)), "s": np.array([h, w])}
            for n, c, h, w in ((1, 1, 4, 5), (2, 3, 5, 3), (3, 2, 6, 9))
        ),
    )
    for planes, columns in ((6, 12), (4, 11)):
        with pytest.raises(Diagnostic):
            program(normal(1, planes, columns), np.array([4, 5]))


def test_open_axes_are_split_into_equal_parts():
    """The last may be smaller, or nothing; where less would be left, the run fails."""
    program = agree(
        """(float[n, t] x) => (float[n, a] a, float[n, b] b, float[n, c] c, float[n, d] d, float[n, e] e) {
            a, b = Split<axis = 1, num_outputs = 2>(x) c, d, e = Split<axis = -1, num_outputs = 3>(x)
        }""",
        *({"x": normal(2, t)} for t in (6, 7, 4, 2, 0)),
    )
    with pytest.raises(Diagnostic):
        program.run({"x": normal(2, 1)})


def test_open_axes_are_split_into_parts_of_one_size_before_opset_18():
    text = "(float[n] x) => (float[a] a, float[b] b) { a, b = Split<axis = 0>(x) }"
    program = agree(text, *({"x": normal(n)} for n in (6, 2, 0)), opset=13)
    with pytest.raises(weft.CheckError):
        program.run({"x": normal(3)})

"""Images whose height, width or number is known when a graph is called: what operators give equals what they give where
they are compiled for the size."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.relay import Expr
from weft.testing.operators import assert_close

pytestmark = pytest.mark.sampled(6)

Body = Callable[[Expr], Sequence[Expr]]


def weight(*shape: int) -> Expr:
    return relay.const(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32))


def check(
    shape: Sequence[int | None], sizes: Sequence[Sequence[int]], body: Body, tolerance: float = 1e-4
) -> weft.Executable:
    """Compile `body` for the shape with what is `None` open, run it at each of the sizes, and compare."""

    def function(extents: Sequence[int | None]) -> FuncOp:
        x = relay.var("x", shape=[relay.Any() if n is None else n for n in extents])
        return relay.Function([x], relay.Tuple(list(body(x))))

    exe = weft.compile(function(shape), threads=2)
    for size in sizes:
        remaining = iter(size)
        extents = [next(remaining) if n is None else n for n in shape]
        x = np.random.default_rng(sum(extents)).standard_normal(extents).astype(np.float32)
        wanted = evaluate_function(function(extents), [x])
        for number, (found, value) in enumerate(zip(exe.run({"x": x}).values(), wanted, strict=True)):
            assert found.shape == value.shape, (size, number)
            assert_close(found, value, tolerance)
    return exe


SIZES = [(8, 9), (7, 4), (13, 20)]

WINDOWS_THAT_ENLARGE = (
    (2, 2, 0, 0), (4, 2, 1, 0), (3, 2, 1, 1), (5, 3, 2, 0), (3, 1, 2, 0), (1, 2, 0, 1), (9, 1, 8, 0)
)  # fmt: skip
"""Their extent along each axis, the stride and padding along the first, and how much more there is at its end."""


def test_windows_slide_over_images_of_any_size():
    check(
        (1, 3, None, None),
        SIZES,
        lambda x: [
            relay.nn.conv2d(x, weight(8, 3, 3, 3), strides=(2, 2), kernel_size=(3, 3), channels=8),
            relay.nn.max_pool2d(x, (3, 3), (2, 2), ceil_mode=True),
            relay.nn.avg_pool2d(x, (3, 3), (2, 2), padding=(1, 1), ceil_mode=True, count_include_pad=True),
            relay.nn.global_avg_pool2d(x),
            relay.nn.adaptive_avg_pool2d(x, (7, 5)),
        ],
    )


def test_images_of_any_size_are_enlarged_padded_and_seen_otherwise():
    check(
        (1, 4, None, None),
        SIZES,
        lambda x: [
            relay.nn.conv2d_transpose(x, weight(4, 2, 2, 2), strides=(2, 2), kernel_size=(2, 2), channels=2),
            relay.nn.upsampling(x, 2, 3, method="bilinear"),
            relay.nn.mirror_pad(x, ((0, 0), (0, 0), (1, 2), (1, 1)), mode="REFLECT"),
            relay.nn.pad(x, ((0, 0), (0, 0), (-1, 2), (1, -2))),
            relay.nn.depth_to_space(x, 2),
            relay.nn.batch_flatten(x),
            relay.reverse(x, axis=2),
        ],
    )


@pytest.mark.parametrize("shape", [(1, 32, None, None), (None, 32, None, 9), (1, 32, None, 12), (2, 32, 8, None)])
def test_images_of_any_size_are_convolved_by_minimal_filtering(shape: Sequence[int | None]):
    count = sum(extent is None for extent in shape)
    sizes = [(1, 1), (3, 4), (4, 5), (9, 2), (17, 13)] if count == 2 else [(1,), (4,), (11,)]
    w = weight(48, 32, 3, 3)  # whose sums are as large as 50, of terms that are larger still
    exe = check(shape, sizes, lambda x: [relay.nn.conv2d(x, w, padding=(1, 2), channels=48)], tolerance=2e-3)
    assert "winograd" in str(exe.ir["fuse"])


@pytest.mark.parametrize(("kernel", "stride", "images"), [(3, 1, 1), (3, 2, None), (5, 2, 1)])
def test_images_of_any_size_are_padded_band_by_band(kernel: int, stride: int, images: int | None):
    """No kernel goes twice through the memory of a whole image."""
    w, pointwise, pad = weight(32, 1, kernel, kernel), weight(32, 8, 1, 1), kernel // 2

    def body(x: Expr) -> Sequence[Expr]:
        y = relay.nn.conv2d(x, pointwise, channels=32)
        return [relay.nn.relu(relay.nn.conv2d(y, w, (stride, stride), (pad, pad), groups=32, channels=32))]

    sizes = [(1, 1), (17, 5), (33, 3)]
    exe = check((images, 8, None, None), sizes if images else [(2, *size) for size in sizes], body)
    padded = [line for line in str(exe.ir["schedule"]).splitlines() if "pad = tir.alloc_buffer" in line]
    assert padded and all('"local"' in line for line in padded)


def test_means_of_images_of_any_size_are_taken_in_vectors_of_channels():
    k = weight(48, 16, 1, 1)
    exe = check(
        (1, 16, None, None),
        [(1, 1), (7, 9)],
        lambda x: [relay.nn.global_avg_pool2d(relay.nn.conv2d(x, k, channels=48))],
    )
    *_, pool = str(exe.ir["schedule"]).partition("@fused_nn_global_avg_pool2d(%p0: memref<1x")
    assert "vectorized" in pool.partition("@pool_sum(")[0] and "minsi" not in pool.partition("tir.prim_func")[0]


def test_images_that_are_seen_as_so_many_pixels_have_any_sides_of_as_many():
    def body(x: Expr) -> Sequence[Expr]:
        parts = relay.reshape(relay.exp(x), (1, 2, 2, 4, 6))
        return [relay.reshape(relay.transpose(parts, (0, 2, 1, 3, 4)), (1, 4, 4, 6))]

    exe = check((1, 4, None, None), [(4, 6), (6, 4), (1, 24)], body)
    with pytest.raises(weft.Diagnostic, match=r"takes inputs for which .*, not x_d2 = 5, x_d3 = 5"):
        exe(np.ones((1, 4, 5, 5), np.float32))


def test_no_band_ends_within_the_tiles_of_a_line_of_any_length():
    w = weight(32, 32, 7)

    def body(x: Expr) -> Sequence[Expr]:
        y = relay.repeat(x, repeats=8, axis=2)
        return [relay.nn.relu(relay.nn.conv1d(y, w, padding=3, channels=32))]

    exe = check((1, 32, None), [(1,), (5,)], body)
    assert "contrib_conv2d_NCHWc" in str(exe.ir["fuse"])
    assert " where " not in str(exe.ir["schedule"])


@pytest.mark.parametrize("images", [1, None])
def test_lines_of_any_length_are_computed_in_blocks_of_channels(images: int | None):
    """From one convolution to the next, whatever arithmetic and pools stand between."""
    w, last, bias = weight(64, 64, 3), weight(64, 64, 1), weight(64, 1)

    def body(x: Expr) -> Sequence[Expr]:
        y = relay.nn.conv1d(x, w, padding=(2, 0), channels=64)
        y = relay.nn.relu(relay.add(relay.multiply(y, relay.const(0.1)), bias))
        z = relay.nn.max_pool1d(relay.nn.conv1d(y, w, padding=1, channels=64), 3, 1, padding=1)
        return [relay.add(relay.nn.relu(z), relay.nn.conv1d(y, last, channels=64))]

    exe = check((images, 64, None), [(1,), (9,)] if images else [(2, 1), (1, 9)], body, tolerance=1e-3)
    text = str(exe.ir["fuse"]).partition("private")[0]
    assert text.count("call @fused_nn_contrib_conv2d_NCHWc") == 3 and text.count("layout_transform") == 2


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "more", "axes"),
    [
        pytest.param(*window, axes, id="-".join(map(str, (axes, *window))))
        for axes in (1, 2)
        for window in WINDOWS_THAT_ENLARGE
    ],
)
def test_images_of_any_size_are_enlarged_by_the_phases_of_a_convolution(
    kernel: int, stride: int, padding: int, more: int, axes: int
):
    """None is computed as one of the many products of which most are by zeros."""
    strides = (stride,) + (1,) * (axes - 1)
    given = {"strides": strides, "padding": (padding,) * axes, "output_padding": (more,) + (0,) * (axes - 1)}
    transposed = relay.nn.conv1d_transpose if axes == 1 else relay.nn.conv2d_transpose
    w, least = weight(4, 16, *(kernel,) * axes), 2 * padding + 1
    for images in (1, None):
        sizes = [((2,) if images is None else ()) + (least + n,) * axes for n in (0, 1, 4)]
        exe = check((images, 4, *(None,) * axes), sizes, lambda x: [transposed(x, w, channels=16, **given)])
        assert "d_transpose" not in str(exe.ir["fuse"])


def test_no_images_are_mirrored_along_axes_that_have_elements():
    x = relay.var("x", shape=(relay.Any(), 3))
    widths = ((0, 0), (1, 2))
    mirrors = [relay.nn.pad(x, pad_width=widths, pad_mode="reflect"), relay.nn.mirror_pad(x, widths, mode="REFLECT")]
    exe = weft.compile(relay.Function([x], relay.Tuple(mirrors)), threads=1)
    for n in (0, 1, 3):
        images = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
        for found in exe(images):
            np.testing.assert_array_equal(found, np.pad(images, widths, "reflect"))


def test_images_of_any_size_are_normalized():
    check(
        (1, 8, None, None),
        SIZES,
        lambda x: [
            relay.variance(x, axis=(2, 3)),
            relay.nn.instance_norm(x, weight(8), weight(8)),
            relay.nn.group_norm(x, weight(8), weight(8), num_groups=2),
            relay.cast(relay.argmax(x, axis=(2, 3)), "float32"),
        ],
    )


def test_a_resampled_axis_may_have_any_extents():
    x = relay.var("x", shape=(1, 2, relay.Any(), relay.Any()))
    y = relay.var("y", shape=(1, 1, relay.Any(), relay.Any()))
    size = relay.strided_slice(relay.shape_of(y, dtype="int64"), begin=[2], end=[4])
    roi = relay.const(np.zeros(0, np.float32))
    modes = ("half_pixel", "align_corners", "pytorch_half_pixel")
    open_images = [relay.dyn.image.resize2d(x, size, roi, coordinate_transformation_mode=mode) for mode in modes]
    exe = weft.compile(relay.Function([x, y], relay.Tuple(open_images)))
    for (h, w), wanted in (((4, 5), (7, 3)), ((1, 6), (1, 1)), ((9, 2), (3, 8))):
        images = np.random.default_rng(h).standard_normal((1, 2, h, w)).astype(np.float32)
        found = exe.run({"x": images, "y": np.zeros((1, 1, *wanted), np.float32)}).values()
        for mode, value in zip(modes, found, strict=True):
            static = relay.var("x", shape=(1, 2, h, w))
            resized = relay.image.resize2d(static, wanted, coordinate_transformation_mode=mode)
            (expected,) = evaluate_function(relay.Function([static], resized), [images])
            assert_close(value, expected)


def test_what_must_hold_of_extents_is_asked_when_the_graph_is_called():
    halves = check(
        (None, 6), [(4,), (6,)], lambda x: [relay.split(x, 2, axis=0)[1], relay.topk(x, 3, 0, ret_type="values")]
    )
    with pytest.raises(weft.Diagnostic, match=r"x_d0 % 2\)? <= 0, not x_d0 = 5"):
        halves(np.ones((5, 6), np.float32))
    with pytest.raises(weft.Diagnostic, match="3 <= x_d0, not x_d0 = 2"):
        halves(np.ones((2, 6), np.float32))
    window = check((1, 1, None), [(3,), (5,)], lambda x: [relay.nn.max_pool1d(x, 3)])
    with pytest.raises(weft.Diagnostic, match="3 <= x_d2, not x_d2 = 2"):
        window(np.ones((1, 1, 2), np.float32))


READS: dict[str, Callable[[Expr], Expr]] = {
    "resize": lambda x: relay.image.resize2d(x, (3, 5)),
    "mirror": lambda x: relay.nn.mirror_pad(x, ((0, 0), (0, 0), (1, 1), (0, 0))),
    "edge": lambda x: relay.nn.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)), pad_mode="edge"),
    "topk": lambda x: relay.topk(x, 1, axis=2, ret_type="values"),
    "argmax": lambda x: relay.argmax(x, axis=2),
}


@pytest.mark.parametrize("name", READS)
def test_nothing_is_read_of_an_axis_that_has_no_elements(name: str):
    x = relay.var("x", shape=(1, 1, relay.Any(), 4))
    exe = weft.compile(relay.Function([x], READS[name](x)), threads=1)
    assert np.isfinite(np.asarray(exe(np.ones((1, 1, 1, 4), np.float32)), np.float32)).all()
    with pytest.raises(weft.Diagnostic, match="1 <= x_d2, not x_d2 = 0"):
        exe(np.ones((1, 1, 0, 4), np.float32))


def test_an_extent_may_be_the_lesser_of_two():
    check((None, 4), [(5,), (2,), (3,), (0,)], lambda x: [relay.strided_slice(x, [0], [3], axes=[0])])


def test_threads_share_pixels_that_several_blocks_write_for_an_open_number_of_images():
    check((None, 3, 25, 27), [(1,), (3,)], lambda x: [relay.nn.lrn(x)])
    check((None, 3, 38, 24), [(3,)], lambda x: [relay.nn.lrn(relay.nn.relu(x), size=5)])


def test_an_open_extent_that_has_to_be_a_number_is_that():
    exe = check((None, None), [(3, 4)], lambda x: [relay.add(x, weight(3, 1)) + weight(4)])
    assert [str(taken) for taken in exe.inputs] == ["x: tensor<3x4xf32>"]

    def other(rows: int) -> npt.NDArray[np.float32]:
        return np.ones((rows, 4), np.float32)

    with pytest.raises(weft.Diagnostic, match=r"input 'x' has shape \[2, 4\], the graph takes \[3, 4\]"):
        exe(other(2))


Arrays = Sequence[npt.NDArray[np.generic]]


def check_graph(graph: FuncOp, *given: Arrays) -> weft.Executable:
    exe = weft.compile(graph, threads=1)
    for arrays in given:
        (wanted,) = evaluate_function(graph, list(arrays))
        found = np.asarray(exe(*arrays))
        assert found.shape == wanted.shape
        assert_close(found, wanted)
    return exe


def floats(*shape: int) -> npt.NDArray[np.generic]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def test_there_may_be_any_number_of_grids():
    x = relay.var("x", shape=(relay.Any(), 2, 3))
    check_graph(relay.Function([x], relay.image.affine_grid(x, (4, 5))), *([floats(n, 2, 3)] for n in (1, 3, 0)))


def test_boxes_are_cut_of_images_of_any_size():
    rng = np.random.default_rng(0)
    for layout, shape in (("NCHW", (2, 3, 9, 7)), ("NHWC", (2, 9, 7, 3))):
        for extents in (shape, tuple(relay.Any() if n > 3 else n for n in shape)):
            x, boxes = relay.var("x", shape=extents), relay.var("boxes", shape=(relay.Any(), 4))
            which = relay.var("which", shape=(relay.Any(),), dtype="int32")
            y = relay.image.crop_and_resize(x, boxes, which, (4, 3), layout)
            exe = check_graph(
                relay.Function([x, boxes, which], y),
                *([floats(*shape), rng.random((n, 4), np.float32), rng.integers(0, 2, n, np.int32)] for n in (1, 5)),
            )
            with pytest.raises(weft.Diagnostic, match=r"input 'which' has shape \[2\]"):
                exe(floats(*shape), np.zeros((3, 4), np.float32), np.zeros(2, np.int32))


def test_dilation_and_offsets_of_any_images():
    x, w = relay.var("x", shape=(relay.Any(), 2, relay.Any(), 6)), relay.var("w", shape=(2, 3, 3))
    y = relay.image.dilation2d(x, w, strides=(2, 1), padding=(1, 1))
    check_graph(relay.Function([x, w], y), *([floats(n, 2, h, 6), floats(2, 3, 3)] for n, h in ((1, 5), (3, 8))))
    w = relay.var("w", shape=(3, 2, 3, 3))
    for height in (6, relay.Any()):
        x, offset = (relay.var(name, shape=(relay.Any(), n, height, 6)) for name, n in (("x", 2), ("offset", 18)))
        graph = relay.Function([x, offset, w], relay.nn.deformable_conv2d(x, offset, w, padding=(1, 1)))
        exe = check_graph(graph, *([floats(n, 2, 6, 6), floats(n, 18, 6, 6), floats(3, 2, 3, 3)] for n in (1, 2)))
        with pytest.raises(weft.Diagnostic, match="input 'offset' has shape"):
            exe(floats(1, 2, 6, 6), floats(2, 18, 6, 6), floats(3, 2, 3, 3))

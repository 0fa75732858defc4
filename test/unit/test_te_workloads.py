"""The computations that design spaces are tried on compute what NumPy does."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import te
from weft.dialects.relay.winograd import FILTERINGS
from weft.meta_schedule.testing import te_workload

Array: TypeAlias = npt.NDArray[np.float32]


def convolved(
    image: Array, weight: Array, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1
) -> Array:
    """A convolution over all dimensions of an image between its first and its last."""
    rank, kernel = image.ndim - 2, weight.shape[0]
    image = np.pad(image, [(0, 0), *[(padding, padding)] * rank, (0, 0)])
    sizes = [(size - (kernel - 1) * dilation - 1) // stride + 1 for size in image.shape[1:-1]]
    result = np.zeros((image.shape[0], *sizes, weight.shape[-1]), np.float32)
    inside, outside = weight.shape[-2], weight.shape[-1] // groups
    for at in product(range(kernel), repeat=rank):
        part = tuple(
            slice(d * dilation, d * dilation + (n - 1) * stride + 1, stride) for d, n in zip(at, sizes, strict=True)
        )
        for g in range(groups):
            channels = image[(slice(None), *part, slice(g * inside, (g + 1) * inside))]
            result[..., g * outside : (g + 1) * outside] += channels @ weight[at][:, g * outside : (g + 1) * outside]
    return result


def depthwise(image: Array, weight: Array) -> Array:
    """Each channel with each of its two factors, neighbours in the result."""
    each = [convolved(image[..., c : c + 1], weight[f, :, :, c, None, None], 1, 1) for c in range(3) for f in range(2)]
    return np.concatenate(each, axis=-1)


def transposed(image: Array, weight: Array, stride: int, padding: int) -> Array:
    """A convolution of the image with zeros between neighbours, by the kernel turned round."""
    n, h, w, c = image.shape
    apart = np.zeros((n, (h - 1) * stride + 1, (w - 1) * stride + 1, c), np.float32)
    apart[:, ::stride, ::stride] = image
    return convolved(apart, weight[::-1, ::-1], 1, weight.shape[0] - 1 - padding)


def capsules(image: Array, weight: Array) -> Array:
    """Matrices in place of the elements of an image and of the weights."""
    image = np.pad(image, [(0, 0), (1, 1), (1, 1), (0, 0), (0, 0), (0, 0)])
    h, w = ((size - 3) // 2 + 1 for size in image.shape[1:3])
    result = np.zeros((1, h, w, 2, 2, 3), np.float32)
    for y, x in product(range(3), repeat=2):
        part = image[:, y : y + 2 * h - 1 : 2, x : x + 2 * w - 1 : 2]
        result += np.einsum("nhwikr,kjrc->nhwijc", part, weight[y, x])
    return result


def normalised(data: Array, kernel: Array, bias: Array, offset: Array, scale: Array) -> Array:
    return np.maximum((convolved(data, kernel, 2, 1) + bias) * scale + offset, 0)


def filtered(padding: int) -> Callable[..., Array]:
    """A convolution by weights that are transformed before."""

    def formula(image: Array, _: Array) -> Array:
        return convolved(image, plain_weights().transpose(2, 3, 1, 0), 1, padding)

    return formula


def plain_weights() -> Array:
    return np.random.default_rng(1).uniform(-1, 1, (3, 2, 3, 3)).astype(np.float32)


def norms(a: Array) -> Array:
    return np.sqrt((a * a).sum((1, 2)))


def matmul_relu(a: Array, b: Array) -> Array:
    return np.maximum(a @ b, 0)


def softmax(a: Array) -> Array:
    powers = np.exp(a - a.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


w = te_workload
CASES: dict[str, tuple[tuple[te.Tensor, ...], Callable[..., Array]]] = {
    "C1D": (w.conv1d_nlc(1, 9, 3, 4, 3, 2, 1), partial(convolved, stride=2, padding=1)),
    "C2D": (w.conv2d_nhwc(2, 6, 7, 3, 4, 3, 1, 1), partial(convolved, padding=1)),
    "C3D": (w.conv3d_ndhwc(1, 4, 5, 6, 2, 3, 3, 2, 1), partial(convolved, stride=2, padding=1)),
    "GMM": (w.batch_matmul_nkkm(2, 3, 4, 5), np.matmul),
    "GRP": (w.group_conv2d_nhwc(1, 6, 6, 4, 6, 3, 2, 1, 1, 2), partial(convolved, stride=2, padding=1, groups=2)),
    "DIL": (w.conv2d_nhwc(1, 9, 9, 2, 3, 3, 1, 2, 2), partial(convolved, padding=2, dilation=2)),
    "DEP": (w.depthwise_conv2d_nhwc(1, 5, 6, 3, 3, 1, 1, factor=2), depthwise),
    "T2D": (w.conv2d_transpose_nhwc(1, 4, 5, 2, 3, 4, 2, 1), partial(transposed, stride=2, padding=1)),
    "T2D unaligned": (w.conv2d_transpose_nhwc(1, 4, 5, 2, 3, 4, 3, 1), partial(transposed, stride=3, padding=1)),
    "CAP": (w.conv2d_capsule_nhwijc(1, 5, 6, 2, 3, 3, 2, 1, capsule_size=2), capsules),
    "NRM": (w.norm_bmn(2, 3, 4), norms),
    "SFM": (w.softmax_mn(3, 5), softmax),
    "CBR": (w.conv2d_nhwc_bn_relu(1, 6, 6, 2, 3, 3, 2, 1), normalised),
    "TBG": (w.transpose_batch_matmul(2, 3, 2, 4), partial(np.einsum, "bihd,bjhd->bhij")),
    "WIN 2": (w.conv2d_winograd_nhwc(1, 5, 7, 2, 3, 4, tile_size=2), filtered(0)),
    "WIN 4": (w.conv2d_winograd_nhwc(2, 6, 9, 2, 3, 6, padding=1), filtered(1)),
    "dense": (w.dense(3, 4, 5), partial(np.einsum, "nk,mk->nm")),
    "matmul_relu": (w.matmul_relu(3, 4, 5), matmul_relu),
}


@pytest.mark.parametrize("name", CASES)
def test_a_workload_computes_what_numpy_does(name: str):
    tensors, formula = CASES[name]
    shapes = [list(each.shape) for each in tensors]
    random = np.random.default_rng(0)
    arrays = [random.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    if name.startswith("WIN"):
        filtering = FILTERINGS[2 if name == "WIN 2" else 4]
        arrays[1] = cast(Array, filtering.transform_weight(plain_weights()))
    weft.build(te.create_prim_func(list(tensors)))(*arrays)
    np.testing.assert_allclose(arrays[-1], formula(*arrays[:-1]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", te_workload.CONFIGS)
def test_each_size_of_a_workload_makes_a_function(name: str):
    for number in range(len(te_workload.CONFIGS[name][1])):
        assert te_workload.create_te_workload(name, number).sym_name.data == "main"


def test_a_filtering_that_there_is_not_is_refused():
    with pytest.raises(weft.ArgumentError, match="no filtering"):
        te_workload.conv2d_winograd_nhwc(1, 14, 14, 8, 8, 3)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: te_workload.group_conv2d_nhwc(1, 4, 4, 3, 4, 3, groups=2), "3 and 4 channels do not divide"),
        (lambda: te_workload.conv2d_nhwc(1, 4, 4, 2, 2, 3, groups=0), "'groups' is a positive number"),
        (lambda: te_workload.conv1d_nlc(1, 4, 2, 2, 3, stride=0), "'stride' is a positive number"),
        (lambda: te_workload.conv2d_transpose_nhwc(1, 4, 4, 2, 2, 3, stride=0), "'stride' is a positive number"),
        (lambda: te_workload.depthwise_conv2d_nhwc(1, 4, 4, 2, 3, factor=0), "'factor' is a positive number"),
        (lambda: te_workload.conv2d_nhwc(1, 4, cast("int", "4"), 2, 2, 3), "'W' of conv2d_nhwc is an int"),
    ],
)
def test_sizes_that_make_no_convolution_are_refused(make: Callable[[], object], why: str):
    with pytest.raises(weft.ArgumentError, match=why):
        make()


@pytest.mark.parametrize(("name", "number"), [("C9D", 0), ("NRM", 3), ("NRM", -1)])
def test_a_workload_that_there_is_not_is_refused(name: str, number: int):
    with pytest.raises(weft.ArgumentError, match=r"there is no workload|has 3 sizes"):
        te_workload.create_te_workload(name, number)

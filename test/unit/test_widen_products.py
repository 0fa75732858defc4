"""Products of 16-bit floats that are computed with 32 bits give what they give with 16, and sums in 32."""

import ml_dtypes
import numpy as np
import pytest

import weft
from weft import relay
from weft.lowering.machine.target import Target
from weft.lowering.phases import graph as passes_on_graphs
from weft.transforms.relay.widen_products import WidenProductsPass

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["dense", "conv2d", "conv2d_transpose", "batch_matmul"])
def test_numbers_are_the_same(dtype: str, kind: str) -> None:
    """Also where sums overflow: rounding comes last."""
    rng = np.random.default_rng(0)
    shapes = {"dense": ((7, 33), (17, 33)), "batch_matmul": ((2, 7, 33), (2, 17, 33))}
    first, second = shapes.get(kind, ((2, 5, 9, 11), (5, 6, 2, 2) if kind == "conv2d_transpose" else (6, 5, 2, 2)))
    x, w = (rng.normal(0, 1, shape).astype(DTYPES[dtype]) for shape in (first, second))
    x[0, 0], w[0, 0] = 60000, 60000
    data = relay.var("x", shape=first, dtype=dtype)
    kernel = {"kernel_size": (2, 2), "channels": 6} if kind.startswith("conv") else {}
    function = getattr(relay.nn, kind)
    graph = relay.Function([data], function(data, relay.const(w), **kernel))
    with weft.transform.PassContext(opt_level=3, disabled_pass=["widen-products"]):
        expected = weft.compile(graph)
    exe = weft.compile(graph)
    assert 'dtype = "float32"' in str(exe.ir["graph"])
    assert 'dtype = "float32"' not in str(expected.ir["graph"])
    np.testing.assert_array_equal(exe(x), expected(x))
    assert dtype == "bfloat16" or np.isinf(exe(x)).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_summed_in_64_bits_stays(dtype: str) -> None:
    """A sum in 32 bits loses what is a 2^28th part of it."""
    x, w = (np.full(shape, 2.0**6, DTYPES[dtype]) for shape in ((8, 257), (9, 257)))
    x[:, 1:], w[:, 1:] = 2.0**-8, 2.0**-8
    data, weight = (relay.var(name, shape=value.shape, dtype=dtype) for name, value in (("x", x), ("w", w)))
    graph = relay.Function([data, weight], relay.nn.dense(data, weight, out_dtype="float64"))
    expected = x.astype(np.float64) @ w.astype(np.float64).T
    np.testing.assert_array_equal(weft.compile(graph)(x, w), expected)


@pytest.mark.parametrize(
    ("cpu", "wide"), [("haswell", ["f16", "bf16"]), ("znver4", ["f16"]), ("sapphirerapids", ["f16"])]
)
def test_what_the_processor_multiplies_itself_stays(cpu: str, wide: list[str]) -> None:
    x, y = (relay.var(name, shape=(16, 64), dtype=dtype) for name, dtype in (("x", "float16"), ("y", "bfloat16")))
    weights = [relay.const(np.ones((32, 64), DTYPES[dtype])) for dtype in DTYPES]
    products = [relay.nn.dense(data, weight) for data, weight in zip((x, y), weights, strict=True)]
    exe = weft.compile(relay.Function([x, y], relay.Tuple(products)), target=f"llvm -mcpu={cpu}")
    text = str(exe.ir["graph"])
    found = [element for element in ("f16", "bf16") if f"(tensor<16x64x{element}>) -> tensor<16x64xf32>" in text]
    assert found == wide


@pytest.mark.parametrize(
    ("target", "types"),
    [("c -mcpu=znver4", [("float16", "bfloat16")]), ("llvm -mcpu=znver4", [("float16",)]), ("cuda", [])],
)
def test_c_cannot_say_what_the_processor_multiplies_itself(target: str, types: list[tuple[str, ...]]) -> None:
    """And a GPU has its own rules."""
    passes = passes_on_graphs(Target.parse(target))
    assert [each.types for each in passes if isinstance(each, WidenProductsPass)] == types

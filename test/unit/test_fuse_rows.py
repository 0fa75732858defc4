"""`fuse-ops{strategy=weft}`: which chains of reductions become one kernel, why others do not, and what they compute."""

from __future__ import annotations

import re

import numpy as np
import pytest
from evaluate import NDArray, functions
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.relay.core import PrimitiveOp, YieldOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.support.parser import parse_module
from weft.transforms.infra import PassContext, remarks
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.fuse_ops import FuseOpsPass

pytestmark = pytest.mark.sampled(5)


def module_of(text: str) -> ModuleOp:
    return parse_module(text, new_ir_context(), "m.mlir")


def kernels(text: str, strategy: str = "weft", max_depth: int = 256) -> list[str]:
    """The names of the operators of each kernel."""
    fused = FuseOpsPass(strategy=strategy, max_depth=max_depth)(module_of(text))
    return [
        " ".join(inner.name.removeprefix("relay.") for inner in op.body.block.ops if not isinstance(inner, YieldOp))
        for op in fused.walk()
        if isinstance(op, PrimitiveOp)
    ]


def remarks_of(text: str) -> list[str]:
    """What the pass says of operators that it does not fuse."""
    with remarks.collect() as found:
        FuseOpsPass()(module_of(text))
    return [remark.message for remark in found if remark.pass_name == "fuse-ops"]


def softmax_of_scaled(rows: int, columns: int | str, element: str = "f32") -> str:
    t = f"tensor<{rows}x{columns}x{element}>"
    return f"""relay.func @main(%x: {t}, %m: {t}) -> {t} {{
      %c = relay.constant dense<0.5> : tensor<{element}>
      %0 = relay.multiply %x, %c : ({t}, tensor<{element}>) -> {t}
      %1 = relay.add %0, %m : ({t}, {t}) -> {t}
      %2 = relay.nn.softmax %1 {{axis = 1 : i64}} : {t}
      %3 = relay.tanh %2 : {t}
      relay.return %3 : {t}
    }}"""


def layer_norm(rows: int | str, columns: int) -> str:
    t, m, v = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}x1xf32>", f"tensor<{columns}xf32>"
    return f"""relay.func @main(%x: {t}, %r: {t}, %g: {v}, %b: {v}) -> {t} {{
      %0 = relay.add %x, %r : ({t}, {t}) -> {t}
      %1 = relay.mean %0 {{axis = array<i64: 1>, keepdims = true}} : ({t}) -> {m}
      %2 = relay.variance %0, %1 {{axis = array<i64: 1>, keepdims = true}} : ({t}, {m}) -> {m}
      %3 = relay.subtract %0, %1 : ({t}, {m}) -> {t}
      %e = relay.constant dense<1.0e-05> : tensor<f32>
      %4 = relay.add %2, %e : ({m}, tensor<f32>) -> {m}
      %5 = relay.rsqrt %4 : {m}
      %6 = relay.multiply %3, %5 : ({t}, {m}) -> {t}
      %7 = relay.multiply %6, %g : ({t}, {v}) -> {t}
      %8 = relay.add %7, %b : ({t}, {v}) -> {t}
      relay.return %8 : {t}
    }}"""


def attention(batch: int, heads: int, queries: int, keys: int, size: int, element: str = "f32") -> str:
    """With the heads side by side in a row, as products give and take them; keys are given transposed."""
    b, wide = batch * heads, heads * size
    row, q4, q = (
        f"tensor<{s}x{element}>"
        for s in (f"{batch * queries}x{wide}", f"{batch}x{queries}x{heads}x{size}", f"{b}x{queries}x{size}")
    )
    v_row, v4, v = (
        f"tensor<{s}x{element}>"
        for s in (f"{batch * keys}x{wide}", f"{batch}x{keys}x{heads}x{size}", f"{b}x{keys}x{size}")
    )
    q5, v5 = f"tensor<{batch}x{heads}x{queries}x{size}x{element}>", f"tensor<{batch}x{heads}x{keys}x{size}x{element}>"
    k, s = f"tensor<{b}x{size}x{keys}x{element}>", f"tensor<{b}x{queries}x{keys}x{element}>"
    m = f"tensor<1x1x{keys}x{element}>"
    swap = "{axes = array<i64: 0, 2, 1, 3>}"
    return f"""relay.func @main(%q: {row}, %k: {k}, %v: {v_row}, %m: {m}) -> {row} {{
      %q0 = relay.reshape %q {{newshape = array<i64: {batch}, {queries}, {heads}, {size}>}} : ({row}) -> {q4}
      %q1 = relay.transpose %q0 {swap} : ({q4}) -> {q5}
      %q2 = relay.reshape %q1 {{newshape = array<i64: {b}, {queries}, {size}>}} : ({q5}) -> {q}
      %s0 = relay.nn.batch_matmul %q2, %k {{transpose_b = false}} : ({q}, {k}) -> {s}
      %c = relay.constant dense<0.25> : tensor<{element}>
      %s1 = relay.multiply %s0, %c : ({s}, tensor<{element}>) -> {s}
      %s2 = relay.add %s1, %m : ({s}, {m}) -> {s}
      %p = relay.nn.softmax %s2 {{axis = 2 : i64}} : {s}
      %v0 = relay.reshape %v {{newshape = array<i64: {batch}, {keys}, {heads}, {size}>}} : ({v_row}) -> {v4}
      %v1 = relay.transpose %v0 {swap} : ({v4}) -> {v5}
      %v2 = relay.reshape %v1 {{newshape = array<i64: {b}, {keys}, {size}>}} : ({v5}) -> {v}
      %o0 = relay.nn.batch_matmul %p, %v2 {{transpose_b = false}} : ({s}, {v}) -> {q}
      %o1 = relay.reshape %o0 {{newshape = array<i64: {batch}, {heads}, {queries}, {size}>}} : ({q}) -> {q5}
      %o2 = relay.transpose %o1 {swap} : ({q5}) -> {q4}
      %o3 = relay.reshape %o2 {{newshape = array<i64: {batch * queries}, {wide}>}} : ({q4}) -> {row}
      relay.return %o3 : {row}
    }}"""


def assert_same(text: str, *inputs: NDArray, rtol: float = 2e-5, atol: float = 2e-6, threads: int = 1) -> str:
    """Machine code and the interpreter agree; gives what was scheduled."""
    expected = evaluate_function(functions(module_of(text))["main"], list(inputs))[0]
    exe = weft.compile(module_of(text), threads=threads)
    actual = np.asarray(exe(*inputs))
    np.testing.assert_allclose(actual.astype("f8"), expected.astype("f8"), rtol=rtol, atol=atol)
    return exe.ir["schedule"]


def arrays(text: str, seed: int = 0) -> list[NDArray]:
    """Normally distributed inputs of @main."""
    rng = np.random.default_rng(seed)
    types = re.findall(r"%\w+: tensor<([\dx]+)xf(\d+)>", text[: text.index("->")])
    return [rng.standard_normal([*map(int, dims.split("x"))]).astype(f"f{int(bits) // 8}") for dims, bits in types]


def test_scale_mask_softmax_and_what_follows_is_one_kernel() -> None:
    text = softmax_of_scaled(32, 50)
    assert kernels(text) == ["constant multiply add nn.softmax tanh"]
    assert kernels(text, "tvm") == ["constant multiply add", "nn.softmax tanh"]


def test_a_layer_norm_is_one_kernel() -> None:
    text = layer_norm(32, 50)
    assert kernels(text) == ["add mean subtract variance constant add rsqrt multiply multiply add"]
    assert len(kernels(text, "tvm")) == 4


def layer_norm_of_halves(rows: int | str, columns: int, function: str = "") -> str:
    """Statistics in f32, of which the scale and the shift are cast to; the scale goes through a function before."""
    h, t = f"tensor<{rows}x{columns}xf16>", f"tensor<{rows}x{columns}xf32>"
    m, g, v = f"tensor<{rows}x1xf32>", f"tensor<{columns}xf16>", f"tensor<{columns}xf32>"
    cast = '{dtype = "float32"}'
    of_scale = f"%7 = relay.{function} %6 : {v}" if function else ""
    return f"""relay.func @main(%x: {h}, %g: {g}, %b: {g}) -> {h} {{
      %0 = relay.cast %x {cast} : ({h}) -> {t}
      %1 = relay.mean %0 {{axis = array<i64: 1>, keepdims = true}} : ({t}) -> {m}
      %2 = relay.variance %0, %1 {{axis = array<i64: 1>, keepdims = true}} : ({t}, {m}) -> {m}
      %3 = relay.subtract %0, %1 : ({t}, {m}) -> {t}
      %4 = relay.rsqrt %2 : {m}
      %5 = relay.multiply %3, %4 : ({t}, {m}) -> {t}
      %6 = relay.cast %g {cast} : ({g}) -> {v}
      {of_scale}
      %8 = relay.multiply %5, {"%7" if function else "%6"} : ({t}, {v}) -> {t}
      %9 = relay.cast %b {cast} : ({g}) -> {v}
      %10 = relay.add %8, %9 : ({t}, {v}) -> {t}
      %11 = relay.cast %10 {{dtype = "float16"}} : ({t}) -> {h}
      relay.return %11 : {h}
    }}"""


def test_a_layer_norm_of_halves_is_one_kernel_with_statistics_in_single() -> None:
    text = layer_norm_of_halves(32, 50)
    assert kernels(text) == ["cast mean subtract variance rsqrt multiply cast multiply cast add cast"]
    assert_same(text, *arrays(text), rtol=2e-3, atol=2e-3)
    assert len(kernels(layer_norm_of_halves(32, 50, "negative"))) == 1


def test_what_costs_something_is_not_computed_again_for_every_row() -> None:
    assert len(kernels(layer_norm_of_halves(32, 50, "exp"))) > 1


def test_rows_of_open_number_and_length_are_fused() -> None:
    assert len(kernels(layer_norm("?", 50))) == 1
    text = softmax_of_scaled(32, "?")
    assert kernels(text) == ["constant multiply add nn.softmax tanh"]


def test_attention_is_one_kernel_with_what_moves_its_rows() -> None:
    text = attention(2, 3, 20, 24, 16)
    assert len(kernels(text)) == 1
    assert len(kernels(text, "tvm")) == 6


def test_heads_that_are_joined_without_a_move_stay_rows() -> None:
    """Where heads share keys, their rows stand in order already: a reshape joins them, and costs nothing alone."""
    q, k, v, s, y = (f"tensor<{shape}xf32>" for shape in ("2x4x16", "2x16x33", "2x33x16", "2x4x33", "1x1x128"))
    text = f"""relay.func @main(%q: {q}, %k: {k}, %v: {v}) -> {y} {{
      %0 = relay.nn.batch_matmul %q, %k {{transpose_b = false}} : ({q}, {k}) -> {s}
      %1 = relay.nn.softmax %0 {{axis = 2 : i64}} : {s}
      %2 = relay.nn.batch_matmul %1, %v {{transpose_b = false}} : ({s}, {v}) -> {q}
      %3 = relay.reshape %2 {{newshape = array<i64: 1, 1, 128>}} : ({q}) -> {y}
      relay.return %3 : {y}
    }}"""
    assert kernels(text) == ["nn.batch_matmul nn.softmax nn.batch_matmul", "reshape"]
    assert_same(text, *arrays(text))


def test_a_mask_for_each_sequence_is_taken_into_attention() -> None:
    text = attention(2, 3, 20, 24, 16)
    batch = text.replace("%m: tensor<1x1x24xf32>", "%m: tensor<2x1x24xf32>").replace(
        "%s2 = relay.add %s1, %m : (tensor<6x20x24xf32>, tensor<1x1x24xf32>)",
        """%each = relay.repeat %m {repeats = 3 : i64, axis = 0 : i64} : (tensor<2x1x24xf32>) -> tensor<6x1x24xf32>
      %s2 = relay.add %s1, %each : (tensor<6x20x24xf32>, tensor<6x1x24xf32>)""",
    )
    assert batch.count("%each") == 2 and len(kernels(batch)) == 1
    assert_same(batch, *arrays(batch))


def test_a_product_with_transposed_factors_says_why_it_stays_alone() -> None:
    s = "tensor<2x20x20xf32>"
    text = f"""relay.func @main(%x: {s}, %y: {s}) -> {s} {{
      %0 = relay.nn.batch_matmul %x, %y : ({s}, {s}) -> {s}
      %1 = relay.nn.softmax %0 {{axis = 2 : i64}} : {s}
      relay.return %1 : {s}
    }}"""
    assert kernels(text) == ["nn.batch_matmul", "nn.softmax"]
    assert "a product reads a factor across its rows" in remarks_of(text)[0]
    assert kernels(text.replace("%y :", "%y {transpose_b = false} :")) == ["nn.batch_matmul nn.softmax"]


@pytest.mark.parametrize(("permutation", "is_fused"), [("1, 0, 2", True), ("0, 2, 1", False)])
def test_rows_that_lie_across_what_is_transposed_are_not_read_there(permutation: str, is_fused: bool) -> None:
    t = "tensor<32x32x32xf32>"
    text = f"""relay.func @main(%x: {t}) -> {t} {{
      %0 = relay.transpose %x {{axes = array<i64: {permutation}>}} : ({t}) -> {t}
      %1 = relay.nn.softmax %0 {{axis = 2 : i64}} : {t}
      relay.return %1 : {t}
    }}"""
    assert kernels(text) == (["transpose nn.softmax"] if is_fused else ["transpose", "nn.softmax"])
    assert is_fused or "reads its elements in another order" in remarks_of(text)[0]


@pytest.mark.parametrize("of_rows", ["relay.sigmoid", "relay.nn.relu"])
def test_numbers_of_many_rows_are_computed_in_vectors_and_not_with_their_rows(of_rows: str) -> None:
    def text(rows: int) -> str:
        m = f"tensor<{rows}x1xf32>"
        return f"""relay.func @main(%x: tensor<{rows}x64xf32>) -> {m} {{
          %0 = relay.max %x {{axis = array<i64: 1>, keepdims = true}} : (tensor<{rows}x64xf32>) -> {m}
          %1 = {of_rows} %0 : {m}
          relay.return %1 : {m}
        }}"""

    assert kernels(text(4096)) == ["max", of_rows.removeprefix("relay.")]
    assert len(kernels(text(4))) == 1


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (17, 197)])
def test_rows_of_odd_sizes_are_computed(rows: int, columns: int) -> None:
    for text in (softmax_of_scaled(rows, columns), layer_norm(rows, columns)):
        assert_same(text, *arrays(text))


@pytest.mark.parametrize(
    ("batch", "heads", "queries", "keys", "size"), [(2, 2, 16, 20, 20), (3, 1, 9, 5, 4), (1, 2, 1, 33, 8)]
)
def test_attention_of_odd_sizes_is_computed(batch: int, heads: int, queries: int, keys: int, size: int) -> None:
    text = attention(batch, heads, queries, keys, size)
    assert_same(text, *arrays(text), threads=2)


def test_attention_of_halves_is_computed() -> None:
    text = attention(1, 2, 9, 16, 16, "f16")
    assert_same(text, *arrays(text), rtol=4e-3, atol=2e-3)


def test_scores_of_a_tile_of_rows_are_all_there_is() -> None:
    """Memory is linear in the number of keys: no buffer outside of the loop over tiles holds scores."""
    text = attention(1, 3, 19, 37, 16)
    scheduled = assert_same(text, *arrays(text), threads=2)
    assert 'alloc_buffer "global"' not in scheduled
    assert 'alloc_buffer "local"' in scheduled


def test_masked_rows_and_nan_stay_in_their_rows() -> None:
    text = softmax_of_scaled(16, 37)
    x, mask = arrays(text)
    mask[3] = -np.inf
    mask[5, 7:] = -np.inf
    x[9, 2] = np.nan
    exe = weft.compile(module_of(text), threads=1)
    result = np.asarray(exe(x, mask))
    assert np.isnan(result[[3, 9]]).all()
    assert not np.isnan(np.delete(result, [3, 9], axis=0)).any()
    assert (result[5, 7:] == 0).all()


def test_no_rows_at_all_are_computed() -> None:
    text = softmax_of_scaled(0, 5)
    assert np.asarray(weft.compile(module_of(text), threads=1)(*arrays(text))).shape == (0, 5)


def test_a_value_that_is_used_elsewhere_stays_a_result() -> None:
    t = "tensor<32x8xf32>"
    text = f"""relay.func @main(%x: {t}) -> ({t}, {t}) {{
      %0 = relay.add %x, %x : ({t}, {t}) -> {t}
      %1 = relay.nn.softmax %0 {{axis = 1 : i64}} : {t}
      relay.return %0, %1 : {t}, {t}
    }}"""
    assert kernels(text) == ["add nn.softmax"]
    (kernel,) = (op for op in FuseOpsPass()(module_of(text)).walk() if isinstance(op, PrimitiveOp))
    assert len(kernel.results) == 2


def test_few_long_rows_are_not_fused() -> None:
    assert len(kernels(layer_norm(4, 2000))) == 4
    long_rows = kernels(layer_norm(64, 20000))  # the sum stays apart; both numbers of its rows are found in one kernel
    assert long_rows == ["add", "mean variance", "subtract constant add rsqrt multiply multiply add"]


def test_the_depth_limits_chains_too() -> None:
    assert max(len(kernel.split()) for kernel in kernels(layer_norm(32, 50), max_depth=5)) <= 5


def test_a_sum_of_columns_is_not_computed_row_by_row() -> None:
    text = """relay.func @main(%x: tensor<64x32xf32>) -> tensor<32xf32> {
      %0 = relay.sum %x {axis = array<i64: 0>} : (tensor<64x32xf32>) -> tensor<32xf32>
      %1 = relay.nn.softmax %0 {axis = 0 : i64} : tensor<32xf32>
      relay.return %1 : tensor<32xf32>
    }"""
    assert kernels(text) == ["sum", "nn.softmax"]


def test_the_strategy_can_be_chosen_where_a_model_is_compiled() -> None:
    with PassContext(config={"fuse-ops.strategy": "tvm"}):
        exe = weft.compile(module_of(softmax_of_scaled(32, 50)), threads=1)
    assert exe.ir["fuse"].count("relay.call ") == 2


def test_a_strategy_that_there_is_not_is_refused() -> None:
    with pytest.raises((ValueError, UsageError), match="there is no strategy 'weftt'"):
        FuseOpsPass(strategy="weftt")


def before_softmax(function: str, rows: int, columns: int) -> str:
    t = f"tensor<{rows}x{columns}xf32>"
    return f"""relay.func @main(%x: {t}) -> {t} {{
      %0 = relay.{function} %x : {t}
      %1 = relay.nn.softmax %0 {{axis = 1 : i64}} : {t}
      relay.return %1 : {t}
    }}"""


WAITING = "not fused into its users: to wait for functions in each row would cost more than it saves"


def test_functions_are_not_begun_anew_in_each_of_many_short_rows() -> None:
    fuse = FuseOpsPass(vector_bytes=64)
    with remarks.collect() as found:
        fused = fuse(module_of(before_softmax("erf", 256, 64)))
    assert sum(isinstance(op, PrimitiveOp) for op in fused.walk()) == 2
    assert [remark.message for remark in found if remark.message.startswith(WAITING)]


@pytest.mark.parametrize(("function", "rows", "columns"), [("erf", 512, 1024), ("negative", 256, 64)])
def test_they_are_where_rows_are_long_and_what_costs_nothing_is_in_any(function: str, rows: int, columns: int) -> None:
    fused = FuseOpsPass(vector_bytes=64)(module_of(before_softmax(function, rows, columns)))
    assert sum(isinstance(op, PrimitiveOp) for op in fused.walk()) == 1


def two_softmaxes(rows: int, columns: int) -> str:
    t = f"tensor<{rows}x{columns}xf32>"
    return f"""relay.func @main(%x: {t}) -> {t} {{
      %0 = relay.nn.softmax %x {{axis = 1 : i64}} : {t}
      %1 = relay.nn.softmax %0 {{axis = 1 : i64}} : {t}
      relay.return %1 : {t}
    }}"""


@pytest.mark.parametrize(("columns", "count"), [(64, 2), (1024, 1)])
def test_a_row_of_one_softmax_waits_for_that_of_another(columns: int, count: int) -> None:
    fused = FuseOpsPass(vector_bytes=64)(module_of(two_softmaxes(128, columns)))
    assert sum(isinstance(op, PrimitiveOp) for op in fused.walk()) == count


def test_rows_that_come_out_of_a_tuple_are_computed() -> None:
    """What reads the tuple stands before a chain of rows; others read the tuple as well."""
    parts, t = f"tuple<{', '.join(['tensor<16xf32>'] * 8)}>", "tensor<8x16xf32>"
    text = f"""relay.func @main(%x: tensor<128xf32>) -> ({t}, tensor<16xf32>) {{
      %0 = relay.split %x {{indices_or_sections = 8 : i64}} : (tensor<128xf32>) -> {parts}
      %1 = relay.stack %0 : ({parts}) -> {t}
      %2 = relay.abs %1 : {t}
      %3 = relay.nn.softmax %2 : {t}
      %4 = relay.sigmoid %3 : {t}
      %5 = relay.tuple_get %0[7] : {parts} -> tensor<16xf32>
      relay.return %4, %5 : {t}, tensor<16xf32>
    }}"""
    assert "stack abs nn.softmax sigmoid" in kernels(text)
    (x,) = arrays(text)
    found, last = weft.compile(module_of(text), threads=1)(x)
    expected, _ = evaluate_function(functions(module_of(text))["main"], [x])
    np.testing.assert_allclose(np.asarray(found, "f8"), expected.astype("f8"), rtol=2e-5, atol=2e-6)
    np.testing.assert_array_equal(np.asarray(last), x[112:])

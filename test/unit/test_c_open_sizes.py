"""The target `c` at extents that are known when a graph is called: strict C, equal to the target `llvm`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay, te
from weft.dialects.support import knobs
from weft.lowering.compiler import lower
from weft.lowering.loops_to_c.compile import NoCompilerError, cached_c, compile_c_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable

NDArray = npt.NDArray[Any]
OPEN = relay.Any()
pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) on this machine"),
    pytest.mark.sampled(5),
]


def floats(*shape: int) -> NDArray:
    return np.asarray(np.random.default_rng(0).standard_normal(shape), np.float32)


def rows() -> Any:
    """Kernels, a copy of as many elements as a call says, and constants."""
    x, y = relay.var("x", shape=(OPEN, 16)), relay.var("y", shape=(OPEN, 8))
    product = relay.nn.dense(x, relay.const(floats(8, 16)))
    return relay.Function([x, y], relay.Tuple([relay.add(product, y), relay.concatenate([product, y], 0)]))


def images() -> Any:
    x, w = relay.var("x", shape=(OPEN, OPEN, OPEN, OPEN)), relay.var("w", shape=(8, OPEN, 3, 3))
    return relay.Function([x, w], relay.nn.max_pool2d(relay.nn.conv2d(x, w, padding=(1, 1)), (2, 2), (2, 2)))


def places() -> Any:
    """How many there are, data decides."""
    x = relay.var("x", shape=(OPEN, 3))
    found = relay.argwhere(relay.nn.relu(x))
    return relay.Function([x], relay.Tuple([found, relay.exp(relay.cast(found, "float32"))]))


def told() -> Any:
    """An input says a shape."""
    x, s = relay.var("x", shape=(OPEN, 6)), relay.var("s", shape=(2,), dtype="int32")
    return relay.Function([x, s], relay.exp(relay.dyn.reshape(relay.negative(x), s)))


@pytest.mark.parametrize(
    "graph, calls",
    [
        (rows, [(floats(n, 16), floats(n, 8)) for n in (0, 1, 7, 64)]),
        (images, [(floats(n, c, h, h + 1), floats(8, c, 3, 3)) for n, c, h in ((0, 1, 4), (1, 3, 2), (2, 17, 9))]),
        (places, [(floats(n, 3),) for n in (0, 1, 40)]),
        (told, [(floats(n, 6), np.array(s, np.int32)) for n, s in ((1, (2, 3)), (4, (8, 3)), (0, (0, 5)))]),
    ],
)
def test_c_computes_at_every_size_what_machine_code_does(graph: Callable[[], Any], calls: list[Any]) -> None:
    target = Target.parse("c")
    module = relay.IRModule.from_expr(graph())
    lower(module, target, "loops")
    exe = Executable(compile_c_graph(module, target, 1, ("-Wall", "-Wextra", "-Werror")))
    meant = weft.compile(graph())
    for threads in (1, 2):
        exe.threads = threads
        for arrays in calls:
            found, wanted = exe(*arrays), meant(*arrays)
            pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
            for got, want in pairs:
                assert got.shape == np.shape(want)
                assert np.allclose(got, want, rtol=1e-4, atol=1e-5)


def products() -> tuple[te.Schedule, list[te.Tensor]]:
    """A product of any sizes, tiled, with a row of partial sums that a call brings memory for."""
    n, k = te.var("n"), te.var("k")
    a, b = te.placeholder((n, k), name="a"), te.placeholder((k, 24), name="b")
    along = te.reduce_axis((0, k), name="along")
    c = te.compute((n, 24), lambda i, j: te.sum(a[i, along] * b[along, j], axis=along), name="c")
    d = te.compute((n, 24), lambda i, j: te.exp(c[i, j] * 0.1), name="d")
    s = te.create_schedule(d.op)
    outer, _ = s[d].split(d.op.axis[0], factor=4)
    s[d].parallel(outer)
    s[d].vectorize(s[d].split(d.op.axis[1], factor=8)[1])
    s[c].compute_at(s[d], outer)
    return s, [a, b, d]


def test_functions_of_open_extents_are_built() -> None:
    s, tensors = products()
    built = weft.build(s, tensors, target="c", name="product", threads=2)
    text = built.get_source()
    assert "void product(const float *a, const float *b, float *d, int64_t n, int64_t k" in " ".join(text.split())
    for n, k in ((0, 3), (1, 1), (9, 5), (32, 0), (33, 64)):
        a, b = floats(n, k), floats(k, 24)
        d = np.empty((n, 24), np.float32)
        built(a, b, d)
        np.testing.assert_allclose(d, np.exp(a @ b * 0.1), rtol=1e-5, atol=1e-6)
    assert cached_c(text, Target.parse("c").resolved(), flags=("-Wall", "-Wextra", "-Werror"))
    assert built.time_evaluator("product", number=1)(a, b, d).mean > 0


def test_half_floats_of_open_extents_are_converted() -> None:
    n = te.var("n")
    a = te.placeholder((n,), "float16", name="a")
    b = te.compute((n,), lambda i: (a[i].astype("float32") * 3.0).astype("float16"), name="b")
    built = weft.build(te.create_schedule(b.op), [a, b], target="c")
    x, y = floats(7).astype(np.float16), np.empty(7, np.float16)
    built(x, y)
    np.testing.assert_array_equal(y, (x.astype(np.float32) * 3).astype(np.float16))


def test_an_extent_of_any_name_is_itself_within_loops_over_lanes() -> None:
    m, n = te.var("l"), te.var("lane")
    x, w = relay.var("x", shape=(2, m, n)), relay.var("w", shape=(2, n, m))
    exe: Any = weft.compile(
        relay.Function([x, w], relay.nn.batch_matmul(relay.nn.softmax(x), w, transpose_b=False)), "c"
    )
    a, b = floats(2, 7, 21), floats(2, 21, 7)
    exponentials = np.exp(a)
    rows = exponentials / exponentials.sum(-1, keepdims=True)
    np.testing.assert_allclose(exe(a, b), rows @ b, rtol=1e-5, atol=1e-5)


def test_without_a_compiler_there_is_the_source_of_open_extents_and_a_reason() -> None:
    s, tensors = products()
    with knobs.CC.set("no-such-compiler-anywhere"):
        built = weft.build(s, tensors, target="c")
        assert "_run(const int64_t *table" in built.get_source()
        with pytest.raises(NoCompilerError, match="'no-such-compiler-anywhere' cannot be run"):
            built(floats(2, 2), floats(2, 24), floats(2, 24))

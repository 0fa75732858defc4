"""The target `c` at extents that are known when a graph is called: strict C, equal to the target `llvm`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.lowering.compiler import lower
from weft.lowering.loops_to_c.compile import compile_c_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable

NDArray = npt.NDArray[Any]
OPEN = relay.Any()
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) on this machine")


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

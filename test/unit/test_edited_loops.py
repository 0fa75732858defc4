"""Loops that were edited by hand: what would read or write memory of others is refused at its place."""

from __future__ import annotations

import re

import numpy as np
import pytest
from native import parse

import weft
from weft import PassContext
from weft.dialects.support.diagnostics import Diagnostic

pytestmark = pytest.mark.sampled(2)

GRAPH = """relay.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = relay.exp %x : tensor<64x64xf32>
  %s = relay.nn.softmax %y : tensor<64x64xf32>
  relay.return %s : tensor<64x64xf32>
}"""


@pytest.fixture(scope="module")
def loops() -> str:
    with PassContext(config={"fuse-ops.strategy": "tvm"}):  # of several kernels
        return weft.compile(parse(GRAPH), threads=1).ir["loops"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weft.counter_bytes = 256", "weft.counter_bytes = 0", "the slots do not end within the 0 bytes of counters"),
        ("weft.counter_bytes = 256", "weft.counter_bytes = 99999", "outside of the arena"),
        ("weft.counter_bytes = 256 : i64", "weft.counter_bytes = 256 : index", "256 : index, and no number of bytes"),
        ("memref<16640xi8>", "memref<1024xi8>", "the view ends at byte 16640, outside"),
        ("constant 256 : index\n    %y", "constant 100000 : index\n    %y", "the view ends at byte 116384, outside"),
        (
            "constant 256 : index\n    %y",
            "constant 0 : index\n    %y",
            "the view begins at byte 0, among the 256 bytes of counters",
        ),
        ("%arena[128]", "%arena[512]", "the slots do not end within the 256 bytes of counters"),
        ('"x", type = tensor<64x64xf32>', '"x", type = tensor<64x32xf32>', "argument 0 is memref<4096xf32>, but is"),
        (
            '"out", type = tensor<64x64xf32>',
            '"out", type = tensor<64x65xf32>',
            "argument 1 is memref<4096xf32>, but",
        ),
    ],
)
def test_memory_that_an_edited_graph_does_not_have_is_not_used(loops: str, old: str, new: str, message: str) -> None:
    assert old in loops
    with pytest.raises(Diagnostic, match=message):
        weft.compile(parse(loops.replace(old, new)), threads=1, phase="loops")


def test_an_edited_loop_that_leaves_a_buffer_is_refused(loops: str) -> None:
    constant = r"(@fused_exp\.nest_0.*?%c)(4096|64)( = arith\.constant )(4096|64)"
    edited = re.sub(constant, r"\g<1>\2\g<3>9999", loops, count=1, flags=re.S)
    assert edited != loops
    with pytest.raises(Diagnostic, match=r"of dimension 0 of %\w+, whose extent is 4096, lies? outside, in iteration"):
        weft.compile(parse(edited), threads=1, phase="loops")


GATHER = """relay.func @main(%x: tensor<8x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %y = relay.take %x, %i {axis = 0 : i64} : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %z = relay.exp %y : tensor<3x4xf32>
  relay.return %z : tensor<3x4xf32>
}"""


def test_an_index_of_edited_loops_that_is_data_is_checked_when_it_runs() -> None:
    """The kernel had no check, and no record: its index was clipped."""
    text = weft.compile(parse(GATHER), threads=1).ir["loops"]
    clipped = re.search(r"(%\w+) = arith\.minsi (%\w+), .*\n *(%\w+) = arith\.maxsi \1, ", text)
    assert clipped is not None and "rt.check" not in text
    edited = text.replace(f"arith.muli {clipped[3]},", f"arith.muli {clipped[2]},")
    assert edited != text
    with weft.PassContext(config={"tir.bounds-checks": True}):
        executable = weft.compile(parse(edited), phase="loops")
    x = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)
    for threads in (1, 2):
        executable.threads = threads
        given = np.asarray(executable(x, np.array([0, 7, 3]))).astype(np.float64)
        np.testing.assert_allclose(given, np.exp(x[[0, 7, 3]]), rtol=1e-6)
        with pytest.raises(weft.CheckError, match="lies outside of dimension 0 of %p0, whose extent is 32"):
            executable(x, np.array([0, 1 << 40, 3]))
        with pytest.raises(weft.CheckError, match="elements from index -4 on lies outside"):
            executable(x, np.array([0, -1, 3]))

"""Loops that were edited by hand: what would read or write memory of others is refused at its place."""

from __future__ import annotations

import pytest
from native import parse

import weft
from weft import PassContext
from weft.dialects.support.diagnostics import Diagnostic

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
        ("memref<16640xi8>", "memref<1024xi8>", "the view ends at byte 16640, outside"),
        ("constant 256", "constant 100000", "the view ends at byte 116384, outside"),
        ("constant 256", "constant 0", "the view begins at byte 0, among the 256 bytes of counters"),
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

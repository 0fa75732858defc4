"""Channels that go from blocks of one size into blocks of another: in vectors that lie within a block of each."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import weft
from weft import relay

pytestmark = pytest.mark.sampled(5)


@pytest.mark.parametrize(
    ("channels", "source", "target", "lanes"),
    [
        (168, 24, 16, 8),  # seven blocks become ten and a half
        (72, 24, 16, 8),
        (48, 16, 24, 8),
        (60, 12, 8, 4),
        (160, 32, 16, 16),
        (45, 15, 16, None),  # nothing divides both
    ],
)
def test_blocks_of_another_size(channels: int, source: int, target: int, lanes: int | None) -> None:
    blocks = -(-channels // target)
    x = relay.var("x", shape=(1, channels // source, 5, 6, source))
    factor = relay.var("factor", shape=(1, blocks, 1, 1, target))
    changed = relay.layout_transform(x, f"NCHW{source}c", f"NCHW{target}c")
    module = relay.IRModule.from_expr(relay.Function([x, factor], relay.multiply(changed, factor)))
    exe: Any = weft.compile(module, "llvm -mcpu=x86-64-v4")
    found = set(re.findall(r"vectorized %\S+ = 0 to (\d+)", exe.ir["schedule"]))
    assert lanes is None or (str(lanes) in found and "memref.load" not in exe.ir["loops"])

    random = np.random.default_rng(0)
    data = random.standard_normal((1, channels // source, 5, 6, source)).astype(np.float32)
    by = random.standard_normal((1, blocks, 1, 1, target)).astype(np.float32)
    plain = np.zeros((1, blocks * target, 5, 6), np.float32)
    plain[:, :channels] = data.transpose(0, 1, 4, 2, 3).reshape(1, channels, 5, 6)
    wanted = plain.reshape(1, blocks, target, 5, 6).transpose(0, 1, 3, 4, 2) * by
    here: Any = weft.compile(module)
    np.testing.assert_array_equal(np.asarray(here(data, by)), wanted)

"""Strips of rows: which chains of reductions take several rows through each step at a time, and what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.machine_model import MachineModel

pytestmark = pytest.mark.sampled(3)


def norm_of_rows(x: Any, columns: int) -> Any:
    ones = relay.const(np.ones(columns, np.float32))
    return relay.nn.layer_norm(x, ones, relay.const(np.arange(columns, dtype=np.float32)))


def softmax(x: Any, columns: int) -> Any:
    return relay.nn.softmax(x * relay.const(np.float32(0.5)))


def compiled(chain: Any, rows: int, columns: int, threads: int = 1, target: str = "llvm -mcpu=native") -> Any:
    x = relay.var("x", shape=(rows, columns))
    return weft.compile(relay.Function([x], chain(x, columns)), threads=threads, target=target)


@pytest.mark.parametrize(
    ("chain", "rows", "columns", "is_strip"),
    [
        (norm_of_rows, 64, 40, True),
        (norm_of_rows, 66, 40, False),  # not a whole number of strips
        (norm_of_rows, 60, 40, False),  # too few for the threads
        (norm_of_rows, 64, 8, False),  # half a register holds a row
        (norm_of_rows, 64, 9, True),
        (norm_of_rows, 64, 320, False),  # registers hold a row
        (norm_of_rows, 64, 700, True),
        (norm_of_rows, 64, 3000, False),  # a strip is larger than the nearest cache
        (softmax, 64, 320, True),  # functions are waited for
    ],
)
def test_rows_go_through_a_step_together_where_that_pays(chain: Any, rows: int, columns: int, is_strip: bool) -> None:
    text = compiled(chain, rows, columns, target="llvm -mcpu=x86-64-v4").ir["schedule"]
    assert (" = 0 to 4 {" in text) == is_strip


def test_short_rows_within_what_threads_share_are_taken_in_strips_however_few_they_are() -> None:
    x = relay.var("x", shape=(64, 28, 28))
    exe = weft.compile(relay.Function([x], norm_of_rows(x, 28)), threads=2, target="llvm -mcpu=x86-64-v4")
    assert " = 0 to 7 {" in exe.ir["schedule"] and " = 0 to 4 {" in exe.ir["schedule"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("chain", "columns"), [(norm_of_rows, 37), (softmax, 77)])
def test_strips_compute_what_rows_do(chain: Any, columns: int, threads: int) -> None:
    x = np.random.default_rng(0).standard_normal((128, columns)).astype(np.float32)
    found = compiled(chain, 128, columns, threads)(x)
    alone = compiled(chain, 1, columns)
    np.testing.assert_allclose(found, np.concatenate([alone(row[None]) for row in x]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("shape", "is_strip"), [((12, 37, 37), True), ((11, 37, 37), False), ((2, 6, 37, 37), True)])
def test_rows_of_several_dimensions_are_joined_where_they_are_whole_strips_then(
    shape: tuple[int, ...], is_strip: bool
) -> None:
    x = relay.var("x", shape=shape)
    exe = weft.compile(relay.Function([x], softmax(x, 37)), threads=2, target="llvm -mcpu=x86-64-v4")
    assert (" = 0 to 4 {" in exe.ir["schedule"]) == is_strip
    assert f" = 0 to {444 // 4 if is_strip else 407} {{" in exe.ir["schedule"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(12, 37, 33), (2, 6, 37, 33), (36, 3, 70)])
def test_joined_rows_read_what_is_there_once_for_several(shape: tuple[int, ...], threads: int) -> None:
    random = np.random.default_rng(0)
    given = [random.standard_normal(each).astype(np.float32) for each in (shape, shape[-2:], (*shape[:-1], 1))]
    x, mask, scale = (relay.var(name, shape=each.shape) for name, each in zip("xms", given, strict=True))
    exe: Any = weft.compile(relay.Function([x, mask, scale], relay.nn.softmax(x * scale + mask)), threads=threads)
    assert " = 0 to 4 {" in exe.ir["schedule"]
    powers = np.exp(given[0] * given[2] + given[1])
    np.testing.assert_allclose(exe(*given), powers / powers.sum(-1, keepdims=True), rtol=1e-5, atol=1e-6)


def test_rows_that_are_numbers_are_computed_from_their_sums_alone() -> None:
    x, y = relay.var("x", shape=(12, 1, 64)), relay.var("y", shape=(12, 129, 64))
    scores = relay.nn.batch_matmul(x, y) / relay.const(np.float32(8.0))
    mask = relay.var("mask", shape=(1, 1, 129), dtype="bool")
    exe: Any = weft.compile(relay.Function([x, y, mask], relay.where(mask, scores, relay.const(np.float32(-1.0)))))
    shapes = [(12, 1, 64), (12, 129, 64)]
    a, b = (np.random.default_rng(0).standard_normal(shape).astype(np.float32) for shape in shapes)
    kept = np.arange(129).reshape(1, 1, 129) % 3 > 0
    wanted = np.where(kept, a @ b.transpose(0, 2, 1) / 8, -1)
    np.testing.assert_allclose(exe(a, b, kept), wanted, rtol=1e-4, atol=1e-4)


def test_a_dimension_of_one_row_is_none_that_strips_lie_within() -> None:
    x = relay.var("x", shape=(64, 1, 40))
    exe = weft.compile(relay.Function([x], norm_of_rows(x, 40)), threads=2, target="llvm -mcpu=x86-64-v4")
    assert " = 0 to 4 {" in exe.ir["schedule"]


def test_functions_of_a_rows_number_are_not_waited_for() -> None:
    def divided(x: Any, columns: int) -> Any:
        return x - relay.log(relay.sum(x * x, axis=1, keepdims=True))

    text = compiled(divided, 64, 320, target="llvm -mcpu=x86-64-v4").ir["schedule"]
    assert "math.log" in text and " = 0 to 4 {" not in text


def test_strips_stay_in_the_second_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what a step hands to the next: the powers of a softmax."""
    target = "llvm -mcpu=x86-64-v4"
    assert " = 0 to 4 {" in compiled(softmax, 64, 700, target=target).ir["schedule"]
    monkeypatch.setattr(MachineModel, "kept_near", 2 * 4 * 4 * 700)
    assert " = 0 to 4 {" not in compiled(softmax, 64, 700, target=target).ir["schedule"]

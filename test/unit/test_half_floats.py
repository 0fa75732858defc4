"""f16 on processors that have no conversions for it: every number, rounded once, in machine code and in C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from other_machines import MACHINES

import weft
from weft import relay
from weft.lowering.loops_to_c.compile import has_compiler

pytestmark = pytest.mark.sampled(5)

TARGETS = ["llvm -mcpu=x86-64", "c -mcpu=x86-64"]
EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def _same(found: Any, wanted: npt.NDArray[Any]) -> None:
    """Bit for bit, NaNs aside, which are NaNs."""
    bits = f"u{wanted.dtype.itemsize}"
    nan = np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(found), nan)
    np.testing.assert_array_equal(np.asarray(found)[~nan].view(bits), wanted[~nan].view(bits))


def _cast(source: str, to: str, count: int, target: str) -> weft.Executable:
    if target.startswith("c") and not has_compiler():
        pytest.skip("there is no C compiler")
    x = relay.var("x", shape=(count,), dtype=source)
    exe = weft.compile(relay.Function([x], relay.cast(x, to)), target=target)
    if exe.graph.platform.architecture != "x86_64":
        pytest.skip("the conversions are x86-64's")
    return exe


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("to", ["float32", "float64"])
def test_every_half_becomes_the_number_that_it_is(to: str, target: str) -> None:
    _same(_cast("float16", to, EVERY.size, target)(EVERY), EVERY.astype(to))


def _near_halves(dtype: str) -> npt.NDArray[Any]:
    """The numbers of f16, those half way between two, and the nearest to these; what is too large, and what is not."""
    every = np.sort(EVERY[np.isfinite(EVERY)].astype(np.float64))
    halfway = (every[1:] + every[:-1]) / 2
    ends = np.array([65504, 65519.99, 65520, 65536, 1e30, np.inf, np.nan, 1e-30, 2.0**-25, 2.0**-149, -0.0])
    found = np.concatenate([every, halfway, ends, -ends]).astype(dtype)
    return np.concatenate([found, np.nextafter(found, found.dtype.type(np.inf)), np.nextafter(found, -found)])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_a_number_is_rounded_once_to_the_nearest_half(source: str, target: str) -> None:
    x = _near_halves(source)
    with np.errstate(over="ignore"):
        wanted = x.astype(np.float16)
    _same(_cast(source, "float16", x.size, target)(x), wanted)


def test_kernels_that_convert_are_kept_and_made_a_library(tmp_path: Path) -> None:
    """Several objects that bring conversions go together, in a file that loads by itself."""
    x, y = relay.var("x", shape=(4, 40), dtype="float16"), relay.var("y", shape=(6, 40), dtype="float16")
    product = relay.nn.softmax(relay.nn.dense(relay.exp(x), y))
    exe = weft.compile(relay.Function([x, y], product), target="llvm -mcpu=x86-64")
    if exe.graph.platform.architecture != "x86_64":
        pytest.skip("the conversions are x86-64's")
    rng = np.random.default_rng(3)
    inputs = [rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((4, 40), (6, 40))]
    exe.save(tmp_path / "halves.weft")
    wanted = np.asarray(weft.compile(relay.Function([x, y], product))(*inputs), np.float32)
    for each in (exe, weft.load(tmp_path / "halves.weft")):
        np.testing.assert_allclose(np.asarray(each(*inputs), np.float32), wanted, rtol=2e-3)
    exe.export_library(tmp_path / "libhalves.so")


@pytest.mark.parametrize("target", [*TARGETS, "llvm", "c"])
def test_halves_are_compared_as_the_numbers_that_they_are(target: str) -> None:
    if target.startswith("c") and not has_compiler():
        pytest.skip("there is no C compiler")
    x, y = (relay.var(name, shape=(EVERY.size,), dtype="float16") for name in "xy")
    results = [
        relay.maximum(x, y),
        relay.minimum(x, y),
        relay.cast(x, "int32"),
        relay.equal(x, y),
        relay.not_equal(x, y),
    ]
    exe = weft.compile(relay.Function([x, y], relay.Tuple([*results, relay.less(x, y)])), target=target)
    other = np.random.default_rng(5).permutation(EVERY)
    other[::7] = EVERY[::7]
    high, low, whole, *tests = exe(EVERY, other)
    _same(high, np.maximum(EVERY, other))
    _same(low, np.minimum(EVERY, other))
    finite = np.isfinite(EVERY)
    np.testing.assert_array_equal(np.asarray(whole)[finite], EVERY[finite].astype(np.int32))
    for found, wanted in zip(tests, (EVERY == other, EVERY != other, EVERY < other), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("target", [*TARGETS, "llvm", "c"])
@pytest.mark.parametrize("source", ["int64", "uint64", "int32", "uint16"])
def test_integers_become_the_nearest_half(source: str, target: str) -> None:
    info = np.iinfo(source)
    near = [2**k + d for k in range(11, 17) for d in (-17, -16, -3, -1, 0, 1, 3, 16, 17, 2 ** max(k - 11, 0))]
    values = np.array([0, 1, info.max, info.max - 1, info.min, 65519, *near], object)
    values = np.concatenate([values, -values])
    x = np.array([each for each in values if info.min <= each <= info.max], source)
    with np.errstate(over="ignore"):
        wanted = x.astype(np.float64).astype(np.float16)
    _same(_cast(source, "float16", x.size, target)(x), wanted)


WASM = next(machine for machine in MACHINES if machine.name == "wasm32")


@pytest.mark.parametrize(("source", "to"), [("float16", "float32"), ("float32", "float16"), ("float64", "float16")])
def test_webassembly_brings_its_conversions(source: str, to: str, tmp_path: Path) -> None:
    """Nothing that it is linked with has them."""
    x = EVERY if source == "float16" else _near_halves(source)[::7]
    exe = weft.compile(
        relay.Function([given := relay.var("x", shape=x.shape, dtype=source)], relay.cast(given, to)),
        target=WASM.target,
    )
    assert any(b"__extendhfsf2" in code and b"__truncdfhf2" in code for code in exe.graph.objects)
    if (reason := WASM.missing()) is not None:
        pytest.skip(reason)
    with np.errstate(over="ignore"):
        _same(WASM.run(exe, [x], tmp_path)[0], x.astype(to))

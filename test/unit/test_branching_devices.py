"""Programs that branch and call, with parts on several devices: what they compute, copy, and say where they fail."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strict_c import needs_compiler

import weft
from weft.frontend.mlir import parse_mlir
from weft.runtime import artefact
from weft.runtime.artefact import ArtefactError
from weft.runtime.devices import Apart, Traffic, counted, device_by_name

pytestmark = pytest.mark.sampled(5)

T, N, B = "tensor<4xf32>", "tensor<i64>", "tensor<i1>"
CPU, FAR = "#relay.virtual_device<cpu>", "#relay.virtual_device<ext_dev>"
PROGRAM = f"""
relay.func @main(%x: {T}, %n: {N}, %at: tensor<1xi64>) -> ({T}, tensor<1xf32>) attributes {{
    param_virtual_devices = [{FAR}, {CPU}, {FAR}], result_virtual_devices = [{CPU}, {FAR}]}} {{
  %k = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : {T}
  %0 = relay.multiply %x, %k : ({T}, {T}) -> {T}
  %1 = relay.on_device %0 {{virtual_device = {FAR}}} : {T}
  %2 = relay.call @loop(%1, %n) : ({T}, {N}) -> {T}
  %3 = relay.take %0, %at {{axis = 0 : i64, mode = "error"}} : ({T}, tensor<1xi64>) -> tensor<1xf32>
  relay.return %2, %3 : {T}, tensor<1xf32>
}}

relay.func private @loop(%x: {T}, %n: {N}) -> {T} attributes {{
    param_virtual_devices = [{CPU}, {CPU}], result_virtual_devices = [{CPU}]}} {{
  %zero = relay.constant dense<0> : {N}
  %one = relay.constant dense<1> : {N}
  %more = relay.greater %n, %zero : ({N}, {N}) -> {B}
  %r = relay.if %more : ({B}) -> {T} {{
    %c = relay.constant dense<[0.5, 0.25, 0.125, 1.0]> : {T}
    %there = relay.on_device %x {{virtual_device = {CPU}}} : {T}
    %f = relay.constant dense<[1.0, 1.0, 1.0, 2.0]> : {T}
    %a = relay.multiply %there, %f : ({T}, {T}) -> {T}
    %back = relay.on_device %a {{virtual_device = {FAR}}} : {T}
    %y = relay.add %back, %c : ({T}, {T}) -> {T}
    %m = relay.subtract %n, %one : ({N}, {N}) -> {N}
    %z = relay.call @loop(%y, %m) : ({T}, {N}) -> {T}
    relay.yield %z : {T}
  }} else {{
    relay.yield %x : {T}
  }}
  relay.return %r : {T}
}}
"""
K, C = np.array([1, 2, 3, 4], np.float32), np.array([0.5, 0.25, 0.125, 1], np.float32)


def meant(x: Any, n: int, at: int) -> tuple[Any, Any]:
    y = first = x * K
    for _ in range(n):
        y = y * [1, 1, 1, 2] + C
    return y, first[[at]]


@pytest.fixture(scope="module")
def exe() -> weft.Executable:
    return weft.compile(parse_mlir(PROGRAM, "loop.mlir"), threads=2)


def called(exe: weft.Executable, x: Any, n: int, at: int = 0) -> Any:
    return exe(x, np.array(n), np.array([at]))


def test_a_loop_over_two_devices_computes_what_it_says(exe: weft.Executable, tmp_path: Path) -> None:
    assert exe.graph.segments and not exe.graph.devices
    exe.save(path := tmp_path / "loop.weft")
    x = np.linspace(-1, 1, 4).astype(np.float32)
    for program in (exe, weft.load(path)):
        for n in (0, 1, 2, 7):
            for found, wanted in zip(called(program, x, n, 3), meant(x, n, 3), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-6)


@needs_compiler
def test_a_program_in_c_has_the_host_run_its_parts(exe: weft.Executable, tmp_path: Path) -> None:
    in_c = weft.compile(parse_mlir(PROGRAM, "loop.mlir"), target="c", threads=2)
    in_c.save(path := tmp_path / "loop.weft")
    x = np.linspace(-1, 1, 4).astype(np.float32)
    for program in (in_c, weft.load(path)):
        for n in (0, 1, 5):
            for found, wanted in zip(called(program, x, n, 3), meant(x, n, 3), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-6)
        with pytest.raises(weft.CheckError, match="index 7 lies outside of an axis of 4"):
            called(program, x, 1, 7)
    steps = {step.device for step in in_c.profile(x, np.array(2), np.array([0]), repeat=1).steps}
    assert steps == {step.device for step in exe.profile(x, np.array(2), np.array([0]), repeat=1).steps}


def test_what_nothing_connects_with_the_rest_may_be_on_a_device_too() -> None:
    text = f"""
relay.adt @list<"A"> {{nil(), cons(!relay.param<"A">, !relay.adt<@list, [!relay.param<"A">]>)}}
relay.func @main(%x: {T}, %more: {B}) -> {T} attributes {{
    param_virtual_devices = [{CPU}, {CPU}], result_virtual_devices = [{CPU}]}} {{
  %k = relay.constant dense<2.0> : {T}
  %twice = relay.multiply %k, %k : ({T}, {T}) -> {T}
  %there = relay.on_device %twice {{virtual_device = {FAR}, constrain_result = true}} : {T}
  %kept = relay.ref_create %there : ({T}) -> !relay.ref<{T}>
  %none = relay.construct "nil"() : () -> !relay.adt<@list, [{T}]>
  %held = relay.ref_create %none : (!relay.adt<@list, [{T}]>) -> !relay.ref<!relay.adt<@list, [{T}]>>
  %y = relay.if %more : ({B}) -> {T} {{
    relay.ref_write %held, %none : !relay.ref<!relay.adt<@list, [{T}]>>, !relay.adt<@list, [{T}]>
    relay.ref_write %kept, %there : !relay.ref<{T}>, {T}
    %here = relay.on_device %x {{virtual_device = {CPU}}} : {T}
    %0 = relay.exp %here : {T}
    %1 = relay.on_device %0 {{virtual_device = {FAR}}} : {T}
    relay.yield %1 : {T}
  }} else {{
    relay.yield %x : {T}
  }}
  relay.return %y : {T}
}}
"""
    exe = weft.compile(parse_mlir(text, "apart.mlir"), target=["llvm", "ext_dev"])
    x = np.linspace(-1, 1, 4).astype(np.float32)
    for more, wanted in ((True, np.exp(x)), (False, x)):
        (found,) = exe.run({"x": x, "more": np.array(more)}).values()
        np.testing.assert_allclose(np.asarray(found, np.float32), wanted, rtol=1e-5)


def test_what_each_turn_copies_is_counted(exe: weft.Executable) -> None:
    def traffic(n: int) -> Traffic:
        with counted(device_by_name("ext_dev:0")) as found:
            called(exe, np.ones(4, np.float32), n)
        return found["ext_dev:0"]

    none, some, more = (traffic(n) for n in (0, 2, 4))
    assert some.copies_in - none.copies_in == more.copies_in - some.copies_in > 0
    assert some.bytes_out - none.bytes_out == more.bytes_out - some.bytes_out > 0


def test_a_check_that_fails_far_away_is_told(exe: weft.Executable) -> None:
    with pytest.raises(weft.CheckError, match="index 7 lies outside of an axis of 4") as error:
        called(exe, np.ones(4, np.float32), 1, 7)
    assert error.value.place is not None and error.value.place.line == 8
    for found, wanted in zip(called(exe, np.ones(4, np.float32), 1), meant(np.ones(4), 1, 0), strict=True):
        np.testing.assert_allclose(found, wanted)


def test_threads_call_it_at_once(exe: weft.Executable) -> None:
    wrong: list[object] = []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).standard_normal(4).astype(np.float32)
        for n in range(6):
            found, wanted = called(exe, x, n)[0], meant(x, n, 0)[0]
            if not np.allclose(found, wanted, rtol=1e-5):
                wrong.append((seed, n, found, wanted))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_calls_it(exe: weft.Executable) -> None:
    called(exe, np.ones(4, np.float32), 1)
    if (child := os.fork()) == 0:
        found = called(exe, np.ones(4, np.float32), 2)[0]
        os._exit(0 if np.allclose(found, meant(np.ones(4), 2, 0)[0]) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_its_memory_on_devices_is_given_back(exe: weft.Executable, tmp_path: Path) -> None:
    far = device_by_name("ext_dev:0")
    assert isinstance(far, Apart)
    exe.save(path := tmp_path / "loop.weft")
    gc.collect()
    before = len(far._maps)  # pyright: ignore[reportPrivateUsage]
    program = weft.load(path)
    called(program, np.ones(4, np.float32), 2)
    gone = weakref.ref(program)
    del program
    gc.collect()
    assert gone() is None and len(far._maps) == before  # pyright: ignore[reportPrivateUsage]


def test_the_loops_of_such_a_program_are_compiled_as_well(exe: weft.Executable) -> None:
    late = weft.compile(parse_mlir(exe.ir["loops"], "loops.mlir"))
    x = np.ones(4, np.float32)
    for found, wanted in zip(called(late, x, 3), called(exe, x, 3), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_branch_over_an_open_extent_is_taken_far_away() -> None:
    text = f"""relay.func @main(%x: tensor<?xf32>, %c: {B}) -> tensor<?xf32> {{
  %a = relay.exp %x : tensor<?xf32>
  %b = relay.on_device %a {{virtual_device = {FAR}}} : tensor<?xf32>
  %r = relay.if %c : ({B}) -> tensor<?xf32> {{ relay.yield %b : tensor<?xf32> }} else {{
    relay.yield %x : tensor<?xf32>
  }}
  relay.return %r : tensor<?xf32>
}}"""
    exe = weft.compile(parse_mlir(text, "branch.mlir"), threads=1)
    for rows in (3, 0, 50):
        x = np.linspace(-1, 1, rows).astype(np.float32)
        found: Any = exe(x, np.array(True))
        np.testing.assert_allclose(found, np.exp(x), rtol=1e-6)
        np.testing.assert_array_equal(exe(x, np.array(False)), x)


@needs_compiler
def test_a_library_of_it_is_for_python(exe: weft.Executable, tmp_path: Path) -> None:
    exe.export_library(path := tmp_path / "libloop.so")
    x = np.linspace(-1, 1, 4).astype(np.float32)
    for got, want in zip(called(weft.load(path), x, 2, 3), meant(x, 2, 3), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert "weft_model" not in path.with_suffix(".h").read_text()


def test_steps_that_use_what_is_not_there_are_refused_before_they_run(exe: weft.Executable, tmp_path: Path) -> None:
    segment = exe.graph.segments[0]
    small = replace(segment, devices=tuple(replace(each, arena_bytes=8) for each in segment.devices))
    edits = {
        "uses what is not there": replace(exe.graph, segments=(small, *exe.graph.segments[1:])),
        "not so many constants": replace(exe.graph, code_constants=len(exe.graph.constants) + 1),
        "on no device": replace(exe.graph, segments=(replace(segment, devices=()), *exe.graph.segments[1:])),
    }
    for number, (message, graph) in enumerate(edits.items()):
        artefact.save(graph, path := tmp_path / f"{number}.weft")
        with pytest.raises(ArtefactError, match=message):
            artefact.load(path)


V = "tensor<?xf32>"
GROWING = f"""
relay.func @main(%x: {V}, %n: {N}, %at: tensor<1xi64>) -> ({V}, tensor<1xf32>) attributes {{
    param_virtual_devices = [{FAR}, {CPU}, {FAR}], result_virtual_devices = [{CPU}, {FAR}]}} {{
  %0 = relay.negative %x : {V}
  %1 = relay.on_device %0 {{virtual_device = {FAR}}} : {V}
  %2 = relay.call @loop(%1, %n) : ({V}, {N}) -> {V}
  %far = relay.on_device %2 {{virtual_device = {CPU}}} : {V}
  %3 = relay.take %far, %at {{axis = 0 : i64, mode = "error"}} : ({V}, tensor<1xi64>) -> tensor<1xf32>
  relay.return %2, %3 : {V}, tensor<1xf32>
}}

relay.func private @loop(%x: {V}, %n: {N}) -> {V} attributes {{
    param_virtual_devices = [{CPU}, {CPU}], result_virtual_devices = [{CPU}]}} {{
  %zero = relay.constant dense<0> : {N}
  %one = relay.constant dense<1> : {N}
  %more = relay.greater %n, %zero : ({N}, {N}) -> {B}
  %r = relay.if %more : ({B}) -> {V} {{
    %half = relay.constant dense<0.5> : tensor<f32>
    %there = relay.on_device %x {{virtual_device = {CPU}}} : {V}
    %two = relay.tuple(%there, %there) : ({V}, {V}) -> tuple<{V}, {V}>
    %a = relay.concatenate %two {{axis = 0 : i64}} : (tuple<{V}, {V}>) -> {V}
    %back = relay.on_device %a {{virtual_device = {FAR}}} : {V}
    %y = relay.add %back, %half : ({V}, tensor<f32>) -> {V}
    %m = relay.subtract %n, %one : ({N}, {N}) -> {N}
    %z = relay.call @loop(%y, %m) : ({V}, {N}) -> {V}
    relay.yield %z : {V}
  }} else {{
    %s = relay.argsort %x {{axis = 0 : i64, dtype = "int32"}} : ({V}) -> tensor<?xi32>
    %t = relay.take %x, %s {{axis = 0 : i64}} : ({V}, tensor<?xi32>) -> {V}
    relay.yield %t : {V}
  }}
  relay.return %r : {V}
}}
"""


@pytest.fixture(scope="module")
def growing() -> weft.Executable:
    return weft.compile(parse_mlir(GROWING, "growing.mlir"), threads=2)


def grown(x: Any, turns: int) -> Any:
    y = -x
    for _ in range(turns):
        y = np.concatenate([y, y]) + np.float32(0.5)
    return np.sort(y)


def test_a_loop_over_two_devices_has_other_extents_in_each_turn(growing: weft.Executable, tmp_path: Path) -> None:
    """Memory of both devices grows with what a turn computes; a saved program knows its sizes as well."""
    assert any(segment.symbols for segment in growing.graph.segments)
    growing.save(path := tmp_path / "growing.weft")
    far = device_by_name("ext_dev:0")
    for program in (growing, weft.load(path)):
        for rows, turns in ((3, 0), (1, 5), (3, 2), (7, 9), (2, 1), (1000, 3)):
            x = np.random.default_rng(rows).standard_normal(rows).astype(np.float32)
            with counted(far) as traffic:
                found, last = called(program, x, turns, rows - 1)
            np.testing.assert_array_equal(found, grown(x, turns))
            assert last == found[rows - 1]
            assert traffic["ext_dev:0"].bytes_in >= 4 * rows * 2**turns


def test_what_fails_far_away_in_a_grown_program_is_told(growing: weft.Executable) -> None:
    """The program works in more memory then than its caller has given, by which the host knows the call."""
    x = np.ones(500, np.float32)
    with pytest.raises(weft.CheckError, match="index 16000 lies outside of an axis of 16000"):
        called(growing, x, 5, 16000)
    np.testing.assert_array_equal(called(growing, x, 5, 15999)[0], grown(x, 5))


def test_threads_call_a_growing_program_at_once(growing: weft.Executable) -> None:
    wrong: list[object] = []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).standard_normal(1 + seed).astype(np.float32)
        for turns in (0, 6, 2, 4):
            if not np.array_equal(called(growing, x, turns)[0], grown(x, turns)):
                wrong.append((seed, turns))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_parts_without_the_sizes_that_they_use_are_refused(growing: weft.Executable, tmp_path: Path) -> None:
    segments = growing.graph.segments
    number = next(n for n, segment in enumerate(segments) if segment.symbols)
    changed = replace(segments[number], symbols=())
    graph = replace(growing.graph, segments=(*segments[:number], changed, *segments[number + 1 :]))
    artefact.save(graph, path := tmp_path / "changed.weft")
    with pytest.raises(ArtefactError, match=r"symbol|size"):
        artefact.load(path)


def test_a_profile_tells_of_the_devices_of_each_part(
    exe: weft.Executable, growing: weft.Executable, tmp_path: Path
) -> None:
    """Kernels and copies with where they are, those of all turns together; those of parts on one device as well."""
    growing.save(path := tmp_path / "growing.weft")
    for program, turns in ((exe, 2), (growing, 2), (weft.load(path), 2)):
        profile = program.profile(np.ones(4, np.float32), np.array(turns), np.array([0]), repeat=2)
        times = profile.by_device()
        assert set(times) == {"cpu", "ext_dev:0"}
        assert all(number > 0 for each in times.values() for number in each)  # time, bytes, copies
        assert {"copy", "fused_greater"} < {step.kernel for step in profile.steps}
        assert {step.device for step in profile.steps if step.kernel == "fused_greater"} == {"cpu"}
        assert profile.chrome_trace()
    with pytest.raises(weft.CheckError, match="index 7 lies outside"):
        exe.profile(np.ones(4, np.float32), np.array(1), np.array([7]))

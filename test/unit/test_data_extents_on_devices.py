"""Extents that data decides in graphs on several devices: the host asks, and goes on with as much as there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.frontend.mlir import parse_mlir
from weft.runtime import artefact
from weft.runtime.artefact import ArtefactError
from weft.runtime.devices import device_by_name

pytestmark = pytest.mark.sampled(5)

DEVICES = {"c": "#relay.virtual_device<cpu, id = 0>", "f": "#relay.virtual_device<ext_dev, id = 0>"}
T, WHERE = "tensor<?xf32>", "tensor<?xi32>"
SAMPLES: tuple[list[int], ...] = ([1, 0, 2, -3, 4], [0, 0], [1], [], list(range(-20, 20)))


def copied(new: str, old: str, source: str, target: str, type: str) -> str:
    """`%old`, which is on one device, on another."""
    if source == target:
        return f"%{new} = relay.on_device %{old} {{virtual_device = {DEVICES[source]}}} : {type}"
    places = f"src_virtual_device = {DEVICES[source]}, dst_virtual_device = {DEVICES[target]}"
    return f"%{new} = relay.device_copy %{old} {{{places}}} : {type}"


def positive(places: str) -> str:
    """The positive numbers of a row, and twice those: where the row is, where they are looked for, where they are
    taken, where they are wanted, and where they are doubled."""
    row, looked, taken, wanted, doubled = places
    return f"""
relay.func @main(%x: {T}) -> ({T}, {T}) attributes {{
    param_virtual_devices = [{DEVICES[row]}], result_virtual_devices = [{DEVICES[wanted]}, {DEVICES[doubled]}]}} {{
  %r0 = relay.nn.relu %x : {T}
  {copied("ra", "r0", row, looked, T)}
  %w = relay.argwhere %ra : ({T}) -> tensor<?x1xi32>
  %c0 = relay.reshape %w {{newshape = array<i64: -1>}} : (tensor<?x1xi32>) -> {WHERE}
  {copied("c", "c0", looked, taken, WHERE)}
  {copied("rb", "r0", row, taken, T)}
  %y0 = relay.take %rb, %c {{axis = 0 : i64}} : ({T}, {WHERE}) -> {T}
  {copied("ye", "y0", taken, wanted, T)}
  {copied("yf", "y0", taken, doubled, T)}
  %z = relay.add %yf, %yf : ({T}, {T}) -> {T}
  relay.return %ye, %z : {T}, {T}
}}"""


@pytest.mark.parametrize("places", ["cfccc", "cffcf", "fcfcc", "fffff"])
def test_what_is_found_on_one_device_is_as_large_on_another(places: str, tmp_path: Path) -> None:
    exe = weft.compile(parse_mlir(positive(places), "positive.mlir"), threads=1)
    assert "ext_dev:0" in [device.name for device in exe.graph.devices]
    exe.save(path := tmp_path / "positive.weft")
    for program in (exe, weft.load(path)):
        for sample in SAMPLES:
            x = np.array(sample, np.float32)
            found, twice = program(x)
            np.testing.assert_array_equal(found, x[x > 0])
            np.testing.assert_array_equal(twice, 2 * x[x > 0])
    profile = exe.profile(np.array([1, 0, 2], np.float32))
    assert {step.device for step in profile.steps} >= {"ext_dev:0"}


def test_what_is_found_out_far_away_is_copied_once() -> None:
    exe = weft.compile(parse_mlir(positive("cfccc"), "positive.mlir"), threads=1)
    x = np.array([1, 0, 2, -1], np.float32)
    exe(x)
    traffic = device_by_name("ext_dev:0").traffic
    before = (traffic.copies_out, traffic.bytes_out)
    exe(x)
    copies, bytes = traffic.copies_out - before[0], traffic.bytes_out - before[1]
    assert (copies, bytes) == (2, 8 + 4 * 4), "how many there are; and where, for as many as there may be"


BRANCHES = f"""
relay.func @main(%x: {T}, %b: tensor<i1>) -> {T} attributes {{
    param_virtual_devices = [{DEVICES["c"]}, {DEVICES["c"]}], result_virtual_devices = [{DEVICES["c"]}]}} {{
  %r = relay.if %b : (tensor<i1>) -> {T} {{
    {copied("xf", "x", "c", "f", T)}
    %r0 = relay.nn.relu %xf : {T}
    %w = relay.argwhere %r0 : ({T}) -> tensor<?x1xi32>
    %c = relay.reshape %w {{newshape = array<i64: -1>}} : (tensor<?x1xi32>) -> {WHERE}
    %y0 = relay.take %xf, %c {{axis = 0 : i64}} : ({T}, {WHERE}) -> {T}
    {copied("y", "y0", "f", "c", T)}
    relay.yield %y : {T}
  }} else {{
    %e = relay.negative %x : {T}
    relay.yield %e : {T}
  }}
  relay.return %r : {T}
}}"""


def test_a_branch_finds_out_far_away_how_much_there_is(tmp_path: Path) -> None:
    exe = weft.compile(parse_mlir(BRANCHES, "branches.mlir"), threads=1)
    assert exe.graph.segments
    exe.save(path := tmp_path / "branches.weft")
    for program in (exe, weft.load(path)):
        for sample in SAMPLES:
            x = np.array(sample, np.float32)
            np.testing.assert_array_equal(program(x, np.array(True)), x[x > 0])
            np.testing.assert_array_equal(program(x, np.array(False)), -x)
    assert exe.profile(np.array([1, 0, 2], np.float32), np.array(True), repeat=1).steps


def test_a_graph_that_nothing_says_the_extents_of_is_refused(tmp_path: Path) -> None:
    graph = weft.compile(parse_mlir(positive("cfccc"), "positive.mlir"), threads=1).graph
    artefact.save(replace(graph, outputs=graph.outputs[:-1]), path := tmp_path / "none.weft")
    with pytest.raises(ArtefactError, match="no outputs say what they are"):
        artefact.load(path)

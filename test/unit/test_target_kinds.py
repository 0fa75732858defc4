"""Kinds of targets, and tags, that users and packages add."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import Target, relay, strategies, targets, te
from weft.dialects.support import diagnostics, plugins
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.lowering.loops_to_c.compile import compile_c_graph
from weft.lowering.machine import target_kinds
from weft.lowering.machine.target import TargetError


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    registry = target_kinds._REGISTRY  # pyright: ignore[reportPrivateUsage]
    made = type(registry)(dict(registry.kinds), dict(registry.tags))
    monkeypatch.setattr(target_kinds, "_REGISTRY", made)
    yield


def doubled() -> Any:
    x = relay.var("x", shape=(3,))
    return relay.IRModule.from_expr(relay.Function([x], relay.add(x, x)))


def test_a_kind_stands_for_options_and_is_compiled_by_llvm() -> None:
    targets.add_kind(targets.TargetKind("board", ("board", "cpu"), {"mattr": "-avx512f"}, ("lanes",)))
    target = Target("board -lanes=4")
    assert (target.kind, target.attributes, target.option("lanes")) == ("board", "-avx512f", "4")
    assert target.keys == ("board", "cpu") and Target.parse(str(target)) == target == Target.parse(target.export())
    assert Target("board -mattr=+sse2").attributes == "+sse2"
    exe = weft.compile(doubled(), target=target)
    assert "avx512f" not in exe.target.features and np.asarray(exe(np.ones(3, np.float32))).tolist() == [2, 2, 2]
    targets.remove_kind("board")
    with pytest.raises(TargetError, match="unknown target kind 'board'"):
        Target.parse("board")


def test_a_kind_may_have_a_code_generator_of_its_own() -> None:
    told: list[tuple[str, str | None, int]] = []
    assert Target("c").generator is compile_c_graph

    def generate(module: Any, target: Target, level: int) -> Any:
        told.append((target.kind, target.option("lanes"), level))
        assert any(op.name == "func.func" for op in module.walk())
        return compile_c_graph(module, target, level)

    targets.add_kind(targets.TargetKind("mine", attributes=("lanes",), generate=generate))
    exe = weft.compile(doubled(), target="mine -lanes=8")
    assert told == [("mine", "8", Target().codegen_level)] and np.asarray(exe(np.ones(3, np.float32))).tolist() == [
        2,
        2,
        2,
    ]
    with pytest.raises(UsageError, match="code for 'mine' is not made by LLVM"):
        _ = exe.asm


def test_implementations_are_chosen_by_kind_or_key() -> None:
    implementation = strategies.Implementation("exp", te.compute, "one", target=("board", "arm_cpu"))
    op: Any = next(op for op in doubled().walk() if op.name == "relay.add")
    said = {text: implementation.refusal(op, Target(text)) for text in ("llvm", "llvm -device=arm_cpu")}
    assert said == {"llvm": "it is for board and arm_cpu, and this is llvm", "llvm -device=arm_cpu": None}


def test_names_can_be_read_where_they_stand_in_a_target() -> None:
    for name in ("", "a b", "a/b", "-x", "{", "composite"):
        with pytest.raises(UsageError, match="cannot be called"):
            targets.add_kind(targets.TargetKind(name))
    for name in ("llvm", "board", ""):
        with pytest.raises(UsageError, match="a tag cannot be called"):
            targets.add_tag(name, {"kind": "c"})
    targets.add_kind(targets.TargetKind("board", attributes=("lanes",)))
    spaced = Target("board -lanes='1 2' -model=\"it's\"")
    assert spaced.option("lanes") == "1 2" and Target.parse(str(spaced)) == spaced


def test_a_code_generator_that_is_not_there_is_told_of() -> None:
    for generate in ("no_such_module:f", "weft.te:no_such_function", ":"):
        kind = targets.TargetKind("board", generate=generate)
        with pytest.raises(UsageError, match="the target kind 'board' has no code generator"):
            _ = kind.generator


def test_names_are_taken_once() -> None:
    for name in ("llvm", "nvptx"):
        with pytest.raises(UsageError, match=f"there is a kind of target '{name}' already"):
            targets.add_kind(targets.TargetKind(name))
    targets.add_tag("mine/board", {"kind": "llvm", "mcpu": "skylake"})
    assert Target("mine/board").cpu == "skylake" and "mine/board" in targets.tags()
    with pytest.raises(UsageError, match="there is a tag 'mine/board' already"):
        targets.add_tag("mine/board", {"kind": "c"})
    targets.add_tag("mine/board", {"kind": "c"}, override=True)
    assert Target("mine/board").kind == "c"
    targets.remove_tag("mine/board")
    targets.remove_kind("llvm")
    assert "mine/board" not in targets.tags() and "llvm" in targets.kinds()


@pytest.mark.parametrize("name", sorted(targets.tags()))
def test_every_tag_is_a_target_that_llvm_knows(name: str) -> None:
    assert Target(name).resolved().triple


def test_a_package_brings_kinds_and_tags(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "boards.py").write_text(
        "from weft.targets import TargetKind\n"
        "TAGS = {'a/board': {'kind': 'board', 'num-cores': 2}}\n"
        "TARGETS = [TargetKind('board', preset={'mcpu': 'skylake'}), TAGS, 5]\n"
    )
    information = tmp_path / "boards-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: boards\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[weft.targets]\nmine = boards:TARGETS\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(plugins, "_broken", dict[str, str]())
    warnings: list[str] = []
    with diagnostics.handled_by(lambda diagnostic: warnings.append(diagnostic.message)):
        target = Target("a/board")
    assert (target.kind, target.cpu, target.option("num-cores")) == ("board", "skylake", "2")
    assert len(warnings) == 1 and "int is no weft.targets.TargetKind" in warnings[0]


def scratch() -> Any:
    alloc = '    %pad = tir.alloc_buffer "scratchpad" : memref<8xf32>\n'
    copies = "".join(
        f"""    tir.for %{i} = 0 to 8 {{
      tir.block @{name}(%v: spatial 8) = [%{i}]
          reads(%{source}[%v] : memref<8xf32>) writes(%{target}[%v] : memref<8xf32>) {{
        %0 = memref.load %{source}[%v] : memref<8xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %{target}[%v] : memref<8xf32>
      }}
    }}\n"""
        for i, name, source, target in (("i", "a", "x", "pad"), ("j", "b", "pad", "y"))
    )
    return f"tir.prim_func @main(%x: memref<8xf32>, %y: memref<8xf32>) {{\n{alloc}{copies}}}"


def test_a_kind_has_memories_of_its_own() -> None:
    """They are the module's to name once the kind is known, and the kind's to have."""
    unknown = r"unknown scope \"scratchpad\"; known: global, local, .*amx, and more"
    with pytest.raises(Diagnostic, match=unknown):
        parse_mlir(scratch(), "pad.mlir")
    targets.add_kind(targets.TargetKind("board", scopes={"scratchpad": "global"}))
    try:
        x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
        part = scratch().replace('"scratchpad"', '"scratchpad.in"')
        weft.build(parse_mlir(part, "pad.mlir"), target="board", threads=1)(x, y)
        assert y.tolist() == [4] * 8
        with pytest.raises(Diagnostic, match=r'the scope is "scratchpad", and a processor has global and local memory'):
            weft.build(parse_mlir(scratch(), "pad.mlir"))
        with pytest.raises(Diagnostic, match=r'the scope is "shared", .* has global, local and scratchpad memory only'):
            weft.build(parse_mlir(scratch().replace("scratchpad", "shared"), "pad.mlir"), target="board")
    finally:
        targets.remove_kind("board")
    with pytest.raises(Diagnostic, match=unknown):
        parse_mlir(scratch(), "pad.mlir")


@pytest.mark.parametrize("scopes", [{"pad": "registers"}, {"local": "local"}, {"a b": "local"}])
def test_a_memory_that_means_nothing_is_refused(scopes: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="memory of"):
        targets.add_kind(targets.TargetKind("board", scopes=scopes))
    assert "board" not in target_kinds.kinds()

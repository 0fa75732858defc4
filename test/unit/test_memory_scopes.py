"""Scopes with a tag: parts of a memory, which a target has or has not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import script, targets, te, tir
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.memory_scopes import memory_of

TWICE = """
@T.prim_func
def twice(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("c"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[vi] * T.float32(2)
"""
TAGGED = ("global2", "global:weights", "local_TB2", "shared.dyn", "global.texture:bank.1", "wmma.matrix_a_x")


def add_one() -> tuple[te.Tensor, te.Tensor]:
    a = te.placeholder((16,), name="A")
    return a, te.compute((16,), lambda i: a[i] + 1.0, name="B")


def by_te(scope: str) -> object:
    a, b = add_one()
    s = te.create_schedule(b.op)
    s.cache_read(a, scope, [b])
    s.cache_write(b, scope)
    return weft.lower(s, [a, b])


def by_stage(scope: str) -> object:
    a, b = add_one()
    c = te.compute((16,), lambda i: b[i] + 1.0, name="C")
    s = te.create_schedule(c.op)
    s[b].set_scope(scope)
    return weft.lower(s, [a, c])


def by_schedule(scope: str) -> object:
    s = tir.Schedule(script.from_source(TWICE))
    s.cache_read(s.get_block("c"), 0, scope)
    s.cache_write(s.get_block("c"), 0, "global")
    s.set_scope(s.get_block("c"), 0, scope)
    return s.mod


def by_script(scope: str) -> object:
    copied = TWICE.replace("    for", f"    B = T.alloc_buffer((16,), scope={scope!r})\n    for")
    return script.from_source(copied)


@pytest.mark.parametrize("make", [by_te, by_stage, by_schedule, by_script])
@pytest.mark.parametrize("scope", TAGGED)
def test_a_scope_has_a_tag_behind_the_name_of_its_memory(make: Callable[[str], object], scope: str):
    text = str(make(scope))
    assert f'tir.alloc_buffer "{scope}"' in text


@pytest.mark.parametrize("make", [by_te, by_stage, by_schedule, by_script])
@pytest.mark.parametrize("scope", ["global:", "globals", "local_x y", "attic:a", "shared:a'b"])
def test_what_no_memory_has_is_no_scope(make: Callable[[str], object], scope: str):
    with pytest.raises(Diagnostic, match="unknown scope"):
        make(scope)


def test_what_a_tagged_scope_is_is_the_targets_to_say():
    function: Any = by_schedule("local_TB2")
    with pytest.raises(Diagnostic, match='the scope is "local_TB2", and a processor has global and local memory only'):
        weft.build(function)
    targets.add_kind(targets.TargetKind("tagged", scopes={"local_TB2": "global"}))
    try:
        x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
        weft.build(function, target="tagged", threads=1)(x, y)
        np.testing.assert_array_equal(y, x * 2)
    finally:
        targets.remove_kind("tagged")


def test_the_memory_of_a_scope():
    assert [memory_of(scope) for scope in TAGGED] == ["global", "global", "local", "shared", "global", "wmma"]
    targets.add_kind(targets.TargetKind("tagged", scopes={"near": "local"}))
    try:
        assert memory_of("near:left") == "near"
    finally:
        targets.remove_kind("tagged")

"""`weft.lower` and `weft.build`: text, sources, calls in place, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import relay, te
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import PrimFuncOp
from weft.runtime.host import PlatformError
from weft.runtime.module import Function, Module
from weft.runtime.tensors import InputError
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(3)

TWO = """
tir.prim_func @double(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @double(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}
tir.prim_func @accumulate(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @accumulate(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>, %y[%v] : memref<8xf32>)
        writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = memref.load %y[%v] : memref<8xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%v] : memref<8xf32>
    }
  }
}
"""


def two() -> ModuleOp:
    return parse_module(TWO, new_ir_context(), "two.mlir")


def add() -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    a, b = te.placeholder((5, 7), name="a"), te.placeholder((5, 7), name="b")
    return a, b, te.compute((5, 7), lambda i, j: a[i, j] + b[i, j], name="c")


def built(**options: Any) -> Module:
    a, b, c = add()
    return weft.build(te.create_schedule(c.op), [a, b, c], "llvm", **options)


def arrays() -> list[Any]:
    return [np.full((5, 7), value, np.float32) for value in (1, 2, 0)]


def test_the_lowered_module_prints_and_parses() -> None:
    a, b, c = add()
    text = str(weft.lower(te.create_schedule(c.op), [a, b, c], name="add"))
    assert "tir.prim_func @add(%a: memref<5x7xf32>, %b: memref<5x7xf32>, %c: memref<5x7xf32>)" in text
    assert str(parse_module(text, new_ir_context(), "add.mlir")) == text


def test_what_is_lowered_of_functions_and_modules_is_a_module_of_functions_by_name() -> None:
    double = weft.lower(two())["double"]
    assert double.sym_name.data == "double" and weft.lower(double)["double"].script() == double.script()


def test_simple_mode_leaves_conditions_in_their_loops() -> None:
    x = te.placeholder((30,), name="x")
    y = te.compute((30,), lambda i: x[i] + 1.0, name="y")
    s = te.create_schedule(y.op)
    s[y].split(y.op.axis[0], factor=16)
    simple, whole = (str(weft.lower(s, [x, y], simple_mode=mode)) for mode in (True, False))
    assert simple.count("tir.block @y") == 1 and whole.count("tir.block @y") == 2


def test_a_function_is_called_with_all_its_arrays_and_writes_its_outputs() -> None:
    a, b, c = arrays()
    built()(a, b, c)
    np.testing.assert_array_equal(c, a + b)


def test_arguments_stand_in_the_order_that_was_asked_for() -> None:
    a, b, c = add()
    module = weft.build(te.create_schedule(c.op), [c, b, a])
    x, y, z = arrays()
    module(z, x, y)
    np.testing.assert_array_equal(z, x + y)
    with pytest.raises(InputError, match=r"takes 3 arrays \(c, b, a\), got 2"):
        module(x, y)


def test_unsigned_elements_stay_unsigned() -> None:
    x = te.placeholder((4,), "uint8", "x")
    y = te.compute((4,), lambda i: x[i] // te.const(2, "uint8"), name="y")
    given, result = np.array([255, 254, 2, 1], np.uint8), np.zeros(4, np.uint8)
    weft.build(te.create_schedule(y.op), [x, y])(given, result)
    np.testing.assert_array_equal(result, given // 2)


def test_a_module_of_functions_has_each_by_its_name() -> None:
    module = weft.build(two())
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    module["double"](x, y)
    np.testing.assert_array_equal(y, 2 * x)
    module["accumulate"](x, y)
    np.testing.assert_array_equal(y, 3 * x)
    assert list(module) == ["double", "accumulate"] and len(module) == 2
    with pytest.raises(UsageError, match="there is no function 'main'"):
        module(x, y)
    with pytest.raises(UsageError, match=r"no function 'duble'.*double, accumulate") as error:
        module["duble"]
    assert error.value.hint is not None and "double" in error.value.hint


def test_one_function_is_built_by_itself() -> None:
    function = next(op for op in two().ops if isinstance(op, PrimFuncOp))
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    weft.build(function)(x, y)
    np.testing.assert_array_equal(y, 2 * x)


def test_a_graph_is_built_through_all_phases() -> None:
    text = """relay.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %y = relay.exp %x : tensor<2x3xf32>
      relay.return %y : tensor<2x3xf32>
    }"""
    module = weft.build(parse_module(text, new_ir_context(), "exp.mlir"))
    x, y = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
    module(x, y)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_the_sources_are_what_was_compiled() -> None:
    module = built(name="add")
    assert "define void @add_kernel" in module.get_source()
    assert module.get_source("ll") == module.get_source()
    assert "add_kernel:" in module.get_source("asm")
    assert "tir.prim_func @add" in module.text
    with pytest.raises(UsageError, match="a module for 'llvm' has no source 'ptx'"):
        module.get_source("ptx")


def test_a_function_is_timed_as_often_as_asked() -> None:
    module = built(name="add")
    times = module.time_evaluator("add", None, number=3, repeat=4)(*arrays())
    assert len(times.results) == 4
    assert 0 < times.min <= times.median <= times.max and times.min <= times.mean <= times.max
    assert times.std >= 0
    slow = module.time_evaluator("add", number=1, repeat=1, min_repeat_ms=5)(*arrays())
    assert len(slow.results) == 1
    with pytest.raises(UsageError, match="at least once"):
        module.time_evaluator("add", number=0)


def test_an_array_that_does_not_fit_is_refused() -> None:
    module = built()
    a, b, c = arrays()
    with pytest.raises(InputError, match="takes 3 arrays"):
        module(a, b)
    with pytest.raises(InputError, match="has dtype float64"):
        module(a.astype(float), b, c)
    with pytest.raises(InputError, match=r"has shape \[7, 5\]"):
        module(a, b, c.T)
    with pytest.raises(InputError, match="'c' and 'a' share memory"):
        module(a, b, a)
    c.flags.writeable = False
    with pytest.raises(InputError, match="'c' is written"):
        module(a, b, c)


def test_arrays_of_a_module_need_not_be_dense() -> None:
    module = built()
    a, b, _ = arrays()
    wide, tall = np.zeros((5, 14), np.float32), np.zeros((7, 5), np.float32)
    module(a[::-1], b, wide[:, ::2])
    module(a, b, tall.T)
    np.testing.assert_array_equal(wide[:, ::2], a[::-1] + b)
    np.testing.assert_array_equal(tall.T, a + b)
    assert not wide[:, 1::2].any()
    x, y, strided = np.ones(8, np.float32), np.arange(8, dtype=np.float32), np.zeros(16, np.float32)
    strided[::2] = y
    both = weft.build(two())
    both["accumulate"](x, y)
    run = both["accumulate"].bind(x, strided[::2])
    run()
    np.testing.assert_array_equal(strided[::2], y)
    strided[:] = 0
    run()
    both["accumulate"](x, zeros := np.zeros(8, np.float32))
    np.testing.assert_array_equal(strided[::2], zeros)


def test_arrays_that_are_written_are_apart() -> None:
    x = te.placeholder((4, 6), name="x")
    y = te.compute((4, 6), lambda i, j: x[i, j] * 2.0, name="y")
    z = te.compute((4, 6), lambda i, j: x[i, j] * 3.0, name="z")
    module = weft.build(te.create_prim_func([x, y, z]), threads=1)
    a, out = np.ones((4, 6), np.float32), np.zeros((4, 6), np.float32)
    for other in (out[::-1], out.T.reshape(4, 6)):
        module(a, out.copy(), other)
    with pytest.raises(InputError, match="of which one is not dense, may share memory"):
        module(a, out, out[::-1])
    with pytest.raises(InputError, match="of which one is not dense, may share memory"):
        module(a, same := out[::-1], same)
    with pytest.raises(InputError, match="has elements of one place"):
        module(a, out, np.lib.stride_tricks.as_strided(np.zeros(6, np.float32), (4, 6), (0, 4)))


def test_what_cannot_be_built_is_refused() -> None:
    a, _, c = add()
    s = te.create_schedule(c.op)
    with pytest.raises(UsageError, match="lowered for arguments"):
        weft.lower(s)
    with pytest.raises(UsageError, match="arguments are given for a te schedule only"):
        weft.lower(two(), [a])
    with pytest.raises(UsageError, match="'inp' of lower is a Schedule, a PrimFuncOp or a ModuleOp"):
        weft.lower([c])  # pyright: ignore[reportArgumentType]
    graph = parse_module(
        "relay.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { relay.return %x : tensor<2xf32> }",
        new_ir_context(),
        "graph.mlir",
    )
    with pytest.raises(UsageError, match=r"takes modules of tir\.prim_func"):
        weft.lower(graph)


def test_what_a_function_adds_to_is_there_whatever_passes_run() -> None:
    x, y = np.ones(8, np.float32), np.full(8, 5, np.float32)
    with weft.PassContext(disabled_pass=["elide-copies"]):
        weft.build(two())["accumulate"](x, y)
    np.testing.assert_array_equal(y, np.full(8, 6, np.float32))


def scaled(n: te.Expr) -> tuple[te.Tensor, te.Tensor, te.Schedule]:
    a = te.placeholder((n, 3), name="a")
    b = te.compute((n, 3), lambda i, j: a[i, j] * 2.0, name="b")
    s = te.create_schedule(b.op)
    outer, inner = s[b].split(b.op.axis[0], factor=4)
    s[b].parallel(outer)
    s[b].unroll(inner)
    return a, b, s


def test_a_function_with_symbols_is_built_once_and_called_with_arrays_of_any_sizes() -> None:
    n = te.var("n")
    a, b, s = scaled(n)
    double = weft.build(s, [n, a, b], threads=2)
    for size in (0, 1, 6, 4):
        x, y = np.arange(size * 3, dtype=np.float32).reshape(size, 3), np.empty((size, 3), np.float32)
        double(size, x, y)
        np.testing.assert_array_equal(y, x * 2)
        y[...] = 0
        double(x, y)
        np.testing.assert_array_equal(y, x * 2)
    wide, strided = np.ones((8, 6), np.float32), np.empty((6, 8), np.float32).T
    double(wide[::2, ::2], strided[::2, ::2])
    np.testing.assert_array_equal(strided[::2, ::2], 2)
    assert "define" in double.get_source() and "ret" in double.get_source("asm")
    assert double.time_evaluator("main", number=1)(x, y).mean > 0


@pytest.mark.parametrize("kind", ["llvm", "c"])
def test_a_function_with_symbols_for_another_machine_is_text_and_not_loaded(kind: str) -> None:
    n = te.var("n")
    a, b, s = scaled(n)
    other = weft.build(s, [n, a, b], target=f"{kind} -mtriple=aarch64-linux-gnu")
    x, y = np.ones((4, 3), np.float32), np.zeros((4, 3), np.float32)
    with pytest.raises(PlatformError, match="the code is for aarch64-linux-gnu, and this machine is"):
        other(x, y)
    assert other.get_source()
    weft.build(s, [n, a, b], threads=2)(x, y)
    np.testing.assert_array_equal(y, 2)


def test_what_does_not_fit_a_function_with_symbols_is_refused() -> None:
    n = te.var("n")
    a, b, s = scaled(n)
    double = weft.build(s, [n, a, b], threads=1)
    x, y = np.ones((4, 3), np.float32), np.ones((4, 3), np.float32)
    refused: list[tuple[list[object], str]] = [
        ([x], "'main' takes 3 arguments (n, a, b), got 1"),
        ([5, x, y], "the extent 4 where it should have 5"),
        ([4.0, x, y], "'n' is an extent, and not 4.0"),
        ([True, x, y], "'n' is an extent, and not True"),
        ([-1, x, y], "'n' is an extent, and not -1"),
        ([x, y[:3]], "the extent 3 where it should have 4"),
        ([x, y.astype(np.float64)], "has dtype float64"),
        ([x, y[0]], "has shape [3]"),
        ([x, x], "share memory"),
        ([x, np.broadcast_to(y[:1], (4, 3))], "a NumPy array that can be"),
        ([x, np.lib.stride_tricks.as_strided(y, (4, 3), (0, 4))], "elements of one place"),
        ([x, np.lib.stride_tricks.as_strided(y, (4, 3), (4, 4))], "elements of one place"),
        ([x, np.lib.stride_tricks.as_strided(y, (4, 3), (12, 2))], "elements of one place"),
    ]
    for given, message in refused:
        with pytest.raises(InputError, match=re.escape(message)):
            double(*given)


def test_several_modules_are_built_as_one() -> None:
    n = te.var("n")
    a, b, s = scaled(n)
    first, second = weft.lower(s, [n, a, b], name="first"), weft.lower(s, [n, a, b], name="second")
    built = weft.build([first, second], target="llvm")
    x, y = np.ones((4, 3), np.float32), np.zeros((4, 3), np.float32)
    for name in ("first", "second"):
        y[...] = 0
        built[name](x, y)
        np.testing.assert_array_equal(y, 2)
    with pytest.raises(UsageError, match="two functions are called 'first'"):
        weft.build([first, first])


def test_a_target_is_given_where_arguments_would_be() -> None:
    n = te.var("n")
    a, b, s = scaled(n)
    module, x = weft.lower(s, [n, a, b], name="double"), np.ones((4, 3), np.float32)
    for target in ("llvm", weft.Target("llvm -num-cores=1")):
        y = np.zeros_like(x)
        weft.build(module, target)["double"](x, y)
        np.testing.assert_array_equal(y, 2)
    with pytest.raises(UsageError, match="'args' is a target, llvm, and 'target' is one, too"):
        weft.build(module, "llvm", "c")
    with pytest.raises(UsageError, match="a te schedule is lowered for arguments"):
        weft.build(s, "llvm")


def test_functions_are_built_for_the_targets_of_a_mapping() -> None:
    b = te.compute((4, 3), lambda i, j: te.placeholder((4, 3), name="a")[i, j] * 2.0, name="b")
    s, args = te.create_schedule(b.op), [*b.op.input_tensors, b]
    first, second = weft.lower(s, args, name="first"), weft.lower(s, args, name="second")
    built = weft.build({"llvm": first, weft.Target("c"): second})
    x = np.ones((4, 3), np.float32)
    for name in ("first", "second"):
        y = np.zeros_like(x)
        built[name](x, y)
        np.testing.assert_array_equal(y, 2)
    of_llvm, of_c = built["first"], built["second"]
    assert isinstance(of_llvm, Function) and isinstance(of_c, Function)
    assert of_llvm.source("asm")
    with pytest.raises(UsageError, match="the assembly is the C compiler's"):
        of_c.source("asm")
    with pytest.raises(UsageError, match="two functions are called 'first'"):
        weft.build({"llvm": first, "c": first})
    with pytest.raises(UsageError, match="@main is a graph, and functions of tir are built for a target each"):
        weft.build({"llvm": relay.IRModule.from_expr(relay.Function([], relay.const(1.0)))})
    with pytest.raises(UsageError, match="unknown target kind 'lvm'"):
        weft.build({"lvm": first})

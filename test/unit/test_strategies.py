"""Implementations of operators, and lowerings of kernels, that users and packages bring."""
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import relay, strategies, te
from weft.dialects.support import diagnostics, plugins
from weft.dialects.support.arguments import ArgumentError
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.lowering.relay_to_tir import strategies as registry
from weft.lowering.relay_to_tir.lower_te import LowerTEPass
from weft.transforms.infra import remarks, run

PAGE = (Path(__file__).parents[2] / "docs" / "strategies.md").read_text()
GRAPH = """
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.call @fused_exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
relay.func private @fused_exp(%x: tensor<4xf32>) -> tensor<4xf32> attributes {primitive} {
  %0 = relay.exp %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
"""


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_REGISTRY", registry._Registry())  # pyright: ignore[reportPrivateUsage]
    yield


def times(factor: float) -> Callable[..., te.Tensor]:
    def compute(op: Any, x: te.Tensor) -> te.Tensor:
        return te.compute(x.shape, lambda i: x[i] * te.const(factor, x.element_type), f"times{factor:.0f}")

    return compute


def lowered(target: str | None = None) -> tuple[str, str]:
    """The kernel as text, and the remarks."""
    module = parse_mlir(GRAPH, "graph.mlir")
    with remarks.collect() as said:
        run(LowerTEPass(target=target), module)
    return str(module), "\n".join(map(str, said))


def test_the_page_says_what_is_so(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)):
        path = tmp_path / f"{number}.py"
        path.write_text(block)  # where TVMScript finds its source
        exec(compile(block, str(path), "exec"), names)
    assert registry.is_empty()


def test_the_highest_priority_that_fits_computes_and_the_others_say_why_not() -> None:
    strategies.register("exp", name="low", priority=10)(times(1))
    strategies.register("relay.exp", name="high", priority=30, target="cuda")(times(2))
    strategies.register("exp", name="first", priority=20)(times(3))
    strategies.register("exp", name="second", priority=20)(times(4))
    strategies.register("exp", name="asked", priority=25, when=lambda op, target: target.kind == "c")(times(5))
    strategies.register("exp", name="featured", priority=24, target=("llvm", "c"), features=["sve"])(times(6))
    names = [each.name for each in strategies.implementations("exp")]
    assert names == ["high", "asked", "featured", "first", "second", "low"]
    text, said = lowered()
    assert "tir.block @times3" in text
    assert "'high' of priority 30 is not taken: it is for cuda, and this is llvm" in said
    assert "'asked' of priority 25 is not taken: its condition does not hold" in said
    assert "'featured' of priority 24 is not taken: the processor has no sve" in said
    assert "'first' of priority 20 computes it" in said and "second" not in said
    assert "tir.block @times5" in lowered("c")[0]
    for name in ("first", "second"):
        strategies.remove("exp", name)
    text, said = lowered()
    assert "math.exp" in text and "'low' of priority 10 is not taken: its priority is 10" in said


def test_a_schedule_stands_beside_the_kernel_and_one_that_does_not_apply_is_an_error_at_the_operator() -> None:
    def parallel(schedule: Any, block: str = "times2") -> None:
        schedule.parallel(schedule.get_loops(schedule.get_block(block))[0])

    strategies.add(strategies.Implementation("exp", times(2), "doubled", schedule=parallel))
    exe = weft.compile(parse_mlir(GRAPH, "graph.mlir"))
    assert (np.asarray(exe(np.ones(4, np.float32))) == 2).all()
    assert "schedule.sequence @fused_exp_doubled on @fused_exp {" in exe.ir["tir"]
    assert "tir.parallel" in exe.ir["schedule"] or "parallel" in exe.ir["schedule"]
    strategies.remove("exp", "doubled")
    strategies.add(strategies.Implementation("exp", times(2), "wrong", schedule=lambda s: parallel(s, "nowhere")))
    with pytest.raises(Diagnostic, match=r"graph\.mlir:7.*\n*.*the schedule of 'wrong' does not apply: .*nowhere"):
        lowered()


def test_a_lowering_takes_what_it_likes_and_is_held_to_the_call() -> None:
    text, _ = lowered()
    (kernel,) = [op for op in parse_mlir(text, "tir.mlir").ops if op.name == "tir.prim_func"]
    given: list[object] = [None]

    @strategies.register_lowering
    def by_hand(function: Any, target: weft.Target) -> Any:
        assert (function.sym_name.data, target.kind) == ("fused_exp", "llvm")
        return given[0]

    assert "by_hand" not in lowered()[1]
    given[0] = kernel
    text, said = lowered()
    assert "'by_hand' lowers it" in said and "tir.prim_func @fused_exp" in text
    given[0] = "text"
    with pytest.raises(Diagnostic, match=r"'by_hand' gives str, and no tir\.prim_func"):
        lowered()
    longer = str(ModuleOp([kernel.clone()])).replace("4xf32", "8xf32").replace("to 4", "to 8")
    (given[0],) = parse_mlir(longer.replace("spatial 4", "spatial 8"), "longer.mlir").ops
    with pytest.raises(Diagnostic, match=r"gives a function of \(memref<8xf32>, memref<8xf32>\), and \(memref<4xf32>"):
        lowered()


def test_mistakes_are_told() -> None:
    with pytest.raises(UsageError, match=r"there is no operator 'nn\.sofmax'(.|\n)*relay\.nn\.softmax"):
        strategies.register("nn.sofmax")(times(1))
    strategies.register("exp", name="one")(times(1))
    with pytest.raises(UsageError, match=r"'relay\.exp' has an implementation 'one' already"):
        strategies.register("exp", name="one")(times(1))
    strategies.register("exp", name="other", priority=99)(lambda op, x: te.compute((2,), lambda i: x[i], "less"))
    with pytest.raises(Diagnostic, match=r"its compute has shape \[2\] .* but it declares tensor<4xf32>"):
        lowered()


def test_an_implementation_is_held_to_its_types_and_its_inputs() -> None:
    wrong: dict[str, Any] = {"priority": float("nan"), "target": 3, "features": 1, "when": True, "schedule": "rows"}
    for name, value in wrong.items():
        with pytest.raises(ArgumentError, match=f"'{name}' of Implementation is"):
            strategies.Implementation("exp", times(2), "mine", **{name: value})
    other = te.placeholder((4,), "float32", "other")
    strategies.register("exp", name="foreign")(lambda op, x: te.compute(x.shape, lambda i: other[i], "y"))
    with pytest.raises(Diagnostic, match="reads 'other', which is none of its inputs"):
        run(LowerTEPass(), parse_mlir(GRAPH, "graph.mlir"))


def test_a_package_brings_implementations_and_lowerings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "brought.py").write_text(
        "from weft import strategies, te\n"
        "def compute(op, x): return te.compute(x.shape, lambda i: x[i] + x[i], 'brought')\n"
        "def lower(function, target): return None\n"
        "BROUGHT = strategies.Implementation('exp', compute, 'brought')\n"
        "STRATEGIES = [lower, 5]\n"
    )
    information = tmp_path / "brought-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: brought\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[weft.strategies]\none = brought:BROUGHT\nmore = brought:STRATEGIES\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(plugins, "_broken", dict[str, str]())
    warnings: list[str] = []
    with diagnostics.handled_by(lambda diagnostic: warnings.append(diagnostic.message)):
        assert "tir.block @brought" in lowered()[0]
    assert len(warnings) == 1 and "int is no weft.strategies.Implementation" in warnings[0]
    x = relay.var("x", shape=(4,))
    exe = weft.compile(relay.IRModule.from_expr(relay.Function([x], relay.exp(x))))
    assert (np.asarray(exe(np.ones(4, np.float32))) == 2).all()

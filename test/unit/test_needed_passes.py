"""Passes of the lowering say what they need, and what compiling needs runs."""

from __future__ import annotations

import pytest
from compilations import CHAIN, Events
from native import parse
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support.columns import broken
from weft.dialects.support.diagnostics import Diagnostic
from weft.lowering.compiler import lower
from weft.lowering.machine.target import Target
from weft.transforms.infra import PassContext, PassInfo, PassInstrument, parse_pipeline, run
from weft.transforms.infra.remarks import Remark, sent_to

HOST = Target.parse("llvm -mcpu=native")


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("outline-primitives", "relay.primitive"),
        ("lower-te", "primitive"),
        ("schedule-rules", "primitive"),
        ("convert-tir-to-loops", "tir."),
        ("bufferize-graph", "relay.primitive"),
        ("plan-memory", "relay.primitive"),
        ("materialize-memory", "mem."),
        ("convert-loops-to-llvm", "func.func"),
        ("add-entry-point", "func.func"),
    ],
)
def test_a_pass_of_the_lowering_has_run_what_it_needs(name: str, gone: str) -> None:
    module = parse(CHAIN)
    remarks: list[Remark] = []
    with PassContext(opt_level=3), sent_to([remarks.append]):
        run(parse_pipeline(name), module)
    module.verify()
    assert gone not in str(module).replace("relay.resource", "")
    assert any("because 'outline-primitives' requires it" in str(r.message) for r in remarks)


def test_what_is_there_already_is_not_done_again() -> None:
    module = parse(CHAIN)
    with PassContext(opt_level=3):
        run(parse_pipeline("fuse-ops,outline-primitives"), module)
        with PassContext(opt_level=3, instruments=[events := Events()]):
            run(parse_pipeline("lower-te"), module)
    assert [name for name in events.log if name not in ("enter", "exit", "sequential")] == ["lower-te"]


NEEDED = (
    "fuse-ops", "OutlinePrimitives", "lower-te", "convert-tir-to-loops", "bufferize-graph", "plan-memory",
    "materialize-memory", "expand-math", "convert-loops-to-llvm", "add-entry-point",
)  # fmt: skip


def test_disabled_passes_that_compiling_needs_run_all_the_same_as_they_stand_there() -> None:
    model = parse(CHAIN.replace("relay.nn.relu", "relay.tanh"))
    usual = weft.compile(model.clone(), opt_level=3).ir["llvm"]
    for names in (NEEDED, ["lower-te"], ["add-entry-point"]):
        heard: list[Remark] = []
        with PassContext(opt_level=3, disabled_pass=names, remarks=[heard.append], instruments=[e := Events()]):
            lower(module := model.clone(), HOST, "llvm")
        assert broken(str(module)) == usual
        assert sum("runs although it is disabled: compiling needs it" in r.message for r in heard) == len(names)
        assert e.times("fuse-ops") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fuse-ops", "'relay.nn.relu': is not a kernel call"),
        ("outline-primitives", "'relay.primitive': is not a kernel call"),
        ("lower-te", "'mem.call': there is no function @fused_nn_relu of loops"),
    ],
)
def test_what_an_instrument_kept_from_becoming_a_kernel_names_the_pass(name: str, message: str) -> None:
    class Veto(PassInstrument):
        def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
            return info.name != name

    text = "relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = relay.nn.relu %x : tensor<4xf32>\n"
    module = parse(f"{text}  relay.return %y : tensor<4xf32>\n}}")
    with PassContext(instruments=[Veto()]), pytest.raises(Diagnostic) as error:
        weft.compile(module, threads=1)
    assert message in error.value.message
    assert error.value.hint is not None and error.value.hint.startswith(f"'{name}' makes ")

"""What is shown is what runs: one pipeline of phases, through the pass infrastructure, whoever asks for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from compilations import CHAIN, Events
from memory_graphs import GRAPHS
from native import parse
from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, TensorType, f32

import weft
from weft.dialects.relay.core import FuncOp, ReturnOp
from weft.dialects.relay.ops.elementwise import NegativeOp
from weft.dialects.support.columns import broken
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.lowering.abi import INPUTS, POOL
from weft.lowering.compiler import MAIN, MARK, code_units, compile_graph, lower
from weft.lowering.machine.codegen import CodegenPool, compile_to_assembly
from weft.lowering.machine.target import Target
from weft.lowering.phase_texts import PhaseTexts
from weft.lowering.phases import PHASES, pipeline
from weft.lowering.snapshots import Snapshots
from weft.transforms.infra import (
    ModulePass,
    PassContext,
    PassInfo,
    PassInstrument,
    PassTimingInstrument,
    parse_pipeline,
    run,
)
from weft.transforms.infra.parts import GRAPH_MARK, join, take_apart
from weft.transforms.infra.registry import registered
from weft.transforms.infra.remarks import collect

HOST = Target.parse("llvm -mcpu=native")

CONVOLUTION = """
relay.func @main(%x: tensor<1x3x12x12xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x8x10x10xf32> {
  %0 = relay.nn.conv2d %x, %w : (tensor<1x3x12x12xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x10x10xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<1x8x10x10xf32>, tensor<8xf32>) -> tensor<1x8x10x10xf32>
  %2 = relay.nn.relu %1 : tensor<1x8x10x10xf32>
  relay.return %2 : tensor<1x8x10x10xf32>
}
"""
SOFTMAX_OF_MATMUL = """
relay.func @main(%x: tensor<4x32xf32>, %w: tensor<16x32xf32>) -> tensor<4x16xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<4x32xf32>, tensor<16x32xf32>) -> tensor<4x16xf32>
  %1 = relay.nn.softmax %0 : tensor<4x16xf32>
  relay.return %1 : tensor<4x16xf32>
}
"""


JOINED_TWICE = """
relay.func @main(%x: tensor<4x8xf32>) -> tensor<12x8xf32> {
  %0 = relay.nn.softmax %x : tensor<4x8xf32>
  %1 = relay.nn.softmax %0 : tensor<4x8xf32>
  %t = relay.tuple(%0, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tuple<tensor<4x8xf32>, tensor<4x8xf32>>
  %2 = relay.concatenate %t {axis = 0 : i64} : (tuple<tensor<4x8xf32>, tensor<4x8xf32>>) -> tensor<8x8xf32>
  %3 = relay.nn.softmax %2 : tensor<8x8xf32>
  %u = relay.tuple(%3, %x) : (tensor<8x8xf32>, tensor<4x8xf32>) -> tuple<tensor<8x8xf32>, tensor<4x8xf32>>
  %4 = relay.concatenate %u {axis = 0 : i64} : (tuple<tensor<8x8xf32>, tensor<4x8xf32>>) -> tensor<12x8xf32>
  %5 = relay.nn.softmax %4 : tensor<12x8xf32>
  relay.return %5 : tensor<12x8xf32>
}
"""
"""The parts of the first concatenation are computed in place; of the second one, an input is copied."""


def graph(name: str) -> ModuleOp:
    """One of the graphs that are also about memory."""
    body, _ = GRAPHS[name]
    outputs = body.rpartition(" : ")[2]
    return parse(f"relay.func @main(%x: tensor<1x8xf32>) -> ({outputs}) {{\n{body}\n}}")


MODELS = {
    **{name: None for name in GRAPHS},
    "a convolution": CONVOLUTION,
    "a softmax": SOFTMAX_OF_MATMUL,
    "tensors joined twice": JOINED_TWICE,
}


def model(name: str) -> ModuleOp:
    text = MODELS[name]
    return graph(name) if text is None else parse(text)


BESIDE = (POOL, MARK)
"""What is compiled beside the graph: the threads' pool, and the mark of what the code was made for."""


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the code generator is given, by name."""
    texts: dict[str, str] = {}
    submit = CodegenPool.submit

    def note(self: CodegenPool, key: str, text: str, *rest: Any) -> None:
        texts[key] = text
        submit(self, key, text, *rest)

    monkeypatch.setattr(CodegenPool, "submit", note)
    return texts


def by_key(units: list[tuple[str | None, str]]) -> list[tuple[str, str]]:
    return [(MAIN if name is None else name, text) for name, text in units]


# What is shown is what was compiled.


def test_there_are_ten_graphs() -> None:
    assert len(MODELS) >= 10


def check_shown(ir: Mapping[str, str], submitted: dict[str, str]) -> None:
    compiled = [(key, text) for key, text in submitted.items() if key not in BESIDE]
    shown = by_key(code_units(parse(ir["llvm"])))
    assert [key for key, _ in shown] == [key for key, _ in compiled]
    for (key, text), (_, given) in zip(shown, compiled, strict=True):
        assert text == given, key


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("level", [0, 3])
def test_the_text_shown_is_the_text_compiled(
    name: str, level: int, submitted: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CodegenPool, "result", lambda self, key: b"")  # pyright: ignore
    module = model(name)
    with PassContext(opt_level=level) as context:
        texts = PhaseTexts(module.clone(), "import", HOST, context)
        compile_graph(module, HOST, jobs=1)
    check_shown(texts, submitted)


def test_the_text_that_an_executable_shows_is_the_text_compiled(submitted: dict[str, str]) -> None:
    with PassContext(opt_level=2, disabled_pass=["simplify-expr"], config={"fuse-ops.max-depth": 2}):
        exe = weft.compile(parse(SOFTMAX_OF_MATMUL))
    check_shown(exe.ir, submitted)


class Budget(PassInstrument):
    """Says no to some passes, and after some more to any that may be left out: another answer each time."""

    def __init__(self, without: str, left: int):
        self.without = without
        self.left = left

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        self.left -= info.name == "schedule-rules"
        return info.name != self.without and (info.name != "schedule-rules" or self.left >= 0)


@pytest.mark.parametrize(
    ("without", "text"),
    [("schedule-rules", SOFTMAX_OF_MATMUL), ("elide-copies", JOINED_TWICE), ("fold-constant", CHAIN)],
)
def test_what_an_instrument_kept_from_running_is_not_in_the_text_either(
    without: str, text: str, submitted: dict[str, str]
) -> None:
    with PassContext(opt_level=3, instruments=[Budget(without, left=1)]):
        exe = weft.compile(parse(text))
    check_shown(exe.ir, submitted)


@pytest.mark.parametrize("name", ["a softmax"])
def test_the_assembly_shown_is_that_of_the_text_compiled(name: str, submitted: dict[str, str]) -> None:
    exe = weft.compile(model(name), opt_level=3)
    pieces = re.split(r"^# (.*)\n(?=\t\.)", exe.asm, flags=re.MULTILINE)[1:]
    given = [text for key, text in submitted.items() if key not in BESIDE]
    names = [key for key in submitted if key not in (MAIN, *BESIDE)]
    assert pieces[::2] == [*names, "the graph"]
    assert [piece.rstrip() for piece in pieces[1::2]] == [compile_to_assembly(t, HOST).rstrip() for t in given]


@pytest.mark.parametrize("start", ["graph", "fuse", "tir", "schedule", "loops"])
def test_a_phase_that_is_shown_compiles_to_the_same(start: str, submitted: dict[str, str]) -> None:
    exe = weft.compile(parse(CONVOLUTION), opt_level=3)
    first = dict(submitted)
    submitted.clear()
    compile_graph(parse(exe.ir[start]), HOST, start=start, jobs=1)
    if (
        start == "loops"
    ):  # whose text does not say in which shapes kernels see their buffers, which the mark is of as well
        assert submitted.keys() == first.keys()
        del submitted[MARK], first[MARK]
    assert submitted == first


@pytest.mark.parametrize("name", ["a convolution", "tensors joined twice"])
def test_each_phase_of_one_run_is_what_a_run_up_to_it_gives(name: str) -> None:
    seen: dict[str, str] = {}
    snapshots = Snapshots(lambda phase, module: seen.update({phase: str(module)}))
    module = model(name)
    with PassContext(opt_level=3):
        snapshots("import", module, None)
        lower(module, HOST, "llvm", observer=snapshots)
    snapshots.finish()
    exe = weft.compile(model(name), HOST, opt_level=3)
    assert tuple(seen) == PHASES[:-1]
    assert {phase: exe.ir[phase] for phase in seen} == {phase: broken(text) for phase, text in seen.items()}
    assert seen["llvm"] == str(module)


def joins(submitted: dict[str, str]) -> set[str]:
    return {name for name in submitted if name.startswith("fused_concatenate")}


def test_a_kernel_that_nothing_calls_once_copies_are_elided_is_not_lowered(submitted: dict[str, str]) -> None:
    compile_graph(parse(JOINED_TWICE), HOST, jobs=1)
    assert joins(submitted) == {"fused_concatenate_1"}


def test_whoever_listens_to_remarks_has_the_same_kernels_lowered(submitted: dict[str, str]) -> None:
    with collect() as heard:
        compile_graph(parse(JOINED_TWICE), HOST, jobs=1)
    assert heard and joins(submitted) == {"fused_concatenate_1"}


def test_a_kernel_is_lowered_where_its_copies_are_made(submitted: dict[str, str]) -> None:
    with PassContext(disabled_pass=["elide-copies"]):
        compile_graph(parse(JOINED_TWICE), HOST, jobs=1)
    assert joins(submitted) == {"fused_concatenate", "fused_concatenate_1"}


def test_all_kernels_are_lowered_where_an_instrument_may_say_no(submitted: dict[str, str]) -> None:
    class NoElision(PassInstrument):
        def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
            return info.name != "elide-copies"

    with PassContext(instruments=[NoElision()]):
        compile_graph(parse(JOINED_TWICE), HOST, jobs=1)
    assert joins(submitted) == {"fused_concatenate", "fused_concatenate_1"}


def test_a_kernel_that_no_instrument_has_kept_is_not_compiled(submitted: dict[str, str]) -> None:
    """What is compiled is what the texts show, whoever looks on; instruments hear of each pass once."""
    with PassContext(instruments=[events := Events()]):
        exe = weft.compile(parse(JOINED_TWICE))
    assert joins(submitted) == {"fused_concatenate_1"} and events.times("elide-copies") == 1
    check_shown(exe.ir, submitted)


def test_a_failure_leaves_the_phases_before_it_to_be_seen() -> None:
    text = CHAIN.replace("relay.nn.relu", "relay.exp")
    seen: list[str] = []
    snapshots = Snapshots(lambda phase, module: seen.append(phase))

    class FailAtLoops(PassInstrument):
        def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
            if info.name == "convert-tir-to-loops":
                raise Diagnostic("that far")

    module = parse(text)
    with PassContext(opt_level=3, instruments=[FailAtLoops()]), pytest.raises(Diagnostic, match="that far"):
        snapshots("import", module, None)
        lower(module, HOST, "llvm", observer=snapshots)
    snapshots.finish()
    assert seen == ["import", "graph", "fuse", "tir", "schedule"]


# The rules of a context hold in a compilation.


def test_types_are_inferred_once_in_a_compilation() -> None:
    with PassContext(opt_level=3, instruments=[events := Events()]):
        weft.compile(parse(CONVOLUTION))
    assert events.times("infer-type") == 1


def test_the_timing_of_a_compilation_shows_phases_and_passes() -> None:
    with PassContext(opt_level=3, instruments=[timing := PassTimingInstrument()]):
        weft.compile(parse(CONVOLUTION))
        lines = [line.split(":")[0] for line in timing.render().splitlines()]
    outline = [line for line in lines if line.strip() in (*PHASES, "compile", "apart", "rest")]
    assert outline[:5] == ["compile", "  graph", "  fuse", "  tir", "  apart"]
    assert outline[-3:] == ["    rest", "      loops", "      llvm"]
    assert outline[5:8] == ["    schedule", "    loops", "    llvm"]  # of the first kernel
    assert {"    fold-constant", "    fuse-ops", "    lower-te"} <= set(lines)
    assert {"      schedule-rules", "      convert-tir-to-loops", "      convert-loops-to-llvm"} <= set(lines)


@pytest.mark.parametrize("level", [None, 0])
def test_instruments_are_entered_and_left_once(level: int | None) -> None:
    with PassContext(opt_level=2, instruments=[events := Events()]):
        weft.compile(parse(CHAIN), opt_level=level)
        assert events.log[0] == "enter" and events.times("exit") == 0
    assert events.times("enter") == events.times("exit") == 1 and events.log[-1] == "exit"
    assert events.times("compile") == 1


def test_every_target_goes_through_the_same_infrastructure() -> None:
    """C source is made at the end of `loops`; up to there an instrument is told the same."""
    with PassContext(opt_level=3, instruments=[events := Events()]):
        weft.compile(parse(CHAIN))
        by_llvm, events.log = [name for name in events.log if name in ("compile", *PHASES)], []
        weft.compile(parse(CHAIN), target="c")
    by_c = [name for name in events.log if name in ("compile", *PHASES)]
    assert by_c == [name for name in by_llvm if name != "llvm"] and by_c[0] == "compile" and "loops" in by_c


def test_instruments_of_the_default_context_are_entered_and_left_once() -> None:
    context = PassContext.current()
    context.override_instruments([events := Events()])
    try:
        weft.compile(parse(CHAIN), opt_level=1)
        weft.compile(parse(CHAIN))
        assert events.times("enter") == 1 and events.times("exit") == 0 and events.times("compile") == 2
    finally:
        context.override_instruments(None)
    assert events.times("exit") == 1


def test_levels_and_disabled_passes_hold_in_a_compilation() -> None:
    def passes(**arguments: Any) -> set[str]:
        with PassContext(instruments=[events := Events()], **arguments):
            weft.compile(parse(CONVOLUTION))
        return set(events.log)

    assert {"simplify-expr", "alter-op-layout"} <= passes(opt_level=3)
    assert "alter-op-layout" not in passes(opt_level=2)
    assert "alter-op-layout" in passes(opt_level=2, required_pass=["alter-op-layout"])
    assert "alter-op-layout" not in passes(opt_level=3, disabled_pass=["AlterOpLayout"])
    assert "loop-partition" not in passes(opt_level=3, disabled_pass=["loop-partition"])


def test_the_configuration_holds_in_a_compilation() -> None:
    def kernels(**config: object) -> int:
        with PassContext(opt_level=3, config={key.replace("__", "."): value for key, value in config.items()}):
            return len(weft.compile(parse(CHAIN)).graph.kernels)

    assert kernels() == 1
    assert kernels(relay__FuseOps__max_depth=1) == 2


def test_the_level_of_the_call_is_the_one_that_counts_within() -> None:
    levels: set[int] = set()

    class Levels(PassInstrument):
        def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
            levels.add(PassContext.current().opt_level)

    with PassContext(opt_level=0, instruments=[Levels()]) as outer:
        weft.compile(parse(CHAIN), opt_level=1)
        assert PassContext.current() is outer
    assert levels == {1}


def test_the_context_for_dialects_is_the_users() -> None:
    mine = Context()
    given: list[Context] = []

    @dataclass(frozen=True)
    class Note(ModulePass):
        name = "t-note-context"
        joins_phase: ClassVar[str | None] = "graph"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            given.append(ctx)

    with registered(Note), PassContext(opt_level=3, ir_context=mine):
        weft.compile(parse(CHAIN))
        weft.compile(parse(CHAIN), opt_level=0)
    assert len(given) == 2 and all(ctx is mine for ctx in given)


@pytest.mark.parametrize("level", [-1, 5, 9])
def test_a_level_that_there_is_not_is_refused(level: int) -> None:
    with pytest.raises(UsageError, match=f"there is no opt level {level}"):
        weft.compile(parse(CHAIN), opt_level=level)


def test_a_kernel_is_submitted_before_the_next_one_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    events = Events()
    submit = CodegenPool.submit

    def note(self: CodegenPool, key: str, text: str, *rest: Any) -> None:
        events.log.append(f"submit {key}")
        submit(self, key, text, *rest)

    monkeypatch.setattr(CodegenPool, "submit", note)
    with PassContext(opt_level=0, instruments=[events]):
        weft.compile(parse(CHAIN))
    steps = [step for step in events.log if step.startswith("submit") or step == "schedule"]
    # With the first kernel the threads' pool, which needs nothing of the graph; last the graph's own function, and what
    # says what all of it was made for.
    kinds = [step.split()[0] for step in steps]
    assert kinds == ["schedule", "submit", "submit", "schedule", "submit", "submit", "submit"]


# What goes in, and what comes out of each phase, is verified.

WRONG = """
relay.func @main(%x: tensor<64xf32>) -> tensor<8xf32> {
  %0 = relay.negative %x : tensor<64xf32>
  relay.return %0 : tensor<64xf32>
}
"""


def wrong_function() -> FuncOp:
    x, y = TensorType(f32, [64]), TensorType(f32, [8])
    function = FuncOp("main", FunctionType.from_lists([x], [y]))
    function.body.block.add_ops([op := NegativeOp(function.body.block.args[0]), ReturnOp(op.result)])
    return function


@pytest.mark.parametrize("form", ["path", "module", "function"])
def test_a_model_that_is_not_valid_is_refused_whatever_form_it_has(form: str, tmp_path: Path) -> None:
    match form:
        case "path":
            (tmp_path / "wrong.mlir").write_text(WRONG)
            given: Any = tmp_path / "wrong.mlir"
        case "module":
            given = ModuleOp([wrong_function()])
        case _:
            given = wrong_function()
    with pytest.raises(Diagnostic, match=r"'relay.return'"):
        weft.compile(given)
    for target in (HOST, Target("c")):
        with PassContext(instruments=[events := Events()]), pytest.raises(Diagnostic, match=r"'relay.return'"):
            compile_graph(ModuleOp([wrong_function()]), target, jobs=1)
        assert "compile" not in events.log, "no pass has seen it"


@pytest.mark.parametrize("phase", PHASES[1:-1])
def test_what_each_phase_has_made_is_verified(phase: str) -> None:
    """A pass that joins a phase and leaves what is not valid is found out at that phase's end, not later."""

    @dataclass(frozen=True)
    class Break(ModulePass):
        name = "t-break"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            first = op.body.block.first_op
            assert first is not None
            op.body.block.insert_op_before(wrong_function(), first)

    joining = type("Break", (Break,), {"joins_phase": phase})
    with registered(joining), PassContext(opt_level=3, instruments=[events := Events()]):
        with pytest.raises(Diagnostic, match=r"'relay.return'"):
            compile_graph(parse(CHAIN), HOST, jobs=1)
    assert [name for name in events.log if name in PHASES][-1] == phase


def test_what_holds_in_a_module_holds_in_the_kernels_that_are_taken_out_of_it() -> None:
    @dataclass(frozen=True)
    class Typed(ModulePass):
        name = "t-typed"
        required: ClassVar[tuple[str, ...]] = ("infer-type",)
        joins_phase: ClassVar[str] = "schedule"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            pass

    with registered(Typed), PassContext(opt_level=3, instruments=[events := Events()]):
        compile_graph(parse(CHAIN), HOST, jobs=1)
    assert events.times("infer-type") == 1 and events.times("t-typed") == 1


# The pipeline as text, and modules in parts.


def test_the_pipeline_can_be_written_and_read() -> None:
    text = str(pipeline(HOST))
    assert "apart(each(keep-roundings,apply-schedule,schedule-rules" in text and text.endswith("add-entry-point))")
    first, second = parse(CONVOLUTION), parse(CONVOLUTION)
    with PassContext(opt_level=3):
        run(pipeline(HOST), first)
        run(parse_pipeline(text), second)
    assert str(first) == str(second)


@pytest.mark.parametrize(
    "text",
    ["each(cse)", "apart(cse)", "apart(rest(cse))", "apart(each(cse),each(cse))", "apart(relay.func())", "apart()"],
)
def test_a_pipeline_that_takes_nothing_apart_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_pipeline(text)
    assert error.value.hint == "write apart(each(...),rest(...))"


LLVM = """
llvm.func @foreign(!llvm.ptr)
llvm.mlir.global private constant @text("one") {addr_space = 0 : i32}
llvm.func internal @help(%p: !llvm.ptr) { llvm.call @foreign(%p) : (!llvm.ptr) -> ()  llvm.return }
llvm.func @k(%p: !llvm.ptr) { llvm.call @help(%p) : (!llvm.ptr) -> ()  llvm.return }
llvm.func @l(%p: !llvm.ptr) { llvm.call @help(%p) : (!llvm.ptr) -> ()  llvm.return }
llvm.func internal @graph(%p: !llvm.ptr) attributes {weft.inputs = []} {
  llvm.call @k(%p) : (!llvm.ptr) -> ()  llvm.call @l(%p) : (!llvm.ptr) -> ()  llvm.return
}
llvm.func @run(%p: !llvm.ptr) { llvm.call @graph(%p) : (!llvm.ptr) -> ()  llvm.return }
"""


def names(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, llvm.FuncOp) and op.body.blocks]


def test_a_module_in_parts_joins_to_what_it_was() -> None:
    module = parse(LLVM)
    parts = [(part.name, part.module) for part in take_apart(module)]
    assert [(name, names(part)) for name, part in parts] == [("k", ["help", "k"]), ("l", ["help", "l"])]
    assert names(module) == ["graph", "run"]
    module.verify()
    for _, part in parts:
        part.verify()
    join(module, parts)
    assert sorted(names(module)) == sorted(names(parse(LLVM)))
    again = parse(str(module))
    assert by_key(code_units(again)) == by_key(code_units(parse(LLVM)))


def test_the_graphs_own_function_is_known_by_one_mark() -> None:
    assert GRAPH_MARK == INPUTS


def test_private_symbols_of_two_kernels_may_have_the_same_name() -> None:
    """Each has a text of its own under one name: in the joined module they keep apart, and are compiled as shown."""
    functions = "".join(
        f'func.func @{name}(%c: i1) {{ cf.assert %c, "{message}"  return }}\n'
        for name, message in (("k", "one"), ("l", "two"), ("m", "one"))
    )
    module = parse(functions)
    run(pipeline(HOST, "loops", "llvm"), module)
    strings = [op for op in module.ops if isinstance(op, llvm.GlobalOp)]
    values = {op.sym_name.data: op.value for op in strings}
    assert sorted(value.data for value in values.values() if isinstance(value, StringAttr)) == ["one\0", "two\0"]
    assert dict(code_units(module)).keys() == {"k", "l", "m", None}

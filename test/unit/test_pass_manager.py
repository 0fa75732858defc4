"""Pass kinds, decorators, PassInfo, PassContext, Sequential: what TVM's pass manager does, and what it does not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.parser import Parser

from weft.dialects.relay.core import FuncOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import PrimFuncOp
from weft.transforms.infra import remarks, report_changed
from weft.transforms.infra.adapt import get_pass
from weft.transforms.infra.context import PassContext
from weft.transforms.infra.decorators import function_pass, module_pass, prim_func_pass
from weft.transforms.infra.info import PassInfo, info_of
from weft.transforms.infra.instruments import PassInstrument
from weft.transforms.infra.passes import FunctionPass, ModulePass, PrimFuncPass
from weft.transforms.infra.sequential import Sequential

RELAY = """
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}
relay.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}
"""

TIR = """
"tir.prim_func"() <{sym_name = "f", function_type = () -> ()}> ({ "test.termop"() : () -> () }) : () -> ()
"tir.prim_func"() <{sym_name = "g", function_type = () -> ()}> ({ "test.termop"() : () -> () }) : () -> ()
"""


def parse(text: str) -> ModuleOp:
    return Parser(PassContext.current().ir_context, text).parse_module()


def names(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp | PrimFuncOp)]


class Recorder(PassInstrument):
    """The names of the passes that ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.ran.append(info.name)


@dataclass(frozen=True)
class MarkModule(ModulePass):
    name = "mark-module"
    mark: str = "marked"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.attributes[self.mark] = UnitAttr()


@dataclass(frozen=True)
class MarkFunctions(FunctionPass):
    name = "mark-functions"
    opt_level = 1

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        func.attributes["marked"] = UnitAttr()


@dataclass(frozen=True)
class MarkPrimFuncs(PrimFuncPass):
    name = "mark-prim-funcs"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        func.attributes["marked"] = UnitAttr()


def nothing(*arguments: object) -> None:
    """A transformation that forgets to return something."""


@pytest.fixture
def module() -> ModuleOp:
    return parse(RELAY)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    with PassContext(opt_level=2, instruments=[recorder]):
        yield recorder


def test_pass_info_has_level_name_and_requirements():
    info = PassInfo(opt_level=2, name="p", required=["a", "b"])
    assert (info.opt_level, info.name, info.required) == (2, "p", ("a", "b"))
    assert info == PassInfo(2, "p", ("a", "b"), spec="p{x=1}")
    assert str(info) == "PassInfo(name=p, opt_level=2, required=[a, b])"


def test_an_xdsl_pass_has_info_with_level_zero_and_no_requirements():
    info = info_of(get_pass("cse"))
    assert (info.name, info.opt_level, info.required) == ("cse", 0, ())


def test_calling_a_pass_gives_a_new_module_and_keeps_the_old(module: ModuleOp):
    before = str(module)
    result = MarkModule()(module)
    assert "marked" in result.attributes
    assert str(module) == before


def test_a_failing_pass_leaves_the_module_as_it_was(module: ModuleOp):
    @module_pass(opt_level=0)
    def fails(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        mod.attributes["half-done"] = UnitAttr()
        raise ZeroDivisionError("broken")

    before, functions = str(module), list(module.ops)
    with pytest.raises(ZeroDivisionError) as caught:
        Sequential([MarkModule(), fails])(module)
    assert str(module) == before and list(module.ops) == functions
    assert "while running the pass fails" in caught.value.__notes__


def test_a_pass_takes_a_module_and_nothing_else(module: ModuleOp):
    with pytest.raises(TypeError, match=r"takes a builtin\.module, got FuncOp"):
        MarkModule()(next(iter(module.ops)))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("mark", ["Compiler", "Extern", "SkipOptimization"])
def test_a_function_pass_leaves_marked_functions_alone_and_says_so(module: ModuleOp, mark: str):
    main, other = module.ops
    main.attributes[mark] = StringAttr("x") if mark == "Compiler" else UnitAttr()
    with remarks.collect() as said:
        result = MarkFunctions()(module)
    main, other = result.ops
    assert "marked" not in main.attributes and "marked" in other.attributes
    assert [r.message for r in said] == [f"@main is marked {mark}"]


def test_a_function_pass_leaves_primitive_functions_alone(module: ModuleOp):
    next(iter(module.ops)).attributes["primitive"] = UnitAttr()
    assert ["marked" in f.attributes for f in MarkFunctions()(module).ops] == [False, True]


def test_a_prim_func_pass_sees_prim_funcs_only():
    result = MarkPrimFuncs()(parse(RELAY.replace("@main", "@r") + TIR.replace('"f"', '"main"')))
    assert ["marked" in op.attributes for op in result.ops] == [False, False, True, True]


def test_module_pass_decorates_a_function(module: ModuleOp):
    @module_pass(opt_level=2, name="add-copy", required=["cse"])
    def transform(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        copy = next(iter(mod.ops)).clone()
        assert isinstance(copy, FuncOp)
        copy.sym_name = StringAttr("copy")
        mod.body.block.add_op(copy)
        return mod

    assert transform.info == PassInfo(2, "add-copy", ["cse"])
    assert names(transform(module)) == ["main", "other", "copy"]
    assert names(module) == ["main", "other"]


def test_module_pass_takes_a_function_directly(module: ModuleOp):
    def rename(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        return mod

    made = module_pass(rename, opt_level=1)
    assert made.info == PassInfo(1, "rename", [])
    assert str(made(module)) == str(module)


def test_a_decorated_function_is_named_after_itself():
    @module_pass(opt_level=0)
    def some_name(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        return mod

    assert some_name.info.name == "some_name"


def test_a_module_pass_may_return_another_module(module: ModuleOp):
    @module_pass(opt_level=0)
    def empty(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        return ModuleOp([], {"fresh": UnitAttr()})

    result = Sequential([MarkModule(), empty, MarkModule("after")])(module)
    assert names(result) == [] and set(result.attributes) == {"fresh", "after"}


def test_a_module_pass_that_returns_nothing_is_an_error(module: ModuleOp):
    @module_pass(opt_level=0)
    def forgets(mod: ModuleOp, ctx: PassContext) -> None:
        return None

    with pytest.raises(TypeError, match=r"the module pass forgets must return a builtin\.module, got None"):
        forgets(module)


def test_a_decorated_class_becomes_a_class_of_passes(module: ModuleOp):
    @module_pass(opt_level=1)
    class Marker:
        """Marks."""

        def __init__(self, mark: str, *, times: int = 1):
            self.mark, self.times = mark, times

        def transform_module(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
            mod.attributes[self.mark] = UnitAttr()
            return mod

    first, second = Marker("a", times=3), Marker("b")
    assert [first.times, first.mark, second.mark] == [3, "a", "b"]  # pyright: ignore
    assert first != second and first.info == PassInfo(1, "Marker", [])
    assert set(Sequential([first, second])(module).attributes) == {"a", "b"}
    with pytest.raises(AttributeError):
        first.absent  # noqa: B018  # pyright: ignore


def test_function_pass_decorates_functions_and_classes(module: ModuleOp):
    @function_pass(opt_level=1)
    def mark_x(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        func.attributes["x"] = UnitAttr()
        return func

    @function_pass(opt_level=1)
    class Mark:
        def __init__(self, mark: str):
            self.mark = mark

        def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
            new = func.clone()
            new.attributes[self.mark] = UnitAttr()
            return new

    assert [f.attributes.keys() for f in mark_x(module).ops] == [{"x"}, {"x"}]
    assert [f.attributes.keys() for f in Mark("y")(module).ops] == [{"y"}, {"y"}]
    assert not any(f.attributes for f in module.ops)


def test_every_function_is_replaced_by_one_that_a_function_pass_holds(module: ModuleOp):
    """The example of TVM's reference for function passes."""
    held = next(f for f in parse(str(module).replace("@main", "@f1")).ops if isinstance(f, FuncOp))
    held.detach()

    @function_pass(opt_level=1)
    class TestReplaceFunc:
        def __init__(self, new_func: FuncOp):
            self.new_func = new_func

        def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
            return self.new_func

    replace = TestReplaceFunc(held)
    assert isinstance(replace, FunctionPass)
    first, second = replace(module), replace(module)
    for result in (first, second):
        assert names(result) == ["main", "other"]  # under the names by which they are called
        bodies = [str(f).partition(")")[2] for f in result.ops]
        assert bodies == [str(held).partition(")")[2]] * 2
    assert held.parent is None


def test_decorated_passes_are_of_the_kind_that_they_were_decorated_as(module: ModuleOp):
    """The example of TVM's reference for module passes, whose assertion this is."""

    @module_pass(opt_level=2)
    def transform(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        return ModuleOp([])

    assert isinstance(transform, ModulePass)
    assert transform.info.opt_level == 2 and list(transform(module).ops) == []

    @prim_func_pass(opt_level=2)
    def other(func: PrimFuncOp, mod: ModuleOp, ctx: PassContext) -> PrimFuncOp:
        return func

    assert isinstance(other, PrimFuncPass)


def test_a_module_that_a_pass_holds_can_be_returned_twice(module: ModuleOp):
    held = parse(str(module))

    @module_pass(opt_level=0)
    def replace(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        return held

    assert str(replace(ModuleOp([]))) == str(replace(ModuleOp([]))) == str(held)


@pytest.mark.parametrize("deed", ["add", "delete", "exchange"])
def test_a_function_pass_must_not_add_or_delete_functions(module: ModuleOp, deed: str):
    @function_pass(opt_level=0)
    def greedy(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        others = [f for f in mod.ops if f is not func]
        if deed in ("delete", "exchange"):
            others[0].detach()
        if deed in ("add", "exchange"):
            mod.body.block.add_op(FuncOp("new", func.function_type, func.body.clone()))
        return func

    with pytest.raises(Diagnostic, match=f"'greedy' has {deed.removesuffix('e')}ed functions of the module"):
        greedy(module)


def test_a_function_pass_must_return_a_function(module: ModuleOp):
    with pytest.raises(TypeError, match=r"must return a relay\.func, got None"):
        function_pass(nothing, opt_level=0)(module)


def test_a_prim_func_pass_that_returns_none_deletes_the_function():
    @prim_func_pass(opt_level=0)
    def only_f(func: PrimFuncOp, mod: ModuleOp, ctx: PassContext) -> PrimFuncOp | None:
        return func if func.sym_name.data == "f" else None

    module = parse(TIR)
    assert names(only_f(module)) == ["f"]
    assert names(module) == ["f", "g"]


@pytest.mark.parametrize("decorator", [module_pass, function_pass, prim_func_pass])
def test_decorators_check_their_arguments(decorator):  # pyright: ignore
    with pytest.raises(ValueError, match="provide opt_level"):
        decorator(nothing)
    with pytest.raises(TypeError, match="required is expected to be a list or tuple"):
        decorator(nothing, opt_level=1, required="cse")
    with pytest.raises(TypeError, match="made of a function or a class"):
        decorator(opt_level=1)(5)
    with pytest.raises(TypeError, match="has no method transform_"):
        decorator(opt_level=1)(int)


def test_decorated_passes_get_the_pass_context(module: ModuleOp):
    seen: list[PassContext] = []

    @module_pass(opt_level=0)
    def look(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        seen.append(ctx)
        return mod

    with PassContext(opt_level=0) as context:
        look(module)
    assert seen == [context]


def test_the_enable_rule_is_disabled_then_required_then_level():
    module_pass(lambda mod, ctx: mod, opt_level=3, name="p")  # pyright: ignore  # a name that there is
    info = PassInfo(3, "p")
    assert not PassContext(opt_level=2).enabled(info)
    assert PassContext(opt_level=3).enabled(info)
    assert PassContext(opt_level=0, required_pass=["p"]).enabled(info)
    assert not PassContext(opt_level=3, disabled_pass=["p"]).enabled(info)
    assert not PassContext(opt_level=3, required_pass=["p"], disabled_pass=["p"]).enabled(info)


@pytest.mark.parametrize("context", [{"opt_level": 0}, {"disabled_pass": ["mark-functions"]}])
def test_a_pass_that_is_called_runs_and_one_in_a_sequence_by_the_rule(module: ModuleOp, context: dict[str, Any]):
    with PassContext(**context), remarks.collect() as said:
        assert "marked" in str(MarkFunctions()(module)) and not said
        assert str(Sequential([MarkFunctions()])(module)) == str(module)
    assert "above the context's level 0" in str(said[0]) or "not run: disabled" in str(said[0])


@pytest.mark.parametrize("argument", ["required_pass", "disabled_pass"])
def test_pass_names_come_as_lists(argument: str):
    with pytest.raises(TypeError, match=f"'{argument}' of PassContext is a sequence of str"):
        PassContext(**{argument: "cse"})  # pyright: ignore[reportArgumentType]


def test_sequential_runs_nothing_when_empty(module: ModuleOp, recorder: Recorder):
    assert str(Sequential([])(module)) == str(module)
    assert recorder.ran == ["sequential"]


def test_sequential_runs_module_and_function_passes_in_order(module: ModuleOp, recorder: Recorder):
    result = Sequential([MarkFunctions(), MarkModule("a")], name="mine")(module)
    assert recorder.ran == ["mine", "mark-functions", "mark-module"]
    assert set(result.attributes) == {"a"} and all("marked" in f.attributes for f in result.ops)


def test_sequential_leaves_out_what_is_not_enabled(module: ModuleOp):
    passes = Sequential([MarkFunctions(), MarkModule()])
    with PassContext(opt_level=0, instruments=[low := Recorder()]):
        passes(module)
    with PassContext(opt_level=0, required_pass=["mark-functions"], instruments=[required := Recorder()]):
        passes(module)
    with PassContext(opt_level=3, disabled_pass=["mark-module"], instruments=[disabled := Recorder()]):
        passes(module)
    assert low.ran == ["sequential", "mark-module"]
    assert required.ran == ["sequential", "mark-functions", "mark-module"]
    assert disabled.ran == ["sequential", "mark-functions"]


def test_sequentials_nest_and_are_seen_by_instruments(module: ModuleOp, recorder: Recorder):
    inner = Sequential([MarkModule("a")], name="inner")
    Sequential([inner, MarkModule("b"), inner])(module)
    assert recorder.ran == ["sequential", "inner", "mark-module", "mark-module", "inner", "mark-module"]


def test_sequential_with_a_level_is_skipped_as_a_whole(module: ModuleOp, recorder: Recorder):
    Sequential([Sequential([MarkModule()], opt_level=3), MarkFunctions()])(module)
    assert recorder.ran == ["sequential", "mark-functions"]


def test_sequential_takes_passes_not_classes():
    with pytest.raises(TypeError, match="has the class MarkModule in it"):
        Sequential([MarkModule])  # pyright: ignore[reportArgumentType]


def test_sequential_prints_as_a_pipeline():
    assert str(Sequential([MarkModule("x"), MarkFunctions()])) == 'mark-module{mark="x"},mark-functions'


def test_xdsl_passes_run_in_a_sequential(recorder: Recorder):
    module = parse(
        "%0 = arith.constant 1 : i32\n%1 = arith.constant 1 : i32\n%2 = arith.addi %0, %1 : i32\n"
        '"test.op"(%2) : (i32) -> ()'
    )
    result = Sequential([get_pass("cse")])(module)
    assert len(list(result.ops)) == 3 and recorder.ran == ["sequential", "cse"]


def test_contexts_nest_and_end_with_their_block():
    outer = PassContext.current()
    with PassContext(opt_level=1) as one:
        assert PassContext.current() is one
        with PassContext(opt_level=3) as two:
            assert PassContext.current() is two
        assert PassContext.current() is one
    assert PassContext.current() is outer


def test_a_context_ends_after_an_exception_too():
    outer = PassContext.current()
    with pytest.raises(KeyError), PassContext():
        raise KeyError
    assert PassContext.current() is outer


def test_a_context_that_is_not_the_current_one_cannot_be_left():
    outer, inner = PassContext(), PassContext()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="not the current one"):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    outer.__exit__(None, None, None)


def test_every_thread_has_its_own_stack_of_contexts():
    seen: list[PassContext] = []
    with PassContext(opt_level=3) as mine:
        thread = threading.Thread(target=lambda: seen.extend([PassContext.current(), PassContext.current()]))
        thread.start()
        thread.join()
    assert seen[0] is seen[1] is not mine
    assert seen[0].opt_level == 2


def test_the_default_context_stays_the_same_and_has_level_two():
    assert PassContext.current() is PassContext.current()
    assert PassContext.current().opt_level == 2


def test_a_pass_can_say_that_it_changed_nothing(module: ModuleOp):
    from weft.transforms.infra.checking import PassStatistics

    @module_pass(opt_level=0)
    def idle(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        report_changed(False)
        return mod

    with PassContext(instruments=[statistics := PassStatistics()]):
        Sequential([idle, MarkModule()])(module)
    assert [(r.name, r.changed) for r in statistics.records] == [("idle", False), ("mark-module", None)]


def test_errors_that_a_pass_emits_are_raised_together_when_it_ends(module: ModuleOp):
    from weft.dialects.support.diagnostics import Diagnostic, Diagnostics, Severity, emit, handled_by

    @function_pass(opt_level=0)
    def complain(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        emit(Diagnostic.at(func, "looked at", severity=Severity.WARNING))
        emit(Diagnostic.at(func, f"@{func.sym_name.data} is bad"))
        return func

    shown: list[Diagnostic] = []
    with handled_by(shown.append), pytest.raises(Diagnostics) as caught:
        complain(module)
    assert [d.message for d in caught.value.each()] == ["'relay.func': @main is bad", "'relay.func': @other is bad"]
    assert [d.severity for d in shown] == [Severity.WARNING] * 2


def test_errors_that_a_pass_emits_before_it_fails_are_shown(module: ModuleOp):
    from weft.dialects.support.diagnostics import Diagnostic, emit, handled_by

    @module_pass(opt_level=0)
    def complain_and_fail(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        emit(Diagnostic.at(mod, "is bad"))
        raise ZeroDivisionError

    shown: list[Diagnostic] = []
    with handled_by(shown.append), pytest.raises(ZeroDivisionError):
        Sequential([complain_and_fail])(module)
    assert [d.message for d in shown] == ["'builtin.module': is bad"]


GRAPH = """
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<1.0> : tensor<4xf32>
  %y = relay.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = relay.multiply %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %unused = relay.exp %x : tensor<4xf32>
  relay.return %z : tensor<4xf32>
}
"""


def operators(module: ModuleOp) -> list[str]:
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    return [op.name.removeprefix("relay.") for op in function.body.block.ops]


GRAPH_PASSES = ["FoldConstant", "EliminateCommonSubexpr", "DeadCodeElimination"]


@pytest.mark.parametrize(
    "level, left",
    [
        (0, ["constant", "add", "add", "add", "multiply", "exp", "return"]),
        (1, ["constant", "add", "add", "add", "multiply", "return"]),
        (2, ["constant", "add", "add", "multiply", "return"]),
        (3, ["constant", "add", "multiply", "return"]),
    ],
)
def test_relay_passes_in_a_sequence_follow_the_level(level: int, left: list[str]):
    with PassContext(opt_level=level):
        module = Sequential([get_pass(name) for name in GRAPH_PASSES])(parse(GRAPH))
    assert operators(module) == left


def test_relay_passes_can_be_required_and_disabled_by_tvms_names():
    with PassContext(opt_level=0, required_pass=["EliminateCommonSubexpr"]):
        module = Sequential([get_pass(name) for name in GRAPH_PASSES])(parse(GRAPH))
    assert operators(module) == ["constant", "add", "add", "multiply", "exp", "return"]
    with PassContext(opt_level=3, disabled_pass=["FoldConstant", "DeadCodeElimination"]):
        module = Sequential([get_pass(name) for name in GRAPH_PASSES])(parse(GRAPH))
    assert operators(module) == ["constant", "add", "add", "multiply", "exp", "return"]


def test_a_requirement_of_several_relay_passes_runs_once():
    """TVM runs InferType before each pass that requires it and after each function pass: five times here."""
    with PassContext(opt_level=3, instruments=[recorder := Recorder()]):
        Sequential([get_pass(name) for name in GRAPH_PASSES])(parse(GRAPH))
    assert recorder.ran == [
        "sequential", "fold-constant", "infer-type", "eliminate-common-subexpr", "dead-code-elimination",
    ]  # fmt: skip


def test_xdsls_own_pipeline_drives_weft_passes():
    from xdsl.passes import PassPipeline

    module = parse(GRAPH)
    passes = tuple(get_pass(name) for name in GRAPH_PASSES)
    PassPipeline(passes).apply(PassContext.current().ir_context, module)
    assert operators(module) == ["constant", "add", "multiply", "return"]


def test_the_universe_that_stock_xdsl_opt_loads_has_wefts_passes():
    from xdsl.passes import PassPipeline

    from weft.universe import WEFT_UNIVERSE

    module = parse(GRAPH)
    pipeline = PassPipeline.parse_spec(WEFT_UNIVERSE.all_passes, "fold-constant,eliminate-common-subexpr")
    pipeline.apply(PassContext.current().ir_context, module)
    assert operators(module) == ["constant", "add", "multiply", "return"]


def test_print_ir_prints_the_module_to_stderr(module: ModuleOp, capsys: pytest.CaptureFixture[str]):
    Sequential([MarkModule(), get_pass("PrintIR", header="here")])(module)
    text = capsys.readouterr().err
    assert text.startswith("// PrintIR(here):\nbuiltin.module attributes {marked} {") and "@other" in text

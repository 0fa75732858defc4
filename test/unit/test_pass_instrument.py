"""Instruments: TVM's life-cycle in every order of exceptions, and the instruments that Weft brings."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException

from weft.transforms.infra.checking import PassStatistics, VerifyEach
from weft.transforms.infra.context import PassContext
from weft.transforms.infra.decorators import module_pass
from weft.transforms.infra.info import PassInfo
from weft.transforms.infra.instruments import PassInstrument, pass_instrument
from weft.transforms.infra.passes import Pass
from weft.transforms.infra.pipeline import parse_pipeline
from weft.transforms.infra.printing import DumpIR, PrintIRAfter, PrintIRAfterFailure, PrintIRBefore
from weft.transforms.infra.registry import registered
from weft.transforms.infra.reproducer import CrashReproducer, Reproducer
from weft.transforms.infra.sequential import Sequential
from weft.transforms.infra.timing import PassTimingInstrument, human

events: list[str] = []


@pytest.fixture(autouse=True)
def no_events_yet() -> Iterator[None]:
    events.clear()
    yield
    PassContext.current().override_instruments(None)


def made_pass(name: str, action: Callable[[ModuleOp], object] = lambda mod: None) -> Pass:
    def run(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        events.append(name)
        action(mod)
        return mod

    return module_pass(run, opt_level=0, name=name)


def mark(mod: ModuleOp) -> None:
    mod.attributes["marked"] = UnitAttr()


def fail(mod: ModuleOp) -> None:
    raise ValueError("broken pass")


class Told(PassInstrument):
    """Writes down every call; raises in the hook named, and vetoes the passes named."""

    def __init__(self, name: str, raises: str = "", vetoes: tuple[str, ...] = ()):
        self.name, self.raises, self.vetoes = name, raises, vetoes

    def _tell(self, hook: str, info: PassInfo | None = None) -> None:
        events.append(f"{self.name}.{hook}" + (f" {info.name}" if info else ""))
        if self.raises == hook:
            raise RuntimeError(f"{self.name} failed on {hook}")

    def enter_pass_ctx(self) -> None:
        self._tell("enter")

    def exit_pass_ctx(self) -> None:
        self._tell("exit")

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        self._tell("should", info)
        return info.name not in self.vetoes

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._tell("before", info)

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._tell("after", info)

    def run_after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        self._tell("failure", info)


def test_the_whole_sequence_for_two_instruments_and_two_passes():
    with PassContext(instruments=[Told("A"), Told("B")]):
        made_pass("p")(ModuleOp([]))
        made_pass("q")(ModuleOp([]))
    assert events == [
        "A.enter", "B.enter",
        "A.should p", "B.should p", "A.before p", "B.before p", "p", "A.after p", "B.after p",
        "A.should q", "B.should q", "A.before q", "B.before q", "q", "A.after q", "B.after q",
        "A.exit", "B.exit",
    ]  # fmt: skip


def test_an_instrument_sees_a_sequence_around_its_passes():
    with PassContext(instruments=[Told("A")]):
        Sequential([made_pass("p")])(ModuleOp([]))
    assert events == [
        "A.enter", "A.should sequential", "A.before sequential",
        "A.should p", "A.before p", "p", "A.after p", "A.after sequential", "A.exit",
    ]  # fmt: skip


def test_should_run_disables_a_pass():
    with PassContext(instruments=[Told("A", vetoes=("p",))]):
        Sequential([made_pass("p"), made_pass("q")])(ModuleOp([]))
    assert "p" not in events and "q" in events and "A.before p" not in events


def test_vetoes_of_several_instruments_add_up_and_all_are_asked():
    with PassContext(instruments=[Told("A", vetoes=("p",)), Told("B", vetoes=("q",))]):
        Sequential([made_pass("p"), made_pass("q"), made_pass("r")])(ModuleOp([]))
    assert [e for e in events if e in "pqr"] == ["r"]
    assert {"A.should q", "B.should p"} <= set(events)
    assert not {"A.before p", "B.before p", "A.before q", "B.before q"} & set(events)


def test_a_veto_of_the_sequence_skips_all_of_it():
    with PassContext(instruments=[Told("A", vetoes=("sequential",))]):
        Sequential([made_pass("p")])(ModuleOp([]))
    assert events == ["A.enter", "A.should sequential", "A.exit"]


def test_a_required_pass_is_not_asked_about():
    with PassContext(required_pass=["p"], instruments=[Told("A", vetoes=("p",))]):
        made_pass("p")(ModuleOp([]))
    assert events == ["A.enter", "A.before p", "p", "A.after p", "A.exit"]


def test_before_and_after_are_called_equally_often():
    with PassContext(instruments=[Told("A")]):
        Sequential([made_pass("p"), Sequential([made_pass("q"), made_pass("q")])])(ModuleOp([]))
    assert sum("before" in e for e in events) == sum("after" in e for e in events) == 5


def test_hooks_of_entering_and_leaving_run_in_the_outer_context():
    seen: list[PassContext] = []

    class Look(PassInstrument):
        def enter_pass_ctx(self) -> None:
            seen.append(PassContext.current())

        def exit_pass_ctx(self) -> None:
            seen.append(PassContext.current())

    outer = PassContext.current()
    with PassContext(instruments=[Look()]):
        pass
    assert seen == [outer, outer]


def test_an_instrument_that_raises_on_entering_exits_the_ones_before_it():
    outer = PassContext.current()
    context = PassContext(instruments=[Told("A"), Told("B", raises="enter"), Told("C")])
    with pytest.raises(RuntimeError, match="B failed on enter"), context:
        events.append("never")
    assert events == ["A.enter", "B.enter", "A.exit"]
    assert PassContext.current() is outer and context.instruments == ()


def test_the_same_holds_for_the_default_context():
    context = PassContext.current()
    with pytest.raises(RuntimeError, match="B failed on enter"):
        context.override_instruments([Told("A"), Told("B", raises="enter"), Told("C")])
    assert events == ["A.enter", "B.enter", "A.exit"]
    assert context.instruments == ()


def test_an_instrument_that_raises_on_leaving_keeps_later_ones_from_it():
    outer = PassContext.current()
    context = PassContext(instruments=[Told("A"), Told("B", raises="exit"), Told("C")])
    with pytest.raises(RuntimeError, match="B failed on exit"), context:
        pass
    assert events[3:] == ["A.exit", "B.exit"]
    assert PassContext.current() is outer and context.instruments == ()


def test_overriding_installs_nothing_if_an_old_instrument_raises_on_leaving():
    context = PassContext.current()
    context.override_instruments([Told("A", raises="exit"), Told("B")])
    with pytest.raises(RuntimeError, match="A failed on exit"):
        context.override_instruments([Told("C")])
    assert events == ["A.enter", "B.enter", "A.exit"]
    assert context.instruments == ()


def test_overriding_exits_the_old_and_enters_the_new():
    context = PassContext.current()
    context.override_instruments([Told("A")])
    context.override_instruments([Told("B")])
    context.override_instruments(None)
    assert events == ["A.enter", "A.exit", "B.enter", "B.exit"]


def test_a_pass_that_raises_has_no_after_but_the_context_is_left():
    with pytest.raises(ValueError, match="broken pass"), PassContext(instruments=[Told("A")]):
        made_pass("p", fail)(ModuleOp([]))
    assert events == ["A.enter", "A.should p", "A.before p", "p", "A.failure p", "A.exit"]


def test_an_exception_in_should_run_still_exits_all():
    with pytest.raises(RuntimeError), PassContext(instruments=[Told("A", raises="should"), Told("B")]):
        made_pass("p")(ModuleOp([]))
    assert events == ["A.enter", "B.enter", "A.should p", "A.exit", "B.exit"]


def test_an_exception_before_a_pass_ends_the_run():
    with pytest.raises(RuntimeError), PassContext(instruments=[Told("A", raises="before"), Told("B")]):
        made_pass("p")(ModuleOp([]))
    assert events == ["A.enter", "B.enter", "A.should p", "B.should p", "A.before p", "A.exit", "B.exit"]


def test_an_exception_after_a_pass_ends_the_run():
    with pytest.raises(RuntimeError), PassContext(instruments=[Told("A", raises="after"), Told("B")]):
        made_pass("p")(ModuleOp([]))
    assert events[4:] == ["A.before p", "B.before p", "p", "A.after p", "B.failure p", "A.exit", "B.exit"]


def test_instruments_that_saw_a_pass_begin_are_told_that_it_failed():
    with pytest.raises(RuntimeError), PassContext(instruments=[Told("A"), Told("B", raises="before"), Told("C")]):
        made_pass("p")(ModuleOp([]))
    assert events[6:] == ["A.before p", "B.before p", "A.failure p", "A.exit", "B.exit", "C.exit"]


def test_a_module_that_does_not_verify_leaves_a_reproducer_too(tmp_path: Path):
    crash = CrashReproducer(tmp_path / "r.mlir")
    statistics = PassStatistics()
    with pytest.raises(DiagnosticException), PassContext(instruments=[VerifyEach(), crash, statistics]):
        Sequential([made_pass("p", mark), made_pass("q", break_it)])(ModuleOp([]))
    reproducer = Reproducer.parse((tmp_path / "r.mlir").read_text())
    assert reproducer.pipeline == "q" and "marked" in reproducer.module
    assert [r.name for r in statistics.records] == ["p"]


def test_weights_go_beside_a_reproducer(tmp_path: Path):
    import numpy as np

    from weft.dialects.relay.core import ConstantOp

    data = np.arange(100, dtype=np.float32)
    crash = CrashReproducer(tmp_path / "r.mlir")
    with pytest.raises(ValueError), PassContext(instruments=[crash]):
        made_pass("p", fail)(ModuleOp([ConstantOp.from_numpy(data, "w")]))
    (saved,) = np.load(tmp_path / "r.weights.npz").values()
    assert (saved == data).all()


def test_the_decorator_makes_an_instrument_of_a_class_with_some_hooks():
    @pass_instrument
    class Counts:
        """Counts."""

        def __init__(self, step: int):
            self.step, self.count = step, 0

        def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
            self.count += self.step

    counts = Counts(2)
    assert isinstance(counts, PassInstrument) and type(counts).__name__ == "Counts"
    with PassContext(instruments=[counts]):
        Sequential([made_pass("p")])(ModuleOp([]))
    assert getattr(counts, "count") == 4  # noqa: B009


def test_the_decorator_takes_classes_only():
    with pytest.raises(TypeError, match="decorates a class"):
        pass_instrument(lambda: None)  # pyright: ignore[reportArgumentType]


def test_timing_renders_a_tree_and_forgets_when_the_context_is_left():
    timing = PassTimingInstrument()
    with PassContext(instruments=[timing]):
        Sequential([made_pass("p"), Sequential([made_pass("q")], name="inner")])(ModuleOp([]))
        text = timing.render()
    lines = text.splitlines()
    assert [line.split(":")[0] for line in lines] == ["sequential", "  p", "  inner", "    q"]
    assert all("s [" in line and "%)" in line for line in lines)
    with pytest.warns(UserWarning, match="no pass has been timed"):
        assert timing.render() == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.125047, "1.13s"), (12.5, "12.5s"), (3600.0, "3600s"), (0.0254, "25.4ms"), (0.00031, "310us"), (0.0, "0us")],
)
def test_times_are_shown_in_the_unit_in_which_they_read_best(seconds: float, text: str):
    assert human(seconds) == text


def test_timing_works_on_the_default_context():
    PassContext.current().override_instruments([timing := PassTimingInstrument()])
    made_pass("p")(ModuleOp([]))
    assert timing.render().startswith("p: ")
    assert "p" in timing.render_table() and "Total Execution Time" in timing.render_table()
    assert json.loads(timing.to_json())[0]["name"] == "p"


def test_timing_cannot_be_rendered_while_a_pass_runs():
    timing = PassTimingInstrument()

    def render(mod: ModuleOp) -> None:
        with pytest.raises(RuntimeError, match="the pass p is still running"):
            timing.render()

    with PassContext(instruments=[timing]):
        made_pass("p", render)(ModuleOp([]))
    assert events == ["p"]


def test_timing_survives_a_failing_pass():
    with PassContext(instruments=[timing := PassTimingInstrument()]):
        with pytest.raises(ValueError):
            Sequential([made_pass("p", fail)])(ModuleOp([]))
        assert [line.split(":")[0] for line in timing.render().splitlines()] == ["sequential", "  p"]


def dumped(instrument: Callable[[StringIO], PassInstrument], *passes: Pass) -> str:
    out = StringIO()
    with PassContext(instruments=[instrument(out)]):
        try:
            Sequential(passes)(ModuleOp([]))
        except ValueError:
            pass
    return out.getvalue()


def test_the_module_is_printed_before_the_passes_named():
    text = dumped(lambda out: PrintIRBefore(["q"], out=out), made_pass("p", mark), made_pass("q"))
    assert text == "// -----// IR Dump Before q (q) //----- //\nbuiltin.module attributes {marked} {\n}\n"


def test_the_module_is_printed_after_all_passes_but_not_after_sequences():
    text = dumped(lambda out: PrintIRAfter(out=out), made_pass("p", mark), made_pass("q"))
    assert [line for line in text.splitlines() if "Dump" in line] == [
        "// -----// IR Dump After p (p) //----- //",
        "// -----// IR Dump After q (q) //----- //",
    ]


def test_the_module_is_printed_only_where_it_changed():
    text = dumped(lambda out: PrintIRAfter(only_changed=True, out=out), made_pass("p"), made_pass("q", mark))
    assert "After p" not in text and "After q" in text


def test_the_module_is_printed_as_a_failing_pass_left_it():
    def half(mod: ModuleOp) -> None:
        mark(mod)
        fail(mod)

    text = dumped(lambda out: PrintIRAfterFailure(out=out), made_pass("p"), made_pass("q", half))
    assert text == "// -----// IR Dump After Failed q (q) //----- //\nbuiltin.module attributes {marked} {\n}\n"


def test_dumps_go_to_numbered_files_with_a_directory_for_each_sequence(tmp_path: Path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "old.mlir").touch()
    with PassContext(instruments=[DumpIR(tmp_path / "d", refresh=True)]):
        Sequential([made_pass("p", mark), Sequential([made_pass("q")], name="in/ner"), made_pass("r")])(ModuleOp([]))
    files = sorted(str(f.relative_to(tmp_path / "d")) for f in tmp_path.rglob("*.mlir"))
    assert files == ["000_sequential/000_p.mlir", "000_sequential/001_in_ner/000_q.mlir", "000_sequential/002_r.mlir"]
    assert "marked" in (tmp_path / "d" / files[0]).read_text()


def break_it(mod: ModuleOp) -> None:
    bad = Parser(PassContext.current().ir_context, "%0 = arith.constant 1 : i32").parse_module()
    op = next(iter(bad.ops))
    op.detach()
    op.properties["value"] = IntegerAttr(1, i64)
    mod.body.block.add_op(op)


def test_verify_each_names_the_pass_that_broke_the_module():
    with pytest.raises(DiagnosticException) as caught, PassContext(instruments=[VerifyEach()]):
        Sequential([made_pass("p"), made_pass("q", break_it), made_pass("r")])(ModuleOp([]))
    assert "the module does not verify after the pass q" in caught.value.__notes__
    assert events == ["p", "q"]


def test_statistics_count_operations():
    def add(mod: ModuleOp) -> None:
        mod.body.block.add_op(test.TestOp())

    with PassContext(instruments=[statistics := PassStatistics()]):
        Sequential([made_pass("p", add), made_pass("q")])(ModuleOp([]))
    assert [(r.name, r.ops_before, r.ops_after, dict(r.by_op)) for r in statistics.records] == [
        ("p", 1, 2, {"test.op": 1}),
        ("q", 2, 2, {}),
    ]
    assert statistics.render() == "p  1 -> 2 ops (+1 test.op)\nq  2 -> 2 ops\n"


def test_statistics_count_bytes_of_constants_once_for_equal_ones():
    import numpy as np

    from weft.dialects.relay.core import ConstantOp

    def add(mod: ModuleOp) -> None:
        data = np.arange(100, dtype=np.float32)
        mod.body.block.add_ops([ConstantOp.from_numpy(data), ConstantOp.from_numpy(data.copy())])

    with PassContext(instruments=[statistics := PassStatistics()]):
        made_pass("p", add)(ModuleOp([]))
    assert (statistics.records[0].bytes_before, statistics.records[0].bytes_after) == (0, 400)
    assert "0 -> 400 bytes" in statistics.render()


def test_timing_measures_memory_on_demand():
    import tracemalloc

    kept: list[bytes] = []
    tracemalloc.start()
    try:
        with PassContext(instruments=[timing := PassTimingInstrument(memory=True)]):
            made_pass("p", lambda mod: kept.append(bytes(1_000_000)))(ModuleOp([]))
            assert timing.profiles[0].bytes > 999_000 and "+97" in timing.render()
    finally:
        tracemalloc.stop()


def test_a_failing_pass_leaves_a_reproducer_that_fails_in_the_same_way(tmp_path: Path):
    fails = made_pass("fails-on-marked", lambda mod: "marked" in mod.attributes and fail(mod))
    with registered(type(fails)):
        passes = parse_pipeline("fails-on-marked,any(fails-on-marked)")
        crash = CrashReproducer(tmp_path / "new" / "r.mlir")
        with pytest.raises(ValueError), PassContext(opt_level=3, disabled_pass=["cse"], instruments=[crash]):
            Sequential([made_pass("p", mark), passes])(ModuleOp([]))
        assert crash.written == tmp_path / "new" / "r.mlir"
        reproducer = Reproducer.parse((tmp_path / "new" / "r.mlir").read_text())
        assert (reproducer.pipeline, reproducer.opt_level) == ("fails-on-marked", 3)
        assert reproducer.disabled_pass == ("cse",) and reproducer.error == "ValueError: broken pass"
        with reproducer.context() as context, pytest.raises(ValueError, match="broken pass"):
            parse_pipeline(reproducer.pipeline)(Parser(context.ir_context, reproducer.module).parse_module())


def test_a_file_that_is_no_reproducer_is_refused():
    with pytest.raises(DiagnosticException, match="not a reproducer"):
        Reproducer.parse("builtin.module {}")
    with pytest.raises(DiagnosticException, match="line 2 of the reproducer cannot be read"):
        Reproducer.parse(Reproducer("cse").text().replace('"cse"', '"cse'))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("required-pass: 5", "the required-pass of the reproducer is 5, and no list of names"),
        ("required-pass: [5]", r"the required-pass of the reproducer is \[5\], and no list"),
        ('disabled-pass: "cse"', "the disabled-pass of the reproducer is 'cse', and no list"),
        ("config: [1]", r"the config of the reproducer is \[1\], and no mapping"),
        ('opt-level: "3"', "the opt-level of the reproducer is '3', and no whole number"),
        ("config: " + "[" * 100_000, "line 6 of the reproducer cannot be read"),
    ],
)
def test_a_reproducer_whose_heading_was_damaged_is_refused(line: str, message: str):
    heading, module = Reproducer("cse").text().splitlines(keepends=True), "builtin.module {}"
    heading = [each for each in heading if each.startswith("// ") and line.partition(":")[0] not in each]
    with pytest.raises(DiagnosticException, match=message):
        Reproducer.parse("".join([*heading, f"// {line}\n", module]))


def test_one_timing_instrument_may_be_used_by_several_threads_at_once():
    """Leaving the context of one thread drops the times of that thread alone."""
    timing = PassTimingInstrument()
    both = threading.Barrier(2)
    seen: list[int] = []
    failures: list[BaseException] = []

    def work(passes: int) -> None:
        try:
            for _ in range(3):
                with PassContext(instruments=[timing]):
                    both.wait(10)
                    for _ in range(passes):
                        Sequential([])(ModuleOp([]))
                    seen.append(len(timing.profiles) - passes)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(passes,)) for passes in (1, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and seen == [0] * 6


def test_leaving_a_context_while_another_thread_times_a_pass():
    timing, entered, left = PassTimingInstrument(), threading.Event(), threading.Event()
    failures: list[BaseException] = []

    class Slow(PassInstrument):
        def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
            entered.set()
            left.wait(10)

    def work() -> None:
        try:
            with PassContext(instruments=[timing, Slow()]):
                Sequential([])(ModuleOp([]))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait(10)
    with PassContext(instruments=[timing]):
        Sequential([])(ModuleOp([]))
    left.set()
    thread.join()
    assert not failures


def test_a_hook_that_is_misspelt_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"run_befor_pass is no hook .*did you mean 'run_before_pass'\?"):

        @pass_instrument
        class Misspelt:
            def run_befor_pass(self, module: ModuleOp, info: PassInfo) -> None: ...

    with pytest.warns(UserWarning, match=r"should_runs is no hook .*did you mean 'should_run'\?"):

        class Derived(PassInstrument):  # pyright: ignore[reportUnusedClass]
            def should_runs(self, module: ModuleOp, info: PassInfo) -> bool:
                return True


def test_what_an_instrument_has_beside_hooks_is_its_own() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        @pass_instrument
        class Counting:
            runs = 0

            def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None: ...
            def render(self) -> str:
                return ""


def test_a_class_that_goes_on_from_a_decorated_one_has_hooks_of_its_own() -> None:
    told: list[str] = []

    @pass_instrument
    class Base:
        def __init__(self, name: str):
            self.name = name

        def enter_pass_ctx(self) -> None:
            told.append(f"enter {self.name}")

        def exit_pass_ctx(self) -> None:
            told.append(f"exit {self.name}")

    kind: Any = Base

    @pass_instrument
    class Further(kind):
        def enter_pass_ctx(self) -> None:
            told.append(f"begin {self.name}")

    with PassContext(instruments=[Further("a")]):
        pass
    assert told == ["begin a", "exit a"]

"""What only Python can show of `weft-opt`: exit statuses, files, failing passes, no traceback for anybody."""

import io
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.test import Test
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.exceptions import PassFailedException, VerifyException

from weft.dialects.relay.core import FuncOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.lowering.phases import PHASES
from weft.tools.weft_opt import main
from weft.transforms.infra import remarks
from weft.transforms.infra.passes import ModulePass, PatternPass
from weft.transforms.infra.registry import register_pass
from weft.transforms.relay.fold_constant import FoldConstantPass

MODULE = """relay.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}
"""


@register_pass
@dataclass(frozen=True)
class CrashPass(ModulePass):
    name = "test-crash"
    after: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("nobody foresaw this")


@register_pass
@dataclass(frozen=True)
class DeclinePass(ModulePass):
    name = "test-decline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            remarks.missed(self.name, func, "there is nothing to do", "add something")


@register_pass
@dataclass(frozen=True)
class ObjectPass(ModulePass):
    name = "test-object"
    kind: str = "diagnostic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        func = op.ops.first
        assert isinstance(func, FuncOp)
        match self.kind:
            case "diagnostic":
                raise Diagnostic.at(func, "this function cannot be had", hint="have another")
            case "verify":
                raise VerifyException("no place known")
            case _:
                raise PassFailedException("gave up")


@register_pass
@dataclass(frozen=True)
class BreakPass(ModulePass):
    name = "test-break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        func = op.ops.first
        assert isinstance(func, FuncOp)
        func.body.block.erase_op(func.return_op)


@register_pass
@dataclass(frozen=True)
class HighLevelPass(ModulePass):
    name = "test-high-level"
    opt_level = 4

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            remarks.passed(self.name, func, "it ran")


@dataclass
class Run:
    code: int
    out: str
    err: str


class Tool:
    """Runs weft-opt in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self.folder = tmp_path

    def __call__(self, *arguments: str, text: str = MODULE) -> Run:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        try:
            code = main(list(arguments))
        except SystemExit as exit:
            code = exit.code if isinstance(exit.code, int) else 0
        captured = self._capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Run(code, captured.out, captured.err)

    def file(self, name: str, text: str = MODULE) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)


@pytest.fixture
def weft_opt(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Tool]:
    monkeypatch.chdir(tmp_path)
    yield Tool(capsys, monkeypatch, tmp_path)


def test_the_help_names_the_phases_there_are(weft_opt: Tool) -> None:
    assert f"phases: {', '.join(PHASES)}" in weft_opt("--help").out


def test_a_module_goes_through(weft_opt: Tool) -> None:
    run = weft_opt()
    assert (run.code, run.err) == (0, "") and "relay.func @f" in run.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.mlir"], 1, "missing.mlir: error: cannot be read: no such file or directory"),
        (["."], 1, "error: cannot be read: is a directory"),
        (["-o", "no/such/folder/x.mlir"], 1, "no/such/folder/x.mlir: error: cannot be written"),
        (["--no-such-flag"], 2, "error: unrecognized arguments: --no-such-flag"),
        (["-p"], 2, "expected one argument"),
        (["-O7"], 2, "argument -O: invalid choice"),
        (["--emit=pdf"], 2, "there is no format 'pdf'"),
        (["-p", "no-such-pass"], 2, "no pass is named 'no-such-pass'"),
        (["-p", "test-crash{"], 2, "this '{' is not closed"),
        (["-p", "test-crash{after=soon}"], 2, "soon"),
        (["-p", "relay.func(test-crash)"], 2, "does not work on single functions"),
        (["--pass-config=no.key=1", "-p", "cse"], 2, "no.key"),
        (["--mlir-print-ir-after=no-such-pass"], 2, "no pass is named 'no-such-pass'"),
        (["--remarks=("], 2, "is not a regular expression"),
        (["--verify-each=perhaps"], 2, "expected true or false"),
        (["--compile-to=tri"], 2, "did you mean 'tir'?"),
        (["--compile-from=tir", "--compile-to=graph"], 2, "the phase 'graph' comes before 'tir'"),
        (["--compile-to=object"], 2, "--emit=obj"),
        (["--emit=asm"], 1, "lower the module first: --compile-to=llvm --emit=asm"),
        (["--target=llvn", "--compile-to=tir"], 2, "llvn"),
        (["--run-reproducer"], 2, "this file is not a reproducer"),
        (
            ["--explain=no-such-thing"],
            2,
            "type, pass, dialect or phase 'no-such-thing'",
        ),
    ],
)
def test_mistakes_are_told_in_a_line(weft_opt: Tool, arguments: list[str], code: int, message: str) -> None:
    run = weft_opt(*arguments)
    assert run.code == code
    assert message in run.err
    assert run.out == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("relay.func @f() {\n  %x = arith.constnt 1 : i32\n}", "<stdin>:2:8: error: operation 'arith.constnt'"),
        ("\xff\xfe".encode("latin-1").decode("latin-1"), "error: "),
        ("}", "<stdin>:1:1: error: expected an operation"),
    ],
)
def test_wrong_text_is_told_with_its_place(weft_opt: Tool, text: str, message: str) -> None:
    run = weft_opt(text=text)
    assert run.code == 1 and message in run.err and run.out == ""


def test_a_file_that_is_not_text_is_refused(weft_opt: Tool) -> None:
    path = weft_opt.folder / "x.mlir"
    path.write_bytes(b"line\nab\xff\xfe")
    run = weft_opt(str(path))
    assert run.code == 1 and "x.mlir:2:3: error: this is not text in UTF-8" in run.err


def test_a_pass_may_object_with_a_place(weft_opt: Tool) -> None:
    run = weft_opt(weft_opt.file("m.mlir"), "-p", "test-object")
    assert run.code == 1
    assert re.search(r"m\.mlir:1:1: error: 'relay\.func': this function cannot be had\n", run.err)
    assert "note: while running the pass test-object" in run.err
    assert "hint: have another" in run.err


@pytest.mark.parametrize(("kind", "message"), [("verify", "no place known"), ("fail", "gave up")])
def test_exceptions_of_xdsl_in_a_pass_are_diagnostics(weft_opt: Tool, kind: str, message: str) -> None:
    run = weft_opt("-p", f"test-object{{kind={kind}}}")
    assert run.code == 1 and f"error: {message}" in run.err


def test_a_crash_is_short_and_leaves_a_reproducer_that_crashes_again(weft_opt: Tool) -> None:
    run = weft_opt("-p", "cse,test-crash{after=2}")
    assert run.code == 70 and run.out == ""
    assert f"error: the module '{__name__}' failed: KeyError: 'nobody foresaw this'" in run.err
    assert f"hint: this is a mistake in '{__name__}'; WEFT_DEBUG=1" in run.err
    assert "note: while running the pass test-crash{after=2}" in run.err
    reproducer = re.search(r"weft-opt --run-reproducer (\S+?)`", run.err)
    assert reproducer is not None
    again = weft_opt("--run-reproducer", reproducer[1])
    os.unlink(reproducer[1])
    assert again.code == 70 and "KeyError: 'nobody foresaw this'" in again.err


def test_the_reproducer_of_a_module_with_weights_finds_them(weft_opt: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(weft_opt.folder))
    np.savez(weft_opt.folder / "m.weights.npz", w_0=np.zeros((4, 8), np.float32))
    assert weft_opt(weft_opt.file("m.mlir", GRAPH), "-p", "test-crash").code == 70
    (weights,) = weft_opt.folder.glob("weft-*.weights.npz")
    assert list(np.load(weights)) == ["w_0"]


def test_the_traceback_of_a_crash_is_shown_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WEFT_DEBUG", "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    path = tmp_path / "m.mlir"
    path.write_text(MODULE)
    assert main([str(path), "-p", "test-crash"]) == 70
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_the_reproducer_asked_for_holds_the_pass_at_fault_alone(weft_opt: Tool) -> None:
    run = weft_opt("-p", "cse,test-crash", "--mlir-pass-pipeline-crash-reproducer=r.mlir", "-O1", "--disable-pass=dce")
    assert run.code == 70 and "r.mlir" in run.err
    text = Path("r.mlir").read_text()
    assert '// pipeline: "test-crash"' in text and "relay.func @f" in text
    again = weft_opt("r.mlir", "--run-reproducer")
    assert again.code == 70 and "KeyError" in again.err


def test_a_crash_in_a_pass_of_xdsl_is_blamed_on_xdsl(weft_opt: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    run = weft_opt("-p", "mlir-opt")
    assert run.code == 70 and "error: the pass 'mlir-opt' failed: " in run.err
    assert "this is a mistake in 'xdsl." in run.err


def test_a_pass_that_breaks_the_module_is_found_out(weft_opt: Tool) -> None:
    run = weft_opt("-p", "test-break")
    assert run.code == 1 and "a block of its region is empty, but must end with a terminator" in run.err
    each = weft_opt("-p", "test-break,cse", "--verify-each")
    assert each.code == 1 and "after the pass test-break" in each.err


def test_the_module_a_failing_pass_leaves_is_printed_on_request(weft_opt: Tool) -> None:
    run = weft_opt("-p", "test-object", "--mlir-print-ir-after-failure")
    assert "// -----// IR Dump After Failed Object (test-object) //----- //\n" in run.err
    assert "relay.func @f" in run.err.partition("IR Dump After Failed")[2]


def test_remarks_are_shown_on_request_and_filtered(weft_opt: Tool) -> None:
    file = weft_opt.file("m.mlir")
    assert weft_opt(file, "-p", "test-decline").err == ""
    run = weft_opt(file, "-p", "test-decline", "--remarks")
    assert "m.mlir:1:1: remark: [test-decline] missed: 'relay.func': there is nothing to do" in run.err
    assert "hint: add something" in run.err
    assert weft_opt(file, "-p", "test-decline", "--remarks=^other$").err == ""


def test_expected_remarks_are_compared(weft_opt: Tool) -> None:
    text = f"// expected-remark@+1 {{{{there is nothing to do}}}}\n{MODULE}"
    assert weft_opt("--verify-diagnostics", "-p", "test-decline", text=text).code == 0
    assert weft_opt("--verify-diagnostics", "-p", "cse", text=text).code == 1
    assert weft_opt("--verify-diagnostics", "-p", "test-decline").code == 0
    run = weft_opt("--verify-diagnostics", "-p", "test-decline", "--remarks")
    assert run.code == 1 and "unexpected remark" in run.err


def test_a_pass_that_is_named_runs_unless_a_level_is_asked_for(weft_opt: Tool) -> None:
    assert "it ran" in weft_opt("-p", "test-high-level", "--remarks").err
    assert "it ran" not in weft_opt("-p", "test-high-level", "--remarks", "-O3").err
    assert "it ran" in weft_opt("-p", "test-high-level", "--remarks", "-O3", "--required-pass=test-high-level").err
    assert "it ran" not in weft_opt("-p", "test-high-level", "--remarks", "--disable-pass=test-high-level").err


def test_output_replaces_a_file_only_when_all_went_well(weft_opt: Tool) -> None:
    target = weft_opt.folder / "out.mlir"
    target.write_text("old")
    target.chmod(0o640)
    assert weft_opt("-o", "out.mlir", text="relay.func @f(").code == 1
    assert target.read_text() == "old"
    assert weft_opt("-o", "out.mlir", "-p", "test-object").code == 1
    assert target.read_text() == "old"
    assert weft_opt("-o", "out.mlir").code == 0
    assert "relay.func @f" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in weft_opt.folder.iterdir()] == ["out.mlir"]


def test_weights_stand_beside_the_text(weft_opt: Tool) -> None:
    import ml_dtypes

    from weft.dialects.relay.core import ConstantOp
    from weft.dialects.relay.weights import load_weights, resources, save_weights
    from weft.transforms.infra.printing import module_text

    arrays = [
        np.arange(64, dtype=np.float32).reshape(8, 8),
        np.zeros((512, 512), np.float32),
        np.arange(64).astype(ml_dtypes.bfloat16),
        np.arange(32) % 3 == 0,
    ]
    module = ModuleOp([ConstantOp.from_numpy(array) for array in arrays])
    assert len(resources(module)) == len(arrays)
    path = weft_opt.folder / "model.mlir"
    path.write_text(module_text(module))
    save_weights(module, path)
    assert (weft_opt.folder / "model.weights.npz").stat().st_size < 10_000  # the zeros are one element
    assert weft_opt("model.mlir", "-o", "copy.mlir").code == 0
    copy = ModuleOp([op.clone() for op in module.ops])
    for op in copy.ops:
        assert isinstance(op, ConstantOp)
        op.value = type(op.value)(type(op.value.data)(op.value.data.key))  # pyright: ignore
    load_weights(copy, weft_opt.folder / "copy.mlir")
    for op, array in zip(copy.ops, arrays, strict=True):
        assert isinstance(op, ConstantOp)
        loaded = op.numpy()
        assert loaded is not None and loaded.dtype == array.dtype
        np.testing.assert_array_equal(loaded, array)


def test_weights_that_do_not_fit_are_an_error_at_the_constant(weft_opt: Tool) -> None:
    text = '%c = relay.constant #relay.resource<"w_0"> : tensor<64xf32>\n'
    file = weft_opt.file("m.mlir", text)
    np.savez(weft_opt.folder / "m.weights.npz", w_0=np.zeros(3, np.float32))
    run = weft_opt(file)
    assert run.code == 1 and "m.mlir:1:6: error: 'relay.constant': the weights hold float32[3] for 'w_0'" in run.err
    (weft_opt.folder / "m.weights.npz").write_bytes(b"not a zip")
    run = weft_opt(file)
    assert run.code == 1 and "m.weights.npz: error: cannot be read as weights" in run.err


def test_a_module_that_does_not_survive_printing_is_told(weft_opt: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    from xdsl.printer import Printer

    def forgetful(self: FuncOp, printer: Printer) -> None:
        printer.print_string(" @g() {relay.return}")

    monkeypatch.setattr(FuncOp, "print", forgetful)
    run = weft_opt("--verify-roundtrip")
    assert run.code == 1 and "another module" in run.err


def test_each_pass_can_be_written_to_a_directory(weft_opt: Tool) -> None:
    assert weft_opt("-p", "cse,dce", "--mlir-print-ir-tree-dir=dump").code == 0
    written = sorted(str(path.relative_to("dump")) for path in Path("dump").rglob("*.mlir"))
    assert [re.sub(r".*_", "", name) for name in written] == ["cse.mlir", "dce.mlir"]


GRAPH = """relay.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = relay.constant #relay.resource<"w_0"> : tensor<4x8xf32>
  %y = relay.add %x, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = relay.nn.relu %y : tensor<4x8xf32>
  relay.return %z : tensor<4x8xf32>
}
"""


def test_the_compilation_can_be_taken_up_again_after_every_phase(weft_opt: Tool) -> None:
    np.savez(weft_opt.folder / "m.weights.npz", w_0=np.arange(32, dtype=np.float32).reshape(4, 8))
    whole = weft_opt(weft_opt.file("m.mlir", GRAPH), "--compile-to=llvm", "--dump-phases-to=phases")
    assert (whole.code, whole.out) == (0, "")
    last = Path("phases/llvm.mlir").read_text()
    assert "llvm.func" in last
    written = {path.name for path in Path("phases").glob("*.mlir")}
    assert written == {f"{phase}.mlir" for phase in PHASES[:-1]}
    for phase in PHASES[:-2]:
        again = weft_opt(f"phases/{phase}.mlir", f"--compile-from={phase}", "--compile-to=llvm")
        assert (again.code, again.out) == (0, last), phase


def test_a_level_alone_runs_the_passes_of_the_graph_phase_up_to_it(weft_opt: Tool) -> None:
    all_passes = weft_opt("-O3", "--mlir-print-ir-after-all", text=GRAPH)
    few = weft_opt("-O0", "--mlir-print-ir-after-all", text=GRAPH)
    assert all_passes.code == few.code == 0
    for run in (all_passes, few):
        assert "IR Dump After SimplifyInference (simplify-inference)" in run.err
    assert "(alter-op-layout" in all_passes.err and "(alter-op-layout" not in few.err


def test_configuration_reaches_the_pass(weft_opt: Tool) -> None:
    run = weft_opt("-p", "test-object", "--pass-config=test-object.kind=verify")
    assert run.code == 1 and "no place known" in run.err


def test_timing_can_be_a_tree(weft_opt: Tool) -> None:
    run = weft_opt("-p", "builtin.module(cse)", "--mlir-timing", "--mlir-timing-display=tree")
    assert re.search(r"^ +cse: ", run.err, re.M)


def test_what_is_timed_adds_up_to_the_whole_run(weft_opt: Tool) -> None:
    run = weft_opt("--compile-to=tir", "--mlir-timing", text=GRAPH)
    rows = {name: float(s) for s, name in re.findall(r"^ +([0-9.]+) \( *[0-9.]+%\)  (.+)$", run.err, re.M)}
    assert {"Parser", "Verifier", "Output", "Rest", "making passes", "fuse-ops", "Total"} <= set(rows)
    total = rows.pop("Total")
    assert abs(sum(rows.values()) - total) <= 1e-4 * len(rows)
    assert f"Total Execution Time: {total:.4f} seconds" in run.err


def test_a_reader_that_leaves_early_is_no_error(weft_opt: Tool) -> None:
    import subprocess

    root = Path(__file__).parents[2]
    command = f"{sys.executable} -m weft.tools.weft_opt {weft_opt.file('m.mlir', MODULE)} | true"
    done = subprocess.run(command, shell=True, cwd=root, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_unregistered_dialects_are_accepted_on_request(weft_opt: Tool) -> None:
    assert weft_opt("--allow-unregistered-dialect", text='"foo.bar"() : () -> ()').code == 0
    assert weft_opt(text='"foo.bar"() : () -> ()').code == 1
    assert Test.name == "test"


def test_pass_config_takes_json_values(weft_opt: Tool) -> None:
    run = weft_opt(
        "-p", "test-crash", "--pass-config=test-crash.after=3", "--mlir-pass-pipeline-crash-reproducer=r.mlir"
    )
    assert run.code == 70
    config = re.search(r"// config: (.*)", Path("r.mlir").read_text())
    assert config is not None and json.loads(config[1]) == {"test-crash.after": 3}


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ("is used .* not defined", 0),
        ("{{.*}}is used but {{not|never}} defined", 0),
        ("is used {{[0-9]+}} not defined", 1),
        ("is (used {{but}} not defined", 1),
    ],
)
def test_an_expectation_may_be_a_regular_expression_or_hold_some(weft_opt: Tool, expected: str, code: int) -> None:
    text = f'"test.op"(%a) : (i32) -> () // expected-error-re {{{{{expected}}}}}\n'
    assert weft_opt(weft_opt.file("m.mlir", text), "--verify-diagnostics").code == code


def test_every_pass_is_listed_with_what_it_does() -> None:
    code = "from weft.tools.weft_opt import main; main(['--list-passes'])"  # where no test has registered any
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    listed = done.stdout.split("\n\n")[0].splitlines()[1:]
    assert len(listed) > 20
    for line in listed:
        summary = line.split(None, 1)[1]
        assert not summary.startswith(("Options", "No options", "Has no options", "Runs ", "It ")), line
        assert summary.endswith("."), line


def test_a_crash_leaves_one_reproducer_where_a_file_is_named_for_it(weft_opt: Tool) -> None:
    failed = weft_opt("-p", "test-crash", "--mlir-pass-pipeline-crash-reproducer=crash.mlir")
    assert failed.code == 70 and Path("crash.mlir").exists()
    assert failed.err.count("--run-reproducer") == 1 and "--run-reproducer crash.mlir" in failed.err


@register_pass
@dataclass(frozen=True)
class CrashBelowPass(ModulePass):
    name = "test-crash-above-the-level"
    opt_level = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("nobody foresaw this")


@register_pass
@dataclass(frozen=True)
class NeedsCrashPass(ModulePass):
    name = "test-needs-crash"
    required = ("test-crash-above-the-level",)

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@pytest.mark.parametrize("flag", ["-O1", "--disable-pass=test-crash-above-the-level"])
def test_the_reproducer_of_a_pass_that_ran_as_a_requirement_reproduces(weft_opt: Tool, flag: str) -> None:
    run = weft_opt("-p", "test-needs-crash", "--mlir-pass-pipeline-crash-reproducer=r.mlir", flag)
    assert run.code == 70
    again = weft_opt("r.mlir", "--run-reproducer")
    assert again.code == 70 and "nobody foresaw this" in again.err


def test_a_crash_of_weft_itself_is_owned(weft_opt: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FoldConstantPass, "apply_function", None)
    run = weft_opt("-p", "fold-constant")
    assert run.code == 70 and "internal error: TypeError: 'NoneType' object is not callable" in run.err
    assert "this is a mistake in Weft" in run.err and "note: while running the pass fold-constant" in run.err


@register_pass
@dataclass(frozen=True)
class CrashInPatternPass(PatternPass):
    name = "test-crash-in-pattern"

    def patterns(self, ctx: Context) -> list[RewritePattern]:
        return [CrashPattern()]


class CrashPattern(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FuncOp, rewriter: PatternRewriter) -> None:
        raise KeyError("nobody foresaw this")


def test_a_crash_in_a_pattern_names_pattern_and_pass(weft_opt: Tool) -> None:
    run = weft_opt("-p", "test-crash-in-pattern")
    assert "note: while applying the pattern CrashPattern" in run.err
    assert "note: while running the pass test-crash-in-pattern" in run.err


@register_pass
@dataclass(frozen=True)
class MarkPass(ModulePass):
    """Leaves a mark on the module; says nowhere where it belongs."""

    name = "test-mark"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        marks = op.attributes.get("marks", IntegerAttr(0, 64))
        assert isinstance(marks, IntegerAttr)
        op.attributes["marks"] = IntegerAttr(marks.value.data + 1, 64)


RELU = """relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.nn.relu %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
"""


def test_a_required_pass_from_elsewhere_joins_the_phases(weft_opt: Tool) -> None:
    run = weft_opt("--required-pass", "test-mark", "--compile-to=fuse", text=RELU)
    assert run.code == 0 and "marks = 1 : i64" in run.out and "relay.call @" in run.out
    assert "marks" not in weft_opt("--compile-to=fuse", text=RELU).out


def test_a_pipeline_runs_before_the_phases_that_are_asked_for(weft_opt: Tool) -> None:
    run = weft_opt("-p", "test-mark", "--compile-to=fuse", text=RELU)
    assert run.code == 0 and "marks = 1 : i64" in run.out and "relay.call @" in run.out
    run = weft_opt("-p", "test-crash-in-pattern", "--compile-to=fuse")
    assert run.code == 70


def test_all_phases_of_one_run_are_dumped(weft_opt: Tool) -> None:
    assert weft_opt("--dump-phases-to=phases", text=RELU).code == 0
    dumped = {path.stem: path.read_text() for path in Path("phases").glob("*.mlir")}
    assert set(dumped) == set(PHASES[:-1])
    for phase in PHASES[1:-1]:
        assert weft_opt(f"--compile-to={phase}", text=RELU).out == dumped[phase], phase

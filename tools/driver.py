"""What `weft-opt` does with its input: parse, verify, run passes, write."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..dialects.relay.weights import load_weights, resources, weights_path
from ..dialects.support.diagnostics import Diagnostic, Handler, Note, as_diagnostic, handled_by, print_to
from ..dialects.support.parser import LocatedParser
from ..dialects.support.verifier import verify
from ..transforms.infra.context import PassContext
from ..transforms.infra.printing import module_text
from ..transforms.infra.registry import canonical_name, get_pass_type, new_ir_context
from ..transforms.infra.remarks import Remark, sent_to
from ..transforms.infra.reproducer import Reproducer
from ..transforms.infra.timing import timed
from .arguments import by_name
from .entry import internal_error, trace_if_debugging, use_color
from .instrumentation import Instrumentation
from .options import Options
from .output import read_text, write_module
from .plan import DEFAULT_TARGET, Plan, plan_of
from .roundtrip import check_roundtrip
from .verify_diagnostics import Expectations

if TYPE_CHECKING:
    from ..dialects.relay.attributes import NDArray

RUNNING = "while running the pass "
SEPARATOR = re.compile(r"^// -----[ \t]*$", re.MULTILINE)
OUTPUT_SEPARATOR = "// -----\n"


def drive(options: Options) -> int:
    """Process the input and write the output; the exit status.

    Raises:
        UsageError: the options do not fit together.
        Diagnostic: the input cannot be read, or the output written.
    """
    text, name = read_text(options.input)
    if options.run_reproducer:
        options, text = _reproduced(options, text)
    plan = plan_of(options)
    if options.dump_pass_pipeline:
        print(plan.spec if plan.spec.startswith("builtin.module(") else f"builtin.module({plan.spec})", file=sys.stderr)
    instrumentation = Instrumentation(options, plan)
    context = new_ir_context()
    context.allow_unregistered = options.allow_unregistered_dialect
    show = print_to(sys.stderr, {name: text}, color=use_color())
    jobs = [Job(options, plan, context, t, name) for t in (_chunks(text) if options.split_input_file else [text])]
    with instrumentation.pass_context(context):
        if options.verify_diagnostics:
            return max(job.compare_diagnostics(show) for job in jobs)
        code = max(job.report_diagnostics(show) for job in jobs)
        instrumentation.report()
    if code == 0 or (options.split_input_file and options.output == "-"):
        if options.output == "-" and options.dump_phases_to is not None and options.emit == "mlir":
            return code  # what would be printed is the file of the last phase
        arrays = {key: array for job in jobs for key, array in job.arrays.items()}
        write_module(options.output, _joined([job.output for job in jobs if job.output is not None]), arrays)
    return code


def _reproduced(options: Options, text: str) -> tuple[Options, str]:
    """The options and the module that a reproducer holds; the module stands in the lines where the file has it."""
    reproducer = Reproducer.parse(text).enabling()
    options = replace(
        options,
        pipeline=reproducer.pipeline,
        opt_level=reproducer.opt_level,
        required_pass=reproducer.required_pass,
        disable_pass=reproducer.disabled_pass,
        pass_config=tuple(f"{key}={json.dumps(value)}" for key, value in reproducer.config.items()),
    )
    heading = text.count("\n") - reproducer.module.count("\n")
    return options, "\n" * heading + reproducer.module


def _of_xdsl(known: Diagnostic, notes: list[str]) -> Diagnostic:
    """What is said of a failure that nobody foresaw: where the pass is xDSL's own, the mistake is not Weft's."""
    name = re.split(r"[{,( ]", notes[-1].removeprefix(RUNNING))[0] if notes and notes[-1].startswith(RUNNING) else ""
    if canonical_name(name) is not None and (module := get_pass_type(name).__module__).startswith("xdsl."):
        known.message = known.message.replace("internal error", f"the pass '{name}' failed")
        known.hint = f"this is a mistake in '{module}', which the pass is from; WEFT_DEBUG=1 shows where"
    return known


def _chunks(text: str) -> Iterator[str]:
    """The pieces between separators, each after as many empty lines as stand before it, so that places stay right."""
    start = 0
    for match in [*SEPARATOR.finditer(text), None]:
        end = len(text) if match is None else match.start()
        yield "\n" * text.count("\n", 0, start) + text[start:end]
        start = end if match is None else match.end()


def _joined(outputs: list[str | bytes]) -> str | bytes:
    texts = [output for output in outputs if isinstance(output, str)]
    if len(texts) == len(outputs):
        return OUTPUT_SEPARATOR.join(texts)
    return b"".join(output.encode() if isinstance(output, str) else output for output in outputs)


@dataclass
class Job:
    """One module on its way through the tool."""

    options: Options
    plan: Plan
    context: Context
    text: str
    name: str
    output: str | bytes | None = None
    arrays: dict[str, NDArray] = field(default_factory=dict[str, "NDArray"])

    def report_diagnostics(self, show: Handler) -> int:
        """Process the module and hand what there is to say to `show`; the exit status."""
        remarks = self.options.remarks
        wanted = re.compile(remarks) if remarks is not None else None

        def take(remark: Remark) -> None:
            if wanted is not None and wanted.search(remark.pass_name):
                show(remark.as_diagnostic())

        with handled_by(show), sent_to([take] if wanted is not None else []):
            try:
                self._process()
            except Diagnostic as error:
                trace_if_debugging(error)
                show(error)
                return error.exit_code
        return 0

    def compare_diagnostics(self, show: Handler) -> int:
        """Process the module, compare what there is to say with what its comments expect, and hand what differs to
        `show`; the exit status."""
        try:
            expectations = Expectations.parse(self.text, self.name)
        except Diagnostic as error:
            show(error)
            return error.exit_code
        got: list[Diagnostic] = []
        remarks: list[Remark] = []
        with handled_by(lambda d: got.extend(d.each())), sent_to([remarks.append]):
            try:
                self._process()
            except Diagnostic as error:
                if error.exit_code != 1:
                    raise
                got.extend(error.each())
        self.output = None
        problems = expectations.compare(got, remarks, self.options.remarks)
        for problem in problems:
            show(problem)
        return 1 if problems else 0

    def _process(self) -> None:
        options = self.options
        with timed("Parser"):
            module = LocatedParser(self.context, self.text, self.name).parse_module(not options.no_implicit_module)
        with timed("Verifier"):
            verify(module)
        if options.input != "-":
            load_weights(module, Path(options.input), later=True)
        if options.shape:
            from ..transforms.relay.bind_shapes import bind_shapes

            bind_shapes(module, by_name(options.shape, "--shape"))
        if options.verify_roundtrip:
            check_roundtrip(module, self.context)
        self._run_passes(module)
        with timed("Output"):
            self.output = self._emit(module)

    def _run_passes(self, module: ModuleOp) -> None:
        try:
            self.plan.run(module, self.context)
        except Exception as error:
            if (failure := self._failure(error)) is error:
                raise
            raise failure from error

    def _failure(self, error: Exception) -> Diagnostic:
        """A failure in a pass: the user's mistake with a note on which pass, or else a mistake of ours."""
        notes = [note for note in getattr(error, "__notes__", ()) if "\n" not in note]
        innermost = next((i for i, note in enumerate(notes) if note.startswith(RUNNING)), len(notes))
        notes = notes[: innermost + 1]  # what the pass said of itself, such as its pattern, and its name
        known = as_diagnostic(error)
        if known is None:
            known = _of_xdsl(internal_error(error), notes)
            if self.options.crash_reproducer is None:
                notes.append(f"run `weft-opt --run-reproducer {self._write_reproducer(error)}` to see it again")
        last = known.each()[-1]
        last.notes = (*last.notes, *map(Note, notes))
        return known

    def _write_reproducer(self, error: Exception) -> Path:
        context = PassContext.current()
        reproducer = Reproducer(
            self.plan.spec,
            context.opt_level,
            context.required_pass,
            context.disabled_pass,
            context.config,
            f"{type(error).__name__}: {error}",
            self.text,
        )
        with tempfile.NamedTemporaryFile("w", prefix="weft-", suffix=".mlir", delete=False) as file:
            file.write(reproducer.text())
        path, weights = Path(file.name), weights_path(Path(self.options.input))
        if self.options.input != "-" and weights.exists():
            weights_path(path).symlink_to(weights.resolve())
        return path

    def _emit(self, module: ModuleOp) -> str | bytes:
        options = self.options
        if options.emit != "mlir":
            from .emission import emit

            return emit(module, options.emit, DEFAULT_TARGET if options.target is None else options.target)
        if options.output != "-":
            self.arrays = resources(module)
        return module_text(module, generic=options.print_op_generic, debuginfo=options.print_debuginfo)

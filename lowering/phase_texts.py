"""The text of a module at every phase, made when it is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext

from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.columns import broken
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..dialects.support.mapped_files import MappedFiles
from ..transforms.infra import PassContext, PassInfo, PassInstrument
from ..transforms.infra.walk import clone
from .compiler import code_units, lower
from .machine.codegen import compile_to_assembly
from .machine.target import Target
from .phases import PHASES
from .tir_to_gpu.device_code import is_device_text

_ALIASES = {"relay": "graph"}


class PhaseError(UsageError, KeyError):
    """There is no text of a phase of that name."""


class Answers(PassInstrument):
    """Notes which passes have run, by how often they were to, and lets the same ones run again (`again`): what the
    instruments of users would answer another time is not known."""

    def __init__(self, ran: frozenset[tuple[str, int]] | None = None):
        self._given = ran
        self._asked: Counter[str] = Counter()
        self._ran: set[tuple[str, int]] = set()

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        self._asked[info.name] += 1
        return self._given is None or (info.name, self._asked[info.name]) in self._given

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._ran.add((info.name, self._asked[info.name]))

    def again(self) -> Answers:
        """What gives the same answers."""
        return Answers(frozenset(self._ran))


class PhaseTexts(Mapping[str, str]):
    """Phase name -> the module's text after that phase; `"relay"` is the optimised graph.

    Compiling does not keep what lies between: a text is made by running the same pipeline again on the module that was
    imported, up to that phase, under the options of that time. So it is the text that was compiled (`code_units`).
    `files` are those that the module's weights are in.
    """

    def __init__(
        self, module: ModuleOp, start: str, target: Target, context: PassContext, files: MappedFiles | None = None
    ):
        self._module = module
        self._files = files
        self._start = start
        self.target = target
        self._options = (context.opt_level, context.required_pass, context.disabled_pass, context.config)
        self._answers: Answers | None = None
        self._texts: dict[str, str] = {}

    def followed(self) -> AbstractContextManager[object]:
        """In the `with` block the module is compiled: what instruments keep from running does not run for texts."""
        context = PassContext.current()
        if not context.instruments:
            return nullcontext()
        self._answers = Answers()
        return context.at_level(context.opt_level, also=[self._answers])

    def __getitem__(self, phase: str) -> str:
        phase = _ALIASES.get(phase, phase)
        if phase not in set(self):
            hint = did_you_mean(phase, self) or f"phases: {', '.join(self)}"
            raise PhaseError(f"there is no phase '{phase}'", hint=hint)
        if phase not in self._texts:
            self._texts[phase] = broken(str(self.module(phase)))
        return self._texts[phase]

    def __repr__(self) -> str:
        return f"PhaseTexts({', '.join(self)})"

    def module(self, phase: str) -> ModuleOp:
        """A new module at `phase`.

        Raises:
            Diagnostic: a file with weights of the model was written to since it was compiled.
        """
        if self._files is not None:
            self._files.check("since it was compiled, so that there is no text of this program")
        module = clone(self._module)
        level, required, disabled, config = self._options
        answers = [] if self._answers is None else [self._answers.again()]
        with PassContext(level, required, disabled, answers, config):
            lower(module, self.target, phase, self._start)
        return module

    def assembly(self) -> str:
        """The assembly of what was compiled: of each kernel, and last of the graph's own function.

        Raises:
            UsageError: the target has a code generator of its own, as `c`, whose assembly is the C compiler's.
        """
        if self.target.kind == "c":
            raise UsageError("the assembly is the C compiler's", hint="exe.ir.c_source() is what it was given")
        if self.target.generator is not None:
            raise UsageError(f"code for '{self.target.kind}' is not made by LLVM, which has no assembly of it")
        parts = [
            f"# {name or 'the graph'}\n{compile_to_assembly(text, self.target.processor)}"
            for name, text in code_units(self.module("llvm"))
            if not is_device_text(text)
        ]
        return "\n".join(parts)

    def ptx(self) -> str:
        """The PTX of what was compiled for a GPU: of each kernel.

        Raises:
            UsageError: the target is no GPU, and has none.
        """
        if (gpu := self.target.gpu) is None:
            raise UsageError("PTX is made for GPUs", hint='target="cuda"')
        units = code_units(self.module("llvm"))
        return "\n".join(compile_to_assembly(text, gpu) for _, text in units if is_device_text(text))

    def llvm_ir(self) -> str:
        """The LLVM IR of what was compiled: of each kernel, and last of the graph's own function."""
        return "\n".join(f"; {name or 'the graph'}\n{text}" for name, text in code_units(self.module("llvm")))

    def llvm_module(self) -> str:
        """The same as one module, which LLVM's tools read."""
        return self.target.machine().linked([text for _, text in code_units(self.module("llvm"))])

    def c_source(self) -> str:
        """The same as one file of C11."""
        from .loops_to_c.module import emit_c

        return emit_c(self.module("loops"))

    def __iter__(self) -> Iterator[str]:
        return iter(PHASES[PHASES.index(self._start) : -1])

    def __len__(self) -> int:
        return len(list(iter(self)))

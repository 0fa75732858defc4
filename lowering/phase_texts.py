"""The text of a module at every phase, made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import ModuleOp

from ..transforms.infra import PassContext
from .compiler import lower
from .machine.codegen import compile_to_assembly
from .machine.target import Target
from .phases import PHASES

_ALIASES = {"relay": "graph"}


class PhaseTexts(Mapping[str, str]):
    """Phase name -> the module's text after that phase; `"relay"` is the optimised graph.

    Compiling does not keep what lies between: a text is made by lowering the imported module again, under the options
    of that time.
    """

    def __init__(self, module: ModuleOp, start: str, target: Target, context: PassContext):
        self._module = module
        self._start = start
        self.target = target
        self._options = (context.opt_level, context.required_pass, context.disabled_pass, context.config)
        self._texts: dict[str, str] = {}

    def __getitem__(self, phase: str) -> str:
        phase = _ALIASES.get(phase, phase)
        if phase not in set(self):
            raise KeyError(f"no phase '{phase}'; phases: {', '.join(self)}")
        if phase not in self._texts:
            self._texts[phase] = str(self.module(phase))
        return self._texts[phase]

    def module(self, phase: str) -> ModuleOp:
        """A new module at `phase`."""
        module = self._module.clone()
        level, required, disabled, config = self._options
        with PassContext(level, required, disabled, config=config):
            lower(module, self.target, phase, self._start)
        return module

    def assembly(self) -> str:
        """The assembly of all of it, compiled again."""
        return compile_to_assembly(self.module("llvm"), self.target)

    def __iter__(self) -> Iterator[str]:
        return iter(PHASES[PHASES.index(self._start) : -1])

    def __len__(self) -> int:
        return len(list(iter(self)))

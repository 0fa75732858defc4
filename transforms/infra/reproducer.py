"""Crash reproducers: what `weft-opt` needs to make a pass fail again.

A reproducer is an ordinary `.mlir` file: the module as it was before the failing pass, under a heading of comments that
hold the pass and the context it ran in; weights go to a file beside it. `weft-opt --run-reproducer FILE` reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...dialects.relay.weights import save_weights
from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.hints import is_dict, is_list
from .context import DEFAULT_OPT_LEVEL, PassContext
from .info import PassInfo
from .instruments import PassInstrument
from .printing import module_text
from .registry import canonical_name
from .walk import clone

_HEADING = "// weft reproducer: weft-opt --run-reproducer <this file>"


@dataclass(frozen=True)
class Reproducer:
    """A pass, the context it ran in, and the text of the module it was given."""

    pipeline: str
    opt_level: int = DEFAULT_OPT_LEVEL
    required_pass: tuple[str, ...] = ()
    disabled_pass: tuple[str, ...] = ()
    config: Mapping[str, object] = field(default_factory=dict[str, object])
    error: str = ""
    module: str = ""

    def text(self) -> str:
        """The file: heading, then the module."""
        options = {
            "pipeline": self.pipeline,
            "opt-level": self.opt_level,
            "required-pass": list(self.required_pass),
            "disabled-pass": list(self.disabled_pass),
            "config": dict(self.config),
        }
        lines = [_HEADING, *(f"// {name}: {json.dumps(value, default=list)}" for name, value in options.items())]
        lines += [f"// error: {line}" for line in self.error.splitlines()]
        return "\n".join(lines) + "\n" + self.module

    @staticmethod
    @checked
    def parse(text: str) -> Reproducer:
        """Read what `text` writes.

        Raises:
            UsageError: it is not a reproducer, or its heading was damaged.
        """
        lines = text.splitlines(keepends=True)
        if not lines or lines[0].strip() != _HEADING:
            raise UsageError("this file is not a reproducer", hint=f"the first line of one is '{_HEADING}'")
        options: dict[str, object] = {}
        errors: list[str] = []
        end = 1
        for line in lines[1:]:
            if not line.startswith("// "):
                break
            end += 1
            name, _, value = line[3:].strip().partition(": ")
            if name == "error":
                errors.append(value)
                continue
            try:
                options[name] = json.loads(value)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"line {end} of the reproducer cannot be read: {error}") from None
        if not isinstance(pipeline := options.get("pipeline"), str):
            raise UsageError("the reproducer names no pipeline")
        if not isinstance(level := options.get("opt-level", DEFAULT_OPT_LEVEL), int):
            raise UsageError(f"the opt-level of the reproducer is {level!r}, and no whole number")
        if not is_dict(config := options.get("config", {})):
            raise UsageError(f"the config of the reproducer is {config!r}, and no mapping")
        return Reproducer(
            pipeline,
            level,
            _names(options, "required-pass"),
            _names(options, "disabled-pass"),
            {str(key): value for key, value in config.items()},
            "\n".join(errors),
            "".join(lines[end:]),
        )

    def enabling(self) -> Reproducer:
        """The same with the pass enabled: it may have run because another one requires it, disabled or above the
        level."""
        name = self.pipeline.partition("{")[0]
        if not re.fullmatch(r"[\w.-]+", name):
            return self  # a whole pipeline, which ran by the rules
        known = {name, canonical_name(name)}
        return replace(
            self,
            required_pass=(*self.required_pass, name),
            disabled_pass=tuple(other for other in self.disabled_pass if canonical_name(other) not in known),
        )

    def context(self) -> PassContext:
        """A new context like the one in which the pass failed."""
        enabling = self.enabling()
        return PassContext(enabling.opt_level, enabling.required_pass, enabling.disabled_pass, config=enabling.config)


def _names(options: Mapping[str, object], option: str) -> tuple[str, ...]:
    """The names of passes that an option holds."""
    given = options.get(option, [])
    names = [each for each in given if isinstance(each, str)] if is_list(given) else []
    if not is_list(given) or len(names) != len(given):
        raise UsageError(f"the {option} of the reproducer is {given!r}, and no list of names")
    return tuple(names)


@checked_methods
class CrashReproducer(PassInstrument):
    """Writes a reproducer of the first pass that fails. `written` is the file's path once there is one.

    It keeps a copy of the module while a pass runs, so it costs time in every pass.
    """

    def __init__(self, path: str | Path):
        self._path = Path(path)
        self._copies: list[ModuleOp | None] = []
        self._reported: Exception | None = None
        self.written: Path | None = None

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._copies.append(None if info.is_sequence else clone(module))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._copies.pop()

    def run_after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        copy = self._copies.pop()
        if copy is None or error is self._reported:
            return  # a sequence, or the pass around the one that failed
        self._reported = error
        context = PassContext.current()
        reproducer = Reproducer(
            info.spec,
            context.opt_level,
            context.required_pass,
            context.disabled_pass,
            context.config,
            f"{type(error).__name__}: {error}",
            module_text(copy, debuginfo=True),
        )
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(reproducer.text())
        save_weights(copy, self._path)
        self.written = self._path

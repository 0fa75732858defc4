"""Instruments that show the module before and after passes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import TextIO, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from ...dialects.support.arguments import checked_methods
from ...dialects.support.columns import broken
from ...dialects.support.printer import ModulePrinter
from .info import PassInfo
from .instruments import PassInstrument
from .registry import canonical_name

Printing: TypeAlias = Callable[[ModuleOp], str]
"""How a module is turned into text."""


def module_text(module: ModuleOp, *, generic: bool = False, debuginfo: bool = False) -> str:
    """The text of a module, ending in a new line."""
    out = StringIO()
    ModulePrinter(out, print_generic_format=generic, print_debuginfo=debuginfo).print_op(module)
    return broken(out.getvalue()) + "\n"


def banner(when: str, info: PassInfo) -> str:
    """MLIR's: `// -----// IR Dump After FuseOps (fuse-ops{max-depth=4}) //----- //`."""
    return f"// -----// IR Dump {when} {info.title} ({info.spec}) //----- //\n"


@checked_methods
class _PrintIR(PassInstrument):
    """What the printing instruments share: which passes, where to, how."""

    def __init__(
        self,
        passes: Sequence[str] | None = None,
        *,
        out: TextIO | None = None,
        printing: Printing = module_text,
    ):
        self._names = None if passes is None else {n for name in passes for n in (name, canonical_name(name) or name)}
        self._out = out
        self._printing = printing

    def _wants(self, info: PassInfo) -> bool:
        return not info.is_sequence if self._names is None else info.name in self._names

    def _print(self, when: str, info: PassInfo, text: str) -> None:
        (sys.stderr if self._out is None else self._out).write(banner(when, info) + text)


class PrintIRBefore(_PrintIR):
    """Prints the module before the passes named, or before all.

    Args:
        passes: names, TVM's too; all passes but sequences of them where none are given.
        out: where to, `sys.stderr` by default.
        printing: how a module is turned into text.
    """

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if self._wants(info):
            self._print("Before", info, self._printing(module))


@checked_methods
class PrintIRAfter(_PrintIR):
    """Prints the module after the passes named, or after all; with `only_changed` only where it is another text than
    before. Other arguments are those of `PrintIRBefore`."""

    def __init__(
        self,
        passes: Sequence[str] | None = None,
        *,
        only_changed: bool = False,
        out: TextIO | None = None,
        printing: Printing = module_text,
    ):
        super().__init__(passes, out=out, printing=printing)
        self._only_changed = only_changed
        self._before: list[str] = []

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if self._only_changed and self._wants(info):
            self._before.append(self._printing(module))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if not self._wants(info):
            return
        text = self._printing(module)
        if not self._only_changed or text != self._before.pop():
            self._print("After", info, text)

    def run_after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        self._before.clear()


class PrintIRAfterFailure(_PrintIR):
    """Prints the module as a failing pass has left it. Arguments are those of `PrintIRBefore`."""

    def run_after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        if self._wants(info):
            try:
                text = self._printing(module)
            except Exception as broken:  # what a failing pass leaves need not be printable
                text = f"// the module cannot be printed: {broken}\n"
            self._print("After Failed", info, text)


@checked_methods
class DumpIR(PassInstrument):
    """Writes the module after each pass to a file of a directory, numbered in the order of running:
    `000_simplify-inference.mlir`. A sequence is a directory of its own. TVM's `DumpIR`.

    Args:
        directory: made if need be.
        refresh: empty it on entering the context.
        printing: how a module is turned into text.
    """

    def __init__(self, directory: str | Path, refresh: bool = False, printing: Printing = module_text):
        self._directory = Path(directory)
        self._refresh = refresh
        self._printing = printing
        self._path = [self._directory]
        self._numbers = [0]

    def enter_pass_ctx(self) -> None:
        if self._refresh and self._directory.exists():
            shutil.rmtree(self._directory)
        self._path, self._numbers = [self._directory], [0]

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._path.append(self._path[-1] / f"{self._numbers[-1]:03}_{_file_name(info.name)}")
        self._numbers[-1] += 1
        self._numbers.append(0)

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        path = self._path.pop()
        self._numbers.pop()
        if not info.is_sequence:
            path = path.with_name(path.name + ".mlir")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._printing(module))

    def run_after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        self._path.pop()
        self._numbers.pop()


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)

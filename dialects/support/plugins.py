"""What other packages add to Weft by entry points, and who is to blame where that fails.

| entry point      | what it names                                                              |
| ---              | ---                                                                        |
| `xdsl.universe`  | a `Universe`: dialects and passes                                          |
| `weft.importers` | a mapping of ONNX operators to converters, see `weft.frontend.onnx.registry` |
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

OWN = ("xdsl", "weft")
"""The packages whose entry points are no plug-ins."""


@dataclass(frozen=True)
class Broken:
    """A plug-in that could not be loaded."""

    entry: EntryPoint
    error: Exception

    def __str__(self) -> str:
        package = self.entry.dist.name if self.entry.dist is not None else self.entry.module
        return (
            f"the plug-in '{self.entry.name}' ({self.entry.value}) of the package '{package}' cannot be loaded: "
            f"{type(self.error).__name__}: {self.error}"
        )


GROUPS = ("xdsl.universe", "weft.importers")


def plugins(group: str) -> Iterator[object | Broken]:
    """What the entry points of a group name, loaded; in the place of what cannot be loaded, a `Broken`."""
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        if entry.module.partition(".")[0] in OWN:
            continue
        try:
            yield entry.load()
        except Exception as error:  # whatever a foreign module does
            yield Broken(entry, error)


def culprit(error: BaseException) -> str | None:
    """Where in a plug-in an exception arose, innermost place first: `softcap/ops.py:12, in infer (plug-in 'softcap')`.

    `None` where no plug-in's code was running.
    """
    packages = {entry.module.partition(".")[0] for group in GROUPS for entry in entry_points(group=group)} - {*OWN}
    found: str | None = None
    trace = error.__traceback__
    while trace is not None:
        package = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in packages:
            code = trace.tb_frame.f_code
            found = f"{code.co_filename}:{trace.tb_lineno}, in {code.co_name} (plug-in '{package}')"
        trace = trace.tb_next
    return found


def class_place(cls: type) -> str:
    """Where a class stands, for messages: `class SoftcapOp (softcap/ops.py:12)`."""
    try:
        return f"class {cls.__name__} ({inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]})"
    except (OSError, TypeError):
        return f"class {cls.__name__} of {cls.__module__}"

"""What other packages add to Weft by entry points.

| entry point      | what it names                                                              |
| ---              | ---                                                                        |
| `xdsl.universe`  | a `Universe`: dialects and passes                                          |
| `weft.importers` | a mapping of ONNX operators to converters, see `weft.frontend.onnx.registry` |
"""

from __future__ import annotations

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


def plugins(group: str) -> Iterator[object | Broken]:
    """What the entry points of a group name, loaded; in the place of what cannot be loaded, a `Broken`."""
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        if entry.module.partition(".")[0] in OWN:
            continue
        try:
            yield entry.load()
        except Exception as error:  # whatever a foreign module does
            yield Broken(entry, error)

"""Where operators are found by name: `relay.nn.dense` is `find("nn.dense")`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ...dialects.support.diagnostics import did_you_mean
from .composites import COMPOSITES
from .operators import Operator, operator, operator_classes


def operator_names() -> set[str]:
    """Everything that can be called, by its name without `relay.`."""
    return {*operator_classes(), *COMPOSITES}


def find(name: str) -> Operator:
    """The function of that name.

    Raises:
        AttributeError: there is none; the message names near ones.
    """
    if name in COMPOSITES:
        return COMPOSITES[name]
    if name in operator_classes():
        return operator(name)
    near = did_you_mean(name, operator_names())
    raise AttributeError(f"relay has no operator '{name}'" + (f"; {near}" if near else ""))


class OperatorNamespace(ModuleType):
    """`relay.nn`, `relay.image`, ...: the operators whose names begin so."""

    def __init__(self, prefix: str):
        super().__init__(f"weft.relay.{prefix}", f"The operators `relay.{prefix}.*`.")
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        """The operator of that name, or the operators whose names begin so."""
        if name.startswith("__"):
            raise AttributeError(name)
        if any(known.startswith(f"{self._prefix}.{name}.") for known in operator_names()):
            return OperatorNamespace(f"{self._prefix}.{name}")
        if (self._prefix, name) == ("qnn", "op"):  # `relay.qnn.op.quantize`, as in TVM
            return self
        return find(f"{self._prefix}.{name}")

    def __dir__(self) -> list[str]:
        start = self._prefix + "."
        below = (name.removeprefix(start) for name in operator_names() if name.startswith(start))
        return sorted({name.partition(".")[0] for name in below})

"""Where operators are found by name: `relay.nn.dense` is `find("nn.dense")`."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import did_you_mean
from .composites import COMPOSITES
from .lookup_tables import canonicalizations
from .op_class import Op, UnknownOperatorError, definitions
from .operators import Operator, operator, operator_classes, registered_operator
from .requantizing import requantize_config
from .told import is_told, told


def operator_names() -> set[str]:
    """Everything that can be called, by its name without `relay.`."""
    return {*operator_classes(), *COMPOSITES, *definitions()}


def find(name: str) -> Operator:
    """The function of that name.

    Raises:
        UnknownOperatorError: there is none; the hint names near ones.
    """
    if name in COMPOSITES or name in operator_classes():
        return _builder(name)
    if name in definitions():
        return registered_operator(name)
    raise UnknownOperatorError(f"relay has no operator '{name}'", hint=did_you_mean(name, operator_names()))


@checked
def get(name: str) -> Op:
    """The operator of that name, as what is called.

    Raises:
        UnknownOperatorError: there is none; the hint names near ones.
    """
    find(name)
    return Op(name)


@cache
def _builder(name: str) -> Operator:
    make = COMPOSITES[name] if name in COMPOSITES else operator(name)
    return told(name, make) if is_told(name) else make


Op.lookup = get


_OF_QNN = {"requantize_config": requantize_config, "canonicalizations": canonicalizations}
"""What `relay.qnn` has beside its operators."""


class OperatorNamespace(ModuleType):
    """`relay.nn`, `relay.image`, ...: the operators whose names begin so; with no prefix, `relay.op`, all of them."""

    def __init__(self, prefix: str):
        super().__init__(f"weft.relay.{prefix or 'op'}", f"The operators `relay.{prefix and prefix + '.'}*`.")
        self._start = prefix and prefix + "."

    def __getattr__(self, name: str) -> Any:
        """The operator of that name, or the operators whose names begin so."""
        if name.startswith("__"):
            raise AttributeError(name)
        if any(known.startswith(f"{self._start}{name}.") for known in operator_names()):
            return OperatorNamespace(self._start + name)
        if (self._start, name) == ("", "get"):  # `relay.op.get("nn.relu")`, as in TVM
            return get
        if self._start == "qnn." and name in (
            "op",
            "qnn",
        ):  # `relay.qnn.op.quantize`, `relay.qnn.op.qnn.quantize`, as in TVM
            return self
        if self._start == "qnn." and name in _OF_QNN:
            return _OF_QNN[name]
        return find(self._start + name)

    def __dir__(self) -> list[str]:
        below = (name.removeprefix(self._start) for name in operator_names() if name.startswith(self._start))
        return sorted({name.partition(".")[0] for name in below})

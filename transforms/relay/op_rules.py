"""Rules that are registered for operators, beside what their classes say: one table for all passes that ask.

    @register_rule(LeakyReluOp, LEGALIZE)
    def by_maximum(op, emit): ...

A rule is for the operators of a class and has a name, the attribute under which TVM has it: by this a pass looks for
it, and what it is called with is the pass's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar, cast

from xdsl.ir import SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.relay.precision import Precision
from ...dialects.support.plugins import note_change

ALTER = "FTVMAlterOpLayout"
"""Of `alter-op-layout`: `(op, layouts, emit)`, the layouts being none (see `layout_rules`)."""
CONVERT = "FTVMConvertOpLayout"
"""Of `convert-layout`: `(op, layouts, emit)`."""
LEGALIZE = "FTVMLegalize"
"""Of `legalize`, unless it is told another name: `(op, emit)`."""
QUANTIZE = "FTVMFakeQuantizationToInteger"
"""Of `fake-quantization-to-integer`, before the rules that are there: `(site)`, which gives integers and what they
stand for (see `quantized_rules`)."""
PRECISION = "FTVMMixedPrecisionConversionType"
"""Of `to-mixed-precision`: `(op, dtype)`, which gives the `Precision` that counts in the place of its class's."""

Rule: TypeAlias = Callable[..., "SSAValue | None"]
"""Gives what stands in the place of an operator's result; `None` to leave that."""
PrecisionRule: TypeAlias = Callable[..., Precision]
R = TypeVar("R", bound=Rule | PrecisionRule)

_rules: dict[tuple[str, type[RelayOp]], Rule | PrecisionRule] = {}


def register_rule(op_type: type[RelayOp], name: str) -> Callable[[R], R]:
    """Make a function the rule of this name for operators of a class; the last one counts."""

    def add(rule: R) -> R:
        note_change(rule.__module__)
        _rules[name, op_type] = rule
        return rule

    return add


def unregister_rule(op_type: type[RelayOp], name: str) -> None:
    """Take the rule for a class away."""
    note_change("")
    _rules.pop((name, op_type), None)


def rules_named(name: str) -> Mapping[type[RelayOp], Rule]:
    """The rules of a name, other than `PRECISION`, by the classes of operators."""
    return {op_type: cast(Rule, rule) for (of, op_type), rule in _rules.items() if of == name}


def precision_rule(op_type: type[RelayOp]) -> PrecisionRule | None:
    """What says what operators of a class are to `to-mixed-precision`, where that is registered."""
    rule = _rules.get((PRECISION, op_type))
    return None if rule is None else cast(PrecisionRule, rule)

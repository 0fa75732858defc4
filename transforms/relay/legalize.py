"""Replace operators by what suits better, as their classes and registered rules say.

    @register_legalize(LeakyReluOp)
    def by_maximum(op, emit):                     # max(x, alpha * x), where alpha is at most 1
        alpha = emit.constant(op.alpha.value.data, tensor(op.data).element_type)
        return emit(MaximumOp(op.data, emit(MultiplyOp(op.data, alpha))))

One walk in the order of the text; what a rule has made is not looked at again. A rule gives a value of the operator's
type, or `None` to leave it. Rules come before the class's own `legalized`. Which rules: those of `FTVMLegalize`, or of
another name that `legalize-map-attr-name` gives; `FTVMQnnCanonicalize` are those that write operators on quantised
tensors as others.

Counterpart of TVM's `Legalize` and `register_legalize`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar

from xdsl.context import Context
from xdsl.ir import SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.relay.core import FuncOp
from ...dialects.relay.decomposition import WrittenOut
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.plugins import note_change
from ..infra import FunctionPass, report_changed
from ..infra.walk import walk
from .emitter import Emitter

DEFAULT = "FTVMLegalize"
CANONICALIZE = "FTVMQnnCanonicalize"

Rule: TypeAlias = Callable[[Any, Emitter], "SSAValue | None"]
R = TypeVar("R", bound=Rule)

_rules: dict[tuple[str, type[RelayOp]], Rule] = {}


def register_legalize(op_type: type[RelayOp], attr_name: str = DEFAULT) -> Callable[[R], R]:
    """Make a function of an operator and an `Emitter` the rule for operators of a class; the last one counts."""

    def add(rule: R) -> R:
        note_change(rule.__module__)
        _rules[attr_name, op_type] = rule
        return rule

    return add


def unregister_legalize(op_type: type[RelayOp], attr_name: str = DEFAULT) -> None:
    """Take the rule for a class away."""
    note_change("")
    _rules.pop((attr_name, op_type), None)


@dataclass(frozen=True)
class LegalizePass(FunctionPass):
    """Options: `legalize-map-attr-name` names the rules."""

    name = "legalize"
    opt_level: ClassVar[int] = 1
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "Legalize"

    legalize_map_attr_name: str = DEFAULT

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        changed = False
        for op in list(walk(func)):
            if isinstance(op, RelayOp) and len(op.results) == 1:
                changed |= self._replace(op)
        report_changed(changed)

    def _replace(self, op: RelayOp) -> bool:
        emit = Emitter()
        value: SSAValue | None = None
        if (rule := _rules.get((self.legalize_map_attr_name, type(op)))) is not None:
            value = rule(op, emit)
        elif self.legalize_map_attr_name == DEFAULT:
            value = op.legalized(lambda made: emit(made))  # pyright: ignore[reportArgumentType]
        elif self.legalize_map_attr_name == CANONICALIZE and isinstance(op, WrittenOut):
            value = op.canonical(emit)
        if value is None or value is op.results[0]:
            for made in reversed(emit.ops):
                made.erase()
            return False
        if value.type != op.results[0].type:
            message = f"the rule that legalizes '{op.name}' gives {value.type} for {op.results[0].type}"
            raise Diagnostic.at(op, message)
        block = op.parent
        assert block is not None
        for made in emit.ops:
            made.location = op.location
            block.insert_op_before(made, op)
        value.name_hint = value.name_hint or op.results[0].name_hint
        op.results[0].replace_all_uses_with(value)
        op.detach()
        op.erase()
        return True

"""Replace operators by what suits better, as their classes and registered rules say.

    @register_rule(LeakyReluOp, LEGALIZE)
    def by_maximum(op, emit):                     # max(x, alpha * x), where alpha is at most 1
        alpha = emit.constant(op.alpha.value.data, tensor(op.data).element_type)
        return emit(MaximumOp(op.data, emit(MultiplyOp(op.data, alpha))))

One walk in the order of the text; what a rule has made is not looked at again. A rule gives a value of the operator's
type, or `None` to leave it. Rules come before the class's own `legalized`. Which rules: those of `FTVMLegalize`, or of
another name that `legalize-map-attr-name` gives; `FTVMQnnCanonicalize` are those that write operators on quantised
tensors as others.

Counterpart of TVM's `Legalize`; `op_rules` is that of `register_legalize`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.relay.core import FuncOp
from ...dialects.relay.decomposition import WrittenOut
from ...dialects.support.diagnostics import Diagnostic, UsageError
from ..infra import FunctionPass, report_changed
from ..infra.walk import walk
from .emitter import Emitter
from .op_rules import ALTER, CONVERT, LEGALIZE, Rule, rules_named

CANONICALIZE = "FTVMQnnCanonicalize"


@dataclass(frozen=True)
class LegalizePass(FunctionPass):
    """Options: `legalize-map-attr-name` names the rules."""

    name = "legalize"
    opt_level: ClassVar[int] = 1
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "Legalize"

    legalize_map_attr_name: str = LEGALIZE

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        if self.legalize_map_attr_name in (ALTER, CONVERT):
            what = f"rules named '{self.legalize_map_attr_name}' choose layouts, and replace no operators"
            raise UsageError(what, hint="`alter-op-layout` and `convert-layout` apply them")
        changed, rules = False, rules_named(self.legalize_map_attr_name)
        for op in list(walk(func)):
            if isinstance(op, RelayOp) and len(op.results) == 1:
                changed |= self._replace(op, rules.get(type(op)))
        report_changed(changed)

    def _replace(self, op: RelayOp, rule: Rule | None) -> bool:
        emit = Emitter()
        value: SSAValue | None = None
        if rule is not None:
            value = rule(op, emit)
        elif self.legalize_map_attr_name == LEGALIZE:
            value = op.legalized(emit.insert)
        elif self.legalize_map_attr_name == CANONICALIZE and isinstance(op, WrittenOut):
            value = op.canonical(emit)
        if value is None or value is op.results[0]:
            emit.erase()
            return False
        if value.type != op.results[0].type:
            message = f"the rule that legalizes '{op.name}' gives {value.type} for {op.results[0].type}"
            raise Diagnostic.at(op, message)
        emit.insert_before(op)
        op.results[0].replace_all_uses_with(value)
        op.detach()
        op.erase()
        return True

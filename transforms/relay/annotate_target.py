"""Bound what other compilers take, operator by operator.

    %0 = relay.nn.relu %x            %0 = relay.annotation.compiler_begin %x {compiler = "test"}
    %1 = relay.abs %0          ->    %1 = relay.nn.relu %0
                                     %2 = relay.annotation.compiler_end %1 {compiler = "test"}
                                     %3 = relay.annotation.compiler_begin %2 {compiler = "default"}
                                     %4 = relay.abs %3 ...

An operator goes to the first of `targets` whose backend supports it, a composite to the backend that it is named after;
what no one takes is bounded for `default`. Each use has bounds of its own. Tuples, their fields and references go where
all of their operands come from (`include-non-call-ops`), or are left between the regions. What another run has bounded
stays; what it left to `default` is decided anew. A composite that is written as a function and called becomes a region.

Counterpart of TVM's `AnnotateTarget`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from ...dialects.relay.base import RelayOp
from ...dialects.relay.control import ApplyOp, FnOp, RefCreateOp, RefReadOp, RefWriteOp
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, PrimitiveOp, TupleGetOp, TupleOp
from ...dialects.relay.functions import COMPOSITE
from ...dialects.relay.interpreter import free_values
from ...dialects.relay.ops.annotation import CompilerBeginOp, CompilerEndOp
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ..infra import FunctionPass, report_changed
from ..infra.walk import erase, walk
from .backends import Backend, backends
from .compiler_regions.order import blocks_of, expression_order
from .compiler_regions.regions import DEFAULT, bounds, drop_bound
from .dataflow.pattern import defining_op

_NON_CALLS = (TupleOp, TupleGetOp, RefCreateOp, RefReadOp, RefWriteOp)
"""What passes on values and is no operator."""


@dataclass(frozen=True)
class AnnotateTargetPass(FunctionPass):
    """Put `compiler_begin` before and `compiler_end` behind operators that other compilers take."""

    name = "annotate-target"
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "AnnotateTarget"

    targets: str | tuple[str, ...] = ()
    """The backends, the most wanted first."""

    include_non_call_ops: bool = True
    """Bound tuples, fields of tuples and references as well."""

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        """
        Raises:
            UsageError: there is no such backend.
        """
        targets = (self.targets,) if isinstance(self.targets, str) else self.targets
        for call in [op for op in walk(func) if isinstance(op, ApplyOp)]:
            _write_composite_in_place(call)
        for bound in bounds(func):
            if bound.compiler.data == DEFAULT:
                drop_bound(bound)
        report_changed(_Annotation(_takers(targets, func.parent_op() or func), self.include_non_call_ops).run(func))


def _write_composite_in_place(call: ApplyOp) -> None:
    """A call of a composite function literal, which a user may write, becomes the region that patterns make of one."""
    function = call.callee.owner
    if not isinstance(function, FnOp) or COMPOSITE not in function.attributes or free_values(function):
        return
    region = PrimitiveOp(list(call.arguments), list(call.result_types), function.body.clone())
    region.attributes |= function.attributes
    region.location = call.location
    Rewriter.replace_op(call, region)
    if function.result.first_use is None:
        erase(function)


def _takers(targets: Sequence[str], whole: Operation) -> dict[str, Backend | None]:
    """The backends by name; nothing for a name that only composites have, anywhere in the module."""
    known = backends()
    unknown = [target for target in targets if target not in known]
    composites = {_composite_target(op) for op in walk(whole)} if unknown else set[str | None]()
    for target in unknown:
        if target not in composites:
            hint = did_you_mean(target, known) or "weft.register_backend makes one known"
            raise UsageError(f"there is no backend '{target}'", hint=hint)
    return {target: known.get(target) for target in targets}


def _composite_target(op: Operation) -> str | None:
    """The backend that a composite is named after."""
    name = op.attributes.get(COMPOSITE)
    return name.data.partition(".")[0] if isinstance(name, StringAttr) and "." in name.data else None


class _Annotation:
    """The annotation of one function."""

    def __init__(self, takers: dict[str, Backend | None], non_calls: bool):
        self._takers = takers
        self._non_calls = non_calls
        self._targets: dict[Operation, str] = {}
        self._changed = False

    def run(self, function: FuncOp) -> bool:
        """Annotate it; whether anything was to be done."""
        for block in list(blocks_of(function.body)):
            for op in expression_order(block):
                self._visit(op, block)
        return self._changed

    def _visit(self, op: Operation, block: Block) -> None:
        match op:
            case CompilerBeginOp():
                return
            case CompilerEndOp():
                self._targets[op] = op.compiler.data
            case ConstantOp() | FnOp():
                return
            case _ if isinstance(op, _NON_CALLS):
                if self._non_calls:
                    self._bound(op, range(len(op.operands)), None)
                else:
                    self._end(op, range(len(op.operands)))
            case ApplyOp():
                if self._non_calls:
                    self._bound(op, range(1, len(op.operands)), DEFAULT)
                else:
                    self._end(op, range(1, len(op.operands)))
            case RelayOp() | CallOp() | PrimitiveOp():
                if any(isinstance(defining_op(operand), CompilerBeginOp) for operand in op.operands):
                    return  # by another run
                self._bound(op, range(len(op.operands)), self._taker(op))
            case _:  # branches and what ends a block
                self._end(op, range(len(op.operands)))
                if not op.has_trait(IsTerminator):
                    return

    def _taker(self, op: Operation) -> str:
        composite = _composite_target(op)
        for name, backend in self._takers.items():
            if composite == name or (backend is not None and isinstance(op, RelayOp) and backend.supports(op)):
                return name
        return DEFAULT

    def _target_of(self, value: SSAValue) -> str | None:
        """Where a value comes from; nothing for inputs and what is treated as such."""
        maker = defining_op(value)
        if isinstance(maker, CompilerEndOp):
            return maker.compiler.data
        return None if maker is None else self._targets.get(maker)

    def _ends(self, value: SSAValue) -> bool:
        """Whether a value leaves a region by this use of it: it was computed there of something."""
        maker = defining_op(value)
        return maker is not None and maker in self._targets and bool(maker.operands)

    def _bound(self, op: Operation, places: range, target: str | None) -> None:
        """Bound an operation, for the target or, if there is none, that of all of its operands."""
        given = [self._target_of(op.operands[place]) or DEFAULT for place in places]
        common = given[0] if len(set(given)) == 1 else DEFAULT
        target = target or common
        self._targets[op] = target
        for place in places:
            left = self._left(op.operands[place], op)
            op.operands[place] = self._insert(CompilerBeginOp(left, compiler=target), op)

    def _end(self, op: Operation, places: range) -> None:
        """Have the operands of an operation leave their regions."""
        for place in places:
            op.operands[place] = self._left(op.operands[place], op)

    def _left(self, value: SSAValue, user: Operation) -> SSAValue:
        """A value as it is outside of the region that it was computed in, for one that uses it."""
        maker = defining_op(value)
        if isinstance(maker, CompilerEndOp):
            if value.has_one_use() and maker.parent is user.parent and user.parent is not None:
                maker.detach()
                user.parent.insert_op_before(maker, user)
            return value
        return self._insert(CompilerEndOp(value, compiler=self._target_of(value)), user) if self._ends(value) else value

    def _insert(self, new: CompilerBeginOp | CompilerEndOp, before: Operation) -> SSAValue:
        new.location = before.location
        assert before.parent is not None
        before.parent.insert_op_before(new, before)
        self._changed = True
        return new.result

"""Compute with integers what is written with floats between `qnn.dequantize` and `qnn.quantize`.

    %a = relay.qnn.dequantize %x                 %0 = relay.qnn.conv2d %x, %w     // in 32 bits
    %b = relay.qnn.dequantize %w           ->    %1 = relay.maximum %0, 0
    %c = relay.nn.conv2d %a, %b                  %y = relay.qnn.requantize %1
    %d = relay.nn.relu %c
    %y = relay.qnn.quantize %d

For every `quantize`, the region of the graph that leads to it is looked at, up to `dequantize`s and constants. If every
operator in it has a rule (`quantized_rules.py`, `quantized_pairs.py`), it is computed again with integers; else it
stays, with a remark that says where. Scales and zero points must be constants. Results may differ by a step of the
quantisation, as they do in TVM: rounding happens in other places. Where an operator's scale does not follow from its
operands (a sum, a function) it takes that of the `quantize`; TVM does so in the middle of a region too, where numbers
may be cut off by it, here it is done only where `quantize` comes next, but for operators that choose among elements or
bound them.

`hard-fail` makes an error of a region that stays. `use-qat` also converts, one by one, operators outside of such
regions whose operands are dequantised, and dequantises their results. `simplify-inference` should follow, which writes
the operators on quantised tensors out.

Counterpart of TVM's `FakeQuantizationToInteger`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.relay.core import ConstantOp, FuncOp, TupleGetOp, TupleOp
from ...dialects.relay.ops.qnn.quantization import DequantizeOp, QuantizeOp
from ...dialects.support.diagnostics import Diagnostic
from ..infra import FunctionPass, remarks, report_changed
from ..infra.walk import walk
from .affine_values import Affine, NotQuantizedError, affine_of, requantize
from .dead_code_elimination import eliminate_dead_code
from .emitter import Emitter
from .op_rules import QUANTIZE, rules_named
from .quantized_pairs import RULES
from .quantized_rules import KEEPING, LOCAL, Quantized, Rule, Site

NAME = "fake-quantization-to-integer"


@dataclass(frozen=True)
class FakeQuantizationToIntegerPass(FunctionPass):
    """Options: `hard-fail`, `use-qat`."""

    name = NAME
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "FakeQuantizationToInteger"

    hard_fail: bool = False
    use_qat: bool = False

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        changed = False
        for block in [block for op in walk(func) for region in op.regions for block in region.blocks]:
            for op in list(block.ops):
                if isinstance(op, QuantizeOp):
                    changed |= _rewrite_region(op, self.hard_fail)
            if self.use_qat:
                eliminate_dead_code(func)
                changed |= _rewrite_one_by_one(block)
        if changed:
            eliminate_dead_code(func)
        report_changed(changed)


def _rewrite_region(end: QuantizeOp, hard_fail: bool) -> bool:
    """Compute what leads to `end` with integers; return whether that was done."""
    emit = Emitter()
    values: dict[SSAValue, Quantized] = {}
    at: Operation = end
    try:
        wanted, region = affine_of(end), _region(end)
        near = _leading_straight_to(end, region)
        for op in region:
            at = op
            _step(op, values, wanted if op in near else None, emit)
        at = end
        if end.data not in values:
            raise NotQuantizedError("what it quantises is not computed from quantised values")
        result = requantize(emit, *values[end.data], wanted)
    except NotQuantizedError as obstacle:
        emit.erase()
        if hard_fail:
            raise Diagnostic.at(at, f"this cannot be computed with integers: {obstacle}") from None
        remarks.missed(NAME, at, f"a quantised region stays: {obstacle}")
        return False
    emit.insert_before(end)
    end.result.replace_all_uses_with(result)
    remarks.passed(NAME, end, "what leads to it is computed with integers")
    return True


def _region(end: QuantizeOp) -> list[Operation]:
    """The operations that lead to `end`, from `dequantize`s and constants on, operands first.

    Raises:
        NotQuantizedError: an argument, or an operation of another kind, is among them.
    """
    order: dict[Operation, None] = {}
    stack: list[tuple[SSAValue, bool]] = [(end.data, False)]
    while stack:
        value, ready = stack.pop()
        owner = value.owner
        if isinstance(owner, Block) or owner.parent is not end.parent:
            raise NotQuantizedError("a value that leads to it is no result of an operator beside it")
        if ready:
            order[owner] = None
        elif owner not in order:
            stack.append((value, True))
            stack.extend((operand, False) for operand in (() if isinstance(owner, DequantizeOp) else owner.operands))
    return list(order)


def fake_quantized_operators(root: Operation) -> list[str]:
    """The names of the operators on floats between `dequantize` and `quantize`, each once for all regions."""
    found: dict[Operation, None] = {}
    for op in walk(root):
        if isinstance(op, QuantizeOp):
            try:
                region = _region(op)
            except NotQuantizedError:
                continue
            if any(isinstance(each, DequantizeOp) for each in region):
                found.update({o: None for o in region if isinstance(o, RelayOp) and not isinstance(o, DequantizeOp)})
    return [op.name.removeprefix("relay.") for op in found]


def _leading_straight_to(end: QuantizeOp, region: Sequence[Operation]) -> set[Operation]:
    """The operations of the region whose results are quantised by `end` before anything is computed with them: so they
    may be quantised by it at once."""
    inside = set(region)
    near: set[Operation] = set()
    for op in reversed(region):
        users = {use.operation for result in op.results for use in result.uses} & {*inside, end}
        if all(user is end or (user in near and _keeps(user)) for user in users):
            near.add(op)
    return near


def _keeps(op: Operation) -> bool:
    return isinstance(op, TupleOp | TupleGetOp) or type(op) in KEEPING


def _step(op: Operation, values: dict[SSAValue, Quantized], wanted: Affine | None, emit: Emitter) -> None:
    """Compute one operation with integers."""
    match op:
        case DequantizeOp():
            values[op.result] = (op.data, affine_of(op))
        case ConstantOp() | TupleOp():
            pass
        case TupleGetOp():
            values[op.result] = _field(op, values, emit)
        case RelayOp() if (rule := _rule_of(op)) is not None:
            values[op.results[0]] = rule(Site(op, values, wanted, emit))
        case _:
            raise NotQuantizedError(f"there is no rule for {op.name}")


def _rule_of(op: RelayOp) -> Rule | None:
    """How an operator is computed with integers: the rule that is registered for it, or that which is there."""
    given = cast("Rule | None", rules_named(QUANTIZE).get(type(op)))
    return given or RULES.get(type(op))


def _field(op: TupleGetOp, values: dict[SSAValue, Quantized], emit: Emitter) -> Quantized:
    """A field of a tuple that is made in sight, or of parts that have one scale."""
    source, index = op.tuple, op.index.value.data
    if isinstance(source.owner, TupleOp):
        source = source.owner.fields[index]
    if source not in values:
        raise NotQuantizedError("a field of a tuple is not quantised")
    value, affine = values[source]
    return (emit(TupleGetOp(value, index)) if source is op.tuple else value), affine


def _rewrite_one_by_one(block: Block) -> bool:
    """Compute operators on dequantised values with integers, and dequantise their results."""
    changed = False
    for op in list(block.ops):
        if not isinstance(op, RelayOp) or type(op) not in LOCAL:
            continue
        emit = Emitter()
        values: dict[SSAValue, Quantized] = {}
        try:
            sources = [value.owner for value in op.operands if isinstance(value.owner, DequantizeOp)]
            for source in sources:
                values[source.result] = (source.data, affine_of(source))
            if not sources:
                continue
            rule = _rule_of(op)
            assert rule is not None
            value, affine = rule(Site(op, values, None, emit))
        except NotQuantizedError as obstacle:
            remarks.missed(NAME, op, f"it stays: {obstacle}")
            emit.erase()
            continue
        axis = affine.axis if not affine.is_single else -1
        result = emit(DequantizeOp(value, *affine.parameters(emit), axis=axis))
        emit.insert_before(op)
        op.results[0].replace_all_uses_with(result)
        changed = True
    return changed

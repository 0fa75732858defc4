"""What a block computes from its iterators alone, point by point: indices that are no affine expressions, as products
of iterators and choices between indices are, and conditions that are no affine comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineExpr

from ..affine import dims_in
from ..blocks import BlockOp
from .decide import Answer, Space, Verdict

Place: TypeAlias = Callable[[Sequence[int]], int | None]
"""From the values of a block's iterators to an index; to `None` where the access is not made."""

MAX_OPERATIONS = 256
"""What more operations compute is not looked at."""


def place_of(op: Operation, index: SSAValue, block: BlockOp) -> Place | None:
    """The `index` of `op`, an access in `block`, if nothing but iterators has a say in it and in whether it is made."""
    holding: list[tuple[SSAValue, bool]] = []
    inner, parent = op, op.parent_op()
    while parent is not None and parent is not block:
        if not isinstance(parent, scf.IfOp):
            return None
        holding.append((parent.cond, inner.parent_region() is parent.true_region))
        inner, parent = parent, parent.parent_op()
    iters: dict[SSAValue, str] = {
        value: f"p[{number}]" for region in block.regions for number, value in enumerate(region.block.args)
    }
    order = _operations([*(value for value, _ in holding), index], iters)
    return None if order is None else _written(order, iters, holding[::-1], index)


def _operations(values: Sequence[SSAValue], iters: Mapping[SSAValue, str]) -> list[Operation] | None:
    """What computes `values` from iterators, operands first; `None` where something else does."""
    found: dict[Operation, None] = {}
    pending: list[tuple[SSAValue, bool]] = [(value, False) for value in values]
    while pending:
        value, is_ready = pending.pop()
        if value in iters:
            continue
        if not isinstance(value, OpResult) or not isinstance(value.type, IndexType | IntegerType):
            return None
        if is_ready:
            found[value.op] = None
            continue
        if value.op in found:
            continue
        if len(found) + len(pending) > MAX_OPERATIONS or (operands := _operands(value.op)) is None:
            return None
        pending.append((value, True))
        pending += ((operand, False) for operand in operands)
    return list(found)


def _operands(op: Operation) -> Sequence[SSAValue] | None:
    """What an operation of one result computes with: a branch with its condition, and what each side gives."""
    if not op.regions:
        return op.operands
    if isinstance(op, scf.IfOp) and len(op.results) == 1:
        sides = [region.block.last_op for region in (op.true_region, op.false_region)]
        return [op.cond, *(side.operands[0] for side in sides if isinstance(side, scf.YieldOp))]
    return None


def _written(
    order: Sequence[Operation], iters: Mapping[SSAValue, str], holding: Sequence[tuple[SSAValue, bool]], index: SSAValue
) -> Place | None:
    """The operations as a Python function, as the interpreter writes them."""
    from ..scalar_python import Namespace, expression  # it takes NumPy, which few functions need here

    names, scope = dict(iters), Namespace()
    lines: list[str] = []
    for number, op in enumerate(order):
        given = [names[operand] for operand in _operands(op) or ()]
        if isinstance(op, scf.IfOp):
            text = "{1} if {0} else {2}".format(*given)
        else:
            text = expression(op, given, scope)
        if text is None:
            return None
        names[op.results[0]] = f"v{number}"
        lines.append(f"v{number} = {text}")
    lines += [f"if {'not ' if holds else ''}{names[value]}: return None" for value, holds in holding]
    lines.append(f"return {names[index]}")
    exec("def place(p):\n    " + "\n    ".join(lines), scope)
    return cast("Place", scope["place"])


def within_at_points(place: Place, extent: int, bindings: Sequence[AffineExpr], space: Space) -> Answer:
    """Whether `0 <= place < extent` at all points of `space`, if these are few enough to be looked at."""
    used = frozenset(dim for binding in bindings for dim in dims_in(binding))
    if not space.is_complete(used):
        return Answer(Verdict.UNKNOWN)
    for point in space.points(used):
        value = place([binding.eval(point, []) for binding in bindings])
        if value is not None and not 0 <= value < extent:
            return Answer(Verdict.REFUTED, tuple(point), value)
    return Answer(Verdict.PROVED)

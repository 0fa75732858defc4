"""Operators computed in other element types: TVM's `recast`, to try how fast they are in these.

integers = relay.transform.recast(function, "int8", "int32", ops=["nn.conv2d"], skip_layers=[0, -1])
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import overload

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import RelayOp, tensor
from ...dialects.relay.core import FuncOp, TupleOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.ops.slicing import ConcatenateOp
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.dtypes import dtype_name
from ...transforms.infra.walk import erase, walk
from .applying import applied
from .expr import Expr, Operand
from .namespace import get

OUT_DTYPE = "out_dtype"


@overload
def recast(
    expr: ModuleOp, dtype: str, out_dtype: str, ops: Sequence[str] | None = None, skip_layers: Sequence[int] = ()
) -> ModuleOp: ...
@overload
def recast(  # pyright: ignore[reportOverlappingOverload]
    expr: FuncOp, dtype: str, out_dtype: str, ops: Sequence[str] | None = None, skip_layers: Sequence[int] = ()
) -> FuncOp: ...
@overload
def recast(
    expr: Operand, dtype: str, out_dtype: str, ops: Sequence[str] | None = None, skip_layers: Sequence[int] = ()
) -> Expr: ...
@checked
def recast(
    expr: ModuleOp | FuncOp | Operand,
    dtype: str,
    out_dtype: str,
    ops: Sequence[str] | None = None,
    skip_layers: Sequence[int] | None = (),
) -> ModuleOp | FuncOp | Expr:
    """An expression, a function, or the functions of a module, with operators computed of operands cast to `dtype`, and
    their results cast back. What is given stays as it is.

    Numbers are only cast: floats made integers without scales lose what they say.

    Args:
        dtype: the element type of the operands.
        out_dtype: that in which operators are computed which can be told so, as convolutions.
        ops: the operators, convolutions (`nn.conv2d`) unless given.
        skip_layers: those which stay, by how many of the operators stand before them; from the end where negative.

    Raises:
        AttributeError: there is no such operator.
        UsageError: an operator gives several results, or is not computed in these types.
    """
    names = {f"relay.{get(name).name}" for name in ops or ("nn.conv2d",)}

    def change(function: FuncOp) -> None:
        _recast(function, names, dtype, out_dtype, skip_layers or ())

    if not isinstance(expr, ModuleOp):
        return applied(change, expr)
    module = expr.clone()
    for op in module.ops:
        if isinstance(op, FuncOp):
            change(op)
    return module


def _recast(function: FuncOp, names: Collection[str], dtype: str, out_dtype: str, skipped: Sequence[int]) -> None:
    found = [op for op in walk(function) if isinstance(op, RelayOp) and op.name in names]
    behind = _layers_behind(found)
    count = max(behind.values(), default=-1) + 1
    stay = {layer % count for layer in skipped if count and -count <= layer < count}
    for op in found:
        if count - behind[op] - 1 not in stay:
            _replace(op, dtype, out_dtype)


def _layers_behind(found: Sequence[RelayOp]) -> dict[Operation, int]:
    """How many of the operators follow one another at most behind each of them."""
    wanted = set[Operation](found)
    known: dict[Operation, int] = {}
    for start in found:
        stack: list[Operation] = [start]
        while stack:
            op = stack[-1]
            users = {use.operation for result in op.results for use in result.uses}
            if missing := [user for user in users if user not in known]:
                stack += missing
                continue
            known[op] = max((known[user] + (user in wanted) for user in users), default=0)
            stack.pop()
    return {op: known[op] for op in found}


def _replace(op: RelayOp, dtype: str, out_dtype: str) -> None:
    block = op.parent
    assert block is not None
    if len(op.results) != 1 or not isinstance(op.results[0].type, TensorType):
        raise UsageError(f"{op.name} gives several results, and cannot be recast")
    made: list[Operation] = []

    def cast(value: SSAValue, to: str) -> SSAValue:
        made.append(new := CastOp(value, dtype=to))
        return new.result

    if isinstance(op, ConcatenateOp) and isinstance(fields := op.data.owner, TupleOp):
        made.append(joined := TupleOp(*[cast(field, dtype) for field in list(fields.fields)]))
        operands: list[SSAValue] = [joined.result]
    else:
        operands = [cast(value, dtype) if isinstance(value.type, TensorType) else value for value in op.operands]
    told = {OUT_DTYPE: out_dtype} if OUT_DTYPE in op.get_irdl_definition().properties else {}
    try:
        new = type(op)(*operands, **{**op.properties, **told})
        new.verify_()
    except VerifyException as error:
        raise UsageError(f"{op.name} is not computed of {dtype}: {error}") from None
    made.append(new)
    result = cast(new.results[0], dtype_name(tensor(op.results[0]).element_type))
    for each in made:
        each.location = op.location
        block.insert_op_before(each, op)
    result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    erase(op)

"""Algebra on graphs: rewrites by identities until none applies.

    %0 = relay.add %x, dense<0.0>                                   %x
    %1 = relay.reshape %0 {newshape = array<i64: 2, 6>}         ->
    %2 = relay.reshape %1 {newshape = array<i64: 3, 4>}             %2 = relay.reshape %x {newshape = array<i64: 3, 4>}

The identities stand with the patterns below; those for operators named `*_like` are in `concretize_like.py`. They are
exact but for three: `x / sqrt(y)` -> `x * rsqrt(y)` and the regrouping of constants round differently in the last
place, and `x + 0` turns no negative zero into a positive one any more.

Counterpart of TVM's `SimplifyExpr`, without its rules for quantised operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.attributes import is_uniform
from ...dialects.relay.base import DYNAMIC, ReshapeLike, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp
from ...dialects.relay.layout import LayoutTransformOp
from ...dialects.relay.ops.broadcast import AddOp, BinaryFunction, DivideOp, MultiplyOp, SubtractOp
from ...dialects.relay.ops.creation import FullOp, OnesOp, ZerosOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.ops.nn.spatial import BatchFlattenOp
from ...dialects.relay.ops.transcendental import RsqrtOp, SqrtOp
from ...dialects.relay.ops.transform import ExpandDimsOp, ReshapeOp, SqueezeOp, TransposeOp
from ...dialects.support.dtypes import byte_width, dtype_name
from ..infra import FunctionPass, RewriteDriver, report_changed
from .concretize_like import CONCRETIZE
from .emitter import Emitter


@dataclass(frozen=True)
class SimplifyExprPass(FunctionPass):
    """No options."""

    name = "simplify-expr"
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "SimplifyExpr"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(RewriteDriver(PATTERNS).rewrite(func))


def is_filled_with(value: SSAValue, number: float) -> bool:
    """Whether every element of a constant, of `zeros` or of `ones` is `number`."""
    match value.owner:
        case ConstantOp() as constant:
            array = constant.numpy()
            return array is not None and is_uniform(array) and bool(array.flat[0] == number)
        case ZerosOp():
            return number == 0
        case OnesOp():
            return number == 1
        case _:
            return False


class DropNeutralElement(RewritePattern):
    """`x + 0`, `0 + x`, `x - 0`, `x * 1`, `1 * x`, `x / 1` -> `x`, where that does not widen `x`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp | SubtractOp | MultiplyOp | DivideOp, rewriter: PatternRewriter, /) -> None:
        neutral = 0 if isinstance(op, AddOp | SubtractOp) else 1
        if op.lhs.type == op.result.type and is_filled_with(op.rhs, neutral):
            rewriter.replace(op, [], [op.lhs])
        elif isinstance(op, AddOp | MultiplyOp) and op.rhs.type == op.result.type and is_filled_with(op.lhs, neutral):
            rewriter.replace(op, [], [op.rhs])


class AddConstantsFirst(RewritePattern):
    """`(x + c1) + c2` -> `x + (c1 + c2)` for constants on whichever side"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter, /) -> None:
        if (outer := split_constant(op)) is None or not isinstance(inner := outer[0].owner, AddOp):
            return
        if (parts := split_constant(inner)) is None:
            return
        emit = Emitter()
        total = AddOp(parts[0], emit(AddOp(parts[1], outer[1])))
        if total.result.type == op.result.type:
            emit(total)
            rewriter.replace(op, emit.ops)


def split_constant(op: AddOp) -> tuple[SSAValue, SSAValue] | None:
    """The operand that is no constant, and the one that is."""
    match isinstance(op.lhs.owner, ConstantOp), isinstance(op.rhs.owner, ConstantOp):
        case False, True:
            return op.lhs, op.rhs
        case True, False:
            return op.rhs, op.lhs
        case _:
            return None


class DivideBySqrt(RewritePattern):
    """`x / sqrt(y)` -> `x * rsqrt(y)`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DivideOp, rewriter: PatternRewriter, /) -> None:
        if isinstance(root := op.rhs.owner, SqrtOp):
            emit = Emitter()
            emit(MultiplyOp(op.lhs, emit(RsqrtOp(root.data))))
            rewriter.replace(op, emit.ops)


class BroadcastFill(RewritePattern):
    """`x + full(v, shape)` -> `x + v`, where `x` has the result's shape; the same for any such operator"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BinaryFunction, rewriter: PatternRewriter, /) -> None:
        for index, operand in enumerate(op.operands):
            other = op.operands[1 - index]
            if shape_of(operand) == () or shape_of(other) != shape_of(op.results[0]):
                continue
            emit = Emitter()
            if (scalar := fill_value(emit, operand)) is not None:
                operands = [other, other]
                operands[index] = scalar
                emit(type(op)(*operands, **op.properties))
                rewriter.replace(op, emit.ops)
                return


def fill_value(emit: Emitter, value: SSAValue) -> SSAValue | None:
    """The scalar that `zeros`, `ones` or `full` is filled with, in its element type."""
    element = tensor(value).element_type
    match value.owner:
        case ZerosOp():
            return emit.constant(0, element)
        case OnesOp():
            return emit.constant(1, element)
        case FullOp() as full:
            scalar = full.fill_value
            return scalar if tensor(scalar).element_type == element else emit(CastOp(scalar, dtype=dtype_name(element)))
        case _:
            return None


class MergeReshapes(RewritePattern):
    """`reshape(reshape(x))` -> `reshape(x)`, whatever names the two have; `x` itself where it has the result's shape"""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: ReshapeOp | SqueezeOp | ExpandDimsOp | BatchFlattenOp, rewriter: PatternRewriter, /
    ) -> None:
        if op.data.type == op.result.type:
            rewriter.replace(op, [], [op.data])
            return
        inner = op.data.owner
        shape = shape_of(op.result)
        if not isinstance(inner, Operation) or not inner.has_trait(ReshapeLike) or shape.count(DYNAMIC) > 1:
            return
        newshape = [-1 if n == DYNAMIC else n for n in shape]
        merged = ReshapeOp(inner.operands[0], newshape=newshape, allowzero=0 in shape)
        if merged.result.type == op.result.type:
            rewriter.replace(op, merged)


class MergeTransposes(RewritePattern):
    """`transpose(transpose(x, p), q)` -> `transpose(x, p[q])`; `x` itself where that changes nothing"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter, /) -> None:
        rank = len(shape_of(op.data))
        order = op.permutation(rank)
        if order == tuple(range(rank)):
            rewriter.replace(op, [], [op.data])
        elif isinstance(inner := op.data.owner, TransposeOp):
            first = inner.permutation(rank)
            rewriter.replace(op, TransposeOp(inner.data, axes=[first[d] for d in order]))


class MergeLayoutTransforms(RewritePattern):
    """`layout_transform(layout_transform(x, A -> B), B -> C)` -> `layout_transform(x, A -> C)`, unless B is padded"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LayoutTransformOp, rewriter: PatternRewriter, /) -> None:
        if op.src_layout == op.dst_layout and op.data.type == op.result.type:
            rewriter.replace(op, [], [op.data])
            return
        inner = op.data.owner
        if not isinstance(inner, LayoutTransformOp) or inner.dst_layout != op.src_layout:
            return
        source, middle = inner.layouts()
        if source.extents(shape_of(inner.data)) != middle.extents(shape_of(inner.result)) or op.extents:
            return
        merged = LayoutTransformOp(inner.data, src_layout=inner.src_layout, dst_layout=op.dst_layout)
        if merged.result.type == op.result.type:
            rewriter.replace(op, merged)


class MergeCasts(RewritePattern):
    """`cast(x, type of x)` -> `x`; `cast(cast(x, A), B)` -> `cast(x, B)` where A holds every value of `x`'s type"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter, /) -> None:
        if op.data.type == op.result.type:
            rewriter.replace(op, [], [op.data])
        elif isinstance(inner := op.data.owner, CastOp) and holds(
            tensor(inner.result).element_type, tensor(inner.data).element_type
        ):
            rewriter.replace(op, CastOp(inner.data, dtype=op.dtype))


def holds(wide: Attribute, narrow: Attribute) -> bool:
    """Whether a conversion from `narrow` to `wide` loses nothing, and is of the same kind: float, or integer."""
    if isinstance(wide, AnyFloat) and isinstance(narrow, AnyFloat):
        return byte_width(wide) > byte_width(narrow) or wide == narrow
    kinds = [dtype_name(type).rstrip("0123456789") for type in (wide, narrow)]
    return kinds[0] == kinds[1] and kinds[0] in ("int", "uint") and byte_width(wide) >= byte_width(narrow)


PATTERNS = (
    *CONCRETIZE,
    DropNeutralElement(), AddConstantsFirst(), DivideBySqrt(), BroadcastFill(),
    MergeReshapes(), MergeTransposes(), MergeLayoutTransforms(), MergeCasts(),
)  # fmt: skip
"""Tried in this order; none relies on it."""

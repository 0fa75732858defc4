"""Algebra on graphs: rewrites by identities until none applies.

    %0 = relay.add %x, dense<0.0>                                   %x
    %1 = relay.reshape %0 {newshape = array<i64: 2, 6>}         ->
    %2 = relay.reshape %1 {newshape = array<i64: 3, 4>}             %2 = relay.reshape %x {newshape = array<i64: 3, 4>}

The identities are the rows of the table below; those for operators named `*_like` are in `concretize_like.py`,
those about ranges of integers in `integer_ranges.py`, those of softplus in `activations_of_softplus.py`, those of
products of few rows in `products_of_few_rows.py`. They are exact but for five: `x / sqrt(y)` -> `x * rsqrt(y)`,
`x ** 3` -> `x * x * x`, the regrouping of constants and `tanh(softplus(x))` round differently in the last place, and
`x + 0` and a sum of `x` alone turn no negative zero into a positive one any more.

The table's invariant is that of all rows (`dataflow/rows.py`): the two sides have one type. Each row makes the graph
smaller, takes a power, a logarithm, a transpose or a broadcast away from where it is read, or moves constants, fills
and casts outward, so that the rewriting ends whatever the order of the rows.

Counterpart of TVM's `SimplifyExpr`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, RelayOp, ReshapeLike, is_static, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp
from ...dialects.relay.layout import Layout, LayoutTransformOp, parse_layout
from ...dialects.relay.ops.broadcast import AddOp, BinaryFunction, MultiplyOp
from ...dialects.relay.ops.creation import FullOp, OnesOp, ZerosOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.ops.nn.dense import MatmulOp
from ...dialects.relay.ops.nn.spatial import BatchFlattenOp
from ...dialects.relay.ops.reduce import MaxOp, MeanOp, MinOp, ProdOp, SumOp
from ...dialects.relay.ops.transcendental import RsqrtOp
from ...dialects.relay.ops.transform import ExpandDimsOp, ReshapeOp, SqueezeOp, TransposeOp
from ...dialects.support.dtypes import byte_width, dtype_name, numpy_dtype
from ..infra import FunctionPass, RewriteDriver, report_changed
from .activations_of_softplus import ACTIVATIONS_OF_SOFTPLUS
from .concretize_like import CONCRETIZE
from .dataflow.pattern import is_constant, is_op, wildcard
from .dataflow.rows import ClassPattern, PredicatePattern, Row, Site
from .emitter import Emitter
from .filled_values import filled_with
from .integer_ranges import RANGES
from .products_of_few_rows import PRODUCTS_OF_FEW_ROWS
from .scale_axis import LEAST_RANK


@dataclass(frozen=True)
class SimplifyExprPass(FunctionPass):
    """No options."""

    name = "simplify-expr"
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "SimplifyExpr"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(RewriteDriver(ROWS).rewrite(func))


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


def holds(wide: Attribute, narrow: Attribute) -> bool:
    """Whether a conversion from `narrow` to `wide` loses nothing, and is of the same kind: float, or integer."""
    if isinstance(wide, AnyFloat) and isinstance(narrow, AnyFloat):
        return byte_width(wide) > byte_width(narrow) or wide == narrow
    kinds = [dtype_name(type).rstrip("0123456789") for type in (wide, narrow)]
    return kinds[0] == kinds[1] and kinds[0] in ("int", "uint") and byte_width(wide) >= byte_width(narrow)


def is_reshaped(value: SSAValue) -> bool:
    """Whether a value is the first operand of its maker under another shape."""
    return isinstance(value.owner, Operation) and value.owner.has_trait(ReshapeLike)


x, y, varying = wildcard(), wildcard(), PredicatePattern(lambda value: not isinstance(value.owner, ConstantOp))
c, d = is_constant(), is_constant()
fill = PredicatePattern(lambda value: shape_of(value) != (), (ZerosOp, OnesOp, FullOp))
reshaped = PredicatePattern(is_reshaped)
binary, reshape = ClassPattern(BinaryFunction), ClassPattern(ReshapeOp, SqueezeOp, ExpandDimsOp, BatchFlattenOp)
transpose, cast, layout_transform = is_op("transpose"), is_op("cast"), is_op("layout_transform")
power = is_op("power")
reduction = ClassPattern(SumOp, ProdOp, MaxOp, MinOp, MeanOp)


def inner(site: Site) -> RelayOp:
    """The first one of two operators in a row."""
    op = site.op.operands[0].owner
    assert isinstance(op, RelayOp)
    return op


def reduced_axes(site: Site) -> tuple[int, ...]:
    """The axes that the reduction at the root takes together."""
    assert isinstance(site.op, SumOp | ProdOp | MaxOp | MinOp | MeanOp)
    return site.op.reduction(len(shape_of(site[x]))).axes


def is_of_one_element(site: Site) -> bool:
    """Whether the reduction at the root has one element to take together, wherever it does."""
    axes = reduced_axes(site)
    return bool(axes) and all(shape_of(site[x])[axis] == 1 for axis in axes)


def the_one_element(site: Site) -> SSAValue:
    """The operand of the reduction at the root, under the shape of its result."""
    is_kept = len(shape_of(site[x])) == len(shape_of(site.op.results[0]))
    return site[x] if is_kept else site.emit(SqueezeOp(site[x], axis=reduced_axes(site)))


def is_widest(site: Site) -> bool:
    """Whether `x` has the result's shape, so that no other operand widens it."""
    return shape_of(site[x]) == shape_of(site.op.results[0])


def with_scalar(site: Site) -> SSAValue:
    """The operator at the root, with what `fill` is filled with for an operand."""
    scalar = fill_value(site.emit, site[fill])
    assert scalar is not None and isinstance(site.op, BinaryFunction)
    operands = [scalar if operand is site[fill] else operand for operand in site.op.operands]
    return site.emit(type(site.op)(*operands, **site.op.properties))


def are_moderate(site: Site) -> bool:
    """Whether numbers of the size of constants that are added have fractions, if they are floats: what adds, and takes
    away, a larger one rounds by that; and two of them may be infinite together where they are not one by one. Lists of
    floats stay as they are rounded: they may be sizes yet (`scale_axis.LEAST_RANK`)."""
    import numpy as np

    kind = element(site[c])
    if not isinstance(kind, AnyFloat):
        return True
    if len(shape_of(site.op.results[0])) < LEAST_RANK:
        return False
    arrays = [value.owner.numpy() for value in (site[c], site[d]) if isinstance(value.owner, ConstantOp)]
    whole = 1 / float(np.spacing(numpy_dtype(kind).type(1)))
    return all(array is not None and bool((np.abs(array) < whole).all()) for array in arrays)


def merged_reshape(site: Site) -> SSAValue:
    shape = shape_of(site.op.results[0])
    newshape = [-1 if n == DYNAMIC else n for n in shape]
    return site.emit(ReshapeOp(inner(site).operands[0], newshape=newshape, allowzero=0 in shape))


def has_one_open_extent(site: Site) -> bool:
    """Whether what is reshaped twice, and what comes of it, have an open extent at most: how several are put together,
    a -1 does not say."""
    return all(shape_of(value).count(DYNAMIC) <= 1 for value in (inner(site).operands[0], site.op.results[0]))


def keeps_extents(site: Site) -> bool:
    """Whether a reshape to an equal type changes no extent: of several that are open, the types do not say that. What a
    squeeze drops that has no axes is not known of an open one either."""
    op, shape = site.op, shape_of(site.op.results[0])
    return is_static(site.op.results[0].type) or (
        shape.count(DYNAMIC) == 1 and 0 not in shape and not (isinstance(op, SqueezeOp) and op.axis is None)
    )


def order(op: Operation) -> tuple[int, ...]:
    """The permutation of a transpose."""
    assert isinstance(op, TransposeOp)
    return op.permutation(len(shape_of(op.data)))


def merged_transpose(site: Site) -> SSAValue:
    first = order(inner(site))
    return site.emit(TransposeOp(site[x], axes=[first[d] for d in order(site.op)]))


def moves_extents_of_one(site: Site) -> bool:
    """Whether a transpose leaves everything where it is, rows and all before them: it moves extents of one only."""
    axes, shape = order(site.op), shape_of(site[x])
    kept = [axis for axis in axes if shape[axis] != 1]
    is_told = 0 not in shape and shape.count(DYNAMIC) <= 1
    return bool(axes) and axes[-1] == len(axes) - 1 and kept == sorted(kept) and is_told


def reshape_to_result(site: Site) -> SSAValue:
    shape = shape_of(site.op.results[0])
    return site.emit(ReshapeOp(site[x], newshape=[-1 if n == DYNAMIC else n for n in shape]))


def is_turned(site: Site) -> bool:
    """Whether the second operand is a matrix that is transposed."""
    turned = site.op.operands[1].owner
    return isinstance(turned, TransposeOp) and order(turned) == (1, 0)


def as_it_stands(site: Site) -> SSAValue:
    """The product of a dense layer whose weights are transposed, with these as they were before."""
    return site.emit(MatmulOp(site[x], site[varying], **site.op.properties))


def transforms(site: Site) -> tuple[LayoutTransformOp, LayoutTransformOp]:
    """Two layout transformations in a row."""
    first, second = inner(site), site.op
    assert isinstance(first, LayoutTransformOp) and isinstance(second, LayoutTransformOp)
    return first, second


def meet_without_padding(site: Site) -> bool:
    """Whether the second transformation starts where the first one ends, with nothing padded in between."""
    first, second = transforms(site)
    source, middle = first.layouts()
    before, between = source.extents(shape_of(first.data)), middle.extents(shape_of(first.result))
    fits = all(source.block(each) % middle.block(each) == 0 for each, extent in before.items() if extent == DYNAMIC)
    return first.dst_layout == second.src_layout and before == between and fits and not second.extents


def merged_transform(site: Site) -> SSAValue:
    first, second = transforms(site)
    source, target = first.layouts()[0], second.layouts()[1]
    if source.is_blocked:
        return site.emit(LayoutTransformOp(site[x], src_layout=source.text, dst_layout=target.text))
    return moved(site[x], source, target, source.names, site.emit)


def is_whole(op: Operation, side: int) -> bool:
    """Whether a layout transformation cuts nothing off, and has no blocks on one side of it: 0 before, 1 behind."""
    return isinstance(op, LayoutTransformOp) and not op.extents and not op.layouts()[side].is_blocked


def moved(value: SSAValue, source: Layout, target: Layout, names: Sequence[str], emit: Emitter) -> SSAValue:
    """`value`, whose axes are called `names`, brought from their order into that of `target`, as `source` was; by a
    transpose where there are no blocks."""
    if not (source.is_blocked or target.is_blocked):
        return emit(TransposeOp(value, axes=[names.index(name) for name in target.names]))
    return emit(LayoutTransformOp(value, src_layout="".join(names), dst_layout=target.text))


def transform_of_transposed(site: Site) -> SSAValue:
    """A layout transformation of a transposed tensor as one of the tensor, whose axes stand otherwise."""
    second = site.op
    assert isinstance(second, LayoutTransformOp)
    source, target = second.layouts()
    places = order(inner(site))
    names = [source.names[places.index(axis)] for axis in range(len(places))]
    return moved(site[x], source, target, names, site.emit)


def transposed_transform(site: Site) -> SSAValue:
    """A layout transformation whose result is transposed as one into another order of its axes."""
    first = inner(site)
    assert isinstance(first, LayoutTransformOp)
    source, target = first.layouts()
    text = "".join(target.names[axis] for axis in order(site.op))
    if source.is_blocked:
        return site.emit(LayoutTransformOp(site[x], src_layout=source.text, dst_layout=text))
    return moved(site[x], source, parse_layout(text), source.names, site.emit)


def keeps_layout(site: Site) -> bool:
    return site.op.properties["src_layout"] == site.op.properties["dst_layout"]


def element(value: SSAValue) -> Attribute:
    return tensor(value).element_type


ROWS = (
    *CONCRETIZE,
    *RANGES,
    *ACTIVATIONS_OF_SOFTPLUS,
    *PRODUCTS_OF_FEW_ROWS,
    # Neutral elements. The types of the two sides say that they do not widen `x`.
    Row("x + 0 = x", x + filled_with(0), lambda s: s[x]),
    Row("x - 0 = x", x - filled_with(0), lambda s: s[x]),
    Row("x * 1 = x", x * filled_with(1), lambda s: s[x]),
    Row("x / 1 = x", x / filled_with(1), lambda s: s[x]),
    # Powers that are products, which are a tenth of the work.
    Row("x ** 1 = x", power(x, filled_with(1)), lambda s: s[x]),
    Row("x ** 2 = x * x", power(x, filled_with(2)), lambda s: s.emit(MultiplyOp(s[x], s[x])), is_widest),
    Row("x ** 3 = x * x * x", power(x, filled_with(3)),
        lambda s: s.emit(MultiplyOp(s.emit(MultiplyOp(s[x], s[x])), s[x])), is_widest),
    # Constants meet, so that they can be folded.
    Row("(x + c) + d = x + (c + d)", (varying + c) + d,
        lambda s: s.emit(AddOp(s[varying], s.emit(AddOp(s[c], s[d])))), are_moderate),
    # One division for two.
    Row("x / sqrt(y) = x * rsqrt(y)", x / is_op("sqrt")(y),
        lambda s: s.emit(MultiplyOp(s[x], s.emit(RsqrtOp(s[y]))))),
    # A tensor of one number is that number, under any function of two operands.
    Row("f(x, full(v)) = f(x, v)", binary(x, fill), with_scalar, is_widest),
    Row("f(full(v), x) = f(v, x)", binary(fill, x), with_scalar, is_widest),
    # Of one element there is nothing to take together.
    Row("sum(x) = squeeze(x)", reduction(x), the_one_element, is_of_one_element),
    # Shapes. A reshape has any of four names, what stands before it any name.
    Row("reshape(x) = x", reshape(x), lambda s: s[x], keeps_extents),
    Row("reshape(reshape(x)) = reshape(x)", reshape(reshaped), merged_reshape,
        has_one_open_extent),
    Row("transpose(x, 0, 1, ..) = x", transpose(x), lambda s: s[x],
        lambda s: order(s.op) == tuple(range(len(order(s.op))))),
    Row("transpose(x, p) = reshape(x)", transpose(x), reshape_to_result, moves_extents_of_one),
    Row("transpose(transpose(x, p), q) = transpose(x, p[q])", transpose(transpose(x)), merged_transpose),
    # Products with what is computed read it as it stands; weights are packed by another pass.
    Row("dense(x, transpose(w)) = matmul(x, w)", is_op("nn.dense")(x, transpose(varying)), as_it_stands,
        is_turned),
    # Layouts.
    Row("layout_transform(transpose(x, p), A -> B) = layout_transform(x, p(A) -> B)", layout_transform(transpose(x)),
        transform_of_transposed, lambda s: is_whole(s.op, 0)),
    Row("transpose(layout_transform(x, A -> B), q) = layout_transform(x, A -> q(B))", transpose(layout_transform(x)),
        transposed_transform, lambda s: is_whole(inner(s), 1)),
    Row("layout_transform(x, A -> A) = x", layout_transform(x), lambda s: s[x], keeps_layout),
    Row("layout_transform(layout_transform(x, A -> B), B -> C) = layout_transform(x, A -> C)",
        layout_transform(layout_transform(x)), merged_transform, meet_without_padding),
    # Types. The inner one of two casts may go where it holds every value.
    Row("cast(x) = x", cast(x), lambda s: s[x]),
    Row("cast(cast(x)) = cast(x)", cast(cast(x)),
        lambda s: s.emit(CastOp(s[x], dtype=dtype_name(element(s.op.results[0])))),
        lambda s: holds(element(inner(s).results[0]), element(s[x]))),
)  # fmt: skip
"""Tried in this order; none relies on it."""

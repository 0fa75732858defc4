"""The computation of a stage over its loops: what `cache_write` keeps of what was split, fused or reordered before.

`C[i, j]` whose loops are `i.outer, j, i.inner` becomes `C.local[p, q, r] = ...`, which is `C[p * 4 + r, q]`, and the
stage copies `C.local[i // 4, j, i % 4]`. Where a split does not divide an extent, what lies past its end is 0.
"""

from __future__ import annotations

from dataclasses import replace

from ...dialects import te
from ...dialects.te import forms
from ...dialects.te.kinds import index
from ...dialects.te.substitution import substitute
from ...transforms.tir.schedule.errors import ScheduleError
from .relations import Fuse, Singleton, Split
from .stage import Stage


def relaid(stage: Stage, suffix: str) -> tuple[te.Compute, tuple[te.Expr, ...]]:
    """The stage's computation over axes of its own, one for each loop that does not reduce, and where among these an
    element of the stage is, over the stage's axes.

    Raises:
        ScheduleError: statements or an intrinsic compute the stage, or it reduces, and a split leaves a rest, or a loop
            of the reduction is fused with another.
    """
    compute = stage.compute
    assert compute is not None
    if compute.by is not None or isinstance(compute.body, te.Filled):
        raise ScheduleError(f"te: cache_write of '{stage.tensor.name}' comes before what is asked of its loops")
    leaves = [leaf for leaf in stage.leaf_iter_vars if not leaf.reduce]
    axes = tuple(te.IterVar(f"{leaf.name}{suffix}", leaf.dim) for leaf in leaves)
    spatial = [action for action in stage.relations if not _is_of_reduction(action)]

    roots: dict[te.Expr, te.Expr] = dict(zip(leaves, axes, strict=True))
    past: list[te.Expr] = []
    for action in reversed(spatial):
        match action:
            case Split(parent, outer, inner):
                roots[parent] = roots[outer] * te.as_expr(inner.dim, index) + roots[inner]
                if te.product((outer.dim, inner.dim)) != parent.dim:
                    past.append(roots[parent] < te.as_expr(parent.dim, index))
            case Fuse(outer, inner, fused):
                if fused not in roots:
                    what = f"te: cache_write of '{stage.tensor.name}' comes before a fusion of elements and steps"
                    raise ScheduleError(what, hint="fuse what cache_write gives")
                roots[outer] = roots[fused] // te.as_expr(inner.dim, index)
                roots[inner] = roots[fused] % te.as_expr(inner.dim, index)
            case Singleton():
                pass
    body = substitute(compute.body, {axis: roots[axis] for axis in compute.axes})
    if past:
        if isinstance(body, te.Reduce | te.Fold):
            what = f"te: cache_write of '{stage.tensor.name}' comes before splits that leave a rest, since it reduces"
            raise ScheduleError(what, hint="split what cache_write gives")
        body = forms.if_then_else(forms.all(*past), body, te.as_expr(0, stage.tensor.element_type))

    places: dict[te.Expr, te.Expr] = {axis: axis for axis in compute.axes}
    for action in spatial:
        match action:
            case Split(parent, outer, inner):
                places[outer] = places[parent] // te.as_expr(inner.dim, index)
                places[inner] = places[parent] % te.as_expr(inner.dim, index)
            case Fuse(outer, inner, fused):
                places[fused] = places[outer] * te.as_expr(inner.dim, index) + places[inner]
            case Singleton(axis):
                places[axis] = te.as_expr(0, index)
    return replace(compute, axes=axes, body=body), tuple(places[leaf] for leaf in leaves)


def _is_of_reduction(action: Split | Fuse | Singleton) -> bool:
    """Whether loops that reduce became others: what is kept of a reduction is what it reduces over."""
    match action:
        case Split(parent):
            return parent.reduce
        case Fuse(outer):
            return outer.reduce
        case Singleton():
            return False

"""Tensors whose elements stand at other indices: what `transform_layout` makes of a stage, and of what reads it.

`B[i] = A[i] * 2` of 8 elements, under `lambda i: [i // 4, i % 4]`, is `B[j, k] = A[j * 4 + k] * 2`, and a stage that
reads `B[i]` reads `B[i // 4, i % 4]`. These are formulas like any: bounds, loops and primitives know nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...dialects import te
from ...dialects.te.substitution import substitute
from ...dialects.tir.nodes.affine_expressions import expression
from ...transforms.tir.schedule.errors import ScheduleError
from ...transforms.tir.schedule.index_maps import Bijection, bijection
from ...transforms.tir.scheduling.index_maps import IndexMap, layout_of


@dataclass(frozen=True)
class Layout:
    """A tensor, and the one that it becomes."""

    old: te.Tensor
    tensor: te.Tensor
    map: Bijection
    axes: tuple[te.IterVar, ...]
    """The new indices."""
    separators: list[int]

    def read_in(self, compute: te.Compute) -> te.Compute:
        """A computation that reads the new tensor where it read the old one.

        Raises:
            ScheduleError: statements, a function or an intrinsic read it as a whole.
        """

        def moved(indices: Sequence[te.Expr]) -> te.Expr:
            return te.Read(self.tensor, tuple(expression(each, indices, {}) for each in self.map.forward.results))

        body = compute.body
        if compute.by is None and not isinstance(body, te.Filled):
            body = substitute(body, {}, elsewhere={self.old: moved})
        changed = replace(compute, body=body)
        if self.old in changed.inputs():
            what = f"te: '{self.old.name}' is read as a whole, and not element by element: it stays as its shape says"
            raise ScheduleError(what, hint="lay out a copy of it (cache_read, cache_write)")
        return changed


def laid_out(tensor: te.Tensor, compute: te.Compute | None, map: IndexMap) -> Layout:
    """What `map` makes of a tensor that `compute` computes, or that is an input.

    Raises:
        ScheduleError: an extent is not known, statements compute the tensor, or the map does not give each element a
            place of its own, without gaps.
    """
    name = tensor.name
    shape = [dim for dim in tensor.dims if isinstance(dim, int)]
    if len(shape) != tensor.rank:
        raise ScheduleError(f"te: '{name}' has extents that are not known, and is laid out as its shape says")
    forward, separators = layout_of(map, tensor.rank)
    found = bijection(forward, shape)
    if isinstance(found, str):
        raise ScheduleError(f"te: the index map of '{name}' {found}")
    axes = tuple(te.IterVar(f"ax{number}", extent) for number, extent in enumerate(found.extents))
    if compute is None:
        return Layout(tensor, te.Tensor(found.extents, tensor.element_type, name), found, axes, separators)
    if isinstance(compute.body, te.Filled):
        raise ScheduleError(f"te: '{name}' is filled by statements, and is laid out as its shape says")
    values: dict[te.Expr, te.Expr] = {
        axis: expression(each, axes, {}) for axis, each in zip(compute.axes, found.backward, strict=True)
    }
    made = replace(compute, axes=axes, body=substitute(compute.body, values))
    return Layout(tensor, te.Tensor(found.extents, tensor.element_type, name, made), found, axes, separators)

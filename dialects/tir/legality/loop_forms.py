"""Indices over the loops around a block, by their depth: the outermost loop is dimension 0, whichever block asks.

Of two blocks that share loops these have the same numbers, as loops that are shared stand outermost. So a form is found
once for all loops that it is asked for, and two can be compared as they are.

The forms are sums of multiples of loops, and of quotients and remainders that no range resolves. They are found in one
walk, without the analyzer: of two equal expressions the forms may differ, where the analyzer's (`affine.linear`) are
the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ...support.facts import remembered
from ..affine import Access, Linear, Range, linear, substitute
from ..blocks import BlockOp
from ..exact_ranges import exact_range
from ..loops import enclosing_loops, loop_range
from ..symbols import dimension


class LoopForms:
    """The forms of what a block is bound to, and of the indices of its accesses."""

    def __init__(self, block: BlockOp):
        self.loops = enclosing_loops(block)
        depth: dict[SSAValue, int] = {loop.var: number for number, loop in enumerate(self.loops)}
        self._dims = [dimension(depth[var]) for var in block.loop_vars]
        by_depth = [(1, 0)] * len(self.loops)
        for var in block.loop_vars:
            by_depth[depth[var]] = loop_range(var)
        self._by_depth = by_depth
        self.ranges: Mapping[AffineExpr, Range] = {
            dim: by_depth[depth[v]] for dim, v in zip(self._dims, block.loop_vars, strict=True)
        }
        self._bindings = block.bindings.data.results
        self._where = block.conditions
        self._known: dict[int, tuple[Access, tuple[Linear, ...] | None]] = {}
        self._bound: list[Linear | None] | None = None
        self._ranges: dict[AffineExpr, Range | None] = {}

    @property
    def bound(self) -> list[Linear | None]:
        """The forms of what the iterators are bound to."""
        if self._bound is None:
            loops = [Linear({dim: 1}, 0) for dim in self._dims]
            self._bound = [self._form(binding, loops) for binding in self._bindings]
        return self._bound

    @cached_property
    def conditions(self) -> list[Linear]:
        """The normal forms of what is >= 0 wherever the block runs."""
        return [self.over_loops(condition) for condition in self._where]

    def of_access(self, access: Access) -> tuple[Linear, ...] | None:
        """The forms of the indices of an access that has a map; `None` where one has none."""
        if (known := self._known.get(id(access))) is None:
            assert access.map is not None
            found = tuple([self._form(index, self.bound) for index in access.map.results])
            known = self._known[id(access)] = (access, _all(found))
        return known[1]

    def normal(self, indices: Sequence[AffineExpr]) -> list[Linear]:
        """The analyzer's normal forms of indices over the block's iterators."""
        return [self.over_loops(substitute(index, self._bindings)) for index in indices]

    def over_loops(self, expr: AffineExpr) -> Linear:
        """The analyzer's normal form of an expression over the variables that the block is bound to."""
        return linear(substitute(expr, self._dims), self.ranges)

    def range_of(self, atom: AffineExpr) -> Range | None:
        """The values of a part of a form, if they are known."""
        if atom not in self._ranges:
            self._ranges[atom] = exact_range(atom, self._by_depth)
        return self._ranges[atom]

    def _form(self, expr: AffineExpr, dims: Sequence[Linear | None]) -> Linear | None:
        """The form of an expression over what has `dims` for forms."""
        terms: dict[AffineExpr, int] = {}
        constant = 0
        pending = [(expr, 1)]
        while pending:
            each, factor = pending.pop()
            if type(each) is AffineConstantExpr:
                constant += factor * each.value
                continue
            if type(each) is AffineDimExpr:
                part = dims[each.position]
            elif type(each) is not AffineBinaryOpExpr:
                return None
            elif each.kind is AffineBinaryOpKind.Add:
                pending += ((each.lhs, factor), (each.rhs, factor))
                continue
            elif type(each.rhs) is not AffineConstantExpr:
                return None
            elif each.kind is AffineBinaryOpKind.Mul:
                pending.append((each.lhs, factor * each.rhs.value))
                continue
            else:
                part = self._divided(each.kind, self._form(each.lhs, dims), each.rhs.value)
            if part is None:
                return None
            constant += factor * part.constant
            for atom, more in part.terms.items():
                terms[atom] = terms.get(atom, 0) + factor * more
        return Linear({atom: factor for atom, factor in terms.items() if factor}, constant)

    def _divided(self, kind: AffineBinaryOpKind, form: Linear | None, by: int) -> Linear | None:
        """A quotient or remainder: what the divisor divides, and the rest, which is less than it or stays divided."""
        if form is None or by <= 0 or kind is AffineBinaryOpKind.CeilDiv:
            return None
        whole = {atom: factor // by for atom, factor in form.terms.items() if factor % by == 0}
        rest = {atom: factor for atom, factor in form.terms.items() if factor % by}
        more, left = divmod(form.constant, by)
        low = high = left
        for atom, factor in rest.items():
            if (bounds := self.range_of(atom)) is None:
                return None
            low += min(factor * bounds[0], factor * bounds[1])
            high += max(factor * bounds[0], factor * bounds[1])
        is_floor = kind is AffineBinaryOpKind.FloorDiv
        if low >= 0 and high < by:
            return Linear(whole, more) if is_floor else Linear(rest, left)
        divided = AffineBinaryOpExpr(kind, Linear(rest, left).to_expr(), AffineConstantExpr(by))
        return Linear({**whole, divided: whole.get(divided, 0) + 1}, more) if is_floor else Linear({divided: 1}, 0)


def _all(forms: tuple[Linear | None, ...]) -> tuple[Linear, ...] | None:
    found = tuple([form for form in forms if form is not None])
    return found if len(found) == len(forms) else None


@remembered
def loop_forms(block: BlockOp) -> LoopForms:
    """The forms of a block, for as long as nothing changes it."""
    return LoopForms(block)

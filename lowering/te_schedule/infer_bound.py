"""`te.InferBound`: between which values the loops of a te schedule run, before it is lowered.

    s[A].compute_at(s[B], outer)
    bounds = te.InferBound(s)
    bounds[A.op.axis[0]].min, bounds[A.op.axis[0]].extent       # outer * 8, 8

Consumers come before producers. What a stage computes at once is what its readers read while the loops inside of the
one that it is computed in run; those around stay as they are. Memory that threads share (`shared`, `warp`) is filled
for all of them. Counterpart of TVM's `te.schedule.InferBound`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...dialects import te
from ...dialects.support.arguments import checked
from ...dialects.te.dims import form_of, written
from ...dialects.te.integers import integer_of, variable_of
from ...dialects.te.substitution import substitute
from ...dialects.tir.analyzer import Analyzer, IntExpr, maximum, minimum
from ...dialects.tir.analyzer import Const as Integer
from ...dialects.tir.analyzer import Var as Variable
from ...dialects.tir.analyzer import const as integer
from ...dialects.tir.analyzer.build import ceildiv, floordiv, floormod, parts
from ...dialects.tir.analyzer.nodes import FloorDiv, FloorMod, Max, Min, Op, Product
from .relations import Fuse, Reorder, Singleton, Split
from .schedule import Schedule
from .stage import Stage
from .steps import StepStage

SHARED_BY = {
    "shared": ("threadIdx", "vthread"),
    "warp": ("threadIdx.x",),
    "global": ("threadIdx", "blockIdx", "vthread"),
}
"""The threads that use what memory of a scope holds."""


@dataclass(frozen=True)
class Bound:
    """`extent` values from `min` on, as expressions of symbols and of loops around."""

    min: te.Expr
    extent: te.Expr


@dataclass(frozen=True)
class _Domain:
    low: IntExpr
    extent: IntExpr


@checked
def InferBound(sch: Schedule) -> dict[te.IterVar, Bound]:
    """The ranges of all axes and loops of the stages that are computed.

    Raises:
        ScheduleError: a stage is computed in a loop that is not there any more.
    """
    bounds = _Bounds(sch)
    for stage in reversed(bounds.order):
        bounds.infer(stage)
    return {axis: Bound(_expr(found.low), _expr(found.extent)) for axis, found in bounds.domains.items()}


@dataclass
class _Bounds:
    schedule: Schedule
    domains: dict[te.IterVar, _Domain] = field(default_factory=dict[te.IterVar, _Domain])
    analyzer: Analyzer = field(init=False)

    def __post_init__(self) -> None:
        stages = [*self.schedule.in_order(), *self.schedule.steps.values()]
        self.order = [stage for stage in stages if stage.compute is not None and not stage.is_inlined]
        symbols = te.variables(loop.dim for stage in self.order for loop in stage.all_iter_vars)
        self.analyzer = Analyzer.of({form_of(each): (1, None) for each in symbols})  # where loops run
        self.states = {each for step in self.schedule.steps.values() for each in step.recipe.states}

    def infer(self, stage: Stage) -> None:
        """The ranges of a stage's axes, and of its loops."""
        threads = {axis: name for each in self.order for axis, name in each.threads.items()}
        shared = SHARED_BY.get(stage.scope, ())
        fixed = {
            axis for axis in self._fixed(stage) | threads.keys() if not threads.get(axis, "").startswith(shared or "-")
        }
        needed = self._needed(stage, fixed)
        for number, axis in enumerate(stage.op.axis):
            whole = _Domain(integer(axis.start), form_of(axis.dim))
            self.domains[axis] = whole if needed is None else self._within(needed[number], whole)
        for axis in stage.op.reduce_axis:
            self.domains[axis] = _Domain(integer(axis.start), form_of(axis.dim))
        for action in stage.actions:
            self._pass_down(action)

    def _fixed(self, stage: Stage) -> set[te.IterVar]:
        """The loops around a stage."""
        fixed: set[te.IterVar] = set()
        while (attachment := stage.attachment) is not None:
            stage = attachment.stage
            stage.check_leaf(attachment.loop)
            leaves = stage.leaf_iter_vars
            fixed.update(leaves[: leaves.index(attachment.loop) + 1])
            if isinstance(stage, StepStage):
                fixed.add(stage.op.axis[0])
        return fixed

    def _needed(self, stage: Stage, fixed: set[te.IterVar]) -> list[_Domain] | None:
        """The parts of a stage's tensor that its readers read; `None` for all of it."""
        if stage.is_output or stage.attachment is None:
            return None
        found: list[list[tuple[IntExpr, IntExpr]]] = [[] for _ in stage.op.axis]
        for reader in self.order:
            for read in self._reads(reader, [stage.tensor, *stage.others]):
                if isinstance(reader.compute and reader.compute.body, te.Filled):
                    return None
                for place, index in zip(found, read.indices, strict=True):
                    ends = self._ends(reader, index, fixed)
                    if ends is None:
                        return None
                    place.append(ends)
        if not all(found):
            return None
        united: list[_Domain] = []
        for place in found:
            low, high = place[0]
            for other_low, other_high in place[1:]:
                low, high = minimum(low, other_low), maximum(high, other_high)
            united.append(self._domain(low, high))
        return united

    def _domain(self, low: IntExpr, high: IntExpr) -> _Domain:
        return _Domain(self.analyzer.simplify(low), self.analyzer.simplify(high - low + 1))

    def _within(self, needed: _Domain, whole: _Domain) -> _Domain:
        """What is needed, without what surely lies outside of the tensor."""
        low, last = needed.low, needed.low + needed.extent - 1
        end = whole.low + whole.extent - 1
        prove = self.analyzer.can_prove
        low = whole.low if prove(low <= whole.low) else low
        return self._domain(low, end if prove(last >= end) else last)

    def _reads(self, reader: Stage, tensors: Sequence[te.Tensor]) -> Iterator[te.Read]:
        """The reads of tensors, through stages that are inlined too."""
        assert reader.compute is not None
        pending = reader.compute.reads()
        while pending:
            read = pending.pop()
            if read.tensor in tensors:
                yield read
                continue
            if read.tensor in self.states:
                continue
            source = self.schedule[read.tensor]
            if source.is_inlined and source.compute is not None:
                values: dict[te.Expr, te.Expr] = dict(zip(source.compute.axes, read.indices, strict=True))
                pending += te.Compute((), substitute(source.compute.body, values)).reads()

    def _ends(self, reader: Stage, index: te.Expr, fixed: set[te.IterVar]) -> tuple[IntExpr, IntExpr] | None:
        """Between which values an index lies while the loops that are not `fixed` run."""
        values = self._root_values(reader, fixed)
        value = integer_of(index, values)
        if value is None:
            return None
        low = high = value
        while free := {v.key for e in (low, high) for v in e.variables if _is_free(v, fixed)}:
            over: dict[IntExpr, tuple[IntExpr | None, IntExpr | None]] = {}
            for axis in free:
                if not isinstance(axis, te.IterVar) or axis not in self.domains:
                    return None
                domain = self.domains[axis]
                over[variable_of(axis)] = (domain.low, domain.low + domain.extent - 1)
            least, _ = self.analyzer.interval(low, over)
            _, most = self.analyzer.interval(high, over)
            if least is None or most is None:
                return None
            low, high = least, most
        return low, high

    def _root_values(self, stage: Stage, fixed: set[te.IterVar]) -> dict[te.Expr, IntExpr]:
        """What a stage's axes are, by its loops that are fixed and by axes all of whose loops run."""
        values: dict[te.Expr, IntExpr] = {leaf: variable_of(leaf) for leaf in stage.leaf_iter_vars}
        runs = {leaf: leaf not in fixed for leaf in stage.leaf_iter_vars}
        for action in reversed(stage.actions):
            match action:
                case Split(parent, outer, inner):
                    runs[parent] = runs[outer] and runs[inner]
                    step = self.domains[inner].extent
                    value = values[outer] * step + values[inner] + self.domains[parent].low
                    values[parent] = variable_of(parent) if runs[parent] else value
                case Fuse(outer, inner, fused):
                    runs[outer] = runs[inner] = runs[fused]
                    step = self.domains[inner].extent
                    one = floordiv(values[fused], step) + self.domains[outer].low
                    other = floormod(values[fused], step) + self.domains[inner].low
                    values[outer] = variable_of(outer) if runs[fused] else one
                    values[inner] = variable_of(inner) if runs[fused] else other
                case Singleton() | Reorder():
                    pass
        return values

    def _pass_down(self, action: Split | Fuse | Singleton | Reorder) -> None:
        zero = integer(0)
        match action:
            case Split(parent, outer, inner, factor, nparts):
                extent = self.domains[parent].extent
                size = form_of(nparts or 1 if factor is None else factor)
                if isinstance(extent, Integer) and isinstance(size, Integer) and 0 < extent.value < size.value:
                    size = extent
                rest = self.analyzer.simplify(ceildiv(extent, size))
                sizes = (rest, size) if factor is not None else (size, rest)
                self.domains[outer], self.domains[inner] = (_Domain(zero, each) for each in sizes)
            case Fuse(outer, inner, fused):
                product = self.domains[outer].extent * self.domains[inner].extent
                self.domains[fused] = _Domain(zero, self.analyzer.simplify(product))
            case Singleton(axis):
                self.domains[axis] = _Domain(zero, integer(1))
            case Reorder():
                pass


def _is_free(variable: Variable, fixed: set[te.IterVar]) -> bool:
    return not isinstance(variable.key, te.Var) and variable.key not in fixed


_KINDS: dict[type[Op], te.BinaryKind] = {
    Product: te.BinaryKind.MUL,
    FloorDiv: te.BinaryKind.FLOORDIV,
    FloorMod: te.BinaryKind.FLOORMOD,
    Min: te.BinaryKind.MIN,
    Max: te.BinaryKind.MAX,
}


def _expr(form: IntExpr) -> te.Expr:
    """An expression of the analyzer's as one of te's."""
    if all(isinstance(each.key, te.Var) for each in form.variables):
        return te.dim_expr(written(form))
    constant, terms = parts(form)
    total: te.Expr | None = None
    for atom, factor in terms.items():
        one = _atom(atom)
        term = one if factor == 1 else te.binary(te.BinaryKind.MUL, one, te.const(factor, te.index))
        total = term if total is None else te.binary(te.BinaryKind.ADD, total, term)
    assert total is not None, "it has variables"
    return total if not constant else te.binary(te.BinaryKind.ADD, total, te.const(constant, te.index))


def _atom(atom: IntExpr) -> te.Expr:
    if isinstance(atom, Variable):
        assert isinstance(atom.key, te.Expr)
        return atom.key
    assert isinstance(atom, Op)
    first, *rest = map(_expr, atom.args)
    for other in rest:
        first = te.binary(_KINDS[type(atom)], first, other)
    return first

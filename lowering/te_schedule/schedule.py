"""`te.create_schedule`: the stages of a computation, and the primitives that make new ones of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias, overload

from ...dialects import te
from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError
from ...dialects.te.substitution import substitute, with_fresh_axes
from ...dialects.te.tensor import TensorOp
from ...transforms.tir.schedule.errors import ScheduleError
from ..relay_to_tir.te_to_tir import computation_of
from .layouts import Layout
from .refused import known_scope
from .relaid import relaid
from .relations import Fuse, Reorder, Singleton, Split
from .stage import Group, Stage, StageOp
from .steps import StepStage, copied_in_steps, steps_of

Output: TypeAlias = te.Tensor | TensorOp


@checked
def create_schedule(ops: Output | Sequence[Output]) -> Schedule:
    """A schedule of what computes these tensors: one stage for each tensor, computed one after the other.

    Raises:
        UsageError: there is none to compute.
    """
    outputs = [ops] if isinstance(ops, te.Tensor | TensorOp) else list(ops)
    tensors = [each.tensor if isinstance(each, TensorOp) else each for each in outputs]
    if not tensors or any(tensor.producer is None for tensor in tensors):
        raise UsageError("te.create_schedule takes tensors that are computed, or their `op`")
    return Schedule(tensors)


@checked_methods
class Schedule:
    """How the stages of a computation are to be run: `s = te.create_schedule(C.op)`, `s[C].split(...)`.

    What is asked for is recorded; `weft.lower(s, [A, B, C])` makes a `tir.prim_func` of it, by the primitives of
    `weft.tir.Schedule`. Counterpart of TVM's `te.Schedule`.
    """

    def __init__(self, outputs: Sequence[te.Tensor]):
        self.outputs = tuple(outputs)
        self.stages: list[Stage] = []
        """Producers before what reads them."""
        reductions: dict[object, Stage] = {}
        for tensor in te.topological_order(outputs):
            body = None if tensor.producer is None else tensor.producer.body
            key = computation_of(tensor) if isinstance(body, te.Fold) else tensor
            if (stage := reductions.get(key)) is not None:
                stage.others.append(tensor)
                stage.is_output |= tensor in outputs
                continue
            stage = reductions[key] = Stage(tensor, tensor.producer, tensor in outputs, self._replace_tensor)
            self.stages.append(stage)
        self.steps = steps_of(self.stages)
        """What scans compute in each of their steps."""
        self.groups: list[Group] = []
        self._laid_out: dict[te.Tensor, te.Tensor] = {}
        """Tensors whose elements stand at other indices now, and the tensors with those."""

    def __repr__(self) -> str:
        return f"te.Schedule({', '.join(stage.tensor.name for stage in self.stages)})"

    def __getitem__(self, key: te.Tensor | TensorOp | StageOp) -> Stage:
        """The stage of a tensor.

        Raises:
            ScheduleError: it is none of the schedule's.
        """
        if isinstance(key, StageOp):
            return key.stage
        tensor = key.tensor if isinstance(key, TensorOp) else key
        current = self.current(tensor)
        for stage in self.stages:
            if stage.tensor is current or current in stage.others:
                return stage
        if current in self.steps:
            return self.steps[current]
        name = getattr(tensor, "name", None) or repr(tensor)
        known = ", ".join(stage.tensor.name for stage in (*self.stages, *self.steps.values()))
        raise ScheduleError(f"te: there is no stage of '{name}' in this schedule", hint=f"its stages are {known}")

    def _whole(self, key: te.Tensor | TensorOp | StageOp, what: str) -> Stage:
        """The stage of a tensor that is no step's, which `what` is not for.

        Raises:
            ScheduleError: it is none of the schedule's, or a step's.
        """
        stage = self[key]
        if isinstance(stage, StepStage):
            stage.refuse(what)
        return stage

    def normalize(self) -> Schedule:
        """The schedule itself: its loops start at 0."""
        return self

    def create_group(
        self, outputs: Output | Sequence[Output], inputs: Output | Sequence[Output], include_inputs: bool = False
    ) -> Group:
        """A group of the stages between `inputs` and `outputs`: those that compute the outputs and depend on an input,
        and the inputs themselves, if that is asked for.

        Raises:
            ScheduleError: there are none, or one of them is an output of the schedule, an input, or filled by
                statements.
        """
        ends, begins = ([self.current(each) for each in _tensors(given)] for given in (outputs, inputs))
        members: list[Stage] = []
        depends: dict[te.Tensor, bool] = {}

        def visit(tensor: te.Tensor) -> bool:
            if tensor not in depends:
                stage = self._whole(tensor, "create_group")
                read = [] if stage.compute is None or tensor in begins else stage.compute.inputs()
                is_between = any([visit(each) for each in read])
                depends[tensor] = is_between or tensor in begins
                if (is_between or (tensor in begins and include_inputs)) and stage not in members:
                    members.append(stage)
            return depends[tensor]

        for tensor in ends:
            visit(tensor)
        if not members:
            raise ScheduleError("te: there are no stages between the inputs and the outputs of the group")
        for stage in members:
            if stage.is_output or stage.compute is None:
                what = "an output, and stays where it is" if stage.is_output else "an input, which nothing computes"
                raise ScheduleError(f"te: '{stage.tensor.name}' cannot be in a group: it is {what}")
            stage.check_formula("create_group")
        made = Group(_common([_groups_around(stage) for stage in members]))
        for stage in members:
            child: Stage | Group = stage
            while child.group is not made.group and child.group is not made:
                assert child.group is not None, "what is around all members is around each"
                child = child.group
            if child.group is not made:
                if child.group is not None:
                    child.group.children.remove(child)
                child.group = made
                made.children.append(child)
        if made.group is not None:
            made.group.children.append(made)
        self.groups.append(made)
        return made

    def in_order(self) -> list[Stage]:
        """The stages, producers before consumers as they are now."""
        order: dict[Stage, None] = {}

        def visit(stage: Stage) -> None:
            if stage not in order:
                for tensor in [] if stage.compute is None else stage.compute.inputs():
                    visit(self[tensor])
                order[stage] = None

        for stage in self.stages:
            visit(stage)
        return list(order)

    def current(self, tensor: te.Tensor) -> te.Tensor:
        """A tensor as it is laid out now (`transform_layout`)."""
        while tensor in self._laid_out:
            tensor = self._laid_out[tensor]
        return tensor

    def _replace_tensor(self, stage: Stage, layout: Layout) -> None:
        """Let a stage compute a tensor that is laid out otherwise, and let those that read it read that.

        Raises:
            ScheduleError: one of them reads the tensor as a whole, and not element by element.
        """
        old = stage.tensor
        readers = [each for each in self.readers(old) if each.compute is not None]
        formulas = [layout.read_in(each.compute) for each in readers if each.compute is not None]
        for reader, formula in zip(readers, formulas, strict=True):
            reader.compute = formula
        self._laid_out[old] = stage.tensor = layout.tensor
        stage.compute = layout.tensor.producer
        stage.restart()

    def readers(self, tensor: te.Tensor) -> list[Stage]:
        """The stages that read a tensor."""
        return [stage for stage in self.stages if stage.compute is not None and tensor in stage.compute.inputs()]

    def cache_read(
        self, tensor: te.Tensor, scope: str, readers: Output | StageOp | Sequence[Output | StageOp] = ()
    ) -> te.Tensor:
        """A copy of a tensor in a scope, which the `readers` read instead.

        Raises:
            ScheduleError: one of them does not read it, or there is no such scope.
        """
        source, tensor = self._whole(tensor, "cache_read"), self.current(tensor)
        given = [readers] if isinstance(readers, te.Tensor | TensorOp | StageOp) else list(readers)
        stages = [self[reader] for reader in given]
        if not stages:
            raise ScheduleError("te: cache_read names those that are to read the copy", hint="readers=[C]")
        steps = [stage for stage in stages if isinstance(stage, StepStage)]
        if steps and len(steps) == len(stages):
            return copied_in_steps(self.stages, self.steps, tensor, _named_in(tensor, scope), scope, steps)
        stages = [self._whole(reader, "cache_read") for reader in given]
        for stage in stages:
            if stage not in self.readers(tensor):
                raise ScheduleError(f"te: '{stage.tensor.name}' does not read '{tensor.name}'")
        copy = _copy_of(tensor, _named_in(tensor, scope))
        for stage in stages:
            assert stage.compute is not None
            stage.compute = replace(stage.compute, body=substitute(stage.compute.body, {}, {tensor: copy}))
        made = Stage(copy, copy.producer, False, self._replace_tensor)
        made.scope = scope
        common = stages[0].group if len({stage.group for stage in stages}) == 1 else None
        self._insert(made, self.stages.index(source) + 1, common)
        return copy

    @overload
    def cache_write(self, tensor: te.Tensor, scope: str) -> te.Tensor: ...
    @overload
    def cache_write(self, tensor: Sequence[te.Tensor], scope: str) -> list[te.Tensor]: ...

    def cache_write(self, tensor: te.Tensor | Sequence[te.Tensor], scope: str) -> te.Tensor | list[te.Tensor]:
        """Compute a tensor in a scope; its own stage then copies that. Gives what is computed. Where loops of the stage
        were split, fused or reordered before, those that do not reduce are the dimensions of what is computed.

        Raises:
            ScheduleError: its loops are bound, parallel, annotated or stand in another stage's, a reduction has a split
                that leaves a rest, it is an input or filled by statements, or there is no such scope.
        """
        if isinstance(tensor, te.Tensor):
            return self._cache_writes([tensor], scope)[0]
        return self._cache_writes(tensor, scope)

    def _cache_writes(self, tensors: Sequence[te.Tensor], scope: str) -> list[te.Tensor]:
        whole = [self._whole(tensor, "cache_write") for tensor in tensors]
        found = [(stage, self._cached(stage)) for stage in whole]
        if len({stage for stage, _ in found}) < len(found):
            raise ScheduleError("te: cache_write names a tensor twice")
        known_scope(scope)
        return [self._cache_write(stage, formula, places, scope) for stage, (formula, places) in found]

    @staticmethod
    def _cached(stage: Stage) -> tuple[te.Compute, tuple[te.Expr, ...]]:
        """What the copy of a stage computes, and where in it the stage finds an element.

        Raises:
            ScheduleError: as `cache_write` says.
        """
        name = stage.tensor.name
        if stage.compute is None:
            raise ScheduleError(f"te: '{name}' is an input: nothing writes it")
        stage.check_single("cache_write")
        stage.check_formula("cache_write")
        if stage.is_told_how or stage.is_inlined or stage.attachment is not None:
            raise ScheduleError(f"te: cache_write of '{name}' comes before what is asked of its loops")
        if stage.actions:
            return relaid(stage, ".c")
        return with_fresh_axes(stage.compute, ".c"), stage.compute.axes

    def _cache_write(self, stage: Stage, formula: te.Compute, places: tuple[te.Expr, ...], scope: str) -> te.Tensor:
        tensor, compute = stage.tensor, stage.compute
        assert compute is not None, "an input has no copy that is written"
        axes, name = compute.axes, _named_in(tensor, scope)
        cache = te.Tensor(tuple(axis.dim for axis in formula.axes), tensor.element_type, name, formula)
        made = Stage(cache, cache.producer, False, self._replace_tensor)
        made.scope = scope
        self._insert(made, self.stages.index(stage), stage.group)
        stage.compute = te.Compute(axes, cache[places])
        stage.restart()
        return cache

    def rfactor(self, tensor: te.Tensor, axis: te.IterVar, factor_axis: int = 0) -> te.Tensor:
        """Let what one reduction loop of a stage does be reduced apart, for each of its iterations; the stage then
        reduces those. Gives the parts, whose dimension `factor_axis` is the loop; they reduce over the other loops.
        What else was asked of the stage's loops is forgotten.

        Raises:
            ScheduleError: the loop is no reduction loop of the stage's, or one of its loops is fused of elements and
                steps.
        """
        stage = self._whole(tensor, "rfactor")
        tensor = stage.tensor
        compute = stage.compute
        if compute is None or not isinstance(compute.body, te.Reduce):
            if compute is not None and isinstance(compute.body, te.Fold):
                hint = "apply rfactor of weft.tir.Schedule to its function"
                raise ScheduleError(f"te: '{tensor.name}' reduces by a combiner of its own", hint=hint)
            raise ScheduleError(f"te: '{tensor.name}' does not reduce: there is nothing to rfactor")
        body = compute.body
        stage.check_leaf(axis)
        if not axis.reduce:
            raise ScheduleError(f"te: the loop {axis.name} of '{tensor.name}' does not reduce")
        for action in stage.actions:
            if isinstance(action, Fuse) and action.outer.reduce != action.inner.reduce:
                what = f"te: the loop {action.fused.name} of '{tensor.name}' is one of elements, too"
                raise ScheduleError(what, hint="rfactor before loops of elements and of steps are fused")
        rank = len(compute.axes)
        place = factor_axis + rank + 1 if factor_axis < 0 else factor_axis
        if not 0 <= place <= rank:
            raise ScheduleError(f"te: there is no dimension {factor_axis} in {rank + 1} dimensions")
        parts_axis = te.IterVar(axis.name, axis.dim)
        spatial: dict[te.Expr, te.Expr] = {old: te.IterVar(old.name, old.dim) for old in compute.axes}
        steps = {
            leaf: te.IterVar(leaf.name, leaf.dim, True) if leaf.start else leaf
            for leaf in stage.leaf_iter_vars
            if leaf.reduce
        }
        values, inside = _root_values(stage, {**steps, axis: parts_axis})
        operand = substitute(body.operand, {**spatial, **values})
        if inside:
            operand = te.select(te.all_of(inside), operand, te.reduce_identity(body.kind, body.type))
        rest = tuple(step for leaf, step in steps.items() if leaf is not axis)
        axes = [each for each in spatial.values() if isinstance(each, te.IterVar)]
        axes.insert(place, parts_axis)
        formula = te.Reduce(body.kind, operand, rest) if rest else operand
        shape = tuple(each.dim for each in axes)
        parts = te.Tensor(shape, tensor.element_type, f"{tensor.name}.rf", te.Compute(tuple(axes), formula))
        again = te.IterVar(f"{axis.name}.v", axis.dim, True)
        indices: list[te.IterVar] = [*compute.axes]
        indices.insert(place, again)
        stage.compute = te.Compute(compute.axes, te.Reduce(body.kind, parts[tuple(indices)], (again,), body.start))
        stage.restart()
        self._insert(Stage(parts, parts.producer, False, self._replace_tensor), self.stages.index(stage), stage.group)
        return parts

    def _insert(self, stage: Stage, place: int, group: Group | None) -> None:
        """Take a stage in, which is in the group of those that it is made of."""
        self.stages.insert(place, stage)
        stage.group = group
        if group is not None:
            group.children.append(stage)


def _tensors(given: Output | Sequence[Output]) -> list[te.Tensor]:
    """Tensors, which may be given by what computes them."""
    several = [given] if isinstance(given, te.Tensor | TensorOp) else list(given)
    return [each.tensor if isinstance(each, TensorOp) else each for each in several]


def _groups_around(stage: Stage) -> list[Group]:
    """The groups that a stage is in, the innermost first."""
    found: list[Group] = []
    group = stage.group
    while group is not None:
        found.append(group)
        group = group.group
    return found


def _common(chains: Sequence[list[Group]]) -> Group | None:
    """The innermost group that is in all chains, and holds more than what stages are directly in it alone."""
    first, *rest = chains
    for group in first:
        if all(group in chain for chain in rest):
            return group
    return None


def _named_in(tensor: te.Tensor, scope: str) -> str:
    """What a copy of a tensor in a scope is called."""
    return f"{tensor.name}.{known_scope(scope).replace(':', '_')}"


def _copy_of(tensor: te.Tensor, name: str) -> te.Tensor:
    names = [f"ax{number}" for number in range(tensor.rank)]
    return te.compute(tensor.dims, lambda *i: tensor[i], name, names)


def _root_values(stage: Stage, leaves: dict[te.IterVar, te.IterVar]) -> tuple[dict[te.Expr, te.Expr], list[te.Expr]]:
    """The values of a stage's reduction axes where its loops have those of `leaves`; and the conditions, for splits
    that leave a rest, under which they are ones of the axes."""
    values: dict[te.IterVar, te.Expr] = dict(leaves)
    inside: list[te.Expr] = []
    for action in reversed(stage.actions):
        match action:
            case Split(parent, outer, inner):
                if outer not in values or inner not in values:
                    continue
                value = values[outer] * te.dim_expr(inner.dim) + values[inner]
                if not te.same(te.product((outer.dim, inner.dim)), parent.dim):
                    inside.append(value < te.dim_expr(parent.dim))
                values[parent] = value
            case Fuse(outer, inner, fused):
                if fused in values:
                    values[outer] = values[fused] // te.dim_expr(inner.dim)
                    values[inner] = values[fused] % te.dim_expr(inner.dim)
            case Singleton() | Reorder():
                pass
    roots: dict[te.Expr, te.Expr] = {}
    for axis in stage.op.reduce_axis:
        roots[axis] = values[axis] + axis.start
    return roots, inside[::-1]

"""`te.create_schedule`: the stages of a computation, and the primitives that make new ones of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeAlias, overload

from ...dialects import te
from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError
from ...dialects.te.tensor import TensorOp
from ...transforms.tir.schedule.errors import ScheduleError
from .stage import Fuse, Reorder, Singleton, Split, Stage, StageOp
from .substitution import substitute, with_fresh_axes

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
        for tensor in te.topological_order(outputs):
            body = None if tensor.producer is None else tensor.producer.body
            if isinstance(body, te.Fold) and len(body.operands) > 1:
                hint = "schedule the function: weft.tir.Schedule(te.create_prim_func([...]))"
                raise ScheduleError(f"te: '{tensor.name}' is one of several results of a reduction", hint=hint)
        self.outputs = tuple(outputs)
        self.stages: list[Stage] = [
            Stage(tensor, tensor.producer, tensor in outputs) for tensor in te.topological_order(outputs)
        ]
        """Producers before what reads them."""

    def __getitem__(self, key: te.Tensor | TensorOp | StageOp) -> Stage:
        """The stage of a tensor.

        Raises:
            ScheduleError: it is none of the schedule's.
        """
        if isinstance(key, StageOp):
            return key.stage
        tensor = key.tensor if isinstance(key, TensorOp) else key
        for stage in self.stages:
            if stage.tensor is tensor:
                return stage
        name = getattr(tensor, "name", None) or repr(tensor)
        known = ", ".join(stage.tensor.name for stage in self.stages)
        raise ScheduleError(f"te: there is no stage of '{name}' in this schedule", hint=f"its stages are {known}")

    def normalize(self) -> Schedule:
        """The schedule itself: its loops start at 0."""
        return self

    def create_group(self, *args: object, **options: object) -> NoReturn:
        """Refused: groups are of `te.scan`, and of stages that move together."""
        raise ScheduleError("te: create_group has no meaning here", hint="compute_at each stage of the group")

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

    def readers(self, tensor: te.Tensor) -> list[Stage]:
        """The stages that read a tensor."""
        return [stage for stage in self.stages if stage.compute is not None and tensor in stage.compute.inputs()]

    def cache_read(
        self, tensor: te.Tensor, scope: str, readers: Output | StageOp | Sequence[Output | StageOp] = ()
    ) -> te.Tensor:
        """A copy of a tensor in a scope, which the `readers` read instead.

        Raises:
            ScheduleError: one of them does not read it.
        """
        source = self[tensor]
        given = [readers] if isinstance(readers, te.Tensor | TensorOp | StageOp) else list(readers)
        stages = [self[reader] for reader in given]
        if not stages:
            raise ScheduleError("te: cache_read names those that are to read the copy", hint="readers=[C]")
        for stage in stages:
            if stage not in self.readers(tensor):
                raise ScheduleError(f"te: '{stage.tensor.name}' does not read '{tensor.name}'")
        copy = _copy_of(tensor, f"{tensor.name}.{scope or 'global'}")
        for stage in stages:
            assert stage.compute is not None
            stage.compute = te.Compute(stage.compute.axes, substitute(stage.compute.body, {}, {tensor: copy}))
        made = Stage(copy, copy.producer, False)
        made.scope = scope
        self.stages.insert(self.stages.index(source) + 1, made)
        return copy

    @overload
    def cache_write(self, tensor: te.Tensor, scope: str) -> te.Tensor: ...
    @overload
    def cache_write(self, tensor: Sequence[te.Tensor], scope: str) -> list[te.Tensor]: ...

    def cache_write(self, tensor: te.Tensor | Sequence[te.Tensor], scope: str) -> te.Tensor | list[te.Tensor]:
        """Compute a tensor in a scope; its own stage then copies that. Gives what is computed.

        Raises:
            ScheduleError: something was asked of its loops before, or it is an input.
        """
        if not isinstance(tensor, te.Tensor):
            return [self.cache_write(each, scope) for each in tensor]
        stage = self[tensor]
        if stage.compute is None:
            raise ScheduleError(f"te: '{tensor.name}' is an input: nothing writes it")
        if stage.is_started or stage.is_inlined or stage.attachment is not None:
            raise ScheduleError(f"te: cache_write of '{tensor.name}' comes before what else is asked of its stage")
        name = f"{tensor.name}.{scope or 'global'}"
        cache = te.Tensor(tensor.dims, tensor.element_type, name, with_fresh_axes(stage.compute, ".c"))
        axes = stage.compute.axes
        made = Stage(cache, cache.producer, False)
        made.scope = scope
        self.stages.insert(self.stages.index(stage), made)
        stage.compute = te.Compute(axes, cache[axes])
        stage.restart()
        return cache

    def rfactor(self, tensor: te.Tensor, axis: te.IterVar, factor_axis: int = 0) -> te.Tensor:
        """Let what one reduction loop of a stage does be reduced apart, for each of its iterations; the stage then
        reduces those. Gives the parts, whose dimension `factor_axis` is the loop. What else was asked of the stage's
        loops is forgotten.

        Raises:
            ScheduleError: the loop is no reduction loop of the stage's.
        """
        stage = self[tensor]
        compute = stage.compute
        if compute is None or not isinstance(compute.body, te.Reduce):
            if compute is not None and isinstance(compute.body, te.Fold):
                hint = "apply rfactor of weft.tir.Schedule to its function"
                raise ScheduleError(f"te: '{tensor.name}' reduces by a combiner of its own", hint=hint)
            raise ScheduleError(f"te: '{tensor.name}' does not reduce: there is nothing to rfactor")
        body = compute.body
        stage._check_leaf(axis)  # pyright: ignore[reportPrivateUsage]
        if not axis.reduce:
            raise ScheduleError(f"te: the loop {axis.name} of '{tensor.name}' does not reduce")
        rank = len(compute.axes)
        place = factor_axis + rank + 1 if factor_axis < 0 else factor_axis
        if not 0 <= place <= rank:
            raise ScheduleError(f"te: there is no dimension {factor_axis} in {rank + 1} dimensions")
        parts_axis = te.IterVar(axis.name, axis.dim)
        spatial: dict[te.Expr, te.Expr] = {old: te.IterVar(old.name, old.dim) for old in compute.axes}
        steps = {leaf: te.IterVar(leaf.name, leaf.dim, True) for leaf in stage.leaf_iter_vars if leaf.reduce}
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
        stage.compute = te.Compute(compute.axes, te.Reduce(body.kind, parts[tuple(indices)], (again,)))
        stage.restart()
        self.stages.insert(self.stages.index(stage), Stage(parts, parts.producer, False))
        return parts


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

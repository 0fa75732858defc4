"""Primitives of `te.Schedule`, applied at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias, cast

from weft import te
from weft.dialects.support.diagnostics import Diagnostic
from weft.lowering.te_schedule.stage import Stage
from weft.tir import ScheduleError

Step: TypeAlias = tuple[str, int]
"""A primitive, and the number that all it is given follows from."""


class TeFuzzer:
    """Applies primitives to a schedule of `outputs`: of equal steps in equal order it makes equal schedules."""

    def __init__(self, outputs: Sequence[te.Tensor], threads: bool = False):
        self.schedule = te.create_schedule([tensor.op for tensor in outputs])
        self.primitives = PRIMITIVES | FOR_THREADS if threads else PRIMITIVES
        self.random = Random(0)
        self.said: list[str] = []
        """What was applied, as text."""

    def apply(self, step: Step) -> str | None:
        """One primitive; why it was refused, if it was. What is refused has changed nothing."""
        name, seed = step
        self.random = Random(seed)
        before, count = self.state(), len(self.said)
        try:
            self.primitives[name](self)
        except Diagnostic as error:
            what = self.said[count:]
            del self.said[count:]
            assert name in COMPOSED or self.state() == before, (
                f"{what} was refused, but has changed the schedule: {error}"
            )
            return f"{what}: {error}"
        return None

    def state(self) -> list[object]:
        """What the schedule says of its stages."""
        return [
            (
                stage.tensor.name, id(stage.compute), [*map(id, stage.leaf_iter_vars)], len(stage.actions),
                [(id(axis), kind) for axis, kind in stage.kinds.items()], len(stage.threads), len(stage.pragmas),
                id(stage.attachment), stage.is_inlined, stage.scope, len(stage.alignments), stage.rolls,
                id(stage.group),
            )
            for stage in (*self.schedule.stages, *self.schedule.steps.values())
        ]  # fmt: skip

    # choices

    def maybe(self, likely: float = 0.5) -> bool:
        return self.random.random() < likely

    def stage(self, likely: Callable[[Stage], bool] = lambda stage: True) -> Stage:
        """A stage, mostly one that computes something and is `likely` to be what a primitive is for."""
        stages: list[Stage] = [*self.schedule.stages, *self.schedule.steps.values()]
        computed = [stage for stage in stages if stage.compute is not None]
        fitting = [stage for stage in computed if likely(stage)]
        return self.random.choice((fitting or computed) if self.maybe(0.95) else stages)

    def leaf(self, stage: Stage, likely: Callable[[te.IterVar], bool] = lambda axis: True) -> te.IterVar:
        leaves = stage.leaf_iter_vars
        if self.maybe(0.03):
            leaves = stage.all_iter_vars
        fitting = [axis for axis in leaves if likely(axis)]
        if not leaves:
            raise ScheduleError("there is no loop")
        return self.random.choice(fitting if fitting and self.maybe(0.9) else leaves)

    def readers(self, stage: Stage) -> list[Stage]:
        steps = [
            each for each in self.schedule.steps.values() if each.compute and stage.tensor in each.compute.inputs()
        ]
        return [*self.schedule.readers(stage.tensor), *steps]

    def call(self, target: object, method: str, *given: object, **named: object) -> object:
        """Call a method of a stage's, or of the schedule's, and say so."""
        words = [*map(_word, given), *(f"{name}={_word(value)}" for name, value in named.items())]
        on = f"s[{target.tensor.name}]" if isinstance(target, Stage) else "s" if target is self.schedule else "group"
        self.said.append(f"{on}.{method}({', '.join(words)})")
        return getattr(target, method)(*given, **named)


def _word(value: object) -> str:
    if isinstance(value, Stage):
        return f"s[{value.tensor.name}]"
    if isinstance(value, list):
        return f"[{', '.join(map(_word, cast('list[object]', value)))}]"
    return str(getattr(value, "name", value))


def _is_inner(stage: Stage) -> bool:
    return not stage.is_output


def _reduces(stage: Stage) -> bool:
    return bool(stage.op.reduce_axis)


def _split(f: TeFuzzer) -> None:
    stage = f.stage()
    loop, by = f.leaf(stage), f.random.choice([1, 2, 2, 3, 4, 5, 8, 0 if f.maybe(0.1) else 2])
    f.call(stage, "split", loop, **{f.random.choice(["factor", "factor", "nparts"]): by})


def _tile(f: TeFuzzer) -> None:
    stage = f.stage(lambda stage: len(stage.op.axis) > 1)
    x, y = f.leaf(stage, lambda axis: not axis.reduce), f.leaf(stage, lambda axis: not axis.reduce)
    f.call(stage, "tile", x, y, f.random.randint(1, 4), f.random.randint(1, 4))


def _fuse(f: TeFuzzer) -> None:
    stage = f.stage(lambda stage: len(stage.leaf_iter_vars) > 1)
    start = f.random.randrange(len(stage.leaf_iter_vars) or 1)
    f.call(stage, "fuse", *stage.leaf_iter_vars[start : start + f.random.choice([0, 2, 2, 2, 2, 3])])


def _reorder(f: TeFuzzer) -> None:
    stage = f.stage(lambda stage: len(stage.leaf_iter_vars) > 1)
    leaves = stage.leaf_iter_vars
    f.call(stage, "reorder", *f.random.sample(leaves, f.random.randint(min(2, len(leaves)), len(leaves))))


def _kind(f: TeFuzzer, kind: str) -> None:
    stage = f.stage()
    f.call(stage, kind, f.leaf(stage, lambda axis: kind == "unroll" or not axis.reduce))


def _pragma(f: TeFuzzer) -> None:
    stage = f.stage()
    word, value = f.random.choice([("auto_unroll_max_step", 4), ("unroll", None), ("parallel", None), ("foo", 3)])
    f.call(stage, "pragma", f.leaf(stage), word, value)


def _compute_at(f: TeFuzzer) -> None:
    stage = f.stage(_is_inner)
    readers = f.readers(stage)
    if readers and f.maybe(0.3):  # where what reads it is computed
        readers += [each.attachment.stage for each in readers if each.attachment is not None]
    parent = f.random.choice(readers) if readers and f.maybe(0.95) else f.stage()
    f.call(stage, "compute_at", parent, f.leaf(parent))


def _inline(f: TeFuzzer) -> None:
    f.call(f.stage(lambda stage: _is_inner(stage) and not _reduces(stage)), "compute_inline")


def _root(f: TeFuzzer) -> None:
    f.call(f.stage(lambda stage: stage.attachment is not None or stage.is_inlined), "compute_root")


def _set_scope(f: TeFuzzer) -> None:
    f.call(f.stage(lambda stage: stage.attachment is not None), "set_scope", f.random.choice(SCOPES))


def _cache_read(f: TeFuzzer) -> None:
    stage = f.random.choice(f.schedule.stages)
    readers = f.readers(stage)
    if not readers:
        raise ScheduleError("nothing reads it")
    some = f.random.sample(readers, f.random.randint(1, len(readers)))
    f.call(f.schedule, "cache_read", stage.tensor, f.random.choice(SCOPES), [each.op for each in some])


def _cache_write(f: TeFuzzer) -> None:
    stage = f.stage()
    tensors = [stage.tensor, *stage.others] if stage.others and f.maybe() else stage.tensor
    f.call(f.schedule, "cache_write", tensors, f.random.choice(SCOPES))


def _rfactor(f: TeFuzzer) -> None:
    stage = f.stage(_reduces)
    f.call(f.schedule, "rfactor", stage.tensor, f.leaf(stage, lambda axis: axis.reduce), f.random.choice([0, 0, 1, -1]))


def _align(f: TeFuzzer) -> None:
    stage = f.stage(lambda stage: _is_inner(stage) and bool(stage.op.axis))
    axis = f.random.choice(stage.op.axis) if stage.op.axis else f.leaf(stage)
    f.call(stage, "storage_align", axis, f.random.choice([2, 4, 8]), f.random.choice([0, 1, 3]))


def _layout(f: TeFuzzer) -> None:
    stage = f.stage(lambda stage: _is_inner(stage) and not stage.is_started and bool(stage.op.axis))
    if not _is_inner(stage) or stage.compute is None:
        raise ScheduleError("the caller's memory stays as it is")
    rank, by = len(stage.op.axis), f.random.randint(1, 3)
    order = f.random.sample(range(rank), rank)
    parted = f.random.choice(order) if rank and f.maybe() else None

    def mapping(*indices: te.Expr) -> list[te.Expr]:
        parts = [[indices[n] // by, indices[n] % by] if n == parted else [indices[n]] for n in order]
        return [each for part in parts for each in part]

    mapping.__name__ = f"order {order}, {parted} by {by}"
    f.said.append(f"s[{stage.tensor.name}].transform_layout({mapping.__name__})")
    stage.transform_layout(_of_rank(mapping, rank))


def _of_rank(mapping: Callable[..., list[te.Expr]], rank: int) -> Callable[..., list[te.Expr]]:
    """A function that says how many indices it takes."""
    names = ", ".join(f"i{number}" for number in range(rank))
    return eval(f"lambda {names}: mapping({names})", {"mapping": mapping})


def _rolling(f: TeFuzzer) -> None:
    f.call(f.stage(lambda stage: stage.attachment is not None), "rolling_buffer")


def _group(f: TeFuzzer) -> None:
    inner = [stage for stage in f.schedule.stages if _is_inner(stage) and stage.compute is not None]
    if not inner:
        raise ScheduleError("there is nothing to group")
    ends, begins = f.random.choice(inner), f.random.choice(f.schedule.stages)
    outputs, inputs = ends.tensor, begins.tensor
    group = f.call(f.schedule, "create_group", outputs, inputs, f.maybe())
    if (readers := f.readers(ends)) and f.maybe(0.7):
        parent = f.random.choice(readers)
        f.call(group, "compute_at", parent, f.leaf(parent))


def _auto_inline(f: TeFuzzer) -> None:
    name = f.random.choice(["AutoInlineElemWise", "AutoInlineBroadcast", "AutoInlineInjective"])
    f.said.append(f"te.{name}(s)")
    getattr(te, name)(f.schedule)


SCOPES = ("local", "local", "global")

PRIMITIVES: dict[str, Callable[[TeFuzzer], object]] = {
    "split": _split,
    "split again": _split,
    "tile": _tile,
    "fuse": _fuse,
    "reorder": _reorder,
    "vectorize": lambda f: _kind(f, "vectorize"),
    "unroll": lambda f: _kind(f, "unroll"),
    "parallel": lambda f: _kind(f, "parallel"),
    "pragma": _pragma,
    "compute_at": _compute_at,
    "compute_at again": _compute_at,
    "compute_inline": _inline,
    "compute_root": _root,
    "set_scope": _set_scope,
    "cache_read": _cache_read,
    "cache_write": _cache_write,
    "rfactor": _rfactor,
    "storage_align": _align,
    "transform_layout": _layout,
    "rolling_buffer": _rolling,
    "create_group": _group,
    "auto_inline": _auto_inline,
}
FOR_THREADS: dict[str, Callable[[TeFuzzer], object]] = {
    "bind": lambda f: f.call(stage := f.stage(), "bind", f.leaf(stage), te.thread_axis(f.random.choice(AXES))),
}
AXES = ("threadIdx.x", "threadIdx.y", "blockIdx.x", "blockIdx.y")
COMPOSED = {"create_group", "tile", "auto_inline"}
"""What is several primitives, of which a later one may be refused."""

"""A stage of a te schedule: one tensor's computation, and what was asked of its loops.

Primitives are recorded, not applied: `translation` applies them, consumers first, when the schedule is lowered. Here
only what needs no loops is checked: that a loop is one of the stage's, and is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

from xdsl.ir import Attribute

from ...dialects import te
from ...dialects.support.arguments import checked_methods
from ...dialects.te.dims import ceil_divided
from ...dialects.te.forms import ThreadAxis
from ...dialects.te.tensor_intrin import TensorIntrin
from ...dialects.tir.nodes.expressions import StringImm
from ...transforms.tir.schedule.errors import ScheduleError
from ...transforms.tir.scheduling.index_maps import IndexMap
from .layouts import Layout, laid_out
from .refused import REFUSED, known_scope, refusal
from .relations import (
    NUMBERS,
    Action,
    Fuse,
    IterVarAttr,
    Kind,
    Reorder,
    Singleton,
    Split,
    made_by,
    split_size,
    taken_by,
)

OF_THE_FUNCTION = "schedule the function: weft.tir.Schedule(te.create_prim_func([...]))"


@dataclass(frozen=True)
class Attachment:
    """A stage is computed in a loop of another."""

    stage: Stage
    axis: te.IterVar

    @property
    def loop(self) -> te.IterVar:
        """The loop: where the axis was split afterwards the inner one, where it was fused what it is part of."""
        axis = self.axis
        for action in self.stage.relations:
            if axis in taken_by(action):
                axis = action.inner if isinstance(action, Split) else made_by(action)[0]
        return axis


@checked_methods
class Group:
    """Stages, and groups, that move together: those of them that are not told where to be computed are where the group
    is. Counterpart of what TVM's `create_group` gives.

        g = s.create_group(outputs=C, inputs=A)
        g.compute_at(s[E], E.op.axis[0])
    """

    def __init__(self, group: Group | None):
        self.group = group
        """The group that it is in."""
        self.children: list[Stage | Group] = []
        self._attachment: Attachment | None = None

    @property
    def attachment(self) -> Attachment | None:
        """The loop that the group is computed in; that of the group around, if it is not told one."""
        if self._attachment is None and self.group is not None:
            return self.group.attachment
        return self._attachment

    @property
    def attach_stage(self) -> Stage | None:
        """The stage in whose loop it is computed."""
        return None if self.attachment is None else self.attachment.stage

    @property
    def num_child_stages(self) -> int:
        """How many stages and groups are directly in it."""
        return len(self.children)

    def stages(self) -> list[Stage]:
        """All stages in it."""
        return [each for child in self.children for each in (child.stages() if isinstance(child, Group) else [child])]

    def compute_at(self, parent: Stage, scope: te.IterVar) -> None:
        """Compute the group's stages in a loop of another one, which reads what they compute.

        Raises:
            ScheduleError: the loop is none of that stage's, or the stage is in the group.
        """
        parent.check_leaf(scope)
        if parent in self.stages():
            raise ScheduleError(f"te: '{parent.tensor.name}' is in the group: it cannot be computed in itself")
        self._attachment = Attachment(parent, scope)

    def compute_root(self) -> None:
        """Compute the group's stages by themselves; so it is unless told otherwise."""
        self._attachment = None


@dataclass(frozen=True)
class StageOp:
    """What a stage computes, as it is after `cache_write` and `rfactor`: `s[C].op.axis`, `s[C].op.reduce_axis`."""

    stage: Stage

    @property
    def name(self) -> str:
        return self.stage.tensor.name

    @property
    def axis(self) -> tuple[te.IterVar, ...]:
        return () if self.stage.compute is None else self.stage.compute.axes

    @property
    def reduce_axis(self) -> tuple[te.IterVar, ...]:
        return () if self.stage.compute is None else self.stage.compute.reduce_axes

    @property
    def body(self) -> list[te.Expr]:
        """The formula of an element; none of what is given."""
        return [] if self.stage.compute is None else [self.stage.compute.body]

    def output(self, number: int) -> te.Tensor:
        """The tensor.

        Raises:
            IndexError: `number` is not 0.
        """
        return (self.stage.tensor,)[number]


@checked_methods
class Stage:
    """One tensor's computation in a schedule: `s[C]`. Counterpart of TVM's `te.Stage`."""

    def __init__(
        self,
        tensor: te.Tensor,
        compute: te.Compute | None,
        is_output: bool,
        replace_tensor: Callable[[Stage, Layout], None],
    ):
        self._replace_tensor = replace_tensor
        """Has the stage compute a tensor that is laid out otherwise, and the others read that."""
        self.tensor = tensor
        self.compute = compute
        self.others: list[te.Tensor] = []
        """The other tensors that are computed with it: results of the same reduction."""
        self.is_output = is_output
        self.scope = ""
        self.group: Group | None = None
        self._attachment: Attachment | None = None
        self.is_inlined = False
        self.axis_separators: list[int] = []
        """The dimensions before which another dimension of memory begins."""
        self.restart()

    def restart(self) -> None:
        """Forget what was asked of the loops."""
        self.actions: list[Action] = []
        self.leaf_iter_vars = self.first_loops()
        """The stage's loops, outermost first."""
        self.kinds: dict[te.IterVar, Kind] = {}
        self.threads: dict[te.IterVar, str] = {}
        self.pragmas: list[tuple[te.IterVar, str, object]] = []
        self.alignments: list[tuple[int, int, int]] = []
        self.rolls = False
        """Whether what one tile of the stage has in common with the next is kept."""
        self.tensorized: tuple[te.IterVar, TensorIntrin] | None = None
        """The loop that an intrinsic takes the place of, with those in it."""
        if self.compute is not None and isinstance(intrin := self.compute.by, TensorIntrin):
            within = self.leaf_iter_vars[len(self.leaf_iter_vars) - intrin.rank - intrin.reduce_rank :]
            self.tensorized = (within[0], intrin) if within else None

    @property
    def is_by_intrinsic(self) -> bool:
        """Whether the formula is the call of an intrinsic."""
        return self.compute is not None and self.compute.by is not None

    def root_loops(self) -> list[te.IterVar]:
        """The axes that are loops, as the formula has them."""
        return [*self.op.axis, *self.op.reduce_axis]

    def first_loops(self) -> list[te.IterVar]:
        """The loops before anything is asked of them; those that an intrinsic takes the place of stand inside."""
        axes, steps = list(self.op.axis), list(self.op.reduce_axis)
        if self.compute is None or (intrin := self.compute.by) is None:
            return [*axes, *steps]
        place, first = len(axes) - intrin.rank, len(steps) - intrin.reduce_rank
        return [*axes[:place], *steps[:first], *axes[place:], *steps[first:]]

    @property
    def attachment(self) -> Attachment | None:
        """The loop that the stage is computed in: its own, or its group's."""
        if self._attachment is None and not self.is_inlined and self.group is not None:
            return self.group.attachment
        return self._attachment

    @property
    def attach_type(self) -> int:
        """TVM's number of where the stage is computed: 1 by itself, 2 inline, 4 in a loop of another."""
        if self.is_inlined:
            return 2
        return 1 if self.attachment is None else 4

    @property
    def op(self) -> StageOp:
        return StageOp(self)

    @property
    def result_types(self) -> list[Attribute]:
        """The types of the elements of what the formula gives: several, of a reduction of several results."""
        body = None if self.compute is None else self.compute.body
        if isinstance(body, te.Fold):
            return [each.type for each in body.combiner.results]
        return [self.tensor.element_type]

    def check_single(self, what: str) -> None:
        """Refuse what is for one tensor alone.

        Raises:
            ScheduleError: the stage's reduction has several results.
        """
        if len(self.result_types) > 1:
            message = f"te: '{self.tensor.name}' is one of several results of a reduction: {what} takes one alone"
            raise ScheduleError(message, hint=OF_THE_FUNCTION)

    def check_formula(self, what: str) -> None:
        """Refuse what is for a tensor that a formula computes.

        Raises:
            ScheduleError: statements fill it, or a scan does.
        """
        if self.compute is not None and isinstance(self.compute.body, te.Filled):
            message = f"te: '{self.tensor.name}' is filled by statements: there is no {what} of it"
            raise ScheduleError(message, hint=OF_THE_FUNCTION)

    @property
    def relations(self) -> list[Split | Fuse | Singleton]:
        """The splits and fusions, in order."""
        return [action for action in self.actions if not isinstance(action, Reorder)]

    @property
    def all_iter_vars(self) -> list[te.IterVar]:
        """Every loop that the stage has, or had."""
        made = [axis for action in self.relations for axis in made_by(action)]
        return [*self.op.axis, *self.op.reduce_axis, *made]

    @property
    def iter_var_attrs(self) -> dict[te.IterVar, IterVarAttr]:
        """What was said of loops of which something was said."""
        found = {axis: IterVarAttr(NUMBERS[kind]) for axis, kind in self.kinds.items()}
        found |= {axis: IterVarAttr(te.IterVar.ThreadIndex, thread) for axis, thread in self.threads.items()}
        for axis, key, value in self.pragmas:
            attr = found.setdefault(axis, IterVarAttr(axis.iter_type))
            attr.pragma_keys.append(StringImm(key.removeprefix("pragma_")))
            attr.pragma_values.append(value)
        if self.tensorized is not None:
            axis, intrin = self.tensorized
            found.setdefault(axis, IterVarAttr(0)).iter_type = te.IterVar.Tensorized
            found[axis].tensor_intrin = intrin
        return found

    @property
    def is_started(self) -> bool:
        """Whether something was asked of the loops."""
        return bool(self.actions or self.is_told_how)

    @property
    def is_told_how(self) -> bool:
        """Whether it was said how loops run, or what memory they go through."""
        told = self.tensorized is not None and not self.is_by_intrinsic
        return bool(told or self.kinds or self.threads or self.pragmas or self.alignments or self.rolls)

    def __repr__(self) -> str:
        return f"stage({self.tensor.name}, {[axis.name for axis in self.leaf_iter_vars]})"

    # loops

    def split(
        self, parent: te.IterVar, factor: int | te.Const | te.Var | None = None, nparts: int | te.Const | None = None
    ) -> tuple[te.IterVar, te.IterVar]:
        """An outer and an inner loop in place of `parent`: the inner of `factor` iterations, which may be a symbol that
        is positive at each call (`te.var`), or the outer of `nparts`.

        Raises:
            ScheduleError: the loop is none of the stage's, or not just one of the numbers is given, or it is none.
        """
        self.check_leaf(parent)
        inside, outside = split_size(factor, nparts)
        rest = ceil_divided(parent.dim, outside or 1 if inside is None else inside)
        sizes = (rest, inside) if inside is not None else (outside or 1, rest)
        outer, inner = (
            te.IterVar(f"{parent.name}.{word}", extent, parent.reduce)
            for word, extent in zip(("outer", "inner"), sizes, strict=True)
        )
        action = Split(parent, outer, inner, inside, outside)
        self.actions.append(action)
        self._replace([parent], [outer, inner])
        return outer, inner

    def fuse(self, *args: te.IterVar) -> te.IterVar:
        """One loop in place of several, each directly in the one before; in place of none, one of one iteration, which
        stands outside of the others.

        Raises:
            ScheduleError: a loop is none of the stage's, or they do not follow one another; or there are none, and the
                tensor is filled by statements.
        """
        if not args:
            self.check_formula("fuse")
            single = te.IterVar("singleton", 1)
            self.actions.append(Singleton(single))
            self.leaf_iter_vars.insert(0, single)
            return single
        for axis in args:
            self.check_leaf(axis)
        for outer, inner in pairwise(args):
            if self.leaf_iter_vars.index(inner) != self.leaf_iter_vars.index(outer) + 1:
                what = f"te: the loop {inner.name} does not come directly in {outer.name}"
                raise ScheduleError(what, hint="reorder them first")
        fused = args[0]
        for inner in args[1:]:
            outer, extent = fused, te.product((fused.dim, inner.dim))
            fused = te.IterVar(f"{outer.name}.{inner.name}.fused", extent, outer.reduce or inner.reduce)
            self.actions.append(Fuse(outer, inner, fused))
            self._replace([outer, inner], [fused])
        return fused

    def reorder(self, *args: te.IterVar) -> None:
        """Give loops this order, in the places that they have together.

        Raises:
            ScheduleError: a loop is none of the stage's, or stands twice.
        """
        for axis in args:
            self.check_leaf(axis)
        if len(set(args)) != len(args):
            raise ScheduleError("te: reorder names a loop twice")
        self.actions.append(Reorder(args))
        order = iter(args)
        self.leaf_iter_vars[:] = [next(order) if axis in args else axis for axis in self.leaf_iter_vars]

    def tile(
        self, x_parent: te.IterVar, y_parent: te.IterVar, x_factor: int, y_factor: int
    ) -> tuple[te.IterVar, te.IterVar, te.IterVar, te.IterVar]:
        """Two splits and a reorder: the loops over tiles, then the loops in one.

        Raises:
            ScheduleError: as `split` and `reorder` say.
        """
        for parent, factor in ((x_parent, x_factor), (y_parent, y_factor)):
            self.check_leaf(parent)
            split_size(factor, None)
        if x_parent is y_parent:
            raise ScheduleError("te: tile names a loop twice")
        x_outer, x_inner = self.split(x_parent, factor=x_factor)
        y_outer, y_inner = self.split(y_parent, factor=y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    def vectorize(self, var: te.IterVar) -> None:
        """Make a loop's iterations the lanes of vectors."""
        self._set_kind(var, Kind.VECTORIZED)

    def unroll(self, var: te.IterVar) -> None:
        """Write a loop's iterations out."""
        self._set_kind(var, Kind.UNROLLED)

    def parallel(self, var: te.IterVar) -> None:
        """Share a loop's iterations among threads."""
        self._set_kind(var, Kind.PARALLEL)

    def _set_kind(self, var: te.IterVar, kind: Kind) -> None:
        self.check_leaf(var)
        if var.reduce and kind != Kind.UNROLLED:
            hint = "rfactor lets parts of it be reduced apart"
            raise ScheduleError(f"te: the loop {var.name} reduces: its iterations cannot run at once", hint=hint)
        self.kinds[var] = kind

    def bind(self, ivar: te.IterVar, thread_ivar: ThreadAxis | str) -> None:
        """Let a device's threads run a loop's iterations."""
        self.check_leaf(ivar)
        self.threads[ivar] = thread_ivar if isinstance(thread_ivar, str) else thread_ivar.name

    def pragma(self, var: te.IterVar, pragma_type: str, pragma_value: object = None) -> None:
        """Put a word on a loop: `unroll`, `vectorize` and `parallel` set its kind, others become annotations."""
        self.check_leaf(var)
        kind = next((kind for kind in Kind if kind.value == pragma_type), None)
        if kind is not None:
            self._set_kind(var, kind)
            return
        self.pragmas.append((var, f"pragma_{pragma_type}", 1 if pragma_value is None else pragma_value))

    def tensorize(self, var: te.IterVar, tensor_intrin: TensorIntrin) -> None:
        """Let an intrinsic compute what the loop `var` and those in it do, which is what its formula says. A stage that
        is a call of one already stays so.

        Raises:
            ScheduleError: the loop is none of the stage's.
        """
        self.check_leaf(var)
        if not self.is_by_intrinsic:
            self.tensorized = (var, tensor_intrin)

    # the stage

    def compute_at(self, parent: Stage, scope: te.IterVar) -> None:
        """Compute the stage in a loop of another, which reads it: just what one iteration there needs.

        Raises:
            ScheduleError: the loop is none of that stage's, or the stage is an output or an input.
        """
        self._check_movable("compute_at")
        self._check_place(parent)
        parent.check_leaf(scope)
        if parent is self:
            raise ScheduleError(f"te: '{self.tensor.name}' cannot be computed in a loop of itself")
        self._attachment, self.is_inlined = Attachment(parent, scope), False

    def compute_inline(self) -> None:
        """Put the stage's formula where it is read.

        Raises:
            ScheduleError: it reduces, or is an output or an input.
        """
        self._check_movable("compute_inline")
        if self.op.reduce_axis:
            raise ScheduleError(f"te: '{self.tensor.name}' reduces, and cannot be computed inline", hint="compute_at")
        self._attachment, self.is_inlined = None, True

    def compute_root(self) -> None:
        """Compute the stage by itself, before all that reads it; so it is unless told otherwise."""
        self._attachment, self.is_inlined = None, False

    def set_scope(self, scope: str) -> None:
        """Let the stage's tensor live in a scope: `global`, or `local` to a thread.

        Raises:
            ScheduleError: there is no such scope, or the tensor is the caller's, or filled by statements.
        """
        known_scope(scope)
        if self.is_output and scope not in ("", "global"):
            raise ScheduleError(f"te: '{self.tensor.name}' is an output, which is the caller's memory")
        if scope not in ("", "global"):
            self.check_formula("set_scope")
        self.scope = scope

    def storage_align(self, axis: te.IterVar, factor: int, offset: int) -> None:
        """Let a step along a dimension of the stage's tensor be a multiple of `factor`, plus `offset`, elements long.

        Raises:
            ScheduleError: `axis` is none of the stage's dimensions, or the tensor is the caller's.
        """
        if axis not in self.op.axis:
            raise ScheduleError(
                f"te: {axis.name} is no dimension of '{self.tensor.name}'", hint="s[C].op.axis has them"
            )
        self._check_movable("storage_align")
        self.check_single("storage_align")
        self.alignments.append((self.op.axis.index(axis), factor, offset))

    def transform_layout(self, mapping_function: IndexMap) -> tuple[te.IterVar, ...]:
        """Let an element of the stage's tensor stand at other indices: those that a function makes of its own, such as
        `lambda n, c: [n, c // 4, c % 4]`. The stage's loops are over the new ones, which are given; an input or an
        output has the new shape for callers. `te.AXIS_SEPARATOR` between two indices begins another dimension of
        memory.

        Raises:
            ScheduleError: something was asked of the stage's loops before, an extent is not known, or the function
                does not give each element a place of its own, without gaps.
        """
        self.check_single("transform_layout")
        if self.is_started or self.is_by_intrinsic:
            raise ScheduleError(
                f"te: transform_layout of '{self.tensor.name}' comes before what else is asked of its stage"
            )
        found = laid_out(self.tensor, self.compute, mapping_function)
        self._replace_tensor(self, found)
        self.axis_separators = found.separators
        return found.axes

    def rolling_buffer(self) -> None:
        """Keep what the next iteration of the loop that the stage is computed in needs too, in a buffer that is written
        round and round.

        Raises:
            ScheduleError: the stage is an output or an input.
        """
        self._check_movable("rolling_buffer")
        self.check_single("rolling_buffer")
        self.rolls = True

    def _check_place(self, parent: Stage) -> None:
        """Refuse to compute the stage in one that surely does not read it."""

    def _check_movable(self, what: str) -> None:
        if self.compute is None:
            raise ScheduleError(f"te: '{self.tensor.name}' is an input: there is nothing to {what}")
        if self.is_output:
            raise ScheduleError(f"te: '{self.tensor.name}' is an output, and stays where it is")
        self.check_formula(what)

    def check_leaf(self, axis: te.IterVar) -> None:
        """Refuse what is none of the stage's loops.

        Raises:
            ScheduleError: it is none.
        """
        if axis in self.leaf_iter_vars:
            return
        name = axis.name if isinstance(axis, te.IterVar) else repr(axis)  # pyright: ignore[reportUnnecessaryIsInstance]
        loops = ", ".join(leaf.name for leaf in self.leaf_iter_vars) or "none"
        gone = any(axis in parts for parts in map(taken_by, self.relations))
        why = "was split or fused before" if gone else f"is no loop of '{self.tensor.name}'"
        raise ScheduleError(f"te: {name} {why}", hint=f"its loops are {loops}")

    def _replace(self, old: Sequence[te.IterVar], new: Sequence[te.IterVar]) -> None:
        place = self.leaf_iter_vars.index(old[0])
        self.leaf_iter_vars[place : place + len(old)] = new
        for axis in old:
            self.kinds.pop(axis, None)
            self.threads.pop(axis, None)

    # what has no meaning here

    prefetch: Callable[..., NoReturn]
    set_store_predicate: Callable[..., NoReturn]
    double_buffer: Callable[..., NoReturn]
    env_threads: Callable[..., NoReturn]


for _name in REFUSED:
    setattr(Stage, _name, refusal(_name))

"""`te.scan`: tensors of which each step is made of steps before it, along the first dimension.

    s = te.placeholder((steps, n))                                      # the result, as its own formula reads it
    init = te.compute((1, n), lambda _, i: x[0, i])
    update = te.compute((steps, n), lambda t, i: s[t - 1, i] + x[t, i])
    total = te.scan(init, update, s)                                    # sums along the steps

The steps of `init` come first; after them, each step is computed whole, and before the next: what lies between the
result and its formula, such as a hidden layer, step by step too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import overload

from ..support.arguments import checked
from ..support.diagnostics import UsageError
from ..support.unique_names import UniqueNames
from ..tir.blocks import IterKind
from ..tir.nodes.blocks import Block, BlockRealize
from ..tir.nodes.blocks import IterVar as BlockIterVar
from ..tir.nodes.buffers import Allocate, Buffer, BufferLoad, BufferStore
from ..tir.nodes.prim_func import function_of
from ..tir.nodes.statements import For, Stmt, sequence
from .dims import dim_expr, same
from .expr import Binary, Const, Expr, IterVar, Select, Slot, binary
from .external import External
from .kinds import BinaryKind, index
from .reduction import COMBINER, Fold, Reduce, first_value
from .substitution import substitute
from .tensor import Compute, Filled, Read, Tensor, operands_of, topological_order


@overload
def scan(
    init: Tensor,
    update: Tensor,
    state_placeholder: Tensor,
    inputs: Tensor | Sequence[Tensor] | None = ...,
    name: str = ...,
    tag: str = ...,
    attrs: dict[str, object] | None = ...,
) -> Tensor: ...
@overload
def scan(
    init: Sequence[Tensor],
    update: Sequence[Tensor],
    state_placeholder: Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor] | None = ...,
    name: str = ...,
    tag: str = ...,
    attrs: dict[str, object] | None = ...,
) -> list[Tensor]: ...


@checked
def scan(
    init: Tensor | Sequence[Tensor],
    update: Tensor | Sequence[Tensor],
    state_placeholder: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor] | None = None,
    name: str = "scan",
    tag: str = "",
    attrs: dict[str, object] | None = None,
) -> Tensor | list[Tensor]:
    """The tensor whose first steps are `init`'s, and whose others are `update`'s, which reads steps before its own of
    `state_placeholder`; or several such tensors. `inputs`, `tag` and `attrs` are TVM's, and say nothing more here.

    Raises:
        UsageError: shapes or dtypes do not fit, or a step is made of itself or of one after it.
    """
    inits, updates, states = (
        [each] if isinstance(each, Tensor) else list(each) for each in (init, update, state_placeholder)
    )
    if not states or not len(inits) == len(updates) == len(states):
        raise UsageError(f"te: {name}: {len(inits)} inits and {len(updates)} updates for {len(states)} states")
    if len({*updates}) != len(updates) or len({*states}) != len(states):
        raise UsageError(f"te: {name}: a state, or an update, is given twice")
    for start, step, state in zip(inits, updates, states, strict=True):
        _check(name, start, step, state)
        if not same(start.dims[0], inits[0].dims[0]) or not same(state.dims[0], states[0].dims[0]):
            raise UsageError(f"te: {name}: '{states[0].name}' and '{state.name}' have not the same steps")
    results = Recipe(name, inits, updates, states).scan().results()
    return results if len(results) > 1 else results[0]


def _check(name: str, init: Tensor, update: Tensor, state: Tensor) -> None:
    if state.producer is not None:
        raise UsageError(f"te: {name}: the state '{state.name}' is no placeholder")
    if update.producer is None or not update.producer.axes:
        raise UsageError(f"te: {name}: the update '{update.name}' is no te.compute of a dimension or more")
    if len(update.dims) != len(state.dims) or not all(map(same, update.dims, state.dims)):
        raise UsageError(f"te: {name}: the update '{update.name}' is not of the shape of '{state.name}'")
    if len(init.dims) != len(state.dims) or not all(map(same, init.dims[1:], state.dims[1:])):
        raise UsageError(f"te: {name}: the steps of '{init.name}' are not of the shape of those of '{state.name}'")
    if {init.element_type, update.element_type} != {state.element_type}:
        raise UsageError(f"te: {name}: '{init.name}', '{update.name}' and '{state.name}' are of one dtype")


class Recipe:
    """What a scan is made of: the first steps, and the formulas of all others."""

    def __init__(self, name: str, inits: Sequence[Tensor], updates: Sequence[Tensor], states: Sequence[Tensor]):
        self.name, self.inits, self.updates, self.states = name, inits, updates, states
        self.formulas: dict[Tensor, Compute] = {}
        """What is computed step by step: the updates, and what on the way to them is made of states, or of steps before
        which there are none of the first."""
        known: set[Tensor] = {*states}
        for tensor in topological_order(updates):
            producer = tensor.producer
            if producer is None:
                continue
            if _reads_before(producer) or any(each in known for each in producer.inputs()):
                known.add(tensor)
            if tensor in known or tensor in updates:
                self.formulas[tensor] = producer
        for tensor, formula in self.formulas.items():
            self._check_reads(tensor, formula)

    def _check_reads(self, tensor: Tensor, compute: Compute) -> None:
        """Whether a step is made of steps before it."""
        if isinstance(compute.body, Fold | Filled) or not compute.axes:
            hint = "compute it by te.sum, te.max and the like, or apart from the scan"
            raise UsageError(f"te: {self.name}: '{tensor.name}' has no formula for each step", hint=hint)
        time = compute.axes[0]
        for read in compute.reads():
            if read.tensor in self.states:
                back = _steps_back(read.indices[0], time)
                number = self.states.index(read.tensor)
                first = self.inits[number].dims[0]
                if back is None or back < 1 or (isinstance(first, int) and back > first):
                    raise UsageError(
                        f"te: {self.name}: '{tensor.name}' reads '{read.tensor.name}' at {read.indices[0]}",
                        hint=f"a step is made of those before it, as in {read.tensor.name}[{time.name} - 1, ...], "
                        "of which the init has the first",
                    )
                if not isinstance(first, int) and back > 1:
                    raise UsageError(f"te: {self.name}: whether the init has {back} steps is known only when it runs")
            elif read.tensor in self.formulas and read.indices[0] is not time:
                raise UsageError(
                    f"te: {self.name}: '{tensor.name}' reads '{read.tensor.name}' at {read.indices[0]}",
                    hint=f"what is computed in each step is read in that step: {read.tensor.name}[{time.name}, ...]",
                )

    def inlined(self, tensor: Tensor) -> Recipe:
        """The same, where the formula of a step stands wherever the step is read."""
        formula = self.formulas[tensor]

        def there(indices: tuple[Expr, ...]) -> Expr:
            return substitute(formula.body, dict(zip(formula.axes, indices, strict=True)))

        made = copy(self)
        made.formulas = {
            each: replace(compute, body=substitute(compute.body, {}, elsewhere={tensor: there}))
            for each, compute in self.formulas.items()
            if each is not tensor
        }
        return made

    def with_copy(self, tensor: Tensor, copied: Tensor, readers: Sequence[Tensor]) -> Recipe:
        """The same, where `readers` read `copied`, which is a copy of a tensor, made in each step before they do."""
        assert copied.producer is not None
        made = copy(self)
        made.formulas = {}
        for each, compute in self.formulas.items():
            if each in readers:
                made.formulas.setdefault(copied, copied.producer)
                compute = replace(compute, body=substitute(compute.body, {}, {tensor: copied}))
            made.formulas[each] = compute
        return made

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors that are read, and are none of the steps and states."""
        own = {*self.formulas, *self.states}
        read = [each for compute in self.formulas.values() for each in compute.inputs()]
        return list(dict.fromkeys([*self.inits, *(each for each in read if each not in own)]))

    def scan(self) -> Scan:
        """The function that does all steps."""
        several = len(self.states) > 1
        shapes = [
            (state.dims, state.element_type, f"{self.name}.v{number}" if several else self.name)
            for number, state in enumerate(self.states)
        ]
        taken = {tensor: Buffer(tensor.name, tensor.dims, tensor.element_type) for tensor in self.inputs}
        results = [Buffer(name, dims, type) for dims, type, name in shapes]
        buffers = {**taken, **dict(zip(self.states, results, strict=True))}
        for tensor in self.formulas:
            number = self.updates.index(tensor) if tensor in self.updates else None
            buffers[tensor] = (
                Buffer(tensor.name, tensor.dims, tensor.element_type) if number is None else results[number]
            )
        unique = UniqueNames()
        names = {tensor: unique.new(tensor.name) for tensor in self.formulas}
        body = self._body(buffers, results, names)
        for tensor in self.formulas:
            if tensor not in self.updates:
                body = Allocate.of(buffers[tensor], body)
        function, symbols = function_of([*taken.values(), *results], body, self.name, buffers)
        return Scan(function, tuple(self.inputs), tuple(shapes), symbols, names, recipe=self)

    def _body(self, buffers: dict[Tensor, Buffer], results: Sequence[Buffer], names: Mapping[Tensor, str]) -> Stmt:
        copies: list[Stmt] = []
        for init, result in zip(self.inits, results, strict=True):
            axes = [IterVar(f"i{number}", dim) for number, dim in enumerate(init.dims)]
            copies.append(_nest(axes, BufferStore(result, Read(init, tuple(axes)), axes)))
        time = Slot(self._time.name, index)
        computed: list[Stmt] = []
        for tensor, compute in self.formulas.items():
            kind = IterKind.OPAQUE if tensor in self.updates else IterKind.SPATIAL
            step = _Step(names[tensor], compute.axes, time, kind, self._may_be_none)
            computed += _computed(compute, buffers[tensor], step)
        first, last = dim_expr(self.inits[0].dims[0]), dim_expr(self.states[0].dims[0])
        return sequence([*copies, For(time, first, last - first, "serial", sequence(computed))])

    @property
    def _may_be_none(self) -> bool:
        """Whether there may be no steps but the first."""
        first, last = self.inits[0].dims[0], self.states[0].dims[0]
        return not (isinstance(first, int) and isinstance(last, int) and first < last)

    @property
    def _time(self) -> IterVar:
        return self.formulas[self.updates[0]].axes[0]


@dataclass(eq=False)
class Scan(External):
    """What `te.scan` makes: a function in which each step is a block, under loops over its axes but for the time's."""

    recipe: Recipe = field(kw_only=True)

    def inlined(self, tensors: Sequence[Tensor]) -> External:
        """The same, where the formulas of `tensors`, which are steps that reduce nothing, stand where they are read."""
        recipe = self.recipe
        for tensor in tensors:
            recipe = recipe.inlined(tensor)
        return self.by(recipe)

    def by(self, recipe: Recipe) -> External:
        """The same by another recipe, which reads nothing else."""
        return recipe.scan().redirected(dict(zip(self.recipe.inputs, self.inputs, strict=True)))


@dataclass(frozen=True)
class _Step:
    """A formula's blocks: what they are called, the formula's axes, what the first of them is at a time, and its kind.
    They may never run where `may_be_none`."""

    name: str
    axes: tuple[IterVar, ...]
    time: Slot
    kind: IterKind
    may_be_none: bool

    def block(self, suffix: str, reduced: Sequence[IterVar], body: Callable[[_Iterators], Stmt]) -> Stmt:
        """A block in loops over all axes but the first, and over those that are `reduced`."""
        first, *others = (*self.axes, *reduced)
        at = _Iterators((first, *others))
        loops = {axis: Slot(axis.name, index) for axis in others}
        iterators = [BlockIterVar(first.dim, at.of[first], self.kind, partial=True)]
        iterators += [
            BlockIterVar(
                axis.dim, at.of[axis], IterKind.REDUCE if axis.reduce else IterKind.SPATIAL, partial=self.may_be_none
            )
            for axis in others
        ]
        values: list[Expr] = [self.time, *loops.values()]
        nest: Stmt = BlockRealize(values, True, Block(iterators, [], [], f"{self.name}{suffix}", body(at)))
        for axis, loop in reversed(loops.items()):
            nest = For(loop, 0, dim_expr(axis.dim), "serial", nest)
        return nest


class _Iterators:
    """The iterators of a block, for axes."""

    def __init__(self, axes: Sequence[IterVar]):
        self.of = {axis: Slot(f"v{axis.name}", index) for axis in axes}
        self.values: dict[Expr, Expr] = {
            axis: iterator + axis.start if axis.start else iterator for axis, iterator in self.of.items()
        }

    def value(self, expr: Expr) -> Expr:
        return substitute(expr, self.values)

    def places(self, axes: Sequence[IterVar]) -> list[Expr]:
        return [self.values[axis] for axis in axes]


def _computed(compute: Compute, buffer: Buffer, step: _Step) -> list[Stmt]:
    """One step of a formula. A reduction begins in loops of its own."""
    body, axes = compute.body, compute.axes
    if not isinstance(body, Reduce):
        return [step.block("", (), lambda at: BufferStore(buffer, at.value(body), at.places(axes)))]
    first = first_value(body)

    def more(at: _Iterators) -> Stmt:
        places = at.places(axes)
        combined = binary(COMBINER[body.kind], BufferLoad(buffer, places), at.value(body.operand))
        return BufferStore(buffer, combined, places)

    begins = step.block("_init", (), lambda at: BufferStore(buffer, at.value(first), at.places(axes)))
    return [begins, step.block("", body.axes, more)]


def _nest(axes: Sequence[IterVar], body: Stmt) -> Stmt:
    for axis in reversed(axes):
        body = For(axis, dim_expr(axis.start), dim_expr(axis.dim), "serial", body)
    return body


def _reads_before(compute: Compute) -> bool:
    """Whether the first steps of a formula surely read what is before the first of a tensor."""
    stack: list[Expr] = [compute.body] if compute.axes else []
    seen = set[Expr]()
    while stack:
        if (expr := stack.pop()) in seen:
            continue
        seen.add(expr)
        if isinstance(expr, Read) and expr.indices and (_steps_back(expr.indices[0], compute.axes[0]) or 0) > 0:
            return True
        stack.extend((expr.condition,) if isinstance(expr, Select) else operands_of(expr))
    return False


def _steps_back(at: Expr, time: IterVar) -> int | None:
    """How many steps before `time` an index is; `None` where that is not known."""
    match at:
        case IterVar():
            return 0 if at is time else None
        case Binary(BinaryKind.SUB, lhs, Const(value)) if lhs is time:
            return int(value)
        case Binary(BinaryKind.ADD, lhs, Const(value)) if lhs is time:
            return -int(value)
        case _:
            return None

"""`te.scan`: tensors of which each step is made of steps before it, along the first dimension.

    s = te.placeholder((steps, n))                                      # the result, as its own formula reads it
    init = te.compute((1, n), lambda _, i: x[0, i])
    update = te.compute((steps, n), lambda t, i: s[t - 1, i] + x[t, i])
    total = te.scan(init, update, s)                                    # sums along the steps

The steps of `init` come first; after them, each step is computed whole, and before the next: what lies between the
result and its formula, such as a hidden layer, step by step too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ..support.arguments import checked
from ..support.diagnostics import UsageError
from ..tir.nodes.buffers import Allocate, Buffer, BufferLoad, BufferStore
from ..tir.nodes.prim_func import function_of
from ..tir.nodes.statements import For, Stmt, sequence
from .dims import dim_expr, same
from .expr import Binary, Const, Expr, IterVar, binary
from .external import External
from .kinds import BinaryKind
from .reduction import COMBINER, Fold, Reduce, reduce_identity
from .tensor import Compute, Filled, Read, Tensor, topological_order


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
    return _Scan(name, inits, updates, states).tensors()


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


class _Scan:
    def __init__(self, name: str, inits: Sequence[Tensor], updates: Sequence[Tensor], states: Sequence[Tensor]):
        self.name, self.inits, self.updates, self.states = name, inits, updates, states
        self.steps: list[Tensor] = []
        """What is computed step by step: the updates, and what is made of states on the way to them."""
        self.inputs: dict[Tensor, None] = dict.fromkeys(inits)
        known: set[Tensor] = {*states}
        for tensor in topological_order(updates):
            producer = tensor.producer
            if producer is not None and any(each in known for each in producer.inputs()):
                known.add(tensor)
            if producer is not None and (tensor in known or tensor in updates):
                self.steps.append(tensor)
        own = {*self.steps, *states}
        for tensor in self.steps:
            assert tensor.producer is not None
            self._check_reads(tensor, tensor.producer)
            self.inputs.update(dict.fromkeys(each for each in tensor.producer.inputs() if each not in own))

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
            elif read.tensor in self.steps and read.indices[0] is not time:
                raise UsageError(
                    f"te: {self.name}: '{tensor.name}' reads '{read.tensor.name}' at {read.indices[0]}",
                    hint=f"what is computed in each step is read in that step: {read.tensor.name}[{time.name}, ...]",
                )

    def tensors(self) -> Tensor | list[Tensor]:
        """The results."""
        several = len(self.states) > 1
        shapes = [
            (state.dims, state.element_type, f"{self.name}.v{number}" if several else self.name)
            for number, state in enumerate(self.states)
        ]
        taken = {tensor: Buffer(tensor.name, tensor.dims, tensor.element_type) for tensor in self.inputs}
        results = [Buffer(name, dims, type) for dims, type, name in shapes]
        buffers = {**taken, **dict(zip(self.states, results, strict=True))}
        for tensor in self.steps:
            number = self.updates.index(tensor) if tensor in self.updates else None
            buffers[tensor] = (
                Buffer(tensor.name, tensor.dims, tensor.element_type) if number is None else results[number]
            )
        body = self._body(buffers, results)
        for tensor in self.steps:
            if tensor not in self.updates:
                body = Allocate(buffers[tensor], body)
        axes = (tensor.producer.axes for tensor in self.steps if tensor.producer is not None)
        times: dict[Expr, Expr] = {each[0]: self._time for each in axes}
        parameters = [*taken.values(), *results]
        function, symbols = function_of(parameters, body, self.name, buffers, times)
        made = External(function, tuple(self.inputs), tuple(shapes), symbols).results()
        return made if several else made[0]

    @property
    def _time(self) -> IterVar:
        producer = self.updates[0].producer
        assert producer is not None
        return producer.axes[0]

    def _body(self, buffers: dict[Tensor, Buffer], results: Sequence[Buffer]) -> Stmt:
        copies: list[Stmt] = []
        for init, result in zip(self.inits, results, strict=True):
            axes = [IterVar(f"i{number}", dim) for number, dim in enumerate(init.dims)]
            copies.append(_nest(axes, BufferStore(result, Read(init, tuple(axes)), axes)))
        computed: list[Stmt] = []
        for tensor in self.steps:
            assert tensor.producer is not None
            computed.append(_computed(tensor.producer, buffers[tensor]))
        first, last = dim_expr(self.inits[0].dims[0]), dim_expr(self.states[0].dims[0])
        return sequence([*copies, For(self._time, first, last - first, "serial", sequence(computed))])


def _computed(compute: Compute, buffer: Buffer) -> Stmt:
    """One step of a formula."""
    body, axes = compute.body, compute.axes
    if not isinstance(body, Reduce):
        return _nest(axes[1:], BufferStore(buffer, body, axes))
    start = BufferStore(buffer, reduce_identity(body.kind, body.type), axes)
    more = binary(COMBINER[body.kind], BufferLoad(buffer, axes), body.operand)
    return _nest(axes[1:], sequence([start, _nest(body.axes, BufferStore(buffer, more, axes))]))


def _nest(axes: Sequence[IterVar], body: Stmt) -> Stmt:
    for axis in reversed(axes):
        body = For(axis, dim_expr(axis.start), dim_expr(axis.dim), "serial", body)
    return body


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

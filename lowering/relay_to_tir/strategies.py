"""Other ways to compute operators, chosen for each operator by target, predicate and priority.

    @weft.strategies.register("nn.softmax", target="llvm", when=lambda op, target: op.axis.value.data == -1)
    def rowwise_softmax(op, x):
        return te.compute(...)

What an operator's class says, its `compute`, has priority 10. Of what is registered for the operator and fits, that of
the highest priority computes it, and of equals the first; `lower-te` says in remarks which was taken, and why others
were not. With a `schedule`, what it does to the function stands beside it as a `schedule.sequence`, to be read, edited
and applied like any other. Counterpart of TVM's `OpStrategy` and `OpSpecialization`.

A lowering makes all of a fused function: `@weft.strategies.register_lowering`, the counterpart of TVM's
`relay.backend.lower`. It gives a `tir.prim_func`, or `None` for functions that are none of its business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr

from ...dialects import te
from ...dialects.relay import Relay
from ...dialects.relay.base import RelayOp, flatten_types
from ...dialects.relay.computing import compute_results
from ...dialects.relay.core import FuncOp
from ...dialects.schedule.core import SequenceOp
from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import Diagnostic, UsageError, did_you_mean
from ...dialects.support.plugins import note_change, warn
from ...dialects.support.plugins import strategies as installed_strategies
from ...dialects.support.verifier import verify
from ...dialects.tir.core import PrimFuncOp
from ...transforms.infra import remarks
from ...transforms.infra.registry import all_dialects
from .te_expressions import signless

if TYPE_CHECKING:
    from ..machine.target import Target

Compute: TypeAlias = Callable[..., "te.Tensor | Sequence[te.Tensor]"]
Lower: TypeAlias = "Callable[[FuncOp, Target], PrimFuncOp | None]"
C = TypeVar("C", bound=Compute)
L = TypeVar("L", bound=Lower)

OWN_PRIORITY = 10
"""Of the `compute` of an operator's class."""

USUAL_PRIORITY = 15
"""Of what is registered without a word about it."""


@checked_methods
@dataclass(frozen=True)
class Implementation:
    """A way to compute an operator: `compute(op, *inputs)` gives tensors of its results' shapes and types.

    Args:
        operator: as it is printed, `relay.nn.softmax`, or without `relay.`.
        compute: takes the operation, and a tensor for each operand (tuples are opened).
        name: what remarks call it.
        priority: above 10 to come before the operator's own.
        target: the kinds of targets that it is for, or their keys, `llvm` or `("llvm", "gpu")`; all, unless given.
        features: what the processor must have, as `avx512f`.
        when: whether it is for an operation, on a target.
        schedule: schedules the function that the operator is fused into.
    """

    operator: str
    compute: Callable[..., object]
    name: str
    priority: int = USUAL_PRIORITY
    target: str | tuple[str, ...] | None = None
    features: tuple[str, ...] = ()
    when: Callable[..., bool] | None = None
    schedule: Callable[..., object] | None = None

    def refusal(self, op: RelayOp, target: Target) -> str | None:
        """Why it is not for an operation on a target."""
        if (refusal := refusal_of_target(target, self.target, self.features)) is not None:
            return refusal
        if self.when is not None and not self.when(op, target):
            return "its condition does not hold"
        return None


def refusal_of_target(target: Target, wanted: str | tuple[str, ...] | None, features: Sequence[str] = ()) -> str | None:
    """Why what is for targets of the kinds or keys `wanted`, with these features, is not for a target."""
    kinds = (wanted,) if isinstance(wanted, str) else wanted
    if kinds is not None and not {target.kind, *target.keys}.intersection(kinds):
        return f"it is for {' and '.join(kinds)}, and this is {target.kind}"
    if features and (missing := sorted(set(features) - set(target.platform().features))):
        return f"the processor has no {', '.join(missing)}"
    return None


@dataclass
class _Registry:
    implementations: dict[str, list[Implementation]] = field(default_factory=dict[str, "list[Implementation]"])
    lowerings: list[Lower] = field(default_factory=list[Lower])
    asked: bool = False


_REGISTRY = _Registry()


@checked
def register(
    operator: str,
    *,
    name: str | None = None,
    priority: int = USUAL_PRIORITY,
    target: str | tuple[str, ...] | None = None,
    features: Sequence[str] = (),
    when: Callable[..., bool] | None = None,
    schedule: Callable[..., object] | None = None,
) -> Callable[[C], C]:
    """Make a function an implementation of an operator: see `Implementation`.

    Raises (when the function is there):
        UsageError: there is no such operator, or it has another implementation of this name.
    """

    def added(compute: C) -> C:
        called = name or getattr(compute, "__name__", "unnamed")
        add(Implementation(operator, compute, called, priority, target, tuple(features), when, schedule))
        return compute

    return added


@checked
def add(implementation: Implementation) -> None:
    """Make an implementation known.

    Raises:
        UsageError: there is no such operator, or it has another implementation of this name.
    """
    note_change("an implementation")
    _add(implementation)


def _add(implementation: Implementation) -> None:
    operator = operator_name(implementation.operator)
    known = _REGISTRY.implementations.setdefault(operator, [])
    if any(each.name == implementation.name for each in known):
        raise UsageError(
            f"'{operator}' has an implementation '{implementation.name}' already", hint="give it another name"
        )
    known.append(implementation)


@checked
def remove(operator: str, name: str) -> None:
    """Forget an implementation, if there is one of that name."""
    note_change("")
    known = _REGISTRY.implementations.get(operator_name(operator), [])
    known[:] = [each for each in known if each.name != name]


@checked
def implementations(operator: str) -> list[Implementation]:
    """What there is for an operator beside its own `compute`, the highest priority first."""
    known = _known().implementations.get(operator_name(operator), [])
    return sorted(known, key=lambda each: -each.priority)


@checked
def register_lowering(lower: L) -> L:
    """Let a function lower fused functions: it is given a `relay.func` and the target, and gives a `tir.prim_func` of
    the same inputs and outputs, or `None`. Those registered later are asked first."""
    note_change("a lowering")
    _REGISTRY.lowerings.append(lower)
    return lower


@checked
def remove_lowering(lower: Callable[..., object]) -> None:
    """Forget a lowering."""
    note_change("")
    _REGISTRY.lowerings[:] = [each for each in _REGISTRY.lowerings if each is not lower]


def operator_name(name: str) -> str:
    """The full name of an operator that computes.

    Raises:
        UsageError: there is none of that name.
    """
    relay = {op.name for op in Relay.operations if issubclass(op, RelayOp)}
    for full in (f"relay.{name}", name):
        if full in relay:
            return full
    dialects, (dialect, _, _) = all_dialects(), name.partition(".")
    if dialect in dialects and any(op.name == name for op in dialects[dialect]().operations):
        return name
    hint = did_you_mean(f"relay.{name.removeprefix('relay.')}", relay)
    raise UsageError(f"there is no operator '{name}'", hint=hint)


def is_empty() -> bool:
    """Whether operators are computed by what their classes say, and by nothing else."""
    known = _known()
    return not known.lowerings and not any(known.implementations.values())


def _known() -> _Registry:
    """The registry, with what installed packages bring."""
    if not _REGISTRY.asked:
        _REGISTRY.asked = True
        for title, value in installed_strategies():
            given = list(cast("Iterable[object]", value)) if isinstance(value, list | tuple) else [value]
            for each in given:
                try:
                    if isinstance(each, Implementation):
                        _add(each)
                    elif callable(each):
                        _REGISTRY.lowerings.append(cast("Lower", each))
                    else:
                        warn(title, f"{type(each).__name__} is no weft.strategies.Implementation")
                except UsageError as error:
                    warn(title, error.message)
    return _REGISTRY


@dataclass
class Chosen:
    """What computes the operators of one function: asked for each, in order."""

    target: Target
    pass_name: str
    schedules: list[tuple[Implementation, RelayOp]] = field(
        default_factory=list["tuple[Implementation, RelayOp]"], init=False
    )
    """The implementations taken that have a schedule."""

    def compute(self, op: RelayOp, inputs: Sequence[te.Tensor]) -> list[te.Tensor]:
        """The tensors of an operator, by the implementation of the highest priority that fits.

        Raises:
            Diagnostic: it does not compute what the operator declares.
        """
        for each in self._candidates(op):
            if each.priority <= OWN_PRIORITY:
                break
            if each.schedule is not None:
                self.schedules.append((each, op))
            remarks.passed(self.pass_name, op, f"'{each.name}' of priority {each.priority} computes it")
            try:
                return compute_results(op, inputs, partial(cast("Compute", each.compute), op))
            except NotImplementedError as error:
                raise Diagnostic.at(op, f"'{each.name}' cannot compute it: {error}") from error
        return compute_results(op, inputs)

    def _candidates(self, op: RelayOp) -> Iterator[Implementation]:
        for each in implementations(op.name):
            if (refusal := each.refusal(op, self.target)) is None:
                if each.priority <= OWN_PRIORITY:
                    refusal = f"its priority is {each.priority}, and that of the operator's own {OWN_PRIORITY}"
                else:
                    yield each
                    return
            remarks.missed(self.pass_name, op, f"'{each.name}' of priority {each.priority} is not taken: {refusal}")


def scheduled(func: PrimFuncOp, chosen: Chosen) -> SequenceOp | None:
    """What the schedule of the implementation of the highest priority that has one does to a copy of a function.

    Raises:
        Diagnostic: it does not apply.
    """
    if not chosen.schedules:
        return None
    from ...transforms.infra.walk import clone
    from ...transforms.tir.schedule.errors import ScheduleError
    from ...transforms.tir.scheduling.schedule import Schedule

    implementation, op = max(chosen.schedules, key=lambda pair: pair[0].priority)
    assert implementation.schedule is not None
    schedule = Schedule(ModuleOp([clone(func)]))
    try:
        implementation.schedule(schedule)
    except ScheduleError as error:
        raise Diagnostic.at(op, f"the schedule of '{implementation.name}' does not apply: {error.message}") from error
    sequence = schedule.trace.op.clone()
    sequence.properties["sym_name"] = StringAttr(f"{func.sym_name.data}_{implementation.name}")
    return sequence


def lowered_by_hand(function: FuncOp, target: Target, pass_name: str) -> PrimFuncOp | None:
    """What a registered lowering makes of a function, if one does.

    Raises:
        Diagnostic: it gives something else than a function of the same inputs and outputs.
    """
    for lower in reversed(_known().lowerings):
        given = cast("object", lower(function, target))
        if given is None:
            continue
        called = getattr(lower, "__name__", "a lowering")
        if not isinstance(given, PrimFuncOp):
            raise Diagnostic.at(function, f"'{called}' gives {type(given).__name__}, and no tir.prim_func")
        verify(ModuleOp([given.clone()]))
        types = [*(a.type for a in function.body.block.args), *(v.type for v in function.return_op.arguments)]
        wanted = [MemRefType(signless(type.element_type), type.get_shape()) for type in flatten_types(types)]
        taken = list(given.function_type.inputs)
        if taken != wanted:
            told, asked = ", ".join(map(str, taken)), ", ".join(map(str, wanted))
            raise Diagnostic.at(function, f"'{called}' gives a function of ({told}), and ({asked}) is called")
        remarks.passed(pass_name, function, f"'{called}' lowers it")
        return given.clone()
    return None

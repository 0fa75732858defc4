"""Mutators: each gives a design that differs from another in one decision of its trace.

What is given is not known to apply: whoever asks applies it to the function, and hears of a `ScheduleError` if not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import cast

from ..dialects.support.diagnostics import UsageError
from ..dialects.tir.core import BlockOp
from ..transforms.tir.scheduling.handles import BlockRV, ExprRV, Handle
from ..transforms.tir.scheduling.instruction import Instruction
from ..transforms.tir.scheduling.sampling import divisors, locations
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.trace import Trace
from .conditions import op_of
from .multi_level_tiling import COOPERATIVE
from .postprocs import EXPLICIT, IMPLICIT
from .rule import Context, Mutator

Draw = Callable[[Random], Trace | None]


class MutateTileSize(Mutator):
    """Moves a factor of a tile to another of its loop, or has threads load another number of elements at once.
    Counterpart of TVM's mutator of this name."""

    def apply(self, trace: Trace, random: Random | None = None) -> Trace | None:
        """With another tile; `None` where there is none to change, or none can."""
        random = random or Random()
        draws: list[Draw] = [
            _tiled(trace, inst, factors)
            for inst, decision in _decided(trace, "SamplePerfectTile")
            if len(factors := cast("list[int]", decision)) > 1 and max(factors) > 1
        ]
        draws += [_another(trace, inst) for inst in _sampled_for(trace, (COOPERATIVE,))]
        return random.choice(draws)(random) if draws else None


def _tiled(trace: Trace, inst: Instruction, tile: Sequence[int]) -> Draw:
    """What moves a factor from one part of a tile to another; the innermost part stays as large as it may be."""
    most = cast(int, inst.attrs[1])
    moves = [
        (source, to, factor)
        for source, size in enumerate(tile)
        for to in range(len(tile))
        for factor in divisors(size)[1:]
        if to != source and (to < len(tile) - 1 or most == -1 or factor * tile[to] <= most)
    ]

    def draw(random: Random) -> Trace | None:
        if not moves:
            return None
        pairs = sorted({move[:2] for move in moves})
        pair = random.choice(pairs)
        source, to, factor = random.choice([move for move in moves if move[:2] == pair])
        made = list(tile)
        made[source] //= factor
        made[to] *= factor
        return trace.with_decision(inst, made, remove_postproc=True)

    return draw


class MutateUnroll(Mutator):
    """Chooses another number of steps that are written out. Counterpart of TVM's mutator of this name."""

    def apply(self, trace: Trace, random: Random | None = None) -> Trace | None:
        """With another number; `None` where none was sampled."""
        return _one_of(trace, _sampled_for(trace, (EXPLICIT, IMPLICIT)), random or Random())


class MutateThreadBinding(Mutator):
    """Chooses another number of threads that a loop is split for. Counterpart of TVM's mutator of this name."""

    def apply(self, trace: Trace, random: Random | None = None) -> Trace | None:
        """With another number; `None` where none was sampled."""
        sampled: dict[Handle, Instruction] = {}
        split: dict[Handle, Instruction] = {}
        bound: list[Instruction] = []
        for inst in trace.insts:
            match inst.kind.name:
                case "SampleCategorical":
                    sampled[inst.outputs[0]] = inst
                case "Split" if len(inst.inputs) == 3 and inst.inputs[1] is None:
                    factor = inst.inputs[2]
                    if isinstance(factor, ExprRV) and factor in sampled:
                        split[inst.outputs[1]] = sampled[factor]
                case "Bind" if inst.attrs == ["threadIdx.x"]:
                    loop = cast(Handle, inst.inputs[0])
                    bound += [split[loop]] if loop in split else []
                case _:
                    pass
        return _one_of(trace, [inst for inst in bound if inst.decision is not None], random or Random())


@dataclass(eq=False)
class MutateComputeLocation(Mutator):
    """Computes a block in another loop. Counterpart of TVM's mutator of this name."""

    _context: Context | None = field(default=None, init=False, repr=False)

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take the context, which knows what is scheduled."""
        self._context = context

    def apply(self, trace: Trace, random: Random | None = None) -> Trace | None:
        """With another loop; `None` where there is none, or none was sampled.

        Raises:
            ScheduleError: the trace does not apply.
        """
        if self._context is None:
            raise UsageError("it has been told of no function", hint="initialize_with_tune_context tells it")
        random = random or Random()
        sch = Schedule(self._context.mod, seed=random.randrange(1 << 31))
        found: list[tuple[Instruction, list[int]]] = []

        def note(inst: Instruction, inputs: list[object], _attrs: list[object], decision: object) -> object:
            if inst.kind.name == "SampleComputeLocation":
                block = op_of(sch, cast(BlockRV, inputs[0]))
                others = [n for n in locations(block) if n != decision] if isinstance(block, BlockOp) else []
                if others:
                    found.append((inst, others))
            return decision

        trace.apply_to_schedule(sch, remove_postproc=True, decision_provider=note)
        if not found:
            return None
        inst, others = random.choice(found)
        return trace.with_decision(inst, random.choice(others), remove_postproc=True)


def _decided(trace: Trace, kind: str) -> list[tuple[Instruction, object]]:
    """The sampling instructions of a kind that have chosen, with what they have."""
    return [(inst, chosen) for inst, chosen in trace.decisions.items() if inst.kind.name == kind]


def _sampled_for(trace: Trace, keys: Sequence[object]) -> list[Instruction]:
    """The instructions that have sampled the value of an annotation of one of these keys."""
    wanted = {
        inst.inputs[1]
        for inst in trace.insts
        if inst.kind.name == "Annotate" and inst.attrs[0] in keys and isinstance(inst.inputs[1], ExprRV)
    }
    return [inst for inst, _ in _decided(trace, "SampleCategorical") if inst.outputs[0] in wanted]


def _another(trace: Trace, inst: Instruction) -> Draw:
    """What draws another candidate, as likely as the instruction says."""
    likely = [cast(float, each) for each in cast("Sequence[object]", inst.attrs[1])]
    others = [number for number in range(len(likely)) if number != inst.decision and likely[number] > 0]

    def draw(random: Random) -> Trace | None:
        if not others:
            return None
        chosen = random.choices(others, [likely[number] for number in others])[0]
        return trace.with_decision(inst, chosen, remove_postproc=True)

    return draw


def _one_of(trace: Trace, insts: Sequence[Instruction], random: Random) -> Trace | None:
    """Another candidate of one of the instructions; `None` where there is none."""
    return _another(trace, random.choice(insts))(random) if insts else None

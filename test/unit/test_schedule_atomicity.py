"""A primitive of schedules that is refused has changed nothing: neither the module, nor the trace, nor what handles
stand for, nor what is drawn next. Every primitive is called with what it does not take, and with what does not apply.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from random import Random

import pytest
from random_functions import random_function
from schedule_fuzzer import Fuzzer, tile
from tvmscript_texts import refused, scheduled
from xdsl.ir.affine import AffineExpr

from weft.dialects.schedule.blocks import CacheIndexOp, CacheInplaceOp
from weft.dialects.schedule.core import Instruction
from weft.dialects.support.diagnostics import Diagnostic
from weft.tir import BlockRV, ExprRV, IndexMap, LoopRV, Schedule
from weft.transforms.tir.scheduling.handles import Handle
from weft.transforms.tir.scheduling.instruction import INSTRUCTION_KINDS, InstructionKind

FUNCTIONS = 4
"""Random functions that each primitive is called on."""
CALLS = 3
"""Calls of each primitive on each of them."""


class Caller:
    """Calls primitives of a schedule with arguments that are drawn for their names."""

    def __init__(self, seed: int):
        made = random_function(Random(seed), seed % 2 == 1)
        self.random = Random(seed)
        self.schedule = Schedule(made.parse(), seed=seed)
        fuzzer = Fuzzer(self.schedule, seed, threads=seed % 2 == 1)
        self.handles: list[Handle] = [self.schedule.get_block("root")]
        for _ in range(3):  # so that there are handles which have become stale, and loops that run at once
            blocks = self.schedule.get_child_blocks(self.schedule.get_block("root"))
            self.handles += blocks + [loop for block in blocks for loop in self.schedule.get_loops(block)]
            fuzzer.step()
        self.handles.append(self.schedule.sample_categorical([1, 2, 4], [0.5, 0.25, 0.25]))
        other = Schedule(made.parse())
        self.foreign = other.get_child_blocks(other.get_block("root"))
        self.before = self.state()

    def any(self, kind: type[Handle]) -> Handle:
        """A handle, mostly one of a kind that is not stale."""
        fitting = [each for each in self.handles if isinstance(each, kind)]
        live = [each for each in fitting if each.value in self.schedule.state.meanings]
        chosen = self.random.random()
        return self.random.choice(live if live and chosen < 0.7 else fitting if chosen < 0.9 else self.foreign)

    def block(self) -> object:
        """A block; by its name now and then, which asks for it."""
        handle = self.any(BlockRV)
        return handle.value.name_hint or "nobody" if self.random.random() < 0.3 else handle

    def number(self) -> int:
        return self.random.choice([-5, -2, -1, 0, 0, 0, 1, 1, 2, 3, 100])

    def numbers(self) -> list[int]:
        return [self.number() for _ in range(self.random.randrange(4))]

    def one_of(self, *values: object) -> object:
        return self.random.choice(values)

    def call(self, kind: InstructionKind) -> bool:
        """One call of a primitive; whether it was refused."""
        method = getattr(self.schedule, kind.method)
        positional: list[object] = []
        for name, parameter in inspect.signature(method).parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += [self.any(LoopRV) for _ in range(self.random.randrange(4))]
            elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                positional.append(DRAWN[name](self))
        try:
            method(*positional)
        except Diagnostic:
            assert self.state() == self.before, f"{kind.method}({', '.join(map(str, positional))}) was refused"
            return True
        self.before = self.state()
        return False

    def state(self) -> tuple[object, ...]:
        """All that a schedule is: texts, what handles stand for, and the state of what decisions are drawn by."""
        state = self.schedule.state
        stands_for = [state.meanings.get(each.value, state.ended.get(each.value)) for each in self.handles]
        return (
            str(self.schedule.mod),
            str(self.schedule.trace),
            stands_for,
            len(state.meanings),
            state.random.getstate(),
        )


def transposed(*indices: AffineExpr) -> list[AffineExpr]:
    return list(reversed(indices))


def halves(index: AffineExpr) -> list[AffineExpr]:
    return [index // 2, index % 2]


def nowhere(*indices: AffineExpr) -> list[int]:
    return [0]


def parted(outer: AffineExpr, inner: AffineExpr) -> list[object]:
    return [outer, IndexMap.AXIS_SEPARATOR, inner]


DRAWN: dict[str, Callable[[Caller], object]] = {
    "ann_key": lambda c: c.one_of("foo", "", "pragma_auto_unroll_max_step"),
    "ann_val": lambda c: c.one_of(1, "text", None, [1], {"x": 1}, c.any(ExprRV), 1.5, object()),
    "assume_injective_transform": lambda c: False,
    "axis": Caller.number,
    "axis_separators": lambda c: c.one_of(None, [], c.numbers()),
    "block": Caller.block,
    "block_or_loop": lambda c: c.any(Handle),
    "buffer": lambda c: c.one_of(("read", c.number()), ("write", c.number()), "nobody", ("nowhere", 0)),
    "buffer_index": Caller.number,
    "candidates": Caller.numbers,
    "consumer_blocks": lambda c: c.one_of(None, [], [c.block()], [c.block(), c.block()]),
    "cse_thresh": Caller.number,
    "decision": lambda c: c.one_of(None, c.number(), c.numbers()),
    "dtype": lambda c: c.one_of("float16", "int8", "nothing"),
    "factor": Caller.number,
    "factor_axis": Caller.number,
    "factors": lambda c: c.one_of([None, None], c.numbers(), [None, c.number()], [c.any(ExprRV), None]),
    "first": Caller.number,
    "func_name": lambda c: c.one_of(None, "nobody"),
    "index": Caller.number,
    "index_map": lambda c: c.one_of(transposed, halves, nowhere, parted),
    "loop": lambda c: c.any(LoopRV),
    "max_innermost_factor": Caller.number,
    "n": Caller.number,
    "name": lambda c: c.one_of("nobody", "root", ""),
    "number": lambda c: c.one_of(None, c.number()),
    "offset": Caller.number,
    "pad_value": lambda c: c.one_of(None, 0, 1.5, transposed),
    "padding": Caller.numbers,
    "preserve_unit_iters": lambda c: c.one_of(True, False),
    "preserve_unit_loops": lambda c: c.one_of(True, False),
    "probs": lambda c: [0.5] * c.random.randrange(4),
    "read_buffer_index": lambda c: c.one_of(c.number(), "nobody"),
    "storage_scope": lambda c: c.one_of("global", "local", "shared", "", "nowhere"),
    "tensor_intrin": lambda c: c.one_of("nobody", tile("int32", False)),
    "thread_axis": lambda c: c.one_of("threadIdx.x", "blockIdx.y", "nobody"),
    "write_buffer_index": lambda c: c.one_of(c.number(), "nobody"),
}  # fmt: skip
"""What is drawn for a parameter, by its name: every one that a primitive has."""
NEVER_REFUSED = {"enter_postproc"}


def test_what_is_refused_changes_nothing() -> None:
    told: set[str] = set()
    for seed in range(FUNCTIONS):
        caller = Caller(seed)
        for kind in CALLS * INSTRUCTION_KINDS:
            if caller.call(kind):
                told.add(kind.method)
    assert {kind.method for kind in INSTRUCTION_KINDS} - told == NEVER_REFUSED


GATHER = """@T.prim_func
def k(x: T.Buffer((8,), "int32"), y: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("take"):
            v = T.axis.spatial(4, i)
            y[v] = x[(v * 2) % 8] + y[v]
"""


@pytest.mark.parametrize(
    ("op", "properties"), [(CacheIndexOp, {}), (CacheInplaceOp, {"index": 1})], ids=["cache_index", "cache_inplace"]
)
def test_an_instruction_with_handles_for_more_than_it_gives_changes_nothing(
    op: type[Instruction], properties: dict[str, object]
) -> None:
    schedule = scheduled(GATHER)
    take = schedule.get_block("take")
    refused(
        lambda: schedule.apply(op.of(take.value, results=3, scope="global", **properties)),
        schedule,
        "handles here, not 3",
    )

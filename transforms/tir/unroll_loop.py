"""Write the iterations of short loops out, or let them be written out by LLVM.

Before -> after `unroll-loop`:

```mlir
tir.for unrolled %i = 0 to 2 {
  tir.block @b(%v: spatial 2) = [%i] ...

tir.block @b(%v: spatial 2) = [0] ...
tir.block @b(%v_1: spatial 2) = [1] ...
```

Loops of kind `unrolled` are; so are serial ones around nothing but such and blocks, if they have at most
`auto-max-extent` iterations, or at most `auto-max-step` elements are stored in all of them, and at most
`auto-max-depth` are nested; with an `auto-max-extent` of 1 all loops of one iteration. Loops that are annotated with
`pragma_auto_unroll_max_step` or `pragma_unroll_explicit` say so for themselves and what is in them; with `only-pragmas`
all others stay as they are. With `explicit-unroll=false` iterations are not written out: loops become ones of kind
`unrolled`, which carry an annotation for LLVM.

Does not: write out the outermost loop of a nest in which threads have buffers of their own, which reach no further;
look at loops of extents that are symbols, nor at those whose iterations run at the same time. The compiler runs it for
what pragmas ask, and writes nothing out unless one says so: rolled loops compile faster, and LLVM unrolls them.
Counterpart of TVM's UnrollLoop, whose configuration it takes:
`PassContext(config={"tir.UnrollLoop": {"auto_max_step": 16}})`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Block, Operation

from ...dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    OuterBlockOp,
    PrimFuncOp,
    blocks_under,
    enclosing_loops,
)
from ...dialects.tir.legality.bounds import allow_what_is_left_out
from ...dialects.tir.loop_iterators import speaks_of_loops
from ..infra import PrimFuncPass, report_changed
from ..infra.remarks import missed, passed
from .analysis.producers import function_of
from .convert_blocks_to_opaque import with_loop_iterators
from .schedule.loops import bind_constant
from .symbolic_partition import clone_with_buffers, erase_with_buffers, handed_on

_PRAGMAS = {"pragma_auto_unroll_max_step": "auto_max_step", "pragma_unroll_explicit": "explicit_unroll"}
"""Annotations of loops that give options for what is in them."""


@dataclass(frozen=True)
class UnrollLoopPass(PrimFuncPass):
    """Write the iterations of short loops out.

    Options: the most stores and the most iterations for which a serial loop is unrolled, how deep such loops are nested
    at most, whether their iterations are written out here, and whether only loops of which a pragma says so are.
    """

    name = "unroll-loop"
    tvm_name = "UnrollLoop"
    auto_max_step: int = 0
    auto_max_depth: int = 8
    auto_max_extent: int = 0
    explicit_unroll: bool = True
    only_pragmas: bool = False
    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {
        "auto_max_step": (0, None),
        "auto_max_depth": (0, None),
        "auto_max_extent": (0, None),
    }

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        unroller = _Unroller(self)
        unroller.visit(func.region.block)
        if unroller.names and not func.symbols:
            allow_what_is_left_out([block for block in blocks_under(func) if block.block_name in unroller.names])
        if unroller.changed:
            passed(self.name, func, f"loops unrolled: {unroller.changed}")
        report_changed(unroller.changed > 0)


@dataclass(frozen=True)
class _Inside:
    """What stands in a loop: the elements that are stored, and the loops that are not unrolled and that are, nested."""

    stores: int = 0
    normal: int = 0
    unrolled: int = 0


class _Unroller:
    def __init__(self, options: UnrollLoopPass):
        self.options = options
        self.changed = 0
        self.names: set[str] = set()
        """Of blocks that have been written out: of one name, others may have had the values that these have now."""

    def visit(self, block: Block) -> _Inside:
        """Unroll what is to be unrolled in `block`, inner loops first."""
        found = [self._operation(op) for op in list(block.ops)]
        return _Inside(
            sum(each.stores for each in found),
            max((each.normal for each in found), default=0),
            max((each.unrolled for each in found), default=0),
        )

    def _operation(self, op: Operation) -> _Inside:
        match op:
            case BlockOp() if not self.options.only_pragmas:
                return _Inside(sum(isinstance(inner, memref.StoreOp) for inner in op.body.walk()))
            case ForOp():
                return self._loop(op)
            case OuterBlockOp():
                return self.visit(op.body.block)
            case _:
                return _Inside()

    def _loop(self, loop: ForOp) -> _Inside:
        around = self.options
        self.options = self._options_of(loop)
        found = self._unroll(loop)
        self.options = around
        return found

    def _options_of(self, loop: ForOp) -> UnrollLoopPass:
        """What holds of a loop, of which that is no longer said."""
        said = {} if loop.annotations is None else dict(loop.annotations.data)
        own: dict[str, int] = {}
        for key, option in _PRAGMAS.items():
            if isinstance(value := said.pop(key, None), IntegerAttr):
                own[option] = value.value.data
        if own:
            self.changed += 1
            loop.annotations = DictionaryAttr(said) if said else None
        return replace(
            self.options,
            only_pragmas=self.options.only_pragmas and not own,
            auto_max_step=own.get("auto_max_step", self.options.auto_max_step),
            explicit_unroll=bool(own.get("explicit_unroll", self.options.explicit_unroll)),
        )

    def _unroll(self, loop: ForOp) -> _Inside:
        inside = self.visit(loop.body.block)
        trips, chosen = loop.size, self.options
        if chosen.only_pragmas:
            return _Inside(inside.stores, inside.normal + 1, inside.unrolled)
        if not isinstance(trips, int) or not trips or loop.body.block.is_empty:  # what does nothing is for remove-no-op
            return _Inside(inside.stores, inside.normal + 1, inside.unrolled)
        is_idle = trips == chosen.auto_max_extent == 1 and not loop.for_kind.is_concurrent
        wanted = loop.for_kind == ForKind.UNROLLED
        if loop.for_kind == ForKind.SERIAL and not inside.normal and inside.unrolled <= chosen.auto_max_depth:
            wanted = trips * inside.stores <= chosen.auto_max_step or trips <= chosen.auto_max_extent
        if not wanted and not is_idle:
            return _Inside(inside.stores, inside.normal + 1, inside.unrolled)
        if (chosen.explicit_unroll or is_idle) and _holds_private_buffers(loop) and not enclosing_loops(loop):
            why = "its iterations are not written out: they would be nests, and a thread's own buffers are for one"
            missed("unroll-loop", loop, why, "unroll a loop within it")
            return _Inside(inside.stores, inside.normal + 1, inside.unrolled)
        if chosen.explicit_unroll or is_idle:
            self.changed += 1
            self.names.update(block.block_name for block in blocks_under(loop))
            write_out(loop)
        elif loop.for_kind == ForKind.SERIAL:
            self.changed += 1
            loop.for_kind = ForKind.UNROLLED
        return _Inside(inside.stores * trips, inside.normal, inside.unrolled + 1)


def _holds_private_buffers(loop: ForOp) -> bool:
    """Whether blocks in `loop` use buffers of a thread's own, which reach no further than one nest."""
    buffers = (buffer.owner for block in blocks_under(loop) for buffer in (*block.reads, *block.writes))
    return any(isinstance(alloc, AllocBufferOp) and alloc.is_private for alloc in buffers)


def write_out(loop: ForOp) -> None:
    """Let the iterations of a loop stand one after the other, each with private buffers of its own, but for those in
    which one may find what another has left."""
    assert loop.parent is not None
    arguments = function_of(loop).region.block.args
    opaque = [speaks_of_loops(block) for block in blocks_under(loop)]
    shared = handed_on(loop)
    for value in range(loop.start, loop.start + loop.trip_count):
        copy = clone_with_buffers(loop, shared)
        loop.parent.insert_op_before(copy, loop)
        copy.for_kind = ForKind.SERIAL
        copy.properties.pop("annotations", None)
        copy.properties["min"] = type(copy.min)(value, copy.min.type)
        copy.trip_count = 1
        blocks = blocks_under(copy)
        bind_constant(copy)
        for block, was_opaque in zip(blocks, opaque, strict=True):
            if was_opaque and not speaks_of_loops(block):
                with_loop_iterators(block, arguments)
    erase_with_buffers(loop)

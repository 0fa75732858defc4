"""Run a `tir.prim_func` on NumPy arrays, scheduled or not: the meaning of `tir`, and the oracle of schedules.

The function is written as Python, loop for loop and operation for operation, and called. It runs what stands there and
trusts nothing: every access is checked against its buffer and every iterator against its extent; an element that is
read must have been written; at the end, every element of an output must have been.

    tir.for parallel %i = 0 to 8 {              for v3 in unordered(range(0, 8)):
      tir.block @double(%vi: spatial 8) = [%i]    v4 = v3
                                                  if not 0 <= v4 < 8: ...
        %0 = memref.load %x[%vi]                  v5 = v1[v4] ...

Loops run in their order. With a `seed`, those whose iterations are not ordered (parallel, vectorized, thread_binding)
run in a random one. Where it is not proved of such a loop that its iterations are independent, it is noted which of
them touches which element (`races.py`), and a race is an error, whatever the order. A `local` buffer is each thread's
own: what stands in it is lost where a nest of the function, or an iteration of a parallel loop around its uses, begins.
Threads that wait for one another (`tir.storage_sync`) run in turns, each from one barrier to the next (`lockstep.py`).

A function with symbols is run as the one that it is for the sizes at hand (`specialize`).

Slow (about two million scalar operations a second): for tests and for small graphs. It shares nothing with
`te.evaluate`, nor with the lowering to loops.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import numpy as np
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ..support.arguments import checked_methods
from ..support.checks import CheckError
from ..support.dense import array_of
from ..support.diagnostics import Diagnostic, no_memory
from ..support.dtypes import numpy_dtype
from .assumptions import UndefOp, values_of
from .calling import Caller
from .calls import root_of
from .check_texts import access_text, iterator_text
from .core import (
    AddressOfOp,
    AllocBufferOp,
    AssertOp,
    AssumeOp,
    BlockOp,
    CallOp,
    CheckOp,
    ForOp,
    IterKind,
    PrimFuncOp,
    memref_of,
)
from .legality.reductions import shared_reductions
from .lockstep import Turns, own
from .loops import BY_THREADS, enclosing_loops
from .narrowing import narrowed
from .outer_blocks import statements_of
from .races import Notes, race, read, written
from .scalar_python import Namespace, expression
from .specialize import sizes_of_call, specialize
from .storage_sync import StorageSyncOp, waits
from .symbols import dimension
from .thread_axes import WARP_AXIS, axis_of, is_of_block, is_of_grid, is_of_warp, is_shared, same_threads_around

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

LONG = 1 << 20
"""Loops of more iterations run no further than their blocks do anything (`narrowing`)."""
LOOPS_IN_A_FUNCTION = 12
"""Python nests no more than 20 loops in one function; what is deeper is written as functions within functions."""


@checked_methods
class Interpreter:
    """A `tir.prim_func`, ready to run: call it with its inputs, as often as wanted."""

    def __init__(self, func: PrimFuncOp):
        """
        Raises:
            Diagnostic: there is an operation in `func` that the interpreter does not know.
        """
        self.func = func
        self.symbolic = bool(func.symbols)
        self._known: dict[tuple[int, ...], Interpreter] = {}
        if self.symbolic:
            return
        writer = _Writer(func)
        self.source = writer.write()
        """The Python that is run."""
        names = writer.names
        exec(compile(self.source, f"<tir @{func.sym_name.data}>", "exec"), names)
        self._run = cast("Callable[..., None]", names["run"])

    def __call__(
        self, inputs: Sequence[NDArray], seed: int | None = None, sizes: Mapping[str, int] | None = None
    ) -> list[NDArray]:
        """The buffers after the first `len(inputs)`, which `inputs` fill; their elements start without a value.

        What the function's symbols are follows from the shapes of the inputs; `sizes` gives others by name.

        Raises:
            CheckError: a check fails, an access lies outside its buffer, an iterator leaves its extent.
            Diagnostic: what was not written is read, an output is not written, two iterations of an unordered loop
                touch an element that one of them writes, an input does not fit, or there is no memory for a buffer.
        """
        try:
            return self._outputs(inputs, seed, sizes)
        except MemoryError as error:
            raise Diagnostic.at(self.func, no_memory(error)) from error

    def _outputs(self, inputs: Sequence[NDArray], seed: int | None, sizes: Mapping[str, int] | None) -> list[NDArray]:
        if self.symbolic:
            return self._at_sizes(inputs, seed, sizes or {})
        arguments = self.func.region.block.args
        if len(inputs) > len(arguments):
            raise Diagnostic.at(self.func, f"{len(inputs)} inputs for {len(arguments)} buffers")
        memories: list[list[Any]] = []
        for position, argument in enumerate(arguments):
            if position >= len(inputs):
                memories.append([None] * prod(memref_of(argument).get_shape()))
                continue
            memories.append(_elements(self.func, argument, inputs[position]))
        shuffle = random.Random(seed) if seed is not None else None

        def unordered(steps: range) -> Iterable[int]:
            return steps if shuffle is None else shuffle.sample(steps, len(steps))

        with np.errstate(all="ignore"):
            self._run(unordered, *memories)
        outputs = zip(arguments[len(inputs) :], memories[len(inputs) :], strict=True)
        return [_array(self.func, argument, memory) for argument, memory in outputs]

    def _at_sizes(self, inputs: Sequence[NDArray], seed: int | None, given: Mapping[str, int]) -> list[NDArray]:
        sizes = sizes_of_call(self.func, [array.shape for array in inputs], given)
        key = tuple(size for _, size in sorted(sizes.items()))
        if (known := self._known.get(key)) is None:
            known = self._known[key] = Interpreter(specialize(self.func, sizes))
        return known(inputs, seed)


def _buffer_name(buffer: SSAValue) -> str:
    return f"%{buffer.name_hint}" if buffer.name_hint else "a buffer"


def _dtype(buffer: SSAValue) -> np.dtype[np.generic]:
    return numpy_dtype(memref_of(buffer).element_type)


def _elements(func: PrimFuncOp, buffer: SSAValue, array: NDArray) -> list[Any]:
    """The elements of an array, row by row; unsigned integers are taken as the signed ones of their bits."""
    type, dtype = memref_of(buffer), _dtype(buffer)
    fits = array.dtype == dtype or (array.dtype.kind == "u" and dtype.kind == "i" and array.itemsize == dtype.itemsize)
    if array.shape != type.get_shape() or not fits:
        raise Diagnostic.at(func, f"{_buffer_name(buffer)} is {type}, not {array.dtype.name}{list(array.shape)}")
    flat = np.ascontiguousarray(array).reshape(-1).view(dtype)
    return [int(x) for x in flat] if dtype.kind in "biu" else list(flat)


def _array(func: PrimFuncOp, buffer: SSAValue, memory: list[Any]) -> NDArray:
    """An output as an array."""
    shape = memref_of(buffer).get_shape()
    for position, value in enumerate(memory):
        if value is None:
            place = [int(i) for i in np.unravel_index(position, shape)]
            raise Diagnostic.at(func, f"@{func.sym_name.data} does not write {_buffer_name(buffer)}{place}")
    array = np.empty(len(memory), _dtype(buffer))
    array[:] = memory
    return array.reshape(shape)


class _Writer:
    """Writes one function as Python. Every SSA value is a variable; a buffer is a list of its elements, row by row, in
    which `None` is what was not written."""

    def __init__(self, func: PrimFuncOp):
        self.func = func
        self.names = Namespace()
        self.names |= {"fail": _fail, "read": read, "written": written, "race": race, "own": own}
        self.lines: list[str] = []
        self.indent = 0
        self.variables: dict[SSAValue, str] = {}
        self.loops = 0
        self.parts = 0
        self.notes = Notes()
        self.private: list[AllocBufferOp] = []
        """The thread-private buffers that are alive here."""
        self.shared: list[AllocBufferOp] = []
        """Those of the threads of a block, or of a warp."""
        self.placed: set[AllocBufferOp] = set()
        """Those of them that are there before the loop over threads in which they stand."""
        self.undefined: set[SSAValue] = set()
        """Values that may be any: what they are stored to has none."""
        self.in_turns = False
        """Whether what is written is a generator, which stops where threads wait."""

    def write(self) -> str:
        block = self.func.region.block
        arguments = ", ".join(self.variable(argument) for argument in block.args)
        self.line(f"def run(unordered, {arguments}):")
        with self.indented():
            for op in statements_of(block):
                self.statement(op)
        return "\n".join(self.lines) + "\n"

    # Text.

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def indented(self) -> Generator[None]:
        """A suite; `pass` where nothing is written."""
        self.indent += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.indent -= 1

    def variable(self, value: SSAValue) -> str:
        return self.variables.setdefault(value, f"v{len(self.variables)}")

    def values(self, values: Iterable[SSAValue]) -> list[str]:
        return [self.variable(value) for value in values]

    def failing(self, op: Operation, kind: str, *values: str) -> str:
        return f"fail({', '.join((repr(kind), self.names.name(op), *values))})"

    # Statements.

    def statement(self, op: Operation) -> None:
        match op:
            case AllocBufferOp():
                self.allocate(op)
            case ForOp():
                self.loop(op)
            case BlockOp():
                self.block(op)
            case StorageSyncOp():
                if self.in_turns:
                    self.line("yield")
            case _:
                raise Diagnostic.at(op, "the interpreter does not know this operation outside of a block")

    def allocate(self, op: AllocBufferOp) -> None:
        if op in self.placed:
            return
        if op.is_private:
            self.private.append(op)
        elif is_shared(op.buffer) or is_of_warp(op.buffer):
            self.shared.append(op)
        if op.value is not None:
            values = _elements(self.func, op.buffer, array_of(op.value))
            self.line(f"{self.variable(op.buffer)} = {self.names.name(values)}")
            return
        self.line(f"{self.variable(op.buffer)} = [None] * {prod(memref_of(op.buffer).get_shape())}")

    def forget(self, buffers: Sequence[AllocBufferOp], under: Operation) -> None:
        """Those of the thread-private `buffers` that are used in `under` lose what stands in them."""
        for alloc in buffers:
            if any(under.is_ancestor(use.operation) for use in alloc.buffer.uses):
                name = self.variable(alloc.buffer)
                self.line(f"{name}[:] = [None] * len({name})")

    def share(self, op: ForOp) -> None:
        """What the threads of a block share, or those of a warp, wherever it stands in `op`, a loop over them, is there
        once for all."""
        warps = axis_of(op) == WARP_AXIS
        for alloc in [inner for inner in op.walk() if isinstance(inner, AllocBufferOp)]:
            if is_shared(alloc.buffer) or (warps and is_of_warp(alloc.buffer)):
                self.allocate(alloc)
                self.placed.add(alloc)

    def loop(self, op: ForOp) -> None:
        if is_of_block(op):
            self.share(op)
        if is_of_block(op) and waits(op):
            self.threads(op)
            return
        kind, saved, alive = op.for_kind, self.loops, len(self.private)
        part = self.loops == LOOPS_IN_A_FUNCTION
        if part:
            self.parts += 1
            self.line(f"def part{self.parts}():")
            self.loops = 0
        name = f"part{self.parts}"
        self.indent += part
        self.loops += 1
        if kind.is_concurrent:
            for line in self.notes.enter(op):
                self.line(line)
        self.line(f"for {self.variable(op.var)} in {self.steps(op)}:")
        with self.indented():
            if kind in BY_THREADS:
                self.forget(self.private, op)
            if is_of_grid(op):
                self.forget(self.shared, op)
            elif self.is_over_warps(op):
                self.forget([alloc for alloc in self.shared if is_of_warp(alloc.buffer)], op)
            for inner in statements_of(op.body.block):
                self.statement(inner)
        if kind.is_concurrent:
            self.notes.leave()
        self.indent -= part
        self.loops = saved
        del self.private[alive:]
        if part:
            self.line(f"yield from {name}()" if self.in_turns and waits(op) else f"{name}()")

    def is_over_warps(self, op: ForOp) -> bool:
        """Whether a loop's iterations are threads that do not run together: each has fragments of its own."""
        return is_of_block(op) and axis_of(op) != WARP_AXIS and same_threads_around(op) is None

    def steps(self, op: ForOp) -> str:
        """The values that a loop's variable takes, in the order in which it does."""
        steps = f"range({op.start}, {op.start + op.trip_count})"
        if op.trip_count > LONG:
            steps = self.narrowed(op)
        if (same := same_threads_around(op)) is not None:
            return f"own({steps}, {self.variable(same.var)} - {same.start})"
        is_ordered = not op.for_kind.is_concurrent or shared_reductions(op)  # which begin with their first step
        return steps if is_ordered else f"unordered({steps})"

    def narrowed(self, op: ForOp) -> str:
        """The values of a loop's variable for which there is something to do."""
        around = [outer.var for outer in enclosing_loops(op)]
        every: dict[SSAValue, AffineExpr] = {var: dimension(number) for number, var in enumerate(around)}
        found = narrowed(op, lambda var: every.setdefault(var, dimension(len(every))))
        names = self.values(around)
        low = ", ".join([str(op.start), *(_affine(each, names) for each in found.lows)])
        end = ", ".join([str(op.start + op.trip_count), *(_affine(each, names) for each in found.ends)])
        return f"range(max([{low}]), min([{end}]))"

    def threads(self, op: ForOp) -> None:
        """A loop whose iterations are threads that wait for one another: a generator for each."""
        saved, alive, outside = self.loops, len(self.private), self.in_turns
        self.parts += 1
        name = f"thread{self.parts}"
        noted = self.notes.enter(op)
        for line in noted:
            self.line(line)
        self.line(f"def {name}({self.variable(op.var)}):")
        self.loops, self.in_turns = 0, True
        with self.indented():
            of_warps = [alloc for alloc in self.shared if self.is_over_warps(op) and is_of_warp(alloc.buffer)]
            for alloc in (*self.private, *of_warps):
                if any(op.is_ancestor(use.operation) for use in alloc.buffer.uses):
                    self.line(f"{self.variable(alloc.buffer)} = [None] * {prod(memref_of(alloc.buffer).get_shape())}")
            for inner in statements_of(op.body.block):
                self.statement(inner)
        names = self.notes.names()
        self.notes.leave()
        self.loops, self.in_turns = saved, outside
        del self.private[alive:]
        turns = f"{self.names.name(Turns(op))}({name}, {self.steps(op)}, [{', '.join(names)}])"
        self.line(f"yield from {turns}" if outside else f"for _ in {turns}: pass")

    def note(self, op: memref.LoadOp | memref.StoreOp, place: str) -> None:
        """Note an access to an element, where iterations of a loop around may meet in it."""
        for loop, call in self.notes.touched(op):
            turn = self.variable(loop.var)
            race = f"race({self.names.name(op)}, {self.names.name(loop)}, {turn}, other, {place})"
            self.line(f"if (other := {call}{place}, {turn})) is not None: raise {race}")

    def block(self, op: BlockOp) -> None:
        loop_vars = self.values(op.loop_vars)
        conditions = [f"{_affine(condition, loop_vars)} >= 0" for condition in op.conditions]
        self.line(f"if {' and '.join(conditions) or 'True'}:")
        with self.indented():
            firsts: list[str] = []
            for number, (iterator, binding) in enumerate(zip(op.iters, op.bindings.data.results, strict=True)):
                name, extent = self.variable(iterator), op.extents[number]
                self.line(f"{name} = {_affine(binding, loop_vars)}")
                self.line(f"if not 0 <= {name} < {extent}: {self.failing(op, 'iterator', str(number), name)}")
                if op.kinds[number] == IterKind.REDUCE:
                    firsts.append(f"{name} == 0")
            if op.init is not None:
                self.line(f"if {' and '.join(firsts)}:")
                with self.indented():
                    for argument, iterator in zip(op.init.block.args, op.iters, strict=True):
                        self.line(f"{self.variable(argument)} = {self.variable(iterator)}")
                    self.operations(op.init.block)
            self.operations(op.body.block)

    # Bodies of blocks.

    def operations(self, block: Block, end: Operation | None = None) -> None:
        """The operations of a block, but for its `end`."""
        for op in block.ops:
            match op:
                case _ if op is end:
                    pass
                case memref.LoadOp():
                    self.load(op)
                case memref.StoreOp():
                    place = self.place(op, op.memref, op.indices)
                    self.note(op, place)
                    value = "None" if op.value in self.undefined else self.variable(op.value)
                    self.line(f"{self.variable(op.memref)}[{place}] = {value}")
                case scf.IfOp():
                    self.choice(op)
                case CheckOp():
                    name, given = self.variable(op.result), self.variable(op.given)
                    self.line(f"{name} = {self.variable(op.at)}")
                    extent = op.limit if isinstance(op.limit, int) else self.variable(op.limit)
                    self.line(f"if not 0 <= {name} < {extent}: {self.failing(op, 'check', given, str(extent))}")
                case AssumeOp():
                    self.line(f"if not {self.variable(op.condition)}: {self.failing(op, 'assume')}")
                case UndefOp():
                    self.undefined |= values_of(op)
                case _ if self.undefined and not self.undefined.isdisjoint(op.results):
                    pass
                case AssertOp():
                    self.line(f"if not {self.variable(op.condition)}: {self.failing(op, 'assert')}")
                case CallOp():
                    self.call(op)
                case AddressOfOp():
                    self.line(f"{self.variable(op.result)} = {self.place(op, op.memref, op.indices)}")
                case scf.WhileOp():
                    self.repeat(op)
                case scf.YieldOp():
                    parent = op.parent_op()
                    assert parent is not None
                    for result, value in zip(parent.results, op.operands, strict=True):
                        self.line(f"{self.variable(result)} = {self.variable(value)}")
                case _:
                    self.scalar(op)

    def scalar(self, op: Operation) -> None:
        text = expression(op, self.values(op.operands), self.names)
        if text is None:
            raise Diagnostic.at(op, "the interpreter does not know this operation")
        self.line(f"{self.variable(op.results[0])} = {text}")

    def load(self, op: memref.LoadOp) -> None:
        place, name = self.place(op, op.memref, op.indices), self.variable(op.res)
        self.note(op, place)
        self.line(f"{name} = {self.variable(op.memref)}[{place}]")
        self.line(f"if {name} is None: {self.failing(op, 'unwritten', *self.values(op.indices))}")

    def place(self, op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]) -> str:
        """Check the indices of an access; the place of the element among those of its buffer."""
        shape, names = memref_of(buffer).get_shape(), self.values(indices)
        for number, (name, extent) in enumerate(zip(names, shape, strict=True)):
            self.line(f"if not 0 <= {name} < {extent}: {self.failing(op, 'outside', str(number), name)}")
        terms = [f"{name} * {prod(shape[d + 1 :])}" for d, name in enumerate(names)]
        return " + ".join(terms) or "0"

    def choice(self, op: scf.IfOp) -> None:
        self.line(f"if {self.variable(op.cond)}:")
        self.region(op.true_region)
        if op.false_region.blocks:
            self.line("else:")
            self.region(op.false_region)

    def repeat(self, op: scf.WhileOp) -> None:
        """`scf.while` as an endless loop that is left where the condition does not hold."""
        for argument, value in zip(op.before_region.block.args, op.arguments, strict=True):
            self.line(f"{self.variable(argument)} = {self.variable(value)}")
        self.line("while True:")
        with self.indented():
            before, after = op.before_region.block, op.after_region.block
            condition = before.last_op
            assert isinstance(condition, scf.ConditionOp)
            self.operations(before, condition)
            given = self.values(condition.args)
            self.assign([*op.results], given)
            self.line(f"if not {self.variable(condition.condition)}: break")
            self.assign([*after.args], given)
            end = after.last_op
            assert isinstance(end, scf.YieldOp)
            self.operations(after, end)
            self.assign([*before.args], self.values(end.operands))

    def assign(self, values: Sequence[SSAValue], given: Sequence[str]) -> None:
        """Give several values at once."""
        if values:
            self.line(f"{', '.join(self.values(values))}, = {', '.join(given)},")

    def call(self, op: CallOp) -> None:
        """A call of what is found now, with the memories of the buffers that it is handed."""
        given = [
            f"({self.variable(root_of(value))}, {self.variable(value) if root_of(value) is not value else '0'})"
            if isinstance(value.type, MemRefType)
            else self.variable(value)
            for value in op.arguments
        ]
        call = f"{self.names.name(Caller(op))}([{', '.join(given)}])"
        self.line(f"{self.variable(op.results[0])} = {call}" if op.results else call)

    def region(self, region: Region) -> None:
        with self.indented():
            self.operations(region.block)


_OPERATORS = {
    AffineBinaryOpKind.Add: "({0} + {1})",
    AffineBinaryOpKind.Mul: "({0} * {1})",
    AffineBinaryOpKind.FloorDiv: "({0} // {1})",
    AffineBinaryOpKind.CeilDiv: "(-(-{0} // {1}))",
    AffineBinaryOpKind.Mod: "({0} % {1})",
}


def _affine(expr: AffineExpr, dims: Sequence[str]) -> str:
    """An affine expression as Python."""
    match expr:
        case AffineConstantExpr(value):
            return str(value) if value >= 0 else f"({value})"
        case AffineDimExpr(position):
            return dims[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            return _OPERATORS[kind].format(_affine(lhs, dims), _affine(rhs, dims))
        case _:
            raise ValueError(f"not over dimensions: {expr}")


def _fail(kind: str, op: Operation, *values: int) -> NoReturn:
    """What a check in the written Python has found.

    Raises:
        Diagnostic: always.
    """
    match op, kind:
        case AssumeOp(), _:
            raise CheckError.of(op, "what is assumed does not hold", 1, 1)
        case AssertOp(), _:
            raise CheckError.of(op, op.text.data, 1, 1)
        case CheckOp(), _:
            raise CheckError.of(op, op.text.data, values[0], values[1])
        case BlockOp(), _:
            number, value = values
            raise CheckError.of(op, iterator_text(op, number), value, op.extents[number])
        case memref.LoadOp() | memref.StoreOp() | AddressOfOp(), "outside":
            number, value = values
            extent = memref_of(op.memref).get_shape()[number]
            raise CheckError.of(op, access_text(op, op.memref, number), value, extent)
        case memref.LoadOp(), _:
            raise Diagnostic.at(op, f"{_buffer_name(op.memref)}{list(values)} is read before it is written")
        case _:
            raise AssertionError(op.name)

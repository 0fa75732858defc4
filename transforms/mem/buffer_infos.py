"""What a module of `tir` functions holds in memory, and when: TVM's `tir.usmp.analysis.extract_buffer_info`.

    found = usmp.analysis.extract_buffer_info(module["run_model"], module)
    places = weft.get_global_func("tir.usmp.algo.greedy_by_size")(list(found.buffer_info_stmts), found.memory_pressure)

`main` calls functions of the module by name (`T.call_extern`), and hands them memory that it allocates. A buffer is
needed from the first statement that touches it, in whatever function, to the last one; if that is in a loop, from the
beginning of the outermost loop on, with all else that the loop touches. What is needed at one time is in conflict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.hints import is_sequence
from ...dialects.support.whole_number import WholeNumber
from ...dialects.te.calls import Call
from ...dialects.te.expr import Expr
from ...dialects.tir.functions import PrimFuncOp
from ...dialects.tir.loops import ForKind
from ...dialects.tir.nodes.buffers import AccessPtr, Allocation, BufferLoad, BufferStore
from ...dialects.tir.nodes.statements import For, Stmt, While
from ...dialects.tir.nodes.stmt_functor import parts_of
from .usmp import CANDIDATE_MEMORY_POOL_ATTR, BufferInfo, PoolInfo, pool_of

ALIGNMENT = 16
"""To how many bytes memory is aligned, of which nothing else is said."""


@dataclass(frozen=True, eq=False)
class BufferInfoAnalysis:
    """The buffers that are to be planned, each with the statement that allocates it, and how many bytes are needed at
    one time, which no plan is smaller than."""

    buffer_info_stmts: Mapping[BufferInfo, Allocation]
    memory_pressure: WholeNumber


@checked
def extract_buffer_info(main_func: PrimFuncOp, mod: ModuleOp) -> BufferInfoAnalysis:
    """The buffers that `main_func`, and the functions of `mod` that it calls, allocate, with their conflicts. Left out
    are those whose extents are not known, and of a loop those of another scope than `"global"`, and all if it is not
    serial, which are a thread's own.

    Raises:
        UsageError: of a buffer nothing says which pools it may lie in (`candidate_memory_pools`), or a function calls
            itself.
    """
    reader = _Reader({op.sym_name.data: op for op in mod.ops if isinstance(op, PrimFuncOp)})
    reader.function(main_func, None, _Around(main_func.sym_name.data, None))
    pressure = _find_conflicts(reader.lives)
    return BufferInfoAnalysis(dict(reader.found), WholeNumber(pressure))


@dataclass(eq=False)
class _Life:
    """When a buffer is needed in one call of the function that allocates it: statements are counted."""

    info: BufferInfo
    start: int
    end: int


@dataclass(frozen=True)
class _Around:
    """Where a statement stands."""

    function: str
    loop: For | None
    """The innermost loop of a counted number of iterations, in the function or around its call."""
    nest_start: int | None = None
    """When the outermost loop began."""
    touched: list[tuple[object, Allocation]] = field(default_factory=list[tuple[object, Allocation]])
    """What is touched in the loop."""


class _Reader:
    def __init__(self, functions: Mapping[str, PrimFuncOp]):
        self.functions = functions
        self.found: dict[BufferInfo, Allocation] = {}
        self.lives: list[_Life] = []
        self._now = 0
        self._infos: dict[Allocation, BufferInfo] = {}
        self._memory: dict[Expr, tuple[object, Allocation]] = {}
        """For each variable of memory what it is that of, and the call in which that was allocated."""
        self._life: dict[tuple[object, Allocation], _Life] = {}
        self._names: dict[str, int] = {}
        self._calls: list[str] = []

    def function(self, func: PrimFuncOp, call: object, around: _Around) -> None:
        """Read what a call of a function does."""
        name = func.sym_name.data
        if name in self._calls:
            raise UsageError(f"@{name} calls itself, so that its memory is of no known size")
        self._calls.append(name)
        self._statement(func.body, call, replace(around, function=name))
        self._calls.pop()

    def _statement(self, statement: Stmt, call: object, around: _Around) -> None:
        self._now += 1
        match statement:
            case Allocation():
                self._allocate(statement, call, around)
            case BufferStore(buffer):
                self._touch(buffer.data, around)
            case _:
                pass
        if isinstance(statement, For | While):
            self._loop(statement, call, around)
        else:
            self._parts(statement, call, around)

    def _parts(self, node: Stmt | Expr, call: object, around: _Around) -> None:
        for part in parts_of(node):
            if isinstance(part, Stmt):
                self._statement(part, call, around)
            else:
                self._expression(part, call, around)

    def _expression(self, expr: Expr, call: object, around: _Around) -> None:
        if isinstance(expr, BufferLoad | AccessPtr):
            self._touch(expr.buffer.data, around)
        if isinstance(expr, Call) and expr.word == "call_extern" and expr.name in self.functions:
            self._call(expr, self.functions[expr.name], around)
        else:
            self._parts(expr, call, around)

    def _call(self, call: Call, func: PrimFuncOp, around: _Around) -> None:
        """A call of a function of the module: its parameters are what they are given. Numbers are read for it."""
        for param, given in zip(func.params, call.args, strict=False):
            if isinstance(given, AccessPtr):
                memory = self._memory.get(given.buffer.data)
                self._memory.pop(param, None)  # what another call gave it
                if memory is not None:
                    self._memory[param] = memory
            elif isinstance(given, Expr):
                self._expression(given, call, around)
        self.function(func, call, around)

    def _loop(self, loop: For | While, call: object, around: _Around) -> None:
        begin = self._now if around.nest_start is None else around.nest_start
        inside = _Around(around.function, loop if isinstance(loop, For) else around.loop, begin)
        self._parts(loop, call, inside)
        for key in inside.touched:
            life = self._life[key]
            life.start = min(life.start, begin)  # so all that the loop touches is needed at one time

    def _allocate(self, memory: Allocation, call: object, around: _Around) -> None:
        is_serial = around.loop is None or (around.loop.kind == ForKind.SERIAL and memory.buffer.scope() == "global")
        size = _bytes_of(memory)
        if not is_serial or size is None:
            return
        if memory not in self._infos:
            self._infos[memory] = info = BufferInfo(self._free(memory.buffer.name), size, _pools(memory), ALIGNMENT)
            self.found[info] = memory
        self._memory[memory.buffer_var] = call, memory

    def _free(self, name: str) -> str:
        """The name, with a number behind it where it is taken."""
        while name in self._names:
            self._names[name] += 1
            name = f"{name}{self._names[name]}"
        self._names[name] = 0
        return name

    def _touch(self, data: Expr, around: _Around) -> None:
        if (key := self._memory.get(data)) is None:
            return
        if (life := self._life.get(key)) is None:
            life = self._life[key] = _Life(self._infos[key[1]], self._now, self._now)
            self.lives.append(life)
        life.end = max(life.end, self._now)
        around.touched.append(key)


def _bytes_of(memory: Allocation) -> int | None:
    """How large memory is; `None` where that is not known."""
    shape = memory.buffer.shape
    type = memory.buffer.type
    if not all(isinstance(each, int) for each in shape) or not isinstance(type, FixedBitwidthType):
        return None
    return prod(int(each) for each in shape if isinstance(each, int)) * type.size


def _pools(memory: Allocation) -> list[PoolInfo]:
    told = memory.annotations.get(CANDIDATE_MEMORY_POOL_ATTR)
    pools = [pool_of(each) for each in told] if is_sequence(told) else []
    if not pools:
        hint = f"annotations={{'{CANDIDATE_MEMORY_POOL_ATTR}': [pool]}} of its tir.Allocate"
        raise UsageError(f"nothing says which pools '{memory.buffer.name}' may lie in", hint=hint)
    return pools


def _find_conflicts(lives: Sequence[_Life]) -> int:
    """Say of each buffer which others are needed when it is, and give how many bytes are needed at one time at most."""
    begins = sorted(lives, key=lambda life: life.start)
    alive: list[_Life] = []
    conflicts: dict[BufferInfo, dict[BufferInfo, None]] = {life.info: {} for life in lives}
    most = 0
    for life in begins:
        alive = [each for each in alive if each.end >= life.start]
        for other in alive:
            if other.info is not life.info:
                conflicts[other.info][life.info] = None
                conflicts[life.info][other.info] = None
        alive.append(life)
        most = max(most, sum(info.size_bytes for info in dict.fromkeys(each.info for each in alive)))
    for info, others in conflicts.items():
        info.set_conflicts(list(others))
    return most

"""Functions as trees of nodes, by TVM's names: what a `tir.prim_func` is made of, to be looked at and changed.

    func.body                                   # For(i, 0, 16, "serial", BlockRealize([i], True, Block(...)))
    func.with_body(tir.stmt_functor.substitute(func.body, {x: y}))

A tree is read anew each time that it is asked for; that of a function is the one that was given last as long as nothing
in it has changed. Around blocks stands a root block, which has the function's buffers; where there are none, buffers
are allocated among the statements. A block that was made of statements among loops is those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ArrayAttr, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...support.arguments import checked
from ...support.dense import array_of
from ...support.diagnostics import Diagnostic, UsageError
from ...support.python_values import value_of
from ...te.dims import same
from ...te.expr import Const, Dim, Expr, Slot, as_expr
from ...te.expr import Var as Extent
from ...te.kinds import index
from ...te.spelled import Spelled
from ..argument_order import keep_order
from ..blocks import BlockOp, IterKind
from ..buffers import AllocBufferOp, memref_of, shape_of
from ..functions import PrimFuncOp, Trees
from ..loop_iterators import STATEMENT, speaks_of_loops
from ..loops import ForOp, LoopNodes, enclosing_loops
from ..outer_blocks import OuterBlockOp
from ..storage_sync import StorageSyncOp
from ..symbols import Extent as TirExtent
from ..symbols import as_affine
from . import node_script as node_script  # writes nodes
from .affine_expressions import condition, dim, expression
from .blocks import AllocateConst, Block, BlockRealize, BufferRegion, IterVar, Range
from .body_tree import BodyReader
from .buffers import Allocate, Buffer
from .equality import Forms
from .guards import Guards
from .parameters import parameters
from .prim_func import function_of
from .statements import Evaluate, For, SeqStmt, Stmt, sequence
from .stmt_functor import Substitution, substitute, walk


@checked
def tree_of(op: Operation) -> Stmt:
    """A function, a loop or a block as a statement.

    Raises:
        Diagnostic: something in it is none.
    """
    func = _function_around(op)
    return reading_of(func).tree if op is func else _Reader(func).part(op)


def node_in_tree(op: Operation) -> Stmt:
    """A loop or a block as it stands in its function's tree, a function as its root block. One that the tree shows
    without a block of its own is read by itself.

    Raises:
        Diagnostic: it is in no function, or something in that is no statement.
    """
    func = _function_around(op)
    reading = reading_of(func)
    if (found := reading.nodes.get(op)) is not None:
        return found
    if op is func:
        return Block([], [], [], "root", reading.tree).read_from(func)
    realize = _Reader(func).part(op, as_block=True)
    assert isinstance(realize, BlockRealize)
    return realize.block


def loop_variable(loop: Operation) -> Expr:
    """The variable of a loop in its function's tree.

    Raises:
        Diagnostic: it is in no function, or something in that is no statement.
    """
    node = node_in_tree(loop)
    assert isinstance(node, For)
    return node.loop_var


def _function_around(op: Operation) -> PrimFuncOp:
    func = op
    while not isinstance(func, PrimFuncOp) and (around := func.parent_op()) is not None:
        func = around
    if not isinstance(func, PrimFuncOp):
        raise Diagnostic.at(op, "is in no function, so that its buffers are not known")
    return func


@dataclass(frozen=True, eq=False)
class Reading:
    """A function as nodes, the buffers that its values are, its extents by the numbers of its arguments, and the node
    of each loop and block: the block, where it is one that is realized. The function's own is the root block, if there
    is one."""

    tree: Stmt
    buffers: Mapping[SSAValue, Buffer]
    symbols: Mapping[int, Expr]

    @cached_property
    def nodes(self) -> Mapping[Operation, Stmt]:
        """The node of each loop and block."""
        found: dict[Operation, Stmt] = {}
        for each in walk(self.tree):
            if isinstance(each, For | Block) and each.operation is not None:
                found[each.operation] = each
        return found

    def is_still(self, now: Reading) -> bool:
        """Whether another reading of the same function, later, tells the same."""
        return (
            self.buffers.keys() == now.buffers.keys()
            and list(self.nodes) == list(now.nodes)
            and Forms(False).of(self.tree) == Forms(False).of(now.tree)
            and str(self.tree) == str(now.tree)
        )


_last: WeakKeyDictionary[PrimFuncOp, Reading] = WeakKeyDictionary()


def reading_of(func: PrimFuncOp) -> Reading:
    """A function as nodes: the same ones as the last time, as long as nothing has changed.

    Raises:
        Diagnostic: something in it is no statement.
    """
    reader = _Reader(func)
    now = Reading(reader.whole(), reader.buffers, reader.symbols)
    last = _last.get(func)
    if last is None or not last.is_still(now):
        _last[func] = last = now
    return last


class _Reader:
    """Reads one function."""

    def __init__(self, func: PrimFuncOp):
        self.func = func
        params, buffers = parameters(func)
        arguments = func.region.block.args
        self.symbols: dict[int, Expr] = {}
        self.known: dict[SSAValue, Expr] = {}
        self.buffers: dict[SSAValue, Buffer] = {}
        self.guards = Guards()
        for argument, param in zip(arguments, params, strict=True):
            if param in buffers:
                self.buffers[argument] = buffers[param]
            else:
                self.symbols[argument.index] = self.known[argument] = param

    def whole(self) -> Stmt:
        """The body of the function."""
        ops = list(self.func.region.block.ops)
        own = [op for op in ops if isinstance(op, AllocBufferOp) and op.value is None and not op.annotations]
        for op in own:
            self.buffers[op.buffer] = self._buffer(op)
        body = self._statements([op for op in ops if op not in own])
        if not any(isinstance(each, BlockRealize) for each in walk(body)):
            for op in reversed(own):
                body = Allocate.of(self.buffers[op.buffer], body)
            return body
        root = Block([], [], [], "root", body, None, [self.buffers[op.buffer] for op in own]).read_from(self.func)
        return BlockRealize([], True, root).read_from(self.func)

    def part(self, op: Operation, as_block: bool = False) -> Stmt:
        """A loop or a block in the function; with `as_block` a block also where it is a statement among loops."""
        for alloc in self.func.region.walk():
            if isinstance(alloc, AllocBufferOp) and not op.is_ancestor(alloc):
                self.buffers[alloc.buffer] = self._buffer(alloc)
        for loop in enclosing_loops(op):
            self.known[loop.var] = Slot(loop.var.name_hint or "i", index)
        return self._realized(op) if as_block and isinstance(op, BlockOp) else self._statements([op])

    def _buffer(self, op: AllocBufferOp) -> Buffer:
        shape = [self._extent(each) for each in shape_of(op.buffer)]
        name, element = op.buffer.name_hint or "buffer", memref_of(op.buffer).element_type
        return Buffer(name, shape, element, scope=op.scope.data, axis_separators=op.axis_separators)

    def _extent(self, extent: TirExtent) -> Dim:
        return dim(as_affine(extent), (), self.symbols)

    def _statements(self, ops: Sequence[Operation]) -> Stmt:
        made: list[Stmt] = []
        for number, op in enumerate(ops):
            match op:
                case AllocBufferOp():
                    buffer = self.buffers[op.buffer] = self._buffer(op)
                    rest = self._statements(ops[number + 1 :])
                    value, said = None if op.value is None else array_of(op.value), _values(op.annotations)
                    memory = (
                        Allocate.of(buffer, rest, said)
                        if value is None
                        else AllocateConst.of(buffer, value, rest, said)
                    )
                    return sequence([*made, memory])
                case ForOp():
                    made.append(self._loop(op))
                case BlockOp():
                    made.append(self._block(op))
                case OuterBlockOp():
                    inner = self._statements(list(op.body.block.ops))
                    block = Block([], [], [], op.block_name, inner, annotations=_values(op.attributes))
                    made.append(BlockRealize([], True, block.read_from(op)).read_from(op))
                case StorageSyncOp():
                    made.append(Evaluate(Spelled("tvm_storage_sync", (op.scope.data,), (), i32)))
                case _:
                    raise Diagnostic.at(op, "is no statement outside of a block")
        return sequence(self.guards.joined(made))

    def _loop(self, op: ForOp) -> Stmt:
        variable = Slot(op.var.name_hint or "i", index)
        self.known[op.var] = variable
        body = self._statements(list(op.body.block.ops))
        kind = op.for_kind.value
        thread = None if op.thread is None else op.thread.data
        annotations = None if op.annotations is None else _values(op.annotations.data)
        extent = as_expr(self._extent(op.size), index)
        leaving, body = self.guards.out_of(body, variable)
        loop = For(variable, op.start, extent, kind, body, thread, annotations).read_from(op)
        return self.guards.around(leaving, loop)

    def _iterators(self, op: BlockOp) -> tuple[list[Expr], list[IterVar], list[Expr]]:
        """The variables of the loops that a block is bound to, its iterators, and their values."""
        loops = [self.known[each] for each in op.loop_vars]
        iters = [
            IterVar(self._extent(size), iterator.name_hint or "v", kind, partial=number in op.partial_iters)
            for number, (iterator, size, kind) in enumerate(zip(op.iters, op.sizes, op.kinds, strict=True))
        ]
        return loops, iters, [expression(each, loops, self.symbols) for each in op.bindings.data.results]

    def _block(self, op: BlockOp) -> Stmt:
        """A block, or the statement among loops that it is."""
        if op.block_name == STATEMENT and op.init is None and not op.attributes:
            loops, iters, values = self._iterators(op)
            body = self._body(op, op.body, iters)
            if speaks_of_loops(op) or (
                all(kind == IterKind.OPAQUE for kind in op.kinds) and not isinstance(body, SeqStmt)
            ):
                statement = substitute(body, dict(zip((each.var for each in iters), values, strict=True)))
                return self.guards.around([condition([each], loops, self.symbols) for each in op.conditions], statement)
        return self._realized(op)

    def _realized(self, op: BlockOp) -> BlockRealize:
        """A block as one."""
        loops, iters, values = self._iterators(op)
        body = self._body(op, op.body, iters)
        init = None if op.init is None else self._body(op, op.init, iters)
        reads = self._regions(op.reads, op.read_maps, iters)
        writes = self._regions(op.writes, op.write_maps, iters)
        block = Block(iters, reads, writes, op.block_name, body, init, annotations=_values(op.attributes))
        where = condition(op.conditions, loops, self.symbols)
        return BlockRealize(values, where, block.read_from(op)).read_from(op)

    def _body(self, op: BlockOp, region: Region, iters: Sequence[IterVar]) -> Stmt:
        known = {**self.known, **{value: each.var for value, each in zip(region.block.args, iters, strict=True)}}
        return BodyReader(op, region, known, self.buffers, self.symbols).read()

    def _regions(
        self, buffers: Sequence[SSAValue], maps: ArrayAttr[Attribute], iters: Sequence[IterVar]
    ) -> list[BufferRegion]:
        """What a block touches: an element, or, where data says which, all of the buffer."""
        found: list[BufferRegion] = []
        variables = [each.var for each in iters]
        for value, map in zip(buffers, maps, strict=True):
            buffer = self.buffers[value]
            exprs = cast("Sequence[AffineExpr] | None", getattr(getattr(map, "data", None), "results", None))
            if exprs is None:
                ranges = tuple(Range(as_expr(0, index), extent) for extent in buffer.shape)
            else:
                ranges = tuple(Range(expression(each, variables, self.symbols), 1) for each in exprs)
            found.append(BufferRegion(buffer, ranges))
        return found


def _values(attributes: Mapping[str, Attribute]) -> dict[str, object]:
    return {name: value_of(each) for name, each in attributes.items()}


def with_body(func: PrimFuncOp, body: Stmt) -> PrimFuncOp:
    """A function with other statements."""
    params, buffers = parameters(func)
    return _made(func, [buffers.get(each, each) for each in params], body)


def specialized(func: PrimFuncOp, values: Mapping[Expr, Expr | Buffer | int]) -> PrimFuncOp:
    """A function with some of its parameters known: see `PrimFuncOp.specialize`."""
    params, buffers = parameters(func)
    known: dict[Expr, Expr] = {}
    for param, value in values.items():
        if param not in params:
            raise UsageError(f"{param} is no parameter of '{func.sym_name.data}'", hint="func.params are")
        if param in buffers:
            _match(buffers[param], value, known)
        elif isinstance(value, Buffer):
            raise UsageError(f"'{param}' is a size, and cannot be a buffer")
        else:
            _know(known, param, value)
    changed = Substitution(known)
    kept = [number for number, each in enumerate(params) if each not in known]
    left = [buffers.get(params[number], params[number]) for number in kept]
    body = changed.of(func.body)
    made = _made(func, [changed.buffer(each) if isinstance(each, Buffer) else each for each in left], body)
    keep_order(made, kept)
    return made


def _match(buffer: Buffer, value: object, known: dict[Expr, Expr]) -> None:
    """What the sizes are where a buffer is one of another shape."""
    if not isinstance(value, Buffer):
        raise UsageError(f"'{buffer.name}' is a buffer, and cannot be {value}", hint="tir.decl_buffer")
    if len(value.shape) != len(buffer.shape) or value.dtype != buffer.dtype:
        what = f"{value.dtype} of {len(value.shape)} dimensions"
        raise UsageError(f"'{buffer.name}' is {buffer.dtype} of {len(buffer.shape)} dimensions, and cannot be {what}")
    for own, wanted in zip(buffer.shape, value.shape, strict=True):
        if isinstance(own, Extent):
            _know(known, own, wanted)
    rest = Substitution(known)
    for own, wanted in zip(buffer.shape, value.shape, strict=True):
        if not same(rest.dim(own), rest.dim(wanted)):
            raise UsageError(f"'{buffer.name}' has the extent {own}, which cannot be {wanted}")


def _know(known: dict[Expr, Expr], size: Expr, value: Expr | int) -> None:
    if value is size:
        return
    if isinstance(value, int) and value < 0:
        raise UsageError(f"the size {size} cannot be {value}")
    made = as_expr(value, index)
    if (before := known.setdefault(size, made)) is not made and not same(dim_of(before), dim_of(made)):
        raise UsageError(f"the size {size} cannot be both {before} and {made}")


def dim_of(value: Expr) -> Dim:
    """An extent; a number where it is one."""
    return int(value.value) if isinstance(value, Const) else value


def _made(func: PrimFuncOp, params: Sequence[object], body: Stmt) -> PrimFuncOp:
    given = [each for each in params if isinstance(each, Buffer | Slot | Extent)]
    made, _ = function_of(given, body, func.sym_name.data)
    made.sym_name = func.sym_name
    made.attributes.update(func.attributes)
    return made


Trees.read = staticmethod(tree_of)
Trees.replace_body = staticmethod(with_body)
Trees.know_sizes = staticmethod(specialized)
LoopNodes.variable = staticmethod(loop_variable)
Trees.node = staticmethod(node_in_tree)

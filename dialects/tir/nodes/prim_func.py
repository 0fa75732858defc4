"""`tir.PrimFunc`: a function of statements that Python has put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...te.dims import same
from ...te.expr import Expr, Slot
from ...te.expr import Var as Extent
from ...te.tensor import Tensor
from ..functions import PrimFuncOp
from ..parameter_nodes import keep_nodes
from ..script.parser import from_source
from . import node_script as node_script  # writes nodes
from .buffers import Buffer
from .expressions import Call, Handle
from .ir_builder import BufferVar
from .parameters import names_of, parameters, signature_of
from .pointers import with_extents
from .script import Writer, function_text
from .statements import Evaluate, Stmt
from .stmt_functor import Substitution

FILE = "<statements>"
"""Where what is wrong with a function that is put together is said to stand: in its text."""


class _Functions(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, PrimFuncOp)


class PrimFunc(metaclass=_Functions):
    """Makes a function of statements; `isinstance(f, tir.PrimFunc)` tells functions."""

    @checked
    def __new__(
        cls,
        params: Sequence[Expr | Buffer | BufferVar],
        body: Stmt | Expr,
        ret_type: None = None,
        buffer_map: Mapping[Expr, Buffer] | None = None,
        attrs: Mapping[str, object] | None = None,
        *,
        name: str = "main",
        check_well_formed: bool = False,
    ) -> PrimFuncOp:
        """The function whose parameters are buffers, the variables that `buffer_map` says to be buffers, pointers of a
        builder with a shape, and numbers.

        Buffers, numbers and extents (`te.var`) that nothing in the body gives are parameters after these, in this
        order. With `check_well_formed` the function is verified at once, as `prim_func` says.

        Raises:
            UsageError: a parameter is none of these, or `buffer_map` has what is no parameter.
            Diagnostic: the function has no meaning, or is not well formed, if that is asked; in its text, which the
                message shows.
        """
        known = dict(buffer_map or {})
        if isinstance(body, Expr) and not isinstance(body, Call):
            raise UsageError("the body of a function is a statement, or a call")
        statement, sized = with_extents(body if isinstance(body, Stmt) else Evaluate(body))
        pointers: dict[Expr, Buffer] = {buffer.data: buffer for buffer in sized.values()}
        given: list[Buffer | Slot | Extent] = []
        for each in params:
            found = known.pop(each, pointers.get(each, each)) if isinstance(each, Expr) else each
            found = found.buffer if isinstance(found, BufferVar) else found
            found = sized.get(found, found) if isinstance(found, Buffer) else found
            if isinstance(found, Handle):
                raise UsageError(f"buffer_map does not say which buffer the parameter '{found.name}' is")
            if not isinstance(found, Buffer | Slot | Extent):
                raise UsageError(f"a parameter is a buffer or a variable, and not {found}")
            given.append(found)
        if known:
            raise UsageError(f"buffer_map has {', '.join(map(str, known))}, which is no parameter")
        function, _ = function_of(given, statement, name, check_well_formed=check_well_formed)
        return function.with_attr(dict(attrs)) if attrs else function


def function_of(
    parameters: Sequence[Buffer | Slot | Extent],
    body: Stmt | Call,
    name: str = "main",
    tensors: Mapping[Tensor, Buffer] | None = None,
    aliases: Mapping[Expr, Expr] | None = None,
    names: Mapping[object, str] | None = None,
    check_well_formed: bool = False,
) -> tuple[PrimFuncOp, tuple[Extent, ...]]:
    """The function, and the extents that are parameters after these and after what buffers and numbers nothing else
    gives; `tensors` says which buffers the tensors are
    whose elements are read, `aliases` which variables mean others, `names` what some of them are called."""
    writer = Writer(tensors, aliases)
    called = dict(names or {})
    for each in parameters:
        writer.name(each, called.get(each, each.name))
    for each, wanted in called.items():
        if isinstance(each, Buffer):
            writer.name(each, wanted)
    given = [writer.parameter(each) if isinstance(each, Buffer) else writer.scalar(each) for each in parameters]
    statements = writer.statement(body if isinstance(body, Stmt) else Evaluate(body))
    free = [each for each in writer.free if each not in parameters]
    buffers = [each for each in free if isinstance(each, Buffer)]
    more = [writer.parameter(each) for each in buffers]
    more += [writer.scalar(each) for each in free if isinstance(each, Slot)]
    free = [each for each in writer.free if each not in parameters]  # the extents of buffers, too
    sizes = tuple(each for each in free if isinstance(each, Extent))
    more += [writer.scalar(each) for each in sizes]
    text = function_text(writer.name(writer, name), given, statements, more)
    made = from_source(text, FILE, check_well_formed=check_well_formed)
    assert isinstance(made, PrimFuncOp)
    _keep_nodes(made, {called: node for node, called in writer.names.items()})
    return made, sizes


def _keep_nodes(func: PrimFuncOp, given: Mapping[str, object]) -> None:
    """Let the parameters of a function be the nodes that it was made of, `given` by name, where these say what the
    function says: memory that is laid out in a way of its own is another node."""
    params, buffers = parameters(func)
    made: list[Expr] = []
    kept: dict[Expr, Buffer] = {}
    nodes = {param: given.get(name) for param, name in zip(params, names_of(func), strict=True)}
    ours: dict[Expr, Expr] = {
        param: node for param, node in nodes.items() if isinstance(param, Extent) and isinstance(node, Extent)
    }
    sizes = Substitution({node: param for param, node in ours.items()})
    for param, node in nodes.items():
        if (buffer := buffers.get(param)) is None:
            made.append(ours.get(param, param))
            continue
        if isinstance(node, Buffer) and node.data not in kept and _is_plainly(node, buffer, sizes):
            buffer = node
        kept[buffer.data] = buffer
        made.append(buffer.data)
    keep_nodes(func, signature_of(func), (tuple(made), kept))


def _described(buffer: Buffer) -> tuple[object, ...]:
    """What is said of a buffer beside its extents."""
    return buffer.name, buffer.type, buffer.scope(), buffer.axis_separators


def _is_plainly(node: Buffer, buffer: Buffer, sizes: Substitution) -> bool:
    """Whether a node says no more of memory than a buffer of a function does, if variables are these `sizes` of it."""
    if node.strides is not None or node.elem_offset not in (None, 0):
        return False
    if _described(node) != _described(buffer):
        return False
    shapes = zip(node.shape, buffer.shape, strict=False)
    return len(node.shape) == len(buffer.shape) and all(same(sizes.dim(wanted), own) for wanted, own in shapes)

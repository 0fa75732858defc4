"""`te.extern`: tensors that statements or calls fill, and `te.extern_primfunc`: tensors that a function fills.

C = te.extern((n,), [A, B], lambda ins, outs: tir.call_packed("add", ins[0], ins[1], outs[0]), name="C")

def fill(ins, outs):
    ib = tir.ir_builder.create()
    ...
    return ib.get()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast, overload

from xdsl.dialects.builtin import IntegerType, Signedness, i1
from xdsl.ir import Attribute

from ..support.arguments import checked
from ..support.diagnostics import UsageError
from ..support.hints import isa
from ..tir.argument_order import sort_arguments
from ..tir.blocks import blocks_under
from ..tir.buffers import memref_of
from ..tir.functions import PrimFuncOp
from ..tir.nodes.buffers import Buffer
from ..tir.nodes.expressions import Call
from ..tir.nodes.prim_func import function_of
from ..tir.nodes.statements import Stmt
from .dims import as_dim
from .element_types import DType, element_type
from .expr import Dim
from .external import External, Shape
from .tags import tagged
from .tensor import Tensor


@overload
def extern(
    shape: Dim | Sequence[Dim],
    inputs: Sequence[Tensor],
    fcompute: Callable[[list[Buffer], list[Buffer]], object],
    name: str = ...,
    dtype: DType | None = ...,
    in_buffers: Buffer | Sequence[Buffer] | None = ...,
    out_buffers: Buffer | None = ...,
    tag: str = ...,
    attrs: dict[str, object] | None = ...,
) -> Tensor: ...
@overload
def extern(
    shape: Sequence[Sequence[Dim]],
    inputs: Sequence[Tensor],
    fcompute: Callable[[list[Buffer], list[Buffer]], object],
    name: str = ...,
    dtype: DType | Sequence[DType] | None = ...,
    in_buffers: Buffer | Sequence[Buffer] | None = ...,
    out_buffers: Sequence[Buffer] | None = ...,
    tag: str = ...,
    attrs: dict[str, object] | None = ...,
) -> list[Tensor]: ...


@checked
def extern(
    shape: Dim | Sequence[Dim] | Sequence[Sequence[Dim]],
    inputs: Sequence[Tensor],
    fcompute: Callable[[list[Buffer], list[Buffer]], object],
    name: str = "extern",
    dtype: DType | Sequence[DType] | None = None,
    in_buffers: Buffer | Sequence[Buffer] | None = None,
    out_buffers: Buffer | Sequence[Buffer] | None = None,
    tag: str = "",
    attrs: dict[str, object] | None = None,
) -> Tensor | list[Tensor]:
    """The tensor, or the tensors where `shape` is a list of shapes, that `fcompute(ins, outs)` fills: a statement, or a
    call. It is given a buffer for each tensor, of which `in_buffers` and `out_buffers` may say more.

    The dtype is that of the inputs, where they agree and none is given. `tag` and `attrs` are kept, as by `te.compute`.

    Raises:
        UsageError: a tensor's dtype is not known, or `fcompute` gives something else.
        Diagnostic: what it gives is not well formed.
    """
    shapes = _shapes(shape, name, len(out_buffers) if isinstance(out_buffers, Sequence) else 1)
    types = _types(dtype, inputs, len(shapes))
    several = len(shapes) > 1
    results: list[Shape] = [
        (dims, type, f"{name}.v{number}" if several else name)
        for number, (dims, type) in enumerate(zip(shapes, types, strict=True))
    ]
    given = _buffers([(each.dims, each.element_type, each.name) for each in inputs], in_buffers, "in_buffers")
    filled = _buffers(results, out_buffers, "out_buffers")
    body: object = fcompute(given, filled)
    if not isinstance(body, Stmt | Call):
        what = type(body).__name__
        raise UsageError(f"te: the body of '{name}' is a {what}, and neither a statement nor a call")
    if isinstance(body, Call):
        done = {**dict.fromkeys(given, "r"), **dict.fromkeys(filled, "w")}
        body = replace(body, args=tuple(_accessed(each, done) for each in body.args))
    function, symbols = function_of([*given, *filled], body, name, dict(zip(inputs, given, strict=True)))
    external = External(function, tuple(inputs), tuple(results), symbols)
    made = [tagged(each, tag, attrs) for each in external.results()]
    return made if several else made[0]


def _accessed(argument: object, done: Mapping[Buffer, str]) -> object:
    """An argument of the only call that there is: what it is given it reads, and it fills what is to be filled."""
    for buffer, access in done.items():
        if argument is buffer or argument is buffer.data:
            return buffer.access_ptr(access)
    return argument


def _shapes(shape: object, name: str, count: int) -> list[tuple[Dim, ...]]:
    """The extents of each result."""
    given = list(cast("Sequence[object]", shape)) if isinstance(shape, Sequence) else [shape]
    shapes = [given] if not given or not isinstance(given[0], Sequence) else cast("list[Sequence[object]]", given)
    if len(shapes) == 1 and count > 1:
        shapes *= count
    try:
        return [tuple(map(as_dim, each)) for each in shapes]
    except TypeError as error:
        raise UsageError(f"te: the shape of '{name}': {error}") from None


def _types(dtype: DType | Sequence[DType] | None, inputs: Sequence[Tensor], count: int) -> list[Attribute]:
    if dtype is None:
        known = {each.element_type for each in inputs}
        if len(known) != 1:
            raise UsageError("te: the dtype of what te.extern fills is not that of its inputs", hint='dtype="float32"')
        return [*known] * count
    given = [dtype] if isinstance(dtype, str | Attribute) else list(dtype)
    if len(given) == 1:
        given *= count
    if len(given) != count:
        raise UsageError(f"te: {len(given)} dtypes for {count} results")
    return [element_type(each) for each in given]


def _buffers(tensors: Sequence[Shape], given: Buffer | Sequence[Buffer] | None, what: str) -> list[Buffer]:
    if given is None:
        return [Buffer(name, tuple(dims), type) for dims, type, name in tensors]
    buffers = [given] if isinstance(given, Buffer) else list(given)
    if len(buffers) != len(tensors):
        raise UsageError(f"te: {what} has {len(buffers)} buffers for {len(tensors)} tensors")
    for buffer, (dims, type, name) in zip(buffers, tensors, strict=True):
        if len(buffer.shape) != len(dims) or buffer.type != type:
            raise UsageError(f"te: the buffer '{buffer.name}' is not of the shape and dtype of '{name}'")
        if any(a is not b and a != b for a, b in zip(buffer.shape, dims, strict=True)):
            raise UsageError(f"te: the buffer '{buffer.name}' has the shape {buffer.shape}, and '{name}' {tuple(dims)}")
    return buffers


@checked
def extern_primfunc(input_tensors: Sequence[Tensor], primfunc: PrimFuncOp) -> Tensor | list[Tensor]:
    """The tensor, or the tensors, that a function writes, where the buffers that it only reads are these tensors.

    Raises:
        UsageError: they are not as many, or not of its shapes, the function's extents depend on symbols, or it writes
            integers of which it does not say that they are signed, and reads unsigned ones.
    """
    name = primfunc.sym_name.data
    if primfunc.symbols:
        raise UsageError(f"te: the extents of @{name} depend on symbols", hint="te.extern takes statements on such")
    arguments = list(primfunc.region.block.args)
    written = {buffer for block in blocks_under(primfunc) for buffer in block.writes}
    inputs = [number for number, argument in enumerate(arguments) if argument not in written]
    outputs = [number for number, argument in enumerate(arguments) if argument in written]
    if len(inputs) != len(input_tensors):
        raise UsageError(f"te: @{name} reads {len(inputs)} buffers, and {len(input_tensors)} tensors are given")
    for number, tensor in zip(inputs, input_tensors, strict=True):
        type, element = memref_of(arguments[number]), tensor.element_type
        bits = IntegerType(element.width.data) if isa(element, IntegerType) else element
        if type.get_shape() != tensor.dims or type.element_type != bits:
            raise UsageError(f"te: '{tensor.name}' is not of the shape and type of @{name}'s buffer, {type}")
    if not outputs:
        raise UsageError(f"te: @{name} writes none of its buffers")
    function = primfunc.clone()
    sort_arguments(function, [*inputs, *outputs])
    types = [memref_of(arguments[number]) for number in outputs]
    elements = [tensor.element_type for tensor in input_tensors]
    if any(isa(e, IntegerType) and e.signedness.data == Signedness.UNSIGNED for e in elements):
        for type in types:
            if isa(type.element_type, IntegerType) and type.element_type != i1:
                what = f"whether the elements that @{name} writes, {type.element_type}, are signed is not known"
                raise UsageError(f"te: {what}", hint="te.extern takes a dtype")
    shapes = [
        (type.get_shape(), type.element_type, name if len(outputs) == 1 else f"{name}.v{number}")
        for number, type in enumerate(types)
    ]
    made = External(function, tuple(input_tensors), tuple(shapes)).results()
    return made if len(made) > 1 else made[0]

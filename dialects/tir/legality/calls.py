"""A kernel fits the calls of it: the buffers are what the tensors are; what it is given stays as it is, and what it is
to give is written, all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...support.diagnostics import Diagnostic
from ...support.kernels import KernelCall
from ..affine import substitute
from ..blocks import BlockOp, blocks_under
from ..buffers import memref_of, memref_type
from ..specialize import known_shape, symbols_of
from ..symbols import positive_divisors
from .bounds import buffer_name, never_runs, space_of
from .definedness import check_results
from .finding import Finding


def check_call(kernel: Operation, call: KernelCall) -> None:
    """Whether a `tir.prim_func` may be called so: its first buffers filled, and the others without values.

    Raises:
        Diagnostic: something in the kernel does not fit the call, or the call the kernel, at its place.
    """
    symbols = symbols_of(kernel)
    if symbols and any(positive_divisors(kernel)):
        message = "a graph cannot call a function whose extents are divided by sizes"
        raise Diagnostic.at(call.op, message, hint="build the function by itself (weft.build)")
    if call.sizes is None:
        return  # what fits depends on what they are
    if len(symbols) != len(call.sizes):
        raise Diagnostic.at(call.op, f"passes {len(call.sizes)} sizes to a kernel of {len(symbols)} symbols")
    sizes = {symbol.index: size for symbol, size in zip(symbols, call.sizes, strict=True)}
    if any(size < 0 for size in sizes.values()):
        raise Diagnostic.at(call.op, f"passes {min(sizes.values())} as a size, which none is")
    buffers = [argument for argument in kernel.regions[0].block.args if argument not in symbols]
    given, taken = buffers[: len(call.inputs)], buffers[len(call.inputs) :]
    if len(buffers) != len(call.inputs) + len(call.outputs):
        message = f"the kernel has {len(buffers)} buffers, not {len(call.inputs)} and {len(call.outputs)} more"
        raise Diagnostic.at(call.op, message)
    for buffer, tensor in zip(buffers, (*call.inputs, *call.outputs), strict=True):
        shape = known_shape(buffer, sizes)
        if not isinstance(tensor, TensorType) or not _holds(buffer, shape, cast("TensorType[Attribute]", tensor)):
            type = memref_type(memref_of(buffer).element_type, shape)
            raise Diagnostic.at(call.op, f"the kernel's {buffer_name(buffer)} is {type}, not {tensor}")
    blocks = blocks_under(kernel)
    for finding in _check_given(given, blocks):
        raise finding.diagnostic()
    if symbols:
        return  # which elements it writes is not known before, one call beside the other
    for finding in (
        *(() if call.updates else check_results(blocks, taken)),
        *(_check_copies(blocks, given, call.copies) if call.copies is not None else ()),
    ):
        raise finding.diagnostic()


def _holds(buffer: SSAValue, shape: Sequence[int], tensor: TensorType[Attribute]) -> bool:
    """Whether a buffer of these extents has the elements of a tensor; integers in buffers are without a sign."""
    a, b = memref_of(buffer).element_type, tensor.element_type
    same = a == b or (isinstance(a, IntegerType) and isinstance(b, IntegerType) and a.bitwidth == b.bitwidth)
    return same and tuple(shape) == tensor.get_shape()


def _check_given(given: Sequence[SSAValue], blocks: Sequence[BlockOp]) -> Iterator[Finding]:
    """No block writes to what the caller gave."""
    for block in blocks:
        if set(given).isdisjoint(block.writes):
            continue
        for access in block.touches():
            if access.is_write and access.buffer in given:
                yield Finding(
                    access.op,
                    f"block @{block.block_name} writes {buffer_name(access.buffer)}, which calls of the kernel give it",
                    hint="write to a buffer of the kernel's own, or to one of its results",
                )


def _check_copies(blocks: Sequence[BlockOp], given: Sequence[SSAValue], first: int) -> Iterator[Finding]:
    """Nothing is seen that a kernel does but to lay its inputs one after the other, from the element `first` on."""
    what = "is said to do nothing but copy its inputs, one after the other"
    starts: dict[SSAValue, int] = {}
    start = -first
    for buffer in given:
        starts[buffer] = start
        start += prod(memref_of(buffer).get_shape())
    for block in blocks:
        for op in block.body.walk():
            if not isinstance(op, memref.LoadOp | memref.StoreOp | scf.IfOp | scf.YieldOp | arith.SelectOp) and any(
                not isinstance(r.type, IndexType) and r.type != IntegerType(1) for r in op.results
            ):
                yield Finding(op, f"the kernel {what}, but computes", hint="leave {copies} out of its calls")
                return
        if never_runs(block) or 0 in block.extents or len(blocks) > 1:
            continue
        for store in block.body.block.ops:
            load = store.value.owner if isinstance(store, memref.StoreOp) else None
            if isinstance(load, memref.LoadOp) and isinstance(store, memref.StoreOp) and load.memref in starts:
                if (place := _moved(block, load, store, starts[load.memref])) is not None:
                    yield Finding(store, f"the kernel {what}, but {place}", hint="leave {copies} out of its calls")
                    return


def _moved(block: BlockOp, load: memref.LoadOp, store: memref.StoreOp, start: int) -> str | None:
    """Two places that an element is read from and written to and that are not the same, in words."""
    maps = {access.op: access.map for access in block.accesses()}
    if (source := maps[load]) is None or (target := maps[store]) is None:
        return None
    space = space_of(block)
    low = [low for low, _ in space.ranges]
    corners = [[*low[:d], high, *low[d + 1 :]] for d, (_, high) in enumerate(space.ranges)]
    for point in [low, *corners]:
        if any(condition.eval(point, []) < 0 for condition in block.conditions):
            continue
        bindings = block.bindings.data.results
        read = start + _place(source.results, bindings, point, memref_of(load.memref).get_shape())
        written = _place(target.results, bindings, point, memref_of(store.memref).get_shape())
        if read != written:
            return f"element {read} of what it copies becomes element {written}"
    return None


def _place(
    indices: Sequence[AffineExpr], bindings: Sequence[AffineExpr], point: Sequence[int], shape: Sequence[int]
) -> int:
    """The number of an element, row by row."""
    place = 0
    for index, extent in zip(indices, shape, strict=True):
        place = place * extent + substitute(index, bindings).eval(point, [])
    return place

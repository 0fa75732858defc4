"""Give a function known extents: `specialize(func, {n: 5})` is the function for calls with `n = 5`.

Before -> after, for `%n = 5`:

```mlir
tir.prim_func @k(%x: memref<?x64xf32>, %n: index) shapes(%x[%n, 64]) { tir.for %i = 0 to (%n + 15) floordiv 16 ...
tir.prim_func @k(%x: memref<5x64xf32>) { tir.for %i = 0 to 1 ...
```

Counterpart of TVM's `PrimFunc.specialize`, which also does so for some of the symbols only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, FunctionType, IndexType, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from ..support.diagnostics import Diagnostic
from ..support.facts import while_changing
from ..support.walking import within
from .affine import linear
from .blocks import BlockOp, IterKind, blocks_under
from .buffers import AllocBufferOp, memref_of, memref_type, shape_of
from .empty_reductions import reduce_nothing
from .loops import ForOp
from .outer_blocks import OuterBlockOp
from .symbols import (
    ASSUMED,
    FOLLOWING,
    Extent,
    as_affine,
    assumed_around,
    is_symbol,
    symbols_in,
    with_sizes,
)

_Func = TypeVar("_Func", bound=Operation)


@while_changing
def specialize(func: _Func, sizes: Mapping[int, int]) -> _Func:
    """A copy of `func`, a `tir.prim_func`, in which its symbols are the numbers `sizes` (by argument), and no arguments
    any more; loops that never run then are left out.

    Raises:
        Diagnostic: a symbol has no size, or one that is negative.
    """
    for symbol in symbols_of(func):
        if sizes.get(symbol.index, -1) < 0:
            what = "is not given" if symbol.index not in sizes else f"cannot be {sizes[symbol.index]}"
            raise Diagnostic.at(func, f"%{symbol.name_hint or symbol.index} {what}")
    copy = _copy(func, {}, sizes)
    ops = [copy, *within(copy)]
    block = copy.regions[0].block
    buffers: list[SSAValue] = [argument for argument in block.args if isinstance(argument.type, MemRefType)]
    buffers += [op.buffer for op in ops if isinstance(op, AllocBufferOp)]
    shapes = [known_shape(buffer, sizes) for buffer in buffers]
    for op in ops:
        _specialize_op(op, sizes)
    for op in ops:
        if isinstance(op, BlockOp) and op.init is not None and 0 in _steps(op):
            reduce_nothing(op)
    copy.properties.pop("shapes", None)
    for key in (ASSUMED, FOLLOWING):
        copy.attributes.pop(key, None)
    for buffer, shape in zip(buffers, shapes, strict=True):
        Rewriter.replace_value_with_new_type(buffer, memref_type(memref_of(buffer).element_type, shape))
    for symbol in reversed(symbols_of(copy)):
        _replace_symbol(symbol, sizes[symbol.index])
        block.erase_arg(symbol)
    types: Sequence[Attribute] = [argument.type for argument in block.args]
    copy.properties["function_type"] = FunctionType.from_lists(types, [])
    return copy


def symbols_of(func: Operation) -> list[BlockArgument]:
    """The arguments of a function that are its symbols."""
    return [argument for argument in func.regions[0].block.args if is_symbol(argument)]


def known_shape(buffer: SSAValue, sizes: Mapping[int, int]) -> tuple[int, ...]:
    """The extents of a buffer where the symbols, by number, are `sizes`; none is below zero."""
    return tuple(known_extent(extent, sizes) for extent in shape_of(buffer))


def known_extent(extent: Extent, sizes: Mapping[int, int]) -> int:
    """The value of an extent where the symbols, by number, are `sizes`; not below zero."""
    known = with_sizes(as_affine(extent), sizes)
    assert isinstance(known, AffineConstantExpr), "all symbols are known"
    return max(0, known.value)


def _copy(op: _Func, values: dict[SSAValue, SSAValue], sizes: Mapping[int, int]) -> _Func:
    """A copy of a function or of what stands in it, without those loops that never run for `sizes`."""
    if not isinstance(op, ForOp | OuterBlockOp) and op.name != "tir.prim_func":
        copy = op.clone(values)
        for old, new in zip(within(op), within(copy), strict=True):
            new.location = old.location
    else:
        copy = op.clone_without_regions(values)
        for old, new in zip(op.regions, copy.regions, strict=True):
            block = Block(arg_types=old.block.arg_types)
            new.add_block(block)
            for argument, made in zip(old.block.args, block.args, strict=True):
                values[argument] = made
                made.name_hint = argument.name_hint
            block.add_ops([_copy(each, values, sizes) for each in old.block.ops if not _is_idle(each, sizes)])
    copy.location = op.location
    return copy


def _is_idle(op: Operation, sizes: Mapping[int, int]) -> bool:
    """Whether `op` is a loop of symbols that never runs, nor would begin a reduction if that had no steps."""
    if not isinstance(op, ForOp) or not op.is_symbolic or known_extent(op.size, sizes):
        return False
    begun = [_steps(block) for block in blocks_under(op) if block.init is not None]
    return not any(known_extent(extent, sizes) == 0 for extents in begun for extent in extents)


def _specialize_op(op: Operation, sizes: Mapping[int, int]) -> None:
    if isinstance(op, ForOp):
        op.size = known_extent(op.size, sizes)
    elif isinstance(op, BlockOp):
        op.sizes = [known_extent(extent, sizes) for extent in op.sizes]
    elif isinstance(op, AllocBufferOp):
        op.properties.pop("shape", None)
    for name, attribute in list(op.properties.items()):
        op.properties[name] = _specialize_attribute(attribute, sizes)


def _specialize_attribute(attribute: Attribute, sizes: Mapping[int, int]) -> Attribute:
    if isinstance(attribute, AffineMapAttr) and attribute.data.num_symbols:
        results = tuple(with_sizes(expr, sizes) for expr in attribute.data.results)
        return AffineMapAttr(AffineMap(attribute.data.num_dims, 0, results))
    if isinstance(attribute, ArrayAttr):
        return ArrayAttr([_specialize_attribute(each, sizes) for each in cast("ArrayAttr[Attribute]", attribute)])
    return attribute


def _steps(block: BlockOp) -> list[Extent]:
    return [extent for extent, kind in zip(block.sizes, block.kinds, strict=True) if kind == IterKind.REDUCE]


def _replace_symbol(symbol: SSAValue, size: int) -> None:
    """Where a block computes with `symbol`, let it compute with the number."""
    for use in list(symbol.uses):
        block = use.operation.parent
        assert block is not None
        constant = arith.ConstantOp(IntegerAttr(size, IndexType()))
        block.insert_op_before(constant, use.operation)
        use.operation.operands[use.index] = constant.result


def sizes_of_call(func: Operation, shapes: Sequence[Sequence[int]], given: Mapping[str, int]) -> dict[int, int]:
    """What the symbols of `func` are, by number, in a call with inputs of `shapes`; `given` adds some by name.

    Raises:
        Diagnostic: there is no such symbol, one stays unknown, or a shape does not fit.
    """
    numbers = {symbol.name_hint: symbol.index for symbol in symbols_of(func)}
    buffers = len(func.regions[0].block.args) - len(symbols_of(func))
    if len(shapes) > buffers:
        raise Diagnostic.at(func, f"{len(shapes)} inputs for {buffers} buffers")
    for name in given:
        if name not in numbers:
            raise Diagnostic.at(func, f"there is no symbol %{name}")
    sizes = sizes_from_shapes(func, dict(enumerate(shapes)), {numbers[name]: size for name, size in given.items()})
    for symbol in symbols_of(func):
        if symbol.index not in sizes:
            name = symbol.name_hint or symbol.index
            raise Diagnostic.at(func, f"%{name} does not follow from the shapes of the inputs", hint=f"give {name}=...")
    return sizes


def sizes_from_shapes(func: Operation, shapes: Mapping[int, Sequence[int]], given: Mapping[int, int]) -> dict[int, int]:
    """The sizes of the symbols of `func`, by number: those `given`, and what follows from the shapes of buffers, by
    argument, where an extent is `%n`, or `%n` times a number plus a number.

    Raises:
        Diagnostic: a buffer has other extents than the function says, or those of two buffers disagree.
    """
    sizes = dict(given)
    arguments = func.regions[0].block.args
    open_extents: list[tuple[int, AffineExpr, int]] = []
    for number, shape in shapes.items():
        extents = shape_of(arguments[number])
        if len(extents) != len(shape):
            raise Diagnostic.at(func, f"%{arguments[number].name_hint} is of rank {len(extents)}, not {len(shape)}")
        open_extents += [(number, as_affine(extent), size) for extent, size in zip(extents, shape, strict=True)]
    while True:
        for _, extent, size in open_extents:
            known = with_sizes(extent, sizes)
            unknown = sorted(set(symbols_in(known)))
            if len(unknown) == 1 and (value := _solve(known, unknown[0], size)) is not None:
                sizes[unknown[0]] = value
                break
        else:
            break
    for expr in assumed_around(func):
        known = with_sizes(expr, sizes)
        if isinstance(known, AffineConstantExpr) and known.value < 0:
            said = ", ".join(f"%{arguments[s].name_hint or s} = {sizes[s]}" for s in sorted(set(symbols_in(expr))))
            raise Diagnostic.at(func, f"the function is not for {said}: {ASSUMED} does not hold")
    for number, extent, size in open_extents:
        known = with_sizes(extent, sizes)
        if isinstance(known, AffineConstantExpr) and known.value != size:
            name = f"%{arguments[number].name_hint or number}"
            said = ", ".join(f"%{arguments[s].name_hint or s} = {n}" for s, n in sorted(sizes.items()))
            raise Diagnostic.at(
                func,
                f"{name} has the extent {size} where it should have {known.value}" + (f", for {said}" if said else ""),
            )
    return sizes


def _solve(expr: AffineExpr, symbol: int, value: int) -> int | None:
    """The one value of `symbol` for which `expr` is `value`, if it is a multiple of it plus a number."""
    form = linear(expr)
    if list(form.terms) != [AffineExpr.symbol(symbol)]:
        return None
    factor = form.terms[AffineExpr.symbol(symbol)]
    quotient, rest = divmod(value - form.constant, factor)
    return None if rest or quotient < 0 else quotient

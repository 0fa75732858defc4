"""Functions that differ in extents alone share a kernel, which is passed them.

The blocks of a network do the same to more and more channels. In blocked layouts these are the outer dimensions of
tensors: how often the outer loops of a kernel run, and how far apart in memory their turns are. Where a schedule
depends on such extents, functions keep kernels of their own: of products with many weights (`MOST_WEIGHTS`) or an odd
number of blocks, and of reductions over what is open.

Before -> after:

```mlir
%1 = relay.call @fused_nn_relu(%0)   : (tensor<1x4x8x8x16xf32>) -> ...
%3 = relay.call @fused_nn_relu_1(%2) : (tensor<1x6x8x8x16xf32>) -> ...
%5 = relay.call @fused_nn_relu_2(%4) : (tensor<1x8x8x8x16xf32>) -> ...

%1 = relay.call_lowered @fused_nn_relu(%0) {sizes = array<i64: 4>} : (tensor<1x4x8x8x16xf32>) -> ...
%3 = relay.call_lowered @fused_nn_relu(%2) {sizes = array<i64: 6>} : (tensor<1x6x8x8x16xf32>) -> ...
%5 = relay.call_lowered @fused_nn_relu(%4) {sizes = array<i64: 8>} : (tensor<1x8x8x8x16xf32>) -> ...
tir.prim_func @fused_nn_relu(%p0: memref<1x?x8x8x16xf32>, %out: memref<1x?x8x8x16xf32>, %n0: index) shapes(...) { ...
```

The kernel is made as those of open extents are (`dynamic_calls`), of a function that knows no more than what all of
them have in common. Where that asks anything of extents, or does not give the extents that the functions have, each
keeps a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod

from xdsl.dialects.builtin import FunctionType, TensorType, TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, Fusion, RelayOp, flatten_types, fusion_pattern
from ...dialects.relay.core import FuncOp
from ...dialects.relay.extents import Known
from ...dialects.relay.telling import told_inputs
from ...dialects.relay.types import tuple_type
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import byte_width
from ...dialects.support.hints import isa
from ...dialects.support.retyping import retype
from ...dialects.te.assume import assuming
from ...dialects.te.dims import substituted
from ...dialects.tir.core import PrimFuncOp
from ...transforms.infra import remarks
from ...transforms.infra.walk import walk
from .te_symbols import opaque_extents

MOST_SYMBOLS = 4
"""They may differ in no more extents."""
MOST_WEIGHTS = 512 << 10
"""Products with more bytes of weights have kernels of their own: how weights come from memory is scheduled by how many
there are."""
LEAST_RANK, OUTER = 5, 2
"""The extents that may differ: these outermost ones of tensors of so many dimensions, which those of blocked layouts
have."""
FACTORS = 4
"""Extents of products are divided alike by the factors of this: their tiles are of so many blocks."""

Lower = Callable[[FuncOp, Sequence[Known], Sequence[te.Var]], tuple[PrimFuncOp, list[te.Tensor]]]
"""Makes a kernel of a function for inputs of which something is known, and symbols; gives it, and its outputs."""


@dataclass(frozen=True)
class Shared:
    """A kernel, and what each function that has it passes as its symbols, by the function's name."""

    kernel: PrimFuncOp
    sizes: dict[str, tuple[int, ...]]


def shared_kernels(functions: Sequence[FuncOp], lower: Lower) -> list[Shared]:
    """The kernels of functions that are alike, by `lower`; functions that are like none other have none."""
    groups: dict[Hashable, list[FuncOp]] = {}
    for function in functions:
        if _weights(function) <= MOST_WEIGHTS and not told_inputs(function):
            groups.setdefault(_likeness(function), []).append(function)
    found: list[Shared] = []
    for group in groups.values():
        if len(group) < 2:
            continue
        if (shared := _shared(group, lower)) is not None:
            found.append(shared)
            for function in group[1:]:
                name = shared.kernel.sym_name.data
                remarks.passed("lower-te", function, f"shares @{name}, which is passed extents")
        else:
            reason = f"{len(group)} functions that differ in outer extents alone depend on what these are"
            remarks.missed("lower-te", group[0], reason)
    return found


def _values(function: FuncOp) -> Iterator[SSAValue]:
    """All values of a function, in order."""
    for op in walk(function):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def _may_differ(place: int, extent: int, rank: int) -> bool:
    """Whether an extent may be another in a function that is alike. What is one is repeated, or is no dimension."""
    return rank >= LEAST_RANK and place < OUTER and extent > 1


def _likeness(function: FuncOp) -> Hashable:
    """What functions that are alike have in common: operations, wiring, attributes, and types but for outer extents."""
    numbers: dict[SSAValue, int] = {}
    key: list[Hashable] = [_told(function, ("sym_name", "function_type"))]
    if tiled := bool(_products(function)):  # tiles of an odd number of blocks fit that number alone
        made = flatten_types([value.type for value in function.return_op.arguments])
        key.append(tuple(tuple(n for n in type.get_shape()[:OUTER] if n % 2) for type in made))
    for value in _values(function):
        numbers[value] = len(numbers)
        key.append(_look(value.type, tiled))
    for op in walk(function):
        if op is not function:
            implied = op.IMPLIED if isinstance(op, RelayOp) else ()
            shape = tuple(tuple((len(b.args), len(b.ops)) for b in region.blocks) for region in op.regions)
            key.append((op.name, tuple(numbers[o] for o in op.operands), _told(op, implied), len(op.results), shape))
    return tuple(key)


def _told(op: Operation, without: Sequence[str]) -> Hashable:
    properties = frozenset((name, value) for name, value in op.properties.items() if name not in without)
    return properties, frozenset(op.attributes.items())


def _products(function: FuncOp) -> list[Operation]:
    return [op for op in function.body.block.ops if fusion_pattern(type(op)) == Fusion.OUT_ELEMWISE_FUSABLE]


def _weights(function: FuncOp) -> int:
    """The bytes of what a product takes beside its data."""
    types = [type for op in _products(function) for type in flatten_types([v.type for v in op.operands[1:]])]
    return sum(prod(type.get_shape()) * byte_width(type.element_type) for type in types)


def _look(type: Attribute, tiled: bool) -> Hashable:
    if isa(type, TupleType):
        return tuple(_look(field, tiled) for field in type.types)
    if not isa(type, TensorType[Attribute]):
        return type
    shape = type.get_shape()
    return type.element_type, *(
        ("open", _factor(extent, tiled)) if _may_differ(place, extent, len(shape)) else extent
        for place, extent in enumerate(shape)
    )


def _factor(extent: int, tiled: bool) -> int:
    """What a kernel knows to divide an extent."""
    return gcd(extent, FACTORS) if tiled else 1


def _shared(group: Sequence[FuncOp], lower: Lower) -> Shared | None:
    """The kernel of functions that are alike, if there is one for all."""
    types = [[argument.type for argument in function.body.block.args] for function in group]
    shapes = [[tuple(t.get_shape()) for t in flatten_types(each)] for each in types]
    symbols: dict[tuple[int, ...], te.Var] = {}
    tiled = bool(_products(group[0]))

    def dim(extents: tuple[int, ...]) -> te.Dim:
        if len(set(extents)) == 1:
            return extents[0]
        factor = _factor(extents[0], tiled)
        symbol = symbols.setdefault(tuple(n // factor for n in extents), te.var(f"n{len(symbols)}"))
        return symbol * factor if factor > 1 else symbol

    known = [
        Known(tuple(dim(extents) for extents in zip(*tensors, strict=True))) for tensors in zip(*shapes, strict=True)
    ]
    if not 0 < len(symbols) <= MOST_SYMBOLS:
        return None
    try:
        with assuming() as asked:
            kernel, outputs = lower(_opened(group), known, list(symbols.values()))
    except Diagnostic:
        return None
    if asked.equal or asked.at_most or opaque_extents(outputs) or not _is_scheduled_alike(outputs, tiled):
        return None
    sizes = {function.sym_name.data: tuple(sizes[n] for sizes in symbols) for n, function in enumerate(group)}
    for function, numbers in zip(group, sizes.values(), strict=True):
        given: dict[te.Var, te.Dim] = dict(zip(symbols.values(), numbers, strict=True))
        results = flatten_types([value.type for value in function.return_op.arguments])
        if [tuple(t.get_shape()) for t in results] != [_dims(output, given) for output in outputs]:
            return None
    return Shared(kernel, sizes)


def _is_scheduled_alike(outputs: Sequence[te.Tensor], tiled: bool) -> bool:
    """Whether a kernel is as fast that does not know its outer extents. Where they are reduced over, and where what is
    reduced is computed before, as padding is, knowing them makes another schedule: a stage is computed where it is
    read, in memory of a size that is known. A product's own sums are as good over open extents."""
    for tensor in te.topological_order(outputs):
        axes = tensor.op.reduce_axis
        if not tiled and any(isinstance(axis.dim, te.Expr) for axis in axes):
            return False
        if axes and any(each.producer is not None for each in tensor.op.input_tensors):
            return False
    return True


def _dims(tensor: te.Tensor, given: dict[te.Var, te.Dim]) -> tuple[te.Dim, ...]:
    return tuple(substituted(dim, given) if isinstance(dim, te.Expr) else dim for dim in tensor.dims)


def _opened(group: Sequence[FuncOp]) -> FuncOp:
    """A function that knows what those of a group have in common: extents in which they differ are open, and what
    operators say of them beside their types goes."""
    function = group[0].clone()
    for values in zip(*map(_values, (function, *group)), strict=True):
        retype(values[0], _common([value.type for value in values]))
    for op in walk(function):
        for name in op.IMPLIED if isinstance(op, RelayOp) else ():
            op.properties.pop(name, None)
    arguments, results = function.body.block.args, function.return_op.arguments
    function.function_type = FunctionType.from_lists([v.type for v in arguments], [v.type for v in results])
    return function


def _common(types: Sequence[Attribute]) -> Attribute:
    first = types[0]
    if isa(first, TupleType):
        return tuple_type(*map(_common, zip(*(type.types for type in types if isa(type, TupleType)), strict=True)))
    if not isa(first, TensorType[Attribute]):
        return first
    shapes = [type.get_shape() for type in types if isa(type, TensorType[Attribute])]
    dims = [extents[0] if len(set(extents)) == 1 else DYNAMIC for extents in zip(*shapes, strict=True)]
    return TensorType(first.element_type, dims)

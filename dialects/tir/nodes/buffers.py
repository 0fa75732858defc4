"""Buffers as Python values: `tir.decl_buffer`, elements of them, and the addresses that calls are given.

    A = tir.decl_buffer((16, 16), "float32", name="A")
    A[i, j] + 1.0,  A.vload([i, 0], "float32x4"),  A.vstore([i, j], 2.0),  A.access_ptr("r")

A buffer may be laid out by `strides` and begin at `elem_offset`; an element is the same, whatever the layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, TypeAlias, cast, overload

from xdsl.dialects.builtin import NoneType, VectorType, i1, i32
from xdsl.ir import Attribute

from ...support.arguments import checked, checked_methods
from ...support.diagnostics import UsageError
from ...support.dtypes import dtype_name
from ...support.hints import isa
from ...support.whole_number import WholeNumber
from ...te.dims import size_var
from ...te.element_types import element_type
from ...te.expr import Const, Dim, Expr, ExprLike, NodeRange, as_expr
from ...te.integer_forms import integer_form
from ...te.kinds import index
from ...te.spelled import Spelled
from ...te.written_forms import written
from ..analyzer.answers import Range as IntegerRange
from ..analyzer.nodes import Const as Integer
from ..script import annotations
from .expressions import Handle, Ramp, vector_type
from .statements import Stmt
from .types import PointerType, PrimType

if TYPE_CHECKING:
    Slice: TypeAlias = slice[ExprLike | None, ExprLike | None, None]
else:
    Slice = slice

Place: TypeAlias = ExprLike | Slice
"""An index, or those from one up to another."""

_MASKS = {1: "r", 2: "w", 3: "rw", "r": "r", "w": "w", "rw": "rw", "wr": "rw"}


def pointer_to(name: str, element: Attribute, scope: str = "global") -> Handle:
    """Where memory of elements of a type is."""
    return Handle(name, NoneType(), PointerType(PrimType(dtype_name(element)), scope))


@checked_methods
class Buffer:
    """A piece of memory as an array of several dimensions."""

    def __init__(
        self,
        name: str,
        shape: Sequence[Dim],
        type: Attribute,
        strides: Sequence[Dim] | None = None,
        elem_offset: Dim | None = None,
        scope: str = "global",
        data: Handle | None = None,
        axis_separators: Sequence[int] = (),
    ):
        self.name = name
        self.shape = tuple(WholeNumber(dim) if isinstance(dim, int) else dim for dim in shape)
        self.type = type
        self.strides = None if not strides else tuple(strides)
        self.elem_offset = elem_offset
        self._scope = scope or "global"
        self.axis_separators = tuple(axis_separators)
        self.data = pointer_to(name, type, self._scope) if data is None else data
        if self.strides is not None and len(self.strides) != len(self.shape):
            raise UsageError(f"'{name}' has {len(self.shape)} dimensions, and {len(self.strides)} strides")

    @property
    def dtype(self) -> str:
        """The dtype of an element."""
        return dtype_name(self.type)

    def scope(self) -> str:
        """Where the memory is: `"global"`, `"local"`, ..."""
        return self._scope

    def script(self, *, verbose_expr: bool = False) -> str:
        """The buffer's name as TVM's printer writes it; with `verbose_expr` behind what it is."""
        return Expr.scripted(self, verbose_expr)

    @overload
    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> BufferLoad: ...
    @overload
    def __getitem__(self, indices: Place | tuple[Place, ...]) -> BufferLoad | BufferRegion: ...
    def __getitem__(self, indices: Place | tuple[Place, ...]) -> BufferLoad | BufferRegion:
        """An element, by indices; a region, where one is a slice."""
        places = indices if isinstance(indices, tuple) else (indices,)
        single = [each for each in places if not isinstance(each, slice)]
        return BufferLoad(self, single) if len(single) == len(places) else region_of(self, places)

    def vload(self, begin: ExprLike | Sequence[ExprLike], dtype: str | None = None) -> BufferLoad:
        """The element at a place, or, of a dtype such as `float32x4`, those from there on in the last dimension."""
        type = vector_type(self.dtype if dtype is None else dtype)
        given: Sequence[ExprLike] = begin if isinstance(begin, Sequence) else [begin]
        places = _places(self, given)
        if not isa(type, VectorType[Attribute]):
            self._check_type(type)
            return BufferLoad(self, places)
        self._check_type(type.element_type)
        (lanes,) = type.get_shape()
        return BufferLoad(self, (*places[:-1], Ramp(places[-1], 1, lanes)) if lanes > 1 else places)

    def vstore(self, begin: ExprLike | Sequence[ExprLike], value: ExprLike) -> BufferStore:
        """Store an element at a place, or a vector from there on in the last dimension."""
        given: Sequence[ExprLike] = begin if isinstance(begin, Sequence) else [begin]
        places = _places(self, given)
        stored = as_expr(value, self.type)
        if isa(type := stored.type, VectorType[Attribute]):
            (lanes,) = type.get_shape()
            places = (*places[:-1], Ramp(places[-1], 1, lanes))
        return BufferStore(self, stored, places)

    def access_ptr(
        self,
        access_mask: str | int,
        ptr_type: str = "handle",
        content_lanes: int = 1,
        offset: ExprLike = 0,
        extent: ExprLike | None = None,
    ) -> AccessPtr:
        """The address of the first element, and what is done with the memory: read (`"r"`), written (`"w"`), both.

        Raises:
            UsageError: it is none of these, or a pointer to something else is wanted.
        """
        if access_mask not in _MASKS:
            raise UsageError(f"a buffer is read, written or both, not {access_mask!r}", hint='one of "r", "w", "rw"')
        if ptr_type != "handle" or content_lanes != 1:
            raise UsageError("an address is that of a buffer's elements, of its own type")
        start = as_expr(offset, index)
        end = None if extent is None else as_expr(extent, index)
        return AccessPtr(self, _MASKS[access_mask], start, end)

    def offset_of(self, indices: Sequence[ExprLike]) -> list[Expr]:
        """How many elements behind the start of the memory an element stands: one number, as TVM gives it for memory of
        one dimension."""
        places = _places(self, indices)
        steps: list[Dim] = list(self.strides or ())
        if not steps:
            for dim in self.shape[:0:-1]:
                steps.insert(0, (steps[0] if steps else 1) * dim)
            steps = [*steps, 1] if self.shape else []
        terms = [place * as_expr(step, place.type) for place, step in zip(places, steps, strict=True)]
        start: list[Expr] = [] if self.elem_offset is None else [as_expr(self.elem_offset, index)]
        return [reduce(add, [*start, *terms], cast("Expr", Const(0, index)))]

    @property
    def size(self) -> Dim:
        """The number of elements."""
        count: Dim = 1
        for dim in self.shape:
            count = count * dim
        return count

    def _check_type(self, type: Attribute) -> None:
        if type != self.type:
            raise UsageError(f"an element of '{self.name}' is {self.dtype}, and is not loaded as {dtype_name(type)}")


annotations.Buffers.nodes = (Buffer,)


def _places(buffer: Buffer, indices: Sequence[ExprLike]) -> tuple[Expr, ...]:
    """The indices of an element; one for a buffer of several dimensions counts its elements row by row."""
    places = [as_expr(each, index) for each in indices]
    if len(places) == 1 and len(buffer.shape) > 1:
        (rest,) = places
        found: list[Expr] = []
        for dim in buffer.shape[:0:-1]:
            found.insert(0, rest % as_expr(dim, rest.type))
            rest = rest // as_expr(dim, rest.type)
        return (rest, *found)
    if len(places) != len(buffer.shape) and not (not buffer.shape and len(places) == 1):
        raise UsageError(f"'{buffer.name}' has {len(buffer.shape)} dimensions, and is read with {len(places)} indices")
    return tuple(places) if buffer.shape else ()


@dataclass(frozen=True)
class Range:
    """`extent` values from `min` on. The ranges of nodes; those of the analyzer are `arith.Range`."""

    min: Expr
    extent: Dim

    def script(self, *, verbose_expr: bool = False) -> str:
        """The range as TVM's printer writes it: `T.Range(0, 16)`."""
        return Expr.scripted(self, verbose_expr)


@dataclass(frozen=True, eq=False)
class BufferRegion:
    """A part of a buffer that a block touches: a range for each dimension, of nodes or of the analyzer (`ir.Range`).

    Raises:
        UsageError: there are more ranges than dimensions, or fewer.
    """

    buffer: Buffer
    region: tuple[Range, ...]

    @checked
    def __init__(self, buffer: Buffer, region: Sequence[Range | IntegerRange | NodeRange]):
        if len(region) != len(buffer.shape):
            raise UsageError(
                f"'{buffer.name}' has {len(buffer.shape)} dimensions, and a part of it {len(region)} ranges"
            )
        object.__setattr__(self, "buffer", buffer)
        object.__setattr__(self, "region", tuple(map(_as_range, region)))

    def script(self, *, verbose_expr: bool = False) -> str:
        """The part as TVM's printer writes it; with `verbose_expr` behind what it is."""
        return Expr.scripted(self, verbose_expr)


def _as_range(given: Range | IntegerRange | NodeRange) -> Range:
    if isinstance(given, Range):
        return given
    if isinstance(given, NodeRange):
        return Range(given.min, int(given.extent) if isinstance(given.extent, Const) else given.extent)
    extent = int(given.extent.value) if isinstance(given.extent, Integer) else written(given.extent, index)
    return Range(written(given.min, index), extent)


def region_of(buffer: Buffer, places: Sequence[Place]) -> BufferRegion:
    """The part of a buffer at indices and slices: `A[0:16, i]`."""
    ranges: list[Range] = []
    for place, dim in zip(places, buffer.shape, strict=True):
        if not isinstance(place, slice):
            ranges.append(Range(as_expr(place, index), 1))
            continue
        low = as_expr(0 if place.start is None else place.start, index)
        high = as_expr(dim if place.stop is None else place.stop, index)
        count = integer_form(high - low)
        ranges.append(Range(low, count.value if isinstance(count, Integer) else high - low))
    return BufferRegion(buffer, tuple(ranges))


class Pointer(Buffer):
    """Memory of as many elements as the function says that uses it (`pointers`)."""

    def __init__(self, name: str, type: Attribute, scope: str = "global"):
        super().__init__(name, (size_var(f"{name}_size"),), type, scope=scope)

    def of_elements(self, count: Dim) -> Buffer:
        """The same memory as a buffer of `count` elements."""
        return PointedTo(self.name, (count,), self.type, scope=self.scope(), data=self.data)


class PointedTo(Buffer):
    """Memory that a pointer is to, of which it is known how many elements are used."""


@dataclass(frozen=True, eq=False)
class BufferLoad(Expr):
    """An element of a buffer; a vector, where the last index is one."""

    buffer: Buffer
    indices: tuple[Expr, ...]

    is_read = True
    __iter__ = None

    @checked
    def __init__(self, buffer: Buffer, indices: Sequence[ExprLike]):
        object.__setattr__(self, "buffer", buffer)
        object.__setattr__(self, "indices", _places(buffer, indices))

    @property
    def type(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        for place in self.indices:
            if isa(type := place.type, VectorType[Attribute]):
                return VectorType(self.buffer.type, type.get_shape())
        return self.buffer.type


@dataclass(frozen=True, eq=False)
class BufferStore(Stmt):
    """Store a value to an element; a vector, where the last index is one."""

    buffer: Buffer
    value: Expr
    indices: tuple[Expr, ...]

    @checked
    def __init__(self, buffer: Buffer, value: ExprLike, indices: Sequence[ExprLike]):
        object.__setattr__(self, "buffer", buffer)
        object.__setattr__(self, "value", as_expr(value, buffer.type))
        object.__setattr__(self, "indices", _places(buffer, indices))


@dataclass(frozen=True, eq=False)
class Memory(Stmt):
    """A statement that has memory of its own."""

    buffer: Buffer

    @property
    def buffer_var(self) -> Handle:
        """Where the memory is."""
        return self.buffer.data

    @property
    def dtype(self) -> str:
        """The dtype of an element."""
        return self.buffer.dtype

    @property
    def extents(self) -> tuple[Expr, ...]:
        """The extents of the memory, as expressions."""
        return tuple(as_expr(each, index) for each in self.buffer.shape)


@dataclass(frozen=True, eq=False)
class Allocation(Memory):
    """A statement that allocates memory, of which something may be said."""

    annotations: Mapping[str, object] = field(default_factory=dict[str, object], kw_only=True)

    @property
    def condition(self) -> Expr:
        """Under which condition the memory is there: always."""
        return Const(True, i1)


@dataclass(frozen=True, eq=False)
class Allocate(Allocation):
    """Memory that is there in `body`: `extents` elements at `buffer_var`, which buffers in it may be views of.

    Raises:
        UsageError: the memory is there under a condition, or its variable is no pointer.
    """

    body: Stmt

    @checked
    def __init__(
        self,
        buffer_var: Expr,
        dtype: str,
        extents: Sequence[ExprLike],
        condition: ExprLike,
        body: Stmt,
        annotations: Mapping[str, object] | None = None,
    ):
        if not isinstance(buffer_var, Handle):
            raise UsageError("memory is at a tir.Var of dtype 'handle'")
        if not isinstance(condition, int | Const) or not condition:
            raise UsageError(f"the memory '{buffer_var.name}' is there under a condition", hint="allocate it always")
        dims = [int(each.value) if isinstance(each, Const) else cast("Dim", each) for each in extents]
        leads_to = buffer_var.type_annotation
        scope = leads_to.storage_scope if isinstance(leads_to, PointerType) else "global"
        buffer = Buffer(buffer_var.name, dims, element_type(dtype), scope=scope or "global", data=buffer_var)
        object.__setattr__(self, "buffer", buffer)
        object.__setattr__(self, "body", body)
        object.__setattr__(self, "annotations", dict(annotations or {}))

    @staticmethod
    @checked
    def of(buffer: Buffer, body: Stmt, annotations: Mapping[str, object] | None = None) -> Allocate:
        """That of a buffer."""
        made = object.__new__(Allocate)
        object.__setattr__(made, "buffer", buffer)
        object.__setattr__(made, "body", body)
        object.__setattr__(made, "annotations", dict(annotations or {}))
        return made


@dataclass(frozen=True, eq=False)
class AccessPtr(Expr):
    """The address of a buffer's elements, and what is done there."""

    buffer: Buffer
    mask: str
    offset: Expr
    extent: Expr | None

    type = NoneType()

    @property
    def args(self) -> tuple[Expr, ...]:
        """What TVM's `tvm_access_ptr` is given: an expression of the elements' type, the memory, the first element, how
        many there are from it on, and what is done with them as a number."""
        buffer, start = self.buffer, self.offset
        if buffer.elem_offset is not None:
            start = start + as_expr(buffer.elem_offset, index)
        extent = self.extent
        if extent is None:
            whole = buffer.size if buffer.strides is None or not buffer.shape else buffer.strides[0] * buffer.shape[0]
            extent = as_expr(whole, index) - self.offset
        annotation = Spelled("type_annotation", (), (), buffer.type)
        named = annotations.Buffer
        done = (named.READ if "r" in self.mask else 0) | (named.WRITE if "w" in self.mask else 0)
        return annotation, buffer.data, start, extent, Const(done, i32)


@checked
def decl_buffer(
    shape: Dim | Sequence[Dim],
    dtype: str = "float32",
    name: str = "buffer",
    data: Expr | None = None,
    strides: Sequence[Dim] | None = None,
    elem_offset: Dim | None = None,
    scope: str = "",
    data_alignment: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "",
    axis_separators: Sequence[int] | None = None,
) -> Buffer:
    """A buffer. `data_alignment` and `offset_factor` are TVM's, and promise what machine code of Weft's does not need.

    Raises:
        UsageError: it is laid out in a way that Weft has no buffers of.
    """
    if buffer_type not in ("", "default"):
        raise UsageError(
            f"a buffer of type {buffer_type!r} has no meaning here", hint="store to the elements themselves"
        )
    if data is not None and not isinstance(data, Handle):
        raise UsageError("the data of a buffer is a tir.Var of dtype 'handle'")
    dims: Sequence[Dim] = shape if isinstance(shape, Sequence) else [shape]
    return Buffer(
        name, dims, element_type(dtype), strides, elem_offset, scope or "global", data, tuple(axis_separators or ())
    )

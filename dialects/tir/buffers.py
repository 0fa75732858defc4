"""Buffers: `memref` values with their extents, and the operation that gives a function one of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.str_enum import StrEnum

from ..support.dtypes import byte_width
from ..support.hints import isa
from ..support.interned import shaped_memref
from ..support.looks import by_looks
from ..support.memory_scopes import MEMORIES, memories, memory_of, why_no_scope
from ..support.retyping import retype
from .affine import print_expr
from .axis_separators import AXIS_SEPARATORS, separators_in, verify_separators
from .expressions import has_exprs, parse_expr
from .symbols import Extent, affine_map, arguments_around, as_affine, as_extent


def memref_of(buffer: SSAValue) -> MemRefType[Attribute]:
    """The type of a buffer."""
    type = buffer.type
    assert isinstance(type, MemRefType)
    return cast("MemRefType[Attribute]", type)


def memref_type(element: Attribute, shape: Sequence[Extent]) -> MemRefType[Attribute]:
    """The type of a buffer of `shape`: extents that depend on symbols are `?`."""
    return shaped_memref(element, tuple([extent if isinstance(extent, int) else DYNAMIC_INDEX for extent in shape]))


def shape_of(buffer: SSAValue) -> tuple[Extent, ...]:
    """The extents of a buffer, those that depend on symbols as expressions of them.

    They stand at the operation that allocates the buffer, or at the function whose argument it is.
    """
    shape = memref_of(buffer).get_shape()
    if DYNAMIC_INDEX not in shape:
        return shape
    if isinstance(buffer.owner, AllocBufferOp):
        map = buffer.owner.shape
    else:
        assert isinstance(buffer, BlockArgument), "a buffer is allocated, or an argument"
        func = buffer.block.parent_op()
        shapes = None if func is None else func.properties.get("shapes")
        assert isa(shapes, ArrayAttr[Attribute]), "a function that verifies says what its buffers' extents are"
        map = shapes.data[buffer.index]
    assert isinstance(map, AffineMapAttr)
    return tuple(as_extent(expr) for expr in map.data.results)


def buffer_bytes(buffer: SSAValue) -> int:
    """How many bytes a buffer has, as far as its extents are known: one that is a symbol counts as 1."""
    return prod(extent for extent in shape_of(buffer) if isinstance(extent, int)) * byte_width(
        memref_of(buffer).element_type
    )


def shape_attribute(shape: Sequence[Extent]) -> AffineMapAttr | None:
    """What says the extents of a buffer; `None` where its type does."""
    if all(isinstance(extent, int) for extent in shape):
        return None
    return AffineMapAttr(affine_map(0, [as_affine(extent) for extent in shape]))


def verify_shape(type: MemRefType[Attribute], shape: Attribute | None, name: str) -> None:
    """Check that `shape` says the extents that `type` leaves open, and no others.

    Raises:
        VerifyException: it does not.
    """
    extents = type.get_shape()
    if not isinstance(shape, AffineMapAttr):
        if DYNAMIC_INDEX in extents:
            raise VerifyException(f"{name} is {type}, and nothing says what its extents are: add shapes({name}[...])")
        return
    results = shape.data.results
    if shape.data.num_dims or len(results) != len(extents):
        raise VerifyException(f"{name} is {type}, which {len(results)} extents do not describe")
    for number, (expr, extent) in enumerate(zip(results, extents, strict=True)):
        known = expr.value if isinstance(expr, AffineConstantExpr) else DYNAMIC_INDEX
        if known != extent:
            raise VerifyException(f"{name} is {type}, but extent {number} is said to be {expr}")


def print_shape(printer: Printer, shape: AffineMapAttr, arguments: Sequence[SSAValue]) -> None:
    """Print `[%n, 64]`."""

    def extent(expr: AffineExpr) -> None:
        print_expr(printer, expr, (), arguments)

    with printer.in_square_brackets():
        printer.print_list(shape.data.results, extent)


def parse_shape(parser: Parser, meaning: Callable[[Parser, Span], AffineExpr | None] | None = None) -> AffineMapAttr:
    """Parse `[%n, 64]`; `meaning` gives the symbol of a name, where that has no value yet."""

    def extent() -> AffineExpr:
        return parse_expr(parser, "an extent", meaning)

    exprs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, extent)
    return AffineMapAttr(affine_map(0, exprs))


class Scope(StrEnum):
    """Where a buffer lives: `GLOBAL` in the memory that all threads share, `LOCAL` in each thread's own (registers,
    where the loops over it are unrolled)."""

    GLOBAL = "global"
    LOCAL = "local"


def _memories(op: Operation) -> Sequence[Attribute]:
    """The memories by which the scope of an allocation is judged: kinds of targets come and go."""
    assert isinstance(op, AllocBufferOp)
    own = memory_of(op.scope.data) in MEMORIES
    return () if own else [StringAttr(name) for name in memories()]


@irdl_op_definition
class AllocBufferOp(IRDLOperation):
    """A buffer of the function's own, alive in the region where it stands. Counterpart of TVM's `alloc_buffers`.

    One of scope `"global"` is one for all threads, and lives through the whole function wherever it stands. One of
    scope `"local"` is each thread's own, so all blocks that use it stand in one nest of loops.

    ```mlir
    %acc = tir.alloc_buffer "local" : memref<7x2x16xf32>
    ```

    Extents that depend on the function's symbols are given: `tir.alloc_buffer "global" [%n, 64] : memref<?x64xf32>`.
    One with a value is a constant, which nothing writes: `tir.alloc_buffer "global" = dense<[1, 2]> : tensor<2xi32> :
    memref<2xi32>`. Counterpart of TVM's `AllocateConst`.
    """

    name = "tir.alloc_buffer"

    scope = prop_def(StringAttr)
    shape = opt_prop_def(AffineMapAttr)
    value = opt_prop_def(DenseIntOrFPElementsAttr)
    buffer = result_def(MemRefType)

    def __init__(
        self,
        type: MemRefType[Attribute],
        scope: str = Scope.GLOBAL,
        shape: Sequence[Extent] | AffineMapAttr | None = None,
        value: DenseIntOrFPElementsAttr | None = None,
    ):
        if shape is not None and not isinstance(shape, AffineMapAttr):
            shape = shape_attribute(shape)
        super().__init__(
            result_types=[type], properties={"scope": StringAttr(str(scope)), "shape": shape, "value": value}
        )

    @staticmethod
    def of(element: Attribute, shape: Sequence[Extent], scope: str = Scope.GLOBAL) -> AllocBufferOp:
        """A buffer of `shape`, of which extents may depend on symbols."""
        return AllocBufferOp(memref_type(element, shape), scope, shape)

    @property
    def annotations(self) -> dict[str, Attribute]:
        """What is said of the memory: TVM's annotations of an allocation."""
        return {name: each for name, each in self.attributes.items() if name != AXIS_SEPARATORS}

    def set_shape(self, shape: Sequence[Extent]) -> None:
        """Give the buffer other extents."""
        type = memref_type(memref_of(self.buffer).element_type, shape)
        retype(self.buffer, type)
        if (attribute := shape_attribute(shape)) is None:
            self.properties.pop("shape", None)
        else:
            self.properties["shape"] = attribute

    @classmethod
    def parse(cls, parser: Parser) -> AllocBufferOp:
        scope = parser.parse_str_literal()
        shape = parse_shape(parser) if has_exprs(parser) else None
        value: DenseIntOrFPElementsAttr | None = None
        if parser.parse_optional_punctuation("=") is not None:
            given = parser.parse_attribute()
            if not isinstance(given, DenseIntOrFPElementsAttr):
                parser.raise_error("the value of a constant is dense<...> : tensor<...>")
            value = cast("DenseIntOrFPElementsAttr", given)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = AllocBufferOp(cast("MemRefType[Attribute]", parser.parse_type()), shape=shape, value=value)
        op.properties["scope"] = StringAttr(scope)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.scope.data)
        if self.shape is not None:
            printer.print_string(" ")
            print_shape(printer, self.shape, arguments_around(self))
        if self.value is not None:
            printer.print_string(" = ")
            printer.print_attribute(self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)

    @by_looks(_memories)
    def verify_(self) -> None:
        verify_shape(memref_of(self.buffer), self.shape, "the buffer")
        if (wrong := why_no_scope(self.scope.data)) is not None:
            raise VerifyException(wrong)
        if self.value is not None:
            self._verify_value(self.value)
        verify_separators(self.axis_separators, len(memref_of(self.buffer).get_shape()))

    def _verify_value(self, value: DenseIntOrFPElementsAttr) -> None:
        type, given = memref_of(self.buffer), value.type
        element = given.element_type
        fits = element == type.element_type and given.get_shape() == type.get_shape()
        if not fits:
            raise VerifyException(f"a constant of type {type} has no value of type {given}")
        if self.scope.data != Scope.GLOBAL:
            raise VerifyException('a constant is of scope "global"')

    @property
    def is_constant(self) -> bool:
        """Whether the buffer holds a value that nothing changes."""
        return self.value is not None

    @property
    def axis_separators(self) -> tuple[int, ...]:
        """The dimensions before which another dimension of memory begins."""
        return separators_in(self.attributes.get(AXIS_SEPARATORS))

    @property
    def is_private(self) -> bool:
        """Whether each thread has a buffer of its own."""
        return self.scope.data == Scope.LOCAL.value

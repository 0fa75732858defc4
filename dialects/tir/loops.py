"""Loops: `tir.for` with its kinds, and how an operation finds the loops around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AffineMapAttr, DictionaryAttr, IndexType, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import BaseAttr, IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..support.diagnostics import Diagnostic
from ..support.facts import remembered
from ..support.interned import index, index_attribute
from ..support.looks import by_looks
from ..support.name_hints import name_hint as called
from ..support.provided import load
from .affine import Range, linear, print_expr
from .annotation_keys import verify_annotations
from .expressions import parse_expr
from .outer_blocks import OuterBlockOp
from .symbols import (
    Extent,
    affine_map,
    arguments_around,
    as_affine,
    as_extent,
    depends_on_symbols,
    dimension,
    greatest,
    likely,
)

if TYPE_CHECKING:
    from ..te.expr import Expr

TREES = "tir.trees"
"""What provides functions and loops as trees of nodes."""


class LoopNodes:
    """How a loop's variable is found as a node: by the module that is provided as `TREES`."""

    variable: ClassVar[Callable[[Operation], Expr]]


class ForKind(StrEnum):
    """What a loop's iterations are run as. Counterpart of TVM's `ForKind`."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"
    THREAD_BINDING = "thread_binding"

    @property
    def is_concurrent(self) -> bool:
        """Whether iterations run at the same time."""
        return self in (ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.THREAD_BINDING)


BY_THREADS = (ForKind.PARALLEL, ForKind.THREAD_BINDING)
"""Loops whose iterations are run by several threads."""

INDEPENDENT = "independent"
"""Annotation of a loop: it is known to whoever wrote it that no iteration touches what another one writes."""
ROLLED = "rolled"
"""The annotation of a loop that machine code keeps as a loop: its body is long enough, and stands there once."""
TILES = "tiles"
"""The annotation of a nest of sums of products that is for the target's matrix unit, where it has one."""

PARTS = "parts"
"""The annotation of a loop that is cut where branches beneath it are decided."""

LANES = "lanes"
"""The annotation of a loop over the steps of a reduction: so many neighbours are taken at a time, as a vector, and put
together last."""


_KINDS = {kind.value: kind for kind in ForKind}
"""By name; to ask the enumeration takes long."""


@irdl_op_definition
class ForOp(IRDLOperation):
    """Run the body, which holds loops, blocks and buffers, for each value of the loop variable,
    `min <= i < min + extent`.

    Iterations of a `parallel`, `vectorized` or `thread_binding` loop run at the same time: none may write what another
    reads or writes, and none is a step of a reduction. A `parallel` loop stands in no other. Threads of a block
    (`threadIdx`) may share the steps of a reduction that writes what all of them see.

    The end may depend on the function's symbols: `to (%n + 15) floordiv 16`. Where that is below the start, nothing is
    run.

    `annotations {independent}` asserts of a loop that its iterations are independent where that cannot be seen, because
    data says which elements they touch.

    ```mlir
    tir.for unrolled %i = 0 to 7 {
    }
    ```
    """

    name = "tir.for"

    min = prop_def(IntegerAttr.constr(IndexType()))
    extent = prop_def(IntegerAttr.constr(IndexType()) | BaseAttr(AffineMapAttr))
    kind = prop_def(StringAttr)
    thread = opt_prop_def(StringAttr)
    annotations = opt_prop_def(DictionaryAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    def __init__(
        self,
        extent: Extent,
        body: Region | None = None,
        *,
        min: int = 0,
        kind: ForKind = ForKind.SERIAL,
        name_hint: str | None = None,
    ):
        Operation.__init__(  # there is nothing to find out about its parts
            self,
            properties={
                "min": index_attribute(min),
                "extent": _attribute(extent),
                "kind": _kind(kind),
            },
            regions=(Region(Block(arg_types=(index,))) if body is None else body,),
        )
        if name_hint is not None:
            self.body.block.args[0].name_hint = called(name_hint)

    def same_as(self, other: object) -> bool:
        """Whether both are one loop."""
        return self is other

    @property
    def var(self) -> BlockArgument:
        """The loop variable."""
        block = self.regions[0].first_block
        assert block is not None
        return block.args[0]

    @property
    def loop_var(self) -> Expr:
        """The loop variable as the node that it is in the function's `body`; `loop_var.name` is its name.

        Raises:
            Diagnostic: the loop is in no function, or something in the function is no statement.
        """
        load(TREES)
        return LoopNodes.variable(self)

    @property
    def for_kind(self) -> ForKind:
        return _KINDS.get(self.kind.data) or ForKind(self.kind.data)

    @for_kind.setter
    def for_kind(self, kind: ForKind) -> None:
        self.properties["kind"] = _kind(kind)

    @property
    def size(self) -> Extent:
        """The number of iterations: an integer, or an expression of symbols."""
        extent = self.extent
        if type(extent) is IntegerAttr:
            return extent.value.data
        assert isinstance(extent, AffineMapAttr)
        return as_extent(extent.data.results[0])

    @size.setter
    def size(self, extent: Extent) -> None:
        self.properties["extent"] = _attribute(extent)

    @property
    def is_symbolic(self) -> bool:
        """Whether the number of iterations depends on symbols."""
        return type(self.extent) is AffineMapAttr

    @property
    def likely_trips(self) -> int:
        """The number of iterations for schedule rules to choose by; a guess where it depends on symbols."""
        return likely(self.size)

    @property
    def trip_count(self) -> int:
        """The number of iterations of a loop of which it is known.

        Raises:
            Diagnostic: it depends on symbols.
        """
        extent = self.extent
        if type(extent) is not IntegerAttr:
            raise Diagnostic.at(
                self,
                f"the number of iterations of %{self.var.name_hint or 'i'} is known only when the function is called",
                hint="give the function known extents (specialize), or leave this loop as it is",
            )
        return extent.value.data

    @trip_count.setter
    def trip_count(self, extent: int) -> None:
        self.properties["extent"] = index_attribute(extent)

    @property
    def is_independent(self) -> bool:
        """Whether the loop asserts that its iterations are independent."""
        return self.annotations is not None and INDEPENDENT in self.annotations.data

    @property
    def is_rolled(self) -> bool:
        """Whether it is not to be unrolled, however few its iterations."""
        return self.annotations is not None and ROLLED in self.annotations.data

    @property
    def is_for_tiles(self) -> bool:
        """Whether what it sums is for the target's matrix unit."""
        return self.annotations is not None and TILES in self.annotations.data

    @property
    def is_in_parts(self) -> bool:
        """Whether it is to be cut where branches beneath it are decided."""
        return self.annotations is not None and PARTS in self.annotations.data

    @property
    def lanes(self) -> int | None:
        """How many of its steps, those of a reduction, are taken at a time."""
        value = None if self.annotations is None else self.annotations.data.get(LANES)
        return value.value.data if isinstance(value, IntegerAttr) else None

    @property
    def start(self) -> int:
        return self.min.value.data

    def _loops_around(self) -> Sequence[Attribute]:
        """What `verify_` looks at beside the look: whether it stands in a parallel loop, where it is one."""
        parallel = _kind(ForKind.PARALLEL)
        if self.properties.get("kind") != parallel:
            return ()
        return [parallel] if any(loop.properties.get("kind") == parallel for loop in enclosing_loops(self)) else ()

    @by_looks(_loops_around)
    def verify_(self) -> None:
        if self.kind.data not in _KINDS:
            raise VerifyException(f'unknown loop kind "{self.kind.data}"; known: {", ".join(ForKind)}')
        if isinstance(self.extent, AffineMapAttr):
            map = self.extent.data
            if map.num_dims or len(map.results) != 1 or not depends_on_symbols(*map.results):
                raise VerifyException("an extent that is a map leads from symbols to one number, which depends on them")
        elif self.trip_count < 0:
            raise VerifyException(f"negative extent {self.trip_count}")
        if [a.type for a in self.body.block.args] != [index]:
            raise VerifyException("the body takes one index argument")
        if (self.thread is not None) != (self.for_kind == ForKind.THREAD_BINDING):
            raise VerifyException("a thread is named by, and only by, a loop of kind thread_binding")
        if self.annotations is not None:
            verify_annotations(self.annotations.data)
        if self.for_kind == ForKind.PARALLEL and any(
            loop.for_kind == ForKind.PARALLEL for loop in enclosing_loops(self)
        ):
            raise Diagnostic(
                "a parallel loop stands in another one, whose iterations are the threads' shares already",
                hint="make one of them serial, or fuse them",
            )

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        kind = ForKind.SERIAL
        for candidate in ForKind:
            if parser.parse_optional_keyword(candidate.value):
                kind = candidate
                break
        thread = parser.parse_optional_str_literal() if kind == ForKind.THREAD_BINDING else None
        variable = parser.parse_argument(expect_type=False).resolve(index)
        parser.parse_punctuation("=")
        low = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("to")
        high = parse_expr(parser, "an extent")
        annotations: DictionaryAttr | None = None
        if parser.parse_optional_keyword("annotations"):
            annotations = DictionaryAttr(parser.parse_optional_attr_dict())
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = ForOp(as_extent(linear(high + -low).to_expr()), parser.parse_region([variable]), min=low, kind=kind)
        if thread is not None:
            op.properties["thread"] = StringAttr(thread)
        if annotations is not None:
            op.properties["annotations"] = annotations
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        if self.for_kind != ForKind.SERIAL:
            printer.print_string(f" {self.kind.data}")
        if self.thread is not None:
            printer.print_string(" ")
            printer.print_string_literal(self.thread.data)
        printer.print_string(" ")
        printer.print_ssa_value(self.var)
        printer.print_string(f" = {self.start} to ")
        if self.is_symbolic:
            end = linear(as_affine(self.size) + self.start).to_expr()
            print_expr(printer, end, (), arguments_around(self))
        else:
            printer.print_string(str(self.start + self.trip_count))
        if self.annotations is not None:
            printer.print_string(" annotations ")
            printer.print_attr_dict(self.annotations.data)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _attribute(extent: Extent) -> IntegerAttr[IndexType] | AffineMapAttr:
    return index_attribute(extent) if isinstance(extent, int) else AffineMapAttr(affine_map(0, [extent]))


@cache
def _kind(kind: ForKind) -> StringAttr:
    return StringAttr(kind.value)


def loop_of(var: SSAValue) -> ForOp:
    """The loop whose variable `var` is."""
    owner = var.owner
    assert isinstance(owner, Block)
    loop = owner.parent_op()
    assert isinstance(loop, ForOp)
    return loop


def loop_range(var: SSAValue) -> Range:
    """The values that a loop variable takes; the greatest is below the least where the loop does not run. If that
    depends on symbols, values between which those lie."""
    loop = loop_of(var)
    if loop.is_symbolic:
        return loop.start, loop.start + max(1, greatest(as_affine(loop.size))) - 1
    return loop.start, loop.start + loop.trip_count - 1


def dimension_ranges(values: Sequence[SSAValue]) -> dict[AffineExpr, Range]:
    """The ranges of the dimensions that stand for loop variables `values`."""
    return {dimension(i): loop_range(v) for i, v in enumerate(values)}


@remembered
def enclosing_loops(op: Operation) -> list[ForOp]:
    """The loops around `op`, outermost first."""
    loops: list[ForOp] = []
    parent = op.parent_op()
    while True:
        if type(parent) is ForOp:
            loops.append(parent)
        elif type(parent) is not OuterBlockOp:
            break
        parent = parent.parent_op()
    return loops[::-1]

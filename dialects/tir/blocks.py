"""Blocks: `tir.block`, the unit of computation that a schedule moves about."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    MemRefType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    IRDLOperation,
    opt_prop_def,
    opt_region_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..support.columns import Part, attribute_parts, print_parts, to_text
from ..support.diagnostics import Diagnostic
from ..support.facts import remembered
from ..support.interned import long_array, numbers, segment_sizes
from ..support.operations import irdl_op_definition
from ..support.walking import in_order
from .affine import Access, Range, access_maps, is_affine_in_dimensions, over_dimensions, simplify
from .alignment import BUFFER_DIM_ALIGN, alignments
from .annotation_keys import verify_annotations
from .block_syntax import access_text, expr_text, parse_accesses, parse_bindings
from .buffers import AllocBufferOp, memref_of
from .calls import CallOp, Handed, handed
from .expressions import parse_expr
from .loops import ForOp, index
from .outer_blocks import OuterBlockOp
from .symbols import Extent, affine_map, arguments_around, as_affine, as_extent, depends_on_symbols, dimension, likely


class IterKind(StrEnum):
    """How a block may be reordered along an iterator: `SPATIAL` freely, `REDUCE` as one commutative reduction,
    `OPAQUE` not at all. Counterpart of TVM's data-parallel, commutative-reduce and opaque `IterVar`s."""

    SPATIAL = "spatial"
    REDUCE = "reduce"
    OPAQUE = "opaque"


_KINDS = {kind.value: kind for kind in IterKind}
"""By name; to ask the enumeration takes long."""

_OF_NESTS = (ForOp, OuterBlockOp, AllocBufferOp)
"""What stands around blocks."""


@irdl_op_definition
class BlockOp(IRDLOperation):
    """A unit of computation, addressed by iterators. Counterpart of TVM's `Block` and `BlockRealize`.

    `bindings` gives each iterator's value from the loop variables around (`operands`); `predicate`, where present, is a
    list of affine expressions over the same operands: an instance runs only where all are >= 0. `reads` and `writes`
    name the buffers touched, each with the map from iterators to the element, or none where the place depends on data.
    `init` runs before the first step of a reduction and gives its starting value. Together, the blocks of one name run
    for every value of every iterator, but for those that say `partial`.

    ```mlir
    tir.block @sum(%vi: spatial 4, %vk: reduce 64) = [%i, %k0 * 16 + %k1]
        reads(%x[%vi, %vk] : memref<4x64xf32>) writes(%y[%vi] : memref<4xf32>) {
      %0 = memref.load %y[%vi] : memref<4xf32>
      %1 = memref.load %x[%vi, %vk] : memref<4x64xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%vi] : memref<4xf32>
    } init(%wi, %wk) {
      %3 = arith.constant 0.0 : f32
      memref.store %3, %y[%wi] : memref<4xf32>
    }
    ```
    """

    name = "tir.block"

    sym_name = prop_def(StringAttr)
    iter_kinds = prop_def(ArrayAttr[StringAttr])
    iter_extents = prop_def(DenseArrayBase.constr(i64) | BaseAttr(AffineMapAttr))
    partial = opt_prop_def(DenseArrayBase.constr(i64))
    bindings = prop_def(AffineMapAttr)
    predicate = opt_prop_def(AffineMapAttr)
    read_maps = prop_def(ArrayAttr)
    write_maps = prop_def(ArrayAttr)
    loop_vars = var_operand_def(index)
    reads = var_operand_def(MemRefType)
    writes = var_operand_def(MemRefType)
    body = region_def("single_block")
    init = opt_region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator())

    def __init__(
        self,
        name: str,
        iters: Sequence[tuple[IterKind, Extent]],
        bindings: AffineMap,
        loop_vars: Sequence[SSAValue],
        body: Region,
        init: Region | None = None,
        predicate: AffineMap | None = None,
        attributes: dict[str, Attribute] | None = None,
    ):
        super().__init__(
            operands=[loop_vars, [], []],
            properties={
                "sym_name": StringAttr(name),
                "iter_kinds": ArrayAttr([StringAttr(kind.value) for kind, _ in iters]),
                "iter_extents": _extents_attribute([extent for _, extent in iters]),
                "bindings": AffineMapAttr(affine_map(bindings.num_dims, bindings.results)),
                "read_maps": ArrayAttr([]),
                "write_maps": ArrayAttr([]),
                **({"predicate": AffineMapAttr(predicate)} if predicate is not None else {}),
            },
            attributes=attributes or {},
            regions=[body, [] if init is None else [init]],
        )
        self.update_accesses()

    @property
    def block_name(self) -> str:
        return self.sym_name.data

    name_hint = block_name
    """TVM's word for it."""

    def same_as(self, other: object) -> bool:
        """Whether both are one block."""
        return self is other

    @property
    def iters(self) -> tuple[BlockArgument, ...]:
        """The iterators, as the body sees them."""
        return tuple(self.body.block.args)

    @property
    @remembered
    def kinds(self) -> tuple[IterKind, ...]:
        return tuple([_KINDS.get(kind.data) or IterKind(kind.data) for kind in self.iter_kinds])

    @property
    @remembered
    def sizes(self) -> tuple[Extent, ...]:
        """The number of values of each iterator: integers, or expressions of symbols."""
        extents = self.iter_extents
        if type(extents) is AffineMapAttr:
            return tuple(as_extent(expr) for expr in extents.data.results)
        assert not isinstance(extents, AffineMapAttr)
        return numbers(extents)

    @sizes.setter
    def sizes(self, extents: Sequence[Extent]) -> None:
        self.properties["iter_extents"] = _extents_attribute(extents)

    @property
    def is_symbolic(self) -> bool:
        """Whether the number of values of an iterator depends on symbols."""
        return isinstance(self.iter_extents, AffineMapAttr)

    @property
    def likely_extents(self) -> tuple[int, ...]:
        """The number of values of each iterator for schedule rules to choose by; guesses where symbols decide."""
        return tuple(map(likely, self.sizes))

    @property
    @remembered
    def extents(self) -> tuple[int, ...]:
        """The number of values of each iterator of a block of which they are known.

        Raises:
            Diagnostic: one depends on symbols.
        """
        if isinstance(self.iter_extents, AffineMapAttr):
            raise Diagnostic.at(
                self,
                f"the extents of block @{self.block_name} are known only when the function is called",
                hint="give the function known extents (specialize), or leave this block as it is",
            )
        return numbers(self.iter_extents)

    @property
    def partial_iters(self) -> frozenset[int]:
        """The iterators, by number, that need not take every value."""
        return frozenset() if self.partial is None else frozenset(int(v) for v in self.partial.get_values())

    @partial_iters.setter
    def partial_iters(self, numbers: frozenset[int]) -> None:
        if numbers:
            self.properties["partial"] = DenseArrayBase.from_list(i64, sorted(numbers))
        else:
            self.properties.pop("partial", None)

    def iter_name(self, number: int) -> str:
        """How a message calls an iterator."""
        return f"%{self.iters[number].name_hint}" if self.iters[number].name_hint else f"number {number}"

    @property
    def is_reduction(self) -> bool:
        return IterKind.REDUCE in self.kinds

    def set_bindings(self, bindings: Sequence[AffineExpr], loop_vars: Sequence[SSAValue]) -> None:
        """Bind the iterators anew: `bindings` (and the predicate, if any) are over `loop_vars` as dimensions."""
        reads, writes = list(self.reads), list(self.writes)
        self.operands = [*loop_vars, *reads, *writes]
        self._set_segments(len(loop_vars), len(reads), len(writes))
        self.properties["bindings"] = AffineMapAttr(affine_map(len(loop_vars), bindings))

    def set_predicate(self, conditions: Sequence[AffineExpr]) -> None:
        """Let instances run only where all `conditions` (over `loop_vars` as dimensions) are >= 0."""
        if conditions:
            self.properties["predicate"] = AffineMapAttr(affine_map(len(self.loop_vars), conditions))
        else:
            self.properties.pop("predicate", None)

    @property
    def conditions(self) -> tuple[AffineExpr, ...]:
        return () if self.predicate is None else self.predicate.data.results

    @remembered
    def _inside(self) -> list[tuple[Sequence[BlockArgument], list[Operation]]]:
        """What body and init take, and the operations in them, in order."""
        return [(region.block.args, in_order(region)) for region in self.regions]

    @remembered
    def accesses(self) -> list[Access]:
        """Every element access of body and init, in order."""
        found: list[Access] = []
        for args, ops in self._inside():
            touching = [op for op in ops if type(op) is memref.LoadOp or type(op) is memref.StoreOp]
            found += map(Access, touching, access_maps(touching, over_dimensions(args)))
        return found

    @remembered
    def handed(self) -> list[Handed]:
        """What the calls of body and init do with the buffers that they are handed, in order."""
        calls = [op for _, ops in self._inside() for op in ops if type(op) is CallOp]
        return [each for call in calls for each in handed(call)]

    def touches(self) -> list[Access | Handed]:
        """All that body and init do with buffers."""
        given = self.handed()
        if not given:
            return list(self.accesses())
        order = {op: number for region in self.regions for number, op in enumerate(in_order(region))}
        return sorted([*self.accesses(), *given], key=lambda touch: (self._is_init(touch.op), order[touch.op]))

    def _is_init(self, op: Operation) -> bool:
        return self.init is not None and self.init.is_ancestor(op)

    def derived_accesses(self) -> tuple[dict[SSAValue, Attribute], dict[SSAValue, Attribute]]:
        """What the body reads and what it writes: each buffer with the map to its element, or unit where that is not
        the same, or not a map, for all accesses."""
        reads, writes = self._touched()
        return _as_attributes(reads), _as_attributes(writes)

    def _touched(self) -> tuple[dict[SSAValue, AffineMap | None], dict[SSAValue, AffineMap | None]]:
        """The same as maps, none for unit."""
        reads: dict[SSAValue, AffineMap | None] = {}
        writes: dict[SSAValue, AffineMap | None] = {}
        for access in self.accesses():
            seen = writes if access.is_write else reads
            if seen.setdefault(access.buffer, access.map) != access.map:
                seen[access.buffer] = None
        for each in self.handed():
            (writes if each.is_write else reads)[each.buffer] = None
        if self.is_reduction:
            for buffer in writes:  # what a reduction updates is written, not read from outside
                reads.pop(buffer, None)
        return reads, writes

    def update_accesses(self) -> None:
        """Recompute `reads` and `writes` from the body."""
        reads, writes = self.derived_accesses()
        loop_vars = list(self.loop_vars)
        self.operands = [*loop_vars, *reads, *writes]
        self._set_segments(len(loop_vars), len(reads), len(writes))
        self.properties["read_maps"] = ArrayAttr(reads.values())
        self.properties["write_maps"] = ArrayAttr(writes.values())

    def _set_segments(self, *sizes: int) -> None:
        self.properties["operandSegmentSizes"] = segment_sizes(*sizes)

    def verify_(self) -> None:
        self._verify_body()
        self._verify_iterators()
        self._verify_init()
        reads, writes = self.reads, self.writes
        if len(self.read_maps) != len(reads) or len(self.write_maps) != len(writes):
            raise VerifyException("each buffer read or written has one map")
        for buffer, map in zip((*reads, *writes), (*self.read_maps, *self.write_maps), strict=True):
            self._verify_map(memref_of(buffer), map)
        for values, what in ((self.loop_vars, "bound to"), (reads, "read"), (writes, "written")):
            if len(set(values)) != len(values):
                raise VerifyException(f"a value stands twice among those that are {what}")
        self._verify_accesses()
        verify_annotations(self.attributes)
        alignments(self.attributes.get(BUFFER_DIM_ALIGN), self.writes)

    def _verify_body(self) -> None:
        """A block has no blocks in it, whose iterators are bound to loops."""
        for _, ops in self._inside():
            for op in ops:
                if type(op) in _OF_NESTS or type(op) is BlockOp:
                    raise Diagnostic.at(
                        op,
                        f"stands in the body of block @{self.block_name}, which loads, computes and stores elements",
                        hint="loops and blocks that are one block to those around them stand in a tir.outer_block",
                    )

    def _verify_iterators(self) -> None:
        iters, sizes, loop_vars, bindings = self.iters, self.sizes, self.loop_vars, self.bindings.data
        kinds = self.iter_kinds.data
        count = len(iters)
        if any([a.type != index for a in iters]):
            raise VerifyException("iterators have type index")
        if not len(kinds) == len(sizes) == len(bindings.results) == count:
            raise VerifyException(f"{count} iterators need as many kinds, extents and bindings")
        if any([kind.data not in _KINDS for kind in kinds]):
            raise VerifyException(f"unknown iterator kind; known: {', '.join(IterKind)}")
        extents = self.iter_extents
        if type(extents) is AffineMapAttr and (extents.data.num_dims or not depends_on_symbols(*extents.data.results)):
            raise VerifyException("extents that are a map lead from symbols to numbers, one of which depends on them")
        for number, extent in enumerate(sizes):
            if isinstance(extent, int) and extent < 0:
                raise VerifyException(f"iterator {number} has the negative extent {extent}")
        if (partial := self.partial_iters) and not partial <= set(range(count)):
            raise VerifyException(f"there are {count} iterators that can be partial, numbered from 0")
        if not all([type(v.owner) is Block and type(v.owner.parent_op()) is ForOp for v in loop_vars]):
            raise VerifyException("an iterator can only be bound to variables of the loops around the block")
        predicate = self.predicate
        for map in (bindings,) if predicate is None else (bindings, predicate.data):
            if map.num_dims != len(loop_vars):
                raise VerifyException("bindings and predicate are over the block's loop variables")
            if not all([is_affine_in_dimensions(expr) for expr in map.results]):
                what = "bindings and predicate multiply by constants or symbols, and divide by positive ones"
                raise VerifyException(what)

    def _verify_init(self) -> None:
        if self.init is None:
            return
        if not self.is_reduction:
            raise VerifyException("a block without reduction iterators has no init")
        iters = self.init.block.args
        if [a.type for a in iters] != [index] * len(self.iters):
            raise VerifyException("init takes the same iterators as the body")
        for number, kind in enumerate(self.kinds):
            if kind == IterKind.REDUCE and iters[number].uses:
                raise VerifyException(
                    f"init uses the reduction's iterator {self.iter_name(number)}, but runs once for all its values"
                )
        accesses = self.accesses()
        started = [a for a in accesses if self.init.is_ancestor(a.op)]
        written = [a for a in accesses if a.is_write and a not in started]
        for access in started:
            if not access.is_write:
                if access.buffer in self.writes:
                    raise VerifyException("init reads a buffer that the block writes, before it has a value")
                continue
            maps = [a.map for a in written if a.buffer is access.buffer]
            if not maps:
                raise VerifyException("init writes a buffer that the body does not")
            own = access.map
            if own is not None and not any(map is None or _same_indices(map, own) for map in maps):
                raise Diagnostic(
                    f"init writes {_name(access.buffer)} elsewhere than the body, which goes on from what stands there",
                    hint="store to the same element in both",
                )

    def _verify_accesses(self) -> None:
        """The declared accesses are those of the body; a declared unit stands for any place."""
        found = self._touched()
        touched = {*found[0], *found[1]}
        reads, writes = self.reads, self.writes
        declared = {*reads, *writes}
        for access in self.touches():
            if access.buffer not in declared:
                raise Diagnostic(
                    f"the body touches a buffer that the block does not declare: {_name(access.buffer)}",
                    hint=f"add it to {'writes' if access.is_write else 'reads'}(...)",
                )
            if access.is_write and access.buffer not in writes:
                raise VerifyException(f"the body writes a buffer that the block only reads: {_name(access.buffer)}")
        for found_here, buffers, maps, word in (
            (found[0], reads, self.read_maps, "read"),
            (found[1], writes, self.write_maps, "write"),
        ):
            for buffer, map in zip(buffers, maps, strict=True):
                if buffer not in found_here:
                    if buffer not in touched or not self.is_reduction:
                        raise Diagnostic(f"the block declares to {word} {_name(buffer)}, but its body does not")
                elif type(map) is not UnitAttr and not _is_map(map, actual := found_here[buffer]):
                    if not memref_of(buffer).get_num_dims():
                        continue  # all of it, which a call is handed, is one element
                    where = "at several, or where data says" if actual is None else "elsewhere"
                    raise Diagnostic(
                        f"the block declares to {word} {_name(buffer)} at one place, but its body {word}s {where}",
                        hint=f"declare {_name(buffer)} with the indices that the body {word}s, or with none",
                    )
            for buffer in found_here:
                if buffer not in buffers:
                    raise Diagnostic(f"the body {word}s {_name(buffer)}, which the block does not declare to {word}")

    def _verify_map(self, type: MemRefType[Attribute], map: Attribute) -> None:
        shape = type.get_shape()
        if isinstance(map, UnitAttr):
            return
        if not isinstance(map, AffineMapAttr):
            raise VerifyException(f"a buffer's map is an affine map, or unit where it depends on data, not {map}")
        if map.data.num_dims != len(self.iters) or len(map.data.results) != len(shape):
            raise VerifyException(
                f"the map {map.data} does not lead from the block's {len(self.iters)} iterators to an element of {type}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        name = parser.parse_symbol_name()
        arguments: list[Parser.Argument] = []
        kinds: list[IterKind] = []
        extents: list[Extent] = []
        partial: list[int] = []

        def iterator() -> None:
            variable = parser.parse_argument(expect_type=False)
            parser.parse_punctuation(":")
            if parser.parse_optional_keyword("partial"):
                partial.append(len(arguments))
            kinds.append(parser.parse_str_enum(IterKind))
            extents.append(as_extent(parse_expr(parser, "an extent")))
            arguments.append(variable.resolve(index))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, iterator)
        parser.parse_punctuation("=")
        bindings, loop_vars = parse_bindings(parser, [])
        conditions: tuple[AffineExpr, ...] = ()
        if parser.parse_optional_keyword("where"):
            conditions, loop_vars = parse_bindings(parser, loop_vars)
        parser.parse_keyword("reads")
        reads, read_maps = parse_accesses(parser, arguments)
        parser.parse_keyword("writes")
        writes, write_maps = parse_accesses(parser, arguments)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(arguments)
        init: Region | None = None
        if parser.parse_optional_keyword("init"):
            init_arguments = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False).resolve(index)
            )
            init = parser.parse_region(init_arguments)
        op = BlockOp.create(
            operands=[*loop_vars, *reads, *writes],
            properties={
                "sym_name": name,
                "iter_kinds": ArrayAttr([StringAttr(kind.value) for kind in kinds]),
                "iter_extents": _extents_attribute(extents),
                "bindings": AffineMapAttr(affine_map(len(loop_vars), bindings)),
                "read_maps": ArrayAttr(read_maps),
                "write_maps": ArrayAttr(write_maps),
                **({"predicate": AffineMapAttr(affine_map(len(loop_vars), conditions))} if conditions else {}),
            },
            attributes=dict(attributes.data) if attributes is not None else {},
            regions=[body, *([init] if init is not None else [])],
        )
        op.partial_iters = frozenset(partial)
        op._set_segments(len(loop_vars), len(reads), len(writes))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.block_name)
        arguments = arguments_around(self)
        iterators = [
            f"{to_text(printer, functools.partial(printer.print_ssa_value, v))}: "
            f"{'partial ' if number in self.partial_iters else ''}{kind.value} "
            f"{expr_text(printer, as_affine(extent), (), arguments)}"
            for number, (v, kind, extent) in enumerate(zip(self.iters, self.kinds, self.sizes, strict=True))
        ]
        variables = list(self.loop_vars)
        bindings = [expr_text(printer, expr, variables, arguments) for expr in self.bindings.data.results]
        parts = [Part("(", iterators, ") ="), Part("[", bindings, "]")]
        if self.conditions:
            conditions = [expr_text(printer, expr, variables, arguments) for expr in self.conditions]
            parts.append(Part("where [", conditions, "]"))
        for word, buffers, maps in (("reads", self.reads, self.read_maps), ("writes", self.writes, self.write_maps)):
            accesses = [access_text(printer, b, m, self.iters, arguments) for b, m in zip(buffers, maps, strict=True)]
            parts.append(Part(f"{word}(", accesses, ")"))
        print_parts(printer, [*parts, *attribute_parts(printer, self.attributes)])
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        if self.init is not None:
            printer.print_string(" init")
            with printer.in_parens():
                printer.print_list(self.init.block.args, printer.print_ssa_value)
            printer.print_string(" ")
            printer.print_region(self.init, print_entry_block_args=False, print_empty_block=False)


def _extents_attribute(extents: Sequence[Extent]) -> DenseArrayBase | AffineMapAttr:
    if all(isinstance(extent, int) for extent in extents):
        return long_array(*cast("Sequence[int]", extents))
    return AffineMapAttr(affine_map(0, [as_affine(extent) for extent in extents]))


def _name(buffer: SSAValue) -> str:
    return f"%{buffer.name_hint}" if buffer.name_hint else "a buffer without a name"


def _as_attributes(maps: dict[SSAValue, AffineMap | None]) -> dict[SSAValue, Attribute]:
    return {buffer: UnitAttr() if map is None else AffineMapAttr(map) for buffer, map in maps.items()}


def _is_map(attribute: Attribute, map: AffineMap | None) -> bool:
    """Whether an attribute is a map with the indices of `map`."""
    if map is None or not isinstance(attribute, AffineMapAttr):
        return False
    return attribute.data == map or _same_indices(attribute.data, map)


def _same_indices(a: AffineMap, b: AffineMap) -> bool:
    return [simplify(e) for e in a.results] == [simplify(e) for e in b.results]


def accessing_blocks(buffer: SSAValue) -> list[BlockOp]:
    """The blocks that declare an access to `buffer`, each once."""
    return list(dict.fromkeys(use.operation for use in buffer.uses if type(use.operation) is BlockOp))


def iterator_ranges(block: BlockOp) -> dict[AffineExpr, Range]:
    """The values of the iterators of a block, as dimensions, where their number is known."""
    return {dimension(n): (0, extent - 1) for n, extent in enumerate(block.sizes) if isinstance(extent, int)}


@remembered
def blocks_under(op: Operation) -> list[BlockOp]:
    """The blocks in `op`, in order, `op` itself included."""
    itself = [op] if type(op) is BlockOp else []
    return itself + [inner for region in op.regions for inner in in_order(region) if type(inner) is BlockOp]

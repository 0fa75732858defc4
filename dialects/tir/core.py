"""TIR's own concepts: functions on buffers, loops with kinds, and blocks.

What MLIR already has is used as it is: a buffer is a `memref` value, an element access is `memref.load` or
`memref.store`, arithmetic is `arith` and `math`. A block is the unit that a schedule moves about: an instance of it
computes one element (or one step of a reduction) and is addressed by its iterators, whatever the loops around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    opt_region_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .affine import Access, access_map, print_expr

index = IndexType()


@irdl_op_definition
class PrimFuncOp(IRDLOperation):
    """A function on buffers: inputs first, then the buffers it writes. Counterpart of TVM's `PrimFunc`.

    ```mlir
    tir.prim_func @double(%x: memref<8xf32>, %y: memref<8xf32>) {
      tir.for parallel %i = 0 to 8 {
        tir.block @double(%vi: spatial 8) = [%i]
            reads(%x[(d0) -> (d0)] : memref<8xf32>) writes(%y[(d0) -> (d0)] : memref<8xf32>) {
          %0 = memref.load %x[%vi] : memref<8xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %y[%vi] : memref<8xf32>
        }
      }
    }
    ```
    """

    name = "tir.prim_func"

    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    def __init__(
        self,
        name: str,
        argument_types: Sequence[Attribute],
        body: Region | None = None,
        attributes: dict[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(argument_types, []),
            },
            attributes=attributes or {},
            regions=[Region(Block(arg_types=argument_types)) if body is None else body],
        )

    def verify_(self) -> None:
        if tuple(a.type for a in self.body.block.args) != self.function_type.inputs.data:
            raise VerifyException(f"the body's arguments differ from the type of @{self.sym_name.data}")

    @classmethod
    def parse(cls, parser: Parser) -> PrimFuncOp:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        attributes = parser.parse_optional_attr_dict_with_keyword(("sym_name", "function_type"))
        body = parser.parse_region(arguments)
        return PrimFuncOp(
            name.data, [a.type for a in arguments], body, dict(attributes.data) if attributes is not None else None
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def memref_of(buffer: SSAValue) -> MemRefType[Attribute]:
    """The type of a buffer."""
    type = buffer.type
    assert isinstance(type, MemRefType)
    return cast("MemRefType[Attribute]", type)


class Scope(StrEnum):
    """Where a buffer lives: `GLOBAL` in the memory that all threads share, `LOCAL` in each thread's own (registers,
    where the loops over it are unrolled)."""

    GLOBAL = "global"
    LOCAL = "local"


@irdl_op_definition
class AllocBufferOp(IRDLOperation):
    """A buffer of the function's own, alive in the region where it stands. Counterpart of TVM's `alloc_buffers`.

    ```mlir
    %acc = tir.alloc_buffer "local" : memref<7x2x16xf32>
    ```
    """

    name = "tir.alloc_buffer"

    scope = prop_def(StringAttr)
    buffer = result_def(MemRefType)

    assembly_format = "$scope attr-dict `:` type($buffer)"

    def __init__(self, type: MemRefType[Attribute], scope: Scope = Scope.GLOBAL):
        super().__init__(result_types=[type], properties={"scope": StringAttr(scope.value)})

    def verify_(self) -> None:
        if self.scope.data not in tuple(Scope):
            raise VerifyException(f'unknown scope "{self.scope.data}"; known: {", ".join(Scope)}')


class ForKind(StrEnum):
    """What a loop's iterations are run as. Counterpart of TVM's `ForKind`."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"
    THREAD_BINDING = "thread_binding"


@irdl_op_definition
class ForOp(IRDLOperation):
    """Run the body for each value of the loop variable, `min <= i < min + extent`.

    ```mlir
    tir.for unrolled %i = 0 to 7 {
    }
    ```
    """

    name = "tir.for"

    min = prop_def(IntegerAttr.constr(IndexType()))
    extent = prop_def(IntegerAttr.constr(IndexType()))
    kind = prop_def(StringAttr)
    thread = opt_prop_def(StringAttr)
    annotations = opt_prop_def(DictionaryAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    def __init__(
        self,
        extent: int,
        body: Region | None = None,
        *,
        min: int = 0,
        kind: ForKind = ForKind.SERIAL,
        name_hint: str | None = None,
    ):
        super().__init__(
            properties={
                "min": IntegerAttr(min, index),
                "extent": IntegerAttr(extent, index),
                "kind": StringAttr(kind.value),
            },
            regions=[Region(Block(arg_types=[index])) if body is None else body],
        )
        if name_hint is not None:
            self.body.block.args[0].name_hint = name_hint

    @property
    def var(self) -> BlockArgument:
        """The loop variable."""
        return self.body.block.args[0]

    @property
    def for_kind(self) -> ForKind:
        return ForKind(self.kind.data)

    @for_kind.setter
    def for_kind(self, kind: ForKind) -> None:
        self.properties["kind"] = StringAttr(kind.value)

    @property
    def trip_count(self) -> int:
        return self.extent.value.data

    @trip_count.setter
    def trip_count(self, extent: int) -> None:
        self.properties["extent"] = IntegerAttr(extent, index)

    @property
    def start(self) -> int:
        return self.min.value.data

    def verify_(self) -> None:
        if self.kind.data not in tuple(ForKind):
            raise VerifyException(f'unknown loop kind "{self.kind.data}"; known: {", ".join(ForKind)}')
        if self.trip_count < 0:
            raise VerifyException(f"negative extent {self.trip_count}")
        if [a.type for a in self.body.block.args] != [index]:
            raise VerifyException("the body takes one index argument")
        if (self.thread is not None) != (self.for_kind == ForKind.THREAD_BINDING):
            raise VerifyException("a thread is named by, and only by, a loop of kind thread_binding")

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
        high = parser.parse_integer(allow_boolean=False)
        annotations: DictionaryAttr | None = None
        if parser.parse_optional_keyword("annotations"):
            annotations = DictionaryAttr(parser.parse_optional_attr_dict())
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = ForOp(high - low, parser.parse_region([variable]), min=low, kind=kind)
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
        printer.print_string(f" = {self.start} to {self.start + self.trip_count}")
        if self.annotations is not None:
            printer.print_string(" annotations ")
            printer.print_attr_dict(self.annotations.data)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


class IterKind(StrEnum):
    """How a block may be reordered along an iterator: `SPATIAL` freely, `REDUCE` as one commutative reduction,
    `OPAQUE` not at all. Counterpart of TVM's data-parallel, commutative-reduce and opaque `IterVar`s."""

    SPATIAL = "spatial"
    REDUCE = "reduce"
    OPAQUE = "opaque"


@irdl_op_definition
class BlockOp(IRDLOperation):
    """A unit of computation, addressed by iterators. Counterpart of TVM's `Block` and `BlockRealize`.

    `bindings` gives each iterator's value from the loop variables around (`operands`); `predicate`, where present, is a
    list of affine expressions over the same operands: an instance runs only where all are >= 0. `reads` and `writes`
    name the buffers touched, each with the map from iterators to the element, or none where the place depends on data.
    `init` runs before the first step of a reduction and gives its starting value.

    ```mlir
    tir.block @sum(%vi: spatial 4, %vk: reduce 64) = [%i, %k0 * 16 + %k1]
        reads(%x[(d0, d1) -> (d0, d1)] : memref<4x64xf32>) writes(%y[(d0, d1) -> (d0)] : memref<4xf32>) {
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
    iter_extents = prop_def(DenseArrayBase.constr(i64))
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
        iters: Sequence[tuple[IterKind, int]],
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
                "iter_extents": DenseArrayBase.from_list(i64, [extent for _, extent in iters]),
                "bindings": AffineMapAttr(bindings),
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

    @property
    def iters(self) -> tuple[BlockArgument, ...]:
        """The iterators, as the body sees them."""
        return tuple(self.body.block.args)

    @property
    def kinds(self) -> tuple[IterKind, ...]:
        return tuple(IterKind(kind.data) for kind in self.iter_kinds)

    @property
    def extents(self) -> tuple[int, ...]:
        """The number of values of each iterator."""
        return tuple(int(v) for v in self.iter_extents.get_values())

    @property
    def is_reduction(self) -> bool:
        return IterKind.REDUCE in self.kinds

    def set_bindings(self, bindings: Sequence[AffineExpr], loop_vars: Sequence[SSAValue]) -> None:
        """Bind the iterators anew: `bindings` (and the predicate, if any) are over `loop_vars` as dimensions."""
        reads, writes = list(self.reads), list(self.writes)
        self.operands = [*loop_vars, *reads, *writes]
        self._set_segments(len(loop_vars), len(reads), len(writes))
        self.properties["bindings"] = AffineMapAttr(AffineMap(len(loop_vars), 0, tuple(bindings)))

    def set_predicate(self, conditions: Sequence[AffineExpr]) -> None:
        """Let instances run only where all `conditions` (over `loop_vars` as dimensions) are >= 0."""
        if conditions:
            self.properties["predicate"] = AffineMapAttr(AffineMap(len(self.loop_vars), 0, tuple(conditions)))
        else:
            self.properties.pop("predicate", None)

    @property
    def conditions(self) -> tuple[AffineExpr, ...]:
        return () if self.predicate is None else self.predicate.data.results

    def accesses(self) -> list[Access]:
        """Every element access of body and init, in order."""
        found: list[Access] = []
        for region in (self.body, *([self.init] if self.init is not None else [])):
            for op in region.walk():
                if isinstance(op, memref.LoadOp | memref.StoreOp):
                    found.append(Access(op, access_map(op, region.block.args)))
        return found

    def update_accesses(self) -> None:
        """Recompute `reads` and `writes` from the body."""
        reads: dict[SSAValue, Attribute] = {}
        writes: dict[SSAValue, Attribute] = {}
        for access in self.accesses():
            seen = writes if access.is_write else reads
            attribute: Attribute = UnitAttr() if access.map is None else AffineMapAttr(access.map)
            previous = seen.setdefault(access.buffer, attribute)
            if previous != attribute:
                seen[access.buffer] = UnitAttr()
        for buffer in writes:  # what a reduction updates is written, not read from outside
            if self.is_reduction:
                reads.pop(buffer, None)
        loop_vars = list(self.loop_vars)
        self.operands = [*loop_vars, *reads, *writes]
        self._set_segments(len(loop_vars), len(reads), len(writes))
        self.properties["read_maps"] = ArrayAttr(reads.values())
        self.properties["write_maps"] = ArrayAttr(writes.values())

    def _set_segments(self, *sizes: int) -> None:
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)

    def verify_(self) -> None:
        count = len(self.iters)
        if any(a.type != index for a in self.iters):
            raise VerifyException("iterators have type index")
        if not len(self.iter_kinds) == len(self.extents) == len(self.bindings.data.results) == count:
            raise VerifyException(f"{count} iterators need as many kinds, extents and bindings")
        if any(kind.data not in tuple(IterKind) for kind in self.iter_kinds):
            raise VerifyException(f"unknown iterator kind; known: {', '.join(IterKind)}")
        for number, extent in enumerate(self.extents):
            if extent < 0:
                raise VerifyException(f"iterator {number} has the negative extent {extent}")
        if not all(isinstance(v.owner, Block) and isinstance(v.owner.parent_op(), ForOp) for v in self.loop_vars):
            raise VerifyException("an iterator can only be bound to variables of the loops around the block")
        for map in (self.bindings, self.predicate):
            if map is not None and (map.data.num_dims != len(self.loop_vars) or map.data.num_symbols):
                raise VerifyException("bindings and predicate are over the block's loop variables")
        if self.init is not None and not self.is_reduction:
            raise VerifyException("a block without reduction iterators has no init")
        if self.init is not None and len(self.init.block.args) != count:
            raise VerifyException("init takes the same iterators as the body")
        if len(self.read_maps) != len(self.reads) or len(self.write_maps) != len(self.writes):
            raise VerifyException("each buffer read or written has one map")
        for buffer, map in zip((*self.reads, *self.writes), (*self.read_maps, *self.write_maps), strict=True):
            self._verify_map(memref_of(buffer), map)
        declared = set(self.reads) | set(self.writes)
        for access in self.accesses():
            if access.buffer not in declared:
                raise VerifyException("the body touches a buffer that the block does not declare")
            if access.is_write and access.buffer not in self.writes:
                raise VerifyException("the body writes a buffer that the block only reads")

    def _verify_map(self, type: MemRefType[Attribute], map: Attribute) -> None:
        if isinstance(map, UnitAttr):
            return
        if not isinstance(map, AffineMapAttr):
            raise VerifyException(f"a buffer's map is an affine map, or unit where it depends on data, not {map}")
        if map.data.num_dims != len(self.iters) or len(map.data.results) != len(type.get_shape()):
            raise VerifyException(
                f"the map {map.data} does not lead from the block's {len(self.iters)} iterators to an element of {type}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        name = parser.parse_symbol_name()
        arguments: list[Parser.Argument] = []
        kinds: list[IterKind] = []
        extents: list[int] = []

        def iterator() -> None:
            variable = parser.parse_argument(expect_type=False)
            parser.parse_punctuation(":")
            kinds.append(parser.parse_str_enum(IterKind))
            extents.append(parser.parse_integer(allow_boolean=False))
            arguments.append(variable.resolve(index))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, iterator)
        parser.parse_punctuation("=")
        bindings, loop_vars = _parse_affine_list(parser, [])
        conditions: tuple[AffineExpr, ...] = ()
        if parser.parse_optional_keyword("where"):
            conditions, loop_vars = _parse_affine_list(parser, loop_vars)
        maps: dict[str, list[Attribute]] = {"reads": [], "writes": []}
        buffers: dict[str, list[SSAValue]] = {"reads": [], "writes": []}
        for keyword in ("reads", "writes"):
            parser.parse_keyword(keyword)

            def access(keyword: str = keyword) -> None:
                buffer = parser.parse_unresolved_operand()
                map: Attribute = UnitAttr()
                if parser.parse_optional_punctuation("["):
                    map = AffineMapAttr(parser.parse_affine_map())
                    parser.parse_punctuation("]")
                parser.parse_punctuation(":")
                buffers[keyword].append(parser.resolve_operand(buffer, parser.parse_type()))
                maps[keyword].append(map)

            parser.parse_comma_separated_list(parser.Delimiter.PAREN, access)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(arguments)
        init: Region | None = None
        if parser.parse_optional_keyword("init"):
            init_arguments = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False).resolve(index)
            )
            init = parser.parse_region(init_arguments)
        op = BlockOp.create(
            operands=[*loop_vars, *buffers["reads"], *buffers["writes"]],
            properties={
                "sym_name": name,
                "iter_kinds": ArrayAttr([StringAttr(kind.value) for kind in kinds]),
                "iter_extents": DenseArrayBase.from_list(i64, extents),
                "bindings": AffineMapAttr(AffineMap(len(loop_vars), 0, bindings)),
                "read_maps": ArrayAttr(maps["reads"]),
                "write_maps": ArrayAttr(maps["writes"]),
                **({"predicate": AffineMapAttr(AffineMap(len(loop_vars), 0, conditions))} if conditions else {}),
            },
            attributes=dict(attributes.data) if attributes is not None else {},
            regions=[body, *([init] if init is not None else [])],
        )
        op._set_segments(len(loop_vars), len(buffers["reads"]), len(buffers["writes"]))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.block_name)

        def iterator(item: tuple[BlockArgument, IterKind, int]) -> None:
            printer.print_ssa_value(item[0])
            printer.print_string(f": {item[1].value} {item[2]}")

        with printer.in_parens():
            printer.print_list(zip(self.iters, self.kinds, self.extents, strict=True), iterator)
        printer.print_string(" = ")
        self._print_affine_list(printer, self.bindings.data.results)
        if self.conditions:
            printer.print_string(" where ")
            self._print_affine_list(printer, self.conditions)

        def access(item: tuple[SSAValue, Attribute]) -> None:
            printer.print_ssa_value(item[0])
            if isinstance(item[1], AffineMapAttr):
                printer.print_string(f"[{item[1].data}]")
            printer.print_string(" : ")
            printer.print_attribute(item[0].type)

        for keyword, buffers, maps in (("reads", self.reads, self.read_maps), ("writes", self.writes, self.write_maps)):
            printer.print_string(f" {keyword}")
            with printer.in_parens():
                printer.print_list(zip(buffers, maps, strict=True), access)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        if self.init is not None:
            printer.print_string(" init")
            with printer.in_parens():
                printer.print_list(self.init.block.args, printer.print_ssa_value)
            printer.print_string(" ")
            printer.print_region(self.init, print_entry_block_args=False, print_empty_block=False)

    def _print_affine_list(self, printer: Printer, exprs: Sequence[AffineExpr]) -> None:
        with printer.in_square_brackets():
            printer.print_list(exprs, lambda expr: print_expr(printer, expr, self.loop_vars))


def _parse_affine_list(parser: Parser, known: Sequence[SSAValue]) -> tuple[tuple[AffineExpr, ...], list[SSAValue]]:
    """Parse `[%i * 4 + %j, %k]`: the expressions over the values `known`, extended by those first met here."""
    map, values = parser.parse_affine_map_of_ssa_ids()
    variables = list(known)
    for value in values:
        if value not in variables:
            variables.append(value)
    dims = [AffineExpr.dimension(variables.index(value)) for value in values]
    return tuple(expr.replace_dims_and_symbols([], dims) for expr in map.results), variables


OPS: list[type[Operation]] = [PrimFuncOp, AllocBufferOp, ForOp, BlockOp]

"""The function whose body is a graph over buffers, and what must hold of one."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..support.diagnostics import Diagnostic
from ..support.shaped import is_memref
from .core import (
    DYNAMIC,
    AliasOp,
    AllocOp,
    CallOp,
    ConstantOp,
    CopyOp,
    ExtentOp,
    PartOp,
    PoolOp,
    ReadExtentOp,
    ScanOp,
    SizeOp,
    buffer_type,
    byte_size,
    root_of,
    unit_bytes,
)
from .lifetimes import Timeline


@irdl_op_definition
class GraphOp(IRDLOperation):
    """A graph of kernels on buffers: it reads its inputs and writes its outputs, which are its caller's.

    The names are those of the model, for whoever calls it. Extents that are known when it is called are `index`
    arguments, `symbols(%n: index)`; `shapes` are then the extents of inputs and outputs over them.

    ```mlir
    mem.graph @main(%x: memref<8xf32>) writes(%y: memref<8xf32>) attributes {input_names = ["data"]} {
      mem.call @k(%x) writes(%y) : (memref<8xf32>) writes(memref<8xf32>)
    }
    ```
    """

    name = "mem.graph"
    sym_name = prop_def(StringAttr)
    num_inputs = prop_def(IntegerAttr.constr(i64))
    input_names = opt_prop_def(ArrayAttr.constr(StringAttr))
    output_names = opt_prop_def(ArrayAttr.constr(StringAttr))
    symbol_names = opt_prop_def(ArrayAttr.constr(StringAttr))
    shapes = opt_prop_def(ArrayAttr.constr(AffineMapAttr))
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        num_inputs: int,
        body: Region,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ):
        given = {"input_names": input_names, "output_names": output_names}
        names = {key: ArrayAttr([StringAttr(n) for n in value]) for key, value in given.items() if value is not None}
        super().__init__(
            properties={"sym_name": StringAttr(name), "num_inputs": IntegerAttr(num_inputs, i64), **names},
            regions=[body],
        )

    @property
    def inputs(self) -> Sequence[BlockArgument]:
        """The buffers that the graph is given."""
        return self.body.block.args[: self.num_inputs.value.data]

    @property
    def outputs(self) -> Sequence[BlockArgument]:
        """The buffers that the graph has to fill."""
        return [a for a in self.body.block.args[self.num_inputs.value.data :] if isinstance(a.type, MemRefType)]

    @property
    def symbols(self) -> Sequence[BlockArgument]:
        """The extents that are known when the graph is called."""
        behind = self.body.block.args[self.num_inputs.value.data :]
        return [a for a in behind if isinstance(a.type, IndexType)]

    @property
    def is_hosted(self) -> bool:
        """Whether something of it is not on the CPU: then it is not one function, and the host runs it step by step."""
        values = [*self.body.block.args, *(result for op in self.body.block.ops for result in op.results)]
        return any(is_memref(v.type) and not isinstance(v.type.memory_space, NoneAttr) for v in values)

    def verify_(self) -> None:
        arguments = self.body.block.args
        if not 0 <= self.num_inputs.value.data <= len(arguments):
            raise VerifyException(f"of {len(arguments)} arguments {self.num_inputs.value.data} cannot be inputs")
        for argument in arguments:
            behind = argument.index >= self.num_inputs.value.data + len(self.outputs)
            if not isinstance(argument.type, IndexType if behind else MemRefType):
                raise VerifyException(f"takes and gives buffers, not {argument.type}")
        self._verify_shapes()
        for names, what in ((self.input_names, self.inputs), (self.output_names, self.outputs)):
            if names is not None and len(names) != len(what):
                raise VerifyException(f"{len(names)} names are given to {len(what)} buffers")
        check_contents(self)
        for pool in self.body.block.ops:
            if isinstance(pool, PoolOp):
                check_places(self, pool)

    def _verify_shapes(self) -> None:
        buffers = (*self.inputs, *self.outputs)
        if not self.symbols:
            if self.shapes is not None:
                raise VerifyException("extents are given by no symbols, and `shapes` says them")
            return
        if self.shapes is None or len(self.shapes) != len(buffers):
            raise VerifyException("`shapes` says of each buffer what its extents are")
        for buffer, shape in zip(buffers, self.shapes, strict=True):
            type, map = buffer_type(buffer), shape.data
            said = [expr.value if isinstance(expr, AffineConstantExpr) else DYNAMIC for expr in map.results]
            if map.num_dims or map.num_symbols > len(self.symbols) or said != list(type.get_shape()):
                raise VerifyException(f"{map} does not say what the extents of {type} are")

    @classmethod
    def parse(cls, parser: Parser) -> GraphOp:
        name = parser.parse_symbol_name()
        inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        outputs: list[Parser.Argument] = []
        if parser.parse_optional_keyword("writes"):
            outputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        symbols: list[Parser.Argument] = []
        if parser.parse_optional_keyword("symbols"):
            symbols = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        arguments = [*inputs, *outputs, *symbols]
        given = parser.parse_optional_attr_dict_with_keyword(("sym_name", "num_inputs"))
        region = parser.parse_region(arguments)
        if not region.blocks:
            region.add_block(Block(arg_types=[each.type for each in arguments]))
        op = cls(name.data, len(inputs), region)
        for key, value in () if given is None else given.data.items():
            (op.properties if key in _PROPERTIES else op.attributes)[key] = value
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.inputs, printer.print_block_argument)
        if self.outputs:
            printer.print_string(" writes")
            with printer.in_parens():
                printer.print_list(self.outputs, printer.print_block_argument)
        if self.symbols:
            printer.print_string(" symbols")
            with printer.in_parens():
                printer.print_list(self.symbols, printer.print_block_argument)
        names = {k: v for k in _PROPERTIES if (v := self.properties.get(k)) is not None}
        attributes: dict[str, Attribute] = {**names, **self.attributes}
        printer.print_op_attributes(attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


_PROPERTIES = ("input_names", "output_names", "symbol_names", "shapes")


def check_contents(graph: GraphOp) -> None:
    """Nothing is read that has not been written, nothing is written that is not the graph's to write, and every output
    is written.

    Raises:
        Diagnostic: it is otherwise; placed at the operation at fault.
    """
    written = set[SSAValue](graph.inputs)
    for op in graph.body.block.ops:
        match op:
            case CallOp() | CopyOp() | ScanOp():
                for value in op.reads:
                    root = root_of(value)
                    if root not in written and not _is_empty(root) and not isinstance(root.owner, ConstantOp):
                        raise Diagnostic.at(op, f"reads {_named(root)}, which nothing has written")
                for value in op.writes:
                    root = root_of(value)
                    if isinstance(root.owner, ConstantOp | PoolOp) or root in graph.inputs:
                        raise Diagnostic.at(op, f"writes {_named(root)}, which is not the graph's to write")
                    written.add(root)
            case ReadExtentOp():
                if op.source not in written:
                    raise Diagnostic.at(op, f"reads {_named(op.source)}, which nothing has written")
            case SizeOp() | PoolOp() | AllocOp() | ConstantOp() | AliasOp() | PartOp() | ExtentOp():
                pass
            case _ if op.dialect_name() == "arith":
                pass
            case _:
                raise Diagnostic.at(op, "is no operation on memory: it cannot stand in a mem.graph")
    for output in graph.outputs:
        if output not in written and not _is_empty(output):
            raise Diagnostic.at(graph, f"never writes its output {_named(output)}")


def check_places(graph: GraphOp, pool: PoolOp) -> None:
    """Buffers that are needed at the same time lie apart.

    Raises:
        Diagnostic: two do not; placed at the later one.
    """
    timeline = Timeline.of(graph.body.block)
    placed: list[tuple[int, int, int, int, AllocOp]] = []
    for number, use in enumerate(pool.result.uses):
        alloc = use.operation
        if isinstance(alloc, AllocOp) and alloc.offset is not None and (size := unit_bytes(buffer_type(alloc.result))):
            life = timeline.lifetime(alloc)
            placed.append((life.first, number, life.last, size, alloc))
    alive: list[tuple[int, int, int, AllocOp]] = []
    for first, number, last, size, alloc in sorted(placed, key=lambda each: each[:2]):
        while alive and alive[0][0] < first:
            heappop(alive)
        if last < first:
            continue
        start = _offset(alloc)
        for _, _, other_size, other in alive:
            if start < _offset(other) + other_size and _offset(other) < start + size:
                raise Diagnostic.at(
                    alloc,
                    f"{_named(alloc.result)} at bytes {start} to {start + size} overlaps {_named(other.result)} at "
                    f"bytes {_offset(other)} to {_offset(other) + other_size}, which is needed at the same time",
                )
        heappush(alive, (last, number, size, alloc))


def _offset(alloc: AllocOp) -> int:
    assert alloc.offset is not None
    return alloc.offset.value.data


def _is_empty(value: SSAValue) -> bool:
    return byte_size(buffer_type(value)) == 0


def _named(value: SSAValue) -> str:
    if value.name_hint:
        return f"%{value.name_hint}"
    if isinstance(value, BlockArgument):
        return f"argument {value.index}"
    return f"a buffer of type {value.type}"

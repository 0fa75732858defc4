"""Functions: `tir.prim_func`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Span

from ..support.arguments import checked
from ..support.columns import Part, attribute_parts, print_parts, to_text
from ..support.diagnostics import Diagnostic, UsageError
from ..support.hints import isa
from ..support.kernels import kernel_calls
from ..support.provided import load
from ..support.python_values import attribute_of, value_of
from ..support.walking import in_order
from .argument_scopes import verify_argument_scopes
from .axis_separators import ARGUMENT_SEPARATORS, axis_separators_of, verify_separators
from .buffers import memref_of, parse_shape, print_shape, shape_attribute, verify_shape
from .legality.calls import check_call
from .legality.function import check_function
from .legality.symbolic import check_divisors
from .loops import TREES
from .parameter_nodes import share_nodes
from .symbols import ASSUMED, Extent, is_symbol, symbols_in

if TYPE_CHECKING:
    from ..te.expr import Expr
    from .nodes.buffers import Buffer
    from .nodes.statements import Stmt

RESULT = "weft.result"
"""Attribute of a function that gives a number: the place of the argument of one element that it fills with it, and that
callers of what is built leave out."""

TARGET = "tir.target"
"""Attribute of a function: the kind of target that it is for, `"cuda"`; without, it is for the processor."""


BOUND_TARGET = "target"
"""Attribute of a function: the target, with options, that `weft.build` makes code for, `"llvm -mcpu=skylake"`."""


def is_for_gpu(func: Operation) -> bool:
    """Whether a function says that a GPU is to run it."""
    told = (func.attributes.get(name) for name in (TARGET, BOUND_TARGET))
    return any(isinstance(each, StringAttr) and each.data.split(" ")[0] == "cuda" for each in told)


class Trees:
    """How a function is read as a tree of nodes, and made of one: by the module that is provided as `TREES`."""

    read: ClassVar[Callable[[PrimFuncOp], Stmt]]
    node: ClassVar[Callable[[Operation], Stmt]]
    replace_body: ClassVar[Callable[[PrimFuncOp, Stmt], PrimFuncOp]]
    know_sizes: ClassVar[Callable[[PrimFuncOp, Mapping[Expr, Expr | Buffer | int]], PrimFuncOp]]


def trees() -> type[Trees]:
    """`Trees`, once the module is there that says how: few functions are ever read as trees."""
    load(TREES)
    return Trees


@irdl_op_definition
class PrimFuncOp(IRDLOperation):
    """A function on buffers: inputs first, then the buffers it writes. Counterpart of TVM's `PrimFunc`.

    ```mlir
    tir.prim_func @double(%x: memref<8xf32>, %y: memref<8xf32>) {
      tir.for parallel %i = 0 to 8 {
        tir.block @double(%vi: spatial 8) = [%i]
            reads(%x[%vi] : memref<8xf32>) writes(%y[%vi] : memref<8xf32>) {
          %0 = memref.load %x[%vi] : memref<8xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %y[%vi] : memref<8xf32>
        }
      }
    }
    ```

    Extents may be given by `index` arguments, which come after the buffers: those are the function's symbols. `shapes`
    says what the extents are of buffers whose types leave them open. The caller gives symbols that are not negative
    and buffers of these extents.

        tir.prim_func @double(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %n: index) shapes(%x[%n, 8], %y[%n, 8]) {
          tir.for parallel %i = 0 to %n { ...
    """

    name = "tir.prim_func"

    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    shapes = opt_prop_def(ArrayAttr)
    region = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    def __init__(
        self,
        name: str,
        argument_types: Sequence[Attribute],
        body: Region | None = None,
        attributes: dict[str, Attribute] | None = None,
        shapes: Sequence[Sequence[Extent] | AffineMapAttr | None] | None = None,
    ):
        """`shapes` says, for each argument, what its extents are, if they depend on symbols."""
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(argument_types, []),
                "shapes": None if shapes is None else _shapes_attribute(shapes),
            },
            attributes=attributes or {},
            regions=[Region(Block(arg_types=argument_types)) if body is None else body],
        )

    def clone_without_regions(self, *args: Any, **options: Any) -> PrimFuncOp:
        """A copy, whose parameters are the same nodes as long as its signature is the same."""
        copy = super().clone_without_regions(*args, **options)
        share_nodes(self, copy)
        return copy

    @property
    def attrs(self) -> dict[str, object]:
        """The attributes as values, `global_symbol`, the function's name, among them."""
        return {
            "global_symbol": self.sym_name.data,
            **{name: value_of(each) for name, each in self.attributes.items()},
        }

    @checked
    def with_attr(self, attr_key_or_dict: str | Mapping[str, object], attr_value: object = None) -> PrimFuncOp:
        """A copy of the function with attributes of these values; `global_symbol` is its name.

        Raises:
            UsageError: a value has no form as an attribute.
        """
        if isinstance(attr_key_or_dict, str):
            attr_key_or_dict = {attr_key_or_dict: attr_value}
        copy = self.clone()
        for key, value in attr_key_or_dict.items():
            try:
                attribute = attribute_of(value)
            except TypeError as error:
                raise UsageError(f"the attribute '{key}' cannot be {value!r}: {error}") from error
            if key != "global_symbol":
                copy.attributes[key] = attribute
            elif isinstance(attribute, StringAttr):
                copy.sym_name = attribute
            else:
                raise UsageError(f"the name of a function is a text, not {value!r}")
        return copy

    def without_attr(self, attr_key: str) -> PrimFuncOp:
        """A copy of the function without an attribute, whether or not it has it.

        Raises:
            UsageError: it is the name, which each function has.
        """
        if attr_key == "global_symbol":
            raise UsageError("each function has a name", hint="with_attr gives it another")
        copy = self.clone()
        copy.attributes.pop(attr_key, None)
        return copy

    @property
    def name_hint(self) -> str:
        """TVM's name of the block that a function is."""
        return "root"

    @property
    def params(self) -> tuple[Expr, ...]:
        """The parameters as nodes: handles of buffers, which `buffer_map` describes, then sizes."""
        from .nodes.parameters import parameters  # nodes are loaded when they are asked for

        return parameters(self)[0]

    @property
    def buffer_map(self) -> dict[Expr, Buffer]:
        """The buffers that the parameters are, as nodes."""
        from .nodes.parameters import parameters

        return dict(parameters(self)[1])

    @property
    def body(self) -> Stmt:
        """The statements as nodes, the same ones as long as nothing changes; the operations are those of `region`.

        Raises:
            Diagnostic: something in the function is no statement.
        """
        return trees().read(self)

    def with_body(self, new_body: Stmt) -> PrimFuncOp:
        """The function with other statements, made of its `body` or over its `params` and `buffer_map`.

        Raises:
            UsageError: a variable in them has no value, or a buffer no memory.
            Diagnostic: what they make is not well formed.
        """
        return trees().replace_body(self, new_body)

    def take_region(self, other: PrimFuncOp) -> None:
        """Hold what `other`, whose parameters are the same, holds; that is left without a region."""
        self.detach_region(self.region)
        self.add_region(other.detach_region(other.region))

    def specialize(self, param_map: Mapping[Expr, Expr | Buffer | int]) -> PrimFuncOp:
        """The function with some of its `params` known: a size is a number, or an expression of other sizes; a buffer
        has the extents of another one.

        Raises:
            UsageError: one is no parameter, or cannot be that.
            Diagnostic: what that makes is not well formed.
        """
        return trees().know_sizes(self, param_map)

    def same_as(self, other: object) -> bool:
        """Whether both are one function."""
        return self is other

    def verify_(self) -> None:
        if tuple(a.type for a in self.region.block.args) != self.function_type.inputs.data:
            raise VerifyException(f"the body's arguments differ from the type of @{self.sym_name.data}")
        self._verify_symbols()
        self._verify_axis_separators()
        check_function(self)
        module = self.parent_op()
        checked: set[tuple[object, ...]] = set()
        for call in () if module is None else kernel_calls(module).get(self.sym_name.data, ()):
            asks = (*map(id, (*call.inputs, None, *call.outputs)), call.copies, call.updates, call.sizes)
            if asks not in checked:
                check_call(self, call)
                checked.add(asks)

    def script(self, *, verbose_expr: bool = False) -> str:
        """The function as TVMScript, which `weft.tir.from_source` reads. It defines all that it names, so that
        `verbose_expr`, which nodes take, leaves nothing to be added.

        Raises:
            Diagnostic: something in it has no form in TVMScript.
        """
        from .script.printer import script

        return script(self)

    def show(self) -> None:
        """Print it as TVMScript."""
        print(self.script())

    def set_shapes(self, shapes: Sequence[Sequence[Extent] | AffineMapAttr | None]) -> None:
        """Say, for each argument, what its extents are, if they depend on symbols."""
        attribute = _shapes_attribute(shapes)
        if attribute is None:
            self.properties.pop("shapes", None)
        else:
            self.properties["shapes"] = attribute

    @property
    def _shapes(self) -> tuple[Attribute, ...]:
        return self.shapes.data if isa(self.shapes, ArrayAttr[Attribute]) else ()

    @property
    def symbols(self) -> list[BlockArgument]:
        """The index arguments, by which extents are given."""
        return [argument for argument in self.region.block.args if is_symbol(argument)]

    def _verify_symbols(self) -> None:
        arguments = self.region.block.args
        kinds = [isinstance(a.type, MemRefType) for a in arguments]
        if kinds != sorted(kinds, reverse=True):
            raise VerifyException("buffers come first among the arguments, then the index arguments")
        shapes: Sequence[Attribute | None] = [None] * len(arguments) if self.shapes is None else self._shapes
        if len(shapes) != len(arguments):
            raise VerifyException(f"{len(arguments)} arguments have as many shapes")
        for argument, shape in zip(arguments, shapes, strict=True):
            if isinstance(argument.type, MemRefType):
                name = f"%{argument.name_hint or argument.index}"
                verify_shape(memref_of(argument), shape, name)
        assumed = self.attributes.get(ASSUMED)
        if assumed is not None:
            if not isa(assumed, ArrayAttr[AffineMapAttr]) or any(map.data.num_dims for map in assumed):
                raise VerifyException(f"{ASSUMED} has affine maps, of the function's sizes as symbols")
            self._verify_maps(self, assumed)
        for op in (self, *in_order(self.region)):
            for attribute in op.properties.values():
                self._verify_maps(op, attribute)

    def _verify_maps(self, op: Operation, attribute: Attribute) -> None:
        if type(attribute) is AffineMapAttr:
            self._verify_map(op, attribute.data)
        elif type(attribute) is ArrayAttr:  # `isa` takes long, and there are many
            for map in attribute:
                if type(map) is AffineMapAttr:
                    self._verify_map(op, map.data)

    def _verify_axis_separators(self) -> None:
        verify_argument_scopes(self)
        told = self.attributes.get(ARGUMENT_SEPARATORS)
        if told is None:
            return
        arguments = self.region.block.args
        if not isa(told, ArrayAttr[ArrayAttr[IntegerAttr]]) or len(told) > len(arguments):
            raise VerifyException(f"{ARGUMENT_SEPARATORS} has a list of integers for each of the first arguments")
        for argument in arguments:
            rank = len(memref_of(argument).get_shape()) if isinstance(argument.type, MemRefType) else 0
            verify_separators(axis_separators_of(argument), rank)

    def _verify_map(self, op: Operation, map: AffineMap) -> None:
        if not map.num_symbols:
            return
        arguments = self.region.block.args
        for number in {symbol for expr in map.results for symbol in symbols_in(expr)}:
            if number >= len(arguments) or not is_symbol(arguments[number]):
                raise Diagnostic.at(
                    op, f"symbol {number} of {map} is argument {number} of @{self.sym_name.data}, which is no index"
                )
        if not map.num_dims:
            check_divisors(op, map.results)

    @classmethod
    def parse(cls, parser: Parser) -> PrimFuncOp:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        shapes = _parse_shapes(parser, arguments) if parser.parse_optional_keyword("shapes") else None
        attributes = parser.parse_optional_attr_dict_with_keyword(("sym_name", "function_type", "shapes"))
        body = parser.parse_region(arguments)
        return PrimFuncOp(
            name.data,
            [a.type for a in arguments],
            body,
            dict(attributes.data) if attributes is not None else None,
            shapes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        arguments = [to_text(printer, partial(printer.print_block_argument, a)) for a in self.region.block.args]
        parts = [Part("(", arguments, ")")]
        if self.shapes is not None:
            values = self.region.block.args
            shapes = [
                to_text(printer, partial(self._print_shape, printer, value, shape))
                for value, shape in zip(values, self._shapes, strict=True)
                if isinstance(shape, AffineMapAttr)
            ]
            parts.append(Part("shapes(", shapes, ")"))
        print_parts(printer, [*parts, *attribute_parts(printer, self.attributes)])
        printer.print_string(" ")
        printer.print_region(self.region, print_entry_block_args=False, print_empty_block=False)

    def _print_shape(self, printer: Printer, buffer: SSAValue, shape: AffineMapAttr) -> None:
        printer.print_ssa_value(buffer)
        print_shape(printer, shape, self.region.block.args)


def _parse_shapes(parser: Parser, arguments: Sequence[Parser.Argument]) -> list[AffineMapAttr | None]:
    """Parse `(%x[%n, 64], %y[%n])`: the arguments are known by name, and have no values before the body is parsed."""
    numbers = {argument.name.text: number for number, argument in enumerate(arguments)}
    shapes: list[AffineMapAttr | None] = [None] * len(arguments)

    def symbol(parser: Parser, name: Span) -> AffineExpr | None:
        number = numbers.get(name.text)
        if number is None or not isinstance(arguments[number].type, IndexType):
            return None
        return AffineExpr.symbol(number)

    def shape() -> None:
        name = parser.parse_unresolved_operand().span
        number = numbers.get(name.text)
        if number is None or shapes[number] is not None:
            why = "is no argument" if number is None else "has its extents already"
            parser.raise_error(f"{name.text} {why}", name.start, name.end)
        shapes[number] = parse_shape(parser, symbol)

    parser.parse_comma_separated_list(parser.Delimiter.PAREN, shape)
    return shapes


def _shapes_attribute(shapes: Sequence[Sequence[Extent] | AffineMapAttr | None]) -> ArrayAttr[Attribute] | None:
    """The shapes of all arguments; `None` where their types say all there is to say."""
    found = [shape if shape is None or isinstance(shape, AffineMapAttr) else shape_attribute(shape) for shape in shapes]
    if all(shape is None for shape in found):
        return None
    return ArrayAttr([UnitAttr() if shape is None else shape for shape in found])

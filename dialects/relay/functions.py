"""Global functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, SupportsInt

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..support.arguments import checked
from ..support.blame import OperandError, misfit
from ..support.diagnostics import Diagnostic, did_you_mean
from ..support.hints import isa
from ..support.operations import irdl_op_definition
from ..support.provided import load
from ..support.symbols import symbol_names
from .base import compatible
from .devices import DeviceError, check_places
from .fields import Value, as_attribute
from .signature_syntax import parse_function, print_function
from .types import ParamType, type_params

COMPILER, COMPOSITE = "Compiler", "Composite"
"""Attributes that say who compiles a function or region, and what a region is as a whole, for whoever compiles it."""


INPUT_NAMES = "input_names"
"""The attribute that names a function's parameters, where these are called otherwise than values of a text can be."""


class NamedBlock(Block):
    """Where a variable stands that no function has taken yet, with its name."""

    name: str = ""


def name_of(value: SSAValue) -> str:
    """What a variable, or a parameter of a function, is called. The text calls the value so, but for what it does not
    take: the number at the end of `x_1`, which tells values of one name apart there."""
    owner = value.owner
    if isinstance(owner, NamedBlock):
        return owner.name
    if isinstance(value, BlockArgument) and isinstance(function := value.block.parent_op(), FuncOp):
        names = function.attributes.get(INPUT_NAMES)
        if isa(names, ArrayAttr[StringAttr]) and len(names) == len(value.block.args):
            return names.data[value.index].data
    return value.name_hint or ""


def is_for(op: Operation, compiler: str = "") -> bool:
    """Whether a function or region is for another compiler than Weft, of this name if there is one."""
    mark = op.attributes.get(COMPILER)
    return mark is not None and (not compiler or mark == StringAttr(compiler))


def unknown_function(op: Operation, callee: SymbolRefAttr) -> Diagnostic:
    """What is said where an operation names a function that its module has not."""
    name = callee.string_value()
    return Diagnostic.at(op, f"there is no relay.func @{name}", hint=did_you_mean(name, symbol_names(op, FuncOp.name)))


class _FuncCallable(CallableOpInterface):
    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, FuncOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.outputs.data


def verify_places(attributes: Mapping[str, Attribute], type: FunctionType) -> None:
    """Check what a function says of the devices of its arguments and results.

    Raises:
        VerifyException: it is no list of as many devices.
    """
    try:
        check_places(attributes, type)
    except DeviceError as error:
        raise VerifyException(error.message) from None


TREES = "relay.trees"


class Trees:
    """How a function is read as expressions, and called: by the module that is provided as `TREES`."""

    params: ClassVar[Callable[[FuncOp], list[Any]]]
    body: ClassVar[Callable[[FuncOp], Any]]
    attrs: ClassVar[Callable[[Operation], Mapping[str, object]]]
    call: ClassVar[Callable[[FuncOp, Sequence[Any]], Any]]
    text: ClassVar[Callable[[FuncOp, bool], str]]


def _trees() -> type[Trees]:
    """`Trees`, once the module is there that says how."""
    load(TREES)
    return Trees


def _function_attribute(value: Value | SupportsInt) -> Attribute:
    if value is None:
        return UnitAttr()
    if isinstance(value, Attribute | int | float | str | Sequence):
        return as_attribute(value)
    return as_attribute(int(value))


class FunctionBody(Region):
    """The body of a function: the region of its operations, and, where something is asked of it that no region has,
    the expression that the function gives (`FuncOp.tree`), as TVM's `func.body` is. So `func.body.args` are
    expressions. The one name that both have, `op`, is the expression's: a function's region has no only operation,
    unless it gives a parameter."""

    @property
    def op(self) -> Any:
        """What the expression calls; the only operation of what is no function's body any more."""
        return self.parent.tree.op if isinstance(self.parent, FuncOp) else super().op

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and isinstance(function := vars(self).get("parent"), FuncOp):
            return getattr(function.tree, name)
        raise AttributeError(f"'Region' object has no attribute '{name}'")


def _asked_of_the_expression(method: str) -> Callable[..., Any]:
    """A method of Python's signs, which it looks up in the class, as that of the expression that a function gives."""

    def ask(self: FunctionBody, *args: object) -> Any:
        if not isinstance(self.parent, FuncOp):
            raise TypeError(f"a region that is no function's body has no '{method}'")
        return getattr(self.parent.tree, method)(*args)

    return ask


for _sign in ("add", "sub", "mul", "truediv"):
    setattr(FunctionBody, f"__{_sign}__", _asked_of_the_expression(f"__{_sign}__"))
    setattr(FunctionBody, f"__r{_sign}__", _asked_of_the_expression(f"__r{_sign}__"))
for _method in ("neg", "lt", "le", "gt", "ge", "getitem", "iter", "call"):
    setattr(FunctionBody, f"__{_method}__", _asked_of_the_expression(f"__{_method}__"))


def is_primitive(function: Operation) -> bool:
    """Whether a function, global or a value, is one kernel: marked `primitive`, or `Primitive` and not 0, as in TVM."""
    said = function.attributes.get("Primitive")
    return "primitive" in function.attributes or (isinstance(said, IntegerAttr) and said.value.data != 0)


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A global function. Counterpart of a `Function` in TVM's `IRModule`.

    Attributes that passes know: `primitive` (made by fusion: compiled to one kernel), and, as in TVM, `Compiler`,
    `Extern`, `SkipOptimization`, at which function passes leave the function alone.

    ```mlir
    relay.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
      %y = relay.nn.relu %x : tensor<1x8xf32>
      relay.return %y : tensor<1x8xf32>
    }
    ```
    """

    name = "relay.func"

    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), _FuncCallable())

    def __init__(
        self,
        name: str,
        function_type: FunctionType,
        body: Region | None = None,
        *,
        private: bool = False,
        attributes: dict[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": function_type,
                **({"sym_visibility": StringAttr("private")} if private else {}),
            },
            attributes=attributes or {},
            regions=[Region(Block(arg_types=function_type.inputs)) if body is None else body],
        )

    def add_region(self, region: Region) -> None:
        """Take a region as the body, which is a function's from then on."""
        region.__class__ = FunctionBody
        super().add_region(region)

    @property
    def is_primitive(self) -> bool:
        return is_primitive(self)

    @property
    def return_op(self) -> ReturnOp:
        last = self.body.block.last_op
        assert isinstance(last, ReturnOp)
        return last

    @property
    def params(self) -> list[Any]:
        """The parameters, as expressions."""
        return _trees().params(self)

    @property
    def tree(self) -> Any:
        """What the function gives, as an expression of its `params`: TVM's `func.body`, which is the region here."""
        return _trees().body(self)

    @property
    def type_params(self) -> list[ParamType]:
        """The types that are left open in its types."""
        return [ParamType(label) for label in sorted(type_params(self.function_type))]

    @property
    def attrs(self) -> Any:
        """The attributes, as a mapping of Python's values."""
        return _trees().attrs(self)

    @property
    def ret_type(self) -> Attribute:
        """The type of what the function gives."""
        return self.function_type.outputs.data[0]

    @property
    def checked_type(self) -> FunctionType:
        """The type of the function."""
        return self.function_type

    def __call__(self, *args: Any) -> Any:
        """The function applied to arguments, as an expression.

        Raises:
            UsageError: it takes other arguments.
        """
        return _trees().call(self, args)

    @checked
    def with_attr(self, attr: str | Mapping[str, Value | SupportsInt], value: Value | SupportsInt = None) -> FuncOp:
        """A copy with an attribute, or several, such as `Compiler`; an integer may be TVM's `IntImm`."""
        copy = self.clone()
        given = {attr: value} if isinstance(attr, str) else attr
        copy.attributes.update((name, _function_attribute(each)) for name, each in given.items())
        return copy

    def astext(self, show_meta_data: bool = True) -> str:
        """The function in Relay's text, with its arrays unless they shall not be shown. `str(function)` is MLIR's."""
        return _trees().text(self, show_meta_data)

    def without_attr(self, attr: str) -> FuncOp:
        """A copy without an attribute, which need not be there."""
        copy = self.clone()
        copy.attributes.pop(attr, None)
        return copy

    def verify_(self) -> None:
        block = self.body.block
        if tuple(a.type for a in block.args) != self.function_type.inputs.data:
            raise VerifyException(f"the body's arguments differ from the function type of @{self.sym_name.data}")
        if not isinstance(block.last_op, ReturnOp):
            raise VerifyException(f"the body of @{self.sym_name.data} does not end in relay.return")
        verify_places(self.attributes, self.function_type)

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        private = parser.parse_optional_keyword("private") is not None
        name = parser.parse_symbol_name()
        reserved = ("sym_name", "function_type", "sym_visibility")
        type, body, attributes = parse_function(parser, reserved)
        return FuncOp(name.data, type, body, private=private, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" private " if self.sym_visibility is not None else " ")
        printer.print_symbol_name(self.sym_name.data)
        print_function(printer, self.body, self.function_type.outputs.data, self.attributes)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """End a function with its results."""

    name = "relay.return"

    arguments = var_operand_def()

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"
    traits = traits_def(IsTerminator(), HasParent(FuncOp), Pure())

    def __init__(self, *arguments: SSAValue | Operation):
        super().__init__(operands=[list(arguments)])

    def verify_(self) -> None:
        function = self.parent_op()
        assert isinstance(function, FuncOp)
        type = function.properties.get("function_type")
        if not isinstance(type, FunctionType):
            return  # the function is wrong
        declared = type.outputs.data
        given = tuple(a.type for a in self.arguments)
        if len(declared) != len(given) or not all(map(compatible, given, declared)):
            message = (
                f"returns ({', '.join(map(str, given))}), but @{function.sym_name.data} is declared to return "
                f"({', '.join(map(str, declared))})"
            )
            raise OperandError(message, misfit(self, "arguments", declared, compatible))

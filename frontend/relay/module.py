"""Modules of functions, under TVM's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, TypeAlias, overload

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation

from ...dialects.relay.base import Value, as_attribute
from ...dialects.relay.core import FuncOp
from ...dialects.relay.data import AdtOp
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...transforms.relay.completion import complete_module
from .attrs import python_value
from .data import Constructor, GlobalTypeVar, TypeData
from .expr import Expr, Function, GlobalVar, Operand, free_vars
from .private_functions import bring_private
from .recursion import lift_recursive

Name: TypeAlias = "GlobalVar | str"
Functions: TypeAlias = "Mapping[GlobalVar, FuncOp | Expr] | Mapping[str, FuncOp | Expr] | Mapping[Name, FuncOp | Expr]"
"""Functions, or what they give, by their names."""

STANDARD: dict[str, Callable[[IRModule], None]] = {}
"""What writes TVM's standard library into a module, by its files; see `prelude`."""


class IRModule(ModuleOp):
    """A module of functions: an xDSL module, with TVM's ways to look at it.

        module = relay.IRModule({relay.GlobalVar("main"): function})
        module["main"].params, module["main"].tree

    Passes take any xDSL module and give one of the kind that they are given; `IRModule.of` makes one of another.
    """

    text_of: ClassVar[Callable[[ModuleOp, bool], str]]
    """Writes a module in Relay's text; `text` says how."""

    @checked
    def __init__(
        self, functions: Functions | None = None, type_definitions: Mapping[GlobalTypeVar, TypeData] | None = None
    ):
        super().__init__([])
        for definition in (type_definitions or {}).values():
            self._define(definition)
        for name, function in (functions or {}).items():
            self._put(name, function)
        complete_module(self)

    @staticmethod
    @checked
    def from_expr(expr: FuncOp | ModuleOp | Operand, functions: Functions | None = None) -> IRModule:
        """A module whose `@main` is a function, or gives an expression and takes its free variables; with further
        functions by name.

        Raises:
            UsageError: a function has other variables than its parameters.
            Diagnostic: an operator does not fit what it is given.
        """
        if isinstance(expr, ModuleOp):
            return IRModule.of(expr)
        main = expr if isinstance(expr, FuncOp) else Function(free_vars(expr), expr)
        module = IRModule({"main": main})
        module.update(functions or {})
        return module

    @staticmethod
    @checked
    def of(module: ModuleOp) -> IRModule:
        """An xDSL module as one of these; itself, if it is one."""
        if isinstance(module, IRModule):
            return module
        made = IRModule()
        made.attributes |= module.attributes
        for op in module.body.block.ops:
            made.body.block.add_op(op.clone())
        return made

    @property
    def functions(self) -> dict[GlobalVar, FuncOp]:
        """The functions by their names."""
        return {GlobalVar(op.sym_name.data, op.function_type): op for op in self._functions()}

    @property
    def type_definitions(self) -> dict[str, TypeData]:
        """The data types by their names."""
        return {op.sym_name.data: TypeData.of(op) for op in self.body.block.ops if isinstance(op, AdtOp)}

    def get_global_type_vars(self) -> list[GlobalTypeVar]:
        """The names of all data types."""
        return [each.header for each in self.type_definitions.values()]

    def get_type(self, name: str) -> list[GlobalTypeVar | Constructor]:
        """A data type and its constructors: `list_, cons, nil = module.get_type("List")`.

        Raises:
            KeyError: there is none of that name.
        """
        if name not in (definitions := self.type_definitions):
            hint = did_you_mean(name, definitions)
            raise KeyError(f"the module has no data type '{name}'" + (f"; {hint}" if hint else ""))
        found = definitions[name]
        return [found.header, *found.constructors]

    def get_global_type_var(self, name: str) -> GlobalTypeVar:
        """The name of a data type, which makes types of others.

        Raises:
            KeyError: there is none of that name.
        """
        header = self.get_type(name)[0]
        assert isinstance(header, GlobalTypeVar)
        return header

    def get_constructor(self, tag: int) -> Constructor:
        """The constructor of a tag.

        Raises:
            KeyError: there is none.
        """
        for definition in self.type_definitions.values():
            for constructor in definition.constructors:
                if constructor.tag == tag:
                    return constructor
        raise KeyError(f"the module has no constructor of tag {tag}")

    def _define(self, definition: TypeData | AdtOp) -> None:
        op = definition.op() if isinstance(definition, TypeData) else definition.clone()
        known = [each for each in self.body.block.ops if isinstance(each, AdtOp) and each.sym_name == op.sym_name]
        if known and not known[0].is_structurally_equivalent(op):
            raise UsageError(f"the module defines the data type '{op.sym_name.data}' otherwise")
        if not known:
            first = self.body.block.first_op
            self.body.block.add_op(op) if first is None else self.body.block.insert_op_before(op, first)

    @overload
    def __getitem__(self, name: GlobalTypeVar) -> TypeData: ...

    @overload
    def __getitem__(self, name: Name) -> FuncOp: ...

    def __getitem__(self, name: Name | GlobalTypeVar) -> FuncOp | TypeData:
        """A function, or, by its `GlobalTypeVar`, the definition of a data type.

        Raises:
            KeyError: there is none of that name.
        """
        if isinstance(name, GlobalTypeVar):
            header = self.get_global_type_var(name.name_hint)
            return header.definition()
        wanted = _text(name)
        for op in self._functions():
            if op.sym_name.data == wanted:
                return op
        hint = did_you_mean(wanted, [op.sym_name.data for op in self._functions()])
        raise KeyError(f"the module has no function '{wanted}'" + (f"; {hint}" if hint else ""))

    def __setitem__(self, name: Name | GlobalTypeVar, function: FuncOp | Expr | TypeData) -> None:
        """Put a copy of a function into the module, in the place of one that is called so; or define a data type.

        Raises:
            UsageError: it has other variables than its parameters, or the data type is defined otherwise.
        """
        if isinstance(function, TypeData):
            self._define(function)
            return
        assert not isinstance(name, GlobalTypeVar), "what is called so is a TypeData"
        self._put(name, function)
        complete_module(self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, GlobalVar | str) and any(op.sym_name.data == _text(name) for op in self._functions())

    def get_global_var(self, name: str) -> GlobalVar:
        """The name of a function, with its type.

        Raises:
            KeyError: there is none of that name.
        """
        return GlobalVar(name, self[name].function_type)

    def get_global_vars(self) -> list[GlobalVar]:
        """The names of all functions."""
        return list(self.functions)

    def update(self, other: ModuleOp | Functions) -> None:
        """Put copies of functions into the module, in the places of those that are called so.

        Raises:
            UsageError: there is something else, such as a function of loops.
        """
        given: list[object] = [*(other.body.block.ops if isinstance(other, ModuleOp) else other.values())]
        for each in given:
            if not isinstance(each, FuncOp | Expr | AdtOp):
                what = each.name if isinstance(each, Operation) else type(each).__name__
                hint = "weft.build compiles those of loops, tir.prim_func"
                raise UsageError(f"a module of graphs holds no {what}", hint=hint)
        others = IRModule.of(other).functions if isinstance(other, ModuleOp) else other
        for op in other.body.block.ops if isinstance(other, ModuleOp) else ():
            if isinstance(op, AdtOp):
                self._define(op)
        for name, function in others.items():
            self._put(name, function)
        complete_module(self)

    def astext(self, show_meta_data: bool = True) -> str:
        """The module in Relay's text, as `relay.parse` reads it: with its arrays, unless these are not to be shown.
        `str(module)` is MLIR's text."""
        return IRModule.text_of(self, show_meta_data)

    def same_as(self, other: object) -> bool:
        """Whether it is the same module, and not only an equal one."""
        return other is self

    @property
    def attrs(self) -> Mapping[str, object]:
        """The module's attributes, as Python's values."""
        return {name: python_value(each) for name, each in self.attributes.items()}

    def get_attr(self, attr_key: str) -> object:
        """An attribute of the module, or `None`."""
        return self.attrs.get(attr_key)

    @checked
    def with_attr(self, attr_key: str, attr_value: Value) -> IRModule:
        """A copy with an attribute.

        Raises:
            UsageError: the value has no form as an attribute.
        """
        try:
            attribute = UnitAttr() if attr_value is None else as_attribute(attr_value)
        except (TypeError, ValueError) as error:
            reason = f"the attribute '{attr_key}' cannot be {attr_value!r}: {error}"
            raise UsageError(reason, hint="executors and runtimes are arguments of relay.build") from None
        copy = IRModule.of(self.clone())
        copy.attributes |= {**self.attributes, attr_key: attribute}
        return copy

    def import_from_std(self, file: str) -> None:
        """Put what TVM has in a file of its standard library into the module: `prelude.rly` or `nat.rly`.

        Raises:
            UsageError: there is no other.
        """
        if file not in STANDARD:
            raise UsageError(f"there is no '{file}'; there are: {', '.join(STANDARD)}")
        STANDARD[file](self)

    def _functions(self) -> list[FuncOp]:
        return [op for op in self.body.block.ops if isinstance(op, FuncOp)]

    def _put(self, name: Name, function: FuncOp | Expr) -> None:
        given = Function(free_vars(function), function) if isinstance(function, Expr) else function
        if free := [each.name_hint for each in free_vars(given)]:
            raise UsageError(f"the body has variables that are no parameters: {', '.join(free)}")
        copy = given.clone()
        copy.properties["sym_name"] = StringAttr(_text(name))
        if name in self:
            old = self[name]
            self.body.block.insert_op_before(copy, old)
            old.detach()  # and not erased: whoever holds it goes on holding what it was
        else:
            self.body.block.add_op(copy)
        lift_recursive(copy, self)
        bring_private(given, copy, self)


def _text(name: Name) -> str:
    return name.name_hint if isinstance(name, GlobalVar) else name

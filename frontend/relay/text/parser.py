"""Relay's text read into expressions and modules: TVM's `#[version = "0.0.5"]`.

    #[version = "0.0.5"]
    def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {
      %0 = add(%x, 1f);
      let %y = nn.relu(%0);
      multiply(%y, %y)
    }

What is read is made at once, by what Python makes it with, so that it has its types and its errors; these stand at the
words that they come from. As in TVM a name is known from where it is given a value; `%0` in all that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from ....dialects.relay.base import Value
from ....dialects.relay.control import FnOp
from ....dialects.relay.core import FuncOp
from ....dialects.relay.devices import PARAMETER_DEVICES, RESULT_DEVICES, VirtualDevice, VirtualDeviceAttr
from ....dialects.relay.types import is_complete
from ....dialects.support.diagnostics import did_you_mean
from ....dialects.support.retyping import retype
from ..calls import Call, RefCreate, RefRead, RefWrite
from ..data import Constructor, GlobalTypeVar, TypeData
from ..expr import Expr, Function, GlobalVar, If, Let, Operand, Tuple, TupleGetItem, Var, as_value
from ..generics import for_any_types
from ..kinds import AnyExpr
from ..matching import Clause, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard, match
from ..module import IRModule
from ..namespace import find
from ..op_class import Op, definitions, operator_classes
from ..operators import applied
from .lexer import VERSION, Kind, Source, Token
from .values import ValueParser

Given: TypeAlias = "Expr | FuncOp | GlobalVar | Op | Constructor"
"""What a word may stand for: an expression, or what is called."""

_BINARY: Mapping[str, tuple[int, str]] = {
    "*": (12, "multiply"), "/": (12, "divide"), "+": (10, "add"), "-": (10, "subtract"),
    "<": (8, "less"), ">": (8, "greater"), "<=": (8, "less_equal"), ">=": (8, "greater_equal"),
    "==": (7, "equal"), "!=": (7, "not_equal"),
}  # fmt: skip
"""How near a sign holds what stands around it, and the operator that it is."""

_VIRTUAL_DEVICE = "virtual_device"


class RelayParser(ValueParser):
    """Reads one text.

    Args:
        source: the text.
        module: what is known before.
        table: what `meta[key][number]` stands for.
    """

    def __init__(self, source: Source, module: IRModule, table: Mapping[str, Sequence[object]]):
        super().__init__(source, table)
        self.module = module
        self.scopes: list[dict[str, Var | FnOp]] = [{}]
        """What names stand for: variables, and functions for any types, of which each word is a copy."""
        self.graph: dict[str, Given] = {}
        self.types = {f"@{name.name_hint}": each.function_type for name, each in module.functions.items()}
        self.constructors: dict[str, Constructor] = {}
        for definition in module.type_definitions.values():
            self.constructors |= {each.name_hint: each for each in definition.constructors}

    # ---- modules

    def read_module(self) -> IRModule:
        """The module that the text is."""
        self._version()
        functions: dict[str, FuncOp] = {}
        while self.next.kind not in (Kind.END, Kind.METADATA):
            token = self.next
            if self.accept_name("def"):
                name = self.word(Kind.GLOBAL, "a function's name")
                if name.text in functions:
                    self.fail(f"the function {name.text} is defined before", name)
                functions[name.text] = self._function()
                self.types[name.text] = functions[name.text].function_type
            elif self.is_name("type") or self.is_name("extern"):
                self._type_definition()
            else:
                self.fail(f"a module is made of 'def', 'type' and 'extern type', and not of '{token.text}'")
        self.module.update({name[1:]: function for name, function in functions.items()})
        return self.module

    def read_expression(self) -> Given:
        """The expression that the text is."""
        if self.next.kind is Kind.VERSION:
            self._version()
        found = self._expression()
        if self.next.kind is not Kind.METADATA:
            self.word(Kind.END, "the end of the text")
        return found

    def _version(self) -> None:
        token = self.word(Kind.VERSION, f'#[version = "{VERSION}"]')
        if token.text.strip('"') != VERSION:
            self.fail(f"the text is of version {token.text}, and {VERSION} is read", token)

    def _type_definition(self) -> None:
        is_elsewhere = self.accept_name("extern") is not None
        if not self.accept_name("type"):
            self.fail("expected 'type'")
        name = self.word(Kind.NAME, "a data type's name")
        header = GlobalTypeVar(name.text)
        if name.text in self.module.type_definitions:
            self.fail(f"the data type '{name.text}' is defined before", name)
        with self.open_types() as variables:
            constructors: list[Constructor] = []
            if not is_elsewhere and self.is_sign("{"):
                constructors = self.sequence("{", "}", lambda: self._constructor(header))
        with self.placed(name):
            self.module[header] = TypeData(header, variables, constructors)

    def _constructor(self, header: GlobalTypeVar) -> Constructor:
        name = self.word(Kind.NAME, "a constructor")
        if name.text in self.constructors:
            self.fail(f"the constructor '{name.text}' is defined before", name)
        fields = self.sequence("(", ")", self.type) if self.is_sign("(") else []
        made = self.constructors[name.text] = Constructor(name.text, fields, header)
        return made

    # ---- functions

    def _function(self) -> FuncOp:
        """What stands behind `fn`, or behind the name of a function."""
        start = self.next
        attributes: dict[str, object] = {}
        devices: list[VirtualDevice | None] = []

        def parameter() -> Var:
            token = self.word(Kind.LOCAL, "a parameter")
            said: dict[str, object] = {}
            if self.accept("{"):
                said = self.attributes()
                self.sign("}")
            devices.append(self._device(said, token))
            return self._bound(token, self.type() if self.accept(":") else None)

        def is_attributes() -> bool:
            if self.next.kind is Kind.NAME and self.is_sign("=", 1):
                attributes.update(self.attributes())
                return True
            return False

        with self.open_types() as variables, self._scope():
            params = self.sequence("(", ")", parameter, is_attributes)
            result = self.type() if self.accept("->") else None
            device = self._device(attributes, start, attributes.pop(_VIRTUAL_DEVICE, None))
            body = self._block()
        if any(each is not None for each in [*devices, device]):
            free = VirtualDevice()
            attributes[PARAMETER_DEVICES] = ArrayAttr([VirtualDeviceAttr(each or free) for each in devices])
            attributes[RESULT_DEVICES] = ArrayAttr([VirtualDeviceAttr(device or free)])
        given = {key: UnitAttr() if each is None else each for key, each in attributes.items()}
        with self.placed(start):
            return Function(params, self._operand(body, start), result, variables, cast("dict[str, Value]", given))

    def _device(self, attributes: Mapping[str, object], token: Token, given: object = None) -> VirtualDevice | None:
        device = attributes.get(_VIRTUAL_DEVICE, given)
        if device is not None and not isinstance(device, VirtualDevice):
            self.fail(f"'{_VIRTUAL_DEVICE}' is a device, and not {device!r}", token)
        return device

    @contextmanager
    def _scope(self) -> Generator[None]:
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()

    def _bound(self, token: Token, type: Attribute | None) -> Var:
        """A variable, known by its name from here on."""
        made = Var(token.text[1:], type)
        self.scopes[-1][token.text] = made
        return made

    def _block(self) -> Given:
        self.sign("{")
        with self._scope():
            found = self._expression()
        self.sign("}")
        return found

    # ---- expressions

    def _expression(self) -> Given:
        """Values that are named, or only done, and then what they are for."""
        bindings: list[tuple[Token, Var, Given]] = []
        scopes = len(self.scopes)
        while True:
            token = self.next
            if self.accept_name("free_var"):
                name = self.word(Kind.LOCAL, "a variable")
                self._bound(name, self.type() if self.accept(":") else None)
                self.sign(";")
            elif self.accept_name("let"):
                name = self.word(Kind.LOCAL, "a variable")
                type = self.type() if self.accept(":") else None
                self.scopes.append({})
                variable = self._bound(name, type)
                self.sign("=")
                value = self._binary()
                if type is None and isinstance(value, FuncOp | Expr):
                    given = as_value(value)
                    if (function := for_any_types(given, variable.value)) is not None:
                        self.scopes[-1][name.text] = function
                        self.sign(";")
                        continue
                    value = Expr(given)
                bindings.append((name, variable, value))
                if isinstance(value, Expr) and is_complete(known := value.value.type) and type is None:
                    retype(variable.value, known)
                self.sign(";")
            elif token.kind is Kind.GRAPH and self.is_sign("=", 1):
                self.at += 2
                self.graph[token.text] = self._binary()
                self.sign(";")
            else:
                found = self._block() if self.is_sign("{") else self._binary()
                if not self.accept(";"):
                    break
                bindings.append((token, Var(""), found))
        del self.scopes[scopes:]
        for name, variable, value in reversed(bindings):
            with self.placed(name):
                found = Let(variable, self._operand(value, name), self._operand(found, token))
        return found

    def _binary(self, least: int = 0) -> Given:
        """Operands with signs between; of equal strength, those to the left come first."""
        start = self.next
        left = self._calls()
        while self.next.kind is Kind.SIGN and (rule := _BINARY.get(self.next.text)) and rule[0] > least:
            sign = self.next
            self.at += 1
            right = self._operand(self._binary(rule[0]), sign)
            left = self._applied(rule[1], [self._operand(left, start), right], {}, sign)
        return left

    def _calls(self) -> Given:
        start = self.next
        found = self._atom()
        while (field := self.next).kind is Kind.FIELD or self.is_sign("("):
            if field.kind is not Kind.FIELD:
                found = self._call(found, start)
                continue
            self.at += 1
            with self.placed(field):
                found = TupleGetItem(self._operand(found, start), int(field.text[1:]))
        if isinstance(found, Constructor) and not found.inputs:
            with self.placed(start):
                return found()
        return found

    def _call(self, callee: Given, start: Token) -> Expr:
        attributes: dict[str, object] = {}

        def is_attributes() -> bool:
            if self.next.kind is Kind.NAME and self.is_sign("=", 1):
                attributes.update(self.attributes())
                return True
            return False

        def argument() -> Operand:
            token = self.next
            return self._operand(self._expression(), token)

        args = self.sequence("(", ")", argument, is_attributes)
        if isinstance(callee, Op):
            return self._applied(callee.name, args, attributes, start)
        with self.placed(start):
            if isinstance(callee, Constructor):
                return callee(*args)
            return self._located(Call(callee, args, None), start)

    def _applied(self, name: str, operands: Sequence[Operand], attributes: Mapping[str, object], token: Token) -> Expr:
        has_class = name in operator_classes() and name not in definitions()
        with self.placed(token):
            made = applied(name, operands, attributes) if has_class else find(name)(*operands, **attributes)
        return self._located(made, token)

    def _located(self, made: Expr, token: Token) -> Expr:
        if isinstance(owner := made.value.owner, Operation):
            owner.location = self.location(token)
        return made

    def _atom(self) -> Given:
        token = self.next
        self.at += 1
        match token.kind:
            case Kind.NUMBER:
                self.at -= 1
                return self.signed_number()
            case Kind.LOCAL:
                return self._variable(token)
            case Kind.GRAPH:
                if token.text not in self.graph:
                    self.fail(f"there is no {token.text} before this", token)
                return self.graph[token.text]
            case Kind.GLOBAL:
                return GlobalVar(token.text[1:], self.types.get(token.text))
            case Kind.META:
                self.at -= 1
                found = self.meta()
                if not isinstance(found, AnyExpr):
                    self.fail(f"meta[{token.text}] is no expression", token)
                return cast(Given, found)
            case Kind.NAME:
                return self._named(token)
            case Kind.SIGN if token.text == "(":
                self.at -= 1
                return self._parentheses()
            case Kind.SIGN if token.text == "-":
                self.at -= 1
                return self.signed_number()
            case _:
                self.at -= 1
                self.fail(f"expected an expression, found {'the end' if token.kind is Kind.END else repr(token.text)}")

    def _variable(self, token: Token) -> Expr:
        for scope in reversed(self.scopes):
            if (found := scope.get(token.text)) is not None:
                return Expr(found.clone().result) if isinstance(found, FnOp) else found
        names = {name for scope in self.scopes for name in scope}
        self.fail(f"there is no variable {token.text} here", token, did_you_mean(token.text, names))

    def _parentheses(self) -> Given:
        """`()`, `(a)`, which is `a`, `(a,)` or `(a, b)`."""
        token = self.sign("(")
        fields: list[Given] = []
        while not self.accept(")"):
            fields.append(self._expression())
            if self.accept(")"):
                if len(fields) == 1:
                    return fields[0]
                break
            self.sign(",")
        return Tuple([self._operand(each, token) for each in fields])

    def _named(self, token: Token) -> Given:
        match token.text:
            case "True" | "False":
                self.at -= 1
                return self.truth()
            case "fn":
                return self._function()
            case "if":
                return self._if(token)
            case "match":
                return self._match(token)
            case "ref" | "ref_read" | "ref_write" if self.is_sign("("):
                make = cast("Callable[..., Expr]", {"ref": RefCreate, "ref_read": RefRead}.get(token.text, RefWrite))
                args = self.sequence("(", ")", lambda: self._operand(self._expression(), token))
                if len(args) != (2 if token.text == "ref_write" else 1):
                    self.fail(f"'{token.text}' is given {len(args)} operands", token)
                with self.placed(token):
                    return make(*args)
            case _ if token.text in self.constructors:
                return self.constructors[token.text]
            case _:
                with self.placed(token):
                    return Op.get(token.text)

    def _if(self, token: Token) -> Expr:
        self.sign("(")
        condition = self._operand(self._expression(), token)
        self.sign(")")
        then = self._operand(self._block(), token)
        if not self.accept_name("else"):
            self.fail("expected 'else'")
        other = self._operand(self._block(), token)
        with self.placed(token):
            return self._located(If(condition, then, other), token)

    def _match(self, token: Token) -> Expr:
        is_complete = not self.accept("?")
        data = self._operand(self._atom(), token)
        clauses = self.sequence("{", "}", lambda: self._clause(token))
        with self.placed(token):
            return self._located(match(data, clauses, is_complete), token)

    def _clause(self, token: Token) -> Clause:
        with self._scope():
            pattern = self._pattern()
            self.sign("=>")
            return Clause(pattern, self._operand(self._expression(), token))

    def _pattern(self) -> Pattern:
        token = self.next
        if self.accept_name("_"):
            return PatternWildcard()
        if token.kind is Kind.LOCAL:
            self.at += 1
            return PatternVar(self._bound(token, self.type() if self.accept(":") else None))
        if token.kind is not Kind.NAME:
            return PatternTuple(self.sequence("(", ")", self._pattern))
        self.at += 1
        if token.text not in self.constructors:
            self.fail(f"there is no constructor '{token.text}'", token, f"a variable is written %{token.text}")
        fields = self.sequence("(", ")", self._pattern) if self.is_sign("(") else []
        with self.placed(token):
            return PatternConstructor(self.constructors[token.text], fields)

    def _operand(self, found: Given, token: Token) -> Operand:
        """An expression as an operand; an operator or a constructor as a function of its operands."""
        if not isinstance(found, Op | Constructor):
            return found
        count = found.num_inputs if isinstance(found, Op) else len(found.inputs)
        if count < 0:
            self.fail(f"'{token.text}' takes any number of operands, and is no function value", token)
        params = [Var(f"x{place}") for place in range(count)]
        with self.placed(token):
            made = found(*params) if isinstance(found, Constructor) else self._applied(found.name, params, {}, token)
            return Function(params, made)

"""What functions on data types are written with: the lists of TVM's prelude, and a writer of functions.

Functions are Python functions that say, of the variables of a function and of its own name, what it gives.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute

from ...dialects.relay.types import ParamType
from .data import Constructor, GlobalTypeVar
from .expr import Expr, GlobalVar, Operand, Var, as_value, var
from .kinds import Function, Match
from .matching import Clause, PatternConstructor, PatternVar, PatternWildcard
from .module import IRModule
from .ty import TupleType, scalar_type

A = ParamType("a")
LIST = GlobalTypeVar("List")
CONS, NIL = Constructor("Cons", [A, LIST(A)], LIST), Constructor("Nil", [], LIST)
INT = scalar_type("int32")


def to(*types: Attribute) -> FunctionType:
    """The type of a function from all types but the last to that."""
    return FunctionType.from_lists(list(types[:-1]), [types[-1]])


def pair(first: Attribute, second: Attribute) -> Attribute:
    """The type of a pair."""
    return TupleType([first, second])


def function(written: Callable[..., Operand], *types: Attribute) -> Expr:
    """A function value, of what a function of Python says of variables of these types."""
    params = [var(f"x{number}", type) for number, type in enumerate(types)]
    return Expr(as_value(Function(params, written(*params))))


def match(value: Operand, *cases: tuple[Constructor, Callable[..., Operand]], otherwise: Operand | None = None) -> Expr:
    """What the case of a value's constructor says of its fields; `otherwise` where there is none, or a failure."""
    clauses: list[Clause] = []
    for constructor, written in cases:
        fields = [Var(var(f"f{number}").value) for number in range(len(constructor.inputs))]
        clauses.append(Clause(PatternConstructor(constructor, [PatternVar(each) for each in fields]), written(*fields)))
    if otherwise is not None:
        clauses.append(Clause(PatternWildcard(), otherwise))
    whole = otherwise is not None or len(cases) == len(cases[0][0].belong_to.definition().constructors)
    return Match(value, clauses, complete=whole)


class Writer:
    """Writes functions into a module."""

    def __init__(self, module: IRModule):
        self.module = module
        self.names: dict[str, GlobalVar] = {}

    def define(self, name: str, type: FunctionType, written: Callable[..., Operand]) -> None:
        """A function of a type: what a function of Python says of its name and its parameters."""
        called = self.names[name] = GlobalVar(name, type)
        params = [var(f"x{number}", each) for number, each in enumerate(type.inputs)]
        if name not in self.module:
            self.module[name] = Function(params, written(called, *params), type.outputs.data[0])

    def forget(self, name: str) -> None:
        """Take a function away, if there is one of that name."""
        if name in self.module:
            self.module[name].detach()


class Definitions:
    """A module whose functions are attributes too.

    Args:
        mod: the module.
    """

    def __init__(self, mod: IRModule):
        self.mod = mod

    def __getattr__(self, name: str) -> GlobalVar:
        if name.startswith("__") or name == "mod" or name not in self.mod:
            raise AttributeError(f"the prelude has no '{name}'")
        return self.mod.get_global_var(name)

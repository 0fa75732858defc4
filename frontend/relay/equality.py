"""Are two graphs the same but for names? TVM's `structural_equal`, for tests of passes.

relay.assert_structural_equal(relay.transform.FastMath()(module), expected)
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Region

from ...dialects.relay.core import FuncOp
from ...dialects.support.arguments import checked
from ...dialects.support.differences import StructuralDifferenceError
from ...transforms.relay.analysis.equality import Numbering
from .data import Constructor, GlobalTypeVar
from .expr import Expr, Function, GlobalVar, expr_of, free_vars
from .extents import VariableBlock
from .function_values import given_by
from .op_class import Op

Name: TypeAlias = "Op | GlobalVar | GlobalTypeVar | Constructor"
Graph: TypeAlias = "Expr | FuncOp | Region | ModuleOp | Attribute | Name"
"""An expression, a function, the body of one, a module, a type, or what a call calls."""


@checked
def structural_equal(lhs: Graph, rhs: Graph, map_free_vars: bool = False) -> bool:
    """Whether two expressions, functions, modules or types are the same but for names.

    It is the same whether something is computed once or twice, and in which order. What functions are called counts in
    modules only. Free variables are the same where they are one variable, or, with `map_free_vars`, where they are of
    one type and met at the same place. A parameter, in what the body of a function is, is the variable that it was made
    of, as far as its name and its type tell.
    """
    numbering = Numbering(map_free_vars)
    lhs, rhs = _as_expr(lhs), _as_expr(rhs)
    match lhs, rhs:
        case (Expr(), Expr()):
            parameters = not all(isinstance(each.value.owner, VariableBlock) for each in free_vars(lhs, rhs))
            numbering = Numbering(map_free_vars, by_name=parameters)
            return numbering.of_values([lhs.value]) == numbering.of_values([rhs.value])
        case (FuncOp(), FuncOp()):
            return numbering.of_function(lhs) == numbering.of_function(rhs)
        case (ModuleOp(), ModuleOp()):
            return numbering.of_module(lhs) == numbering.of_module(rhs)
        case (Attribute(), Attribute()):
            return lhs == rhs
        case (Op() | GlobalVar() | GlobalTypeVar() | Constructor(), _):
            return lhs == rhs
        case _:
            return False


class _Hashing(Numbering):
    """Numbers that say by themselves what they are of, so that those of other graphs can be compared with them."""

    def number(self, key: Hashable) -> int:
        return hash(key)


@checked
def structural_hash(graph: Graph, map_free_vars: bool = False) -> int:
    """A number that is the same for graphs that are the same but for names; of one process."""
    hashing = _Hashing(map_free_vars, by_name=True)
    match graph := _as_expr(graph):
        case Expr():
            return hash(hashing.of_values([graph.value]))
        case FuncOp():
            return hashing.of_function(graph)
        case ModuleOp():
            return hash(tuple(sorted(hashing.of_module(graph).items())))
        case _:
            return hash(graph)


@checked
def assert_structural_equal(lhs: Graph, rhs: Graph, map_free_vars: bool = False) -> None:
    """Raise a `StructuralDifferenceError` that shows where two graphs differ, unless they are the same."""
    if structural_equal(lhs, rhs, map_free_vars):
        return
    left, right = (_text(_as_expr(graph)).splitlines() for graph in (lhs, rhs))
    difference = "\n".join(difflib.unified_diff(left, right, "lhs", "rhs", lineterm="", n=3))
    raise StructuralDifferenceError(f"the graphs differ:\n{difference or 'in their free variables only'}")


def _as_expr(graph: Graph) -> Graph:
    return expr_of(given_by(graph)) if isinstance(graph, Region) else graph


def _text(graph: Graph) -> str:
    return str(Function(free_vars(graph), graph) if isinstance(graph, Expr) else graph)

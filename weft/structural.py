"""Are two things one but for names? TVM's `structural_equal`, for whatever can be asked it of."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Region

from .dialects.relay.core import FuncOp
from .dialects.support.arguments import checked
from .dialects.support.differences import StructuralDifferenceError
from .dialects.tir.nodes import equality as nodes
from .dialects.tir.nodes import mismatch
from .frontend.relay import equality as graphs
from .frontend.relay.data import Constructor, GlobalTypeVar
from .frontend.relay.op_class import Op
from .frontend.relay.values import Expr, GlobalVar


def _is_graph(thing: object) -> bool:
    """Whether a thing is Relay's: an expression, a function, a type, what a call calls, or a module that has a function
    of Relay."""
    if isinstance(thing, ModuleOp):
        return any(isinstance(op, FuncOp) for op in thing.ops)
    if isinstance(thing, Region):
        return isinstance(thing.parent, FuncOp)
    return isinstance(thing, Expr | FuncOp | Attribute | Op | GlobalVar | GlobalTypeVar | Constructor)


@checked
def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """Whether two expressions, statements, functions, modules or types are one but for names: of Relay as
    `relay.structural_equal` says, of `tir` as `tir.structural_equal` does.

    Raises:
        ArgumentError: they are none of these.
    """
    if _is_graph(lhs) != _is_graph(rhs):
        return False
    return (graphs if _is_graph(lhs) else nodes).structural_equal(lhs, rhs, map_free_vars)


@checked
def structural_hash(node: Any, map_free_vars: bool = False) -> int:
    """A number that is the same for what `structural_equal` takes for one; of one process.

    Raises:
        ArgumentError: it is nothing that can be compared.
    """
    return (graphs if _is_graph(node) else nodes).structural_hash(node, map_free_vars)


@checked
def assert_structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """
    Raises:
        StructuralDifferenceError: `lhs` and `rhs` are not one but for names.
        ArgumentError: they are nothing that can be compared.
    """
    if _is_graph(lhs) != _is_graph(rhs):
        raise StructuralDifferenceError(f"one is of Relay, and the other is not:\n{lhs}\n{rhs}")
    (graphs if _is_graph(lhs) else mismatch).assert_structural_equal(lhs, rhs, map_free_vars)

"""What functions answer under TVM's names: `func.attrs["Compiler"]`, `func.body.op`, `call.op.params`.

A function's `body` is an xDSL region, which holds the operations. Where something is asked of it that no region has, it
answers as the expression that the function gives: `func.tree`. So `func.body.args` are expressions, `func.body` stands
as an operand, and `isinstance(func.body, relay.Call)` says what it is. `func.body == x` compares regions. The one name
that both have, `op`, is the expression's: a function's region has no only operation, unless it gives a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.ir import Attribute, Operation, Region

from ...dialects.relay.core import FuncOp
from ...dialects.relay.functions import INPUT_NAMES, Trees
from ...dialects.relay.graph_arguments import DIM_NAMES
from .attrs import NamedValues, python_value


class FunctionAttrs(NamedValues):
    """The attributes of a function, as Python's values; also by name, `attrs.Composite`."""

    def __init__(self, attributes: Mapping[str, Attribute]):
        shown = {name: each for name, each in attributes.items() if name not in (DIM_NAMES, INPUT_NAMES)}
        self._values = {name: python_value(each) for name, each in shown.items()}


def function_attrs(function: Operation) -> FunctionAttrs:
    """The attributes of a function, or of a function value."""
    return FunctionAttrs(function.attributes)


Trees.attrs = function_attrs


def _answer(region: Region, name: str) -> object:
    """What the expression that a function gives answers, asked of its region."""
    function = vars(region).get("parent") if not name.startswith("_") else None
    if isinstance(function, FuncOp):
        return getattr(function.tree, name)
    raise AttributeError(f"'Region' object has no attribute '{name}'")


_only_operation = cast("property", Region.op).fget


def _called(region: Region) -> object:
    """What the expression that a function gives calls; of another region, its only operation, as xDSL has it."""
    if isinstance(region.parent, FuncOp):
        return region.parent.tree.op
    assert _only_operation is not None
    return _only_operation(region)


assert not hasattr(Region, "__getattr__"), "xDSL's Region answers what it has not, now, of its own"
cast(Any, Region).__getattr__ = _answer
cast(Any, Region).op = property(_called)

"""What functions answer under TVM's names: `func.attrs["Compiler"]`, `func.body.op`, `call.op.params`.

A function's `body` is a region, which answers as the expression that the function gives, `func.tree`, what no region
has (`FunctionBody`). So `func.body` stands as an operand, and `isinstance(func.body, relay.Call)` says what it is.
`func.body == x` compares regions.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute, Operation

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

"""Parameters of instructions as Python values, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr, AffineMap

from ....dialects.support.diagnostics import UsageError
from ....dialects.support.dtypes import dtype_name, scalar_type
from ....dialects.support.hints import is_dict, is_sequence
from ....dialects.support.python_values import value_of
from ....dialects.tir.script.attributes import attribute_from_text

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MLIR = "mlir:"
"""What the JSON text of an attribute that is no plain value begins with."""
TYPE = "type:"
"""What that of an element type begins with."""


def json_of(value: object, quoted: bool = True) -> Json:
    """A Python value as JSON. Texts are `quoted` where they stand among names, and where they could be taken for what
    is none."""
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return f'"{value}"' if quoted or value.startswith(('"', MLIR, TYPE)) else value
        case _ if is_sequence(value):
            return [json_of(each, quoted) for each in value]
        case _ if is_dict(value):
            return {str(name): json_of(each, quoted) for name, each in value.items()}
        case AffineMap():
            return f"{MLIR}{AffineMapAttr(value)}"
        case Attribute() if isinstance(value, TypeAttribute):
            return f"{TYPE}{dtype_name(value)}"
        case _:
            return f"{MLIR}{value}"


def from_json(given: Json, names: Mapping[str, object] | None) -> object:
    """The Python value of `json_of`, or what is known by that name; without `names`, a text that is not quoted is one.

    Raises:
        UsageError: nothing is known by the name.
    """
    match given:
        case str() if len(given) > 1 and given[0] == given[-1] == '"':
            return given[1:-1]
        case str() if given.startswith(MLIR):
            return value_of(attribute_from_text(given.removeprefix(MLIR)))
        case str() if given.startswith(TYPE):
            return scalar_type(given.removeprefix(TYPE))
        case str():
            if names is None:
                return given
            if given not in names:
                raise UsageError(f"no instruction before gives '{given}'")
            return names[given]
        case list():
            return [from_json(each, names) for each in given]
        case dict():
            return {name: from_json(each, names) for name, each in given.items()}
        case _:
            return given


def python_of(value: object) -> str:
    """The Python text of a value."""
    match value:
        case AffineMap():
            indices = [f"d{number}" for number in range(value.num_dims)]
            return (
                f"lambda {', '.join(indices)}: ({''.join(f'{_python_of(each)}, ' for each in value.results).rstrip()})"
            )
        case Attribute() if isinstance(value, TypeAttribute):
            return repr(dtype_name(value))
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        case list() | tuple():
            return f"[{', '.join(map(python_of, cast('Sequence[object]', value)))}]"
        case _ if is_dict(value):
            items = value.items()
            return "{" + ", ".join(f"{python_of(name)}: {python_of(each)}" for name, each in items) + "}"
        case _:
            return str(value)


_OPERATORS = {
    AffineBinaryOpKind.Add: "+",
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.Mod: "%",
    AffineBinaryOpKind.FloorDiv: "//",
}


def _python_of(expr: AffineExpr) -> str:
    if not isinstance(expr, AffineBinaryOpExpr):
        return str(expr)
    left, right = (
        f"({_python_of(side)})" if isinstance(side, AffineBinaryOpExpr) else str(side) for side in (expr.lhs, expr.rhs)
    )
    if expr.kind == AffineBinaryOpKind.CeilDiv:
        return f"-(-{left} // {right})"
    return f"{left} {_OPERATORS[expr.kind]} {right}"

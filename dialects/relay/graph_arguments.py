"""The symbols of a graph's arguments, and what names of dimensions mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr

from .. import te
from ..support.diagnostics import Diagnostic
from ..support.hints import isa
from ..support.unique_names import argument_names, free_name
from .base import DYNAMIC, Tensor, flatten_types
from .core import FuncOp
from .extents import Dims

DIM_NAMES = "dim_names"
"""Attribute of a function: names of what is `?` in its arguments; what has one name is one extent."""


def named_dim(name: str, names: Collection[str], symbol: Callable[[str], te.Dim]) -> te.Dim:
    """What the name of an extent means: `symbol` gives one for a name, and what exporters call `past + 1` is that,
    where the names of its parts are among `names`."""
    parts = [part.strip() for part in name.split("+")]
    if len(parts) == 1 or not all(part.isdecimal() or (part in names and part != name) for part in parts):
        return symbol(name)
    total: te.Dim = 0
    for part in parts:
        total = total + (int(part) if part.isdecimal() else symbol(part))
    return total


def graph_symbols(graph: FuncOp) -> tuple[list[te.Var], list[Dims]]:
    """The symbols of a graph, and the extents of its arguments, tuples opened.

    Raises:
        Diagnostic: `dim_names` does not fit the arguments.
    """
    types = flatten_types(graph.function_type.inputs.data)
    arguments = graph.body.block.args
    names_of = zip(arguments, argument_names(arguments), strict=True)
    owners = [name for argument, name in names_of for _ in flatten_types([argument.type])]
    given = dim_names(graph, types)
    names_given = {name for each in given for name in each}
    named: dict[str, te.Var] = {}
    taken: dict[str, te.Var] = {}
    shapes: list[Dims] = []

    def fresh(name: str) -> te.Var:
        plain = _plain(name, taken)
        taken[plain] = te.var(plain)
        return taken[plain]

    def symbol(name: str) -> te.Dim:
        if name not in named:
            named[name] = fresh(name)
        return named[name]

    for owner, type, names in zip(owners, types, given, strict=True):
        dims: list[te.Dim] = []
        for axis, (extent, name) in enumerate(zip(type.get_shape(), names, strict=True)):
            if extent != DYNAMIC:
                dims.append(extent)
                continue
            # What has no name is an extent of its own, even where a name is like that of the argument and the axis.
            dims.append(named_dim(name, names_given, symbol) if name else fresh(f"{owner}_d{axis}"))
        shapes.append(tuple(dims))
    return list(taken.values()), shapes


def dim_names(graph: FuncOp, types: Sequence[Tensor]) -> list[list[str]]:
    """What the extents of a graph's arguments, of these types, are called; "" for what has no name.

    Raises:
        Diagnostic: `dim_names` does not fit the arguments.
    """
    names = graph.attributes.get(DIM_NAMES)
    if names is None:
        return [[""] * len(type.get_shape()) for type in types]
    if isa(names, ArrayAttr[ArrayAttr[StringAttr]]):
        given = [[name.data for name in each] for each in names]
        if len(given) == len(types):  # an empty list says nothing of a tensor
            given = [each or [""] * len(type.get_shape()) for each, type in zip(given, types, strict=True)]
        if [len(each) for each in given] == [len(type.get_shape()) for type in types]:
            return given
    raise Diagnostic.at(
        graph,
        f"'{DIM_NAMES}' does not name the dimensions of its {len(types)} inputs",
        hint='write a list for each, with "" for what has no name: [["n", ""], ["n", ""]]',
    )


def _plain(name: str, taken: dict[str, te.Var]) -> str:
    """A name that a value may have, and no symbol has yet."""
    plain = re.sub(r"\W", "_", name)
    plain = plain if re.match(r"[A-Za-z_]", plain) else f"n_{plain}"
    return free_name(plain, taken)

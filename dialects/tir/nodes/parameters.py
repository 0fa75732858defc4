"""The parameters of a function as nodes, by TVM's names: `func.params`, `func.buffer_map`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation

from ...te.dims import var as extent_var
from ...te.expr import Expr
from ..argument_scopes import ARGUMENT_SCOPES, scope_of_argument
from ..axis_separators import ARGUMENT_SEPARATORS, axis_separators_of
from ..buffers import memref_of, shape_of
from ..parameter_nodes import keep_nodes, kept_nodes
from ..symbols import as_affine
from .affine_expressions import dim
from .buffers import Buffer, pointer_to

Parameters: TypeAlias = tuple[tuple[Expr, ...], Mapping[Expr, Buffer]]
"""The parameters in order, and the buffers that handles among them are."""


def parameters(func: Operation) -> Parameters:
    """The parameters of a function, and the buffers that they are: the same nodes each time, in all copies of it, as
    long as its signature is the same."""
    known: dict[object, Parameters] = kept_nodes(func)
    if (found := known.get(signature := signature_of(func))) is None:
        found = known[signature] = _parameters(func)
    return found


def names_of(func: Operation) -> list[str]:
    """What the parameters of a function are called."""
    arguments = func.regions[0].block.args
    return [argument.name_hint or f"arg{argument.index}" for argument in arguments]


def signature_of(func: Operation) -> object:
    """What tells functions whose parameters differ."""
    names = tuple(argument.name_hint for argument in func.regions[0].block.args)
    return (
        func.properties["function_type"],
        func.properties.get("shapes"),
        func.attributes.get(ARGUMENT_SEPARATORS),
        func.attributes.get(ARGUMENT_SCOPES),
        names,
    )


def keep_sizes(func: Operation, sizes: Mapping[int, Expr]) -> None:
    """Let the index arguments of a function that is new, by number, be these nodes."""
    keep_nodes(func, signature_of(func), _parameters(func, sizes))


def _parameters(func: Operation, given: Mapping[int, Expr] = MappingProxyType({})) -> Parameters:
    arguments = func.regions[0].block.args
    names = names_of(func)
    sizes: dict[int, Expr] = {
        argument.index: given[argument.index] if argument.index in given else extent_var(name)
        for argument, name in zip(arguments, names, strict=True)
        if not isinstance(argument.type, MemRefType)
    }
    params: list[Expr] = []
    buffers: dict[Expr, Buffer] = {}
    for argument, name in zip(arguments, names, strict=True):
        if argument.index in sizes:
            params.append(sizes[argument.index])
            continue
        element: Attribute = memref_of(argument).element_type
        scope, separators = scope_of_argument(argument), axis_separators_of(argument)
        handle = pointer_to(name, element, scope)
        shape = [dim(as_affine(extent), (), sizes) for extent in shape_of(argument)]
        buffers[handle] = Buffer(name, shape, element, scope=scope, data=handle, axis_separators=separators)
        params.append(handle)
    return tuple(params), buffers

"""Variables replaced by values: TVM's `relay.bind` and `bind_params_by_name`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ...dialects.relay.core import FuncOp
from ...dialects.relay.types import is_complete
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ...transforms.relay.completion import complete
from .expr import Expr, Operand, Var, as_value, operations_of


@checked
def bind(expr: Expr, binds: Mapping[Var, Operand]) -> Expr:
    """`expr` with values in the place of variables; what it is made of stays as it is, for others.

    Raises:
        UsageError: a value is of another type than its variable.
    """
    values: dict[SSAValue, SSAValue] = {}
    for variable, given in binds.items():
        value = as_value(given, variable.value.type)
        if is_complete(variable.value.type) and value.type != variable.value.type:
            raise UsageError(f"{variable!r} cannot be bound to a value of type {value.type}")
        values[variable.value] = value
    if not values:
        return expr
    for op in operations_of([expr.value]):
        copy = op.clone(values)
        complete(copy)
        values.update(zip(op.results, copy.results, strict=True))
    return Expr(values.get(expr.value, expr.value))


@overload
def bind_params_by_name(func: FuncOp, params: Mapping[str, npt.ArrayLike]) -> FuncOp: ...
@overload
def bind_params_by_name(func: ModuleOp, params: Mapping[str, npt.ArrayLike]) -> ModuleOp: ...
@checked
def bind_params_by_name(func: FuncOp | ModuleOp, params: Mapping[str, npt.ArrayLike]) -> FuncOp | ModuleOp:
    """A function, or a module and its `@main`, with parameters made constants; what is given stays as it is.

    Raises:
        UsageError: there is no such parameter, or an array does not fit.
    """
    from ...transforms.relay.bind_params import bind_params

    copy = func.clone()
    if isinstance(copy, ModuleOp):
        bind_params(copy, params)
        return copy
    module = ModuleOp([copy])
    bind_params(module, params, copy.sym_name.data)
    copy.detach()
    return copy

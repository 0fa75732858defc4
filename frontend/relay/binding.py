"""Variables replaced by values: TVM's `relay.bind` and `bind_params_by_name`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import cast, overload

import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Region, SSAValue

from ...dialects.relay.core import FuncOp
from ...dialects.relay.devices import PARAMETER_DEVICES
from ...dialects.relay.functions import INPUT_NAMES, name_of
from ...dialects.relay.graph_arguments import DIM_NAMES
from ...dialects.relay.types import is_complete
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ...transforms.relay.completion import complete
from .expr import Expr, Function, Operand, Var, as_value, free_vars, operations_of

OF_PARAMETERS = (DIM_NAMES, INPUT_NAMES)
"""Attributes of functions that say something of each parameter."""


@overload
def bind(expr: FuncOp, binds: Mapping[Var, Operand]) -> FuncOp: ...
@overload
def bind(expr: Expr | Region, binds: Mapping[Var, Operand]) -> Expr: ...
@checked
def bind(expr: Expr | FuncOp | Region, binds: Mapping[Var, Operand]) -> Expr | FuncOp:
    """`expr` with values in the place of variables; what it is made of stays as it is, for others.

    A function's body is what it gives. Of a function, parameters: it has them no more, and those variables besides that
    the values are made of. A parameter is named by itself, or by the variable that it was made of: that of its name and
    its type, also in the values.

    Raises:
        UsageError: a value is of another type than its variable, or a function has no such parameter, or several.
    """
    if isinstance(expr, FuncOp):
        return _bind_parameters(expr, binds)
    if isinstance(expr, Region):
        expr = Expr(as_value(expr))
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


def _bind_parameters(function: FuncOp, binds: Mapping[Var, Operand]) -> FuncOp:
    if PARAMETER_DEVICES in function.attributes:
        raise UsageError(f"where @{function.sym_name.data} has its parameters is planned: bind them before that")
    params: list[Var] = function.params
    values = {_parameter(function, params, variable): as_value(given) for variable, given in binds.items()}
    kept = [each for each in params if all(each.value is not bound.value for bound in values)]
    for param, given in values.items():
        own = {each: found[0] for each in free_vars(Expr(given)) if len(found := _named_by(each, kept)) == 1}
        values[param] = bind(Expr(given), own).value
    body = bind(cast("Expr", function.tree), values)
    known = {each.value for each in kept}
    kept += [each for each in free_vars(body) if each.value not in known]
    attributes = {name: value for name, value in function.attributes.items() if name not in OF_PARAMETERS}
    made = Function(kept, body, name=function.sym_name.data)
    made.attributes |= attributes
    return made


def _parameter(function: FuncOp, params: Sequence[Var], variable: Var) -> Var:
    """The parameter that a variable names.

    Raises:
        UsageError: there is none, or there are several.
    """
    if len(found := _named_by(variable, params)) != 1:
        many = "several parameters" if found else "no parameter"
        raise UsageError(f"@{function.sym_name.data} has {many} like {variable!r}", hint="bind one of its `params`")
    return found[0]


def _named_by(variable: Var, params: Sequence[Var]) -> list[Var]:
    """The parameters that a variable may be, or may have been."""
    value = variable.value
    same = [each for each in params if each.value is value]
    return same or [each for each in params if _looks(each) == _looks(variable)]


def _looks(variable: Var) -> tuple[str | None, Attribute]:
    return variable.name_hint, variable.value.type


@overload
def bind_params_by_name(func: FuncOp, params: Mapping[str, npt.ArrayLike]) -> FuncOp: ...
@overload
def bind_params_by_name(func: ModuleOp, params: Mapping[str, npt.ArrayLike]) -> ModuleOp: ...
@checked
def bind_params_by_name(func: FuncOp | ModuleOp, params: Mapping[str, npt.ArrayLike]) -> FuncOp | ModuleOp:
    """A function, or a module and its `@main`, with parameters made constants; what is given stays as it is.

    Raises:
        UsageError: there are several of a name, or an array does not fit.
    """
    from ...transforms.relay.bind_params import bind_known

    copy = func.clone()
    functions = [each for each in (copy.ops if isinstance(copy, ModuleOp) else [copy]) if isinstance(each, FuncOp)]
    for function in functions:
        if isinstance(copy, FuncOp) or function.sym_name.data == "main":
            _check_told_apart(function, params)
    if isinstance(copy, ModuleOp):
        bind_known(copy, params)
        return copy
    module = ModuleOp([copy])
    bind_known(module, params, copy.sym_name.data)
    copy.detach()
    return copy


def _check_told_apart(function: FuncOp, names: Iterable[str]) -> None:
    """Refuse a name that several parameters have, of which the text and executors call all but one otherwise."""
    counted = Counter(map(name_of, function.body.block.args))
    for name in names:
        if counted[name] > 1:
            raise UsageError(
                f"@{function.sym_name.data} has {counted[name]} parameters of the name '{name}'",
                hint="bind one of its `params` by relay.bind",
            )

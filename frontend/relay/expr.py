"""Relay expressions in Python: an `Expr` is the value of an operation, whose type is known at once.

    x = relay.var("x", shape=(1, 64))
    w = relay.var("w", shape=(32, 64))
    y = relay.nn.relu(relay.nn.dense(x, w) + relay.const(1.0))
    function = relay.Function([x, w], y)      # a `relay.func`, for `weft.compile` and the passes

There is no tree beside the dialect: each call makes one operation, `relay.Function` puts those that its body needs into
a function, and an expression that is used twice is one operation that is used twice. A `let` only names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr, TensorType, i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.relay.base import Value, as_attribute, flatten_types
from ...dialects.relay.control import ApplyOp, FnOp, IfOp, RefCreateOp, RefReadOp, RefWriteOp
from ...dialects.relay.core import CallOp, FuncOp, ReturnOp, TupleOp, YieldOp
from ...dialects.relay.functions import INPUT_NAMES, Trees
from ...dialects.relay.graph_arguments import DIM_NAMES
from ...dialects.relay.interpreter import free_values
from ...dialects.relay.types import ParamType, either, is_complete, merged
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.retyping import retype
from ...dialects.support.unique_names import UniqueNames
from ...dialects.te.expr import Var as Symbol
from ...transforms.relay.completion import own_params
from .extents import AnyExtent as AnyExtent
from .extents import VariableBlock
from .extents import tensor_type as tensor_type
from .generics import written_at_uses
from .made_of import completed as completed
from .made_of import needs
from .made_of import operations_of as operations_of
from .private_functions import note_sources
from .recursion import close
from .state import may_hold_state
from .values import Expr as Expr
from .values import GlobalVar as GlobalVar
from .values import Operand as Operand
from .values import TupleGetItem as TupleGetItem
from .values import Var as Var
from .values import apply as apply
from .values import as_value as as_value
from .values import const as const
from .values import expr_of as expr_of
from .values import var as var

T = TypeVar("T", bound=Operation)


@checked
def Tuple(fields: Iterable[Operand]) -> Expr:
    """A tuple of expressions."""
    return Expr(TupleOp(*(as_value(field) for field in fields)).result)


@checked
def Let(variable: Var, value: Operand, body: Operand) -> Expr:
    """`body`, in which `variable` is `value`. Values are shared as they are, so this only gives the value a name;
    unless it does something to a reference, which is done before the body then. A function may call itself by the name.
    One for any types is another function at each place where the name stands, for the types that it is used with there.

    Raises:
        UsageError: the variable is of another type, is bound already, or is a parameter; or the value is made of it,
            and no function.
    """
    bound, old = as_value(value), variable.value
    if any(old in needs(op) for op in operations_of([bound])):
        if not isinstance(function := bound.owner, FnOp):
            raise UsageError(f"{variable!r} is bound to a value that is made of it; only a function refers to itself")
        close(function, old)
    result = as_value(body)
    if isinstance(function := bound.owner, FnOp) and own_params(bound) and not is_complete(old.type):
        return Expr(written_at_uses(function, old, result))
    if not _may_be(bound.type, old.type):
        raise UsageError(f"{variable!r} cannot be bound to a value of type {bound.type}")
    if _has_effect(bound):
        return _afterwards(variable, bound, result)
    if bound.name_hint is None:
        bound.name_hint = old.name_hint
    if result is old:
        return Expr(bound)
    old.replace_all_uses_with(bound)
    completed([result])
    return Expr(result)


def _may_be(found: Attribute, declared: Attribute) -> bool:
    """Whether a value may have the type of a variable: types that are not known yet are anything, and so are extents
    that the variable leaves open."""
    return not is_complete(found) or not is_complete(declared) or either(found, declared) == declared


def _has_effect(value: SSAValue) -> bool:
    """Whether computing a value reads or changes what a reference holds, or may do so."""
    return any(
        isinstance(inner, RefReadOp | RefWriteOp | RefCreateOp)
        or (isinstance(inner, ApplyOp) and not isinstance(inner.callee.owner, FnOp))
        or (isinstance(inner, CallOp) and any(may_hold_state(each.type) for each in inner.operands))
        for op in operations_of([value])
        if not (isinstance(op, FnOp) and op.result is value)  # which nothing has called yet
        for inner in op.walk()
    )


def _afterwards(variable: Var, value: SSAValue, body: SSAValue) -> Expr:
    """`body`, computed after `value`: a function of the variable, which is called. What it calls so in turn stands in
    its block, one after the other."""
    old = variable.value
    if not is_complete(old.type):
        retype(old, value.type)
    completed([body])
    block = Block(arg_types=[old.type])
    block.args[0].name_hint = old.name_hint
    copied([body], {old: block.args[0]}, YieldOp, block)
    for op in list(block.ops):
        if isinstance(op, ApplyOp) and (called := _written_for(op)) is not None:
            end = called.body.block.last_op
            assert end is not None
            Rewriter.inline_block(called.body.block, InsertPoint.before(op), list(op.arguments))
            Rewriter.replace_op(op, [], [end.operands[0]])
            Rewriter.erase_op(end)
            Rewriter.erase_op(called)
    function = FnOp(FunctionType.from_lists([old.type], [body.type]), Region(block))
    made = ApplyOp(function.result, [value])
    completed([made.res[0]])
    return Expr(made.res[0])


def _written_for(call: ApplyOp) -> FnOp | None:
    """The function of a call that is the only one of it, and stands in its block; nothing where more is said of it, or
    where it is for any types, which the call says."""
    function = call.callee.owner
    if not isinstance(function, FnOp) or function.parent is not call.parent or function.attributes:
        return None
    return function if function.result.has_one_use() and not own_params(function.result) else None


@checked
def If(cond: Operand, true_branch: Operand, false_branch: Operand) -> Expr:
    """One of two expressions, as `cond`, a tensor of one truth value without dimensions, says when it runs. What only a
    branch is made of is computed in it. Extents in which the branches differ are open.

    Raises:
        UsageError: the branches are of different types, or the condition is no truth value.
    """
    condition, values = as_value(cond), [as_value(true_branch), as_value(false_branch)]
    if (common := either(values[0].type, values[1].type)) is None:
        raise UsageError(f"the branches of an If are of the types {values[0].type} and {values[1].type}")
    if not _may_be(condition.type, TensorType(i1, [])):
        raise UsageError(f"the condition of an If is a tensor<i1>, not {condition.type}")
    regions = [Region(copied([value], {}, YieldOp)) for value in values]
    return Expr(IfOp(condition, [common], *regions).results[0])


def copied(
    roots: Sequence[SSAValue],
    values: dict[SSAValue, SSAValue],
    end: Callable[..., Operation],
    block: Block | None = None,
) -> Block:
    """A block that computes `roots` and ends in `end` of them; `values` are known in it."""
    block = Block() if block is None else block
    for op in operations_of(roots):
        copy = op.clone(values)
        block.add_op(copy)
        values.update(zip(op.results, copy.results, strict=True))
    block.add_op(end(*(values.get(root, root) for root in roots)))
    return block


@checked
def free_vars(*bodies: Operand) -> list[Var]:
    """The variables that expressions are made of, in the order in which they are met, depth first."""
    found: dict[SSAValue, None] = {}
    for body in bodies:
        pending = list(free_values(body)) if isinstance(body, FuncOp) else [as_value(body)]
        pending.reverse()
        seen: set[object] = set()
        while pending:
            value = pending.pop()
            if isinstance(value, BlockArgument):
                found[value] = None
            elif isinstance(op := value.owner, Operation) and op not in seen:
                seen.add(op)
                pending += reversed(needs(op))
    return [Var(value) for value in found]


@checked
def Function(
    params: Sequence[Var],
    body: Operand,
    ret_type: Attribute | None = None,
    type_params: Sequence[Attribute] | None = None,
    attrs: Mapping[str, Value] | None = None,
    *,
    name: str = "main",
) -> FuncOp:
    """A function of `params` that gives `body`; the expressions themselves can be used again. A tuple is given as it
    is. As an operand of another expression it is a function value, which sees the variables around it.

    Args:
        params: its parameters.
        body: what it gives.
        ret_type: the type of `body`, to be checked; or to be known, where the body calls what is not known yet.
        type_params: the types that are left open in its types, each a `TypeVar`: it is for any types in their places.
        attrs: attributes of the function, such as `{"Compiler": "ccompiler"}`.
        name: its name in a module.

    Raises:
        UsageError: a parameter stands twice, or the body is not of type `ret_type`.
    """
    result = as_value(body)
    if not all(isinstance(each, ParamType) for each in type_params or ()):
        raise UsageError("the type parameters of a function are type variables")
    if ret_type is not None and not _may_be(result.type, ret_type):
        raise UsageError(f"the body is of type {result.type}, and 'ret_type' is {ret_type}")
    if len({param.value for param in params}) != len(params):
        raise UsageError("a parameter stands twice")
    output = result.type if ret_type is None else merged(ret_type, result.type)
    types = FunctionType.from_lists([param.value.type for param in params], [output])
    attributes = {key: as_attribute(value) for key, value in (attrs or {}).items()}
    if (names := _extent_names(params)) is not None:
        attributes.setdefault(DIM_NAMES, names)
    if any(param.name_hint != (param.value.name_hint or "") for param in params):
        named = [param.name_hint or f"in{place}" for place, param in enumerate(params)]
        attributes.setdefault(INPUT_NAMES, ArrayAttr(map(StringAttr, named)))
    function = FuncOp(name, types, attributes=attributes)
    block = function.body.block
    values: dict[SSAValue, SSAValue] = {}
    for argument, param in zip(block.args, params, strict=True):
        argument.name_hint = param.value.name_hint
        values[param.value] = argument
    copied([result], values, ReturnOp, block)
    note_sources(function, [result])
    return function


def _extent_names(params: Sequence[Var]) -> Attribute | None:
    """What the open extents of parameters are called that were given as symbols; nothing where none was."""
    given = [each.symbols if isinstance(each := param.value.owner, VariableBlock) else () for param in params]
    if not any(given):
        return None
    names: dict[Symbol, str] = {}
    unique = UniqueNames()
    for symbol in (each for symbols in given for each in symbols if each is not None):
        if symbol not in names:
            names[symbol] = unique.new(symbol.name)
    return ArrayAttr(
        ArrayAttr(StringAttr("" if symbol is None else names[symbol]) for symbol in symbols)
        for symbols, param in zip(given, params, strict=True)
        for _ in (flatten_types([param.value.type]) if is_complete(param.value.type) else [None])
    )


def _given_by(function: FuncOp) -> Expr:
    (value,) = function.return_op.arguments
    return expr_of(value)


Trees.params = lambda function: [Var(argument) for argument in function.body.block.args]
Trees.body = _given_by
Trees.call = apply

"""Gradients of functions and expressions.

x = relay.var("x", shape=(3,), dtype="float64")
function = relay.transform.gradient(relay.Function([x], relay.tanh(x)))   # gives (tanh(x), (1 - tanh(x)^2,))
module = relay.transform.FirstOrderGradient()(module)                     # every function of a module
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from ...dialects.relay.control import ApplyOp, RefCreateOp
from ...dialects.relay.core import FuncOp
from ...dialects.relay.data import MatchOp
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .expr import Expr, Function, GlobalVar, Operand, free_vars
from .module import IRModule


@checked
def gradient(expr: FuncOp | Operand, mod: ModuleOp | None = None, mode: str = "higher_order") -> FuncOp:
    """A function that gives `(result, (gradient by each parameter, ...))` of a function, or of an expression and its
    free variables. Of several results the first tensor of floats counts, and no other, as in TVM: a loss stands before
    what is told beside it. Functions that it calls are those of `mod`, of which `expr` may be the name of one.

    `mode` is TVM's, "first_order" or "higher_order"; both are one here. It goes through branches, and through function
    values, references and data types where what they are is known in sight. Functions that call themselves get others
    beside them in `mod`, as in TVM, which give their gradients.

    Raises:
        UsageError: there is no such mode, or a name is given without its module.
        KeyError: the module has no function of that name.
        Diagnostic: something cannot be differentiated.
    """
    from ...transforms.relay.first_order_gradient import CalledGradients, differentiate
    from ...transforms.relay.inline import InlinePass
    from ...transforms.relay.partial_evaluate import PartialEvaluatePass

    if mode not in ("first_order", "higher_order"):
        raise UsageError(f"the mode is 'first_order' or 'higher_order', not '{mode}'")
    if isinstance(expr, GlobalVar):
        if mod is None:
            raise UsageError(f"{expr!r} is the name of a function", hint="give its module, too: gradient(name, module)")
        expr = IRModule.of(mod)[expr]
    function = expr.clone() if isinstance(expr, FuncOp) else Function(free_vars(expr), expr)
    name = function.sym_name
    others = [] if mod is None else [op.clone() for op in mod.ops if getattr(op, "sym_name", None) != name]
    module = InlinePass()(ModuleOp([function, *others]))
    if any(isinstance(op, _KNOWN_BEFORE) for op in _function_named(name, module).walk()):
        module = PartialEvaluatePass()(module)
    function = _function_named(name, module)
    function.detach()
    known: set[str] = set() if mod is None else {op.sym_name.data for op in mod.ops if isinstance(op, FuncOp)}
    differentiate(function, CalledGradients(module, known), first_only=True)
    if mod is not None:
        for op in module.ops:
            if isinstance(op, FuncOp) and op.sym_name.data not in known:
                mod.body.block.add_op(op.clone())
    return function


_KNOWN_BEFORE = (ApplyOp, RefCreateOp, MatchOp)
"""What has no gradient, and may be known before a function is differentiated."""


def _function_named(name: StringAttr, module: ModuleOp) -> FuncOp:
    (function,) = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name == name]
    return function


@checked
def gradients(result: Expr, wrt: Sequence[Expr]) -> list[Expr]:
    """The gradients of an expression, the sum of whose floats counts, by others that it is made of, such as variables.

    Raises:
        Diagnostic: something on the way cannot be differentiated.
        UsageError: `result`, or one of `wrt`, is no tensor of floats.
    """
    from ...dialects.relay.differentiation import OpMaker, backpropagate, is_differentiable, operations_between
    from ...dialects.relay.gradient import Term

    for each in (result, *wrt):
        if not is_differentiable(each.checked_type):
            raise UsageError(f"{each!r} is no tensor of floats, and has no gradient")

    def emit(op: Operation) -> None:
        """An operation that is used by no block is kept by its values."""

    sources = {each.value for each in wrt}
    seed = Term(result.value, OpMaker(emit)).ones()
    ops = operations_between(set(), [result.value])
    found = backpropagate(ops, [((result.value, ()), seed)], emit, sources)
    terms = [found.get((each.value, ())) or Term(each.value, OpMaker(emit)).zeros() for each in wrt]
    return [Expr(term.value) for term in terms]

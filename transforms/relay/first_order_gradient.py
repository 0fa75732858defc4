"""Make of every function one that gives its result, and the gradients by its arguments.

    relay.func @main(%x) -> R {       relay.func @main(%x) -> tuple<R, tuple<type of %x>> {
      %y = relay.tanh %x                %y = relay.tanh %x
      relay.return %y             ->    %one = relay.ones_like %y
    }                                   ...  (%one * (1 - %y * %y))
                                        relay.return ((%y), (%dx))
                                      }

Reverse mode: the operations once forwards as they are, then once backwards, each asked for its operands' gradients by
its facet `gradient`. The result counts as the sum of all its floats. A function of several results gives the tuple of
them as the first part. Gradients have the types of the arguments: what nothing depends on, integers among them, has
zeros. To differentiate again, run the pass on its result.

Calls are inlined first. Branches, function values, references and recursion on the way from an argument to the result
are refused.

Counterpart of TVM's `FirstOrderGradient`; `weft.relay.transform.gradient` does it to one function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, TensorType, TupleType, UnknownLoc
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relay.base import leaf_types
from ...dialects.relay.core import FuncOp, ReturnOp, TupleOp
from ...dialects.relay.differentiation import (
    Emit,
    Leaf,
    backpropagate,
    is_differentiable,
    leaf_paths,
    leaf_terms,
    taken,
)
from ...dialects.relay.gradient import Term
from ...dialects.support.diagnostics import Diagnostic
from ..infra import FunctionPass, report_changed
from ..infra.walk import erase
from .purity import is_pure

NAME = "first-order-gradient"


@dataclass(frozen=True)
class FirstOrderGradientPass(FunctionPass):
    """No options."""

    name = NAME
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type", "inline")
    tvm_name: ClassVar[str | None] = "FirstOrderGradient"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        if func.is_primitive:
            return
        differentiate(func)
        report_changed(True)


def differentiate(func: FuncOp) -> None:
    """Let a function give its gradients too.

    Raises:
        Diagnostic: an argument or result is no tensor, or tuple of such; no result is a float; or something on the way
            cannot be differentiated.
    """
    block, end = func.body.block, func.return_op
    for value in (*block.args, *end.arguments):
        if not _is_of_tensors(value):
            raise Diagnostic.at(func, f"has no gradient: {value.type} is neither a tensor nor a tuple of tensors")
    forwards = [op for op in block.ops if op is not end]
    made: list[Operation] = []

    def emit(op: Operation) -> None:
        made.append(op)
        block.insert_op_before(op, end)

    seeds: list[tuple[Leaf, Term]] = []
    for value in end.arguments:
        terms = zip(leaf_paths(value.type), leaf_terms(value, emit), strict=True)
        seeds += [((value, path), term.ones()) for path, term in terms if is_differentiable(term.value.type)]
    if not seeds:
        raise Diagnostic.at(end, "there is no gradient: no result is a tensor of floats")
    found = backpropagate(forwards, seeds, emit, block.args)

    gradients = _tuple([_gradient_of(argument, found, emit) for argument in block.args], emit)
    given = end.arguments[0] if len(end.arguments) == 1 else _tuple([*end.arguments], emit)
    result = _tuple([given, gradients], emit)
    replaced = ReturnOp(result)
    replaced.location = end.location
    for op in made:
        if isinstance(op.location, UnknownLoc):
            op.location = end.location
    erase(end)
    block.add_op(replaced)
    func.properties["function_type"] = FunctionType.from_lists([arg.type for arg in block.args], [result.type])
    for op in reversed(made):
        if is_pure(op) and all(each.first_use is None for each in op.results):
            erase(op)


def _is_of_tensors(value: SSAValue) -> bool:
    return all(isinstance(type, TensorType) for type in leaf_types([value.type]))


def _tuple(fields: Sequence[SSAValue], emit: Emit) -> SSAValue:
    made = TupleOp(*fields)
    emit(made)
    return made.result


def _gradient_of(argument: SSAValue, found: Mapping[Leaf, Term], emit: Emit) -> SSAValue:
    """The gradient by an argument, in its type."""

    def packed(type: Attribute, path: tuple[int, ...]) -> SSAValue:
        if isinstance(type, TupleType):
            return _tuple([packed(each, (*path, index)) for index, each in enumerate(type.types.data)], emit)
        term = found.get((argument, path))
        return (taken((argument, path), emit).zeros() if term is None else term).value

    return packed(argument.type, ())

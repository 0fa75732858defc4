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
zeros; a function of integers that gives integers is refused. To differentiate again, run the pass on its result.

Calls are inlined first. Through a branch goes another branch, which computes what the first one does once more.
Functions that call themselves, and so are still called, get functions beside them, which give their gradients; a call
of one is a call of the other on the way back. What a function computes is computed anew there, so a recursion of depth
n takes n squared steps where the gradient needs what the deeper calls give. Function values, references and data types
on the way from an argument to the result are refused.

Counterpart of TVM's `FirstOrderGradient`; `weft.relay.transform.gradient` does it to one function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, TupleType, UnknownLoc
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator, RecursiveMemoryEffect

from ...dialects.relay.base import leaf_types
from ...dialects.relay.core import CallOp, FuncOp, ReturnOp, TupleOp
from ...dialects.relay.differentiation import (
    Calls,
    Emit,
    Leaf,
    OpMaker,
    backpropagate,
    differentiable_leaves,
    is_differentiable,
    leaf_paths,
    leaf_terms,
    taken,
)
from ...dialects.relay.gradient import Term
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.unique_names import free_name
from ..infra import ModulePass, report_changed
from ..infra.passes import relay_functions
from ..infra.walk import erase, walk
from .purity import impure_functions, is_pure
from .unroll_scans import UnrollScansPass

NAME = "first-order-gradient"


@dataclass(frozen=True)
class FirstOrderGradientPass(ModulePass):
    """No options. Private functions that are called stay as they are; turns of scans are written out."""

    name = NAME
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type", "inline")
    tvm_name: ClassVar[str | None] = "FirstOrderGradient"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        UnrollScansPass(all=True).apply(ctx, op)
        functions = relay_functions(op, self.name)
        called = {each.callee.string_value() for each in walk(op) if isinstance(each, CallOp)}
        calls = CalledGradients(op)
        for func in functions:
            if func.sym_name.data not in called:
                differentiate(func, calls)
                report_changed(True)
            elif func.sym_visibility is None:
                raise Diagnostic.at(
                    func,
                    f"@{func.sym_name.data} is called for its result, so it cannot give its gradients too",
                    hint="make it private, and call it from a function that is not",
                )


class CalledGradients:
    """Functions that give the gradients of those that are called; made where they are asked for, once each.

    Args:
        module: what has the functions, and gets those.
        taken: names that they cannot have beside those of the module.
    """

    def __init__(self, module: ModuleOp, taken: Iterable[str] = ()):
        self._module, self._taken = module, set(taken)
        self._functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        self._made: dict[str, str] = {}

    def __call__(self, call: CallOp, given: Sequence[Term | None], emit: Emit) -> list[Term]:
        """The gradients by the differentiable tensors among the arguments of a call."""
        callee = self._functions.get(call.callee.string_value())
        if callee is None:
            hint = "give the module that has the function, too"
            raise Diagnostic.at(call, "has no gradient: the function that it calls is not known here", hint=hint)
        if not all(map(_is_of_tensors, (*call.arguments, *call.res))):
            raise Diagnostic.at(call, "has no gradient", hint="it takes or gives something else than tensors")
        leaves = [(result, path) for result in call.res for path in leaf_paths(result.type)]
        seeds = [
            (taken(leaf, emit).zeros() if term is None else term).value
            for leaf, term in zip(leaves, given, strict=True)
            if leaf in differentiable_leaves(call.res)
        ]
        name = self._gradient_of(callee)
        types = [taken(leaf, emit).value.type for leaf in differentiable_leaves(call.arguments)]
        made = CallOp(name, [*call.arguments, *seeds], types)
        made.location = call.location
        emit(made)
        return [Term(result, OpMaker(emit)) for result in made.res]

    def _gradient_of(self, func: FuncOp) -> str:
        """The name of the function that gives the gradients by a function's arguments, from its arguments and from the
        gradients by what it gives."""
        name = func.sym_name.data
        if name not in self._made:
            made = free_name(f"{name}_gradient", {*self._taken, *self._functions, *self._made.values()})
            self._made[name] = made  # before its body is: the function may call itself
            self._module.body.block.add_op(self._backwards(func, made))
        return self._made[name]

    def _backwards(self, func: FuncOp, name: str) -> FuncOp:
        copy = func.clone()
        block, end = copy.body.block, copy.return_op
        parameters = list(block.args)
        forwards = [op for op in block.ops if op is not end]

        def emit(op: Operation) -> None:
            block.insert_op_before(op, end)

        results = differentiable_leaves(end.arguments)
        types = [_type_of(leaf) for leaf in results]
        grads = [Term(block.insert_arg(type, len(block.args)), OpMaker(emit)) for type in types]
        found = backpropagate(forwards, list(zip(results, grads, strict=True)), emit, parameters, self)
        leaves = differentiable_leaves(parameters)
        terms = [found.get(leaf) or taken(leaf, emit).zeros() for leaf in leaves]
        replaced = ReturnOp(*(term.value for term in terms))
        replaced.location = end.location
        erase(end)
        block.add_op(replaced)
        impure = impure_functions(self._module)
        for op in reversed(forwards):
            unused = all(result.first_use is None for result in op.results)
            if unused and all(is_pure(inner, impure) or _is_told_by_others(inner) for inner in op.walk()):
                erase(op)
        type = FunctionType.from_lists([arg.type for arg in block.args], [term.value.type for term in terms])
        return FuncOp(name, type, copy.detach_region(copy.body), private=True)


def _is_told_by_others(op: Operation) -> bool:
    """Whether an operation does what those in it do, or nothing but end them."""
    return op.has_trait(RecursiveMemoryEffect) or op.has_trait(IsTerminator)


def _type_of(leaf: Leaf) -> Attribute:
    """The type of a tensor in a value."""
    value, path = leaf
    type = value.type
    for index in path:
        assert isinstance(type, TupleType)
        type = type.types.data[index]
    return type


def differentiate(func: FuncOp, calls: Calls | None = None, first_only: bool = False) -> None:
    """Let a function give its gradients too; calls in it are asked of `calls`. What gives no floats has zeros. With
    `first_only` the first tensor of floats that it gives counts, and no other.

    Raises:
        Diagnostic: an argument or result is no tensor, or tuple of such; none of them is of floats; or something on the
            way cannot be differentiated.
    """
    block, end = func.body.block, func.return_op
    for value in (*block.args, *end.arguments):
        if not _is_of_tensors(value):
            raise Diagnostic.at(func, f"has no gradient: {value.type} is neither a tensor nor a tuple of tensors")
    if block.args and not differentiable_leaves([*block.args, *end.arguments]):
        raise Diagnostic.at(
            func,
            "has no gradient: neither what it takes nor what it gives is of floats",
            hint="cast its arguments to floats",
        )
    forwards = [op for op in block.ops if op is not end]
    made: list[Operation] = []

    def emit(op: Operation) -> None:
        made.append(op)
        block.insert_op_before(op, end)

    seeds: list[tuple[Leaf, Term]] = []
    for value in end.arguments:
        terms = zip(leaf_paths(value.type), leaf_terms(value, emit), strict=True)
        seeds += [((value, path), term.ones()) for path, term in terms if is_differentiable(term.value.type)]
    seeds = seeds[:1] if first_only else seeds
    found = backpropagate(forwards, seeds, emit, block.args, calls)

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

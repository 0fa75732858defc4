"""Bring result types up to date with what the operators say of them.

    %0 = relay.nn.relu %x : (tensor<4x8xf32>) -> tensor<?x8xf32>   ->   ... : (tensor<4x8xf32>) -> tensor<4x8xf32>

Types stand on values, and an operator gets its result type when it is built, so there is seldom anything to do: this is
for what was parsed with wider types than need be, or whose operands have become more exact since. Each operation is
asked once, in order; functions are visited after those they call. A dynamic dimension becomes static where the operator
says so, or stays as it is declared.

Counterpart of TVM's `InferType`, which solves the types of a whole module anew whenever it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, TupleType
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import DYNAMIC, RelayOp, compatible, shape_of, tensor
from ...dialects.relay.core import CallOp, FuncOp, TupleGetOp, TupleOp
from ...dialects.relay.types import instance, tuple_type
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.retyping import retype
from ..infra import ModulePass, report_changed
from ..infra.walk import walk


@dataclass(frozen=True)
class InferTypePass(ModulePass):
    """No options.

    Raises:
        Diagnostic: an operator does not fit its operands, or its declared type contradicts the inferred one.
    """

    name = "infer-type"
    opt_level: ClassVar[int] = 0
    persistent: ClassVar[bool] = True
    tvm_name: ClassVar[str | None] = "InferType"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {func.sym_name.data: func for func in op.ops if isinstance(func, FuncOp)}
        changed = False
        for func in _callees_first(functions):
            changed |= infer_function(func, functions)
        report_changed(changed)


def infer_function(func: FuncOp, functions: dict[str, FuncOp]) -> bool:
    """Bring the types in a function up to date; calls of other functions than `functions` stay. Whether one changed."""
    changed = False
    for op in walk(func):
        for result, inferred in zip(op.results, _inferred(op, functions), strict=False):
            exact = _combine(op, inferred, result.type)
            if exact != result.type:
                retype(result, exact)
                changed = True
    returned = tuple(value.type for value in func.return_op.arguments)
    declared = func.function_type.outputs.data
    if returned != declared and len(returned) == len(declared) and all(map(compatible, returned, declared)):
        outputs = [_combine(func, r, d) for r, d in zip(returned, declared, strict=True)]
        if tuple(outputs) != declared:
            func.function_type = FunctionType.from_lists(func.function_type.inputs.data, outputs)
            changed = True
    return changed


def _inferred(op: Operation, functions: dict[str, FuncOp]) -> Iterable[Attribute]:
    """The result types of `op` as they follow from its operands; nothing where nothing is known."""
    try:
        match op:
            case RelayOp():
                return op.inferred()
            case TupleOp():
                return [tuple_type(*(field.type for field in op.fields))]
            case TupleGetOp():
                assert isinstance(op.tuple.type, TupleType)
                return [op.tuple.type.types.data[op.index.value.data]]
            case CallOp() if (callee := functions.get(op.callee.string_value())) is not None:
                inputs, outputs = callee.function_type.inputs.data, callee.function_type.outputs.data
                given = [value.type for value in (*op.arguments, *op.results)]
                return instance([*inputs, *outputs], given)[len(inputs) :]
            case _:
                return []
    except VerifyException as error:
        raise Diagnostic.at(op, str(error)) from None


def _combine(op: Operation, inferred: Attribute, declared: Attribute) -> Attribute:
    """The type with every dimension static that is so in one of the two."""
    if inferred == declared:
        return declared
    if not compatible(inferred, declared):
        raise Diagnostic.at(op, f"'{op.name}' has type {declared}, but its operands and attributes give {inferred}")
    if isinstance(inferred, TupleType) and isinstance(declared, TupleType):
        fields = zip(inferred.types.data, declared.types.data, strict=True)
        return tuple_type(*(_combine(op, a, b) for a, b in fields))
    shapes = zip(shape_of(inferred), shape_of(declared), strict=True)
    return TensorType(tensor(declared).element_type, [b if a == DYNAMIC else a for a, b in shapes])


def _callees_first(functions: dict[str, FuncOp]) -> Iterator[FuncOp]:
    """The functions, each after those it calls; in the order of the module where calls do not say otherwise."""
    calls = {
        name: [op.callee.string_value() for op in walk(func) if isinstance(op, CallOp)]
        for name, func in functions.items()
    }
    seen: set[str] = set()
    for root in functions:
        stack = [(root, iter(calls[root]))] if root not in seen else []
        seen.add(root)
        while stack:
            name, callees = stack[-1]
            callee = next((c for c in callees if c in functions and c not in seen), None)
            if callee is None:
                stack.pop()
                yield functions[name]
            else:
                seen.add(callee)
                stack.append((callee, iter(calls[callee])))

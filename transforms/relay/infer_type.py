"""Bring result types up to date with what the operators say of them.

    %0 = relay.nn.relu %x : (tensor<4x8xf32>) -> tensor<?x8xf32>   ->   ... : (tensor<4x8xf32>) -> tensor<4x8xf32>

Types stand on values, and an operator gets its result type when it is built, so there is seldom anything to do: this is
for what was parsed with wider types than need be, or whose operands have become more exact since. Each operation is
asked once, in order; functions are visited after those they call. A dynamic dimension becomes static where the operator
says so, or stays as it is declared. A function that is scanned takes what is scanned: it gets these types, and is
written once more where it is called or scanned with others as well.

Counterpart of TVM's `InferType`, which solves the types of a whole module anew whenever it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import DYNAMIC, RelayOp, compatible, shape_of, tensor
from ...dialects.relay.core import CallOp, FuncOp, TupleGetOp, TupleOp
from ...dialects.relay.scan import ScanOp
from ...dialects.relay.types import instance, tuple_type
from ...dialects.support.blame import at_fault
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.retyping import retype
from ...dialects.support.unique_names import free_name
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
        for func in list(_callees_first(functions)):
            changed |= infer_function(func, functions)
        report_changed(changed)


def fit_turns(module: ModuleOp) -> bool:
    """Bring the types of turns, and of what they give, up to date with what is scanned. Whether one changed."""
    functions = {func.sym_name.data: func for func in module.ops if isinstance(func, FuncOp)}
    scans = [op for func in functions.values() for op in walk(func) if isinstance(op, ScanOp)]
    if all(_fits(scan, functions) for scan in scans):
        return False
    return any([infer_function(func, functions) for func in list(functions.values())])


def infer_function(func: FuncOp, functions: dict[str, FuncOp]) -> bool:
    """Bring the types in a function up to date; calls of other functions than `functions` stay. Whether one changed."""
    changed = False
    for op in walk(func):
        if isinstance(op, ScanOp) and not _fits(op, functions):
            changed |= _fit(op, functions)
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
            case ScanOp() if (callee := functions.get(op.callee.string_value())) is not None:
                outputs = callee.function_type.outputs.data
                rows = [tensor(outputs[number]) for number in op.gathered.get_values()]
                turns = DYNAMIC if op.known_turns is None else op.known_turns
                gathered = [TensorType(row.element_type, [turns, *row.get_shape()]) for row in rows]
                return [*outputs[: len(op.carried)], *gathered]
            case _:
                return []
    except VerifyException as error:
        raise at_fault(op, error) from None


def _fits(scan: ScanOp, functions: dict[str, FuncOp]) -> bool:
    """Whether a turn takes just what is scanned, and their number is said where it is known."""
    callee = functions.get(scan.callee.string_value())
    rows = [tensor(value).get_shape()[0] for value in scan.rows]
    if callee is None:
        return True
    if scan.known_turns is None and any(extent != DYNAMIC for extent in rows):
        return False
    declared, given = callee.function_type.inputs.data, scan.taken_types()
    return len(declared) == len(given) and all(
        one == other or (compatible(one, other) and _combine(scan, other, one) == one)
        for one, other in zip(declared, given, strict=True)
    )


def _fit(scan: ScanOp, functions: dict[str, FuncOp]) -> bool:
    """Give a turn the types of what is scanned, which hold for every turn as far as it gives back what it takes."""
    callee, types = functions[scan.callee.string_value()], scan.taken_types()
    if scan.known_turns is None:
        known = {extent for value in scan.rows if (extent := tensor(value).get_shape()[0]) != DYNAMIC}
        if len(known) > 1:
            raise Diagnostic.at(scan, f"takes a row of each of its tensors, which have {sorted(known)} rows")
        if known:
            (turns,) = known
            scan.turns = IntegerAttr(turns, i64)
            for value in (*scan.rows, *scan.res[len(scan.carried) :]):
                retype(value, TensorType(tensor(value).element_type, [turns, *tensor(value).get_shape()[1:]]))
            types = scan.taken_types()
    declared = list(callee.function_type.inputs.data)
    if len(declared) != len(types) or not all(map(compatible, declared, types)):
        raise Diagnostic.at(scan, f"takes ({', '.join(map(str, types))}) in each turn, and {scan.callee} others")
    types = [_combine(scan, given, own) for given, own in zip(types, declared, strict=True)]
    if types == declared:
        return True
    module = callee.parent_op()
    assert module is not None
    users = [op for op in walk(module) if callee.sym_name.data in _mentioned(op)]
    if len(users) > 1 or callee.sym_visibility is None:
        own = callee.clone()
        own.sym_name = StringAttr(free_name(callee.sym_name.data, functions))
        own.sym_visibility = StringAttr("private")
        assert callee.parent is not None
        callee.parent.insert_op_after(own, callee)
        functions[own.sym_name.data] = callee = own
        scan.callee = SymbolRefAttr(own.sym_name)
    for argument, type in zip(callee.body.block.args, types, strict=True):
        retype(argument, type)
    callee.function_type = FunctionType.from_lists(types, callee.function_type.outputs.data)
    infer_function(callee, functions)
    return True


def _mentioned(op: Operation) -> set[str]:
    return {value.string_value() for value in op.properties.values() if isinstance(value, SymbolRefAttr)}


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
        name: [op.callee.string_value() for op in walk(func) if isinstance(op, CallOp | ScanOp)]
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

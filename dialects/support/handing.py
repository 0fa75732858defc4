"""What is handed over: by the end of a region to the operation around it, by a branch to a block, to a function's body.

xDSL's classes of control flow leave open whether the types fit, and lowerings take values and places in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

if TYPE_CHECKING:  # a program that has none of its operations need not load the dialect
    from xdsl.dialects.llvm import LLVMFunctionType


def _types(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


def _check_handed(given: Sequence[Attribute], taken: Sequence[Attribute], giver: str, taker: str) -> None:
    if tuple(given) != tuple(taken):
        raise VerifyException(f"{giver} {_types(given)}, but {taker} {_types(taken)}")


def _end_of(block: Block, name: str) -> Operation:
    if (end := block.last_op) is None or end.name != name:
        raise VerifyException(f"a region of it must end with {name}")
    return end


def _check_yields(op: Operation, region: Region) -> None:
    """A region is entered with nothing, and yields the results of the operation."""
    first = region.first_block
    assert first is not None
    _check_handed((), first.arg_types, "its regions are given", "one takes")
    for block in region.blocks:
        if (end := block.last_op) is not None and end.name == "scf.yield":
            _check_handed(end.operand_types, op.result_types, "a region yields", "the results are")


def _if(op: Operation) -> None:
    for region in op.regions:
        if region.blocks:
            _check_yields(op, region)
        elif op.results:
            raise VerifyException("has results, but a region that is empty and yields none")


def _execute_region(op: Operation) -> None:
    for region in op.regions:
        if not region.blocks:
            raise VerifyException("has nothing to execute")
        _check_yields(op, region)


def _while(op: Operation) -> None:
    before, after = (region.block for region in op.regions)
    condition, again = _end_of(before, "scf.condition"), _end_of(after, "scf.yield")
    passed = condition.operand_types[1:]
    _check_handed(op.operand_types, before.arg_types, "is given", "the first region takes")
    _check_handed(passed, after.arg_types, "scf.condition passes", "the second region takes")
    _check_handed(passed, op.result_types, "scf.condition passes", "the results are")
    _check_handed(again.operand_types, before.arg_types, "the second region yields", "the first region takes")


def _branch(op: Operation) -> None:
    _check_handed(op.operand_types, op.successors[0].arg_types, "hands over", "the block takes")


def _conditional_branch(op: Operation) -> None:
    sizes = cast("DenseArrayBase[IntegerType]", op.properties["operandSegmentSizes"]).get_values()
    start = int(sizes[0])
    for size, block in zip(sizes[1:], op.successors, strict=True):
        given = op.operand_types[start : start + int(size)]
        _check_handed(given, block.arg_types, "hands over", "the block takes")
        start += int(size)


def _llvm_function(op: Operation) -> None:
    if (first := op.regions[0].first_block) is not None:
        _check_handed(_llvm_type(op).inputs.data, first.arg_types, "its type takes", "its body takes")


def _llvm_return(op: Operation) -> None:
    if (results := _llvm_results_around(op)) is not None:
        _check_handed(op.operand_types, results, "returns", "the function's type says")


def _llvm_results_around(op: Operation) -> Sequence[Attribute] | None:
    """The types of what the `llvm.func` around an operation returns: one, or none."""
    function = op.parent_op()
    if function is None or function.name != "llvm.func":
        return None
    output = _llvm_type(function).output
    return () if output.name == "llvm.void" else (output,)


def _llvm_type(function: Operation) -> LLVMFunctionType:
    return cast("LLVMFunctionType", function.properties["function_type"])


HANDED: Mapping[str, Callable[[Operation], None]] = {
    "cf.br": _branch,
    "cf.cond_br": _conditional_branch,
    "llvm.br": _branch,
    "llvm.cond_br": _conditional_branch,
    "llvm.func": _llvm_function,
    "llvm.return": _llvm_return,
    "scf.execute_region": _execute_region,
    "scf.if": _if,
    "scf.while": _while,
}
"""What raises a `VerifyException` where an operation of a name is handed, or hands on, what does not fit. It sees no
more than `judging` tells looks by: the types around a terminator, and those at the ends of regions."""

"""The interpreter of the whole language: operators on NumPy arrays; branches, calls, closures, references, data types.

It works on a stack of its own, so that recursion may be as deep as memory allows, and a call whose result is the
caller's takes the caller's place, so that a tail recursion runs in constant memory. It is the meaning that compiled
programs are held to.

What values are: a tensor an array, a tuple a Python tuple, the others `Closure`, `Cell`, `Data`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import FunctionType, TensorType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator, SymbolTable

from .. import te
from ..support.checks import CheckError
from ..support.diagnostics import Diagnostic, no_memory
from ..support.dtypes import numpy_dtype, scalar_type
from ..te.evaluate import evaluate
from ..tir.core import PrimFuncOp
from ..tir.interpreter import Interpreter as KernelInterpreter
from .base import RelayOp, flatten_types, is_static, tensor
from .computing import compute_results
from .control import ApplyOp, ClosureOp, FnOp, IfOp, RefCreateOp, RefReadOp, RefWriteOp, SetRowOp
from .core import CallLoweredOp, CallOp, ConstantOp, FuncOp, PrimitiveOp, ReturnOp, TupleGetOp, TupleOp, YieldOp
from .data import DEFAULT, ConstructOp, MatchOp
from .ops.annotation import OnDeviceOp
from .reference import evaluate_op
from .scan import ScanOp
from .turns import run_turns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]


NO_CASE = "the match has no case for '{name}'"
NO_ROW = "there is no row {index} in a tensor of {extent} rows"
"""What is said of a row that is to be changed."""


@dataclass(eq=False)
class Closure:
    """A function value: a block, and what its arguments and the values around it are worth."""

    block: Block
    given: tuple[Value, ...] = ()
    around: Mapping[SSAValue, Value] | None = None


@dataclass(eq=False)
class Cell:
    """What a reference refers to."""

    value: Value


@dataclass(frozen=True, eq=False)
class Data:
    """A value of a data type."""

    constructor: str
    fields: tuple[Value, ...]


Value: TypeAlias = "NDArray | tuple[Value, ...] | Closure | Cell | Data"


@dataclass(eq=False, slots=True)
class Frame:
    """A block that is being run. Regions of one activation share its environment."""

    ops: Iterator[Operation]
    values: dict[SSAValue, Value]
    waiting: Operation | None = None
    """The operation whose results the next value is."""


class RelayInterpreter:
    """Runs functions of one module; what is found out about operations is kept from run to run."""

    def __init__(self) -> None:
        self._constants: dict[ConstantOp, NDArray] = {}
        self._callees: dict[CallOp, FuncOp] = {}
        self._cases: dict[MatchOp, Mapping[str, Block]] = {}
        self._last: dict[Operation, bool] = {}
        self._free: dict[FnOp, tuple[SSAValue, ...]] = {}
        self._plans: dict[RelayOp, tuple[list[te.Tensor], list[te.Tensor]]] = {}

    def run(self, function: FuncOp, arguments: Sequence[Value]) -> list[Value]:
        """The results of a function.

        Raises:
            NotImplementedError: it has an operation that cannot be evaluated.
            ValueError: a constant's data is missing, or an array does not fit.
            CheckError: an index lies outside, where that is an error.
            Diagnostic: there is no memory for a result, or no case for what is matched.
        """
        return self._results_of(function.body.block, arguments, {})

    def apply(self, function: Closure, arguments: Sequence[Value]) -> list[Value]:
        """The results of a function value.

        Raises:
            NotImplementedError, ValueError, CheckError, Diagnostic: as `run`.
        """
        return self._results_of(function.block, [*function.given, *arguments], dict(function.around or {}))

    def _results_of(self, block: Block, arguments: Sequence[Value], values: dict[SSAValue, Value]) -> list[Value]:
        """What a block gives that is run by itself."""
        stack: list[Frame] = []
        self.enter(stack, block, arguments, values)
        while True:
            frame = stack[-1]
            op = next(frame.ops)
            if type(op) in (ReturnOp, YieldOp):
                results = [frame.values[value] for value in op.operands]
                stack.pop()
                if not stack:
                    return results
                _bind(stack[-1], results)
            else:
                frame.waiting = op
                self._step(stack, frame, op)

    @staticmethod
    def enter(stack: list[Frame], block: Block, arguments: Sequence[Value], values: dict[SSAValue, Value]) -> None:
        """Run a block next, with values for its arguments."""
        values.update(zip(block.args, arguments, strict=True))
        stack.append(Frame(iter(block.ops), values))

    def _go_into(
        self, stack: list[Frame], block: Block, arguments: Sequence[Value], values: dict[SSAValue, Value]
    ) -> None:
        """Run a block whose results are those of the operation that waits. Where they are the frame's own as well, it
        has nothing left to do."""
        if (waiting := stack[-1].waiting) is not None and self._is_last(waiting):
            stack.pop()
        self.enter(stack, block, arguments, values)

    def _step(self, stack: list[Frame], frame: Frame, op: Operation) -> None:
        """Run one operation: bind its results, or enter the block that gives them."""
        values = frame.values
        operands = [values[operand] for operand in op.operands]
        kind = type(op)
        if kind is IfOp:
            region = op.regions[0] if bool(cast("NDArray", operands[0])) else op.regions[1]
            self._go_into(stack, region.block, (), values)
        elif kind is MatchOp:
            data = cast(Data, operands[0])
            blocks = self._blocks(cast(MatchOp, op))
            if (block := blocks.get(data.constructor)) is not None:
                self._go_into(stack, block, data.fields, values)
            elif DEFAULT in blocks:
                self._go_into(stack, blocks[DEFAULT], (), values)
            else:
                raise Diagnostic.at(op, NO_CASE.format(name=data.constructor))
        elif kind is CallOp:
            self._go_into(stack, self._callee(cast(CallOp, op)).body.block, operands, {})
        elif kind is ApplyOp:
            closure = cast(Closure, operands[0])
            around = {} if closure.around is None else dict(closure.around)
            self._go_into(stack, closure.block, (*closure.given, *operands[1:]), around)
        elif kind is PrimitiveOp:
            self._go_into(stack, op.regions[0].block, operands, {})
        else:
            try:
                _bind(frame, self.results_of(op, operands, values))
            except MemoryError as error:
                raise Diagnostic.at(op, no_memory(error)) from error

    def _blocks(self, op: MatchOp) -> Mapping[str, Block]:
        if (blocks := self._cases.get(op)) is None:
            regions = zip(op.names, op.regions, strict=True)
            blocks = self._cases[op] = {name: region.block for name, region in regions}
        return blocks

    def results_of(self, op: Operation, operands: Sequence[Value], values: Mapping[SSAValue, Value]) -> Sequence[Value]:
        """The results of an operation that runs no block; `values` are those around it. What watches overrides it."""
        match op:
            case ConstructOp():
                return [Data(op.constructor.data, tuple(operands))]
            case ConstantOp():
                return [self._constant(op)]
            case TupleOp():
                return [tuple(operands)]
            case TupleGetOp():
                return [cast("tuple[Value, ...]", operands[0])[op.index.value.data]]
            case FnOp():
                return [Closure(op.body.block, around={value: values[value] for value in self._free_values(op)})]
            case ClosureOp():
                callee = SymbolTable.lookup_symbol(op, op.callee)
                assert isinstance(callee, FuncOp)
                return [Closure(callee.body.block, tuple(operands))]
            case OnDeviceOp():
                return operands
            case RefCreateOp():
                return [Cell(operands[0])]
            case RefReadOp():
                return [cast(Cell, operands[0]).value]
            case RefWriteOp():
                cast(Cell, operands[0]).value = operands[1]
                return []
            case ScanOp():
                callee, inner = SymbolTable.lookup_symbol(op, op.callee), RelayInterpreter()
                assert isinstance(callee, FuncOp)
                turn = cast("Callable[[Sequence[NDArray]], Sequence[NDArray]]", partial(inner.run, callee))
                return run_turns(op, callee, turn, cast("Sequence[NDArray]", operands))
            case SetRowOp():
                return [_with_row(op, *(cast("NDArray", operand) for operand in operands))]
            case CallLoweredOp():
                return _run_kernel(op, [array for operand in operands for array in flatten(operand)])
            case RelayOp():
                arrays = iter(self._evaluate(op, [array for operand in operands for array in flatten(operand)]))
                return [unflatten(result.type, arrays) for result in op.results]
            case _:
                raise NotImplementedError(f"'{op.name}' has no reference evaluation")

    def _evaluate(self, op: RelayOp, inputs: Sequence[NDArray]) -> Sequence[NDArray]:
        """The results of an operator. What it computes is built once, where its types are known."""
        if (plan := self._plans.get(op)) is None:
            if type(op).numpy is not RelayOp.numpy or not all(map(is_static, (*op.operand_types, *op.result_types))):
                return evaluate_op(op, inputs)
            results = evaluate_op(op, inputs)  # which checks what is given
            tensors = [te.placeholder(array.shape, scalar_type(array.dtype)) for array in inputs]
            self._plans[op] = tensors, compute_results(op, tensors)
            return results
        tensors, computed = plan
        try:
            return evaluate(computed, dict(zip(tensors, inputs, strict=True)))
        except CheckError as error:
            raise error.within(op) from None

    def _constant(self, op: ConstantOp) -> NDArray:
        if (array := self._constants.get(op)) is None:
            if (array := op.numpy()) is None:
                raise ValueError(f"the data of a constant is not loaded: {op.value}")
            self._constants[op] = array
        return array

    def _free_values(self, op: FnOp) -> tuple[SSAValue, ...]:
        if (found := self._free.get(op)) is None:
            found = self._free[op] = tuple(free_values(op))
        return found

    def _callee(self, op: CallOp) -> FuncOp:
        if (callee := self._callees.get(op)) is None:
            callee = SymbolTable.lookup_symbol(op, op.callee)
            if not isinstance(callee, FuncOp):
                raise NotImplementedError(f"{op.callee} has no reference evaluation")
            self._callees[op] = callee
        return callee

    def _is_last(self, op: Operation) -> bool:
        if (known := self._last.get(op)) is None:
            known = self._last[op] = _gives_its_results(op)
        return known


def _with_row(op: SetRowOp, data: NDArray, place: NDArray, row: NDArray) -> NDArray:
    """An array with another row at a place.

    Raises:
        CheckError: there is no such place.
    """
    at = int(place)
    if not 0 <= at < len(data):
        raise CheckError(NO_ROW, at, len(data)).within(op)
    changed = data.copy()
    changed[at] = row
    return changed


def evaluate_function(function: FuncOp, inputs: Sequence[NDArray]) -> list[NDArray]:
    """The results of a function on `inputs`, operator by operator; tuples flattened. Calls of other functions of its
    module and the regions that fusion makes are followed; kernels, scheduled or not, run on the interpreter of `tir`.

    Raises:
        NotImplementedError: it has an operation that `evaluate_op` cannot evaluate.
        ValueError: an input or a constant's data is missing, or an array does not fit.
        Diagnostic: it takes or gives what is no tensor, there is no memory for a result, or no case for what is
            matched.
    """
    check_is_program(function)
    types = function.function_type.inputs.data
    count = len(flatten_types(types))
    if count != len(inputs):
        raise ValueError(f"@{function.sym_name.data} takes {count} tensors, but {len(inputs)} are given")
    arrays = iter(inputs)
    results = RelayInterpreter().run(function, [unflatten(type, arrays) for type in types])
    return [array for result in results for array in flatten(result)]


def free_values(op: Operation) -> list[SSAValue]:
    """What the regions of an operation see of what is defined around it, in the order of first use."""
    found: dict[SSAValue, None] = {}
    inside: set[SSAValue] = set()
    for region in op.regions:
        for block in region.blocks:
            inside.update(block.args)
        for inner in region.walk():
            found.update(dict.fromkeys(operand for operand in inner.operands if operand not in inside))
            inside.update(inner.results)
            inside.update(argument for each in inner.regions for block in each.blocks for argument in block.args)
    return list(found)


def is_first_order(type: Attribute) -> bool:
    """Whether a value of the type is a tensor, or a tuple of such: what programs are given and give."""
    if isinstance(type, TupleType):
        return all(map(is_first_order, type.types))
    return isinstance(type, TensorType)


def check_is_program(function: FuncOp) -> None:
    """A program takes and gives tensors.

    Raises:
        Diagnostic: one of its arguments or results is a function, a reference or of a data type.
    """
    type: FunctionType = function.function_type
    for what, types in (("takes", type.inputs), ("gives", type.outputs)):
        for each in types:
            if not is_first_order(each):
                raise Diagnostic.at(
                    function,
                    f"@{function.sym_name.data} {what} {each}; what is run takes and gives tensors",
                    hint="write a function around it that takes and gives tensors and tuples of them",
                )


def _gives_its_results(op: Operation) -> bool:
    """Whether the results of `op` are what its block gives."""
    following = op.next_op
    return (
        following is not None
        and type(following).has_trait(IsTerminator)
        and len(following.operands) == len(op.results)
        and all(given is result for given, result in zip(following.operands, op.results, strict=True))
    )


def _bind(frame: Frame, results: Sequence[Value]) -> None:
    assert frame.waiting is not None
    frame.values.update(zip(frame.waiting.results, results, strict=True))


def _run_kernel(call: CallLoweredOp, inputs: Sequence[NDArray]) -> list[Value]:
    """What a kernel, a `tir.prim_func`, writes on `inputs`."""
    callee = SymbolTable.lookup_symbol(call, call.callee)
    if not isinstance(callee, PrimFuncOp):
        raise NotImplementedError(f"{call.callee} has no reference evaluation")
    dtypes = [numpy_dtype(tensor(result).element_type) for result in call.results]
    results = KernelInterpreter(callee)(inputs)
    return [array.view(dtype) for array, dtype in zip(results, dtypes, strict=True)]


def flatten(value: Value) -> Iterator[NDArray]:
    """The arrays of a value, tuples opened.

    Raises:
        ValueError: it holds something else.
    """
    if isinstance(value, tuple):
        for field in value:
            yield from flatten(field)
    elif isinstance(value, Closure | Cell | Data):
        raise ValueError(f"a {type(value).__name__.lower()} is no tensor")
    else:
        yield value


def unflatten(type: Attribute, arrays: Iterator[NDArray]) -> Value:
    """A value of a type, from the arrays of its tensors."""
    if isinstance(type, TupleType):
        return tuple(unflatten(field, arrays) for field in type.types)
    return next(arrays)

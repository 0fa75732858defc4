"""Run a `relay.func` operator by operator on NumPy arrays: what tests compare a transformed graph with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Block, SSAValue

from weft.dialects.relay.base import RelayOp, shape_of, tensor
from weft.dialects.relay.core import CallOp, ConstantOp, FuncOp, PrimitiveOp, ReturnOp, TupleGetOp, TupleOp, YieldOp
from weft.dialects.relay.reference import evaluate_op
from weft.dialects.support.dtypes import numpy_dtype

NDArray: TypeAlias = npt.NDArray[np.generic]
Value: TypeAlias = "NDArray | tuple[Value, ...]"


def functions(module: ModuleOp) -> dict[str, FuncOp]:
    """The functions of a module by name."""
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def run_function(module: ModuleOp, inputs: Sequence[Value], name: str = "main") -> list[Value]:
    """The results of function `name` on `inputs`, every operator evaluated by the reference."""
    return _run_block(functions(module)[name].body.block, inputs, functions(module))


def random_inputs(func: FuncOp, seed: int = 0) -> list[Value]:
    """An array, or a tuple of arrays, for each argument: normally distributed floats, integers from 0 to 3."""
    generator = np.random.default_rng(seed)
    return [_random_value(argument.type, generator) for argument in func.body.block.args]


def _random_value(type: Attribute, generator: np.random.Generator) -> Value:
    if isinstance(type, TupleType):
        return tuple(_random_value(field, generator) for field in type.types)
    element = tensor(type).element_type
    dtype = numpy_dtype(element)
    shape = [2 if n < 0 else n for n in shape_of(type)]
    drawn = generator.standard_normal(shape) if dtype.kind == "f" else generator.integers(0, 4, shape)
    return drawn.astype(dtype)


def assert_same_results(before: ModuleOp, after: ModuleOp, *, rtol: float = 1e-4, atol: float = 1e-4) -> None:
    """Both modules have the same public functions, and those give the same on random inputs."""
    changed = functions(after)
    for name, func in functions(before).items():
        if func.sym_visibility is not None:
            continue
        inputs = random_inputs(func)
        expected, actual = run_function(before, inputs, name), run_function(after, inputs, name)
        assert name in changed
        for want, got in zip(_flatten(expected), _flatten(actual), strict=True):
            assert want.dtype == got.dtype, f"@{name}: {got.dtype} instead of {want.dtype}"
            wide = (got.astype(np.float64), want.astype(np.float64))
            np.testing.assert_allclose(*wide, rtol=rtol, atol=atol, err_msg=f"@{name}")


def _run_block(block: Block, inputs: Sequence[Value], callees: dict[str, FuncOp]) -> list[Value]:
    values: dict[SSAValue, Value] = dict(zip(block.args, inputs, strict=True))
    for op in block.ops:
        operands = [values[operand] for operand in op.operands]
        results: list[Value]
        match op:
            case ReturnOp() | YieldOp():
                return operands
            case ConstantOp():
                array = op.numpy()
                assert array is not None, f"the data of {op.value} was not loaded"
                results = [array]
            case TupleOp():
                results = [tuple(operands)]
            case TupleGetOp():
                fields = operands[0]
                assert isinstance(fields, tuple)
                results = [fields[op.index.value.data]]
            case CallOp():
                results = _run_block(callees[op.callee.string_value()].body.block, operands, callees)
            case PrimitiveOp():
                results = _run_block(op.body.block, operands, callees)
            case RelayOp():
                arrays = iter(evaluate_op(op, list(_flatten(operands))))
                results = [_unflatten(type, arrays) for type in op.result_types]
            case _:
                raise NotImplementedError(op.name)
        values.update(zip(op.results, results, strict=True))
    raise ValueError("the block has no terminator")


def _flatten(values: Iterable[Value]) -> Iterator[NDArray]:
    for value in values:
        if isinstance(value, tuple):
            yield from _flatten(value)
        else:
            yield value


def _unflatten(type: Attribute, arrays: Iterator[NDArray]) -> Value:
    if isinstance(type, TupleType):
        return tuple(_unflatten(field, arrays) for field in type.types)
    return next(arrays)

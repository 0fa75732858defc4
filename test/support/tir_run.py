"""Run one `tir.prim_func` on the interpreter of `tir` and as machine code, and compare both with what the tensor
expressions say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import FunctionType, IndexType, ModuleOp, TensorType
from xdsl.ir import Attribute

from weft.dialects import te
from weft.dialects.relay.core import CallLoweredOp, FuncOp, ReturnOp
from weft.dialects.support.dtypes import numpy_dtype
from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.core import ForOp, PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.lowering.relay_to_tir.te_to_tir import create_prim_func
from weft.runtime.executable import Executable

NDArray: TypeAlias = npt.NDArray[np.generic]
Stage: TypeAlias = tuple[Sequence[te.Tensor], Sequence[te.Tensor]]
"""Inputs and outputs of a computation."""

HOST = Target.parse("llvm -mcpu=native")


def prim_func(stage: Stage, name: str = "k") -> PrimFuncOp:
    """The unscheduled function that computes a stage."""
    func = create_prim_func(name, *stage)
    func.verify()
    return func


def module_of(func: PrimFuncOp, stage: Stage) -> ModuleOp:
    """A module with a copy of `func` and a graph that does nothing but call it."""
    inputs, outputs = ([TensorType(t.element_type, t.shape) for t in tensors] for tensors in stage)
    main = FuncOp("main", FunctionType.from_lists(inputs, outputs))
    call = CallLoweredOp(func.sym_name.data, list(main.body.block.args), outputs)
    main.body.block.add_ops([call, ReturnOp(*call.results)])
    module = ModuleOp([func.clone(), main])
    module.verify()
    return module


def compiled(func: PrimFuncOp, stage: Stage, threads: int = 1) -> Executable:
    """`func` as an executable graph."""
    graph = compile_graph(module_of(func, stage), HOST, start="schedule", codegen_level=1, jobs=1)
    return Executable(graph, threads)


def inputs_of(stage: Stage, seed: int = 0) -> list[NDArray]:
    """Normally distributed floats, integers from 0 to 3."""
    generator = np.random.default_rng(seed)
    return [_random(tensor.element_type, tensor.shape, generator) for tensor in stage[0]]


def _random(type: Attribute, shape: Sequence[int], generator: np.random.Generator) -> NDArray:
    dtype = numpy_dtype(type)
    integral = dtype.kind in "iub" or isinstance(type, IndexType)
    return (generator.integers(0, 4, shape) if integral else generator.standard_normal(shape)).astype(dtype)


def assert_computes(func: PrimFuncOp, stage: Stage, threads: Sequence[int] = (1, 3), rtol: float = 1e-4) -> None:
    """`func` gives what its tensor expressions do, on random inputs: on the interpreter, with the iterations of its
    parallel loops in order and in another one, and as machine code on each number of threads. So does what it was
    before it was scheduled, on the interpreter."""
    func.verify()
    arrays = inputs_of(stage)
    expected = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
    assert_interprets(prim_func(stage), arrays, expected, rtol)
    assert_interprets(func, arrays, expected, rtol)
    executable = compiled(func, stage)
    for count in threads:
        executable.threads = count
        given = executable(*arrays)
        _assert_equal(given if isinstance(given, tuple) else (given,), expected, rtol, f"{count} threads")


def seeds(func: PrimFuncOp) -> tuple[int | None, ...]:
    """What an interpreter of `func` is given for its loops to run in order and, where the iterations of one have none,
    once more in another."""
    is_concurrent = any(isinstance(op, ForOp) and op.for_kind.is_concurrent for op in func.walk())
    return (None, 0) if is_concurrent else (None,)


def assert_interprets(func: PrimFuncOp, arrays: Sequence[NDArray], expected: Sequence[NDArray], rtol: float) -> None:
    """`func` gives `expected` on the interpreter, in whatever order its parallel iterations run."""
    interpreter = Interpreter(func)
    for seed in seeds(func):
        _assert_equal(interpreter(arrays, seed), expected, rtol, f"interpreter, seed {seed}")


def _assert_equal(given: Sequence[NDArray], expected: Sequence[NDArray], rtol: float, what: str) -> None:
    for want, got in zip(expected, given, strict=True):
        wide = got.astype(np.float64), want.astype(np.float64)
        np.testing.assert_allclose(*wide, rtol=rtol, atol=1e-4, err_msg=what)

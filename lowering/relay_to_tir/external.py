"""Functions for other compilers: each becomes a kernel that calls what its backend makes of it.

Before -> after:

```mlir
relay.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %0 = relay.call @region(%x) : (tensor<4x8xf32>) -> tensor<4x16xf32>
relay.func private @region(%x: tensor<4x8xf32>) -> tensor<4x16xf32> attributes {Compiler = "blas", primitive} { ...

relay.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = relay.constant ...
  %0 = relay.call_lowered @region(%x, %w) : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
tir.prim_func @region(%p0: memref<4x8xf32>, %c0: memref<16x8xf32>, %out: memref<4x16xf32>) {
  tir.block @region() = [] reads(...) writes(...) {
    tir.call packed "blas.dense"(r %p0, r %c0, w %out) : (memref<4x8xf32>, memref<16x8xf32>, memref<4x16xf32>) -> ()
```

So the constants of a kernel are constants of the graph like any other: kept once, saved beside the code, handed over by
address. Its metadata is one more of them, of bytes. The C source of a kernel becomes a `rt.source` of the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ...dialects.relay.base import Tensor, flatten_types, is_static
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp
from ...dialects.relay.devices import CALL_DEVICE
from ...dialects.relay.functions import COMPILER, is_for
from ...dialects.rt.sources import SourceOp
from ...dialects.support.diagnostics import Diagnostic, UsageError
from ...dialects.tir.blocks import BlockOp
from ...dialects.tir.calls import CallOp as ForeignCallOp
from ...dialects.tir.calls import Convention, Effect
from ...dialects.tir.core import PrimFuncOp
from ...transforms.infra.walk import erase, walk
from ...transforms.relay.backends import ExternalKernel, get_backend
from .calls import lower_call
from .te_expressions import signless

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

_CONVENTIONS = {"packed": Convention.PACKED, "c": Convention.EXTERN}


def lower_external(module: ModuleOp) -> None:
    """Make kernels of the functions of a module that are for other compilers, and calls of kernels of calls of them.

    Raises:
        Diagnostic: there is no such backend, it cannot compute a function, or a shape is dynamic.
    """
    functions = [f for f in module.ops if isinstance(f, FuncOp) and f.is_primitive and is_for(f)]
    if not functions:
        return
    arrays: dict[str, list[NDArray]] = {}
    sources: dict[str, SourceOp] = {}
    block = module.body.block
    for function in functions:
        kernel = _asked(function)
        name = function.sym_name.data
        arrays[name] = [np.ascontiguousarray(array) for array in kernel.constants]
        if kernel.metadata:
            arrays[name].append(np.frombuffer(kernel.metadata, np.uint8))
        if kernel.source and kernel.source not in sources:
            source = sources[kernel.source] = SourceOp(kernel.source)
            source.location = function.location
            block.insert_op_before(source, function)
        block.insert_op_before(_prim_func(function, kernel, arrays[name]), function)
        erase(function)
    for graph in [f for f in module.ops if isinstance(f, FuncOp)]:
        made: dict[tuple[Block, str, Attribute | None], list[SSAValue]] = {}
        for call in [op for op in walk(graph) if isinstance(op, CallOp)]:
            name, device = call.callee.root_reference.data, call.attributes.get(CALL_DEVICE)
            if name in arrays and (parent := call.parent) is not None:
                key = (parent, name, device)
                if key not in made:
                    made[key] = [_constant(array, call, device) for array in arrays[name]]
                lower_call(call, None, constants=made[key])


def _constant(array: NDArray, call: CallOp, device: Attribute | None) -> SSAValue:
    """A constant for a call, and those after it, in front of it."""
    constant = ConstantOp.from_numpy(array)
    constant.location = call.location
    if device is not None:
        constant.attributes[CALL_DEVICE] = device
    assert call.parent is not None
    call.parent.insert_op_before(constant, call)
    return constant.result


def _asked(function: FuncOp) -> ExternalKernel:
    """What the backend of a function makes of it."""
    compiler = function.attributes[COMPILER]
    if not isinstance(compiler, StringAttr):
        raise Diagnostic.at(function, f"'{COMPILER}' is the name of a backend, not {compiler}")
    try:
        kernel = get_backend(compiler.data).lower(function)
    except UsageError as error:
        raise Diagnostic.at(function, error.message, hint=error.hint) from None
    except NotImplementedError:
        raise Diagnostic.at(function, f"the backend '{compiler.data}' has no 'lower', which makes kernels") from None
    if not isinstance(kernel, ExternalKernel):  # pyright: ignore[reportUnnecessaryIsInstance]
        message = f"the backend '{compiler.data}' gives {type(kernel).__name__} for it, and no ExternalKernel"
        raise Diagnostic.at(function, message)
    if kernel.symbol == function.sym_name.data:
        hint = "call it by another name, such as that of the function with something behind it"
        raise Diagnostic.at(function, f"'{kernel.symbol}' is the name of the kernel that calls it", hint=hint)
    return kernel


def _static(type: Attribute, where: Operation) -> Sequence[Tensor]:
    if not is_static(type):
        raise Diagnostic.at(where, f"{type} has a dynamic dimension, and backends are given static shapes")
    return flatten_types([type])


def _prim_func(function: FuncOp, kernel: ExternalKernel, arrays: Sequence[NDArray]) -> PrimFuncOp:
    """The kernel that calls what a backend has made of a function."""
    inputs = [tensor for type in function.function_type.inputs for tensor in _static(type, function)]
    constants = flatten_types([ConstantOp.from_numpy(array).result.type for array in arrays])
    outputs = [tensor for type in function.function_type.outputs for tensor in _static(type, function)]
    tensors = [*inputs, *constants, *outputs]
    made = PrimFuncOp(
        function.sym_name.data, [MemRefType(signless(type.element_type), type.get_shape()) for type in tensors]
    )
    made.location = function.location
    made.attributes |= {k: v for k, v in function.attributes.items() if k not in ("primitive", COMPILER, "Inline")}
    buffers = made.region.block.args
    names = [f"p{n}" for n in range(len(inputs))] + [f"c{n}" for n in range(len(constants))]
    for buffer, name in zip(buffers, [*names, *(f"out{n or ''}" for n in range(len(outputs)))], strict=True):
        buffer.name_hint = name
    effects = [*[Effect.READ] * len(names), *[Effect.WRITE] * len(outputs)]
    body = Block()
    body.add_op(call := ForeignCallOp(_CONVENTIONS[kernel.language], kernel.symbol, buffers, effects))
    block = BlockOp(function.sym_name.data, [], AffineMap(0, 0, ()), [], Region(body))
    for op in (call, block):
        op.location = function.location
    made.region.block.add_op(block)
    return made

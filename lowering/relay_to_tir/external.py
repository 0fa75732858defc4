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
address. Its metadata is one more of them, of bytes. The C source of a kernel becomes a `rt.source` of the module. Where
extents are symbols, a kernel is made for each way in which they follow from those of the graph, as of any function. A C
function is handed those extents that the types of the region leave open, behind the address of the tensor:

```mlir
tir.call extern "loop"(r %p0, %n, w %out, %n) : (memref<?x4xf32>, index, memref<?x4xf32>, index) -> ()
```
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ...dialects import te
from ...dialects.relay.base import flatten_types, is_static
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp
from ...dialects.relay.devices import CALL_DEVICE
from ...dialects.relay.extents import Extents, Known
from ...dialects.relay.functions import COMPILER, is_for
from ...dialects.rt.sources import SourceOp
from ...dialects.support.diagnostics import Diagnostic, UsageError
from ...dialects.tir.blocks import BlockOp
from ...dialects.tir.calls import CallOp as ForeignCallOp
from ...dialects.tir.calls import Convention, Effect
from ...dialects.tir.core import PrimFuncOp
from ...transforms.infra.walk import erase, walk
from ...transforms.relay.backends import ExternalKernel, get_backend
from .alike_functions import Lower
from .calls import lower_call
from .dynamic_calls import Kernel
from .te_expressions import BodyEmitter
from .te_symbols import opaque_extents
from .te_to_tir import declare_prim_func

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

_CONVENTIONS = {"packed": Convention.PACKED, "c": Convention.EXTERN}


class Externals:
    """The functions of a module for other compilers, and what their backends make of them."""

    def __init__(self, module: ModuleOp):
        """Ask for the kernels.

        Raises:
            Diagnostic: there is no such backend, it cannot compute a function, or two functions of C have one name.
        """
        self._kernels: dict[str, ExternalKernel] = {}
        self._arrays: dict[str, list[NDArray]] = {}
        self._made: dict[tuple[Block, str, Attribute | None], list[SSAValue]] = {}
        self._functions = [f for f in module.ops if isinstance(f, FuncOp) and f.is_primitive and is_for(f)]
        self._module = module
        sources: dict[str, SourceOp] = {}
        defined: dict[str, tuple[FuncOp, str]] = {}
        for function in self._functions:
            kernel = _asked(function)
            name = function.sym_name.data
            if kernel.source:
                first, source = defined.setdefault(kernel.symbol, (function, kernel.source))
                if source != kernel.source:
                    raise _defined_twice(kernel.symbol, first, function)
            self._kernels[name] = kernel
            self._arrays[name] = [np.ascontiguousarray(array) for array in kernel.constants]
            if kernel.metadata:
                self._arrays[name].append(np.frombuffer(kernel.metadata, np.uint8))
            if kernel.source and kernel.source not in sources:
                source = sources[kernel.source] = SourceOp(kernel.source)
                source.location = function.location
                module.body.block.insert_op_before(source, function)

    @property
    def names(self) -> Collection[str]:
        """The functions, which are the kernels that call what their backends make of them."""
        return self._kernels.keys()

    def lower_static(self) -> None:
        """Make kernels of the functions whose extents are known, and calls of kernels of calls of them."""
        static: set[str] = set()
        for function in self._functions:
            types = [*function.function_type.inputs, *function.function_type.outputs]
            if all(map(is_static, types)):
                inputs, outputs = (
                    [te.placeholder(type.get_shape(), type.element_type, "p") for type in flatten_types(list(each))]
                    for each in (function.function_type.inputs, function.function_type.outputs)
                )
                self._module.body.block.insert_op_before(self._kernel(function, inputs, outputs), function)
                static.add(function.sym_name.data)
                erase(function)
        for graph in [f for f in self._module.ops if isinstance(f, FuncOp)] if static else ():
            for call in [op for op in walk(graph) if isinstance(op, CallOp)]:
                if call.callee.root_reference.data in static and call.parent is not None:
                    lower_call(call, None, constants=self.constants(call))

    def lower_at(
        self, function: FuncOp, known: Sequence[Known], symbols: Sequence[te.Expr]
    ) -> tuple[PrimFuncOp, list[te.Tensor]]:
        """The kernel of a function for inputs of which something is `known`, as extents that may be `symbols`, and its
        outputs.

        Raises:
            Diagnostic: extents do not follow from those of the inputs.
        """
        if any(each.contents is not None for each in known):
            raise Diagnostic.at(function, "has extents that an input holds, of which a backend is not told")
        inputs, outputs = (
            [each.tensor(type) for each, type in zip(tensors, flatten_types(list(types)), strict=True)]
            for tensors, types in (
                (known, function.function_type.inputs),
                (Extents().through(function, known), function.function_type.outputs),
            )
        )
        return self._kernel(function, inputs, outputs, [*symbols, *opaque_extents(outputs)]), outputs

    def _kernel(
        self,
        function: FuncOp,
        inputs: Sequence[te.Tensor],
        outputs: Sequence[te.Tensor],
        symbols: Sequence[te.Expr] = (),
    ) -> PrimFuncOp:
        """The kernel that calls what a backend has made of a function, for inputs and outputs of these extents."""
        kernel, name = self._kernels[function.sym_name.data], function.sym_name.data
        types = flatten_types([ConstantOp.from_numpy(array).result.type for array in self._arrays[name]])
        constants = [te.placeholder(type.get_shape(), type.element_type, "c") for type in types]
        made, extents = declare_prim_func(name, [*inputs, *constants], outputs, symbols)
        made.location = function.location
        made.attributes |= {k: v for k, v in function.attributes.items() if k not in ("primitive", COMPILER, "Inline")}
        count = len(inputs) + len(constants)
        buffers = made.region.block.args[: count + len(outputs)]
        for number, buffer in enumerate(buffers[len(inputs) : count]):
            buffer.name_hint = f"c{number}"
        effects = [*[Effect.READ] * count, *[Effect.WRITE] * len(outputs)]
        body = Block()
        arguments: list[SSAValue] = list(buffers)
        if kernel.language == "c":
            arguments = _with_extents(function, buffers, [*inputs, *constants, *outputs], body, extents)
        body.add_op(call := ForeignCallOp(_CONVENTIONS[kernel.language], kernel.symbol, arguments, effects))
        block = BlockOp(name, [], AffineMap(0, 0, ()), [], Region(body))
        for op in (call, block):
            op.location = function.location
        made.region.block.add_op(block)
        return made

    def lowering_by(self, lower: Lower) -> Lower:
        """How functions are lowered for extents that may be symbols: by `lower`, if not for other compilers."""
        return lambda function, known, symbols: (self.lower_at if is_for(function) else lower)(function, known, symbols)

    def replace(self, call: CallOp, kernel: Kernel, attributes: dict[str, Attribute]) -> None:
        """Call a kernel for inputs of some extents in the place of a function."""
        lower_call(call, None, kernel.name, attributes, self.constants(call), dropped=kernel.held)

    def constants(self, call: CallOp) -> list[SSAValue]:
        """What the kernel of a call takes besides, in front of the first call of it in its block."""
        name, device, parent = call.callee.root_reference.data, call.attributes.get(CALL_DEVICE), call.parent
        if name not in self._arrays:
            return []
        assert parent is not None
        if (parent, name, device) not in self._made:
            self._made[parent, name, device] = [_constant(array, call, device) for array in self._arrays[name]]
        return self._made[parent, name, device]


def _with_extents(
    function: FuncOp,
    buffers: Sequence[SSAValue],
    tensors: Sequence[te.Tensor],
    body: Block,
    symbols: Mapping[te.Expr, SSAValue],
) -> list[SSAValue]:
    """The buffers, behind each those of its extents that the type in the region leaves open, computed in `body`: so a
    function is called in one way, whatever is known of the extents where that is."""
    emitter = BodyEmitter(body, {}, {})
    emitter.memo |= symbols
    given = flatten_types(list(function.function_type.inputs))
    made = flatten_types(list(function.function_type.outputs))
    held = len(tensors) - len(given) - len(made)
    types = [*given, *[None] * held, *made]
    arguments: list[SSAValue] = []
    for buffer, tensor, type in zip(buffers, tensors, types, strict=True):
        open_axes = [] if type is None else [n for n, extent in enumerate(type.get_shape()) if extent == DYNAMIC_INDEX]
        arguments += [buffer, *(emitter.value(te.dim_expr(tensor.dims[n])) for n in open_axes)]
    return arguments


def _constant(array: NDArray, call: CallOp, device: Attribute | None) -> SSAValue:
    """A constant for a call, and those after it, in front of it."""
    constant = ConstantOp.from_numpy(array)
    constant.location = call.location
    if device is not None:
        constant.attributes[CALL_DEVICE] = device
    assert call.parent is not None
    call.parent.insert_op_before(constant, call)
    return constant.result


def _defined_twice(symbol: str, first: FuncOp, second: FuncOp) -> Diagnostic:
    """Two functions for backends whose sources both have a function of one name."""
    hint = "name it after the function that it is made for, and let all else in the source be static"
    name = first.sym_name.data
    return Diagnostic.at(second, f"its C function '{symbol}' is another one than that of @{name}", hint=hint)


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

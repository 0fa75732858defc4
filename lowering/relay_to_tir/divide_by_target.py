"""Kernels that are called on GPUs and on processors become two, one for each; those of GPUs say so (`tir.target`).

Before -> after:

```mlir
%0 = relay.call @fused_add(%a, %b)                                %0 = relay.call @fused_add(%a, %b)
%1 = relay.call @fused_add(%c, %d) {virtual_device = cuda:0}      %1 = relay.call @fused_add_cuda(%c, %d) {...}
```
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr

from ...dialects.relay.core import CallOp, FuncOp
from ...dialects.support.unique_names import free_name
from ...dialects.tir.functions import TARGET
from ...transforms.infra.walk import clone
from .place_calls import device_of, is_copy_between_devices


def divide_by_target(module: ModuleOp) -> None:
    """Have each kernel of a module be for one kind of target."""
    kernels = {func.sym_name.data: func for func in module.ops if isinstance(func, FuncOp) and func.is_primitive}
    calls = [op for op in module.walk() if isinstance(op, CallOp) and op.callee.root_reference.data in kernels]
    there = [call for call in calls if _is_on_gpu(call)]
    elsewhere = {call.callee.root_reference.data for call in calls if call not in set(there)}
    names: dict[str, str] = {}
    for call in there:
        name = call.callee.root_reference.data
        if name not in names:
            names[name] = name if name not in elsewhere else _copied(module, kernels[name], set(kernels))
            function = kernels[name] if names[name] == name else _last(module)
            function.attributes[TARGET] = StringAttr("cuda")
        call.properties["callee"] = SymbolRefAttr(names[name])


def _is_on_gpu(call: CallOp) -> bool:
    device = device_of(call)
    return device is not None and device.data.type == "cuda" and not is_copy_between_devices(call)


def _last(module: ModuleOp) -> FuncOp:
    last = module.body.block.last_op
    assert isinstance(last, FuncOp)
    return last


def _copied(module: ModuleOp, function: FuncOp, taken: set[str]) -> str:
    """Add a copy of a function under a name of its own, which is given."""
    copy, name = clone(function), free_name(f"{function.sym_name.data}_cuda", taken)
    copy.properties["sym_name"] = StringAttr(name)
    module.body.block.add_op(copy)
    return name

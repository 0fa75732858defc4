"""Make inputs of a graph constants. Counterpart of TVM's `bind_params_by_name`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Operation

from ...dialects.relay.attributes import copied, tensor_type_of
from ...dialects.relay.base import compatible, flatten_types
from ...dialects.relay.core import ConstantOp, FuncOp
from ...dialects.relay.devices import PARAMETER_DEVICES, VirtualDeviceAttr, listed_devices
from ...dialects.relay.graph_arguments import DIM_NAMES
from ...dialects.relay.ops.annotation import OnDeviceOp
from ...dialects.support.diagnostics import Diagnostic, Severity, UsageError, did_you_mean, emit
from ...dialects.support.dtypes import numpy_dtype
from ...dialects.support.held import held_as
from ...dialects.support.hints import isa
from ...dialects.support.unique_names import argument_names

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def bind_params(module: ModuleOp, params: Mapping[str, npt.ArrayLike], function: str = "main") -> None:
    """Replace inputs of `@function` by constants, in place; `params` gives their arrays by the inputs' names, of which
    copies are held: who gave them may write to them. What has 64 bits is made what the input takes, as `relay.const`
    does: integers if they are the same there, floats rounded unless they are beyond all numbers there.

    Raises:
        UsageError: there is no such function or input, or an array does not fit its input's type.
    """
    func = next((f for f in module.ops if isinstance(f, FuncOp) and f.sym_name.data == function), None)
    if func is None:
        raise UsageError(f"there is no relay.func @{function}")
    names = input_names(func)
    for name in params:
        if name not in names:
            raise UsageError(f"there is no input '{name}'; inputs: {', '.join(names)}", hint=did_you_mean(name, names))
    block = func.body.block
    places = listed_devices(func.attributes.get(PARAMETER_DEVICES))
    extents = _names_of_extents(func)
    kept = [name for name in names if name not in params]
    for name, argument in reversed(list(zip(names, block.args, strict=True))):
        if name not in params:
            continue
        try:
            array = copied(params[name])
            type = tensor_type_of(array)
        except (TypeError, ValueError) as error:
            raise UsageError(f"parameter '{name}' is no array of numbers: {error}") from None
        if not compatible(argument.type, type) and (held := _held(array, argument.type)) is not None:
            array, type = held, tensor_type_of(held)
        if not compatible(argument.type, type):
            raise UsageError(f"parameter '{name}' is {type}, the input takes {argument.type}")
        constant = ConstantOp.from_numpy(array, name)
        value = constant.result
        ops: list[Operation] = [constant]
        if places and not (place := places.pop(argument.index)).is_free:
            ops.append(note := OnDeviceOp(value, virtual_device=place, constrain_result=True))
            value = note.result
        if (first := block.first_op) is not None:
            block.insert_ops_before(ops, first)
        argument.replace_all_uses_with(value)
        if extents:
            del extents[len(flatten_types([each.type for each in block.args[: argument.index]]))]
        block.erase_arg(argument)
    func.properties["function_type"] = FunctionType.from_lists(
        [a.type for a in block.args], func.function_type.outputs.data
    )
    if PARAMETER_DEVICES in func.attributes:
        func.attributes[PARAMETER_DEVICES] = ArrayAttr([VirtualDeviceAttr(device) for device in places])
    if extents is not None:
        func.attributes[DIM_NAMES] = ArrayAttr(extents)
    if "input_names" in func.attributes:
        func.attributes["input_names"] = ArrayAttr([StringAttr(name) for name in kept])


def bind_known(module: ModuleOp, params: Mapping[str, npt.ArrayLike], function: str = "main") -> None:
    """`bind_params` of the parameters that `@function` has.

    Raises:
        UsageError: there is no such function, or an array does not fit its input's type.
    """
    func = next((f for f in module.ops if isinstance(f, FuncOp) and f.sym_name.data == function), None)
    bind_params(module, params if func is None else known_params(func, params), function)


def known_params(function: FuncOp, params: Mapping[str, npt.ArrayLike]) -> dict[str, npt.ArrayLike]:
    """The parameters that are inputs of a function. Of the others it warns, where TVM passes over them in silence: they
    may have been bound before, or be of what was optimised away."""
    names = input_names(function)
    if others := [name for name in params if name not in names]:
        listed = ", ".join(f"'{name}'" for name in others[:8]) + (", ..." if len(others) > 8 else "")
        message = f"@{function.sym_name.data} has no input {listed}; inputs: {', '.join(names) or 'none'}"
        emit(Diagnostic(message, hint=did_you_mean(others[0], names), severity=Severity.WARNING))
    return {name: value for name, value in params.items() if name in names}


def _names_of_extents(func: FuncOp) -> list[Attribute] | None:
    """What the open extents of a function's tensors are called, for each; nothing where nothing says, or what says is
    wrong, which the compilation refuses."""
    given = func.attributes.get(DIM_NAMES)
    if not isa(given, ArrayAttr[Attribute]):
        return None
    return list(given) if len(given) == len(flatten_types(func.function_type.inputs.data)) else None


def _held(array: npt.NDArray[np.generic], wanted: Attribute) -> npt.NDArray[np.generic] | None:
    """An array of 64 bits, which NumPy makes unless it is told otherwise, as one of the numbers that an input takes;
    `None` where these are not the same: floats may be rounded."""
    import numpy as np

    if not isa(wanted, TensorType[Attribute]) or array.dtype.name not in ("int64", "float64"):
        return None
    dtype = numpy_dtype(wanted.element_type)
    if dtype == np.bool_ or (array.dtype.kind == "f" and np.issubdtype(dtype, np.integer)):
        return None
    held = held_as(array, dtype)
    return None if held is array else held


def input_names(func: FuncOp) -> list[str]:
    """The names of a graph's inputs: as imported, else those of its arguments in the text."""
    given = func.attributes.get("input_names")
    if isa(given, ArrayAttr[Attribute]) and len(given) == len(func.body.block.args):
        return [name.data if isinstance(name, StringAttr) else str(name) for name in given]
    return argument_names(func.body.block.args)

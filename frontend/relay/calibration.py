"""What the functions of a partitioned module are given and give: TVM's `get_calibration_data`.

data = relay.analysis.get_calibration_data(module, {"x": array})
data[module.get_global_var("dnnl_0")]["inputs"]     # arrays
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import FunctionType, ModuleOp

from ...dialects.relay.base import flatten_types
from ...dialects.relay.core import CallOp, FuncOp, ReturnOp
from ...dialects.relay.functions import is_for
from ...dialects.relay.interpreter import evaluate_function
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...dialects.support.nd import NDArray, as_nd
from ...transforms.infra.walk import clone, erase
from ...transforms.relay.bind_params import input_names
from .expr import GlobalVar


@checked
def get_calibration_data(mod: ModuleOp, data: Mapping[str, npt.ArrayLike]) -> dict[GlobalVar, dict[str, list[NDArray]]]:
    """The arrays that each function for another compiler is given, `"inputs"`, and gives, `"outputs"`, when `@main`
    runs on `data`, in the interpreter. Tuples are opened.

    Raises:
        UsageError: there is no `@main`, an input is missing or unknown, or a function is called more than once.
    """
    module = clone(mod)
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    main = functions.get("main")
    if main is None:
        raise UsageError("the module has no function @main")
    names = input_names(main)
    for name in data:
        if name not in names:
            raise UsageError(f"@main has no input '{name}'", hint=did_you_mean(name, names))
    if missing := [name for name in names if name not in data]:
        raise UsageError(f"there is no array for the inputs {', '.join(missing)}")
    calls = [op for op in main.body.block.ops if isinstance(op, CallOp)]
    calls = [op for op in calls if is_for(functions[op.callee.string_value()])]
    called = [op.callee.string_value() for op in calls]
    if len(set(called)) != len(called):
        raise UsageError("a function is called more than once, so it has no one set of inputs")
    values = [value for op in calls for value in (*op.arguments, *op.res)]
    erase(main.return_op)
    main.body.block.add_op(ReturnOp(*values))
    inputs = main.function_type.inputs.data
    main.function_type = FunctionType.from_lists(inputs, [value.type for value in values])
    arrays = map(as_nd, evaluate_function(main, [np.asarray(data[name]) for name in names]))
    found: dict[GlobalVar, dict[str, list[NDArray]]] = {}
    for name, op in zip(called, calls, strict=True):
        counts = [len(flatten_types([value.type for value in side])) for side in (op.arguments, op.res)]
        given, results = ([next(arrays) for _ in range(count)] for count in counts)
        found[GlobalVar(name, functions[name].function_type)] = {"inputs": given, "outputs": results}
    return found

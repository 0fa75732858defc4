"""What tests of Relay programs need, by TVM's names: in `weft.relay.testing`, beside the models.

relay.testing.check_grad(relay.Function([x], relay.tanh(x)))
typed = relay.testing.run_infer_type(relay.nn.relu(x))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from .dialects.relay.base import Tensor, flatten_types
from .dialects.relay.core import FuncOp
from .dialects.relay.devices import VirtualDevice
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import UsageError
from .dialects.support.dtypes import dtype_name
from .enabled_targets import enabled
from .frontend.relay.expr import Expr
from .frontend.relay.functors import ExprVisitor
from .frontend.relay.gradients import gradient
from .frontend.relay.module import IRModule
from .frontend.relay.op_class import Op
from .frontend.relay.prelude import Prelude
from .lowering.machine.target import Target
from .nd import NDArray, array
from .relay_executors import create_executor
from .transforms.infra.passes import Pass
from .transforms.relay.infer_type import InferTypePass
from .transforms.relay.legalize import LegalizePass

Given = TypeVar("Given", Expr, FuncOp)


def enabled_targets() -> list[tuple[str, VirtualDevice]]:
    """What programs are tested on here: targets that run, each with its device."""
    found = [("llvm", VirtualDevice("cpu", 0)), ("cuda", VirtualDevice("cuda", 0))]
    return [(target, device) for target, device in found if enabled(target)]


@checked
def run_opt_pass(expr: Given, opt_pass: Pass, import_prelude: bool = False) -> Given:
    """What a pass makes of an expression, as an expression, or of a function, as a function.

    Args:
        expr: what the pass runs on, as `@main` of a module.
        opt_pass: the pass, whatever the level.
        import_prelude: whether the module has TVM's prelude.
    """
    module = IRModule.from_expr(expr)
    if import_prelude:
        Prelude(module)
    main = cast(IRModule, opt_pass(InferTypePass()(module)))["main"]
    return cast(Given, main if isinstance(expr, FuncOp) else main.tree)


@checked
def run_as_python(expr: Expr | FuncOp, mod: ModuleOp | None = None, target: str | Target = "llvm") -> object:
    """What an expression comes to when Python evaluates it, in the interpreter: an array, a tuple of what its fields
    come to, a `ConstructorValue`, a reference, or, of a function, a callable. `target` says nothing here.

    Raises:
        UsageError: it has variables that nothing is bound to.
    """
    return create_executor("debug", mod=mod).evaluate(expr)


def run_infer_type(expr: Given) -> Given:
    """An expression, or a function, with all its types."""
    return run_opt_pass(expr, InferTypePass())


@checked
def rand(dtype: str, *shape: int) -> NDArray:
    """Numbers from 0 to 1."""
    return array(np.random.rand(*shape).astype(dtype))


@checked
def count_ops(expr: Expr | FuncOp) -> Counter[str]:
    """How often each operator is called, by its name; what is shared counts once."""
    counts: Counter[str] = Counter()

    class Counting(ExprVisitor):
        def visit_call(self, call: Expr) -> None:
            if isinstance(op := call.op, Op):
                counts[op.name] += 1
            super().visit_call(call)

    Counting().visit(expr)
    return counts


@checked
def check_grad(
    func: FuncOp,
    inputs: Sequence[npt.NDArray[Any]] | None = None,
    test_inputs: Sequence[npt.NDArray[Any]] | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    scale: float | None = None,
    mean: float = 0,
    mode: str = "higher_order",
    target_devices: Sequence[tuple[Target | str, VirtualDevice]] | None = None,
    executor_kind: str = "debug",
) -> None:
    """Hold the gradient of a function to central differences of it, element by element.

    Args:
        func: the function; one in f64 is compared best.
        inputs: its arguments; normally distributed ones with `mean` and the deviation `scale`, ten times `eps`, unless
            given.
        test_inputs: those of `inputs`, by identity, whose gradients are compared: all, unless given.
        eps: how far an element is moved to either side.
        atol: what absolute difference is taken.
        rtol: what relative difference is taken.
        scale: the deviation of drawn arguments.
        mean: their mean.
        mode: as of `relay.transform.gradient`.
        target_devices: the targets and devices that it is computed for: this processor, unless given.
        executor_kind: what runs it, as of `relay.create_executor`.

    Raises:
        AssertionError: they differ.
        UsageError: no input is to be compared.
        Diagnostic: there is no gradient.
    """
    forward = run_infer_type(func)
    backward = run_opt_pass(run_infer_type(gradient(forward, mode=mode)), LegalizePass())
    given = list(inputs) if inputs is not None else list(_drawn(forward, mean, 10 * eps if scale is None else scale))
    wanted = [number for number, each in enumerate(given) if _is_in(each, test_inputs)]
    if not wanted:
        raise UsageError("none of the inputs is to be compared", hint="'test_inputs' holds some of 'inputs' themselves")
    for target, device in target_devices if target_devices is not None else [(Target("llvm"), None)]:
        run, differentiated = (
            create_executor(executor_kind, device=device, target=target).evaluate(each) for each in (forward, backward)
        )
        _, gradients = cast(Any, differentiated)(*given)
        for number in wanted:
            expected = _differences(run, given, number, eps)
            np.testing.assert_allclose(np.asarray(gradients[number], np.float64), expected, rtol, atol)


def _is_in(array: object, arrays: Sequence[object] | None) -> bool:
    return arrays is None or any(each is array for each in arrays)


def _drawn(function: FuncOp, mean: float, scale: float) -> Iterator[npt.NDArray[Any]]:
    for type in flatten_types(function.function_type.inputs.data):
        yield np_randn_from_type(type, scale, mean)


def np_randn_from_type(t: Tensor, scale: float = 1, mean: float = 0) -> npt.NDArray[Any]:
    """An array of the type of a tensor, of numbers that are normally distributed with the deviation `scale`."""
    return np.asarray(np.random.normal(mean, scale, t.get_shape())).astype(_dtype(t))


def _dtype(type: Tensor) -> str:
    return dtype_name(type.element_type)


def _differences(run: Any, given: list[npt.NDArray[Any]], number: int, eps: float) -> npt.NDArray[np.float64]:
    """The slopes of the sum of what a function gives, by each element of an argument."""
    slopes = np.zeros(given[number].shape)
    for index in np.ndindex(*slopes.shape):
        ends: list[npt.NDArray[np.float64]] = []
        for way in (eps, -eps):
            moved = given[number].copy()
            moved[index] += way
            ends.append(np.asarray(run(*given[:number], moved, *given[number + 1 :]), np.float64))
        slopes[index] = np.sum((ends[0] - ends[1]) / (2 * eps))
    return slopes

"""An operator's gradient, held to finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import FunctionType, f64
from xdsl.ir import Operation

from ..dialects.relay.base import flatten_types
from ..dialects.relay.core import FuncOp, ReturnOp
from ..dialects.relay.differentiation import is_differentiable, leaf_terms
from ..dialects.relay.interpreter import evaluate_function
from ..dialects.support.dtypes import numpy_dtype
from ..transforms.relay.first_order_gradient import differentiate
from .examples import parse_example

NDArray = npt.NDArray[Any]
Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray]


def away_from_zero(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    """Numbers of both signs, of a magnitude from 0.2 to 0.9, where few operators have a kink or a pole."""
    return rng.uniform(0.2, 0.9, shape) * rng.choice([-1.0, 1.0], shape)


def between(low: float, high: float) -> Draw:
    """Numbers from a range."""
    return lambda rng, shape: rng.uniform(low, high, shape)


def check_gradient(
    text: str,
    inputs: Sequence[NDArray | None] = (),
    draw: Draw = away_from_zero,
    *,
    twice: bool = False,
    step: float = 1e-6,
) -> None:
    """Hold the gradient of a piece of relay, as a docstring's example is one, to central differences, in f64.

    The results are weighted at random, so that no error cancels; the arguments are moved in random directions. Floats
    are drawn by `draw` where `inputs` gives no array. With `twice`, the gradient's gradient is checked. Arguments are
    moved by `step`; what is computed in f32 wants a longer one, and may be off by as much.

    Raises:
        AssertionError: they differ.
        Diagnostic: there is no gradient.
    """
    rng = np.random.default_rng(0)
    module = parse_example(text.replace("f32", "f64").replace('"float32"', '"float64"'))
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    given = [*inputs, *[None] * (len(function.body.block.args) - len(inputs))]
    arrays: list[NDArray] = []
    for argument, array in zip(function.body.block.args, given, strict=True):
        (type,) = flatten_types([argument.type])
        drawn = draw(rng, type.get_shape()) if is_differentiable(type) else rng.integers(0, 2, type.get_shape())
        arrays.append(np.asarray(drawn if array is None else array).astype(numpy_dtype(type.element_type)))
    for _ in range(1 + twice):
        _weigh(function, rng)
        value = function.clone()
        differentiate(function)
        function.verify()
        _hold(function, value, arrays, rng, step)


def _weigh(function: FuncOp, rng: np.random.Generator) -> None:
    """Let a function give the sum of all floats that it gives, each weighted at random."""
    block, end = function.body.block, function.return_op

    def emit(op: Operation) -> None:
        block.insert_op_before(op, end)

    terms = [term for value in end.arguments for term in leaf_terms(value, emit) if is_differentiable(term.type)]
    assert terms, "the example gives no floats"
    weighted = [term * term.constant(rng.uniform(0.5, 1.5, term.shape), term.type.element_type) for term in terms]
    sums = [each.cast(f64).sum(range(len(each.shape))) for each in weighted]
    total = reduce(lambda a, b: a + b, sums)
    block.add_op(ReturnOp(total.value))
    end.detach()
    end.erase()
    function.properties["function_type"] = FunctionType.from_lists([a.type for a in block.args], [total.value.type])


def _hold(function: FuncOp, value: FuncOp, arrays: Sequence[NDArray], rng: np.random.Generator, step: float) -> None:
    """Compare the gradient that `function` gives with differences of what `value` gives."""
    given, *rest = evaluate_function(function, arrays)
    found = [each.astype(np.float64) for each in rest]
    assert np.isclose(float(given), float(evaluate_function(value, arrays)[0]), rtol=1e-12)
    margin = max(step, 1e-5)
    for _ in range(2):
        way = [rng.standard_normal(a.shape) if a.dtype == np.float64 else np.zeros_like(a) for a in arrays]
        ends = [[a + (sign * step * d).astype(a.dtype) for a, d in zip(arrays, way, strict=True)] for sign in (1, -1)]
        high, low = (float(evaluate_function(value, end)[0]) for end in ends)
        expected = (high - low) / (2 * step)
        parts = [f * d.astype(np.float64) for f, d in zip(found, way, strict=True)]
        slope = sum(float(part.sum()) for part in parts)
        scale = 1e-3 + sum(float(np.abs(part).sum()) for part in parts)
        assert abs(slope - expected) <= margin * scale, f"the gradient gives {slope}, differences give {expected}"

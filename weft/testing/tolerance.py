"""By how much two computations of the same graph may differ, from what its operators' classes say of their accuracy.

    tolerances_of(function)     one `Tolerance` for each tensor that it returns
    Tolerance.excess(a, b)      where two results differ by more, and by how much

Each operator adds its own error (`RelayOp.accuracy`, in units in the last place of its type) to the largest of its
operands': so an error is what the longest way through the graph adds up to. It is measured by each element, or by the
largest one of the result where small elements are made of large ones: by sums, and where what is rounded already is
added or subtracted. Integers and truth values are equal; NaN is NaN, and an infinity the same one. What steep functions
and differences make of an error is not looked at: `weft.testing.agreement` evaluates a graph several times for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects.relay.base import RelayOp, Tensor, leaf_types
from ..dialects.relay.core import FuncOp
from ..dialects.relay.precision import Accuracy
from ..dialects.support.dtypes import numpy_dtype

NDArray: TypeAlias = npt.NDArray[np.generic]

USUAL = {"float64": 2.0**-30, "float32": 2.0**-13, "float16": 2.0**-7, "bfloat16": 2.0**-4}
"""The error of a result of which no graph is at hand, by element type, measured by the largest element."""


@dataclass(frozen=True)
class Tolerance:
    """By how much results may differ.

    Args:
        relative: the error, as a part of what it is measured by.
        mixed: whether that is the largest element of the result; else each element by itself.
        absolute: what is allowed beside it.
    """

    relative: float = 0.0
    mixed: bool = False
    absolute: float = 0.0

    def allowed(self, wanted: NDArray) -> npt.NDArray[np.float64]:
        """By how much each element may differ from the one that is wanted."""
        exact = wide(wanted)
        size = np.abs(np.where(np.isfinite(exact), exact, 0)).astype(np.float64)
        measure = np.maximum(size, size.max(initial=0)) if self.mixed else np.maximum(size, _least(wanted))
        return self.relative * measure + self.absolute

    def excess(self, found: NDArray, wanted: NDArray) -> npt.NDArray[np.float64]:
        """How far elements are off that are off too far, and 0 of others; infinite where just one is finite."""
        error = difference(found, wanted).astype(np.float64)
        return np.where(error > self.allowed(wanted), error, 0.0)

    def __str__(self) -> str:
        measure = "the largest element" if self.mixed else "each element"
        return (
            f"allowed: {self.absolute:g} + {self.relative:.3g} of {measure}"
            if self.relative
            else (f"allowed: {self.absolute:g}")
        )


def difference(a: NDArray, b: NDArray) -> npt.NDArray[np.longdouble]:
    """The difference of each two elements: 0 of equal ones and of two NaNs, infinite where just one is finite."""
    x, y = wide(a), wide(b)
    with np.errstate(all="ignore"):
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        return np.where(same, 0, np.where(np.isfinite(x) & np.isfinite(y), np.abs(x - y), np.inf))


def usual_tolerance(dtype: np.dtype[np.generic]) -> Tolerance:
    """The tolerance for elements of a type where no graph says it."""
    return Tolerance(USUAL.get(dtype.name, 0.0), mixed=True)


def tolerances_of(function: FuncOp) -> list[Tolerance]:
    """The tolerance of each tensor that a function returns, tuples flattened."""
    found = _Errors(function).of(function.body.block)
    types = [leaf_types([value.type]) for value in function.return_op.operands]
    return [error for error, leaves in zip(found, types, strict=True) for _ in leaves]


class _Errors:
    """The errors of the values of a function, and of those that it calls."""

    def __init__(self, function: FuncOp):
        module = function.parent_op()
        functions = [op for op in module.ops if isinstance(op, FuncOp)] if isinstance(module, ModuleOp) else []
        self._functions = {op.sym_name.data: op for op in functions}
        self._called: dict[str, Tolerance] = {}
        self._values: dict[SSAValue, Tolerance] = {}

    def of(self, block: Block) -> list[Tolerance]:
        """The errors of what a block ends with."""
        for op in block.ops:
            error = self._after(op)
            self._values.update((result, error) for result in op.results)
        last = block.last_op
        return [] if last is None else [self._values.get(operand, _NONE) for operand in last.operands]

    def _after(self, op: Operation) -> Tolerance:
        given = [self._values.get(operand, _NONE) for operand in op.operands]
        before = _greatest(given)
        if isinstance(op, RelayOp):
            own = own_tolerance(op)
            added = own.relative > 0 and before.relative > 0
            mixed = before.mixed or own.mixed or added
            return Tolerance(before.relative + own.relative, mixed, before.absolute + own.absolute)
        within = [error for region in op.regions for block in region.blocks for error in self.of(block)]
        callee = op.properties.get("callee")
        if callee is not None:
            within.append(self._in_function(str(callee).removeprefix("@")))
        inner = _greatest(within)
        return Tolerance(
            before.relative + inner.relative, before.mixed or inner.mixed, before.absolute + inner.absolute
        )

    def _in_function(self, name: str) -> Tolerance:
        """The error that a call of a function adds; of one that calls itself, that of one turn."""
        if name not in self._called and name in self._functions:
            self._called[name] = _NONE
            self._called[name] = _greatest(self.of(self._functions[name].body.block))
        return self._called.get(name, _NONE)


_NONE = Tolerance()


def _greatest(errors: Sequence[Tolerance]) -> Tolerance:
    """What all of `errors` stay below."""
    return Tolerance(
        max((error.relative for error in errors), default=0.0),
        any(error.mixed for error in errors),
        max((error.absolute for error in errors), default=0.0),
    )


def own_tolerance(op: RelayOp) -> Tolerance:
    """What an operator's own error is, its operands being exact."""
    accuracy = op.accuracy()
    if accuracy is None or accuracy is Accuracy.EXACT:
        return _NONE
    epsilon = max((epsilon_of(type) for type in _element_types([r.type for r in op.results])), default=0.0)
    return Tolerance(accuracy.error(epsilon, op.terms()), accuracy.mixes, accuracy.absolute) if epsilon else _NONE


def _element_types(types: Sequence[Attribute]) -> list[Attribute]:
    return [cast(Tensor, type).element_type for type in leaf_types(types) if isinstance(type, TensorType)]


@cache
def epsilon_of(element: Attribute) -> float:
    """The distance from 1 to the next number of a float type; 0 of other types."""
    return float(float_info(numpy_dtype(element)).eps) if isinstance(element, AnyFloat) else 0.0


def float_info(dtype: np.dtype[np.generic]) -> Any:
    """NumPy's `finfo` of any float type, those of `ml_dtypes` among them."""
    import ml_dtypes

    return ml_dtypes.finfo(dtype)  # pyright: ignore[reportUnknownVariableType]


def is_float(array: NDArray) -> bool:
    """Whether the elements are floats, those of `ml_dtypes` among them."""
    return array.dtype.kind == "f" or array.dtype.name == "bfloat16"


def _least(array: NDArray) -> float:
    """The least number of a float type that has all its digits: below it, units in the last place are those there."""
    return float(float_info(array.dtype).tiny) if is_float(array) else 0.0


def wide(array: NDArray) -> npt.NDArray[np.longdouble]:
    """The elements as the widest floats there are, which hold integers of 64 bits exactly."""
    plain = array.dtype.kind in "biuf" and array.dtype.name != "bfloat16"
    return array.astype(np.longdouble) if plain else array.astype(np.float64).astype(np.longdouble)

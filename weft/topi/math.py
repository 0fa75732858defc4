"""Functions of each element (`tvm.topi.math`): of a tensor, or of a number in a formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import overload

from ..dialects import te
from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.dtypes import dtype_name
from ..dialects.te import functions, unary
from ..dialects.te.element_types import element_type
from ..dialects.te.forms import compute, const
from ..dialects.te.kinds import UnaryKind
from .relay_operators import computed


class ElementwiseFunction:
    """A function of each element of a tensor, by Relay's operator of that name; of a number in a formula, `te`'s."""

    def __init__(self, name: str, of_number: Callable[[te.Expr], te.Expr] | None = None):
        self.__name__ = name
        self._of_number: Callable[[te.Expr], te.Expr] | None = of_number or getattr(functions, name, None)

    @overload
    def __call__(self, x: te.Tensor) -> te.Tensor: ...

    @overload
    def __call__(self, x: te.ExprLike) -> te.Expr: ...

    def __call__(self, x: te.Tensor | te.ExprLike) -> te.Tensor | te.Expr:
        """The function of each element; as large as `x`.

        Raises:
            Diagnostic: there is none of elements of that type.
            UsageError: there is none of numbers in a formula.
        """
        if isinstance(x, te.Tensor):
            return computed(self.__name__, x)
        if self._of_number is None:
            raise UsageError(f"topi: {self.__name__} is of tensors", hint="te has the functions of numbers")
        return self._of_number(x if isinstance(x, te.Expr) else const(x))


def _negated(x: te.Expr) -> te.Expr:
    return -x


abs, acos, acosh = map(ElementwiseFunction, ("abs", "acos", "acosh"))
asin, asinh, atan, atanh = map(ElementwiseFunction, ("asin", "asinh", "atan", "atanh"))
ceil, cos, cosh, erf = map(ElementwiseFunction, ("ceil", "cos", "cosh", "erf"))
exp, fast_exp, fast_erf, fast_tanh = map(ElementwiseFunction, ("exp", "fast_exp", "fast_erf", "fast_tanh"))
floor, isfinite, isinf, isnan = map(ElementwiseFunction, ("floor", "isfinite", "isinf", "isnan"))
log, log2, log10, round = map(ElementwiseFunction, ("log", "log2", "log10", "round"))
rsqrt, sigmoid, sign, sin = map(ElementwiseFunction, ("rsqrt", "sigmoid", "sign", "sin"))
sinh, sqrt, tan, tanh, trunc = map(ElementwiseFunction, ("sinh", "sqrt", "tan", "tanh", "trunc"))
negative = ElementwiseFunction("negative", _negated)
logical_not = ElementwiseFunction("logical_not")
bitwise_not = ElementwiseFunction("bitwise_not", lambda x: unary(UnaryKind.NOT, x))


@checked
def identity(x: te.Tensor) -> te.Tensor:
    """A tensor of the same elements."""
    return compute(x.shape, lambda *i: x(*i), "T_identity", "elemwise")


@overload
def cast(x: te.Tensor, dtype: str) -> te.Tensor: ...


@overload
def cast(x: te.ExprLike, dtype: str) -> te.Expr: ...


@checked
def cast(x: te.Tensor | te.ExprLike, dtype: str) -> te.Tensor | te.Expr:
    """The elements as those of another type."""
    if isinstance(x, te.Tensor):
        return computed("cast", x, dtype_name(element_type(dtype)))
    return (x if isinstance(x, te.Expr) else const(x)).astype(dtype)


@checked
def reinterpret(x: te.Tensor, dtype: str) -> te.Tensor:
    """The bits of the elements as those of another type, which is as wide."""
    return computed("reinterpret", x, dtype)


@checked
def clip(x: te.Tensor, a_min: float, a_max: float) -> te.Tensor:
    """The elements, but none below `a_min` or above `a_max`."""
    return computed("clip", x, a_min, a_max)


@checked
def fixed_point_multiply(x: te.Tensor, multiplier: int, shift: int) -> te.Tensor:
    """The elements, int32, times `multiplier * 2^(shift - 31)`, rounded."""
    return computed("fixed_point_multiply", x, multiplier, shift)


@checked
def full(shape: Sequence[int | te.Expr], dtype: str, fill_value: te.ExprLike) -> te.Tensor:
    """A tensor whose elements are all the same."""
    value = fill_value.astype(dtype) if isinstance(fill_value, te.Expr) else const(fill_value, dtype)
    return compute(tuple(shape), lambda *_: value, "T_full", "elemwise")


@checked
def full_like(x: te.Tensor, fill_value: te.ExprLike) -> te.Tensor:
    """The same, as large as `x`."""
    return full(x.shape, x.dtype, fill_value)


@checked
def elemwise_sum(xs: Sequence[te.Tensor]) -> te.Tensor:
    """The sum of tensors of one shape."""
    return compute(xs[0].shape, lambda *i: reduce(lambda a, b: a + b, [x(*i) for x in xs]), "T_sum", "elemwise")

"""Tensor expressions: the language in which an operator's `compute` says what it means.

One definition has four readers: the lowering to `tir.block`s, the interpreter, the NumPy reference of the tests
(`te.evaluate`), and the count of operations and bytes (`te.cost`). Counterpart of TVM's `te`.
"""

from .assume import agree, at_most
from .dims import at_most as surely_at_most
from .dims import ceil_divided, dim_expr, extreme, is_number, product, same, var, variables
from .expr import (
    COMBINER,
    Binary,
    BinaryKind,
    Bitcast,
    Cast,
    Check,
    Combiner,
    Const,
    Dim,
    Expr,
    ExprLike,
    Fold,
    IterVar,
    Reduce,
    ReduceKind,
    Select,
    Slot,
    SymbolicExtentError,
    Unary,
    UnaryKind,
    Var,
    all_of,
    as_expr,
    binary,
    bitcast,
    cast,
    check,
    const,
    index,
    maximum,
    minimum,
    power,
    reduce_identity,
    select,
    unary,
)
from .procedure import Procedure, Steps, procedure
from .tensor import (
    AnyRankBody,
    Compute,
    Filled,
    Read,
    Tensor,
    TensorOp,
    as_index,
    compute,
    max,
    min,
    operands_of,
    placeholder,
    prod,
    reduce,
    reduce_axis,
    sum,
    topological_order,
)

__all__ = [
    "COMBINER", "AnyRankBody", "Binary", "BinaryKind", "Bitcast", "Cast", "Check", "Compute", "Const", "Expr",
    "ExprLike", "IterVar", "Read", "Reduce", "ReduceKind", "Select", "Tensor", "TensorOp", "Unary", "UnaryKind", "abs",
    "all_of", "as_expr", "as_index", "binary", "bitcast", "cast", "ceil", "check", "compute", "const", "cos", "erf",
    "exp", "floor", "index", "log", "max", "maximum", "min", "minimum", "operands_of", "placeholder", "power", "prod",
    "reduce", "reduce_axis", "reduce_identity", "round", "rsqrt", "select", "sigmoid", "sin", "sqrt", "sum", "tanh",
    "topological_order", "trunc", "unary", "Combiner", "Dim", "Fold", "Slot", "SymbolicExtentError", "Var", "dim_expr",
    "product", "same", "var", "variables", "Filled", "Procedure", "Steps", "procedure", "agree", "at_most",
    "ceil_divided", "extreme", "surely_at_most", "is_number",
]  # fmt: skip


def exp(x: Expr) -> Expr:
    return unary(UnaryKind.EXP, x)


def log(x: Expr) -> Expr:
    return unary(UnaryKind.LOG, x)


def sqrt(x: Expr) -> Expr:
    return unary(UnaryKind.SQRT, x)


def rsqrt(x: Expr) -> Expr:
    return unary(UnaryKind.RSQRT, x)


def erf(x: Expr) -> Expr:
    return unary(UnaryKind.ERF, x)


def tanh(x: Expr) -> Expr:
    return unary(UnaryKind.TANH, x)


def sigmoid(x: Expr) -> Expr:
    return unary(UnaryKind.SIGMOID, x)


def sin(x: Expr) -> Expr:
    return unary(UnaryKind.SIN, x)


def cos(x: Expr) -> Expr:
    return unary(UnaryKind.COS, x)


def abs(x: Expr) -> Expr:
    return unary(UnaryKind.ABS, x)


def floor(x: Expr) -> Expr:
    return unary(UnaryKind.FLOOR, x)


def ceil(x: Expr) -> Expr:
    return unary(UnaryKind.CEIL, x)


def round(x: Expr) -> Expr:
    return unary(UnaryKind.ROUND, x)


def trunc(x: Expr) -> Expr:
    return unary(UnaryKind.TRUNC, x)

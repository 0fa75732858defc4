"""Arithmetic on whole tensors: `A + B * 2.0` is a tensor whose elements are that, with NumPy's rule for shapes.

Counterpart of the operators that TVM's tensors have from `topi`.
"""

from __future__ import annotations

from ..support.diagnostics import UsageError
from .dims import same, to_text
from .expr import Dim, Expr, ExprLike, as_expr, binary, const
from .kinds import BinaryKind, index
from .tags import BROADCAST, ELEMWISE, current_tag, tagged
from .tensor import Read, Tensor, compute


def arithmetic(kind: BinaryKind, lhs: Tensor | ExprLike, rhs: Tensor | ExprLike) -> Tensor:
    """`kind` of the elements of two tensors, or of a tensor's and a number.

    Raises:
        UsageError: the shapes do not go together.
    """
    tensors = [each for each in (lhs, rhs) if isinstance(each, Tensor)]
    dims = tensors[0].dims if len(tensors) == 1 else _broadcast(*tensors)

    def body(*indices: Expr) -> Expr:
        sides = [_element(each, indices, tensors[0]) for each in (lhs, rhs)]
        return binary(kind, *sides)

    made = compute(dims, body, f"T_{kind.value}", [f"ax{number}" for number in range(len(dims))])
    return tagged(made, current_tag() or (ELEMWISE if len(tensors) == 1 else BROADCAST), None)


def _broadcast(lhs: Tensor, rhs: Tensor) -> tuple[Dim, ...]:
    rank = max(lhs.rank, rhs.rank)
    found: list[Dim] = []
    padded = ((1,) * (rank - each.rank) + each.dims for each in (lhs, rhs))
    for a, b in zip(*padded, strict=True):
        if a != 1 and b != 1 and not same(a, b):
            shapes = " and ".join(f"({', '.join(map(to_text, each.dims))})" for each in (lhs, rhs))
            raise UsageError(f"te: '{lhs.name}' and '{rhs.name}' have the shapes {shapes}, which do not go together")
        found.append(b if isinstance(a, int) and a == 1 else a)
    return tuple(found)


def _element(value: Tensor | ExprLike, indices: tuple[Expr, ...], other: Tensor) -> Expr:
    if not isinstance(value, Tensor):
        return as_expr(value, other.element_type)
    own = indices[len(indices) - value.rank :]
    places = [const(0, index) if isinstance(n, int) and n == 1 else i for i, n in zip(own, value.dims, strict=True)]
    return Read(value, tuple(places))


Tensor.arithmetic = staticmethod(arithmetic)

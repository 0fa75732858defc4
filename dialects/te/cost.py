"""What a computation costs: the operations it does and the bytes it has to move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import i1

from ..support.dtypes import byte_width
from .calls import Call
from .expr import Binary, Expr, Unary, index
from .kinds import EXACT_FUNCTIONS, BinaryKind
from .reduction import Fold, Reduce
from .tensor import Tensor, operands_of, topological_order


@dataclass(frozen=True)
class Cost:
    """`flops` counts arithmetic on elements, also on integers (a multiplication and an addition are two); functions
    such as `exp` count as one. Bytes: every input read once, every output written once, and what the tensors between
    them hold, which moves only where a stage is not inlined into the next."""

    flops: int
    input_bytes: int
    output_bytes: int
    intermediate_bytes: int

    @property
    def bytes(self) -> int:
        """The least that any schedule has to move: inputs and outputs."""
        return self.input_bytes + self.output_bytes

    @property
    def intensity(self) -> float:
        """Operations per byte moved: what decides between the two roofs of the roofline model."""
        return self.flops / self.bytes if self.bytes else 0.0


def cost(outputs: Sequence[Tensor]) -> Cost:
    """The cost of computing `outputs` from the placeholders that they are made of."""
    flops = read = between = 0
    for tensor in topological_order(outputs):
        if tensor.producer is None:
            read += size_in_bytes(tensor)
            continue
        axes = (*tensor.producer.axes, *tensor.producer.reduce_axes)
        flops += operations(tensor.producer.body) * prod(axis.extent for axis in axes)
        if tensor not in outputs:
            between += size_in_bytes(tensor)
    return Cost(flops, read, sum(size_in_bytes(t) for t in outputs), between)


def size_in_bytes(tensor: Tensor) -> int:
    """The bytes that all elements of `tensor` take."""
    return prod(tensor.shape) * byte_width(tensor.element_type)


def operations(body: Expr) -> int:
    """Arithmetic operations on elements at one point of the iteration domain; a shared subexpression counts once.

    Index arithmetic, conditions, selects and casts are not counted, comparisons of elements are.
    """
    count = 0
    for expr in _within(body):
        match expr:
            case Unary(_, operand, _) | Binary(_, operand, _, _):
                count += operand.type not in (index, i1)
            case Reduce():
                count += 1
            case _:
                pass
    return count


_COSTLY = frozenset(
    {
        BinaryKind.DIV, BinaryKind.FLOORDIV, BinaryKind.FLOORMOD, BinaryKind.TRUNCMOD,
        BinaryKind.POW, BinaryKind.ATAN2,
    }
)  # fmt: skip
"""Functions of two numbers that are no single instruction, or one that others wait for."""


def is_costly(body: Expr) -> bool:
    """Whether an expression has functions of elements that take dozens of instructions, or none but the function
    knows how many."""
    for expr in _within(body):
        match expr:
            case Unary(kind, _, _) if kind not in EXACT_FUNCTIONS:
                return True
            case Binary(kind, operand, _, _) if kind in _COSTLY and operand.type != index:
                return True
            case Call():
                return True
            case _:
                pass
    return False


def _within(body: Expr) -> Iterator[Expr]:
    """Each expression that `body` is made of, once, and itself; of a fold also what combines two elements."""
    seen: set[Expr] = set()
    stack = [body]
    while stack:
        expr = stack.pop()
        if expr in seen:
            continue
        seen.add(expr)
        yield expr
        if isinstance(expr, Fold):
            stack.extend(expr.combiner.results)
        stack.extend(operands_of(expr))

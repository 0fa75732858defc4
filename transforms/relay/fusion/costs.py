"""What it costs to have kernels together or apart, in cycles: what the rules weigh that go beyond TVM's groups."""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation, SSAValue

from ....dialects import te
from ....dialects.relay.base import DYNAMIC, Pointwise, RelayOp, shape_of, tensor
from ....dialects.relay.ops.nn.activation import FastSoftmaxOp, LogSoftmaxOp, SoftmaxOp
from ....dialects.support.dtypes import byte_width
from ....dialects.support.machine_model import MachineModel
from ....dialects.te.cost import is_costly
from ....dialects.tir.symbols import LIKELY_SIZE

MARGIN = 0.125
"""The part of what a computation costs by which it has to be cheaper than another: what costs are estimated to."""

CALL = 100.0
"""Cycles for which a kernel runs that does nothing, on one thread."""

FUNCTION = 16.0
"""Cycles of a costly function, such as `exp` or `tanh`, on a vector."""

STEP = 1.0
"""Cycles of any other operator, on a vector or on a number."""

START = 72.0
"""Cycles of each row in which vectors wait for one another, where costly functions are computed for one row after the
other, and something else of that row before or after. In a loop through all elements vectors do not wait, and rows of
little work begin before the last ones end. The rest of a row that fills no vector costs as much once more. (Functions
before a softmax or a maximum of 64 to 256 f32, on a Zen of 512 bits: 40 to 80; a layer norm and a softmax: 60.)"""


def is_expensive(op: Operation) -> bool:
    """Whether an operator computes costly functions, one for each element of its result."""
    if isinstance(op, SoftmaxOp | FastSoftmaxOp | LogSoftmaxOp):
        return True
    return isinstance(op, RelayOp) and op.has_trait(Pointwise) and any(map(is_costly, formulas(op)))


def formulas(op: RelayOp) -> list[te.Expr]:
    """What an element of a pointwise operator's result is made of: the same at any shape, so of tensors of one."""
    types = [tensor(value) for value in op.operands]
    computed = op.compute(*(te.placeholder((1,) * len(type.get_shape()), type.element_type) for type in types))
    tensors = te.topological_order([computed] if isinstance(computed, te.Tensor) else computed)
    return [each.producer.body for each in tensors if each.producer is not None]


def beginning(value: SSAValue, depth: int, lanes: int) -> float:
    """Cycles in which the rows of a tensor are waited for, which stand at `depth` leading indices. Where a row is a
    number there is nothing to wait for."""
    shape = shape_of(value)
    row = elements(shape[depth:])
    return elements(shape[:depth]) * START * (1 + (row % lanes > 0)) if row > 1 else 0.0


def moved(machine: MachineModel, value: SSAValue) -> float:
    """Cycles in which a tensor is read, or written."""
    return byte_count(value) / machine.rate(byte_count(value))


def elements(extents: tuple[int, ...]) -> int:
    """How many elements a tensor of such extents has; an open extent is of the likely size."""
    return prod(LIKELY_SIZE if extent == DYNAMIC else extent for extent in extents)


def byte_count(value: SSAValue) -> int:
    """How many bytes a tensor has, with open extents of the likely size."""
    return elements(shape_of(value)) * byte_width(tensor(value).element_type)

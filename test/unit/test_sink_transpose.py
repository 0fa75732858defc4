"""Random graphs of transposes and of what is between: when these have sunk, results are the same, and no more is
transposed."""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np
import pytest
from random_networks import Network, arrays_of, binary, clipped, convolution, joined, normalised, reduced, sliced, unary
from xdsl.dialects.builtin import ModuleOp

from weft import relay
from weft.dialects.relay.base import shape_of
from weft.dialects.relay.core import ConstantOp, FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.relay.ops.transform import TransposeOp
from weft.frontend.relay.expr import Expr
from weft.testing.agreement import Expectation, Undetermined
from weft.transforms.infra import get_pass

AXES = {2: ((1, 0),), 3: ((0, 2, 1), (2, 0, 1), (1, 2, 0)), 4: ((0, 2, 3, 1), (0, 3, 1, 2), (0, 2, 3, 1), (0, 2, 1, 3))}


def transposed(n: Network) -> Expr:
    x = n.of_rank(2, 3, 4)
    return relay.transpose(x, axes=n.one_of(AXES[len(x.shape)]))


def softmax(n: Network) -> Expr:
    x = n.of_rank(3, 4)
    return relay.nn.softmax(x, axis=n.random.randrange(-1, len(x.shape)))


def padded(n: Network) -> Expr:
    x = n.of_rank(3, 4)
    return relay.nn.pad(x, pad_width=[[n.random.randrange(2), n.random.randrange(2)] for _ in x.shape])


GROWTHS = (transposed,) * 8 + (unary, clipped, binary, binary, binary, sliced, joined, reduced, convolution,
                               normalised, softmax, padded)  # fmt: skip


def network(random: Random) -> ModuleOp:
    made = Network(random)
    made.of_rank(made.one_of([3, 4, 4]))
    for _ in range(random.randint(4, 14)):
        made.grow(GROWTHS)
    return relay.IRModule.from_expr(made.function())


def moved(module: ModuleOp) -> int:
    """The elements that are transposed."""
    module = get_pass("dead-code-elimination")(get_pass("fold-constant")(module))
    ops = [op for op in module.walk() if isinstance(op, TransposeOp) and not isinstance(op.data.owner, ConstantOp)]
    return sum(prod(shape_of(op.data)) for op in ops if _moves(op))


def _moves(op: TransposeOp) -> bool:
    shape = shape_of(op.data)
    axes = [axis for axis in op.permutation(len(shape)) if shape[axis] != 1]
    return axes != sorted(axes)


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp))


@pytest.mark.parametrize("first", range(0, 16, 8))
def test_results_stay_and_no_more_is_transposed(first: int):
    sunk = 0
    for case in range(first, first + 8):
        module = network(Random(case))
        given = arrays_of(main_of(module), case)
        with np.errstate(all="ignore"):
            try:
                expected = Expectation(module, given)
            except Undetermined:
                continue
            after = get_pass("sink-transpose")(module)
            after.verify()
            difference = expected.difference(evaluate_function(main_of(after), given))
        assert difference is None, f"{case}: {difference}\n{module}\nis now\n{after}"
        assert moved(after) <= moved(module), f"{case}:\n{module}\nis now\n{after}"
        sunk += str(after) != str(module)
    assert sunk

"""Steps of optimisers, of the domain `ai.onnx.preview.training`: arithmetic on parameters, gradients and state.

An operator takes the rate, the number of the step, and then lists, each with as many tensors as there are parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from ...dialects.relay.base import tensor
from .errors import Malformed
from .node import Node, Versions


def _lists(node: Node, count: int) -> list[list[SSAValue]]:
    """The inputs after the first two, as `count` lists.

    Raises:
        Malformed: they are no lists of one length.
    """
    given = node.present()[2:]
    if not given or len(given) % count:
        raise Malformed(f"{len(given)} tensors are not {count} lists of one length")
    size = len(given) // count
    return [given[k * size : (k + 1) * size] for k in range(count)]


class _Arithmetic:
    """Formulas on the values of a node."""

    def __init__(self, node: Node):
        self.node = node

    def number(self, value: SSAValue | float, like: SSAValue) -> SSAValue:
        if isinstance(value, SSAValue):
            return self.node.cast(value, tensor(like).element_type)
        return self.node.scalar(value, like)

    def __call__(self, operator: str, x: SSAValue, y: SSAValue | float) -> SSAValue:
        return self.node.emit(operator, x, self.number(y, x))

    def regularized(self, gradient: SSAValue, x: SSAValue) -> SSAValue:
        """The gradient of the loss and of half the squared norm, as much as that counts."""
        share = self.node.real("norm_coefficient", 0.0)
        return self("add", gradient, self("multiply", x, share)) if share else gradient

    def started(self, then: SSAValue, otherwise: SSAValue | float) -> SSAValue:
        """`then` after the first step, else `otherwise`."""
        step = self.node.input(1)
        return self.node.emit("where", self("greater", step, 0), then, self.number(otherwise, then))


Step = Callable[[_Arithmetic, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]


def _optimizer(count: int, step: Step) -> Callable[[Node], list[SSAValue | None]]:
    """The converter of an optimiser that makes new parameters and state of `count` lists: `step` does it to one of
    each, given the rate."""

    def convert(node: Node) -> list[SSAValue | None]:
        rows = zip(*_lists(node, count), strict=True)
        results = [step(_Arithmetic(node), node.input(0), row) for row in rows]
        return [result for of_one_kind in zip(*results, strict=True) for result in of_one_kind]

    return convert


def _adagrad(do: _Arithmetic, rate: SSAValue, given: Sequence[SSAValue]) -> list[SSAValue]:
    x, gradient, squares = given
    decay = do("multiply", do.number(do.node.input(1), rate), do.node.real("decay_factor", 0.0))
    rate = do("divide", rate, do("add", decay, 1.0))
    gradient = do.regularized(gradient, x)
    squares = do("add", squares, do("multiply", gradient, gradient))
    size = do("add", do.node.emit("sqrt", squares), do.node.real("epsilon", 0.0))
    return [do("subtract", x, do("divide", do("multiply", gradient, rate), size)), squares]


def _adam(do: _Arithmetic, rate: SSAValue, given: Sequence[SSAValue]) -> list[SSAValue]:
    x, gradient, means, squares = given
    alpha, beta = do.node.real("alpha", 0.9), do.node.real("beta", 0.999)
    gradient = do.regularized(gradient, x)
    means = do("add", do("multiply", means, alpha), do("multiply", gradient, 1 - alpha))
    squares = do("add", do("multiply", squares, beta), do("multiply", do("multiply", gradient, gradient), 1 - beta))
    size = do("add", do.node.emit("sqrt", squares), do.node.real("epsilon", 0.0))
    count = do.number(do.node.input(1), rate)
    bias, bias_of_squares = (
        do("subtract", do.number(1.0, rate), do("power", do.number(factor, rate), count)) for factor in (alpha, beta)
    )
    corrected = do("divide", do("multiply", rate, do.node.emit("sqrt", bias_of_squares)), bias)
    rate = do.started(corrected, rate)
    x = do("subtract", x, do("divide", do("multiply", means, rate), size))
    return [do("multiply", x, 1 - do.node.real("norm_coefficient_post", 0.0)), means, squares]


def _momentum(do: _Arithmetic, rate: SSAValue, given: Sequence[SSAValue]) -> list[SSAValue]:
    x, gradient, moving = given
    alpha, nesterov = do.node.real("alpha"), do.node.choice("mode", {"standard": False, "nesterov": True})
    gradient = do.regularized(gradient, x)
    beta = do.started(do.number(do.node.real("beta"), gradient), 1.0)
    moving = do("add", do("multiply", moving, alpha), do("multiply", gradient, beta))
    way = do("add", gradient, do("multiply", moving, alpha)) if nesterov else moving
    return [do("subtract", x, do("multiply", way, rate)), moving]


DOMAIN = "ai.onnx.preview.training"

CONVERTERS: dict[str, Versions] = {
    f"{DOMAIN}.Adagrad": {1: _optimizer(3, _adagrad)},
    f"{DOMAIN}.Adam": {1: _optimizer(4, _adam)},
    f"{DOMAIN}.Momentum": {1: _optimizer(3, _momentum)},
}

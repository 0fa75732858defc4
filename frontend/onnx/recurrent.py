"""RNN, GRU and LSTM: their steps, written one after the other.

What a step computes of the input alone is one matrix product for all steps, before the first of them; each step adds
what follows from the state. A row of the batch whose sequence has ended keeps its state, and gives zeros.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.support.dtypes import dtype_name, numpy_dtype
from .elementwise import elu_like, hard_sigmoid_like, softplus_of, softsign_of
from .errors import Malformed
from .node import Node, Versions
from .scanning import Rows, scan

if TYPE_CHECKING:
    import numpy as np

UNROLLED_STEPS = 8
"""So many steps are written one after the other where they could be turns of a loop: of more, the loop takes 0.85 to
1.1 of their time, of fewer up to 1.16 (bench/README.md)."""

Activation: TypeAlias = Callable[[SSAValue], SSAValue]


@dataclass(frozen=True)
class _Function:
    """An activation function as an attribute names it: what writes it, and the values of alpha and beta that it takes,
    with those of the ONNX operator of the same name where none are given."""

    write: Callable[[Node, SSAValue, float, float], SSAValue]
    alpha: float | None = None
    beta: float | None = None


GIVEN = float("nan")
"""The value of what must be given, since no operator says what it usually is."""


def _line(node: Node, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return node.emit("add", node.emit("multiply", node.scalar(alpha, x), x), node.scalar(beta, x))


def _thresholded(node: Node, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return node.emit("where", node.emit("greater_equal", x, node.scalar(alpha, x)), x, node.scalar(0.0, x))


def _scaled_tanh(node: Node, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    bent = node.emit("tanh", node.emit("multiply", node.scalar(beta, x), x))
    return node.emit("multiply", node.scalar(alpha, x), bent)


FUNCTIONS = {
    "relu": _Function(lambda node, x, alpha, beta: node.emit("nn.relu", x)),
    "tanh": _Function(lambda node, x, alpha, beta: node.emit("tanh", x)),
    "sigmoid": _Function(lambda node, x, alpha, beta: node.emit("sigmoid", x)),
    "affine": _Function(_line, GIVEN, GIVEN),
    "leakyrelu": _Function(lambda node, x, alpha, beta: node.emit("nn.leaky_relu", x, alpha=alpha), 0.01),
    "thresholdedrelu": _Function(_thresholded, 1.0),
    "scaledtanh": _Function(_scaled_tanh, GIVEN, GIVEN),
    "hardsigmoid": _Function(hard_sigmoid_like, 0.2, 0.5),
    "elu": _Function(lambda node, x, alpha, beta: elu_like(node, x, alpha), 1.0),
    "softsign": _Function(lambda node, x, alpha, beta: softsign_of(node, x)),
    "softplus": _Function(lambda node, x, alpha, beta: softplus_of(node, x)),
}
"""By name in lower case, since case does not matter."""


class _Recurrent(ABC):
    """One node. `GATES` is how often the width of the state its weights have."""

    GATES: int
    ACTIVATIONS: tuple[str, ...]
    """Those of one direction where the node names none."""
    STATES = 1

    def __init__(self, node: Node):
        self.node = node
        self._parameters: dict[tuple[int, int], SSAValue] = {}
        self._parts: dict[tuple[SSAValue, int, int, int], SSAValue] = {}
        self.batch_first = bool(node.integer("layout", 0))
        x = node.input(0, rank=3)
        self.x = node.emit("transpose", x, axes=[1, 0, 2]) if self.batch_first else x
        self.steps, self.batch, features = shape_of(self.x)
        if features == DYNAMIC:
            node.static_shape(self.x)
        self.is_open = DYNAMIC in (self.steps, self.batch)
        names = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
        self.directions = node.choice("direction", names, "forward")
        self.width = shape_of(node.input(2, rank=3))[-1]
        if node.integer("hidden_size", self.width) != self.width:
            raise Malformed(f"hidden_size is {node.integer('hidden_size')}, but the weights are for {self.width}")
        lengths = node.optional(4)
        known = None if lengths is None else node.emitter.evaluate(lengths)
        whole = known is not None and bool((known == self.steps).all())
        self.lengths = None if lengths is None or whole else node.emit("expand_dims", lengths, axis=1)

    @abstractmethod
    def step(
        self, number: int, projected: SSAValue, states: Sequence[SSAValue], functions: Sequence[Activation]
    ) -> list[SSAValue]:
        """The states of direction `number` after a step, of which the first is the step's output.

        `projected` is what the input and the biases that may be added at once give for all gates, `[batch, GATES *
        width]`.
        """

    def input_bias(self, number: int) -> SSAValue | None:
        """The bias that does not depend on the state, `[GATES * width]`: the sum of both halves."""
        if (both := self.parameter(3, number)) is None:
            return None
        half = self.GATES * self.width
        return self.node.emit("add", self.part(both, 0, half), self.part(both, half, 2 * half))

    def parameter(self, index: int, number: int) -> SSAValue | None:
        """What the input at `index` has for one direction."""
        value = self.node.optional(index)
        if value is None or (index, number) in self._parameters:
            return self._parameters.get((index, number))
        if (count := shape_of(value)[0]) != len(self.directions):
            raise Malformed(f"input {index} is for {count} directions, but there are {len(self.directions)}")
        one = self.node.reshape(self.part(value, number, number + 1), shape_of(value)[1:])
        self._parameters[index, number] = one
        return one

    def weight(self, index: int, number: int) -> SSAValue:
        """`parameter` of an input that must be there."""
        self.node.input(index)
        value = self.parameter(index, number)
        assert value is not None
        return value

    def part(self, value: SSAValue, begin: int, end: int, axis: int = 0) -> SSAValue:
        """Elements of one axis. Steps ask for the same ones again, and get what the first of them got."""
        if begin == 0 and end == shape_of(value)[axis]:
            return value
        key = (value, begin, end, axis)
        if key not in self._parts:
            self._parts[key] = self.node.emit("strided_slice", value, begin=[begin], end=[end], axes=[axis])
        return self._parts[key]

    def gates(self, value: SSAValue, count: int | None = None) -> Iterator[SSAValue]:
        """The parts of `[..., count * width]` for one gate after the other."""
        axis = len(shape_of(value)) - 1
        for gate in range(count or self.GATES):
            yield self.part(value, gate * self.width, (gate + 1) * self.width, axis)

    def clipped(self, x: SSAValue) -> SSAValue:
        """What a gate's activation function gets for `x`."""
        limit = self.node.real("clip", 0.0)
        return self.node.emit("clip", x, a_min=-limit, a_max=limit) if limit else x

    def multiply(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.node.emit("multiply", a, b)

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.node.emit("add", a, b)

    def from_one(self, x: SSAValue) -> SSAValue:
        return self.node.emit("subtract", self.node.scalar(1.0, x), x)

    def functions(self) -> list[list[Activation]]:
        """The activation functions of each direction."""
        count, node = len(self.ACTIVATIONS) * len(self.directions), self.node
        texts = list(self.ACTIVATIONS) * len(self.directions)
        if "activations" in node.attributes:
            texts = [name.decode(errors="replace") for name in node.attributes["activations"].strings]
        if len(texts) != count:
            raise Malformed(f"{len(texts)} activations are named, but there are {count}")
        given = {name: _reals(node, f"activation_{name}") for name in ("alpha", "beta")}
        found: list[Activation] = []
        for text in texts:
            if (function := FUNCTIONS.get(text.lower())) is None:
                raise Malformed(f"'{text}' is no activation function; they are {', '.join(FUNCTIONS)}")
            found.append(self._function(text, function, given))
        per = len(self.ACTIVATIONS)
        return [found[start : start + per] for start in range(0, count, per)]

    def _function(self, text: str, function: _Function, given: dict[str, Iterator[float]]) -> Activation:
        numbers: list[float] = []
        for name, usual in (("alpha", function.alpha), ("beta", function.beta)):
            numbers.append(0.0 if usual is None else next(given[name], usual))
            if isnan(numbers[-1]):
                raise Malformed(f"activation_{name} has no value for {text}, which has no usual one")
        return lambda x: function.write(self.node, x, *numbers)

    def initial(self, number: int) -> list[SSAValue]:
        """The states of one direction before its first step."""

        dtype = numpy_dtype(tensor(self.x).element_type)
        states: list[SSAValue] = []
        for index in range(5, 5 + self.STATES):
            value = self.node.optional(index)
            if value is None:
                states.append(self._zeros(dtype))
                continue
            axis = 1 if self.batch_first else 0
            if (count := shape_of(value)[axis]) != len(self.directions):
                raise Malformed(f"input {index} is for {count} directions, but there are {len(self.directions)}")
            one = self.part(value, number, number + 1, axis)
            state = self.node.emit("squeeze", one, axis=[axis])
            if self.lengths is not None:  # a sequence without steps gives zeros, as ONNX Runtime has it
                some = self.node.emit("greater", self.lengths, self.node.scalar(0, self.lengths))
                state = self.node.emit("where", some, state, self.node.scalar(0.0, state))
            states.append(state)
        return states

    def _zeros(self, dtype: np.dtype[np.generic]) -> SSAValue:
        """A state of zeros, `[batch, width]`."""
        import numpy as np

        if self.batch != DYNAMIC:
            return self.node.constant(np.zeros((self.batch, self.width), dtype))
        shape = self.node.shape_value([self.node.dims(self.x)[1], self.width])
        zero = self.node.constant(np.zeros((), dtype))
        return self.node.emit("dyn.full", zero, shape, dtype=dtype_name(tensor(self.x).element_type))

    def project(self, number: int) -> list[SSAValue]:
        """What each step's input gives for all gates."""
        node = self.node
        is_open = self.batch == DYNAMIC
        rows = self.x if is_open else node.reshape(self.x, [self.steps * self.batch, shape_of(self.x)[2]])
        product = self._products(number, rows)
        if is_open:
            rows_of = [self.part(product, step, step + 1) for step in range(self.steps)]
            return [node.emit("squeeze", row, axis=[0]) for row in rows_of]
        return [self.part(product, step * self.batch, (step + 1) * self.batch) for step in range(self.steps)]

    def _products(self, number: int, rows: SSAValue) -> SSAValue:
        """What rows of the input give for all gates."""
        product = self.dense(rows, 1, number)
        bias = self.input_bias(number)
        return product if bias is None else self.add(product, bias)

    def dense(self, x: SSAValue, index: int, number: int) -> SSAValue:
        """The product of the input of all steps, or of a state, with the weights at `index` of one direction."""
        return self.node.emit("nn.dense", x, self.weight(index, number))

    def run(self, number: int, functions: Sequence[Activation]) -> tuple[list[SSAValue], list[SSAValue]]:
        """The outputs of one direction, in the order of the sequence, and its states after the last step."""
        node, states, projected = self.node, self.initial(number), self.project(number)
        outputs: list[SSAValue] = [states[0]] * self.steps
        for step in reversed(range(self.steps)) if self.directions[number] else range(self.steps):
            new = self.step(number, projected[step], states, functions)
            outputs[step] = new[0]
            if self.lengths is not None:
                goes_on = node.emit("greater", self.lengths, node.scalar(step, self.lengths))
                outputs[step] = node.emit("where", goes_on, new[0], node.scalar(0.0, new[0]))
                new = [node.emit("where", goes_on, to, old) for to, old in zip(new, states, strict=True)]
            states = new
        return outputs, states

    def convert(self) -> Sequence[SSAValue | None]:
        node = self.node
        if not 0 < self.steps <= UNROLLED_STEPS:
            return self._convert_scanned()
        runs = [self.run(number, functions) for number, functions in enumerate(self.functions())]
        everything: SSAValue | None = None
        if node.output_used(0):
            everything = self.joined([self.sequence(outputs) for outputs, _ in runs], 1)
        return self._outputs(everything, [states for _, states in runs])

    def run_scanned(self, number: int, functions: Sequence[Activation]) -> tuple[SSAValue, Sequence[SSAValue]]:
        """The outputs of one direction, `[steps, batch, width]`, and its states after the last step: the steps are the
        turns of one function."""
        import numpy as np

        node, states = self.node, self.initial(number)
        if self.is_open:
            scanned = [self._products(number, self.x)]
        else:
            rows = node.reshape(self.x, [self.steps * self.batch, shape_of(self.x)[2]])
            product = self._products(number, rows)
            scanned = [node.reshape(product, [self.steps, self.batch, shape_of(product)[1]])]
        if self.lengths is not None:
            places = node.emit(
                "arange",
                node.constant(np.array(0, np.int64)),
                node.extent(node.dims(self.x)[0]),
                node.constant(np.array(1, np.int64)),
                dtype=dtype_name(tensor(self.lengths).element_type),
            )
            scanned.append(places)

        def body(rows: Rows, held: Rows) -> tuple[Rows, Rows]:
            self._parameters, self._parts = {}, {}  # what a function sees has to be in it
            new = self.step(number, rows[0], held, functions)
            output = new[0]
            if self.lengths is not None:
                goes_on = node.emit("greater", self.lengths, rows[1])
                output = node.emit("where", goes_on, output, node.scalar(0.0, output))
                new = [node.emit("where", goes_on, to, old) for to, old in zip(new, held, strict=True)]
            return new, [output]

        back = self.directions[number]
        found = scan(node, node.emitter.add_function, scanned, [back] * len(scanned), states, body, [back])
        assert found is not None, "all steps are alike"
        self._parameters, self._parts = {}, {}
        return found[1][0], found[0]

    def _convert_scanned(self) -> Sequence[SSAValue | None]:
        runs = [self.run_scanned(number, functions) for number, functions in enumerate(self.functions())]
        if self.is_open:
            rows = [self.node.emit("expand_dims", outputs, axis=1) for outputs, _ in runs]
            return self._outputs(self.joined(rows, 1), [states for _, states in runs])
        rows = [self.node.reshape(outputs, [self.steps, self.batch * self.width]) for outputs, _ in runs]
        shape = [self.steps, len(runs), self.batch, self.width]
        everything = self.node.reshape(self.joined(rows, 1), shape)
        return self._outputs(everything, [states for _, states in runs])

    def _outputs(self, everything: SSAValue | None, states: Sequence[Sequence[SSAValue]]) -> Sequence[SSAValue | None]:
        """The node's outputs: all steps `[steps, directions, batch, width]`, and the states of each direction."""
        if everything is not None and self.batch_first:
            everything = self.node.emit("transpose", everything, axes=[2, 0, 1, 3])
        last: list[SSAValue | None] = []
        for state in range(self.STATES):
            used = self.node.output_used(1 + state)
            last.append(self.stack([each[state] for each in states], int(self.batch_first)) if used else None)
        return [everything, *last]

    def sequence(self, outputs: Sequence[SSAValue]) -> SSAValue:
        """The outputs of one direction, `[batch, width]` each, as `[steps, 1, batch, width]`.

        Put together along the batch, so that each step writes its output to where it stands in the whole."""
        if self.batch == DYNAMIC:
            return self.node.emit("expand_dims", self.stack(outputs, 0), axis=1)
        return self.node.reshape(self.joined(outputs, 0), [self.steps, 1, self.batch, self.width])

    def joined(self, values: Sequence[SSAValue], axis: int) -> SSAValue:
        if len(values) == 1:
            return values[0]
        return self.node.emit("concatenate", self.node.emitter.tuple(values), axis=axis)

    def stack(self, values: Sequence[SSAValue], axis: int) -> SSAValue:
        return self.node.emit("stack", self.node.emitter.tuple(values), axis=axis)


def _reals(node: Node, name: str) -> Iterator[float]:
    return iter(list(node.attributes[name].floats) if name in node.attributes else [])


class _RNN(_Recurrent):
    """`h' = f(x W^T + h R^T + b)`"""

    GATES = 1
    ACTIVATIONS = ("Tanh",)

    def step(
        self, number: int, projected: SSAValue, states: Sequence[SSAValue], functions: Sequence[Activation]
    ) -> list[SSAValue]:
        again = self.node.emit("nn.dense", states[0], self.weight(2, number))
        return [functions[0](self.clipped(self.add(projected, again)))]


class _GRU(_Recurrent):
    """`z` says how much of the state stays, `r` how much of it the candidate sees:

    `h' = (1 - z) g(...) + z h`
    """

    GATES = 3
    ACTIVATIONS = ("Sigmoid", "Tanh")

    def __init__(self, node: Node):
        super().__init__(node)
        self.reset_after = bool(node.integer("linear_before_reset", 0))

    def input_bias(self, number: int) -> SSAValue | None:
        """Where the reset gate works on a product, the bias of that product is under it, and not added here."""
        both = self.parameter(3, number)
        if both is None or not self.reset_after:
            return super().input_bias(number)
        z, r, h, again_z, again_r, _ = self.gates(both, 6)
        parts = [self.add(z, again_z), self.add(r, again_r), h]
        return self.node.emit("concatenate", self.node.emitter.tuple(parts), axis=0)

    def step(
        self, number: int, projected: SSAValue, states: Sequence[SSAValue], functions: Sequence[Activation]
    ) -> list[SSAValue]:
        node, (state,), (f, g) = self.node, states, functions
        weight = self.weight(2, number)
        to_z, to_r, to_h = self.gates(projected)
        count = 3 if self.reset_after else 2
        again = node.emit("nn.dense", state, self.part(weight, 0, count * self.width))
        again_z, again_r, *rest = self.gates(again, count)
        z, r = (f(self.clipped(self.add(*pair))) for pair in ((to_z, again_z), (to_r, again_r)))
        if self.reset_after:
            product = rest[0]
            if (bias := self.parameter(3, number)) is not None:
                product = self.add(product, self.part(bias, 5 * self.width, 6 * self.width))
            seen = self.multiply(r, product)
        else:
            seen = node.emit("nn.dense", self.multiply(r, state), self.part(weight, 2 * self.width, 3 * self.width))
        candidate = g(self.clipped(self.add(to_h, seen)))
        return [self.add(self.multiply(self.from_one(z), candidate), self.multiply(z, state))]


class LSTM(_Recurrent):
    """The state shows what the gate `o` lets pass of the cell: `c' = f c + i g(...)`, `h' = o h(c')`. The cell is not
    clipped, as ONNX Runtime has it."""

    GATES = 4
    ACTIVATIONS = ("Sigmoid", "Tanh", "Tanh")
    STATES = 2

    def step(
        self, number: int, projected: SSAValue, states: Sequence[SSAValue], functions: Sequence[Activation]
    ) -> list[SSAValue]:
        (state, cell), (f, g, h) = states, functions
        again = self.dense(state, 2, number)
        to_i, to_o, to_f, to_c = self.gates(self.add(projected, again))
        peepholes = self.parameter(7, number)
        peep_i, peep_o, peep_f = [None] * 3 if peepholes is None else self.gates(peepholes, 3)
        i = f(self._peep(to_i, peep_i, cell))
        forget = self.from_one(i) if self.node.integer("input_forget", 0) else f(self._peep(to_f, peep_f, cell))
        new = self.add(self.multiply(forget, cell), self.multiply(i, g(self.clipped(to_c))))
        o = f(self._peep(to_o, peep_o, new))
        return [self.multiply(o, h(new)), new]

    def _peep(self, x: SSAValue, weight: SSAValue | None, cell: SSAValue) -> SSAValue:
        return self.clipped(x if weight is None else self.add(x, self.multiply(weight, cell)))


CONVERTERS: dict[str, Versions] = {
    "RNN": {7: lambda node: _RNN(node).convert()},
    "GRU": {7: lambda node: _GRU(node).convert()},
    "LSTM": {7: lambda node: LSTM(node).convert()},
}

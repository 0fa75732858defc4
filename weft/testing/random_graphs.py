"""Random graphs of Relay operators, made from the operators' declarations: what fuzzing feeds the compiler with.

`random_graph` builds a function operator by operator. An operator's operands are values of the graph or new arguments;
its properties are its defaults, those of its docstring's example, or random ones of the same kind. What the operator's
type relation refuses is left out, so a new operator is fuzzed as soon as it is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    i1,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import OperandDef, OptionalDef
from xdsl.utils.exceptions import VerifyException

from ..dialects.relay.base import DYNAMIC, RelayOp, Stateful, Tensor, Value, is_static, tensor
from ..dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleOp
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.dtypes import numpy_dtype, scalar_type
from .examples import OperatorExample

NDArray: TypeAlias = npt.NDArray[np.generic]
T = TypeVar("T")

DTYPES = (
    "float32", "float32", "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
EXTENTS = (0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 17)
MAX_ELEMENTS = 20_000
"""Of a value; graphs are to be small, so that many can be tried."""


class Choices:
    """Where random choices come from: one function that draws an integer between two bounds, both included."""

    def __init__(self, integer: Callable[[int, int], int]):
        self.integer = integer

    def one_of(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self.integer(0, 99) < percent


@dataclass
class RandomGraph:
    """A module with a function `@main` of tensors, and arrays for its arguments."""

    module: ModuleOp
    inputs: list[NDArray]
    operators: list[str]
    """The operators in it, by name."""


@dataclass
class _Builder:
    choices: Choices
    examples: Sequence[OperatorExample]
    block: Block = field(default_factory=Block)
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    names: list[str] = field(default_factory=list[str])

    def argument(self, type: Attribute) -> SSAValue:
        """A new argument of the function."""
        value = self.block.insert_arg(type, len(self.block.args))
        self.values.append(value)
        return value

    def random_type(self) -> Tensor:
        rank = self.choices.integer(0, 4)
        while True:
            shape = [self.choices.one_of(EXTENTS) for _ in range(rank)]
            if np.prod(shape, dtype=np.int64) <= MAX_ELEMENTS:
                return TensorType(scalar_type(self.choices.one_of(DTYPES)), shape)

    def grow(self) -> None:
        """Try to append one operator."""
        chosen = self.choices.one_of(self.examples)
        op_type, example = chosen.op_type, chosen.op
        operands = self.operands_like(example) if self.choices.chance(50) else self.random_operands(example)
        try:
            op = op_type(*operands, **self.properties(op_type, example))
            op.verify()
        except (VerifyException, Diagnostic, TypeError):
            return
        if not all(map(self.is_wanted, op.results)):
            op.erase()
            return
        for operand in operands:
            for value in operand if isinstance(operand, tuple) else (operand,):
                self.place(value)
        self.block.add_op(op)
        self.names.append(op.name)
        self.values.extend(result for result in op.results if isinstance(result.type, TensorType))

    def place(self, value: SSAValue) -> None:
        """Put what makes an operand, and has no place yet, at the end of the graph: constants, and tuples of them."""
        if isinstance(value.owner, ConstantOp | TupleOp) and value.owner.parent is None:
            for inner in value.owner.operands:
                self.place(inner)
            self.block.add_op(value.owner)

    @staticmethod
    def is_wanted(result: SSAValue) -> bool:
        types = result.type.types.data if isinstance(result.type, TupleType) else (result.type,)
        return all(is_static(type) and np.prod(tensor(type).get_shape()) <= MAX_ELEMENTS for type in types)

    def operands_like(self, example: RelayOp) -> list[SSAValue | tuple[SSAValue, ...]]:
        """Operands of the example's types, or of other element types; values of the graph where they fit."""
        retyped: dict[Attribute, Attribute] = {}
        if self.choices.chance(40):
            retyped = {f: scalar_type(self.choices.one_of(DTYPES)) for f in _elements(example)}
        return [self.operand_like(operand, retyped) for operand in _segments(example)]

    def operand_like(
        self, given: SSAValue | tuple[SSAValue, ...], retyped: dict[Attribute, Attribute]
    ) -> SSAValue | tuple[SSAValue, ...]:
        if isinstance(given, tuple):
            return tuple(v for g in given if isinstance(v := self.operand_like(g, retyped), SSAValue))
        if isinstance(given.owner, ConstantOp):
            return given.owner.clone().result
        if isinstance(given.owner, TupleOp):
            fields = [v for f in given.owner.fields if isinstance(v := self.operand_like(f, retyped), SSAValue)]
            return TupleOp(*fields).result
        type = tensor(given)
        shape = [self.choices.one_of(EXTENTS) if n == DYNAMIC else n for n in type.get_shape()]
        return self.value_of(TensorType(retyped.get(type.element_type, type.element_type), shape))

    def value_of(self, type: Attribute) -> SSAValue:
        """A value of the graph of this type, or a new argument."""
        fitting = [value for value in self.values if value.type == type]
        return self.choices.one_of(fitting) if fitting and self.choices.chance(80) else self.argument(type)

    def random_operands(self, example: RelayOp) -> list[SSAValue | tuple[SSAValue, ...]]:
        """The first operand is any value; others are like it, broadcast with it, or like the example's."""
        segments = _segments(example)
        if not segments or isinstance(segments[0], tuple) or isinstance(segments[0].type, TupleType):
            return self.operands_like(example)
        first = self.choices.one_of(self.values) if self.values and self.choices.chance(85) else None
        first = self.argument(self.random_type()) if first is None else first
        operands: list[SSAValue | tuple[SSAValue, ...]] = [first]
        for given in segments[1:]:
            if isinstance(given, tuple) or not isinstance(given.type, TensorType) or self.choices.chance(20):
                operands.append(self.operand_like(given, {}))
                continue
            same = tensor(given).element_type == tensor(segments[0]).element_type
            element = tensor(first).element_type if same else tensor(given).element_type
            operands.append(self.value_of(TensorType(element, self.broadcast(tensor(first).get_shape()))))
        return operands

    def broadcast(self, shape: Sequence[int]) -> list[int]:
        """A shape that may broadcast with `shape`: some dimensions become 1, leading ones may go."""
        drop = self.choices.integer(0, len(shape)) if self.choices.chance(30) else 0
        return [1 if self.choices.chance(20) else n for n in shape[drop:]]

    def properties(self, op_type: type[RelayOp], example: RelayOp) -> dict[str, Value]:
        """The example's properties, some of them changed or left out."""
        found: dict[str, Value] = {}
        for name, definition in op_type.get_irdl_definition().properties.items():
            value = example.properties.get(name)
            may_go = isinstance(definition, OptionalDef) or definition.default_value is not None
            if value is None or (may_go and self.choices.chance(15)):
                continue
            found[name] = self.changed(value) if self.choices.chance(35) else value
        return found

    def changed(self, value: Attribute) -> Value:
        match value:
            case IntegerAttr(type=IntegerType()) if value.type == i1:
                return not value.value.data
            case IntegerAttr():
                return self.choices.integer(-3, 6)
            case FloatAttr():
                return self.choices.one_of([0.0, 0.5, -1.0, 1.0, 2.0, 6.0])
            case StringAttr() if value.data in DTYPES:
                return self.choices.one_of(DTYPES)
            case DenseArrayBase() if isinstance(value.elt_type, IntegerType):
                return [self.choices.integer(-2, 4) for _ in range(max(1, len(value)))]
            case _:
                return value


def _segments(op: RelayOp) -> list[SSAValue | tuple[SSAValue, ...]]:
    """The operands by definition: a value, or a tuple of values where there may be none or several."""
    found: list[SSAValue | tuple[SSAValue, ...]] = []
    for name, definition in type(op).get_irdl_definition().operands:
        segment: SSAValue | Sequence[SSAValue] | None = getattr(op, name)
        if isinstance(segment, SSAValue):
            found.append(segment if type(definition) is OperandDef else (segment,))
        else:
            found.append(tuple(segment or ()))
    return found


def _elements(op: RelayOp) -> list[Attribute]:
    return sorted({tensor(v).element_type for v in op.operands if isinstance(v.type, TensorType)}, key=str)


def fuzzed(examples: Sequence[OperatorExample]) -> list[OperatorExample]:
    """Those of operators whose results are determined: they have a meaning, and no state."""
    here = [e for e in examples if e.op_type.has_compute() and not e.op_type.has_trait(Stateful)]
    return [e for e in here if e.op_type.name != "relay.device_copy"]  # its example is of two devices


def random_graph(choices: Choices, examples: Sequence[OperatorExample], size: int = 8) -> RandomGraph:
    """A graph of at most `size` operators.

    Args:
        choices: where random numbers come from.
        examples: of the operators that the graph is made of.
        size: operators to try; those that do not type are left out.
    """
    builder = _Builder(choices, examples)
    for _ in range(choices.integer(1, size)):
        builder.grow()
    block = builder.block
    used = {operand for op in block.ops for operand in op.operands}
    results = [value for value in builder.values if value not in used and value not in block.args]
    results = results or builder.values[-1:] or [builder.argument(builder.random_type())]
    for argument in [a for a in block.args if a not in used and a not in results]:
        block.erase_arg(argument, safe_erase=False)
    block.add_op(ReturnOp(*results))
    types = FunctionType.from_lists([a.type for a in block.args], [r.type for r in results])
    # Operators that were refused still count as uses of their operands; a clone knows nothing of them.
    module = ModuleOp([FuncOp("main", types, Region(block))]).clone()
    module.verify()
    arguments = [tensor(type) for type in types.inputs]
    seed = choices.integer(0, 2**32 - 1)
    return RandomGraph(module, random_arrays(arguments, seed), builder.names)


def random_arrays(types: Sequence[Tensor], seed: int) -> list[NDArray]:
    """An array for each type: values of both signs, zeros among them; with some seeds infinities, NaN and extremes."""
    rng = np.random.default_rng(seed)
    special = rng.random() < 0.2
    return [random_array(type, rng, special) for type in types]


def random_array(type: Tensor, rng: np.random.Generator, special: bool = False) -> NDArray:
    """Floats in steps of 1/8 from -4 to 4, small integers of both signs where there are any, truth values.

    `special` puts infinities, NaN, signed zeros and the extremes of integers among them.
    """
    dtype, shape = numpy_dtype(type.element_type), type.get_shape()
    if type.element_type == i1:
        return rng.integers(0, 2, shape).astype(bool)
    if isinstance(type.element_type, AnyFloat):
        array = (rng.integers(-32, 33, shape) / 8).astype(dtype)
        extremes = [np.inf, -np.inf, np.nan, -0.0, 1e-7, 1e4]
    else:
        limits = np.iinfo(dtype.name)
        array = rng.integers(max(limits.min, -5), 6, shape).astype(dtype)
        extremes = [limits.min, limits.max]
    if special and array.size:
        places = rng.random(shape) < 0.1
        array = np.where(places, rng.choice(np.array(extremes, dtype), shape), array).astype(dtype)
    return array

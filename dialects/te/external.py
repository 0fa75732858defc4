"""Tensors that a `tir.prim_func` fills, from others: what `te.extern` and `te.scan` make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import Attribute

from ..tir.functions import PrimFuncOp
from .dims import as_dim, value_of
from .expr import Dim, Var, const
from .kinds import index
from .tensor import Compute, Filled, Read, Tensor

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

Shape: TypeAlias = tuple[Sequence[Dim], Attribute, str]
"""Extents, element type and name of a tensor."""


@dataclass(eq=False)
class External:
    """A function whose arguments are the `inputs`, the results and the `symbols`, and the tensors that it fills."""

    function: PrimFuncOp
    inputs: tuple[Tensor, ...]
    shapes: tuple[Shape, ...]
    symbols: tuple[Var, ...] = ()
    steps: Mapping[Tensor, str] = field(default_factory=dict[Tensor, str])
    """What the blocks are called that compute tensors of formulas in it (`te.scan`)."""
    _redirected: dict[tuple[Tensor, ...], External] = field(default_factory=dict[tuple[Tensor, ...], "External"])

    def reads(self) -> list[Read]:
        """A read of each input."""
        return [Read(tensor, (const(0, index),) * tensor.rank) for tensor in dict.fromkeys(self.inputs)]

    def results(self) -> list[Tensor]:
        """The tensors that the function fills."""
        return [
            Tensor(tuple(map(as_dim, shape)), type, name, Compute((), Filled(self, number, type)))
            for number, (shape, type, name) in enumerate(self.shapes)
        ]

    def redirected(self, tensors: Mapping[Tensor, Tensor]) -> External:
        """The same from other inputs; what is asked for twice is made once, since its results belong together."""
        inputs = tuple(tensors.get(each, each) for each in self.inputs)
        if inputs == self.inputs:
            return self
        if inputs not in self._redirected:
            self._redirected[inputs] = replace(self, inputs=inputs, _redirected={})
        return self._redirected[inputs]

    def values(self, inputs: Sequence[NDArray], sizes: Mapping[Var, int]) -> list[NDArray]:
        """What the results are, where the inputs and the symbols have these values."""
        from ..tir.interpreter import Interpreter  # which runs functions, and few computations have any

        arguments = self.function.region.block.args[len(self.function.region.block.args) - len(self.symbols) :]
        given = {
            argument.name_hint or "": value_of(symbol, sizes)
            for argument, symbol in zip(arguments, self.symbols, strict=True)
        }
        return Interpreter(self.function)(list(inputs), sizes=given or None)

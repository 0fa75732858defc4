"""Calls whose tensors broadcast along open extents: where one has a single element, and another more.

    x, y : tensor<?x4xf32>      x + y of [1, 4] and [3, 4]

Code for open extents takes those that an operator puts side by side for one number, so that it is as fast as that for
known ones, and refuses a call in which they are not. A program that is held by what has compiled it need not: it is
compiled once more, with the extents known that are 1 in this call. Each set of them is compiled once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType

from .dialects.relay.base import DYNAMIC, is_dynamic, shape_of
from .dialects.relay.core import FuncOp
from .dialects.support.diagnostics import Diagnostic
from .runtime.tensors import InputError
from .transforms.relay.bind_params import input_names

NDArray: TypeAlias = npt.NDArray[np.generic]
Program: TypeAlias = Callable[..., "NDArray | tuple[NDArray, ...]"]
Shapes: TypeAlias = Mapping[str, Sequence[int]]


def is_open(main: FuncOp) -> bool:
    """Whether a function takes tensors of open extents, and nothing but tensors."""
    types = main.function_type.inputs.data
    return all(isinstance(type, TensorType) for type in types) and any(map(is_dynamic, types))


class Broadcasting:
    """A program of open extents, and those that it becomes where some of them are 1.

    Args:
        program: what takes all extents that an operator joins for one.
        main: the function that it is the code of.
        compile: gives the program with shapes of inputs, by name, in which -1 stays open.
    """

    def __init__(self, program: Program, main: FuncOp, compile: Callable[[Shapes], Program]):
        self._program, self._compile = program, compile
        self._names = input_names(main)
        self._declared = [shape_of(type) for type in main.function_type.inputs.data]
        self._made: dict[tuple[tuple[int, ...], ...], Program | None] = {}
        self._lock = threading.Lock()

    def __call__(self, *arrays: NDArray) -> NDArray | tuple[NDArray, ...]:
        """
        Raises:
            InputError: the arrays do not fit the program, however they broadcast.
        """
        try:
            return self._program(*arrays)
        except InputError as error:
            if (program := self._for(arrays)) is None:
                raise
            try:
                return program(*arrays)
            except InputError:
                raise error from None

    def _for(self, arrays: Sequence[NDArray]) -> Program | None:
        """The program for arrays with these extents of 1; `None` where there is none."""
        given = [array.shape for array in arrays]
        if list(map(len, given)) != list(map(len, self._declared)):
            return None
        shapes = [
            tuple(1 if n == 1 and m == DYNAMIC else -1 for n, m in zip(*each, strict=True))
            for each in zip(given, self._declared, strict=True)
        ]
        if not any(1 in shape for shape in shapes):
            return None
        key = tuple(shapes)
        with self._lock:
            if key not in self._made:
                known = {name: shape for name, shape in zip(self._names, shapes, strict=True) if 1 in shape}
                try:
                    self._made[key] = self._compile(known)
                except Diagnostic:  # with these extents operators do not go together
                    self._made[key] = None
            return self._made[key]

"""Arrays of tensors of any shapes, as lists: TVM's `TensorArrayOps`.

    prelude = relay.prelude.Prelude()
    empty = prelude.get_global_var("tensor_array", "float32")(relay.const(3))
    element = prelude.get_tensor_ctor("tensor2", "float32")(x)                  # x: a matrix
    written = prelude.get_global_var("tensor_array_write", "float32")(empty, relay.const(0), element)

An element is a value of a data type: nothing yet, or a tensor of any extents. There is a constructor for each rank, and
a function on elements has a case for each rank that it is for; of other elements it fails.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# Functions are written as lambdas of expressions.

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Attribute

from ...dialects.support.arguments import checked_methods
from .arrays_of_tensors import PLACES, ArraysOfTensors, part
from .data import Constructor
from .expr import AnyExtent, Expr, Operand, tensor_type
from .operators import operator
from .tensor_array_names import ranked_name_of
from .written_functions import INT, Definitions, match

MAX_RANK = 6
"""The most dimensions that an element may have."""


@checked_methods
class TensorArrayOps(ArraysOfTensors):
    """Functions on arrays of tensors of up to `MAX_RANK` dimensions; `Prelude.get_global_var` registers them where they
    are first asked for.

    Args:
        prelude: what they are put into.
        dtype: the tensors' element type.
    """

    def __init__(self, prelude: Definitions, dtype: str):
        super().__init__(prelude, dtype)

    def get_name(self, canonical: str) -> str:
        """What a function, a type or a constructor is called."""
        return ranked_name_of(canonical, self.dtype)

    def register(self) -> None:
        """Put all functions into the module."""
        self.define_tensor_adt()
        self.define_tensor_take()
        self.define_tensor_expand_dims()
        self.define_tensor_concat()
        self._define_arrays()
        for rank in range(1, MAX_RANK + 1):
            name = f"tensor_array_unstack_tensor{rank}"
            self._unstack(name, self._tensor(rank), self, self._make(rank - 1))
        self._scatter(self.get_name("tensor_array_scatter_helper"), self.get_name("tensor_array_scatter"), PLACES)
        self._split(self, self, PLACES)
        self._concat(self)
        self._stack(self)

    def _tensor(self, rank: int) -> Attribute:
        return tensor_type([AnyExtent()] * rank, self.dtype)

    def _tensors(self) -> dict[str, Attribute]:
        return {f"tensor{rank}": self._tensor(rank) for rank in range(MAX_RANK + 1)}

    def _make(self, rank: int) -> Constructor:
        return self.get_ctor(f"tensor{rank}")

    def _opened(self, element: Operand, ranks: Iterable[int], written: Callable[[int, Expr], Operand]) -> Expr:
        """What is said of the tensor of an element, which has one, of a rank among these."""

        def case(rank: int) -> tuple[Constructor, Callable[..., Operand]]:
            return self._make(rank), lambda t: written(rank, t)

        return match(element, *map(case, ranks))

    def define_tensor_take(self) -> None:
        """A function for the rows of an element from one number up to another."""
        self._define(
            "tensor_take",
            [self._element, INT, INT, self._element],
            lambda _, x, low, high: self._opened(
                x, range(1, MAX_RANK + 1), lambda rank, t: self._make(rank)(part(t, low, high))
            ),
        )

    def define_tensor_expand_dims(self) -> None:
        """A function for an element as the one row of another."""
        self._define(
            "tensor_expand_dims",
            [self._element, self._element],
            lambda _, x: self._opened(
                x, range(MAX_RANK), lambda rank, t: self._make(rank + 1)(operator("expand_dims")(t, 0))
            ),
        )

    def define_tensor_concat(self) -> None:
        """A function for two elements of a rank behind one another, `tensor_concatenate`."""
        self._define(
            "tensor_concatenate",
            [self._element, self._element, self._element],
            lambda _, x, y: self._opened(
                x,
                range(1, MAX_RANK + 1),
                lambda rank, a: self._opened(
                    y, [rank], lambda _, b: self._make(rank)(operator("concatenate")([a, b], 0))
                ),
            ),
        )

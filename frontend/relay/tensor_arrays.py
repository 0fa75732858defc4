"""Arrays of tensors of one shape, as lists: TVM's `StaticTensorArrayOps`.

    arrays = relay.prelude.StaticTensorArrayOps(prelude, "float32", [2, 3])
    arrays.register()
    empty = arrays.get_global_var("tensor_array")(relay.const(3))
    element = arrays.get_ctor("tensor_constructor")(x)
    written = arrays.get_global_var("tensor_array_write")(empty, relay.const(0), element)

An element is a value of a data type: a tensor, or nothing yet. An extent of the shape may be `relay.Any()`. What joins
or cuts elements along the first axis gives elements whose first extent is open; these have a type of their own.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# Functions are written as lambdas of expressions.

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import Attribute

from ...dialects.support.arguments import checked_methods
from .arrays_of_tensors import PLACES, ArraysOfTensors, part
from .expr import AnyExtent, Expr, Operand, tensor_type
from .operators import operator
from .tensor_array_names import Extents, name_of
from .written_functions import INT, Definitions, match


@checked_methods
class StaticTensorArrayOps(ArraysOfTensors):
    """Functions on arrays of tensors.

    Args:
        prelude: what they are put into.
        dtype: the tensors' element type.
        shape: their shape; an extent may be `relay.Any()`.
        batch_dim: 1 where a stack has one element alone.
    """

    def __init__(self, prelude: Definitions, dtype: str, shape: Extents, batch_dim: int | None = None):
        super().__init__(prelude, dtype)
        self.shape, self.batch_dim = list(shape), batch_dim

    def get_name(self, canonical: str, extra_shapes: Mapping[str, Extents] | None = None) -> str:
        """What a function, a type or a constructor is called."""
        return name_of(canonical, self.dtype, self.shape, self.batch_dim, extra_shapes)

    def register(self) -> None:
        """Put all functions into the module."""
        self.define_tensor_adt()
        self._define_elements()
        self._define_arrays()
        self.define_tensor_array_scatter()
        if self.shape:
            self.define_tensor_take()
            self.define_tensor_concatenate()
            rows = self._of(self.shape[1:])
            self._unstack("tensor_array_unstack", self._tensor, rows, rows.get_ctor("tensor_constructor"))
            self.define_tensor_array_split()
            cut = self._cut()
            cut.define_tensor_concatenate()
            self._concat(cut)
        stacked = self._stacked()
        stacked.define_tensor_concatenate()
        self._stack(stacked, only_one=self.batch_dim == 1)

    @property
    def _tensor(self) -> Attribute:
        return tensor_type(self.shape, self.dtype)

    def _tensors(self) -> dict[str, Attribute]:
        return {"tensor_constructor": self._tensor}

    def _of(self, shape: Extents) -> StaticTensorArrayOps:
        """Those for another shape, of which there is the data type."""
        other = StaticTensorArrayOps(self.prelude, self.dtype, shape, self.batch_dim)
        other.define_tensor_adt()
        return other

    def _cut(self) -> StaticTensorArrayOps:
        """Those for parts of the first axis."""
        return self._of([AnyExtent(), *self.shape[1:]])

    def _stacked(self) -> StaticTensorArrayOps:
        """Those for elements one upon another."""
        return self._of([1 if self.batch_dim == 1 else AnyExtent(), *self.shape])

    def _opened(self, element: Operand, written: Callable[[Expr], Operand]) -> Expr:
        """What is said of the tensor of an element, which has one."""
        return match(element, (self.get_ctor("tensor_constructor"), written))

    def _define_elements(self) -> None:
        stacked = self._stacked()
        make = stacked.get_ctor("tensor_constructor")
        self._define(
            "tensor_expand_dims",
            [self._element, stacked._element],
            lambda _, x: self._opened(x, lambda t: make(operator("expand_dims")(t, 0))),
        )
        self._define("tensor_get_data", [self._element, self._tensor], lambda _, x: self._opened(x, lambda t: t))

    def define_tensor_take(self) -> None:
        """A function for the rows of an element from one number up to another."""
        cut = self._cut()
        make = cut.get_ctor("tensor_constructor")
        self._define(
            "tensor_take",
            [self._element, INT, INT, cut._element],
            lambda _, x, low, high: self._opened(x, lambda t: make(part(t, low, high))),
        )

    def define_tensor_concatenate(self) -> None:
        """A function for two elements behind one another."""
        cut = self._cut()
        make = cut.get_ctor("tensor_constructor")
        self._define(
            "tensor_concatenate",
            [self._element, self._element, cut._element],
            lambda _, x, y: self._opened(
                x, lambda a: self._opened(y, lambda b: make(operator("concatenate")([a, b], 0)))
            ),
        )

    def define_tensor_array_scatter(self, indices_shape: Extents | None = None, force_update: bool = False) -> None:
        """A function for an array with other elements at several places; with the shape of these, one for that shape.
        `force_update` is TVM's, and says nothing: each shape has its own."""
        extra = None if indices_shape is None else {"indices": indices_shape}
        indices = PLACES if indices_shape is None else tensor_type(indices_shape, "int32")
        helper, name = (self.get_name(f"tensor_array_scatter{end}", extra) for end in ("_helper", ""))
        self._scatter(helper, name, indices)

    def define_tensor_array_split(
        self, value_shape: Extents | None = None, lengths_shape: Extents | None = None, force_update: bool = False
    ) -> None:
        """A function for an array whose elements are parts of a tensor, of some lengths; one that there is stands,
        unless `force_update` says otherwise."""
        if self.get_name("tensor_array_split") in self.prelude.mod and not force_update:
            return
        cut, value = self._cut(), self if value_shape is None else self._of(value_shape)
        cut.define_tensor_array_write()
        value.define_tensor_take()
        for canonical in ("ta_split_helper", "tensor_array_split"):
            self._write.forget(self.get_name(canonical))
        self._split(cut, value, PLACES if lengths_shape is None else tensor_type(lengths_shape, "int32"))

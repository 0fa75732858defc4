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

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Attribute

from ...dialects.support.arguments import checked_methods
from .data import Constructor, GlobalTypeVar, TypeData
from .expr import AnyExtent, Expr, GlobalVar, If, Operand, const, tensor_type
from .operators import operator
from .prelude import CONS, INT, LIST, NIL, Prelude, Writer, match, to
from .tensor_array_names import Extents, constructor_of, name_of


@checked_methods
class StaticTensorArrayOps:
    """Functions on arrays of tensors.

    Args:
        prelude: what they are put into.
        dtype: the tensors' element type.
        shape: their shape; an extent may be `relay.Any()`.
        batch_dim: 1 where a stack has one element alone.
    """

    def __init__(self, prelude: Prelude, dtype: str, shape: Extents, batch_dim: int | None = None):
        self.prelude, self.dtype, self.shape, self.batch_dim = prelude, dtype, list(shape), batch_dim
        self._write = Writer(prelude.mod)

    def get_name(self, canonical: str, extra_shapes: Mapping[str, Extents] | None = None) -> str:
        """What a function, a type or a constructor is called."""
        return name_of(canonical, self.dtype, self.shape, self.batch_dim, extra_shapes)

    def get_global_var(self, canonical: str) -> GlobalVar:
        """A function that `register` has put into the module.

        Raises:
            KeyError: there is none of that name.
        """
        return self.prelude.mod.get_global_var(self.get_name(canonical))

    def get_type(self, canonical: str) -> GlobalTypeVar:
        """The data type, `tensor_t`.

        Raises:
            KeyError: there is none of that name.
        """
        return self.prelude.mod.get_global_type_var(self.get_name(canonical))

    def get_ctor(self, canonical: str) -> Constructor:
        """What makes an element: `tensor_constructor`, or `tensor_nil`.

        Raises:
            KeyError: there is none of that name.
        """
        return constructor_of(self.prelude.mod, self.get_name("tensor_t"), self.get_name(canonical))

    def define_tensor_adt(self) -> None:
        """Put the data type into the module."""
        if self.get_name("tensor_t") not in self.prelude.mod.type_definitions:
            header = GlobalTypeVar(self.get_name("tensor_t"))
            nothing = Constructor(self.get_name("tensor_nil"), [], header)
            tensor = Constructor(self.get_name("tensor_constructor"), [self._tensor], header)
            self.prelude.mod[header] = TypeData(header, [], [nothing, tensor])

    def register(self) -> None:
        """Put all functions into the module."""
        self.define_tensor_adt()
        self._define_elements()
        self._define_arrays()
        self.define_tensor_array_scatter()
        if self.shape:
            self.define_tensor_take()
            self.define_tensor_concatenate()
            self._define_unstack()
            self.define_tensor_array_split()
            self._define_concat()
        self._define_stack()

    @property
    def _tensor(self) -> Attribute:
        return tensor_type(self.shape, self.dtype)

    @property
    def _element(self) -> Attribute:
        return self.get_type("tensor_t")()

    @property
    def _array(self) -> Attribute:
        return LIST(self._element)

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

    def _define(self, canonical: str, types: Sequence[Attribute], written: Callable[..., Operand]) -> GlobalVar:
        self._write.define(self.get_name(canonical), to(*types), written)
        return self.get_global_var(canonical)

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
            lambda _, x, low, high: self._opened(
                x,
                lambda t: make(
                    operator("take")(t, operator("arange")(low, high, const(1, "int32"), dtype="int32"), axis=0)
                ),
            ),
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

    def _define_arrays(self) -> None:
        nothing = self.get_ctor("tensor_nil")
        self._define(
            "tensor_array",
            [INT, self._array],
            lambda f, n: If(_equal(n, const(0)), NIL(), CONS(nothing(), f(n - const(1)))),
        )
        self._define("tensor_array_read", [self._array, INT, self._element], lambda _, xs, n: self.prelude.nth(xs, n))
        self.define_tensor_array_write()

    def define_tensor_array_write(self) -> None:
        """A function for an array with another element at a place."""
        self._define(
            "tensor_array_write",
            [self._array, INT, self._element, self._array],
            lambda _, xs, n, x: self.prelude.update(xs, n, x),
        )

    def _define_unstack(self) -> None:
        rows = self._of(self.shape[1:])
        make = rows.get_ctor("tensor_constructor")
        from_row = self._define(
            "tensor_array_unstack_helper",
            [INT, INT, self._tensor, rows._array],
            lambda f, i, count, t: If(
                _equal(i, count), NIL(), CONS(make(operator("take")(t, i, axis=0)), f(i + const(1), count, t))
            ),
        )
        self._define("tensor_array_unstack", [self._tensor, rows._array], lambda _, t: from_row(const(0), _count(t), t))

    def define_tensor_array_scatter(self, indices_shape: Extents | None = None, force_update: bool = False) -> None:
        """A function for an array with other elements at several places; with the shape of these, one for that shape.
        `force_update` is TVM's, and says nothing: each shape has its own."""
        extra = None if indices_shape is None else {"indices": indices_shape}
        indices = tensor_type([AnyExtent()] if indices_shape is None else indices_shape, "int32")
        put, get = self.get_global_var("tensor_array_write"), self.get_global_var("tensor_array_read")
        helper, name = (self.get_name(f"tensor_array_scatter{end}", extra) for end in ("_helper", ""))
        self._write.define(
            helper,
            to(self._array, INT, INT, indices, self._array, self._array),
            lambda f, xs, i, count, at, values: If(
                _equal(i, count),
                xs,
                f(put(xs, operator("take")(at, i), get(values, i)), i + const(1), count, at, values),
            ),
        )
        from_place = self.prelude.mod.get_global_var(helper)
        self._write.define(
            name,
            to(self._array, indices, self._array, self._array),
            lambda _, xs, at, values: from_place(xs, const(0), _count(at), at, values),
        )

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
        put, take = cut.get_global_var("tensor_array_write"), value.get_global_var("tensor_take")
        lengths = tensor_type([AnyExtent()] if lengths_shape is None else lengths_shape, "int32")

        def from_part(f: GlobalVar, xs: Expr, x: Expr, start: Expr, i: Expr, count: Expr, sizes: Expr) -> Expr:
            end = start + operator("take")(sizes, i)
            return If(_equal(i, count), xs, put(f(xs, x, end, i + const(1), count, sizes), i, take(x, start, end)))

        types = [cut._array, value._element]
        for canonical in ("ta_split_helper", "tensor_array_split"):
            self._write.forget(self.get_name(canonical))
        helper = self._define("ta_split_helper", [*types, INT, INT, INT, lengths, cut._array], from_part)
        self._define(
            "tensor_array_split",
            [*types, lengths, cut._array],
            lambda _, xs, x, sizes: helper(xs, x, const(0), const(0), _count(sizes), sizes),
        )

    def _define_concat(self) -> None:
        cut = self._cut()
        cut.define_tensor_concatenate()
        join, nothing = cut.get_global_var("tensor_concatenate"), cut.get_ctor("tensor_nil")
        self._define(
            "tensor_array_concat",
            [cut._array, cut._element],
            lambda f, xs: match(
                xs, (NIL, nothing), (CONS, lambda x, rest: match(rest, (NIL, lambda: x), otherwise=join(x, f(rest))))
            ),
        )

    def _define_stack(self) -> None:
        stacked = self._stacked()
        stacked.define_tensor_concatenate()
        join, prelude = stacked.get_global_var("tensor_concatenate"), self.prelude

        def stack(_: GlobalVar, xs: Expr) -> Expr:
            rows = prelude.map(self.get_global_var("tensor_expand_dims"), xs)
            if self.batch_dim == 1:
                return prelude.hd(rows)
            return prelude.foldl(join, prelude.hd(rows), prelude.tl(rows))

        made = self._define("tensor_array_stack", [self._array, stacked._element], stack)
        places, get = tensor_type([AnyExtent()], "int32"), self.get_global_var("tensor_array_read")
        helper = self._define(
            "tensor_array_gather_helper",
            [self._array, self._array, INT, INT, places, stacked._element],
            lambda f, xs, found, i, count, at: If(
                _equal(i, const(0)),
                made(found),
                f(xs, CONS(get(xs, operator("take")(at, i - const(1))), found), i - const(1), count, at),
            ),
        )
        self._define(
            "tensor_array_gather",
            [self._array, places, stacked._element],
            lambda _, xs, at: helper(xs, NIL(), _count(at), _count(at), at),
        )


def _equal(a: Operand, b: Operand) -> Expr:
    return operator("equal")(a, b)


def _count(vector: Expr) -> Expr:
    """The first extent of a tensor."""
    return operator("take")(operator("shape_of")(vector), const(0))

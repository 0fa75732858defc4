"""What arrays of tensors are, of one shape or of any rank: lists of elements, and functions on these.

An element is a value of a data type: a tensor, or nothing yet. How a tensor is an element, and what it is called when
it is joined or cut, is for `tensor_arrays.py` (one shape) and `ranked_tensor_arrays.py` (any rank) to say.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# Functions are written as lambdas of expressions.

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from xdsl.ir import Attribute

from .data import Constructor, GlobalTypeVar, TypeData
from .expr import AnyExtent, Expr, GlobalVar, If, Operand, const, tensor_type
from .operators import operator
from .tensor_array_names import constructor_of
from .written_functions import CONS, INT, LIST, NIL, Definitions, Writer, match, to

PLACES = tensor_type([AnyExtent()], "int32")
"""The type of numbers of elements."""


class ArraysOfTensors(ABC):
    """Functions on arrays of tensors of an element type.

    Args:
        prelude: what they are put into.
        dtype: the tensors' element type.
    """

    def __init__(self, prelude: Definitions, dtype: str):
        self.prelude, self.dtype = prelude, dtype
        self._write = Writer(prelude.mod)

    @abstractmethod
    def get_name(self, canonical: str) -> str:
        """What a function, a type or a constructor is called."""

    @abstractmethod
    def _tensors(self) -> dict[str, Attribute]:
        """The constructors of elements that are tensors -> the types of these."""

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
        """What makes an element: of a tensor, or `tensor_nil`.

        Raises:
            KeyError: there is none of that name.
        """
        return constructor_of(self.prelude.mod, self.get_name("tensor_t"), self.get_name(canonical))

    def define_tensor_adt(self) -> None:
        """Put the data type into the module."""
        if self.get_name("tensor_t") not in self.prelude.mod.type_definitions:
            header = GlobalTypeVar(self.get_name("tensor_t"))
            nothing = Constructor(self.get_name("tensor_nil"), [], header)
            tensors = [Constructor(self.get_name(name), [type], header) for name, type in self._tensors().items()]
            self.prelude.mod[header] = TypeData(header, [], [nothing, *tensors])

    @property
    def _element(self) -> Attribute:
        return self.get_type("tensor_t")()

    @property
    def _array(self) -> Attribute:
        return LIST(self._element)

    def _define(self, canonical: str, types: Sequence[Attribute], written: Callable[..., Operand]) -> GlobalVar:
        self._write.define(self.get_name(canonical), to(*types), written)
        return self.get_global_var(canonical)

    def _define_arrays(self) -> None:
        nothing = self.get_ctor("tensor_nil")
        self._define(
            "tensor_array",
            [INT, self._array],
            lambda f, n: If(equal(n, const(0)), NIL(), CONS(nothing(), f(n - const(1)))),
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

    def _scatter(self, helper: str, name: str, indices: Attribute) -> None:
        """A function for an array with other elements at several places."""
        put, get = self.get_global_var("tensor_array_write"), self.get_global_var("tensor_array_read")
        self._write.define(
            helper,
            to(self._array, INT, INT, indices, self._array, self._array),
            lambda f, xs, i, many, at, values: If(
                equal(i, many),
                xs,
                f(put(xs, operator("take")(at, i), get(values, i)), i + const(1), many, at, values),
            ),
        )
        from_place = self.prelude.mod.get_global_var(helper)
        self._write.define(
            name,
            to(self._array, indices, self._array, self._array),
            lambda _, xs, at, values: from_place(xs, const(0), count(at), at, values),
        )

    def _split(self, cut: ArraysOfTensors, value: ArraysOfTensors, lengths: Attribute) -> None:
        """A function for an array of `cut` whose elements are parts of an element of `value`, of some lengths."""
        put, take = cut.get_global_var("tensor_array_write"), value.get_global_var("tensor_take")

        def from_part(f: GlobalVar, xs: Expr, x: Expr, start: Expr, i: Expr, many: Expr, sizes: Expr) -> Expr:
            end = start + operator("take")(sizes, i)
            return If(equal(i, many), xs, put(f(xs, x, end, i + const(1), many, sizes), i, take(x, start, end)))

        types = [cut._array, value._element]
        helper = self._define("ta_split_helper", [*types, INT, INT, INT, lengths, cut._array], from_part)
        self._define(
            "tensor_array_split",
            [*types, lengths, cut._array],
            lambda _, xs, x, sizes: helper(xs, x, const(0), const(0), count(sizes), sizes),
        )

    def _concat(self, cut: ArraysOfTensors) -> None:
        """A function for the elements of an array of `cut` behind one another."""
        join, nothing = cut.get_global_var("tensor_concatenate"), cut.get_ctor("tensor_nil")
        self._define(
            "tensor_array_concat",
            [cut._array, cut._element],
            lambda f, xs: match(
                xs, (NIL, nothing), (CONS, lambda x, rest: match(rest, (NIL, lambda: x), otherwise=join(x, f(rest))))
            ),
        )

    def _unstack(self, canonical: str, tensor: Attribute, rows: ArraysOfTensors, make: Constructor) -> None:
        """A function for an array of `rows` whose elements `make` makes of the rows of a tensor."""
        from_row = self._define(
            f"{canonical}_helper",
            [INT, INT, tensor, rows._array],
            lambda f, i, many, t: If(
                equal(i, many), NIL(), CONS(make(operator("take")(t, i, axis=0)), f(i + const(1), many, t))
            ),
        )
        self._define(canonical, [tensor, rows._array], lambda _, t: from_row(const(0), count(t), t))

    def _stack(self, stacked: ArraysOfTensors, only_one: bool = False) -> None:
        """Functions for the elements of an array, or some of them, one upon another, as an element of `stacked`."""
        join, prelude = stacked.get_global_var("tensor_concatenate"), self.prelude

        def stack(_: GlobalVar, xs: Expr) -> Expr:
            rows = prelude.map(self.get_global_var("tensor_expand_dims"), xs)
            if only_one:
                return prelude.hd(rows)
            return prelude.foldl(join, prelude.hd(rows), prelude.tl(rows))

        made = self._define("tensor_array_stack", [self._array, stacked._element], stack)
        get = self.get_global_var("tensor_array_read")
        helper = self._define(
            "tensor_array_gather_helper",
            [self._array, self._array, INT, INT, PLACES, stacked._element],
            lambda f, xs, found, i, many, at: If(
                equal(i, const(0)),
                made(found),
                f(xs, CONS(get(xs, operator("take")(at, i - const(1))), found), i - const(1), many, at),
            ),
        )
        self._define(
            "tensor_array_gather",
            [self._array, PLACES, stacked._element],
            lambda _, xs, at: helper(xs, NIL(), count(at), count(at), at),
        )


def equal(a: Operand, b: Operand) -> Expr:
    """Whether two numbers are equal."""
    return operator("equal")(a, b)


def count(tensor: Expr) -> Expr:
    """The first extent of a tensor."""
    return operator("take")(operator("shape_of")(tensor), const(0))


def part(tensor: Expr, low: Expr, high: Expr) -> Expr:
    """The rows of a tensor from one number up to another."""
    return operator("take")(tensor, operator("arange")(low, high, const(1, "int32"), dtype="int32"), axis=0)

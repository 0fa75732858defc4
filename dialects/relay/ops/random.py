"""Random numbers without a hidden state: a key goes in, and the next key comes out with the numbers.

A key is ten words: four of a seed or of where a tree of keys was split, four that count what was drawn (the lowest
first), and two that are kept as they are. Numbers are Threefry-4x64-20 of the words that count, under the others.

Source: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011; Claessen, Palka, Splittable
pseudorandom number generators using cryptographic hashing, Haskell 2013.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import prod
from typing import ClassVar, TypeVar

from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, IntegerType, Signedness, TensorType, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import Fusion, FusionPattern, RelayOp, broadcast_read, int_list, integer, ints, shape_of, string, tensor
from ..indexing import row_major
from ..precision import Accuracy
from ..types import tuple_type
from .elementwise import named_type

WORD = IntegerType(64, Signedness.UNSIGNED)
KEY = TensorType(WORD, [10])
ROUNDS = 20
ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))
PARITY = 0x1BD11BDAA9FC1A22

Extent = TypeVar("Extent")

Words = Callable[[te.Expr], te.Expr]
"""A word by its number."""


def word(value: int) -> te.Expr:
    return te.const(value, WORD)


def threefry(key: te.Tensor, counter: Callable[[te.Expr, int], te.Expr], blocks: te.Dim) -> te.Tensor:
    """Threefry-4x64-20 under the first four words of `key`: `[blocks, 4]` words of the words `counter(block, word)`."""

    def fill(do: te.Steps, out: te.Tensor) -> None:
        under = [do.let(key[w], "subkey") for w in range(4)]
        under.append(do.let(word(PARITY) ^ under[0] ^ under[1] ^ under[2] ^ under[3], "subkey"))

        def keyed(words: Sequence[te.Expr], turn: int) -> list[te.Expr]:
            """What is added to the state in the `turn`th time: the last word counts the turns."""
            added = [under[(w + turn) % 5] for w in range(3)] + [under[(3 + turn) % 5] + word(turn)]
            return [do.let(x + y, "x") for x, y in zip(words, added, strict=True)]

        (block,) = do.axes
        x = keyed([counter(block, w) for w in range(4)], 0)
        for step in range(ROUNDS):
            # Words are mixed in pairs: 0 and 1, 2 and 3, in every other step 0 and 3, 2 and 1.
            for even, by in zip((0, 2), ROTATIONS[step % 8], strict=True):
                odd = (even + (1 if step % 2 == 0 else 3)) % 4
                x[even] = do.let(x[even] + x[odd], "x")
                x[odd] = do.let(((x[odd] << word(by)) | (x[odd] >> word(64 - by))) ^ x[even], "x")
            if step % 4 == 3:
                x = keyed(x, step // 4 + 1)
        for w in range(4):
            do.store(out[block, w], x[w])

    return te.procedure([((blocks, 4), WORD, "threefry")], fill, over=(blocks,))[0]


def drawn(key: te.Tensor, count: te.Dim) -> tuple[te.Tensor, te.Tensor]:
    """The next key, and `[blocks, 4]` words of which `count` are wanted, or a few more."""
    blocks = te.ceil_divided(count, 4)

    def counter(b: te.Expr, w: int) -> te.Expr:
        low = key[4] + te.cast(b, WORD)
        if w == 0:
            return low
        return key[5] + te.select(low < key[4], word(1), word(0)) if w == 1 else key[w + 4]

    def following(i: te.Expr) -> te.Expr:
        low = key[4] + te.cast(te.dim_expr(blocks), WORD)
        carry = te.select(low < key[4], word(1), word(0))
        return te.select(i.equal(4), low, key[i] + te.select(i.equal(5), carry, word(0)))

    return te.compute((10,), following, "next_key"), threefry(
        key, counter, max(blocks, 1) if isinstance(blocks, int) else blocks
    )


def at_place(words: te.Tensor, shape: Sequence[te.Dim], index: Sequence[te.Expr], skip: te.Dim = 0) -> te.Expr:
    """The word for an element of a tensor, in row-major order, `skip` words later."""
    place = row_major(index, shape) + te.dim_expr(skip)
    return words[place // 4, place % 4]


def fraction(bits: te.Expr, element: Attribute) -> te.Expr:
    """A word as a number from 0 to just below 1, of all the digits of its type."""
    digits = 53 if element == f64 else 24
    wide = f64 if element == f64 else f32
    return te.cast(te.cast(bits >> word(64 - digits), IntegerType(64)), wide) * (2.0**-digits)


class _RandomOp(RelayOp, ABC):
    """What takes a key first."""

    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    key = operand_def(TensorType)
    result = result_def()

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def check_key(self) -> None:
        if self.key.type != KEY:
            raise VerifyException(f"a key is {KEY}, got {self.key.type}")

    def infer(self) -> Sequence[Attribute]:
        self.check_key()
        return [self.made()]

    @abstractmethod
    def made(self) -> Attribute:
        """The result's type.

        Raises:
            VerifyException: the other operands do not fit.
        """


@irdl_op_definition
class ThreefryGenerateOp(_RandomOp):
    """The next key, and words of random bits.

    ```mlir
    %y = relay.random.threefry_generate %key {out_shape = array<i64: 3>} : (tensor<10xui64>) -> tuple<tensor<10xui64>, tensor<3xui64>>
    ```
    """  # noqa: E501

    name = "relay.random.threefry_generate"

    out_shape = int_list()

    def made(self) -> Attribute:
        return tuple_type(KEY, TensorType(WORD, extents_of(self.out_shape)))

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        shape = extents_of(self.out_shape)
        key, words = drawn(inputs[0], prod(shape))
        return [key, te.compute(shape, lambda *i: at_place(words, shape, i), "random_words")]


@irdl_op_definition
class ThreefrySplitOp(_RandomOp):
    """Two keys, whose numbers have nothing to do with each other's or with those of the key.

    ```mlir
    %y = relay.random.threefry_split %key : (tensor<10xui64>) -> tuple<tensor<10xui64>, tensor<10xui64>>
    ```
    """

    name = "relay.random.threefry_split"

    def made(self) -> Attribute:
        return tuple_type(KEY, KEY)

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        (key,) = inputs

        def counter(b: te.Expr, w: int) -> te.Expr:
            # Numbers are never drawn so far up.
            return key[7] + (word(1 << 63) + te.cast(b, WORD)) if w == 3 else key[w + 4]

        words = threefry(key, counter, 2)

        def child(side: int) -> te.Tensor:
            def body(i: te.IterVar) -> te.Expr:
                kept = te.select(i < 8, word(0), key[i])
                return te.select(i < 4, words[side, te.minimum(i, 3)], kept)

            return te.compute((10,), body, "key")

        return [child(0), child(1)]


class _DrawOp(_RandomOp, ABC):
    """Floats of a distribution with two parameters, which broadcast to what is drawn.

    An extent of -1 is that which the first parameter has there: so it may be open.
    """

    key = operand_def(TensorType)
    first = operand_def(TensorType)
    second = operand_def(TensorType)
    out_shape = int_list()
    out_dtype = string("float32")
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.FUNCTION

    def element(self) -> Attribute:
        return named_type(self.out_dtype.data)

    def made(self) -> Attribute:
        element = self.element()
        if not isinstance(element, AnyFloat) or element not in (f32, f64):
            raise VerifyException(f"'out_dtype' must be float32 or float64, got {self.out_dtype.data}")
        shape = self.drawn_shape(shape_of(self.first))
        for operand in (self.first, self.second):
            check_broadcasts(operand, shape, element)
        return tuple_type(KEY, TensorType(element, shape))

    def drawn_shape(self, first: Sequence[Extent]) -> list[Extent | int]:
        """The extents of what is drawn, where those of the first parameter are `first`.

        Raises:
            VerifyException: an extent is less than -1, or is -1 where the first parameter has not as many dimensions.
        """
        given = list(ints(self.out_shape))
        if -1 not in given:
            return [*extents_of(self.out_shape)]
        if len(first) != len(given) or min(given) < -1:
            raise VerifyException(f"extents of {given} are not those of a first parameter with {len(first)} dimensions")
        return [own if n == -1 else n for n, own in zip(given, first, strict=True)]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        key, first, second = inputs
        shape = self.drawn_shape(first.dims)
        following, draw = self.draw(key, shape)

        def body(*i: te.IterVar) -> te.Expr:
            return self.scaled(draw(i), *(broadcast_read(x, i) for x in (first, second)))

        return [following, te.compute(shape, body, "random")]

    @abstractmethod
    def draw(self, key: te.Tensor, shape: Sequence[te.Dim]) -> tuple[te.Tensor, Callable[[Sequence[te.Expr]], te.Expr]]:
        """The next key, and a number of the standard distribution for each index."""

    @abstractmethod
    def scaled(self, x: te.Expr, first: te.Expr, second: te.Expr) -> te.Expr:
        """A number of the distribution that the parameters say, from one of the standard one."""


@irdl_op_definition
class UniformOp(_DrawOp):
    """The next key, and numbers from `low` to just below `high`, all alike likely.

    ```mlir
    %l = relay.constant dense<-1.0> : tensor<f32>
    %h = relay.constant dense<1.0> : tensor<f32>
    %y = relay.random.uniform %key, %l, %h {out_shape = array<i64: 3>}
       : (tensor<10xui64>, tensor<f32>, tensor<f32>) -> tuple<tensor<10xui64>, tensor<3xf32>>
    ```
    """

    name = "relay.random.uniform"

    def draw(self, key: te.Tensor, shape: Sequence[te.Dim]) -> tuple[te.Tensor, Callable[[Sequence[te.Expr]], te.Expr]]:
        following, words = drawn(key, te.product(shape))
        return following, lambda i: fraction(at_place(words, shape, i), self.element())

    def scaled(self, x: te.Expr, first: te.Expr, second: te.Expr) -> te.Expr:
        return first + x * (second - first)


@irdl_op_definition
class NormalOp(_DrawOp):
    """The next key, and numbers of a normal distribution with a `mean` and a deviation `scale`.

    By the method of Box and Muller (1958).

    ```mlir
    %m = relay.constant dense<0.0> : tensor<f32>
    %s = relay.constant dense<1.0> : tensor<f32>
    %y = relay.random.normal %key, %m, %s {out_shape = array<i64: 3>}
       : (tensor<10xui64>, tensor<f32>, tensor<f32>) -> tuple<tensor<10xui64>, tensor<3xf32>>
    ```
    """

    name = "relay.random.normal"

    def draw(self, key: te.Tensor, shape: Sequence[te.Dim]) -> tuple[te.Tensor, Callable[[Sequence[te.Expr]], te.Expr]]:
        count, element = te.product(shape), self.element()
        following, words = drawn(key, te.product((2, count)))

        def number(i: Sequence[te.Expr]) -> te.Expr:
            distance = te.sqrt(te.log(1.0 - fraction(at_place(words, shape, i), element)) * -2.0)
            return distance * te.cos(fraction(at_place(words, shape, i, count), element) * (2 * math.pi))

        return following, number

    def scaled(self, x: te.Expr, first: te.Expr, second: te.Expr) -> te.Expr:
        return first + x * second


@irdl_op_definition
class MultinomialOp(_RandomOp):
    """The next key, and indices drawn with the probabilities `probs`, which need not add up to one.

    Each row along the last axis is a distribution; `num_samples` are drawn from it, and may repeat.

    ```mlir
    %y = relay.random.multinomial %key, %p {num_samples = 3 : i64}
       : (tensor<10xui64>, tensor<2x4xf32>) -> tuple<tensor<10xui64>, tensor<2x3xi64>>
    ```
    """

    name = "relay.random.multinomial"

    key = operand_def(TensorType)
    probs = operand_def(TensorType)
    num_samples = integer(1)

    def made(self) -> Attribute:
        probs = tensor(self.probs)
        shape, count = probs.get_shape(), self.num_samples.value.data
        if probs.element_type not in (f32, f64) or not shape:
            raise VerifyException(f"expected rows of probabilities, f32 or f64, got {probs}")
        if count < 0:
            raise VerifyException(f"'num_samples' is {count}")
        if shape[-1] == 0:
            raise VerifyException("there is nothing to draw from")
        return tuple_type(KEY, TensorType(IntegerType(64), [*shape[:-1], count]))

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        key, probs = inputs
        *rows, n = probs.shape
        shape = [*rows, self.num_samples.value.data]
        following, words = drawn(key, te.product(shape))
        k, j = te.reduce_axis(n, "k"), te.reduce_axis(n, "j")
        sums = te.compute(
            probs.shape,
            lambda *i: te.sum(te.select(k <= i[-1], probs[(*i[:-1], k)], 0.0), k),
            "cumulative",
        )

        def index(*i: te.IterVar) -> te.Expr:
            """How many of the sums are not above a part of the last one: the last index is left where none is."""
            part = fraction(at_place(words, shape, i), probs.element_type) * sums[(*i[:-1], n - 1)]
            passed = (sums[(*i[:-1], j)] <= part) & (j < n - 1)
            return te.sum(te.cast(passed, IntegerType(64)), j)

        return [following, te.compute(shape, index, "multinomial")]


def extents_of(shape: DenseArrayBase[IntegerType]) -> list[int]:
    """The extents that a property says.

    Raises:
        VerifyException: one is negative.
    """
    found = list(ints(shape))
    if any(n < 0 for n in found):
        raise VerifyException(f"an extent of {found} is negative")
    return found


def check_broadcasts(operand: SSAValue, shape: Sequence[int], element: Attribute) -> None:
    """
    Raises:
        VerifyException: a parameter is of another type, or does not broadcast to `shape`.
    """
    own = shape_of(operand)
    fits = len(own) <= len(shape) and all(n in (1, m) for n, m in zip(own[::-1], shape[::-1], strict=False))
    if tensor(operand).element_type != element or not fits:
        raise VerifyException(f"a parameter must broadcast to {TensorType(element, shape)}, got {operand.type}")


OPS: list[type[Operation]] = [ThreefryGenerateOp, ThreefrySplitOp, UniformOp, NormalOp, MultinomialOp]
"""The operators that draw random numbers."""

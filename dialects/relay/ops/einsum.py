"""Sums of products in Einstein's notation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType, TupleType, i1
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import Fusion, FusionPattern, RelayOp, broadcast_dims, flatten_types, string
from ..nn_common import accumulator, narrow, widened
from ..precision import Accuracy

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Term, Terms

_SPARE_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"
"""Names of the dimensions that an ellipsis stands for."""


@dataclass(frozen=True)
class Equation:
    """The letters of each operand and of the result, without ellipses."""

    operands: tuple[str, ...]
    result: str

    @property
    def summed(self) -> str:
        """The letters that the result does not have, in order of appearance."""
        return "".join(dict.fromkeys(letter for letter in "".join(self.operands) if letter not in self.result))


@cache
def parse_equation(text: str, ranks: tuple[int, ...]) -> Equation:
    """NumPy's notation: `"ij,jk->ik"`; without an arrow, the letters that stand once, in alphabetical order.

    An ellipsis stands for the dimensions that have no letter, which are broadcast.

    Raises:
        VerifyException: the text is no equation, or does not fit operands of these ranks.
    """
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise VerifyException(f"equation '{text}' has {len(terms)} operands, but there are {len(ranks)}")
    operands: list[str] = []
    widest = 0
    for term, rank in zip(terms, ranks, strict=True):
        before, dots, after = term.partition("...")
        free = rank - len(before) - len(after)
        if not (before + after).isascii() or (before + after and not (before + after).isalpha()):
            raise VerifyException(f"'{term}' in equation '{text}' is not a list of letters")
        if free < 0 or (free and not dots):
            raise VerifyException(f"'{term}' in equation '{text}' does not fit an operand of rank {rank}")
        widest = max(widest, free)
        operands.append(before + _SPARE_LETTERS[len(_SPARE_LETTERS) - free :] + after)
    ellipsis = _SPARE_LETTERS[len(_SPARE_LETTERS) - widest :]
    letters = "".join(operands)
    if arrow:
        result = right.replace("...", ellipsis, 1)
    else:
        result = ellipsis + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in ellipsis))
    if len(set(result)) != len(result) or not set(result) <= set(letters):
        raise VerifyException(f"the result of equation '{text}' has a letter twice, or one that no operand has")
    return Equation(tuple(operands), result)


@irdl_op_definition
class EinsumOp(RelayOp):
    """Products of the operands' elements, summed over the letters of the equation that the result does not have.

    `y = np.einsum("bij,bjk->bik", a, c)`

    ```mlir
    %t = relay.tuple(%a, %c) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tuple<tensor<2x3x4xf32>, tensor<2x4x5xf32>>
    %y = relay.einsum %t {equation = "bij,bjk->bik"} : (tuple<tensor<2x3x4xf32>, tensor<2x4x5xf32>>) -> tensor<2x3x5xf32>
    ```
    """  # noqa: E501

    name = "relay.einsum"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED

    data = operand_def(TupleType)
    result = result_def(TensorType)

    equation = string()

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def extents(self, equation: Equation, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
        """The extent of each letter.

        Raises:
            VerifyException: the operands do not agree on one.
        """
        extents: dict[str, int] = {}
        for letters, shape in zip(equation.operands, shapes, strict=True):
            for letter, n in zip(letters, shape, strict=True):
                try:
                    extents[letter] = broadcast_dims(extents.get(letter, 1), n)
                except VerifyException:
                    raise VerifyException(
                        f"the operands have extents {extents[letter]} and {n} where equation "
                        f"{self.equation} has one letter"
                    ) from None
        return extents

    def infer(self) -> Sequence[Attribute]:
        fields = flatten_types([self.data.type])
        elements = {field.element_type for field in fields}
        if len(elements) != 1:
            raise VerifyException(f"the operands must have one element type, got {[str(f) for f in fields]}")
        shapes = [field.get_shape() for field in fields]
        equation = parse_equation(self.equation.data, tuple(map(len, shapes)))
        extents = self.extents(equation, shapes)
        return [TensorType(fields[0].element_type, [extents[letter] for letter in equation.result])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        equation = parse_equation(self.equation.data, tuple(x.rank for x in inputs))
        extents = self.extents(equation, [x.shape for x in inputs])
        element = inputs[0].element_type
        axes = {letter: te.reduce_axis(extents[letter], letter) for letter in equation.summed}

        def body(*i: te.IterVar) -> te.Expr:
            at = {**axes, **dict(zip(equation.result, i, strict=True))}
            product: te.Expr | None = None
            for x, letters in zip(inputs, equation.operands, strict=True):
                indices = [0 if n == 1 else at[letter] for letter, n in zip(letters, x.shape, strict=True)]
                factor = te.cast(x[tuple(indices)], accumulator(element))
                product = factor if product is None else product * factor
            assert product is not None
            return te.sum(product, list(axes.values()))

        shape = [extents[letter] for letter in equation.result]
        return narrow(te.compute(shape, body, "einsum"), element)

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        import numpy as np

        element = flatten_types([self.data.type])[0].element_type
        if element == i1:
            return None  # NumPy takes the disjunction for a sum
        wide = [widened(x, element) for x in inputs]
        return np.asarray(np.einsum(self.equation.data, *wide, optimize=True)).astype(inputs[0].dtype)

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        shapes = [x.shape for x in g.inputs]
        equation = parse_equation(self.equation.data, tuple(map(len, shapes)))
        extents = self.extents(equation, shapes)
        parts: list[Term] = []
        for k, letters in enumerate(equation.operands):
            if len(set(letters)) < len(letters):
                raise VerifyException(f"an operand has a letter twice: {letters}")
            others = [
                (term, of) for j, (term, of) in enumerate(zip(g.inputs, equation.operands, strict=True)) if j != k
            ]
            factors = [(g.grad, equation.result), *others]
            found = "".join(of for _, of in factors)
            factors += [(g.grad.filled(1, [extents[x]]), x) for x in letters if x not in found]
            text = ",".join(of for _, of in factors) + "->" + letters
            parts.append(g.grad.from_tuple(EinsumOp, [term for term, _ in factors], equation=text))
        return parts


OPS: list[type[Operation]] = [EinsumOp]
"""Sums of products."""

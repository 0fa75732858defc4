"""Einstein sums, as one `nn.batch_matmul` for each pair of operands.

The indices of a pair are of four kinds: those that both have and a later step needs (batch), those that both have and
nobody needs (summed), and those that only one has. Operands are brought to `[batch, own, summed]` and
`[batch, summed, own]` by transposes and reshapes; an index that only one operand has and nobody needs is summed first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

from xdsl.ir import SSAValue

from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of


@dataclass(frozen=True)
class Term:
    """A tensor and the index that each of its dimensions has."""

    value: SSAValue
    indices: str

    def sizes(self, node: Node) -> dict[str, int]:
        return dict(zip(self.indices, node.static_shape(self.value), strict=True))


def einsum(node: Node) -> SSAValue:
    """`numpy.einsum`; what is no chain of matrix products (diagonals, dynamic shapes) is left to `relay.einsum`."""
    try:
        return by_products(node)
    except Unsupported:
        return node.emit("einsum", node.emitter.tuple(node.present()), equation=node.string("equation"))


def by_products(node: Node) -> SSAValue:
    terms, result = read_equation(node.string("equation"), node.present())
    while len(terms) > 1:
        first, second, *rest = terms
        needed = set(result).union(*(term.indices for term in rest))
        terms = [contract(node, first, second, needed), *rest]
    term = reduce_to(node, terms[0], set(result))
    return permute(node, term, result).value


def read_equation(equation: str, values: Sequence[SSAValue]) -> tuple[list[Term], str]:
    """The terms of an equation, and the indices of its result; `...` stands for leading dimensions that broadcast.

    Raises:
        Malformed: the equation does not fit the operands.
        Unsupported: an index stands twice in one operand (a diagonal).
    """
    left, arrow, result = equation.replace(" ", "").partition("->")
    subscripts = left.split(",")
    if len(subscripts) != len(values):
        raise Malformed(f"equation '{equation}' has {len(subscripts)} terms, but there are {len(values)} inputs")
    spare = [letter for letter in ascii_letters if letter not in equation]
    hidden = [rank_of(v) - len(s) + 3 for v, s in zip(values, subscripts, strict=True) if "..." in s]
    names = "".join(spare[: max(hidden, default=0)])
    if not arrow:
        once = sorted(c for c in set(left) - set(",.") if left.count(c) == 1)
        result = ("..." if "..." in left else "") + "".join(once)
    terms: list[Term] = []
    for subscript, value in zip(subscripts, values, strict=True):
        own = max(rank_of(value) - len(subscript) + 3, 0)
        indices = subscript.replace("...", names[len(names) - own :])
        if len(indices) != rank_of(value):
            raise Malformed(f"term '{subscript}' does not fit a tensor of rank {rank_of(value)}")
        if len(set(indices)) != len(indices):
            raise Unsupported(f"the diagonal '{subscript}'")
        terms.append(Term(value, indices))
    return terms, result.replace("...", names)


def reduce_to(node: Node, term: Term, needed: set[str]) -> Term:
    """`term` summed over the indices that nobody needs."""
    axes = [i for i, index in enumerate(term.indices) if index not in needed]
    if not axes:
        return term
    value = node.emit("sum", term.value, axis=axes, keepdims=False)
    return Term(value, "".join(index for index in term.indices if index in needed))


def permute(node: Node, term: Term, order: str) -> Term:
    """`term` with its dimensions in another order."""
    if term.indices == order:
        return term
    if sorted(term.indices) != sorted(order):
        raise Malformed(f"the result's indices '{order}' are not those of the operands, '{term.indices}'")
    axes = [term.indices.index(index) for index in order]
    return Term(node.emit("transpose", term.value, axes=axes), order)


def contract(node: Node, a: Term, b: Term, needed: set[str]) -> Term:
    """The product of two terms, summed over what they share and nobody needs."""
    a = reduce_to(node, a, needed | set(b.indices))
    b = reduce_to(node, b, needed | set(a.indices))
    size_a, size_b = a.sizes(node), b.sizes(node)
    shared = [i for i in a.indices if i in size_b]
    if any(size_a[i] != size_b[i] for i in shared):
        return multiply(node, a, b, needed)  # a dimension of one broadcasts
    batch = "".join(i for i in shared if i in needed)
    summed = "".join(i for i in shared if i not in needed)
    own_a = "".join(i for i in a.indices if i not in size_b)
    own_b = "".join(i for i in b.indices if i not in size_a)

    def matrices(term: Term, rows: str, columns: str) -> SSAValue:
        sizes = term.sizes(node)
        extents = [prod(sizes[i] for i in group) for group in (batch, rows, columns)]
        return node.reshape(permute(node, term, batch + rows + columns).value, extents)

    y = node.emit(
        "nn.batch_matmul", matrices(a, own_a, summed), matrices(b, summed, own_b), transpose_a=False, transpose_b=False
    )
    indices = batch + own_a + own_b
    return Term(node.reshape(y, [(size_a | size_b)[i] for i in indices]), indices)


def multiply(node: Node, a: Term, b: Term, needed: set[str]) -> Term:
    """`contract` for terms that broadcast against each other: elementwise, then a sum."""
    indices = a.indices + "".join(i for i in b.indices if i not in a.indices)

    def spread(term: Term) -> SSAValue:
        order = "".join(i for i in indices if i in term.indices)
        sizes = term.sizes(node)
        return node.reshape(permute(node, term, order).value, [sizes.get(i, 1) for i in indices])

    return reduce_to(node, Term(node.emit("multiply", spread(a), spread(b)), indices), needed)


CONVERTERS: dict[str, Versions] = {"Einsum": {12: einsum}}

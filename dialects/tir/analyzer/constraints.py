"""Systems of linear relations between integers, and what solving one makes of it: TVM's `IntConstraints`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...support.arguments import ArgumentError
from .answers import Range
from .build import truth
from .nodes import FALSE, All, IntExpr


@dataclass(frozen=True)
class IntConstraints:
    """The integers `variables`, in `ranges` where these are known, for which all `relations` hold."""

    variables: tuple[IntExpr, ...] = ()
    ranges: Mapping[IntExpr, Range] = field(default_factory=dict[IntExpr, Range])
    relations: tuple[IntExpr, ...] = ()

    @staticmethod
    def nothing() -> IntConstraints:
        """What has no solution."""
        return IntConstraints(relations=(FALSE,))

    @property
    def is_nothing(self) -> bool:
        """Whether it has no solution, by its form."""
        return FALSE in self.relations


@dataclass(frozen=True)
class IntConstraintsTransform:
    """A system `src` and one of the same solutions, `dst`, with each variable of the one over those of the other."""

    src: IntConstraints
    dst: IntConstraints
    src_to_dst: Mapping[IntExpr, IntExpr] = field(default_factory=dict[IntExpr, IntExpr])
    dst_to_src: Mapping[IntExpr, IntExpr] = field(default_factory=dict[IntExpr, IntExpr])


def refuse_dependent(relations: Sequence[IntExpr], unknown: Sequence[IntExpr]) -> None:
    """Raise where a relation has what stands for an expression that depends on `unknown`, as `A[i]` on `i`: no other
    variables can be put into it."""
    for relation in relations:
        for atom in relation.variables:
            if not atom.within.isdisjoint(unknown):
                raise ArgumentError(f"{atom} depends on what is solved for in {relation}", hint="solve for others")


def each_of(relations: Sequence[IntExpr]) -> Iterator[IntExpr]:
    """Conditions, conjunctions taken apart."""
    for relation in relations:
        relation = truth(relation)
        if isinstance(relation, All):
            yield from each_of(relation.args)
        else:
            yield relation

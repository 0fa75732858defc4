"""Index maps as values: TVM's `IndexMap`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, cast

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr, AffineMap

from ...support.arguments import ArgumentError, checked_methods
from .analyzer import Analyzer
from .answers import Range
from .build import all_of, any_of, const
from .convert import dim, substitute, to_affine
from .iter_forms import detect_iter_map, inverse_affine_iter_map
from .nodes import FALSE, Const, ExprLike, IntExpr, as_expr, asking_for_values
from .padding import Gap, why_no_parts, widened, wider_box
from .variables import var

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ...support.nd import NDArray


_I: TypeAlias = IntExpr
Mapping: TypeAlias = (
    Callable[[_I], object]
    | Callable[[_I, _I], object]
    | Callable[[_I, _I, _I], object]
    | Callable[[_I, _I, _I, _I], object]
    | Callable[[_I, _I, _I, _I, _I], object]
    | Callable[[_I, _I, _I, _I, _I, _I], object]
)
"""A function of one index for each dimension."""


class AnyRankMapping(Protocol):
    """A function of any number of indices."""

    def __call__(self, *indices: IntExpr) -> object: ...


class AxisSeparator:
    """Stands between two indices of a map: the memory has another dimension there."""

    def __repr__(self) -> str:
        return "IndexMap.AXIS_SEPARATOR"


AXIS_SEPARATOR = AxisSeparator()


def call_with_indices(function: Callable[..., object], indices: Sequence[IntExpr]) -> object:
    """What a function of indices gives; parameters by name only, behind any number of others, are the last ones.

    Raises:
        TypeError: it takes another number of indices.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # of a built-in function
        parameters = []
    named = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    first = max(0, len(indices) - len(named))
    with asking_for_values():
        return function(*indices[:first], **dict(zip(named, indices[first:], strict=False)))


@checked_methods
@dataclass(frozen=True, eq=False)
class IndexMap:
    """Where an element goes: `final_indices` over the variables `initial_indices`.

    IndexMap.from_func(lambda i: [i // 4, i % 4]).map_indices([42])  # 10 and 2
    """

    AXIS_SEPARATOR: ClassVar[AxisSeparator] = AXIS_SEPARATOR
    """What a function for `Schedule.transform_layout` gives between indices that are apart in memory."""

    initial_indices: tuple[IntExpr, ...]
    final_indices: tuple[IntExpr, ...]

    @staticmethod
    def from_func(mapping_function: Mapping | AnyRankMapping, ndim: int | None = None) -> IndexMap:
        """The map of a function of so many indices that gives some; `ndim` says how many, where it takes any number.

        Raises:
            ArgumentError: it is not known how many, or it gives something else.
        """
        parameters = list(inspect.signature(mapping_function).parameters.values())
        plain = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        named = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        count = len(plain) + len(named)
        if any(each.kind is each.VAR_POSITIONAL for each in parameters):
            if ndim is None or ndim < count:
                raise ArgumentError("an index map of any number of indices", hint="say how many: ndim=2")
            plain += [f"i{number}" for number in range(len(plain), ndim - len(named))]
        elif ndim is not None and ndim != count:
            raise ArgumentError(f"the index map takes {count} indices, and not {ndim}")
        initial = [var(name) for name in plain + named]
        given = call_with_indices(mapping_function, initial)
        results = cast("Sequence[Any]", given if isinstance(given, list | tuple) else [given])
        return IndexMap(tuple(initial), tuple(map(as_expr, results)))

    def map_indices(self, indices: Sequence[ExprLike]) -> list[IntExpr]:
        """Where the element at `indices` goes.

        Raises:
            ArgumentError: there are too few of them, or too many.
        """
        values = dict(zip(self.initial_indices, map(as_expr, self._ranked(indices)), strict=True))
        return [Analyzer().simplify(substitute(index, values)) for index in self.final_indices]

    def map_shape(self, shape: Sequence[ExprLike]) -> list[IntExpr]:
        """The extents of what a buffer of `shape` becomes: each index runs from 0 to the greatest that is used, or that
        divisors say: 3 elements under `lambda i: [i // 4, i % 4]` become 1 times 4, with a gap.

        Raises:
            ArgumentError: there is no greatest, or an index is below 0.
        """
        analyzer = Analyzer()
        over = {v: (FALSE, as_expr(n) - 1) for v, n in zip(self.initial_indices, self._ranked(shape), strict=True)}
        known = self._known(shape)
        for v, shift, extent in zip(known, *wider_box(self.final_indices, known), strict=True):
            over[v] = const(-shift), const(extent - shift - 1)
        extents: list[IntExpr] = []
        for index in self.final_indices:
            low, high = analyzer.interval(index, over)
            if low is None or high is None or not analyzer.can_prove(low >= 0):
                raise ArgumentError(f"the index {index} has no least value from 0 on, or no greatest")
            extents.append(analyzer.simplify(high + 1))
        return extents

    def inverse(self, shape: Sequence[ExprLike]) -> IndexMap:
        """The way back, where the elements of a buffer of `shape` fill what they become.

        Raises:
            ArgumentError: they do not.
        """
        iters = {v: Range(n) for v, n in zip(self.initial_indices, self._ranked(shape), strict=True)}
        if (reason := why_no_parts(self.final_indices, self._known(shape))) is not None:
            raise ArgumentError(f"the index map has no inverse there: {reason}")
        found = detect_iter_map(self.final_indices, iters, check_level="bijective")
        if not found.indices:
            raise ArgumentError(f"the index map has no inverse there: {found.errors[0]}")
        outputs = [var(f"i{number}") for number in range(len(self.final_indices))]
        back = inverse_affine_iter_map(found.indices, outputs)
        return IndexMap(tuple(outputs), tuple(back.get(v, FALSE) for v in self.initial_indices))

    def non_surjective_inverse(self, shape: Sequence[ExprLike]) -> tuple[IndexMap, IntExpr]:
        """The way back where the elements of a buffer of `shape` leave gaps in what they become, and the condition of
        the indices to which none comes.

        Raises:
            ArgumentError: an extent is not known, or two elements come to one place.
        """
        extents = self._known(shape)
        if len(extents) != len(self.initial_indices):
            raise ArgumentError("the gaps of an index map are known where the extents are")
        found = widened(self.final_indices, extents)
        if isinstance(found, str):
            raise ArgumentError(f"the index map has no inverse there: {found}")
        outputs = [var(f"i{number}") for number in range(len(self.final_indices))]
        back = inverse_affine_iter_map(found.indices, outputs)
        before = zip(self.initial_indices, found.left, strict=True)
        inverse = IndexMap(tuple(outputs), tuple(back.get(v, FALSE) - shift for v, shift in before))
        return inverse, Analyzer().simplify(any_of(*(_in_gap(gap, outputs) for gap in found.gaps)))

    def is_equivalent_to(self, other: IndexMap) -> bool:
        """Whether both take every element to the same place."""
        if len(self.initial_indices) != len(other.initial_indices):
            return False
        mine, theirs = self.final_indices, other.map_indices(self.initial_indices)
        analyzer = Analyzer()
        return len(mine) == len(theirs) and all(map(analyzer.can_prove_equal, mine, theirs))

    def map_ndarray(self, array: npt.NDArray[np.generic]) -> NDArray:
        """An array, its elements where the map puts them; zeros where it puts none.

        Raises:
            ArgumentError: it has another number of dimensions.
        """
        import numpy as np

        from ...support.nd import as_nd
        from .convert import evaluate

        shape = [evaluate(extent, {}) for extent in self.map_shape(array.shape)]
        result = np.zeros(shape, array.dtype)
        for place in np.ndindex(array.shape):
            values = dict(zip(self.initial_indices, place, strict=True))
            result[tuple(evaluate(index, values) for index in self.final_indices)] = array[place]
        return as_nd(result)

    def to_affine_map(self) -> AffineMap:
        """The map as MLIR has it.

        Raises:
            ArgumentError: an index is not affine.
        """
        dims = {v: dim(number) for number, v in enumerate(self.initial_indices)}
        results = [to_affine(substitute(index, dims)) for index in self.final_indices]
        for index, result in zip(self.final_indices, results, strict=True):
            if result is None or not is_affine(result):
                raise ArgumentError(f"the index {index} is not affine")
        return AffineMap(len(dims), 0, tuple(each for each in results if each is not None))

    def _known(self, shape: Sequence[ExprLike]) -> dict[IntExpr, int]:
        """The extents that are known, by index."""
        extents = [Analyzer().simplify(as_expr(extent)) for extent in self._ranked(shape)]
        return {v: n.value for v, n in zip(self.initial_indices, extents, strict=True) if isinstance(n, Const)}

    def _ranked(self, given: Sequence[ExprLike]) -> Sequence[ExprLike]:
        if len(given) != len(self.initial_indices):
            raise ArgumentError(f"the map is of {len(self.initial_indices)} indices, and not of {len(given)}")
        return given


def _in_gap(gap: Gap, outputs: Sequence[IntExpr]) -> IntExpr:
    inner = sum((outputs[number] * scale for number, scale in gap.lower), as_expr(0))
    if gap.is_first:
        place = inner < gap.inner.stop
    else:
        place = inner.equal(gap.inner.start) if len(gap.inner) == 1 else inner >= gap.inner.start
    return place if gap.highest is None else all_of(outputs[gap.highest[0]].equal(gap.highest[1]), place)


def is_affine(expr: AffineExpr) -> bool:
    """Whether it multiplies with and divides by numbers only."""
    for part in expr.dfs():
        if isinstance(part, AffineBinaryOpExpr) and part.kind != AffineBinaryOpKind.Add:
            if not isinstance(part.rhs, AffineConstantExpr):
                return False
    return True

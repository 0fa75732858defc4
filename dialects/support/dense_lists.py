"""The lists in `dense<...>` and `array<...>`, read in runs of numbers (`number_lists`): long ones take no longer than
they must."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    BytesAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    RankedStructure,
    Signedness,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Position, Span

from .hints import isa
from .number_lists import BITS, COMPLEX, FLOAT, GAP, INTEGER, TRUTH, Kind, Number, Run, read_run

Direct: TypeAlias = "Callable[[list[Number]], Sequence[Number] | None]"
"""Makes elements of the numbers of a run; `None` where one of them is none."""

MAX_DEPTH = 256
"""The most dimensions of a literal."""


@dataclass(slots=True)
class _List:
    """A list that is being read: how many elements it has, and of which shape."""

    start: Position
    count: int = 0
    inner: list[int] | None = None


@dataclass
class Lists:
    """The lists of a literal.

    Args:
        input: the text.
        element_at: reads one element that is none of the usual, and gives it with its place.
    """

    input: Input[str]
    element_at: Callable[[Position], tuple[Number, Span[str]]]
    shape: list[int] = field(default_factory=list[int])
    runs: list[Run] = field(default_factory=list[Run])
    end: Position = 0
    """Behind them, or where a bracket is missing."""
    is_closed: bool = False

    def read(self, start: Position) -> None:
        """Read the lists that begin with the bracket at `start`.

        Raises:
            ParseError: lists beside one another are of other lengths, or an element is none.
        """
        text = self.input.content
        open: list[_List] = []
        position, first = start, start
        while True:
            if text.startswith("[", position):
                first = position
                if len(open) == MAX_DEPTH:
                    raise self._error(f"lists of more than {MAX_DEPTH} dimensions are not read", first, first + 1)
                open.append(_List(position))
                position = _after_gap(text, position + 1)
                if not text.startswith("]", position):
                    continue
                position, self.shape = position + 1, [0]
                open.pop()
            else:
                run = self._run(position)
                self.runs.append(run)
                position, first, self.shape = run.end, run.start, []
                open[-1].count += len(run.values) - 1
            while open:  # behind an element of the innermost list
                self._add(open[-1], first, position)
                self.end = position = _after_gap(text, position)
                if text.startswith(",", position):
                    position = _after_gap(text, position + 1)
                    break
                if not text.startswith("]", position):
                    return
                last = open.pop()
                position, first, self.shape = position + 1, last.start, [last.count, *(last.inner or [])]
            else:
                self.end = position
                self.is_closed = True
                return

    def _add(self, outer: _List, start: Position, end: Position) -> None:
        """Count what has been read from `start` to `end` in the list around it."""
        if outer.inner is None:
            outer.inner = self.shape
        elif outer.inner != self.shape:
            raise self._error("Tensor literal has inconsistent ranks between elements", start, end)
        outer.count += 1

    def _run(self, position: Position) -> Run:
        """The numbers that begin at `position`; one, where it is none of the usual."""
        try:
            run = read_run(self.input.content, position, self.runs[-1] if self.runs else None)
        except ValueError:  # too many digits, which is said in its place
            run = None
        if run is not None:
            return run
        value, span = self.element_at(position)
        return Run(None, [value], span.start, span.end)

    def _error(self, message: str, start: Position, end: Position) -> ParseError:
        return ParseError(Span(start, end, self.input), message)

    def attribute(
        self,
        type: RankedStructure[AnyDenseElement],
        element: Callable[[Number, Span[str], AnyDenseElement], Number],
        place: Span[str],
    ) -> DenseIntOrFPElementsAttr:
        """The attribute of a type, which ends at `place`; `element` makes an element of a single number.

        Raises:
            ParseError: a number is no element of the type, or the type has another shape.
            ValueError: a number is out of the type's range.
        """
        direct = _direct(type.element_type)
        values = [value for run in self.runs for value in self._converted(run, type.element_type, direct, element)]
        if (shape := list(type.get_shape())) != self.shape:
            told = f"Expected {shape} shape from the type, but got {self.shape} shape."
            raise ParseError(place, f"Shape mismatch in dense literal. {told}")
        return _attribute(type, values)

    def _converted(
        self,
        run: Run,
        type: AnyDenseElement,
        direct: dict[Kind | None, Direct],
        element: Callable[[Number, Span[str], AnyDenseElement], Number],
    ) -> Iterator[Number] | Sequence[Number]:
        """The numbers of a run: all at once where that goes, else one after the other."""
        if (convert := direct.get(run.kind)) is not None and (converted := convert(run.values)) is not None:
            return converted
        return (element(value, span, type) for value, span in run.located(self.input))


def dense_array(text: str, position: Position, type: Attribute) -> tuple[DenseArrayBase, Position] | None:
    """The array whose numbers begin at `position`, and where they end.

    `None` unless all are elements of `type`, written in decimal digits, those of floats with a point.
    """
    try:
        run = read_run(text, _after_gap(text, position))
    except ValueError:  # too many digits, which is said in its place
        return None
    if run is None or not text.startswith(">", end := _after_gap(text, run.end)):
        return None
    if isa(type, IntegerType) and run.kind is INTEGER:
        if (normal := _normal(cast("list[int]", run.values), type)) is not None:
            return DenseArrayBase(type, BytesAttr(type.pack(normal))), end
    elif isinstance(type, AnyFloat) and run.kind is FLOAT:
        return DenseArrayBase(type, BytesAttr(type.pack(cast("list[float]", run.values)))), end
    return None


def _attribute(type: RankedStructure[AnyDenseElement], values: list[Number]) -> DenseIntOrFPElementsAttr:
    if isinstance(element := type.element_type, IntegerType):
        if (normal := _normal(cast("list[int]", values), element)) is not None:
            return DenseIntOrFPElementsAttr(type, BytesAttr(element.pack(normal)))
    return DenseIntOrFPElementsAttr.from_list(type, values)  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownVariableType]


def _after_gap(text: str, position: Position) -> Position:
    match = GAP.match(text, position)
    assert match is not None
    return match.end()


def _direct(type: AnyDenseElement) -> dict[Kind | None, Direct]:
    """What makes elements of a type of the numbers of a run, for each kind of which it can."""
    match type:
        case IntegerType():
            unsigned = type.signedness.data == Signedness.UNSIGNED
            integers = _if_positive if unsigned else _as_they_are
            found: dict[Kind | None, Direct] = {INTEGER: integers, BITS: integers}
            return found | {TRUTH: _as_they_are} if type.width.data == 1 else found
        case IndexType():
            return {INTEGER: _as_they_are, BITS: _as_they_are}
        case ComplexType():
            return {COMPLEX: partial(_pairs, float if isinstance(type.element_type, AnyFloat) else int)}
        case _:
            return {FLOAT: _as_they_are, INTEGER: _as_floats, TRUTH: _as_floats, BITS: partial(_floats_of_bits, type)}


def _as_they_are(values: list[Number]) -> list[Number]:
    return values


def _if_positive(values: list[Number]) -> list[Number] | None:
    return values if min(cast("list[int]", values)) >= 0 else None


def _as_floats(values: list[Number]) -> list[Number]:
    return list(map(float, cast("list[int]", values)))


def _floats_of_bits(type: AnyFloat, values: list[Number]) -> Sequence[Number] | None:
    size, bits = type.compile_time_size, cast("list[int]", values)
    if max(bits) >> 8 * size:
        return None
    return type.unpack(b"".join(each.to_bytes(size, "little") for each in bits), len(bits))


def _pairs(number: Callable[[int | float], int | float], values: list[Number]) -> list[Number]:
    pairs = cast("list[tuple[float, float]]", values)
    return cast("list[Number]", [(number(real), number(imaginary)) for real, imaginary in pairs])


def _normal(values: list[int], type: IntegerType) -> list[int] | None:
    """Integers as a type's elements, the greatest of those without a sign below 0, as xDSL has them."""
    low, high = type.value_range()
    if values and not low <= min(values) <= max(values) < high:
        return None
    if type.signedness.data == Signedness.SIGNLESS:
        return [value - high if value >= high >> 1 else value for value in values]
    return values

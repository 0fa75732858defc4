"""Whether a block in loops computes what an intrinsic's description says, and where its buffers are then.

The loops are compared in order, those of one iteration left out. Index expressions are compared over these loops and
the tile's number along each iterator, in normal form: a parameter of the description stands for a buffer, from an
element on that moves with the tile only. Everything else is compared as trees; the operands of sums and products may be
the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from ....dialects.tir.affine import (
    Linear,
    Range,
    access_map_over,
    dims_in,
    expr_range,
    linear,
    over_dimensions,
    simplify,
    substitute,
)
from ....dialects.tir.argument_scopes import scope_of_argument
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForOp,
    IterKind,
    enclosing_loops,
    loop_of,
    memref_of,
)
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.symbols import Extent, arguments_around, greatest
from ..analysis.tiles import Tile
from ..schedule.errors import ScheduleError
from .match_trees import Differs, TreeMatcher
from .tensor_intrin import TensorIntrin, block_of


@dataclass(frozen=True)
class Place:
    """Where a parameter of a description is: in `buffer`, from the element `start` on, over the numbers of tiles along
    the block's iterators. A buffer with more dimensions than the parameter is used at one index of its first ones."""

    buffer: SSAValue
    start: tuple[AffineExpr, ...]


@dataclass(frozen=True)
class Match:
    """How a block and an intrinsic fit."""

    intrin: TensorIntrin
    block: BlockOp
    tiles: Sequence[Tile]
    places: Mapping[SSAValue, Place]
    """By parameter of the description."""

    @property
    def arguments(self) -> Sequence[SSAValue]:
        """The arguments of the function of the block, which its symbols are."""
        return arguments_around(self.block)

    @property
    def parameters(self) -> dict[SSAValue, SSAValue]:
        """By buffer of the implementation, the same of the description."""
        given: Sequence[SSAValue] = self.intrin.impl.region.block.args
        return dict(zip(given, self.intrin.desc.region.block.args, strict=True))

    def is_whole(self, parameter: SSAValue) -> bool:
        """Whether a parameter of the description, or of the implementation, stands for all of a buffer."""
        place = self.places[self.parameters.get(parameter, parameter)]
        only = [
            AffineConstantExpr(0) if self.tile_count(n) == 1 else AffineExpr.dimension(n)
            for n in range(len(self.tiles))
        ]
        starts = all(simplify(substitute(start, only)) == AffineConstantExpr(0) for start in place.start)
        return starts and place.buffer.type == parameter.type

    def tile_count(self, number: int) -> Extent:
        """The number of tiles along an iterator."""
        return tile_count(self.block, self.tiles, number)


def tile_count(block: BlockOp, tiles: Sequence[Tile], number: int) -> Extent:
    """The number of tiles along an iterator of `block`."""
    extent, tile = block.sizes[number], tiles[number].tile
    return extent // tile if isinstance(extent, int) else extent


def match_desc(intrin: TensorIntrin, block: BlockOp, inside: Sequence[ForOp], tiles: Sequence[Tile]) -> Match:
    """Match `block`, in the loops `inside`, with what `intrin` describes.

    Raises:
        ScheduleError: they differ, and how.
    """
    desc = block_of(intrin.desc)
    name = f"the intrinsic {intrin.name}"
    loops = [loop for loop in inside if loop.size != 1]
    wanted = [loop for loop in enclosing_loops(desc) if loop.size != 1]
    extents, wanted_extents = [loop.size for loop in loops], [loop.size for loop in wanted]
    if extents != wanted_extents:
        raise ScheduleError.at(
            block,
            f"{name} is of loops of {_numbers(wanted_extents)} iterations, not of {_numbers(extents)}",
            hint="split and reorder the loops as it has them",
        )
    kinds, wanted_kinds = _kinds(block, loops), _kinds(desc, wanted)
    if kinds != wanted_kinds:
        raise ScheduleError.at(
            block, f"{name} binds its loops to iterators of the kinds {_words(wanted_kinds)}, not {_words(kinds)}"
        )
    if _said_of(block) != _said_of(desc):
        raise ScheduleError.at(block, f"{name} has other annotations: {_names(desc)}, not {_names(block)}")
    if desc.conditions:
        raise ScheduleError.at(block, f"{name} has a predicate, and what it takes the place of runs always")
    if desc.init is not None and block.init is None:
        raise ScheduleError.at(block, f"{name} starts a reduction, and @{block.block_name} goes on with one")
    matcher = _Matcher(intrin, block, desc, loops, wanted, tiles)
    places = matcher.body(block.body.block, desc.body.block, {})
    if desc.init is not None:
        assert block.init is not None
        places = matcher.body(block.init.block, desc.init.block, places)
    matcher.check_covered(places)
    _check_scopes(intrin, block, places)
    return Match(intrin, block, tiles, places)


def _check_scopes(intrin: TensorIntrin, block: BlockOp, places: Mapping[SSAValue, Place]) -> None:
    """Each buffer lies where the intrinsic takes it.

    Raises:
        ScheduleError: one lies elsewhere.
    """
    for parameter, wanted in zip(intrin.desc.region.block.args, intrin.scopes or (), strict=False):
        buffer = places[parameter].buffer
        scope = buffer.owner.scope.data if isinstance(buffer.owner, AllocBufferOp) else scope_of_argument(buffer)
        if scope != wanted:
            what = f"the intrinsic {intrin.name} takes its {buffer_name(parameter)} in the scope {wanted}"
            hint = f'cache_read or cache_write it there, or set_scope(..., "{wanted}")'
            raise ScheduleError.at(block, f"{what}, and {buffer_name(buffer)} has the scope {scope}", hint=hint)


def _numbers(extents: Sequence[Extent]) -> str:
    return ", ".join(map(str, extents)) or "no"


def _words(kinds: Sequence[frozenset[IterKind]]) -> str:
    return ", ".join("+".join(sorted(kind.value for kind in each)) or "none" for each in kinds)


def _said_of(block: BlockOp) -> dict[str, Attribute]:
    """The annotations of a block, but for notes of a search, which say nothing of what is computed."""
    return {key: value for key, value in block.attributes.items() if not key.startswith(_OF_A_SEARCH)}


_OF_A_SEARCH = "meta_schedule."


def _names(block: BlockOp) -> str:
    return ", ".join(f"{key} = {value}" for key, value in block.attributes.items()) or "none"


def _kinds(block: BlockOp, loops: Sequence[ForOp]) -> list[frozenset[IterKind]]:
    """The kinds of the iterators that are bound to each loop."""
    values = list(block.loop_vars)
    return [
        frozenset(
            kind
            for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
            if any(values[d] is loop.var for d in binding.used_dims())
        )
        for loop in loops
    ]


class _Matcher(TreeMatcher[Place]):
    """Compares bodies. Indices are over these dimensions: the number of the tile along each iterator of the block, then
    the loops in it."""

    def __init__(
        self,
        intrin: TensorIntrin,
        block: BlockOp,
        desc: BlockOp,
        loops: Sequence[ForOp],
        wanted: Sequence[ForOp],
        tiles: Sequence[Tile],
    ):
        self.intrin = intrin
        self.block = block
        self.desc = desc
        count = len(tiles)
        self.first_loop = count
        self.ranges: dict[AffineExpr, Range] = {}
        for number in range(count):
            many = tile_count(block, tiles, number)
            high = many - 1 if isinstance(many, int) else greatest(many)
            self.ranges[AffineExpr.dimension(number)] = (0, max(high, 0))
        for position, loop in enumerate(loops):
            self.ranges[AffineExpr.dimension(count + position)] = (0, loop.trip_count - 1)
        self.of_block = [
            AffineExpr.dimension(number) * tile.tile + _over(tile.inner, block.loop_vars, loops, count)
            for number, tile in enumerate(tiles)
        ]
        self.of_desc = [_over(expr, desc.loop_vars, wanted, count) for expr in desc.bindings.data.results]

    def body(self, block: Block, desc: Block, places: Mapping[SSAValue, Place]) -> dict[SSAValue, Place]:
        """Match two bodies; gives `places` and more."""
        self.dims = over_dimensions(block.args), over_dimensions(desc.args)
        stores = [[op for op in each.walk() if isinstance(op, memref.StoreOp)] for each in (block, desc)]
        if len(stores[0]) != 1 or len(stores[1]) != 1:
            raise self.refusal(f"it stores {len(stores[1])} elements, and the block {len(stores[0])}; one is matched")
        found = dict(places)
        for ours, theirs in zip(*stores, strict=True):
            if ours.parent is not block or theirs.parent is not desc:
                raise self.refusal("it stores in a branch" if theirs.parent is not desc else "the block does")
            try:
                found = self.access(ours, theirs, found)
                found = self.value(ours.value, theirs.value, found)
            except Differs as difference:
                raise self.refusal(str(difference)) from None
        return found

    def refusal(self, why: str) -> ScheduleError:
        return ScheduleError.at(
            self.block, f"the intrinsic {self.intrin.name} computes something else than @{self.block.block_name}: {why}"
        )

    def access(
        self,
        ours: memref.LoadOp | memref.StoreOp,
        theirs: memref.LoadOp | memref.StoreOp,
        places: dict[SSAValue, Place],
    ) -> dict[SSAValue, Place]:
        """Match two accesses."""
        a, b = self.indices(ours, 0), self.indices(theirs, 1)
        name = f"%{theirs.memref.name_hint or 'its buffer'}"
        if memref_of(ours.memref).element_type != memref_of(theirs.memref).element_type:
            raise Differs(f"its {name} has elements of another type")
        if len(a) < len(b):
            raise Differs(f"its {name} has more dimensions than the buffer here")
        lead = len(a) - len(b)
        start: list[AffineExpr] = []
        for number, index in enumerate(a):
            moved = Linear({}, 0) if number < lead else b[number - lead]
            rest = linear(index.to_expr() + moved.to_expr() * -1, self.ranges)
            if any(d >= self.first_loop for atom in rest.terms for d in atom.used_dims()):
                raise Differs(f"its {name} is accessed at other indices, in dimension {number} of the buffer here")
            start.append(rest.to_expr())
        place = Place(ours.memref, tuple(start))
        if places.get(theirs.memref, place) != place:
            raise Differs(f"its {name} would be in two places")
        others = [v for v, other in places.items() if v is not theirs.memref and other.buffer is ours.memref]
        if others and not set(self.desc.writes).isdisjoint((theirs.memref, *others)):
            raise Differs(f"its {name} would lie in the same buffer as %{others[0].name_hint}")
        return {**places, theirs.memref: place}

    def indices(self, op: memref.LoadOp | memref.StoreOp, side: int) -> list[Linear]:
        dims = dict(self.dims[side])
        map = access_map_over(op, dims)
        if map is None:
            raise Differs("an element's place depends on data")
        exprs = self.of_desc if side else self.of_block
        return [linear(substitute(index, exprs), self.ranges) for index in map.results]

    def check_covered(self, places: Mapping[SSAValue, Place]) -> None:
        """The description reaches all of its parameters, so that an implementation may touch all of them."""
        corners: dict[SSAValue, list[Range]] = {}
        for region in (self.desc.body, *([self.desc.init] if self.desc.init is not None else [])):
            self.dims = over_dimensions(region.block.args), over_dimensions(region.block.args)
            for op in region.walk():
                if isinstance(op, memref.LoadOp | memref.StoreOp):
                    box = [_span(index, self.ranges) for index in self.indices(op, 1)]
                    corners.setdefault(op.memref, box)
        parameters: Sequence[SSAValue] = self.intrin.desc.region.block.args
        for parameter in parameters:
            if parameter not in places:
                raise self.refusal(f"nothing is said of its %{parameter.name_hint}")
            shape = memref_of(parameter).get_shape()
            if corners.get(parameter) != [(0, extent - 1) for extent in shape]:
                raise self.refusal(f"its description does not reach all of %{parameter.name_hint}")


def _span(index: Linear, ranges: Mapping[AffineExpr, Range]) -> Range:
    """Between which values an index lies, both reached, as far as its terms vary by themselves: iterators, and
    quotients and remainders of iterators by numbers."""
    low = high = index.constant
    varied = set[int]()
    for atom, factor in index.terms.items():
        of = atom.lhs if isinstance(atom, AffineBinaryOpExpr) else atom
        is_own = isinstance(of, AffineDimExpr) and of.position not in varied
        least, most = (expr_range(atom, ranges) if is_own else None) or (0, 0)
        varied |= dims_in(atom)
        low += min(least * factor, most * factor)
        high += max(least * factor, most * factor)
    return low, high


def _over(expr: AffineExpr, values: Sequence[SSAValue], loops: Sequence[ForOp], first: int) -> AffineExpr:
    """An expression over `values`, over `loops` from dimension `first` on; other loops are at their first iteration."""
    position: dict[SSAValue, int] = {loop.var: number for number, loop in enumerate(loops)}
    dims: list[AffineExpr] = [
        AffineExpr.dimension(first + position[v]) if v in position else AffineConstantExpr(loop_of(v).start)
        for v in values
    ]
    return substitute(expr, dims)

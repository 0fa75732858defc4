"""What every `relay` operator is made of: `RelayOp`, its fusion pattern, its property fields (`fields.py`), and shapes
(`shapes.py`).

An operator is one class. It declares operands, properties and result with xDSL's IRDL, and says

* `infer`    its type relation: the result types that follow from operand types and properties,
* `traits`   among them `FusionPattern`, TVM's `TOpPattern`, which FuseOps reads, and `Pointwise`,
* `compute`  its meaning, as a tensor expression,
* `gradient` how its operands' gradients follow from its results',
* `shared_rows`   what of an operand a row of its result needs, which FuseOps asks for chains of reductions,
* `channel_block`, `to_blocks`, `reordered`, `reblocked`   its layout rules,
* `ONNX`     the ONNX operators that it is, one to one.

No table elsewhere lists operators by these: an operator of another package has all of them.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from math import prod
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import (
    IntegerType,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, OptionalDef, ParsePropInAttrDict
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from .. import te
from ..support.diagnostics import Diagnostic, UsageError, did_you_mean
from ..support.dtypes import is_storage
from ..support.hints import is_sequence
from ..support.looks import by_looks
from ..support.retyping import retype
from .blocking import PLAIN, Blocks, Wish
from .fields import Value as Value
from .fields import as_attribute as as_attribute
from .fields import flag as flag
from .fields import int_list as int_list
from .fields import integer as integer
from .fields import ints as ints
from .fields import is_true as is_true
from .fields import opt_int_list as opt_int_list
from .fields import opt_integer as opt_integer
from .fields import real as real
from .fields import real_list as real_list
from .fields import string as string
from .inference import beside_look, inferred_once
from .precision import Accuracy, Precision
from .reordering import Form, Order, Reordered
from .shapes import DYNAMIC as DYNAMIC
from .shapes import MAX_RANK as MAX_RANK
from .shapes import Tensor as Tensor
from .shapes import broadcast_dims as broadcast_dims
from .shapes import broadcast_read as broadcast_read
from .shapes import broadcast_shapes as broadcast_shapes
from .shapes import common_rows as common_rows
from .shapes import compatible as compatible
from .shapes import flatten_types as flatten_types
from .shapes import is_dynamic as is_dynamic
from .shapes import is_static as is_static
from .shapes import is_told as is_told
from .shapes import leaf_types as leaf_types
from .shapes import normalize_axis as normalize_axis
from .shapes import shape_of as shape_of
from .shapes import shape_text as shape_text
from .shapes import tensor as tensor
from .shapes import tensors_in as tensors_in
from .types import IncompleteType, is_complete

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .gradient import Gradient, Terms

    NDArray: TypeAlias = npt.NDArray[np.generic]


class Fusion(IntEnum):
    """TVM's `OpPatternKind`: how an operator may be fused. Numbers are TVM's, and their order means something."""

    ELEMWISE = 0
    BROADCAST = 1
    INJECTIVE = 2
    COMM_REDUCE = 3
    OUT_ELEMWISE_FUSABLE = 4
    TUPLE = 7
    OPAQUE = 8


@dataclass(frozen=True)
class FusionPattern(OpTrait):
    """TVM's `TOpPattern`. An operator without this trait must be decomposed before fusion."""

    kind: Fusion


class NonComputational(OpTrait):
    """TVM's `TNonComputational`: not evaluated, not fused; a later pass gives it meaning."""


class Stateful(OpTrait):
    """TVM's `TOpIsStateful`: never folded, shared, or dropped as dead."""


class ReshapeLike(OpTrait):
    """TVM's `TReshapeOp`: the result is the operand's memory seen under another shape."""


class Pointwise(OpTrait):
    """One function of the elements, wherever they stand: operands broadcast, and nothing depends on an index.

    So the operator is the same on tensors of any shape and layout, and uniform operands give a uniform result.
    """


class Moves(OpTrait):
    """Elements are moved about or converted, but nothing is computed with them: so they may be of any type, also of
    those that numbers are only kept in (`is_storage`)."""


@cache
def _has_segments(op_type: type[RelayOp]) -> bool:
    """Whether operands are counted by segments."""
    return any(isinstance(option, AttrSizedOperandSegments) for option in op_type.get_irdl_definition().options)


def _are_values(segments: list[SSAValue | Sequence[SSAValue]]) -> TypeGuard[list[SSAValue]]:
    """Whether each segment is one value, as of most operators: these are made without a look at each definition."""
    return all(type(segment) is OpResult or type(segment) is BlockArgument for segment in segments)


@cache
def _takes_storage(op_type: type[RelayOp]) -> bool:
    return op_type.has_trait(Moves) or not op_type.has_compute()


@cache
def fusion_pattern(op_type: type[Operation]) -> Fusion | None:
    """The fusion pattern that an operator is declared with, or `None`."""
    for trait in op_type.get_traits_of_type(FusionPattern):
        return trait.kind
    return None


def describe(op_type: type[Operation], formula: str, example: str) -> None:
    """Complete a docstring that is a sentence by the formula and the example, which follow from the operator's name
    where a family has one form: so a member of it is a line for each of its facts."""
    op_type.__doc__ = f"{op_type.__doc__}\n\n`{formula}`\n\n```mlir\n{example}\n```\n"


class RelayOp(IRDLOperation, ABC):
    """Base of the Relay operators.

    Build one with operands and properties as Python values; result types are inferred:

        Conv2dOp(data, weight, strides=[2, 2], padding=[1, 1, 1, 1]).result
    """

    irdl_options = (ParsePropInAttrDict(),)

    ONNX: ClassVar[tuple[str, ...]] = ()
    """The ONNX operators that this is, one to one: inputs are the operands, attributes the properties of their names.
    Those of other domains than ONNX's own are written with it: `"com.example.Softcap"`. What is not one to one has a
    converter, found by `weft.frontend.onnx.registry`."""
    IMPLIED: ClassVar[tuple[str, ...]] = ()
    """The properties that say of extents what the operands' types say as well, and may be left out."""
    CONVERTED: ClassVar[tuple[str, ...]] = ()
    """The operands that calls in Python and in Relay's text may have in another element type than the first operand's,
    in which they are taken."""

    def __init__(self, *operands: SSAValue | Operation | Sequence[SSAValue], **properties: Value):
        segments: list[SSAValue | Sequence[SSAValue]]
        segments = [operand.results[0] if isinstance(operand, Operation) else operand for operand in operands]
        definition = type(self).get_irdl_definition()
        for name in properties:
            if name not in definition.properties:
                hint = did_you_mean(name, definition.properties) or f"they are: {', '.join(definition.properties)}"
                raise UsageError(f"{self.name} has no property '{name}'", hint=hint)
        for name, wanted in definition.properties.items():
            if properties.get(name) is None and wanted.default_value is None and not isinstance(wanted, OptionalDef):
                raise UsageError(f"{self.name} needs the property '{name}'")
        unknown = [_UNKNOWN] * len(definition.results)
        given = {name: as_attribute(v) for name, v in properties.items() if v is not None}
        if len(segments) == len(definition.operands) and _are_values(segments) and not _has_segments(type(self)):
            Operation.__init__(self, operands=segments, result_types=unknown, properties=given)
        else:
            absent = len(definition.operands) - len(segments)  # which are optional
            super().__init__(operands=[*segments, *[()] * absent], result_types=unknown, properties=given)
        try:
            types = self.inferred()
        except VerifyException:
            self.drop_all_references()  # what nobody has does not use its operands
            raise
        for result, inferred in zip(self.results, types, strict=True):
            retype(result, inferred)

    PRECISION: ClassVar[Precision | None] = None
    """What floats of half the width do to it; `None` is FOLLOW where elements are taken one by one, or moved only."""

    @classmethod
    def precision(cls) -> Precision | None:
        """Its class for `to-mixed-precision`; `None` if nothing is said of it."""
        single = any(cls.has_trait(trait) for trait in (Pointwise, Moves, ReshapeLike))
        return cls.PRECISION or (Precision.FOLLOW if single else None)

    ACCURACY: ClassVar[Accuracy | None] = None
    """How exactly it is computed, where that does not follow from its traits."""

    @classmethod
    def accuracy(cls) -> Accuracy | None:
        """How exactly it is computed; `None` if nothing is said of it."""
        if cls.ACCURACY is not None:
            return cls.ACCURACY
        if cls.has_trait(Pointwise):
            return Accuracy.ROUNDED
        if cls.has_trait(Moves) or cls.has_trait(ReshapeLike):
            return Accuracy.EXACT
        pattern = fusion_pattern(cls)
        return None if pattern is None else _ACCURACY.get(pattern)

    def terms(self) -> int:
        """How many elements are added up for one of a result, about; extents that are not known count as `LONG`."""
        read, made = (_largest([value.type for value in values]) for values in (self.operands, self.results))
        try:
            return max(self.macs(), read) // made
        except Diagnostic:
            return max(read // made, LONG)

    def infer(self) -> Sequence[Attribute]:
        """The type relation: one result type for each result, from the operands' types and the properties.

        Dynamic dimensions (`?`) stay dynamic unless something fixes them.

        Raises:
            VerifyException: the operands do not fit the operator; the message names the operand and both shapes.
        """
        raise VerifyException(f"{type(self).__module__}.{type(self).__name__} has no type relation: it lacks `infer`")

    def implied(self) -> Mapping[int, Attribute]:
        """The types that operands, by their places, must have as the first operand's type and the properties say: what
        a variable is that was made without a type. Asked where the first one's is known.

        Raises:
            VerifyException: the properties do not fit the first operand.
        """
        return {}

    def inferred(self) -> Sequence[Attribute]:
        """What `infer` gives, if there can be such tensors.

        Raises:
            VerifyException: as `infer`; or an extent is negative, a result has more elements than can be counted, or
                operands are of a type that is not computed with.
        """
        try:
            return inferred_once(self, self._inferred)
        except VerifyException as error:
            raise self.at_an_operand(error) from error

    def at_an_operand(self, error: VerifyException) -> VerifyException:
        """What the type relation has raised, as an error that knows the operand that it is about."""
        from .mismatch import RelationError

        return RelationError(self, _infer, str(error))

    def _inferred(self) -> Sequence[Attribute]:
        if not all(is_complete(operand.type) for operand in self.operands):
            return [IncompleteType()] * len(self.results)
        types = cast("object", self.infer())  # what is annotated, a plug-in may not have kept to
        if not is_types(types) or len(types) != len(self.results):
            found = f"{len(types)} types" if is_types(types) else type(types).__name__
            where = f"`infer` of {type(self).__module__}.{type(self).__name__}"
            raise VerifyException(f"{where} gives {found}, not a list of a type for each result ({len(self.results)})")
        if not _takes_storage(type(self)):
            self._refuse_storage()
        for shape in (type.get_shape() for type in leaf_types(types) if isinstance(type, TensorType)):
            extents = [n for n in shape if n != DYNAMIC]
            if any(n < 0 for n in extents):
                raise VerifyException(f"would have a result of shape {shape_text(shape)}")
            if 0 not in extents and prod(extents) > MAX_ELEMENTS:
                raise VerifyException(f"would have a result of shape {shape_text(shape)}, which is too large")
        return types

    def _refuse_storage(self) -> None:
        for type in leaf_types([operand.type for operand in self.operands]):
            if isinstance(type, TensorType) and is_storage(element := cast(Tensor, type).element_type):
                wide = "i8" if isinstance(element, IntegerType) else "f32"
                raise VerifyException(f"{element} is a type to keep numbers in; to compute with them, cast to {wide}")

    def compute(self, *inputs: te.Tensor) -> te.Tensor | Sequence[te.Tensor]:
        """The operator's meaning: result tensors as expressions over the input tensors (tuples come flattened).

        Called only when all shapes are static.
        """
        raise NotImplementedError(f"{self.name} has no compute")

    def dims_of_results(self, given: Sequence[te.Tensor]) -> Sequence[Sequence[te.Dim]] | None:
        """The extents of the results where `compute` need not say them; `None` where it does.

        Raises:
            TypeError: they are not known.
        """
        return None

    STANDS_ALONE: ClassVar[bool] = False
    """Whether fusion leaves it alone: it is no kernel."""

    SAYS_EXTENT: ClassVar[bool] = False
    """Whether its first operand is a number that data decides, its second one what that is at most, and its result an
    extent: the number between 0 and that."""

    def told_extents(self) -> Sequence[SSAValue]:
        """The operands whose elements say what extents the results have."""
        return ()

    @classmethod
    def has_compute(cls) -> bool:
        return cls.compute is not RelayOp.compute

    def numpy(self, *inputs: NDArray) -> NDArray | Sequence[NDArray] | None:
        """A direct NumPy evaluation where the generic one of `compute` is too slow; `None` where there is none.

        An addition, never the definition: a test holds it equal to `compute`.
        """
        return None

    def gradient(self, g: Gradient) -> Terms:
        """The gradients by the tensors among the operands (tuples come flattened), from those by the results: terms
        made of `g`, or `None` where nothing depends on the operand. See `gradient.py`.

        Raises:
            VerifyException: there is none with these operands or properties.
        """
        raise NotImplementedError(f"{self.name} has no gradient")

    @classmethod
    def has_gradient(cls) -> bool:
        """Whether it can be differentiated."""
        return cls.gradient is not RelayOp.gradient

    def legalized(self, take: Callable[[Operation], SSAValue]) -> SSAValue | None:
        """What `legalize` puts in the place of this operator: a value of its type, made of operations that are given to
        `take`, which returns their results; `None` to leave it."""
        return None

    def shared_rows(self, operand: int) -> int:
        """Fusion: how many leading dimensions the result has in common with an operand, row for row.

        What stands at an index along these dimensions is computed from just what stands there in the operand. So both
        can be computed in one loop over them, with one row of the operand at a time. Of operators with one result.
        """
        pattern = fusion_pattern(type(self))
        if pattern in (Fusion.ELEMWISE, Fusion.BROADCAST):
            same_rank = len(shape_of(self.operands[operand])) == len(shape_of(self.results[0]))
            return common_rows(self.operands[operand], self.results[0]) if same_rank else 0
        return common_rows(self.operands[operand], self.results[0]) if self.has_trait(ReshapeLike) else 0

    def channel_block(self, blocks: Blocks) -> int:
        """Layout: the block in which this operator can be computed where its `NCHW` operands are in channel blocks.

        `PLAIN` where it cannot, which a rule that declines says by `blocks.missed`. A `Pointwise` operator can.
        """
        if not self.has_trait(Pointwise):
            return PLAIN
        shape = shape_of(self.results[0])
        return blocks.channel_block(shape[1]) if len(shape) == 4 and all(map(fits_blocks, self.operands)) else PLAIN

    def in_any_block(self) -> bool:
        """Layout: whether an operator whose `channel_block` is a block could be computed in any other as well."""
        return self.has_trait(Pointwise)

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        """Layout: put what computes this operator in blocks of `block`, which `channel_block` gave, in its place."""
        operands = [blocks.fit(operand, block, self) for operand in self.operands]
        blocks.replace(self, type(self)(*operands, **self.properties), block)

    def wish(self) -> Wish:
        """Layout: how much blocks are wanted where `channel_block` allows them."""
        return Wish.EITHER

    def layout_sources(self) -> Sequence[SSAValue]:
        """Layout: the values whose layout matters."""
        return self.operands

    def pack(self, blocks: Blocks) -> bool:
        """Layout: replace an operator that stays plain by one with its constant operands in another layout.

        Returns whether that was done.
        """
        return False

    LAYOUTS: ClassVar[tuple[str, ...]] = ()
    """Layout: the properties that name the layouts of the first operands, where these may be chosen; several operands
    may have one."""

    def default_layout(self, layout: str) -> str | None:
        """Layout: that of the second operand (a kernel) which goes best with one of the first; `None` if none does."""
        return None

    def reordered(self, order: Order) -> Reordered | None:
        """Layout: this operator where its first operand (of a `Pointwise` operator: its result) has its axes in another
        order; `None` where it has to have them as they are."""
        if not self.has_trait(Pointwise):
            return None
        return Reordered([order] * len(self.results), along=range(len(self.operands)))

    def reblocked(self, form: Form) -> Reordered | None:
        """Layout: as `reordered`, where parts of axes are dimensions of their own (`NCHW16c`): `None` where it cannot
        be computed so. Blocks divide the extents of what is taken in that form, and have to divide the result's."""
        if not self.has_trait(Pointwise):
            return None
        return Reordered([form] * len(self.results), along=range(len(self.operands)))

    @classmethod
    def has_layout_rule(cls) -> bool:
        """Whether it can be computed on channels in blocks, or with its weights packed."""
        own = cls.channel_block is not RelayOp.channel_block or cls.pack is not RelayOp.pack
        return own or cls.has_trait(Pointwise)

    def macs(self) -> int:
        """The multiplications with addition that it takes: of convolutions and matrix products, 0 for others.

        Raises:
            Diagnostic: their number depends on an extent that is not known.
        """
        return 0

    def mac_product(self, *extents: int) -> int:
        """The product of extents, for `macs`.

        Raises:
            Diagnostic: one of them is not known.
        """
        if DYNAMIC in extents:
            raise Diagnostic.at(self, "how many multiplications it takes depends on an extent that is not known")
        return prod(extents)

    @by_looks(beside_look)
    def verify_(self) -> None:
        for result, inferred in zip(self.results, self.inferred(), strict=True):
            if not compatible(inferred, result.type):
                raise VerifyException(f"has result type {result.type}, but its operands and attributes give {inferred}")


def _infer(op: Operation) -> Sequence[Attribute]:
    assert isinstance(op, RelayOp)
    return op.inferred()


def is_types(given: object) -> TypeGuard[Sequence[Attribute]]:
    """Whether something is a list of types."""
    return is_sequence(given) and all(isinstance(each, Attribute) for each in given)


def missing_facets(op_type: type[RelayOp]) -> list[str]:
    """What an operator's class lacks to be compiled."""
    facets = {
        "`infer`": op_type.infer is not RelayOp.infer,
        "`compute`": op_type.has_compute(),
        "a `FusionPattern` among its traits": fusion_pattern(op_type) is not None,
    }
    return [what for what, there in facets.items() if not there]


def _largest(types: Sequence[Attribute]) -> int:
    """The elements of the largest of some tensors, 1 at least."""
    tensors = [cast(Tensor, type) for type in leaf_types(types) if isinstance(type, TensorType)]
    return max([1, *(prod(LONG if n == DYNAMIC else n for n in type.get_shape()) for type in tensors)])


_UNKNOWN = TensorType(i1, [])

LONG = 512
"""An extent, where none is known and one is needed for an estimate."""

_ACCURACY = {
    Fusion.INJECTIVE: Accuracy.EXACT,
    Fusion.COMM_REDUCE: Accuracy.SUMMED,
    Fusion.OUT_ELEMWISE_FUSABLE: Accuracy.SUMMED,
}
"""How exactly an operator is computed that says nothing of it, by its fusion pattern."""


MAX_ELEMENTS = 1 << 56
"""Of a tensor: its size in bytes, and what is computed with it, fits an index of 64 bits."""


def fits_blocks(value: SSAValue) -> bool:
    """Whether `Blocks.fit` knows the shape of `value`: it is static, or that of a whole tensor."""
    shape = shape_of(value)
    return DYNAMIC not in shape or (len(shape) == 4 and shape[1] > 1 and shape[2:] != (1, 1))

"""Are two graphs the same but for names of values? Counterpart of TVM's `structural_equal` for Relay.

Values are numbered: two have one number where they are made by the same operation, with the same attributes, of values
that have the same numbers, and constants where their data is the same. So it is the same whether something is computed
once or twice, in which order values without effects are, and whether something is there that nothing uses. Parameters
are the same where they stand at the same place, and are of the same type; those of a function that is applied where it
is written are what they are given, so their order does not count. A `relay.primitive` is such a function, as in TVM.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from hashlib import blake2b

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects.relay.base import DYNAMIC, RelayOp, ints, shape_of, tensors_in
from ....dialects.relay.control import ApplyOp, FnOp
from ....dialects.relay.core import ConstantOp, FuncOp, PrimitiveOp, TupleGetOp, TupleOp
from ....dialects.relay.functions import INPUT_NAMES, name_of
from ....dialects.relay.layout import Layout, LayoutTransformOp
from ....dialects.relay.nn_common import normalize_padding
from ....dialects.relay.ops.slicing import StridedSliceOp
from ....dialects.relay.types import is_complete, tuple_type
from ....dialects.support.hints import isa
from ....dialects.tir.functions import PrimFuncOp
from ....dialects.tir.script.equality import function_form
from ...infra.visitors import dataflow_post_order, values_used_by
from ...infra.walk import walk
from ..purity import impure_functions, is_pure


class Numbering:
    """Numbers of values; those of graphs that are to be compared come from one.

    Args:
        map_free_vars: variables that no function binds are the same where they are met at the same place, and not only
            where they are one.
        by_name: such variables are the same where they have one name and one type; several that have, in the order in
            which they are met.
    """

    def __init__(self, map_free_vars: bool = False, by_name: bool = False):
        self.map_free_vars, self.by_name = map_free_vars, by_name
        self._numbers: dict[Hashable, int] = {}
        self.tuples: dict[int, tuple[int, ...]] = {}
        """The fields of those that are made here: a field of such is what it was made of."""

    def of_values(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        """The numbers of values."""
        return _Graph(self, frozenset()).numbers(values)

    def of_function(self, func: FuncOp, impure: frozenset[str] = frozenset()) -> int:
        """The number of a function; what it is called does not count, nor who may call it."""
        return self.number(_Graph(self, impure).function(func))

    def of_module(self, module: ModuleOp) -> Mapping[str, int]:
        """The numbers of a module's functions by their names, of all else that it defines, and of its attributes."""
        impure = impure_functions(module)
        found = {"": self.number(_items(module.attributes))}
        for op in module.ops:
            name = getattr(op, "sym_name", None)
            key = name.data if isinstance(name, StringAttr) else op.name
            if isinstance(op, FuncOp):
                found[key] = self.of_function(op, impure)
            else:
                found[key] = self.number(function_form(op) if isinstance(op, PrimFuncOp) else str(op))
        return found

    def number(self, key: Hashable) -> int:
        """The number of what `key` describes."""
        return self._numbers.setdefault(key, len(self._numbers))


class _Graph:
    """One graph that is numbered."""

    def __init__(self, numbering: Numbering, impure: frozenset[str]):
        self._numbering, self._impure = numbering, impure
        self._known: dict[SSAValue, int] = {}
        self._depth = self._free = 0
        self._looks = Counter[Hashable]()

    def numbers(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        for op in dataflow_post_order(values):
            if any(result not in self._known for result in op.results):
                self._enter(op)
        return tuple(map(self._of, values))

    def function(self, func: FuncOp) -> Hashable:
        properties = {k: v for k, v in func.properties.items() if k not in ("sym_name", "sym_visibility")}
        properties["function_type"] = FunctionType.from_lists(
            func.function_type.inputs.data, [_as_one(func.function_type.outputs.data)]
        )
        attributes = {k: v for k, v in func.attributes.items() if k != INPUT_NAMES}
        return ("function", _items(properties), _of_function(attributes), self._block(func.body.block))

    def _of(self, value: SSAValue) -> int:
        if value not in self._known:
            key: Hashable = ("variable", id(value))
            if self._numbering.map_free_vars:
                key = ("free", self._free, value.type)
                self._free += 1
            elif self._numbering.by_name:
                look = (name_of(value), value.type)
                key = ("named", look, self._looks[look])
                self._looks[look] += 1
            self._known[value] = self._numbering.number(key)
        return self._known[value]

    def _enter(self, op: Operation, place: int | None = None) -> int:
        """Number an operation, whose operands are known, and its results; one with an effect is where it stands."""
        if (applied := _applied(op)) is not None:
            return self._enter_applied(op, *applied, place)
        if isinstance(op, ConstantOp) and (array := op.numpy()) is not None:
            key = ("constant", op.result.type, blake2b(array.tobytes()).digest())
            self._known[op.result] = self._numbering.number(key)
            return self._known[op.result]
        if isinstance(op, TupleOp):
            self._known[op.result] = self._tuple(tuple(map(self._of, op.fields)))
            return self._known[op.result]
        if isinstance(op, TupleGetOp):
            self._known[op.result] = self._field(self._of(op.tuple), op.index.value.data)
            return self._known[op.result]
        regions = tuple(tuple(self._block(block) for block in region.blocks) for region in op.regions)
        operands = tuple(map(self._of, op.operands))
        key = (op.name, place, operands, _as_one(op.result_types), _properties(op), _items(op.attributes), regions)
        number = self._numbering.number(key)
        for index, result in enumerate(op.results):
            self._known[result] = number if len(op.results) == 1 else self._field(number, index)
        return number

    def _enter_applied(
        self, op: Operation, block: Block, arguments: Sequence[SSAValue], attributes: Hashable, place: int | None
    ) -> int:
        """Number what a function gives for arguments, which its body sees as what they are."""
        given = [self._numbering.number(("given", self._of(argument))) for argument in arguments]
        self._forget(block)  # it may have been numbered for other arguments
        self._known.update(zip(block.args, given, strict=True))
        effects, last = self._effects(block), block.last_op
        assert last is not None
        result = self._given(last)
        self._forget(block)
        number = self._numbering.number(("applied", place, attributes, frozenset(given), effects, result))
        for index, value in enumerate(op.results):
            self._known[value] = number if len(op.results) == 1 else self._field(number, index)
        return number

    def _given(self, end: Operation) -> int:
        """The number of what a block gives; several values are the tuple of them that TVM has there."""
        numbers = self.numbers(list(end.operands))
        return numbers[0] if len(numbers) == 1 else self._tuple(numbers)

    def _tuple(self, fields: tuple[int, ...]) -> int:
        number = self._numbering.number(("tuple", fields))
        self._numbering.tuples[number] = fields
        return number

    def _field(self, whole: int, index: int) -> int:
        fields = self._numbering.tuples.get(whole)
        return self._numbering.number(("field", whole, index)) if fields is None else fields[index]

    def _forget(self, block: Block) -> None:
        """Forget the numbers of what a block computes."""
        inside: list[SSAValue] = [*block.args]
        for op in block.ops:
            for inner in walk(op):
                inside += inner.results
                inside += [argument for region in inner.regions for each in region.blocks for argument in each.args]
        for value in inside:
            self._known.pop(value, None)

    def _block(self, block: Block) -> Hashable:
        self._depth += 1
        for argument in block.args:
            key = ("bound", self._depth, argument.index, argument.type)
            self._known[argument] = self._numbering.number(key)
        effects, last = self._effects(block), block.last_op
        given = () if last is None else (last.name, self._given(last))
        self._depth -= 1
        return ("block", effects, given)

    def _effects(self, block: Block) -> tuple[int, ...]:
        """The numbers of what a block does beside giving values, in order."""
        effects: list[int] = []
        for op in block.ops:
            if op is not block.last_op and not all(is_pure(each, self._impure) for each in (op, *_inside(op))):
                self.numbers(values_used_by(op))
                effects.append(self._enter(op, len(effects)))
        return tuple(effects)


def _as_one(types: Sequence[Attribute]) -> Attribute:
    """The type of several results, which in TVM are a tuple."""
    return types[0] if len(types) == 1 else tuple_type(*types)


def _applied(op: Operation) -> tuple[Block, Sequence[SSAValue], Hashable] | None:
    """The body of a function that is applied where it is written, its arguments and its attributes."""
    match op:
        case PrimitiveOp():
            return op.body.block, op.arguments, _of_function(op.function_attributes)
        case ApplyOp() if isinstance(function := op.callee.owner, FnOp):
            return function.body.block, op.arguments, _of_function(function.attributes)
        case _:
            return None


def _of_function(attributes: Mapping[str, Attribute]) -> Hashable:
    """The attributes of a function, as TVM has them: `primitive` is `Primitive`, and a mark a number that is not 0."""
    given = {name: _python(value) for name, value in attributes.items()}
    if "primitive" in given:
        given["Primitive"] = given.pop("primitive")
    return _items(given)


def _python(value: Attribute) -> object:
    """A number or a text of an attribute, whatever its width."""
    match value:
        case IntegerAttr() | FloatAttr():
            return value.value.data
        case StringAttr():
            return value.data
        case UnitAttr():
            return 1
        case _:
            return value


def _inside(op: Operation) -> Sequence[Operation]:
    """What the regions of an operation are made of, but for where they end."""
    terminators = {block.last_op for region in op.regions for block in region.blocks}
    return [o for o in walk(op) if o is not op and o not in terminators] if op.regions else ()


TOLD_BY_TYPES = frozenset({"channels", "kernel_size", "units"})
"""Properties that only repeat what the types of operands and results say, by which they are checked, where these are
known."""

PER_WINDOW_AXIS = ("strides", "dilation", "pool_size")
"""Properties with a number for each axis that a window moves along, or one for all."""

COUNT_NEW_AXES = frozenset({"relay.expand_dims", "relay.stack", "relay.one_hot", "relay.dyn.one_hot"})
"""Operators whose `axis` is one of the result, and not of what they are given."""


def _properties(op: Operation) -> Hashable:
    """The properties of an operation, with the defaults of those that are not there, without those that its types say;
    an axis that is counted from the end as what it is from the beginning, a slice by what it takes of each axis, and
    layouts whatever their axes are called."""
    if not isinstance(op, RelayOp):
        return _items(op.properties)
    defaults = {name: definition.default_value for name, definition in op.get_irdl_definition().properties.items()}
    types = [value.type for value in (*op.operands, *op.results)]
    is_typed = all(map(is_complete, types))
    given: dict[str, object] = {
        name: value
        for name, value in {**defaults, **op.properties}.items()
        if value is not None and not (is_typed and name in TOLD_BY_TYPES)
    }
    if all(_is_narrow(each.element_type) for type in types for each in tensors_in(type)):  # f32, where types are open
        given |= {name: _in_f32(value.value.data) for name, value in given.items() if isinstance(value, FloatAttr)}
    if given.get("out_layout") in (StringAttr(""), given.get("layout", given.get("data_layout"))):
        given.pop("out_layout", None)  # that of the result, where it is that of the data
    if isinstance(op, LayoutTransformOp):
        given |= _layout_forms(op)
    if isinstance(op, StridedSliceOp) and is_typed and DYNAMIC not in (shape := shape_of(op.data)):
        return tuple(op.slices(shape))
    if isa(padding := given.get("padding"), DenseArrayBase[IntegerType]):
        axes = 1
        for name in PER_WINDOW_AXIS:
            if isa(values := given.get(name), DenseArrayBase[IntegerType]):
                given[name], axes = _one_for_all(ints(values)), max(axes, len(ints(values)))
        given["padding"] = _of_both_sides(ints(padding), axes)
    axis = op.properties.get("axis", defaults.get("axis"))
    if isinstance(axis, IntegerAttr) and op.operands and op.name not in COUNT_NEW_AXES:
        tensors = tensors_in(op.operands[0].type)
        if tensors and (rank := len(tensors[0].get_shape())):
            given["axis"] = axis.value.data % rank
    return _items(given)


def _one_for_all(values: Sequence[int]) -> tuple[int, ...]:
    """Numbers of axes, as one where they are the same."""
    return tuple(values[:1] if len(set(values)) == 1 else values)


def _of_both_sides(padding: Sequence[int], axes: int) -> Hashable:
    """What is padded before and behind each axis that a window moves along; what is wrong as it is."""
    if len(set(padding)) == 1:
        return _one_for_all(padding)
    try:
        return normalize_padding(padding, axes)
    except VerifyException:
        return tuple(padding)


def _layout_forms(op: LayoutTransformOp) -> dict[str, object]:
    """The layouts that a tensor is brought from and to, whatever their axes are called."""
    source, target = op.layouts()
    places = {name: place for place, name in enumerate(source.letters)}

    def form(layout: Layout) -> Hashable:
        return tuple((places[axis.name.upper()], axis.factor) for axis in layout.axes)

    return {"src_layout": form(source), "dst_layout": form(target)}


def _is_narrow(element: Attribute) -> bool:
    """Whether numbers of a type are computed with in no more digits than f32 has."""
    return isinstance(element, AnyFloat) and element.bitwidth <= 32


def _in_f32(value: float) -> Hashable:
    """A key that numbers share which are one in f32; what f32 does not hold is a key itself."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return value


def _items(attributes: Mapping[str, object]) -> Hashable:
    return tuple(sorted(attributes.items(), key=lambda item: item[0]))

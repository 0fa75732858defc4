"""Are two graphs the same but for names of values? Counterpart of TVM's `structural_equal` for Relay.

Values are numbered: two have one number where they are made by the same operation, with the same attributes, of values
that have the same numbers. So it is the same whether something is computed once or twice, in which order values without
effects are, and whether something is there that nothing uses. Parameters are the same where they stand at the same
place, and are of the same type.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.relay.base import RelayOp, tensors_in
from ....dialects.relay.core import FuncOp
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
    """

    def __init__(self, map_free_vars: bool = False):
        self.map_free_vars = map_free_vars
        self._numbers: dict[Hashable, int] = {}

    def of_values(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        """The numbers of values."""
        return _Graph(self, frozenset()).numbers(values)

    def of_function(self, func: FuncOp, impure: frozenset[str] = frozenset()) -> int:
        """The number of a function; what it is called does not count, nor who may call it."""
        return self.number(_Graph(self, impure).function(func))

    def of_module(self, module: ModuleOp) -> Mapping[str, int]:
        """The numbers of a module's functions by their names, and of all else that it defines."""
        impure = impure_functions(module)
        found: dict[str, int] = {}
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

    def numbers(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        for op in dataflow_post_order(values):
            if any(result not in self._known for result in op.results):
                self._enter(op)
        return tuple(map(self._of, values))

    def function(self, func: FuncOp) -> Hashable:
        properties = {k: v for k, v in func.properties.items() if k not in ("sym_name", "sym_visibility")}
        return ("function", _items(properties), _items(func.attributes), self._block(func.body.block))

    def _of(self, value: SSAValue) -> int:
        if value not in self._known:
            key: Hashable = ("variable", id(value))
            if self._numbering.map_free_vars:
                key = ("free", self._free, value.type)
                self._free += 1
            self._known[value] = self._numbering.number(key)
        return self._known[value]

    def _enter(self, op: Operation, place: int | None = None) -> int:
        """Number an operation, whose operands are known, and its results; one with an effect is where it stands."""
        regions = tuple(tuple(self._block(block) for block in region.blocks) for region in op.regions)
        operands = tuple(map(self._of, op.operands))
        types = tuple(result.type for result in op.results)
        key = (op.name, place, operands, types, _properties(op), _items(op.attributes), regions)
        for index, result in enumerate(op.results):
            self._known[result] = self._numbering.number((key, index))
        return self._numbering.number(key)

    def _block(self, block: Block) -> Hashable:
        self._depth += 1
        for argument in block.args:
            key = ("bound", self._depth, argument.index, argument.type)
            self._known[argument] = self._numbering.number(key)
        effects: list[int] = []
        for op in block.ops:
            if op is not block.last_op and not all(is_pure(each, self._impure) for each in (op, *_inside(op))):
                self.numbers(values_used_by(op))
                effects.append(self._enter(op, len(effects)))
        last = block.last_op
        given = () if last is None else (last.name, self.numbers(list(last.operands)))
        self._depth -= 1
        return ("block", tuple(effects), given)


def _inside(op: Operation) -> Sequence[Operation]:
    """What the regions of an operation are made of, but for where they end."""
    terminators = {block.last_op for region in op.regions for block in region.blocks}
    return [o for o in walk(op) if o is not op and o not in terminators] if op.regions else ()


TOLD_BY_TYPES = frozenset({"channels", "kernel_size", "units"})
"""Properties that only repeat what the types of operands and results say, by which they are checked."""

COUNT_NEW_AXES = frozenset({"relay.expand_dims", "relay.stack", "relay.one_hot", "relay.dyn.one_hot"})
"""Operators whose `axis` is one of the result, and not of what they are given."""


def _properties(op: Operation) -> Hashable:
    """The properties of an operation, with the defaults of those that are not there, without those that its types say;
    an axis that is counted from the end as what it is from the beginning."""
    if not isinstance(op, RelayOp):
        return _items(op.properties)
    defaults = {name: definition.default_value for name, definition in op.get_irdl_definition().properties.items()}
    given: dict[str, object] = {
        name: value
        for name, value in {**defaults, **op.properties}.items()
        if value is not None and name not in TOLD_BY_TYPES
    }
    if all(_is_narrow(each.element_type) for value in (*op.operands, *op.results) for each in tensors_in(value.type)):
        given |= {name: _in_f32(value.value.data) for name, value in given.items() if isinstance(value, FloatAttr)}
    axis = op.properties.get("axis", defaults.get("axis"))
    if isinstance(axis, IntegerAttr) and op.operands and op.name not in COUNT_NEW_AXES:
        tensors = tensors_in(op.operands[0].type)
        if tensors and (rank := len(tensors[0].get_shape())):
            given["axis"] = axis.value.data % rank
    return _items(given)


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

"""Sequences and optional values, without either when the program runs.

A sequence is a tuple: how many tensors it has is known at import, as is the place at which one is put in or taken out.
One that is split off a tensor, or that a loop fills, may have as many as only a run tells (`parts`); it is read only.
An optional value that is there is the value; `ABSENT` is the type of one that is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of
from ...dialects.relay.core import TupleOp
from ...dialects.relay.types import tuple_type
from .errors import Malformed, Unsupported
from .node import Node, Outputs, Versions, rank_of
from .parts import TOLD_SEQUENCE, as_sequence, drops_axis, parts_of, rows_of, split_as_told
from .tensors import check_fits, declared_shape, element_type

if TYPE_CHECKING:
    from onnx import TypeProto

ABSENT = tuple_type(tuple_type())
"""The type of an optional value that is not there. No sequence has it: there are no sequences of sequences."""

MAX_FIELDS = 4096
"""The tensors that a sequence is split into at most."""


def sequence_of(node: Node, index: int) -> list[SSAValue]:
    """The tensors of the sequence that is the input at `index`.

    Raises:
        Malformed: it is no sequence.
        Unsupported: a run decides how many it has.
    """
    value = node.value_at(index)
    if value in node.emitter.parts or value in node.emitter.growing:
        raise Unsupported(f"{TOLD_SEQUENCE}, changed or handed on")
    if not isinstance(value.type, TupleType) or value.type == ABSENT:
        raise Malformed(f"input {index} is {value.type}, and no sequence")
    if isinstance(value.owner, TupleOp):
        return list(value.owner.fields)
    return [node.emitter.tuple_get(value, i) for i in range(len(value.type.types))]


def is_sequence(value: SSAValue) -> bool:
    return isinstance(value.type, TupleType) and value.type != ABSENT


def sequence_of_rows(node: Node, begun: Sequence[SSAValue], rows: SSAValue) -> SSAValue:
    """The sequence of some tensors, and of as many rows as there are.

    Raises:
        Unsupported: the rows are of another rank.
    """
    if begun:
        if any(rank_of(each) != rank_of(rows) - 1 for each in begun):
            raise Unsupported(f"{TOLD_SEQUENCE}, of different ranks")
        first = node.emit("stack", node.emitter.tuple(list(begun)), axis=0)
        rows = node.emit("concatenate", node.emitter.tuple([first, rows]), axis=0)
    return as_sequence(rows_of(node, rows, 0))


def construct(node: Node) -> SSAValue:
    return node.emitter.tuple(node.present())


def empty(node: Node) -> SSAValue:
    return node.emitter.tuple([])


def place(node: Node, index: int, count: int) -> int:
    """A place in a sequence, of `count` that there are; negative ones are counted from the end.

    Raises:
        Malformed: it is not there.
    """
    at = int(node.static_scalar(index))
    length = node.value_at(0).type
    from_end = at + (len(length.types) if isinstance(length, TupleType) else 0)
    found = from_end if at < 0 else at
    if not 0 <= found < count:
        raise Malformed(f"there is no place {at} in a sequence of {count} places")
    return found


def insert(node: Node) -> SSAValue:
    grown = node.emitter.growing.get(node.value_at(0))
    if grown is not None and node.optional(2) is None:
        node.emitter.growing[following := node.emitter.tuple([])] = (*grown, node.input(1))
        return following
    fields = sequence_of(node, 0)
    at = len(fields) if node.optional(2) is None else place(node, 2, len(fields) + 1)
    return node.emitter.tuple([*fields[:at], node.input(1), *fields[at:]])


def erase(node: Node) -> SSAValue:
    fields = sequence_of(node, 0)
    if not fields:
        raise Malformed("nothing can be taken from an empty sequence")
    at = len(fields) - 1 if node.optional(1) is None else place(node, 1, len(fields))
    return node.emitter.tuple([*fields[:at], *fields[at + 1 :]])


def at(node: Node) -> SSAValue:
    """One tensor; where its place is known at run time only, of those of one type."""
    if (parts := parts_of(node, node.value_at(0))) is not None:
        return parts.at(node.input(1))
    fields = sequence_of(node, 0)
    if node.emitter.evaluate(node.input(1)) is not None:
        return fields[place(node, 1, len(fields))]
    if len({field.type for field in fields}) != 1:
        raise Unsupported("a place that is known at run time only, in a sequence of tensors of different types")
    whole = node.emit("stack", node.emitter.tuple(fields), axis=0)
    return node.emit("take", whole, node.reshape(node.input(1), []), axis=0, mode="error")


def length(node: Node) -> SSAValue:
    import numpy as np

    if (parts := parts_of(node, node.value_at(0))) is not None:
        return parts.count.number().value
    return node.constant(np.asarray(len(sequence_of(node, 0)), np.int64))


def concatenated(node: Node) -> SSAValue:
    """The tensors one after the other, along an axis or a new one."""
    if (parts := parts_of(node, node.value_at(0))) is not None:
        rank = rank_of(parts.x) - parts.dropped
        if node.integer("new_axis", 0):
            return parts.stacked(node.axis(node.integer("axis"), rank + 1))
        return parts.concatenated(node.axis(node.integer("axis"), rank))
    fields = sequence_of(node, 0)
    if not fields:
        raise Malformed("an empty sequence, of which there is nothing to concatenate")
    if not node.integer("new_axis", 0):
        axis = node.axis(node.integer("axis"), rank_of(fields[0]))
        return node.emit("concatenate", node.emitter.tuple(fields), axis=axis)
    axis = node.axis(node.integer("axis"), rank_of(fields[0]) + 1)
    return node.emit("stack", node.emitter.tuple(fields), axis=axis)


def split(node: Node) -> SSAValue:
    """Parts of the sizes that are given, or of one size but for the last, 1 where none is given; rows may have the
    dimension dropped."""
    x = node.input(0)
    axis = node.axis(node.integer("axis", 0), rank_of(x))
    of_one_size = (given := node.optional(1)) is None or shape_of(given) == ()
    extent = shape_of(x)[axis]
    if (of_one_size and extent == DYNAMIC) or not node.is_known(1):
        return as_sequence(split_as_told(node, x, axis))
    drop = False
    if of_one_size:
        size = 1 if given is None else int(node.static_scalar(1))
        if size < 1:
            raise Malformed(f"parts of {size} elements")
        sizes = [min(size, extent - begin) for begin in range(0, extent, size)]
        drop = drops_axis(node, size)
    else:
        sizes = node.static_ints(1)
        if min(sizes, default=0) < 0 or DYNAMIC != extent != sum(sizes):
            raise Malformed(f"the parts {sizes} do not add up to the dimension {extent}")
    if len(sizes) > MAX_FIELDS:
        raise Unsupported(f"a sequence of {len(sizes)} tensors; {MAX_FIELDS} are imported at most")
    if extent == DYNAMIC:  # which is as long as all parts
        x = node.reshape_to(x, [sum(sizes) if d == axis else dim for d, dim in enumerate(node.dims(x))])
    fields: list[SSAValue] = []
    begin = 0
    for size in sizes:
        end = begin + size
        part = node.emit("strided_slice", x, begin=[begin], end=[end], strides=[1], axes=[axis], slice_mode="end")
        fields.append(node.emit("squeeze", part, axis=[axis]) if drop else part)
        begin = end
    return node.emitter.tuple(fields)


# Optional values


def optional(node: Node) -> Outputs:
    return absent(node) if node.optional(0) is None else node.value_at(0)


def absent(node: Node) -> SSAValue:
    """An optional value that is not there."""
    return node.emitter.tuple([node.emitter.tuple([])])


def has_element(node: Node) -> SSAValue:
    import numpy as np

    value = node.optional(0)
    return node.constant(np.asarray(value is not None and value.type != ABSENT))


def get_element(node: Node) -> SSAValue:
    value = node.value_at(0)
    if value.type == ABSENT:
        raise Malformed("an optional value is read that is not there")
    return value


# Inputs of a graph


def input_type(type: TypeProto, given: object) -> Attribute:
    """The type of an input that is a sequence or optional, from what is given for it: a shape for each tensor of a
    sequence, `None` for an optional value that is not there.

    Raises:
        Unsupported: that is not given; or it is of maps.
        Malformed: it does not fit the declaration.
    """
    kind = type.WhichOneof("value")
    if kind == "optional_type":
        if given is None:
            return ABSENT
        return input_type(type.optional_type.elem_type, given)
    if not isinstance(given, list | tuple):
        raise Malformed(f"{given} is no list of shapes")
    if kind == "tensor_type":
        return _tensor(type, given)  # pyright: ignore[reportUnknownArgumentType]
    if kind != "sequence_type":
        raise Unsupported(f"a value of {(kind or 'no type').replace('_', ' ')}")
    return tuple_type(*(_tensor(type.sequence_type.elem_type, shape) for shape in given))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _tensor(type: TypeProto, given: object) -> Attribute:
    entries = cast("Sequence[object]", given) if isinstance(given, list | tuple) else [None]
    shape = [n for n in entries if isinstance(n, int) and n >= 0]
    if len(shape) != len(entries):
        raise Malformed(f"{given} is no shape")
    if type.WhichOneof("value") != "tensor_type":
        raise Unsupported("a sequence of other things than tensors")
    if type.tensor_type.HasField("shape"):
        declared = declared_shape(type)
        if len(declared) != len(shape) or any(n >= 0 and n != m for n, m in zip(declared, shape, strict=True)):
            raise Malformed(f"a tensor of shape {list(shape)} where {declared} is declared")
    return check_fits(TensorType(element_type(type.tensor_type.elem_type), shape))


def is_open(type: TypeProto) -> bool:
    """Whether a type says less of an input than a program needs."""
    return type.WhichOneof("value") in ("sequence_type", "optional_type")


CONVERTERS: dict[str, Versions] = {
    "ConcatFromSequence": {11: concatenated},
    "Optional": {15: optional},
    "OptionalGetElement": {15: get_element},
    "OptionalHasElement": {15: has_element},
    "SequenceAt": {11: at},
    "SequenceConstruct": {11: construct},
    "SequenceEmpty": {11: empty},
    "SequenceErase": {11: erase},
    "SequenceInsert": {11: insert},
    "SequenceLength": {11: length},
    "SplitToSequence": {11: split},
}

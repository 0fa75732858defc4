"""What the graph's function says of itself holds: its inputs, outputs, and the memory that it is handed.

The runtime reads `weft.inputs`, `weft.outputs` and `weft.counter_bytes` and hands over arrays and an arena by them:
what they say must fit the function's arguments, or memory of others is read and written.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue

from ...dialects.rt.core import SLOT_BYTES, SlotsOp
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import numpy_dtype
from ...dialects.support.hints import isa
from ...dialects.support.shaped import is_memref, is_tensor
from ..abi import COUNTER_BYTES, GRAPH_SYMBOLS, INPUTS, OUTPUTS


def check_signature(main: func.FuncOp) -> None:
    """Check the graph's function, one that carries `weft.inputs`.

    Raises:
        Diagnostic: an input or output is not of its argument's size, the counters do not end within the arena, slots
            stand outside of them, or a view of a memory lies outside of it.
    """
    declared: list[Attribute] = []
    for key in (INPUTS, OUTPUTS):
        entries = main.attributes.get(key)
        if not isa(entries, ArrayAttr[Attribute]):
            raise Diagnostic.at(main, f"the graph's function says nothing of its {key.partition('.')[2]}: {key}")
        declared += [entry.data["type"] for entry in entries if isinstance(entry, DictionaryAttr)]
    arguments = main.body.block.args
    symbols = main.attributes.get(GRAPH_SYMBOLS)
    count = len(symbols) if isa(symbols, ArrayAttr[Attribute]) else 0
    if len(arguments) != len(declared) + count + 2:
        raise Diagnostic.at(main, f"{len(declared)} inputs and outputs, but {len(arguments)} arguments")
    for number, (type, argument) in enumerate(zip(declared, arguments, strict=False)):
        if is_tensor(type) and _bytes(type) != _bytes(argument.type):
            raise Diagnostic.at(main, f"argument {number} is {argument.type}, but is declared as {type}")
    arena, counters = arguments[-2], main.attributes.get(COUNTER_BYTES)
    if not isa(counters, IntegerAttr[IntegerType]):
        raise Diagnostic.at(main, f"{COUNTER_BYTES} is {counters}, and no number of bytes, such as 128 : i64")
    extent, end = _bytes(arena.type), counters.value.data
    if extent is None or not 0 <= end <= extent:
        raise Diagnostic.at(main, f"{COUNTER_BYTES} is {end}, which lies outside of the arena, {arena.type}")
    for op in main.walk():
        if isinstance(op, SlotsOp) and op.memory is arena:
            if op.offset.value.data + op.result.type.count.data * SLOT_BYTES > end:
                raise Diagnostic.at(op, f"the slots do not end within the {end} bytes of counters, which are cleared")
        elif isinstance(op, memref.ViewOp):
            _check_view(op, end if op.source is arena else 0)


def _check_view(op: memref.ViewOp, begin: int) -> None:
    shift, size, extent = _constant(op.byte_shift), _bytes(op.result.type), _bytes(op.source.type)
    if shift is None or size is None or extent is None:
        return
    if shift < begin:
        raise Diagnostic.at(op, f"the view begins at byte {shift}, among the {begin} bytes of counters")
    if shift + size > extent:
        raise Diagnostic.at(op, f"the view ends at byte {shift + size}, outside of {op.source.type}")


def _constant(value: SSAValue) -> int | None:
    op = value.owner
    return op.value.value.data if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr) else None


def _bytes(type: Attribute) -> int | None:
    """The size of a tensor or buffer; `None` where it is not known."""
    if not (is_tensor(type) or is_memref(type)) or any(n < 0 for n in type.get_shape()):
        return None
    return prod(type.get_shape()) * numpy_dtype(type.element_type).itemsize

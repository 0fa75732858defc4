"""Notes at random of where what a module computes is to be."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.rewriter import InsertPoint, Rewriter

from weft.dialects.relay.core import ConstantOp, FuncOp
from weft.dialects.relay.devices import VirtualDevice
from weft.dialects.relay.ops.annotation import OnDeviceOp
from weft.transforms.infra.walk import walk

DEVICES = (VirtualDevice("cpu"), VirtualDevice("ext_dev"), VirtualDevice("ext_dev", 1))


def note_places(module: ModuleOp, seed: int, share: float = 0.15, devices: Sequence[VirtualDevice] = DEVICES) -> int:
    """Put notes on some of the tensors that a module computes; most of their uses see those. How many there are."""
    random = Random(seed)
    places = [
        (op, value)
        for func in module.ops
        if isinstance(func, FuncOp)
        for op in walk(func)
        if not isinstance(op, ConstantOp)
        for value in op.results
        if isinstance(value.type, TensorType) and value.first_use is not None
    ]
    count = 0
    for op, value in places:
        if random.random() >= share:
            continue
        uses = list(value.uses)
        note = OnDeviceOp(value, virtual_device=random.choice(devices), constrain_body=random.random() < 0.8)
        Rewriter.insert_op(note, InsertPoint.after(op))
        for use in uses:
            if random.random() < 0.9:
                use.operation.operands[use.index] = note.result
        count += 1
    return count

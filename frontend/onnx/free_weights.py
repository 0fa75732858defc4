"""Weights of a graph as inputs of its function, rather than as constants: `from_onnx_with_weights`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Block, OpResult

from ...dialects.relay.core import ConstantOp
from .emitter import Emitter
from .scope import Scope

if TYPE_CHECKING:
    from .tensors import NDArray


def free_weights(block: Block, scope: Scope, emitter: Emitter) -> dict[str, NDArray]:
    """Make the weights of a graph that it still reads arguments of its block; gives their values by their names."""
    freed: dict[str, NDArray] = {}
    for name in scope.weights:
        value = scope.values.get(name)
        if not isinstance(value, OpResult) or not isinstance(value.op, ConstantOp) or value.first_use is None:
            continue
        array = value.op.numpy()
        assert array is not None, "it was read"
        freed[name] = array
        argument = block.insert_arg(value.type, len(block.args))
        argument.location, argument.name_hint = emitter.location_of(name), value.name_hint
        value.replace_all_uses_with(argument)
        value.op.detach()
        value.op.erase()
    return freed

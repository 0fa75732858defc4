"""Each Relay operator as a kernel of its own, from the example in its docstring."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr
from xdsl.ir import Operation

from weft.dialects.relay import Relay
from weft.dialects.relay.core import CallOp, FuncOp, ReturnOp
from weft.testing import examples_of


def as_kernel(op: Operation) -> ModuleOp:
    """A module at phase `fuse` whose graph is one call of a kernel with nothing in it but `op`."""
    inputs, outputs = [v.type for v in op.operands], [v.type for v in op.results]
    type = FunctionType.from_lists(inputs, outputs)
    main, kernel = FuncOp("main", type), FuncOp("kernel", type, private=True, attributes={"primitive": UnitAttr()})
    call = CallOp("kernel", main.body.block.args, outputs)
    main.body.block.add_ops([call, ReturnOp(*call.results)])
    copy = op.clone()
    copy.operands = kernel.body.block.args
    kernel.body.block.add_ops([copy, ReturnOp(*copy.results)])
    module = ModuleOp([main, kernel])
    module.verify()
    return module


COMPILED = [
    e
    for e in examples_of(Relay)
    if e.op_type.has_compute() and e.is_static() and e.op_type.name != "relay.device_copy"  # of two devices
]

"""Phase 2: where goes what nothing constrains.

1. Where a copy is allowed and none is needed, there is none: both sides of a free `on_device` become one, in the order
   of the text, unless they contradict one another.
2. For each function, its free results go to the default device, and its free arguments to where its first result is.
3. Inside, users before what they use: a value that is free goes to where the first user's first result is, if that is
   elsewhere, as that of a note is; what no user says anything of goes to where the first result of its block goes (that
   of the function, of the branch), and so do free arguments and results of function values.

Counterpart of TVM's `FreeOnDeviceDefaulter` and `DeviceDefaulter`. There, a value that is bound by `let` goes to where
the `let` is, whoever uses it; in SSA all values are bound.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from ....dialects.relay.base import is_true
from ....dialects.relay.control import ApplyOp, FnOp
from ....dialects.relay.core import FuncOp, PrimitiveOp
from ....dialects.relay.devices import VirtualDevice
from ....dialects.relay.ops.annotation import OnDeviceOp
from ...infra.walk import walk
from .constraints import Constraints, planned_functions


def choose_defaults(module: ModuleOp, domains: Constraints) -> None:
    """Choose a device for every value of a module that has none."""
    functions = planned_functions(module)
    for func in functions:
        for op in walk(func):
            if isinstance(op, OnDeviceOp) and not is_true(op.constrain_body) and not is_true(op.constrain_result):
                with domains.on_trial():
                    domains.unify(domains.of(op.result), domains.of(op.body))
    chosen = -1
    while domains.chosen != chosen:  # what is chosen late, such as a memory scope, may fill what was chosen before
        chosen = domains.chosen
        for func in functions:
            _default_function(func, domains)
    for op in module.ops:
        if isinstance(op, FuncOp) and op not in functions:
            domains.set_default(domains.function(op), domains.devices.default)


def _default_function(func: FuncOp, domains: Constraints) -> None:
    domain = domains.function(func)
    assert domain.results is not None
    for result in domain.results:
        domains.set_default(result, domains.devices.default)
    place = domains.device_of(domain)
    here = domains.devices.default if place.type is None else place
    domains.set_default(domain, here)
    stack: list[tuple[Block, VirtualDevice]] = [(func.body.block, here)]
    while stack:
        block, here = stack.pop()
        for op in reversed(list(block.ops)):
            _default_results(op, here, domains)
            if isinstance(op, PrimitiveOp):
                continue
            for inner in (inner for region in op.regions for inner in region.blocks):
                stack.append((inner, _place_of_block(op, here, domains)))


def _default_results(op: Operation, here: VirtualDevice, domains: Constraints) -> None:
    """Choose places for an operation's results, then for its operands: where the first result is. So what a note wants
    on a device is computed there, and not copied. A function value is a value of its own block, as are its arguments.
    """
    for value in op.results:
        domain = domains.of(value)
        if domain.results is not None or domain.device.type is None:
            domains.set_default(domain, here)
        else:
            domains.set_default(domain, domains.devices.default)
    if op.results and not isinstance(op, ApplyOp):
        place = domains.device_of(domains.of(op.results[0]))
        for value in op.operands:
            domains.set_default(domains.of(value), place)


def _place_of_block(op: Operation, here: VirtualDevice, domains: Constraints) -> VirtualDevice:
    """Where the values of a region of `op` go, which itself stands where values go to `here`."""
    if not op.results or (isinstance(op, FnOp) and not op.function_type.outputs.data):
        return here
    return domains.device_of(domains.of(op.results[0]))

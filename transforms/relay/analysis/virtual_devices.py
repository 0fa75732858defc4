"""Where every value of a planned module is. Counterpart of TVM's `RecoverVirtualDeviceMap`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ....dialects.relay.core import FuncOp
from ....dialects.relay.devices import VirtualDevice
from ...infra.walk import walk
from ..device_planning.constraints import Constraints
from ..device_planning.defaults import choose_defaults
from ..device_planning.devices import Devices


def virtual_devices(module: ModuleOp, func: FuncOp) -> dict[SSAValue, VirtualDevice]:
    """The device of every value of a function, arguments first, by what its module says: all of them, if `plan-devices`
    has run; otherwise what says nothing goes where that pass would put it.

    Raises:
        Diagnostic: no plan satisfies what the module says.
        DeviceError: a device that there is not.
    """
    domains = Constraints(module, Devices.of(module))
    choose_defaults(module, domains)
    values: list[SSAValue] = [*func.body.block.args]
    for op in walk(func):
        if op is not func:
            values += (*op.results, *(argument for region in op.regions for b in region.blocks for argument in b.args))
    return {value: domains.device_of(domains.of(value)) for value in values}

"""Where each value of a module is."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ....dialects.relay.devices import VirtualDevice
from ...infra.walk import walk
from .constraints import Constraints, planned_functions
from .defaults import choose_defaults
from .devices import Devices


def planned_devices(module: ModuleOp) -> dict[SSAValue, VirtualDevice]:
    """The device of each value in the functions of a module; that of a function value is where its first result is.

    After `plan-devices` it follows from the module; before, it is what the pass would choose.

    Raises:
        Diagnostic: no plan satisfies what the operations say.
    """
    domains = Constraints(module, Devices.of(module))
    choose_defaults(module, domains)
    values: list[SSAValue] = []
    for func in planned_functions(module):
        values += func.body.block.args
        for op in list(walk(func))[1:]:
            values += op.results
            values += [argument for region in op.regions for block in region.blocks for argument in block.args]
    return {value: domains.device_of(domains.of(value)) for value in values}

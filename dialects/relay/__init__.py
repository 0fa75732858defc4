"""The `relay` dialect: TVM's Relay graph language in SSA form."""

from xdsl.ir import Dialect

from . import control, core, layout, ops, vm
from .attributes import ResourceAttr
from .control import RefType
from .devices import VirtualDeviceAttr
from .vm import StorageType

Relay = Dialect(
    "relay",
    [*core.OPS, *control.OPS, *ops.OPS, *layout.OPS, *vm.OPS],
    [ResourceAttr, VirtualDeviceAttr, RefType, StorageType],
)

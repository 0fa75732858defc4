"""The `relay` dialect: TVM's Relay graph language in SSA form."""

from xdsl.ir import Dialect

from . import control, core, data, layout, ops, vm
from .attributes import ResourceAttr
from .devices import VirtualDeviceAttr
from .types import AdtType, ParamType, RefType
from .vm import StorageType

Relay = Dialect(
    "relay",
    [*core.OPS, *control.OPS, *data.OPS, *ops.OPS, *layout.OPS, *vm.OPS],
    [ResourceAttr, VirtualDeviceAttr, RefType, AdtType, ParamType, StorageType],
)

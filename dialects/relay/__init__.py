"""The `relay` dialect: TVM's Relay graph language in SSA form."""

from ..support.lazy_dialect import Family, LazyDialect
from . import core, vm
from .attributes import ResourceAttr
from .devices import VirtualDeviceAttr
from .ops import FAMILIES
from .ops.nn import FAMILIES as NN_FAMILIES
from .types import AdtType, IncompleteType, ParamType, RefType
from .vm import StorageType

Relay = LazyDialect(
    "relay",
    [*core.OPS, *vm.OPS],
    [
        *(Family(f"{__name__}.ops.nn.{name}", "relay.nn.") for name in NN_FAMILIES),
        *(Family(f"{__name__}.{name}", "relay.") for name in ("control", "data", "layout", "scan")),
        *(Family(f"{__name__}.ops.{name}", "relay.") for name in FAMILIES),
    ],
    [ResourceAttr, VirtualDeviceAttr, RefType, AdtType, ParamType, IncompleteType, StorageType],
)

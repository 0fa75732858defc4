"""The `relay` dialect: TVM's Relay graph language in SSA form."""

from xdsl.ir import Dialect

from . import core, layout, ops
from .attributes import ResourceAttr

Relay = Dialect("relay", [*core.OPS, *ops.OPS, *layout.OPS], [ResourceAttr])

"""The `relay` dialect: TVM's Relay graph language in SSA form."""

from xdsl.ir import Dialect

from . import core
from .attributes import ResourceAttr

Relay = Dialect("relay", [*core.OPS], [ResourceAttr])

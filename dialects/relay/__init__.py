"""The `relay` dialect: TVM's Relay graph language in SSA form."""

from xdsl.ir import Dialect

from . import core, layout, nn_activation, nn_convolution, nn_dense, nn_norm, nn_pool
from .attributes import ResourceAttr

Relay = Dialect(
    "relay",
    [
        *core.OPS,
        *layout.OPS,
        *nn_activation.OPS,
        *nn_convolution.OPS,
        *nn_dense.OPS,
        *nn_norm.OPS,
        *nn_pool.OPS,
    ],
    [ResourceAttr],
)

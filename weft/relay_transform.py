"""Relay's passes under TVM's names (`tvm.relay.transform`), and gradients: `weft.relay.transform`.

module = relay.transform.FirstOrderGradient()(module)       # every function of a module
function = relay.transform.gradient(function)               # one function
(dx,) = relay.transform.gradients(relay.tanh(x), [x])       # expressions, to compute on
"""

from __future__ import annotations

from . import transform as _passes
from .frontend.relay.gradients import gradient as gradient
from .frontend.relay.gradients import gradients as gradients


def __dir__() -> list[str]:
    return sorted({"gradient", "gradients", *dir(_passes)})


def __getattr__(name: str) -> object:
    return getattr(_passes, name)

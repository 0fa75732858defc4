"""Relay in Python, under TVM's names; see `weft.frontend.relay`."""

from __future__ import annotations

import sys
import typing

from . import relay_transform
from .frontend import relay
from .frontend.relay import analysis as _analysis

if typing.TYPE_CHECKING:
    from .frontend.relay import Any as Any
    from .frontend.relay import Expr as Expr
    from .frontend.relay import Function as Function
    from .frontend.relay import If as If
    from .frontend.relay import IRModule as IRModule
    from .frontend.relay import Let as Let
    from .frontend.relay import TensorType as TensorType
    from .frontend.relay import Tuple as Tuple
    from .frontend.relay import TupleGetItem as TupleGetItem
    from .frontend.relay import Var as Var
    from .frontend.relay import analysis as analysis
    from .frontend.relay import const as const
    from .frontend.relay import free_vars as free_vars
    from .frontend.relay import testing as testing
    from .frontend.relay import var as var

    def __getattr__(name: str) -> typing.Any: ...


transform = relay_transform
relay.__dict__["transform"] = transform
sys.modules[f"{__name__}.transform"] = transform
sys.modules[f"{__name__}.analysis"] = _analysis
sys.modules[__name__] = relay

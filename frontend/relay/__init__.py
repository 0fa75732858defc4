"""Relay in Python, under TVM's names: `weft.relay`.

    from weft import relay

    x, w = relay.var("x", shape=(1, 64)), relay.var("w", shape=(32, 64))
    module = relay.IRModule.from_expr(relay.nn.relu(relay.nn.dense(x, w)))

`Expr`, `Var`, `var`, `const`, `Tuple`, `TupleGetItem`, `Let`, `If`, `Function`, `IRModule`, `TensorType`, `Any` and
every operator as a function (`relay.add`, `relay.nn.conv2d`, `relay.image.resize2d`, ...); `relay.testing` has whole
models. `weft.relay.transform` has the passes, and `gradient`; `weft.relay.analysis` the analyses.
"""

from __future__ import annotations

from . import testing as testing
from .expr import AnyExtent as Any
from .expr import Expr as Expr
from .expr import Function as Function
from .expr import If as If
from .expr import IRModule as IRModule
from .expr import Let as Let
from .expr import Tuple as Tuple
from .expr import TupleGetItem as TupleGetItem
from .expr import Var as Var
from .expr import const as const
from .expr import free_vars as free_vars
from .expr import tensor_type as TensorType
from .expr import var as var
from .namespace import OperatorNamespace, find, operator_names
from .operators import Operator

_NAMESPACES = {prefix: OperatorNamespace(prefix) for prefix in ("nn", "image", "vision", "annotation", "qnn", "dyn")}

__all__ = [
    "Any", "Expr", "Function", "If", "IRModule", "Let", "TensorType", "Tuple", "TupleGetItem", "Var", "const",
    "free_vars", "testing", "var",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted({*__all__, *_NAMESPACES, *(name for name in operator_names() if "." not in name)})


def __getattr__(name: str) -> Operator | OperatorNamespace:
    if name.startswith("__"):
        raise AttributeError(f"module 'weft.relay' has no attribute '{name}'")
    return _NAMESPACES[name] if name in _NAMESPACES else find(name)

"""Modules as JSON, by TVM's names: `weft.ir.save_json` and `weft.ir.load_json`.

The text is Weft's own, of what a `.mlir` file and the weights beside it hold. TVM does not read it, nor Weft TVM's.
"""

from __future__ import annotations

import base64
import json
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp

from .dialects.relay.core import FuncOp
from .dialects.relay.weights import bind_resources, check_loaded, missing_resources, packed_weights, resources, unpacked
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import Diagnostic
from .dialects.tir.core import PrimFuncOp
from .dialects.tir.script.modules import IRModule as TirModule
from .frontend.mlir import parse_mlir
from .frontend.relay.module import IRModule
from .transforms.infra.printing import module_text

_KIND = "weft.ir"
_NAME = "<json>"


@checked
def save_json(node: ModuleOp | FuncOp | PrimFuncOp) -> str:
    """A module, or one of a function, as JSON: `load_json` makes it again. A function of Relay is its `@main`.

    Raises:
        Diagnostic: the data of a constant was not loaded.
    """
    module = IRModule.from_expr(node) if isinstance(node, FuncOp) else _module(node)
    check_loaded(module)
    said = {"kind": _KIND, "module": module_text(module, debuginfo=True)}
    if arrays := resources(module):
        said["weights"] = base64.b64encode(packed_weights(arrays)).decode()
    return json.dumps(said)


@checked
def load_json(json_str: str) -> ModuleOp:
    """The module that `save_json` has written.

    Raises:
        Diagnostic: that is none, or has no text or weights that Weft reads.
    """
    try:
        said: Any = json.loads(json_str)
    except (ValueError, RecursionError) as error:
        raise Diagnostic(f"is no JSON: {error}") from None
    if not isinstance(said, dict) or cast("dict[str, object]", said).get("kind") != _KIND:
        raise Diagnostic("is no module that Weft has saved", hint="weft.ir.save_json writes such")
    fields = cast("dict[str, object]", said)
    text, weights = fields.get("module"), fields.get("weights", "")
    if not isinstance(text, str) or not isinstance(weights, str):
        raise Diagnostic("is no module that Weft has saved: its text or its weights are missing")
    module = parse_mlir(text, _NAME)
    if weights:
        try:
            data = base64.b64decode(weights, validate=True)
        except ValueError as error:  # it is no base64, or not even ASCII
            raise Diagnostic(f"holds no weights: {error}") from None
        bind_resources(module, unpacked(data, missing_resources(module), _NAME))
    check_loaded(module)
    return _module(module)


def _module(node: ModuleOp | PrimFuncOp) -> ModuleOp:
    """A copy of a module, or a function in one: Relay's, or that of `tir` where all functions are of it."""
    if isinstance(node, PrimFuncOp) or all(isinstance(op, PrimFuncOp) for op in node.ops):
        return TirModule.of(node)
    return IRModule.of(node)

"""Modules as JSON, by TVM's names: `weft.ir.save_json` and `weft.ir.load_json`.

The text is Weft's own, of what a `.mlir` file and the weights beside it hold. TVM does not read it, nor Weft TVM's.
"""

from __future__ import annotations

import base64
import json
from typing import Any, cast

from .dialects.relay.core import FuncOp
from .dialects.relay.weights import bind_resources, check_loaded, missing_resources, packed_weights, resources, unpacked
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import Diagnostic
from .frontend.mlir import parse_mlir
from .frontend.relay.module import IRModule
from .transforms.infra.printing import module_text

_KIND = "weft.ir"
_NAME = "<json>"


@checked
def save_json(node: IRModule | FuncOp) -> str:
    """A module, or one whose `@main` is a function, as JSON: `load_json` makes it again.

    Raises:
        Diagnostic: the data of a constant was not loaded.
    """
    module = IRModule.from_expr(node)
    check_loaded(module)
    said = {"kind": _KIND, "module": module_text(module, debuginfo=True)}
    if arrays := resources(module):
        said["weights"] = base64.b64encode(packed_weights(arrays)).decode()
    return json.dumps(said)


@checked
def load_json(json_str: str) -> IRModule:
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
    return IRModule.of(module)

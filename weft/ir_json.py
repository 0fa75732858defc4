"""Modules, functions, expressions and types as JSON, by TVM's names: `weft.ir.save_json` and `weft.ir.load_json`.

What is no module is written as one: a function as its `@main`, an expression as the function of its free variables that
gives it, a type as a function of such a value. The text is Weft's own, of what a `.mlir` file and the weights beside it
hold. TVM does not read it, nor Weft TVM's.
"""

from __future__ import annotations

import base64
import json
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from .dialects.relay.core import FuncOp
from .dialects.relay.types import IncompleteType
from .dialects.relay.weights import bind_resources, check_loaded, missing_resources, packed_weights, resources, unpacked
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import Diagnostic, UsageError
from .dialects.tir.core import PrimFuncOp
from .dialects.tir.script.modules import IRModule as TirModule
from .frontend.mlir import parse_mlir
from .frontend.relay.expr import Expr, Function, GlobalVar, Var
from .frontend.relay.module import IRModule
from .frontend.relay.namespace import get
from .frontend.relay.op_class import Op
from .transforms.infra.printing import module_text

_KIND = "weft.ir"
_NAME = "<json>"

Node: TypeAlias = "ModuleOp | FuncOp | PrimFuncOp | Expr | Attribute | Op | GlobalVar"
"""What can be written: a module, a function of Relay or of `tir`, an expression of Relay, a type, and a name."""


@checked
def save_json(node: Node) -> str:
    """A module, a function, an expression, a type or a name as JSON: `load_json` makes it again. The variables of an
    expression that are free are then others of the same names and types.

    Raises:
        Diagnostic: the data of a constant was not loaded.
        UsageError: types of what operators take are not known yet, without which a text is not read.
    """
    said: dict[str, str] = {"kind": _KIND}
    match node:
        case Op():
            return json.dumps(said | {"of": "operator", "name": node.name})
        case GlobalVar():
            return json.dumps(said | {"of": "global", "name": node.name_hint})
        case ModuleOp():
            module = _module(node)
        case PrimFuncOp():
            module, said["of"] = _module(node), "function"
        case FuncOp():
            module, said["of"] = IRModule.from_expr(node), "function"
        case Expr():
            module, said["of"] = IRModule.from_expr(node), "expression"
        case _:
            value = Var("value", node)
            module, said["of"] = IRModule.from_expr(Function([value], value)), "type"
    check_loaded(module)
    said["module"] = text = module_text(module, debuginfo=True)
    if str(IncompleteType()) in text:
        _check_readable(module)
    if arrays := resources(module):
        said["weights"] = base64.b64encode(packed_weights(arrays)).decode()
    return json.dumps(said)


@checked
def load_json(json_str: str) -> Node:
    """What `save_json` has written.

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
    of, name = fields.get("of", "module"), fields.get("name")
    if isinstance(name, str) and of in ("operator", "global"):
        return _named(name) if of == "operator" else GlobalVar(name)
    module = _read(fields)
    if of == "module":
        return module
    written = next((op for op in module.ops if isinstance(op, PrimFuncOp) or _is_main(op)), None)
    match of, written:
        case "function", FuncOp() | PrimFuncOp():
            return written
        case "expression", FuncOp():
            return written.tree
        case "type", FuncOp():
            return written.ret_type
        case _:
            raise Diagnostic(f"is nothing that Weft has saved: {of}, without a function of it")


def _check_readable(module: ModuleOp) -> None:
    try:
        module.verify()
    except (VerifyException, Diagnostic):
        raise UsageError(
            "it has operators that take what is of no known type",
            hint="give its variables types, or save what relay.transform.InferType makes of its module",
        ) from None


def _is_main(op: Operation) -> bool:
    return isinstance(op, FuncOp) and op.sym_name.data == "main"


def _named(name: str) -> Op:
    try:
        return get(name)
    except AttributeError as error:
        raise Diagnostic(str(error)) from None


def _read(fields: dict[str, object]) -> ModuleOp:
    """The module of what was read."""
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

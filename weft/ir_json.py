"""Modules, functions, expressions and types as JSON, by TVM's names: `weft.ir.save_json` and `weft.ir.load_json`.

What is no module is written as one: a function as its `@main`, an expression as the function of its free variables that
gives it, a type as a function of such a value. Sequences and dictionaries are written as what is in them, arrays as
weights. The text is Weft's own, of what a `.mlir` file and the weights beside it hold. TVM does not read it, nor Weft
TVM's.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from .dialects.relay.core import FuncOp
from .dialects.relay.types import IncompleteType
from .dialects.relay.weights import bind_resources, check_loaded, missing_resources, packed_weights, resources, unpacked
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import Diagnostic, UsageError
from .dialects.support.hints import is_mapping, is_sequence
from .dialects.support.nd import as_nd
from .dialects.te.expr import Const
from .dialects.te.forms import const
from .dialects.tir.core import PrimFuncOp
from .dialects.tir.script.modules import IRModule as TirModule
from .frontend.mlir import parse_mlir
from .frontend.relay.base import SourceName, Span
from .frontend.relay.expr import Expr, Function, GlobalVar, Var
from .frontend.relay.module import IRModule
from .frontend.relay.namespace import get
from .frontend.relay.op_class import Op
from .transforms.infra.printing import module_text

_KIND = "weft.ir"
_NAME = "<json>"
_ARRAY = "array"

Plain: TypeAlias = "str | int | float | bool | Span | None"
Node: TypeAlias = (
    "ModuleOp | FuncOp | PrimFuncOp | Expr | Attribute | Op | GlobalVar | Const | npt.NDArray[np.generic] | Plain"
)
"""What can be written: a module, a function of Relay or of `tir`, an expression of Relay, a type, a name, a number with
or without a type, an array, a place in a source."""
Nested: TypeAlias = "Node | Sequence[object] | Mapping[str, object]"
"""That, or sequences and dictionaries of it, nested as they may be."""


@checked
def save_json(node: Nested) -> str:
    """What can be written as JSON: `load_json` makes it again, sequences as lists. The variables of an expression that
    are free are then others of the same names and types.

    Raises:
        Diagnostic: the data of a constant was not loaded.
        UsageError: types of what operators take are not known yet, without which a text is not read; or there is
            something else in a sequence or dictionary, or it holds itself.
    """
    try:
        return json.dumps({"kind": _KIND, **_said(node)})
    except RecursionError:
        raise UsageError("it is nested too deep, or holds itself") from None


def _said(node: object) -> dict[str, object]:
    match node:
        case None | str() | bool() | int() | float():
            return {"of": "value", "value": node}
        case _ if is_sequence(node):
            return {"of": "list", "items": [_said(each) for each in node]}
        case _ if is_mapping(node):
            if wrong := [key for key in node if not isinstance(key, str)]:
                raise UsageError(f"a dictionary has strings for keys, and not {wrong[0]!r}")
            return {"of": "dict", "items": {key: _said(each) for key, each in node.items()}}
        case np.ndarray():
            return {"of": "array", "weights": _packed({_ARRAY: cast("npt.NDArray[np.generic]", node)})}
        case Const():
            return {"of": "constant", "dtype": node.dtype, "value": node.value}
        case Op():
            return {"of": "operator", "name": node.name}
        case GlobalVar():
            return {"of": "global", "name": node.name_hint}
        case Span():
            source = None if node.source_name is None else node.source_name.name
            ends = [node.line, node.end_line, node.column, node.end_column]
            return {"of": "span", "source": source, "ends": ends}
        case ModuleOp():
            return _module_said(_module(node))
        case PrimFuncOp():
            return {"of": "function", **_module_said(_module(node))}
        case FuncOp():
            return {"of": "function", **_module_said(IRModule.from_expr(node))}
        case Expr():
            return {"of": "expression", **_module_said(IRModule.from_expr(node))}
        case Attribute():
            value = Var("value", node)
            return {"of": "type", **_module_said(IRModule.from_expr(Function([value], value)))}
        case _:
            what = f"no JSON is written of a thing of type {type(node).__name__}"
            raise UsageError(
                what, hint="modules, functions, types, numbers, arrays, and lists and dictionaries of them can be saved"
            )


def _module_said(module: ModuleOp) -> dict[str, object]:
    check_loaded(module)
    text = module_text(module, debuginfo=True)
    if str(IncompleteType()) in text:
        _check_readable(module)
    arrays = resources(module)
    return {"module": text, **({"weights": _packed(arrays)} if arrays else {})}


def _packed(arrays: Mapping[str, npt.NDArray[np.generic]]) -> str:
    return base64.b64encode(packed_weights(arrays)).decode()


@checked
def load_json(json_str: str) -> Nested:
    """What `save_json` has written.

    Raises:
        Diagnostic: that is none, or has no text or weights that Weft reads.
    """
    try:
        said: Any = json.loads(json_str)
        if not isinstance(said, dict) or cast("dict[str, object]", said).get("kind") != _KIND:
            raise Diagnostic("is no module that Weft has saved", hint="weft.ir.save_json writes such")
        return _loaded(cast("dict[str, object]", said))
    except (ValueError, RecursionError) as error:
        raise Diagnostic(f"is no JSON: {error}") from None


def _loaded(fields: object) -> Nested:
    match fields:
        case {"of": "value", "value": None | str() | bool() | int() | float() as value}:
            return value
        case {"of": "list", "items": list()}:
            return [_loaded(each) for each in cast("dict[str, list[object]]", fields)["items"]]
        case {"of": "dict", "items": dict()}:
            items = cast("dict[str, dict[str, object]]", fields)["items"]
            return {key: _loaded(each) for key, each in items.items()}
        case {"of": "array", "weights": str(weights)} if _ARRAY in (read := _unpacked(weights, (_ARRAY,))):
            return as_nd(read[_ARRAY])
        case {"of": "constant", "dtype": str(dtype), "value": bool() | int() | float() as value}:
            return cast("Const", const(value, dtype))
        case {"of": "operator", "name": str(name)}:
            return _named(name)
        case {"of": "global", "name": str(name)}:
            return GlobalVar(name)
        case {"of": "span", "source": str() | None as name, "ends": [int(), int(), int(), int()]}:
            line, end_line, column, end_column = cast("dict[str, list[int]]", fields)["ends"]
            return Span(None if name is None else SourceName(name), line, end_line, column, end_column)
        case dict():
            return _of_module(cast("dict[str, object]", fields))
        case _:
            raise Diagnostic(f"is nothing that Weft has saved: {fields!r}")


def _of_module(fields: dict[str, object]) -> Node:
    module, of = _read(fields), fields.get("of", "module")
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
        bind_resources(module, _unpacked(weights, missing_resources(module)))
    check_loaded(module)
    return _module(module)


def _unpacked(weights: str, keys: Collection[str]) -> Mapping[str, npt.NDArray[np.generic]]:
    try:
        data = base64.b64decode(weights, validate=True)
    except ValueError as error:  # it is no base64, or not even ASCII
        raise Diagnostic(f"holds no weights: {error}") from None
    return unpacked(data, keys, _NAME)


def _module(node: ModuleOp | PrimFuncOp) -> ModuleOp:
    """A copy of a module, or a function in one: Relay's, or that of `tir` where all functions are of it."""
    if isinstance(node, PrimFuncOp) or all(isinstance(op, PrimFuncOp) for op in node.ops):
        return TirModule.of(node)
    return IRModule.of(node)

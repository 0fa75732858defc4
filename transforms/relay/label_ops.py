"""Write on every function what tells it apart: a hash of its structure, and the layouts of its operators.

    relay.func private @fused_nn_conv2d(..) attributes {primitive}
 -> relay.func private @fused_nn_conv2d(..) attributes {primitive, hash = "0c5f..", data_layout = "NHWC", ..}

So a profile can say which kernels are the same. Equal functions have equal hashes, whatever they and their values are
called. Of several operators with a layout of the same name the first one counts. Functions that have a hash already
are left alone.

Counterpart of TVM's `LabelOps`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from ...dialects.relay.base import RelayOp
from ...dialects.relay.core import FuncOp, PrimitiveOp
from ...dialects.support.fingerprint import fingerprint
from ..infra import ModulePass, report_changed
from ..infra.walk import clone, walk


@dataclass(frozen=True)
class LabelOpsPass(ModulePass):
    """No options."""

    name = "label-ops"
    opt_level: ClassVar[int] = 1
    tvm_name: ClassVar[str | None] = "LabelOps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in walk(op) if isinstance(f, FuncOp | PrimitiveOp) and "hash" not in f.attributes]
        labels = [_label(function) for function in functions]
        for function, label in zip(functions, labels, strict=True):
            function.attributes = {**label, **function.attributes}
        report_changed(bool(functions))


def _label(function: Operation) -> dict[str, Attribute]:
    layouts: dict[str, Attribute] = {}
    for op in walk(function):
        if isinstance(op, RelayOp):
            for name, value in op.properties.items():
                if "layout" in name and isinstance(value, StringAttr) and value.data:
                    layouts.setdefault(name, value)
    return {"hash": StringAttr(structural_hash(function)), **layouts}


def structural_hash(function: Operation) -> str:
    """16 digits that are the same for functions of one structure."""
    copy = clone(function)
    if isinstance(copy, FuncOp):
        copy.properties["sym_name"] = StringAttr("")
        copy.properties.pop("sym_visibility", None)
    text = fingerprint(copy, names=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]

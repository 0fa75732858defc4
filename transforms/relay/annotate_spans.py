"""Give every operation without a place in a source one: where it stands in the text of the module.

    %0 = relay.exp %x                    // made in Python         ->   %0 = relay.exp %x  loc("module":2:3)

What is said of it later, errors and remarks, then names that line. Operations that come from a file keep their places.

Counterpart of TVM's `AnnotateSpans`, whose source is called `GeneratedSource`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp

from ...dialects.support.parser import parse_module
from ..infra import ModulePass, report_changed

SOURCE = "GeneratedSource"


@dataclass(frozen=True)
class AnnotateSpansPass(ModulePass):
    """Has no options."""

    name = "annotate-spans"
    opt_level: ClassVar[int] = 1
    tvm_name: ClassVar[str | None] = "AnnotateSpans"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(each.location == UNKNOWN_LOC for each in op.walk()):
            written = parse_module(str(op), ctx, SOURCE)
            for mine, theirs in zip(op.walk(), written.walk(), strict=True):
                if mine.location == UNKNOWN_LOC:
                    mine.location = theirs.location
        report_changed(False)  # what is known of a module does not depend on places

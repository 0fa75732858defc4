"""Put operators that a backend computes as one into a region of their own.

    %0 = relay.nn.dense %x, %w               %1 = relay.primitive(%x, %w, %b) {Composite = "blas.dense_bias", ...} {
    %1 = relay.nn.bias_add %0, %b      ->    ^bb0(%p0, %p1, %p2):
                                               %2 = relay.nn.dense %p0, %p1
                                               %3 = relay.nn.bias_add %2, %p2
                                               relay.yield %3
                                             }

The table has the names of composites, their data-flow patterns and checks of matches; it is that of a backend
(`backend=blas`), or given in Python (`MergeCompositePass.of(table)`). Patterns are tried one after the other, each on
the whole function, so that the first wins; what is in a composite already stays there. A composite that nobody
partitions becomes a kernel.

Counterpart of TVM's `MergeComposite`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from xdsl.context import Context

from ...dialects.relay.core import FuncOp
from ...dialects.relay.functions import COMPOSITE
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ..infra import FunctionPass, report_changed
from .backends import PatternEntry, get_backend
from .dataflow.rewrite import partition


@dataclass(frozen=True)
class MergeCompositePass(FunctionPass):
    """Matches of a table of patterns -> `relay.primitive` regions with `Composite`."""

    name = "merge-composite"
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "MergeComposite"

    backend: str = ""
    """Whose patterns."""

    table: tuple[PatternEntry, ...] = field(default=(), init=False)

    @classmethod
    @checked
    def of(cls, table: Sequence[PatternEntry]) -> Self:
        """The pass for a table."""
        made = cls()
        object.__setattr__(made, "table", tuple(table))
        return made

    def with_options(self, options: Mapping[str, object]) -> Self:
        changed = super().with_options(options)
        object.__setattr__(changed, "table", self.table)
        return changed

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        """
        Raises:
            UsageError: there is no such backend, or no table.
        """
        if not self.backend and not self.table:
            raise UsageError("merge-composite has no patterns", hint="merge-composite{backend=NAME}")
        table = (*(get_backend(self.backend).patterns() if self.backend else ()), *self.table)
        changed = False
        for name, pattern, *check in table:
            changed |= partition(pattern, func, {COMPOSITE: name}, check[0] if check else None)
        report_changed(changed)

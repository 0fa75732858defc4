"""Pass kinds. A pass is an xDSL `ModulePass`, so that `weft-opt`, stock `xdsl-opt` and Python drive the same object."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from xdsl import passes as xdsl_passes
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.relay.core import FuncOp
from ...dialects.tir.core import PrimFuncOp


@dataclass(frozen=True)
class Pass(xdsl_passes.ModulePass):
    """Base of all passes: PassInfo as class variables, options as dataclass fields."""

    opt_level: ClassVar[int] = 0
    """The pass runs where the context's level is at least this."""

    required: ClassVar[tuple[str, ...]] = ()
    """Names of passes whose result this one needs."""

    tvm_name: ClassVar[str | None] = None
    """TVM's CamelCase name of the same pass, accepted as an alias."""


@dataclass(frozen=True)
class ModulePass(Pass):
    """A pass that sees the whole module: overrides `apply`."""


@dataclass(frozen=True)
class FunctionPass(Pass):
    """A pass that sees one `relay.func` at a time; functions marked `Compiler`, `Extern`, `SkipOptimization` are left
    alone, and so are primitive ones."""

    @abstractmethod
    def apply_function(self, ctx: Context, func: FuncOp) -> None: ...

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in list(op.ops):
            if isinstance(func, FuncOp) and not (_SKIP & func.attributes.keys()):
                self.apply_function(ctx, func)


_SKIP = {"Compiler", "Extern", "SkipOptimization", "primitive"}


@dataclass(frozen=True)
class PrimFuncPass(Pass):
    """A pass that sees one `tir.prim_func` at a time."""

    @abstractmethod
    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None: ...

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in list(op.ops):
            if isinstance(func, PrimFuncOp):
                self.apply_prim_func(ctx, func)

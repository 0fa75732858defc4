"""The pass infrastructure."""

from .passes import FunctionPass, ModulePass, Pass, PrimFuncPass

__all__ = ["FunctionPass", "ModulePass", "Pass", "PrimFuncPass"]

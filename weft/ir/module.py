"""Modules (`tvm.ir.module`)."""

from ..ir_module import IRModule as IRModule

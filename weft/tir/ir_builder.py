"""Statements put together one after the other (`tvm.tir.ir_builder`)."""

from ..dialects.tir.nodes.ir_builder import BufferVar as BufferVar
from ..dialects.tir.nodes.ir_builder import IRBuilder as IRBuilder
from ..dialects.tir.nodes.ir_builder import create as create

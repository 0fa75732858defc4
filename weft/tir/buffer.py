"""Buffers, where TVM defines them (`tvm.tir.buffer`)."""

from ..dialects.tir.nodes.buffers import decl_buffer as decl_buffer
from ..dialects.tir.script.annotations import Buffer as Buffer

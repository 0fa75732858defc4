"""What reads TVMScript, where TVM has it (`tvm.script.parser`)."""

from ... import tir as tir
from ...dialects.tir.script.modules import ir_module as ir_module
from ...dialects.tir.script.parser import from_source as parse

__all__ = ["ir_module", "parse", "tir"]

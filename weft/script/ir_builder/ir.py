"""The words of modules, for `IRBuilder`: `with I.ir_module():`."""

from ...dialects.tir.nodes.frame_words import ir_module as ir_module

__all__ = ["ir_module"]

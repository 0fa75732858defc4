"""Walks over trees of nodes (`tvm.tir.stmt_functor`)."""

from ..dialects.tir.nodes.stmt_functor import ir_transform as ir_transform
from ..dialects.tir.nodes.stmt_functor import post_order_visit as post_order_visit
from ..dialects.tir.nodes.stmt_functor import pre_order_visit as pre_order_visit
from ..dialects.tir.nodes.stmt_functor import renew_defs as renew_defs
from ..dialects.tir.nodes.stmt_functor import substitute as substitute

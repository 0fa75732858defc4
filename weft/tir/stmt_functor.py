"""Walks over trees of nodes (`tvm.tir.stmt_functor`)."""

from ..dialects.tir.nodes.stmt_functor import ir_transform as ir_transform
from ..dialects.tir.nodes.stmt_functor import kind_of as kind_of
from ..dialects.tir.nodes.stmt_functor import node_of as node_of
from ..dialects.tir.nodes.stmt_functor import parts_of as parts_of
from ..dialects.tir.nodes.stmt_functor import post_order_visit as post_order_visit
from ..dialects.tir.nodes.stmt_functor import pre_order_visit as pre_order_visit
from ..dialects.tir.nodes.stmt_functor import renew_defs as renew_defs
from ..dialects.tir.nodes.stmt_functor import substitute as substitute
from ..dialects.tir.nodes.stmt_functor import walk as walk
from ..dialects.tir.nodes.stmt_functor import with_parts as with_parts

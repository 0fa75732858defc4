"""Expressions of all kinds (`tvm.ir.expr`)."""

from ..dialects.tir.analyzer.answers import Range as Range
from ..dialects.tir.nodes.expressions import PrimExpr as PrimExpr
from ..frontend.relay.values import GlobalVar as GlobalVar

"""Tensor expressions: the language in which an operator's `compute` says what it means.

One definition has four readers: the lowering to `tir.block`s, the interpreter, the NumPy reference of the tests
(`te.evaluate`), and the count of operations and bytes (`te.cost`). Counterpart of TVM's `te`.

Names are imported when they are first asked for: the text of a graph is read without any.
"""

from typing import TYPE_CHECKING

from ..support.lazy import lazy_names

if TYPE_CHECKING:
    from .assume import agree as agree
    from .assume import at_most as at_most
    from .assume import equal_or_asked as equal_or_asked
    from .assume import extreme as extreme
    from .calls import Call as Call
    from .dim_order import always_at_most as always_at_most
    from .dim_order import surely_at_most as surely_at_most
    from .dims import ceil_divided as ceil_divided
    from .dims import dim_expr as dim_expr
    from .dims import is_number as is_number
    from .dims import product as product
    from .dims import same as same
    from .dims import var as var
    from .dims import variables as variables
    from .elementary import abs as abs
    from .elementary import ceil as ceil
    from .elementary import cos as cos
    from .elementary import erf as erf
    from .elementary import exp as exp
    from .elementary import floor as floor
    from .elementary import log as log
    from .elementary import round as round
    from .elementary import rsqrt as rsqrt
    from .elementary import sigmoid as sigmoid
    from .elementary import sin as sin
    from .elementary import sqrt as sqrt
    from .elementary import tanh as tanh
    from .elementary import trunc as trunc
    from .expr import Binary as Binary
    from .expr import Bitcast as Bitcast
    from .expr import Cast as Cast
    from .expr import Check as Check
    from .expr import Const as Const
    from .expr import Dim as Dim
    from .expr import Expr as Expr
    from .expr import ExprLike as ExprLike
    from .expr import IterVar as IterVar
    from .expr import Select as Select
    from .expr import Slot as Slot
    from .expr import SymbolicExtentError as SymbolicExtentError
    from .expr import Unary as Unary
    from .expr import Var as Var
    from .expr import all_of as all_of
    from .expr import as_expr as as_expr
    from .expr import binary as binary
    from .expr import bitcast as bitcast
    from .expr import cast as cast
    from .expr import check as check
    from .expr import const as const
    from .expr import maximum as maximum
    from .expr import minimum as minimum
    from .expr import power as power
    from .expr import select as select
    from .expr import unary as unary
    from .external import External as External
    from .kinds import BinaryKind as BinaryKind
    from .kinds import ReduceKind as ReduceKind
    from .kinds import UnaryKind as UnaryKind
    from .kinds import index as index
    from .procedures import Procedure as Procedure
    from .procedures import Steps as Steps
    from .procedures import procedure as procedure
    from .reduction import COMBINER as COMBINER
    from .reduction import Combiner as Combiner
    from .reduction import Fold as Fold
    from .reduction import Reduce as Reduce
    from .reduction import first_value as first_value
    from .reduction import first_values as first_values
    from .reduction import reduce_identity as reduce_identity
    from .tensor import AnyRankBody as AnyRankBody
    from .tensor import Compute as Compute
    from .tensor import Filled as Filled
    from .tensor import Read as Read
    from .tensor import Tensor as Tensor
    from .tensor import TensorOp as TensorOp
    from .tensor import as_index as as_index
    from .tensor import compute as compute
    from .tensor import max as max
    from .tensor import min as min
    from .tensor import operands_of as operands_of
    from .tensor import placeholder as placeholder
    from .tensor import prod as prod
    from .tensor import reduce as reduce
    from .tensor import reduce_axis as reduce_axis
    from .tensor import sum as sum
    from .tensor import topological_order as topological_order

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

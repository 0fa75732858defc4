"""Tensor expressions under TVM's names (`tvm.te`).

from weft import te
C = te.compute((64,), lambda i: A[i] + 1, name="C")
s = te.create_schedule(C.op)
xo, xi = s[C].split(C.op.axis[0], factor=16)
"""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from ..dialects.te.dims import size_var as size_var
    from ..dialects.te.expr import Expr as Expr
    from ..dialects.te.expr import IterVar as IterVar
    from ..dialects.te.extern import extern as extern
    from ..dialects.te.extern import extern_primfunc as extern_primfunc
    from ..dialects.te.forms import Select as Select
    from ..dialects.te.forms import all as all
    from ..dialects.te.forms import any as any
    from ..dialects.te.forms import comm_reducer as comm_reducer
    from ..dialects.te.forms import compute as compute
    from ..dialects.te.forms import const as const
    from ..dialects.te.forms import if_then_else as if_then_else
    from ..dialects.te.forms import max_value as max_value
    from ..dialects.te.forms import min_value as min_value
    from ..dialects.te.forms import placeholder as placeholder
    from ..dialects.te.forms import reduce_axis as reduce_axis
    from ..dialects.te.forms import thread_axis as thread_axis
    from ..dialects.te.forms import var as var
    from ..dialects.te.functions import abs as abs
    from ..dialects.te.functions import acos as acos
    from ..dialects.te.functions import acosh as acosh
    from ..dialects.te.functions import add as add
    from ..dialects.te.functions import asin as asin
    from ..dialects.te.functions import asinh as asinh
    from ..dialects.te.functions import atan as atan
    from ..dialects.te.functions import atan2 as atan2
    from ..dialects.te.functions import atanh as atanh
    from ..dialects.te.functions import bitwise_and as bitwise_and
    from ..dialects.te.functions import bitwise_not as bitwise_not
    from ..dialects.te.functions import bitwise_or as bitwise_or
    from ..dialects.te.functions import bitwise_xor as bitwise_xor
    from ..dialects.te.functions import ceil as ceil
    from ..dialects.te.functions import copysign as copysign
    from ..dialects.te.functions import cos as cos
    from ..dialects.te.functions import cosh as cosh
    from ..dialects.te.functions import div as div
    from ..dialects.te.functions import erf as erf
    from ..dialects.te.functions import exp as exp
    from ..dialects.te.functions import exp2 as exp2
    from ..dialects.te.functions import floor as floor
    from ..dialects.te.functions import floordiv as floordiv
    from ..dialects.te.functions import floormod as floormod
    from ..dialects.te.functions import fmod as fmod
    from ..dialects.te.functions import indexdiv as indexdiv
    from ..dialects.te.functions import indexmod as indexmod
    from ..dialects.te.functions import isfinite as isfinite
    from ..dialects.te.functions import isinf as isinf
    from ..dialects.te.functions import isnan as isnan
    from ..dialects.te.functions import log as log
    from ..dialects.te.functions import log1p as log1p
    from ..dialects.te.functions import log2 as log2
    from ..dialects.te.functions import log10 as log10
    from ..dialects.te.functions import max as max
    from ..dialects.te.functions import min as min
    from ..dialects.te.functions import multiply as multiply
    from ..dialects.te.functions import nearbyint as nearbyint
    from ..dialects.te.functions import pow as pow
    from ..dialects.te.functions import power as power
    from ..dialects.te.functions import prod as prod
    from ..dialects.te.functions import round as round
    from ..dialects.te.functions import rsqrt as rsqrt
    from ..dialects.te.functions import shift_left as shift_left
    from ..dialects.te.functions import shift_right as shift_right
    from ..dialects.te.functions import sigmoid as sigmoid
    from ..dialects.te.functions import sin as sin
    from ..dialects.te.functions import sinh as sinh
    from ..dialects.te.functions import sqrt as sqrt
    from ..dialects.te.functions import subtract as subtract
    from ..dialects.te.functions import sum as sum
    from ..dialects.te.functions import tan as tan
    from ..dialects.te.functions import tanh as tanh
    from ..dialects.te.functions import trunc as trunc
    from ..dialects.te.functions import truncdiv as truncdiv
    from ..dialects.te.functions import truncmod as truncmod
    from ..dialects.te.left_out import gradient as gradient
    from ..dialects.te.left_out import hybrid as hybrid
    from ..dialects.te.left_out import trace as trace
    from ..dialects.te.scan import scan as scan
    from ..dialects.te.tags import tag_scope as tag_scope
    from ..dialects.te.tensor import ComputeOp as ComputeOp
    from ..dialects.te.tensor import ExternOp as ExternOp
    from ..dialects.te.tensor import PlaceholderOp as PlaceholderOp
    from ..dialects.te.tensor import Tensor as Tensor
    from ..dialects.te.tensor_intrin import TensorIntrin as TensorIntrin
    from ..dialects.te.tensor_intrin import decl_tensor_intrin as decl_tensor_intrin
    from ..dialects.tir.analyzer.index_map import AXIS_SEPARATOR as AXIS_SEPARATOR
    from ..dialects.tir.nodes.functions import popcount as popcount
    from ..lowering.te_schedule.auto_inline import AutoInlineBroadcast as AutoInlineBroadcast
    from ..lowering.te_schedule.auto_inline import AutoInlineElemWise as AutoInlineElemWise
    from ..lowering.te_schedule.auto_inline import AutoInlineInjective as AutoInlineInjective
    from ..lowering.te_schedule.infer_bound import Bound as Bound
    from ..lowering.te_schedule.infer_bound import InferBound as InferBound
    from ..lowering.te_schedule.prim_func import create_prim_func as create_prim_func
    from ..lowering.te_schedule.relations import Fuse as Fuse
    from ..lowering.te_schedule.relations import Singleton as Singleton
    from ..lowering.te_schedule.relations import Split as Split
    from ..lowering.te_schedule.schedule import Schedule as Schedule
    from ..lowering.te_schedule.schedule import create_schedule as create_schedule
    from ..lowering.te_schedule.schedule_ops import ScheduleOps as ScheduleOps
    from ..lowering.te_schedule.schedule_ops import SchedulePostProcToPrimFunc as SchedulePostProcToPrimFunc
    from ..lowering.te_schedule.stage import Stage as Stage
    from . import operation as operation
    from . import schedule as schedule
    from . import tag as tag
    from . import tensor as tensor
    from . import tensor_intrin as tensor_intrin

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)

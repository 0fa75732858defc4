"""TIR under TVM's names (`tvm.tir`): functions in TVMScript, and schedules.

from weft.script import tir as T

@T.prim_func
def double(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("double"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + A[vi]

schedule = T.Schedule(double)

The words of TVMScript (`T.grid`, `T.block`, ...) are read by `prim_func` from a function's text, and are no functions.
Functions of expressions, which TVM has here too, are those of `weft.te`.
"""

from typing import TYPE_CHECKING

from .transforms.infra.lazy import lazy_names

if TYPE_CHECKING:
    from . import transform as transform
    from .dialects.te.forms import Select as Select
    from .dialects.te.forms import all as all
    from .dialects.te.forms import any as any
    from .dialects.te.forms import comm_reducer as comm_reducer
    from .dialects.te.forms import const as const
    from .dialects.te.forms import if_then_else as if_then_else
    from .dialects.te.forms import max_value as max_value
    from .dialects.te.forms import min_value as min_value
    from .dialects.te.functions import abs as abs
    from .dialects.te.functions import acos as acos
    from .dialects.te.functions import acosh as acosh
    from .dialects.te.functions import asin as asin
    from .dialects.te.functions import asinh as asinh
    from .dialects.te.functions import atan as atan
    from .dialects.te.functions import atanh as atanh
    from .dialects.te.functions import ceil as ceil
    from .dialects.te.functions import cos as cos
    from .dialects.te.functions import cosh as cosh
    from .dialects.te.functions import div as div
    from .dialects.te.functions import erf as erf
    from .dialects.te.functions import exp as exp
    from .dialects.te.functions import floor as floor
    from .dialects.te.functions import floordiv as floordiv
    from .dialects.te.functions import floormod as floormod
    from .dialects.te.functions import fmod as fmod
    from .dialects.te.functions import indexdiv as indexdiv
    from .dialects.te.functions import indexmod as indexmod
    from .dialects.te.functions import isfinite as isfinite
    from .dialects.te.functions import isinf as isinf
    from .dialects.te.functions import isnan as isnan
    from .dialects.te.functions import log as log
    from .dialects.te.functions import log2 as log2
    from .dialects.te.functions import log10 as log10
    from .dialects.te.functions import max as max
    from .dialects.te.functions import min as min
    from .dialects.te.functions import nearbyint as nearbyint
    from .dialects.te.functions import power as power
    from .dialects.te.functions import round as round
    from .dialects.te.functions import rsqrt as rsqrt
    from .dialects.te.functions import sigmoid as sigmoid
    from .dialects.te.functions import sin as sin
    from .dialects.te.functions import sinh as sinh
    from .dialects.te.functions import sqrt as sqrt
    from .dialects.te.functions import sum as sum
    from .dialects.te.functions import tan as tan
    from .dialects.te.functions import tanh as tanh
    from .dialects.te.functions import trunc as trunc
    from .dialects.te.functions import truncdiv as truncdiv
    from .dialects.te.functions import truncmod as truncmod
    from .dialects.tir.analyzer.index_map import IndexMap as IndexMap
    from .dialects.tir.interpreter import Interpreter as Interpreter
    from .dialects.tir.script.annotations import Buffer as Buffer
    from .dialects.tir.script.annotations import bool as bool
    from .dialects.tir.script.annotations import boolean as boolean
    from .dialects.tir.script.annotations import float16 as float16
    from .dialects.tir.script.annotations import float32 as float32
    from .dialects.tir.script.annotations import float64 as float64
    from .dialects.tir.script.annotations import handle as handle
    from .dialects.tir.script.annotations import int8 as int8
    from .dialects.tir.script.annotations import int16 as int16
    from .dialects.tir.script.annotations import int32 as int32
    from .dialects.tir.script.annotations import int64 as int64
    from .dialects.tir.script.annotations import uint8 as uint8
    from .dialects.tir.script.annotations import uint16 as uint16
    from .dialects.tir.script.annotations import uint32 as uint32
    from .dialects.tir.script.annotations import uint64 as uint64
    from .dialects.tir.script.equality import assert_structural_equal as assert_structural_equal
    from .dialects.tir.script.equality import structural_equal as structural_equal
    from .dialects.tir.script.modules import IRModule as IRModule
    from .dialects.tir.script.modules import ir_module as ir_module
    from .dialects.tir.script.parser import from_source as from_source
    from .dialects.tir.script.parser import prim_func as prim_func
    from .transforms.tir.intrinsics.tensor_intrin import TensorIntrin as TensorIntrin
    from .transforms.tir.schedule.errors import ScheduleError as ScheduleError
    from .transforms.tir.scheduling.handles import BlockRV as BlockRV
    from .transforms.tir.scheduling.handles import ExprRV as ExprRV
    from .transforms.tir.scheduling.handles import LoopRV as LoopRV
    from .transforms.tir.scheduling.instruction import Instruction as Instruction
    from .transforms.tir.scheduling.instruction import InstructionKind as InstructionKind
    from .transforms.tir.scheduling.schedule import Schedule as Schedule
    from .transforms.tir.scheduling.state import StmtSRef as StmtSRef
    from .transforms.tir.scheduling.trace import Trace as Trace

__tvmscript__ = True

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)

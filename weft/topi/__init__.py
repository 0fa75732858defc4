"""Operators as formulas of `te`, under TVM's names (`tvm.topi`): Relay's operators on tensors of `te`.

from weft import te, topi
A = te.placeholder((4, 8), name="A")
C = topi.nn.relu(topi.matmul(A, B) + 1.0)
s = te.create_schedule(C.op)

What an operator computes is said once, by its class in `weft.dialects.relay`; here are TVM's arguments. Schedules are
one's own, or those of `weft.compile`.
"""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from . import generic as generic
    from . import image as image
    from . import nn as nn
    from . import tag as tag
    from . import testing as testing
    from . import utils as utils
    from .broadcast import add as add
    from .broadcast import bitwise_and as bitwise_and
    from .broadcast import bitwise_or as bitwise_or
    from .broadcast import bitwise_xor as bitwise_xor
    from .broadcast import broadcast_to as broadcast_to
    from .broadcast import divide as divide
    from .broadcast import equal as equal
    from .broadcast import floor_divide as floor_divide
    from .broadcast import floor_mod as floor_mod
    from .broadcast import greater as greater
    from .broadcast import greater_equal as greater_equal
    from .broadcast import left_shift as left_shift
    from .broadcast import less as less
    from .broadcast import less_equal as less_equal
    from .broadcast import logical_and as logical_and
    from .broadcast import logical_or as logical_or
    from .broadcast import logical_xor as logical_xor
    from .broadcast import maximum as maximum
    from .broadcast import minimum as minimum
    from .broadcast import mod as mod
    from .broadcast import multiply as multiply
    from .broadcast import not_equal as not_equal
    from .broadcast import power as power
    from .broadcast import right_shift as right_shift
    from .broadcast import subtract as subtract
    from .math import abs as abs
    from .math import acos as acos
    from .math import acosh as acosh
    from .math import asin as asin
    from .math import asinh as asinh
    from .math import atan as atan
    from .math import atanh as atanh
    from .math import bitwise_not as bitwise_not
    from .math import cast as cast
    from .math import ceil as ceil
    from .math import clip as clip
    from .math import cos as cos
    from .math import cosh as cosh
    from .math import elemwise_sum as elemwise_sum
    from .math import erf as erf
    from .math import exp as exp
    from .math import fast_erf as fast_erf
    from .math import fast_exp as fast_exp
    from .math import fast_tanh as fast_tanh
    from .math import fixed_point_multiply as fixed_point_multiply
    from .math import floor as floor
    from .math import full as full
    from .math import full_like as full_like
    from .math import identity as identity
    from .math import isfinite as isfinite
    from .math import isinf as isinf
    from .math import isnan as isnan
    from .math import log as log
    from .math import log2 as log2
    from .math import log10 as log10
    from .math import logical_not as logical_not
    from .math import negative as negative
    from .math import reinterpret as reinterpret
    from .math import round as round
    from .math import rsqrt as rsqrt
    from .math import sigmoid as sigmoid
    from .math import sign as sign
    from .math import sin as sin
    from .math import sinh as sinh
    from .math import sqrt as sqrt
    from .math import tan as tan
    from .math import tanh as tanh
    from .math import trunc as trunc
    from .reduction import all as all
    from .reduction import any as any
    from .reduction import argmax as argmax
    from .reduction import argmin as argmin
    from .reduction import max as max
    from .reduction import min as min
    from .reduction import prod as prod
    from .reduction import sum as sum
    from .transform import arange as arange
    from .transform import argsort as argsort
    from .transform import concatenate as concatenate
    from .transform import cumprod as cumprod
    from .transform import cumsum as cumsum
    from .transform import einsum as einsum
    from .transform import expand_dims as expand_dims
    from .transform import flip as flip
    from .transform import gather as gather
    from .transform import gather_nd as gather_nd
    from .transform import layout_transform as layout_transform
    from .transform import matmul as matmul
    from .transform import one_hot as one_hot
    from .transform import repeat as repeat
    from .transform import reshape as reshape
    from .transform import reverse_sequence as reverse_sequence
    from .transform import sequence_mask as sequence_mask
    from .transform import sort as sort
    from .transform import split as split
    from .transform import squeeze as squeeze
    from .transform import stack as stack
    from .transform import strided_slice as strided_slice
    from .transform import take as take
    from .transform import tensordot as tensordot
    from .transform import tile as tile
    from .transform import topk as topk
    from .transform import transpose as transpose
    from .transform import unravel_index as unravel_index
    from .transform import where as where

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

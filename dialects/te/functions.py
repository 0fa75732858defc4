"""TVM's names of the functions of expressions: reducers, elementwise functions, and functions of two numbers."""

from __future__ import annotations

from .expr import BinaryKind as _B
from .expr import UnaryKind as _U
from .forms import function_of, index_operation_of, operation_of, reducer

sum, prod = reducer("sum", "sum"), reducer("prod", "prod")
max, min = reducer("max", "max"), reducer("min", "min")

exp2, log1p = function_of(_U.EXP2), function_of(_U.LOG1P)
abs, erf, exp = function_of(_U.ABS), function_of(_U.ERF), function_of(_U.EXP)
log, log2, log10 = function_of(_U.LOG), function_of(_U.LOG2), function_of(_U.LOG10)
sqrt, rsqrt, sigmoid = function_of(_U.SQRT), function_of(_U.RSQRT), function_of(_U.SIGMOID)
sin, cos, tan = function_of(_U.SIN), function_of(_U.COS), function_of(_U.TAN)
sinh, cosh, tanh = function_of(_U.SINH), function_of(_U.COSH), function_of(_U.TANH)
asin, acos, atan = function_of(_U.ASIN), function_of(_U.ACOS), function_of(_U.ATAN)
asinh, acosh, atanh = function_of(_U.ASINH), function_of(_U.ACOSH), function_of(_U.ATANH)
floor, ceil, trunc = function_of(_U.FLOOR), function_of(_U.CEIL), function_of(_U.TRUNC)
isnan, isinf, isfinite = function_of(_U.ISNAN), function_of(_U.ISINF), function_of(_U.ISFINITE)
round = nearbyint = function_of(_U.ROUND)
"""Halves go to even."""

floordiv, floormod = index_operation_of(_B.FLOORDIV), index_operation_of(_B.FLOORMOD)
indexdiv, indexmod = floordiv, floormod
div = truncdiv = operation_of(_B.DIV)
fmod = truncmod = operation_of(_B.TRUNCMOD)
power = pow = operation_of(_B.POW)
atan2, copysign = operation_of(_B.ATAN2), operation_of(_B.COPYSIGN)
add, subtract, multiply = operation_of(_B.ADD), operation_of(_B.SUB), operation_of(_B.MUL)
bitwise_and, bitwise_or, bitwise_xor = operation_of(_B.AND), operation_of(_B.OR), operation_of(_B.XOR)
shift_left, shift_right = operation_of(_B.SHL), operation_of(_B.SHR)

bitwise_not = function_of(_U.NOT)

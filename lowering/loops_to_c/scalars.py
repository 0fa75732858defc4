"""What one operation on scalars is in C: an expression of its operands' texts.

Integers are signed in C; where an operation wraps or is unsigned, its operands are made unsigned and the result signed
again. A bfloat16 is computed with as a `float` (`function`); its operands come here as such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float64Type, IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation

from ...dialects.support.diagnostics import Diagnostic
from ..total_arith import limits, may_divide_by_zero, may_overflow, may_shift_out, misfit, width_of
from .types import element, int_literal, is_float, scalar, unsigned

HELPERS = (
    """static inline int64_t weft_div(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}""",
    """static inline int64_t weft_rem(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }""",
    """static inline int64_t weft_floordiv(int64_t a, int64_t b) {
  return weft_div(a, b) - (weft_rem(a, b) != 0 && (a < 0) != (b < 0));
}""",
    """static inline int64_t weft_ceildiv(int64_t a, int64_t b) {
  return weft_div(a, b) + (weft_rem(a, b) != 0 && (a < 0) == (b < 0));
}""",
    """static inline uint64_t weft_udiv(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }""",
    """static inline uint64_t weft_urem(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }""",
    """static inline uint64_t weft_ipow(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}""",
    """static inline int64_t weft_powi(int64_t base, int64_t exponent) {
  if (exponent >= 0) return (int64_t)weft_ipow((uint64_t)base, (uint64_t)exponent);
  return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
}""",
    """static inline int32_t weft_bits_f32(float x) { int32_t y; memcpy(&y, &x, 4); return y; }""",
    """static inline float weft_f32_bits(int32_t x) { float y; memcpy(&y, &x, 4); return y; }""",
    """static inline int64_t weft_bits_f64(double x) { int64_t y; memcpy(&y, &x, 8); return y; }""",
    """static inline double weft_f64_bits(int64_t x) { double y; memcpy(&y, &x, 8); return y; }""",
    """static inline float weft_from_bf16(uint16_t x) {
  uint32_t bits = (uint32_t)x << 16;
  float y;
  memcpy(&y, &bits, 4);
  return y;
}""",
    """static inline uint16_t weft_to_bf16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (x != x) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}""",
    """static inline float weft_odd_float(double x) {
  float y = (float)x;
  if (y == x || x != x) return y;
  uint32_t bits;
  memcpy(&bits, &y, 4);
  bits = (bits - (x < 0 ? y < x : y > x)) | 1;
  memcpy(&y, &bits, 4);
  return y;
}""",
    """static inline int64_t weft_odd_integer(int64_t x, int is_held) {
  return is_held ? x : (x & ~(int64_t)0xfff) | ((x & 0xfff) + 0xfff & 0x1000);
}""",
    """static inline double weft_odd_signed(int64_t x) {
  return (double)weft_odd_integer(x, x < (int64_t)1 << 52 && x > -((int64_t)1 << 52));
}""",
    """static inline double weft_odd_unsigned(uint64_t x) {
  return (double)(uint64_t)weft_odd_integer((int64_t)x, x < (uint64_t)1 << 52);
}""",
    """static inline int64_t weft_check(int64_t at, int64_t given, int64_t extent, int64_t *record, int64_t number) {
  if (at >= 0 && at < extent) return at;
  int64_t nothing = 0;
  if (__atomic_compare_exchange_n(&record[0], &nothing, number + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    record[1] = given;
    record[2] = extent;
  }
  return at < 0 || extent == 0 ? 0 : extent - 1;
}""",
)
"""Functions that a file has if it uses them, each behind those that it calls."""


def helpers_of(body: str) -> list[str]:
    """The helpers that a text of functions calls, and those that they call."""
    found: list[str] = []
    for text in reversed(HELPERS):
        name = text.partition("(")[0].split()[-1]
        if any(f"{name}(" in caller for caller in (body, *found)):
            found.insert(0, text)
    return found


_WRAPPING = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}
_BITS = {"arith.andi": "&", "arith.ori": "|", "arith.xori": "^"}
_FLOAT = {"arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.divf": "/"}
_MATH = {
    name: name
    for name in (
        "ceil floor sqrt round trunc exp exp2 log log2 log10 sin cos tan asin acos atan sinh cosh tanh atan2 erf expm1"
        " log1p asinh acosh atanh cbrt copysign"
    ).split()
} | {"absf": "fabs", "roundeven": "nearbyint", "powf": "pow"}
_INTEGER_TESTS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
"""By number of the predicate; from 6 on unsigned."""
FLOAT_TESTS = (
    "false", "{a} == {b}", "{a} > {b}", "{a} >= {b}", "{a} < {b}", "{a} <= {b}", "{a} < {b} || {a} > {b}",
    "{a} == {a} && {b} == {b}", "!({a} < {b} || {a} > {b})", "!({a} <= {b})", "!({a} < {b})", "!({a} >= {b})",
    "!({a} > {b})", "{a} != {b}", "{a} != {a} || {b} != {b}", "true",
)  # fmt: skip
"""By number of the predicate."""


def is_pure(name: str) -> bool:
    """Whether an operation of this name is one of those here."""
    return name.partition(".")[0] in ("arith", "math")


def computed_type(type: Attribute) -> str:
    """The C type that scalars of `type` are computed in."""
    return "float" if isinstance(type, BFloat16Type) else scalar(type)


def expression(op: Operation, operands: Sequence[str]) -> str:
    """The expression, of operands that are names, literals or in parentheses.

    Raises:
        Diagnostic: the operation has no counterpart.
    """
    name = op.name
    type = element(op.results[0].type)
    if (sign := _FLOAT.get(name)) is not None:
        return f"{operands[0]} {sign} {operands[1]}"
    if (sign := _WRAPPING.get(name)) is not None:
        return _wrapping(type, sign, operands)
    if (sign := _BITS.get(name)) is not None:
        return f"{operands[0]} {sign} {operands[1]}"
    if (rule := _RULES.get(name)) is not None:
        return rule(op, type, operands)
    kind, _, function = name.partition(".")
    if kind == "math" and function in _MATH and is_float(type):
        return _library(_MATH[function], type, operands)
    raise Diagnostic("has no counterpart in C")


def _wrapping(type: Attribute, sign: str, operands: Sequence[str]) -> str:
    if isinstance(type, IndexType):
        return f"{operands[0]} {sign} {operands[1]}"
    if scalar(type) == "bool":
        return f"{operands[0]} {'&' if sign == '*' else '^'} {operands[1]}"
    # Not in the type's own width: C makes `int`s of narrow integers, and their product could overflow.
    wide = "uint64_t" if scalar(type) == "int64_t" else "uint32_t"
    return f"({scalar(type)})(({wide}){operands[0]} {sign} ({wide}){operands[1]})"


def _library(function: str, type: Attribute, operands: Sequence[str]) -> str:
    single = not isinstance(type, Float64Type)
    call = f"{function}{'f' if single else ''}({', '.join(operands)})"
    return f"(_Float16){call}" if scalar(type) == "_Float16" else call


def _division(sign: str, helper: str, is_signed: bool) -> Callable[[Operation, Attribute, Sequence[str]], str]:
    """By the processor's instruction where it is shown to have a result, else by a function."""

    def rule(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
        name = scalar(type)
        cast = "" if is_signed else f"({unsigned(type)})"
        a, b = (f"{cast}{text}" for text in operands)
        if may_divide_by_zero(op) or may_overflow(op):
            return f"({name}){helper}({a}, {b})"
        return f"({name})({a} {sign} {b})"

    return rule


def _shift(sign: str, is_signed: bool) -> Callable[[Operation, Attribute, Sequence[str]], str]:
    def rule(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
        name, u = scalar(type), unsigned(type)
        bits = width_of(type)
        kept = operands[0] if is_signed else f"({u}){operands[0]}"
        if not may_shift_out(op):
            return f"({name})({kept} {sign} {operands[1]})"
        within = f"({u}){operands[1]} < {bits}"
        if is_signed:
            return f"({name})({kept} {sign} ({within} ? {operands[1]} : {bits - 1}))"
        return f"{within} ? ({name})({kept} {sign} {operands[1]}) : 0"

    return rule


def _extreme(sign: str, is_unsigned: bool) -> Callable[[Operation, Attribute, Sequence[str]], str]:
    def rule(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
        a, b = operands
        cast = f"({unsigned(type)})" if is_unsigned else ""
        return f"{cast}{a} {sign} {cast}{b} ? {a} : {b}"

    return rule


def _float_extreme(sign: str) -> Callable[[Operation, Attribute, Sequence[str]], str]:
    """What is no number goes through."""

    def rule(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
        a, b = operands
        return f"{a} {sign} {b} || {a} != {a} ? {a} : {b}"

    return rule


def _function(name: str) -> Callable[[Operation, Attribute, Sequence[str]], str]:
    def rule(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
        return _library(name, type, operands)

    return rule


def _rounded_division(helper: str) -> Callable[[Operation, Attribute, Sequence[str]], str]:
    def rule(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
        return f"({scalar(type)}){helper}({operands[0]}, {operands[1]})"

    return rule


def predicate_of(op: Operation) -> int:
    """The number of a comparison's predicate."""
    predicate = op.properties["predicate"]
    assert isinstance(predicate, IntegerAttr)
    return predicate.value.data


def _cmpi(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    number = predicate_of(op)
    of = element(op.operands[0].type)
    cast = f"({unsigned(of)})" if number > 5 else ""
    return f"{cast}{operands[0]} {_INTEGER_TESTS[number]} {cast}{operands[1]}"


def _cmpf(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    return FLOAT_TESTS[predicate_of(op)].format(a=operands[0], b=operands[1])


def _select(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    return f"{operands[0]} ? {operands[1]} : {operands[2]}"


def _negate(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    return f"-{operands[0]}"


def _reciprocal_root(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    root = _library("sqrt", type, operands)
    return f"1.0{'' if isinstance(type, Float64Type) else 'f'} / {root}"


def _absolute(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    name, u = scalar(type), unsigned(type)
    return f"{operands[0]} < 0 ? ({name})(0 - ({u}){operands[0]}) : {operands[0]}"


def _power(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    return f"({scalar(type)})weft_powi({operands[0]}, {operands[1]})"


def _convert(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    """By C's rules: to a float, to a narrower or wider float, to a wider signed integer.

    An integer becomes an f16 as a float, which holds each that an f16 does, and those half way between: GCC would call
    a function for those of 64 bits.
    """
    source = element(op.operands[0].type)
    if isinstance(source, Float64Type) and isinstance(type, BFloat16Type):  # rounded once
        return f"weft_odd_float({operands[0]})"
    if op.name == "arith.sitofp" and isinstance(type, BFloat16Type) and is_long(source):
        return f"weft_odd_float(weft_odd_signed({operands[0]}))"
    if scalar(source) == "bool" and op.name in ("arith.extsi", "arith.sitofp"):
        return f"({computed_type(type)})-(int){operands[0]}"
    if scalar(type) == "bool":
        return f"({operands[0]} & 1) != 0"
    return f"({computed_type(type)}){_by_float(source, type)}{operands[0]}"


def _convert_unsigned(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    source = element(op.operands[0].type)
    number = f"({unsigned(source)}){operands[0]}"
    if isinstance(type, BFloat16Type) and is_long(source):
        return f"weft_odd_float(weft_odd_unsigned({number}))"
    return f"({computed_type(type)}){_by_float(source, type)}{number}"


def _by_float(source: Attribute, type: Attribute) -> str:
    return "(float)" if isinstance(type, Float16Type) and not is_float(source) else ""


def is_long(type: Attribute) -> bool:
    """Whether an f32 may not hold integers of a type, which become bf16 by rounding once."""
    return scalar(type) in ("int32_t", "int64_t")


def _to_integer(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    """Towards zero, to the nearest integer of the type; what it does not hold is compared with powers of two."""
    (x,) = operands
    name, u = scalar(type), unsigned(type)
    found, (least, greatest) = misfit(op), limits(op)
    inner = "(int)" if name == "bool" else f"({u})" if least == 0 else ""
    text = f"({name}){inner}{x}"
    suffix = "" if isinstance(element(op.operands[0].type), Float64Type) else "f"
    if found.nan:
        text = f"{x} != {x} ? 0 : {text}"
    if found.high:
        text = f"{x} >= {float(greatest + 1)!r}{suffix} ? {int_literal(greatest if least else -1, type)} : {text}"
    if found.low:
        text = f"{x} <= {float(least)!r}{suffix} ? {int_literal(least, type)} : {text}"
    return text


def _bitcast(op: Operation, type: Attribute, operands: Sequence[str]) -> str:
    source = element(op.operands[0].type)
    match scalar(source), scalar(type):
        case "float", "int32_t":
            return f"weft_bits_f32({operands[0]})"
        case "int32_t", "float":
            return f"weft_f32_bits({operands[0]})"
        case "double", "int64_t":
            return f"weft_bits_f64({operands[0]})"
        case "int64_t", "double":
            return f"weft_f64_bits({operands[0]})"
        case one, other if one == other and not isinstance(source, BFloat16Type):
            return operands[0]
        case _:
            raise Diagnostic(f"a bitcast from {source} to {type} has no counterpart in C")


_RULES: dict[str, Callable[[Operation, Attribute, Sequence[str]], str]] = {
    "arith.divsi": _division("/", "weft_div", True),
    "arith.remsi": _division("%", "weft_rem", True),
    "arith.divui": _division("/", "weft_udiv", False),
    "arith.remui": _division("%", "weft_urem", False),
    "arith.shli": _shift("<<", False),
    "arith.shrui": _shift(">>", False),
    "arith.shrsi": _shift(">>", True),
    "arith.maxsi": _extreme(">", False),
    "arith.minsi": _extreme("<", False),
    "arith.maxui": _extreme(">", True),
    "arith.minui": _extreme("<", True),
    "arith.floordivsi": _rounded_division("weft_floordiv"),
    "arith.ceildivsi": _rounded_division("weft_ceildiv"),
    "arith.remf": _function("fmod"),
    "arith.maximumf": _float_extreme(">"),
    "arith.minimumf": _float_extreme("<"),
    "arith.maxnumf": _function("fmax"),
    "arith.minnumf": _function("fmin"),
    "math.rsqrt": _reciprocal_root,
    "arith.negf": _negate,
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": _select,
    "arith.sitofp": _convert,
    "arith.uitofp": _convert_unsigned,
    "arith.fptosi": _to_integer,
    "arith.fptoui": _to_integer,
    "arith.extf": _convert,
    "arith.truncf": _convert,
    "arith.extsi": _convert,
    "arith.extui": _convert_unsigned,
    "arith.trunci": _convert,
    "arith.index_cast": _convert,
    "arith.index_castui": _convert_unsigned,
    "arith.bitcast": _bitcast,
    "math.absi": _absolute,
    "math.ipowi": _power,
}


def widened(text: str, type: Attribute) -> str:
    """A scalar in the form that it is computed in."""
    return f"weft_from_bf16({text})" if isinstance(type, BFloat16Type) else text


def narrowed(text: str, type: Attribute) -> str:
    """A computed scalar in the form that it is kept in."""
    return f"weft_to_bf16({text})" if isinstance(type, BFloat16Type) else text

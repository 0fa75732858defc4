"""What f16 takes on processors without it: functions that LLVM and C compilers call, from their libraries.

Nothing of such a library is in a process that loads code, so an object that calls them brings its own. They are weak
and hidden: any number of objects may. Numbers are rounded to nearest, halves to even, once; a NaN stays one.

| function        | from | to  |
|-----------------|------|-----|
| `__extendhfsf2` | f16  | f32 |
| `__extendhfdf2` | f16  | f64 |
| `__truncsfhf2`  | f32  | f16 |
| `__truncdfhf2`  | f64  | f16 |

GCC calls `__eqhf2` and `__nehf2` as well, where there are conversions too: 0 for two f16 that are equal, else 1.

Processors of the x86 family are served, where F16C came late, and WebAssembly, which has no f16 and is linked without a
library: what is for others is linked by a compiler of theirs, which has one, and passes them in registers of its own
choice.
"""

from __future__ import annotations

import re

_NAMES = re.compile(rb"__(?:extendhf[sd]f2|trunc[sd]fhf2|(?:eq|ne)hf2)\b")


def calls_conversions(code: bytes, triple: str) -> bool:
    """Whether an object, or assembly, for this triple calls one of these functions."""
    return triple.startswith(("x86_64", "wasm")) and _NAMES.search(code) is not None


CONVERSIONS = """
define weak hidden i32 @__eqhf2(half %x, half %y) nounwind {
  %a = fpext half %x to float
  %b = fpext half %y to float
  %differ = fcmp une float %a, %b
  %z = zext i1 %differ to i32
  ret i32 %z
}

define weak hidden i32 @__nehf2(half %x, half %y) nounwind {
  %z = call i32 @__eqhf2(half %x, half %y)
  ret i32 %z
}

define weak hidden float @__extendhfsf2(half %x) nounwind {
  %half = bitcast half %x to i16
  %bits = zext i16 %half to i32
  %top = and i32 %bits, 32768
  %sign = shl i32 %top, 16
  %rest = and i32 %bits, 32767
  %shifted = shl i32 %rest, 13
  %normal = add i32 %shifted, 939524096
  %units = uitofp i32 %rest to float
  %scaled = fmul float %units, 0x3E70000000000000
  %denormal = bitcast float %scaled to i32
  %special = add i32 %shifted, 1879048192
  %quiet = or i32 %special, 4194304
  %is.nan = icmp ugt i32 %rest, 31744
  %beyond = select i1 %is.nan, i32 %quiet, i32 %special
  %is.small = icmp ult i32 %rest, 1024
  %is.beyond = icmp uge i32 %rest, 31744
  %finite = select i1 %is.small, i32 %denormal, i32 %normal
  %size = select i1 %is.beyond, i32 %beyond, i32 %finite
  %whole = or i32 %size, %sign
  %y = bitcast i32 %whole to float
  ret float %y
}

define weak hidden double @__extendhfdf2(half %x) nounwind {
  %float = call float @__extendhfsf2(half %x)
  %y = fpext float %float to double
  ret double %y
}

define weak hidden half @__truncsfhf2(float %x) nounwind {
  %bits = bitcast float %x to i32
  %top = lshr i32 %bits, 16
  %sign = and i32 %top, 32768
  %rest = and i32 %bits, 2147483647
  ; Normal numbers: half of a last place, less one where that is even, then the other bias.
  %shifted = lshr i32 %rest, 13
  %odd = and i32 %shifted, 1
  %biased = add i32 %rest, 3355447295
  %rounded = add i32 %biased, %odd
  %cut = lshr i32 %rounded, 13
  %is.over = icmp ugt i32 %cut, 31744
  %normal = select i1 %is.over, i32 31744, i32 %cut
  ; Denormal ones: the last place of 0.5 is theirs, so that adding it rounds.
  %size = bitcast i32 %rest to float
  %moved = fadd float %size, 5.0e-01
  %moved.bits = bitcast float %moved to i32
  %denormal = sub i32 %moved.bits, 1056964608
  %is.small = icmp ult i32 %rest, 947912704
  %finite = select i1 %is.small, i32 %denormal, i32 %normal
  %kept = and i32 %shifted, 1023
  %nan = or i32 %kept, 32256
  %is.nan = icmp ugt i32 %rest, 2139095040
  %number = select i1 %is.nan, i32 %nan, i32 %finite
  %whole = or i32 %number, %sign
  %half = trunc i32 %whole to i16
  %y = bitcast i16 %half to half
  ret half %y
}

define weak hidden half @__truncdfhf2(double %x) nounwind {
  ; Rounded to odd: what f32 cannot hold sets its last bit.
  %bits = bitcast double %x to i64
  %rest = and i64 %bits, 536870911
  %sticky = add i64 %rest, 536870911
  %set = or i64 %bits, %sticky
  %kept = and i64 %set, -536870912
  %exact = bitcast i64 %kept to double
  %float = fptrunc double %exact to float
  %y = call half @__truncsfhf2(float %float)
  ret half %y
}
"""
"""The functions, in LLVM IR."""

"""Integer arithmetic of `tir` has a result for all operands, the same on the interpreter, by LLVM and in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from native import parse
from tir_run import HOST

import weft
from weft import relay
from weft.dialects.support.element_types import numpy_dtype_of
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.lowering.loops_to_c.compile import has_compiler
from weft.lowering.total_arith import Misfit, misfit
from weft.transforms.infra.registry import new_ir_context

NDArray = npt.NDArray[Any]

DIVISIONS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi")
SHIFTS = ("shli", "shrui", "shrsi")
FLOATS = [
    0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.0, -1.0, 1.5, 7.0, 7.9, 8.0, -8.9, 126.9, 127.0, 127.5, 128.0, -128.0, -128.5,
    -129.0, 255.5, 256.0, 32767.0, 32768.0, -32769.0, 65504.0, 65536.0, -65537.0, 2147483520.0, 2.0**31, -(2.0**31),
    -2147483904.0, 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30, np.inf, -np.inf, np.nan,
]  # fmt: skip


def in_c(*values: Any) -> Any:
    """Parameters of a test with the target `c`."""
    return pytest.param(*values, "c", marks=pytest.mark.skipif(not has_compiler(), reason="there is no C compiler"))


def function(text: str) -> PrimFuncOp:
    func = parse(text).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


def table(ops: Sequence[str], type: str, count: int, kind: str) -> PrimFuncOp:
    """All of `ops` of each pair of `count` numbers with `count`."""
    results = [f"%{op}: memref<{count}x{count}x{type}>" for op in ops]
    body = [f"%r_{op} = arith.{op} %0, %1 : {type}" for op in ops]
    stores = [f"memref.store %r_{op}, %{op}[%vi, %vj] : memref<{count}x{count}x{type}>" for op in ops]
    lines = "\n".join([*body, *stores])
    memory = f"memref<{count}x{type}>"
    return function(f"""
    tir.prim_func @k(%a: {memory}, %b: {memory}, {", ".join(results)}) {{
      tir.for %i = 0 to {count} {{
        tir.for {kind} %j = 0 to {count} {{
          tir.block @k(%vi: spatial {count}, %vj: spatial {count}) = [%i, %j]
              reads(%a[%vi] : {memory}, %b[%vj] : {memory})
              writes({", ".join(f"%{op}[%vi, %vj] : memref<{count}x{count}x{type}>" for op in ops)}) {{
            %0 = memref.load %a[%vi] : {memory}
            %1 = memref.load %b[%vj] : {memory}
            {lines}
          }}
        }}
      }}
    }}""")


def built(func: PrimFuncOp, target: str, inputs: Sequence[NDArray], outputs: Sequence[NDArray]) -> None:
    module = weft.build(func, target=HOST if target == "llvm" else "c")
    module(*inputs, *outputs)


def awkward(bits: int) -> NDArray:
    """Sixteen numbers: small ones, the ends of the range, and the width of the type and its neighbours."""
    least, greatest = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    numbers = [0, 1, 2, 3, 7, -1, -2, -3, -7, bits - 1, bits, bits + 1, least, least + 1, greatest, greatest - 1]
    return np.array(numbers, f"int{bits}")


def expected(op: str, a: int, b: int, bits: int) -> int:
    """What docs/arithmetic.md says, in Python's integers."""
    mask = (1 << bits) - 1
    if op.endswith("ui"):
        a, b = a & mask, b & mask
    match op:
        case "divsi" | "divui" | "remsi" | "remui":
            quotient = 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            result = quotient if op.startswith("div") else 0 if b == 0 else a - quotient * b
        case "floordivsi":
            result = 0 if b == 0 else a // b
        case "ceildivsi":
            result = 0 if b == 0 else -(-a // b)
        case "shli":
            result = a << (b & mask) if b & mask < bits else 0
        case "shrui":
            result = a >> b if b < bits else 0
        case _:
            result = a >> min(b & mask, bits - 1)
    return (result + (1 << (bits - 1)) & mask) - (1 << (bits - 1))


@pytest.mark.parametrize(
    ("bits", "kind", "target"),
    [
        (8, "", "llvm"), (16, "vectorized", "llvm"), (32, "", "llvm"), (64, "vectorized", "llvm"),
        in_c(8, "vectorized"), in_c(32, ""), in_c(64, "vectorized"),
    ],
)  # fmt: skip
def test_every_pair_of_awkward_operands_has_the_result_that_is_documented(bits: int, kind: str, target: str) -> None:
    values = awkward(bits)
    count, ops = len(values), (*DIVISIONS, *SHIFTS)
    func = table(ops, f"i{bits}", count, kind)
    found = [np.empty((count, count), values.dtype) for _ in ops]
    built(func, target, [values, values], found)
    interpreted = Interpreter(func)([values, values])
    for op, got, said in zip(ops, found, interpreted, strict=True):
        want = np.array([[expected(op, int(a), int(b), bits) for b in values] for a in values], values.dtype)
        np.testing.assert_array_equal(said, want, err_msg=f"{op} on the interpreter")
        np.testing.assert_array_equal(got, want, err_msg=f"{op} by {target}")


def conversions(source: str, target: str, kind: str) -> PrimFuncOp:
    count = len(FLOATS)
    given, made = f"memref<{count}x{source}>", f"memref<{count}x{target}>"
    return function(f"""
    tir.prim_func @k(%x: {given}, %signed: {made}, %unsigned: {made}) {{
      tir.for {kind} %i = 0 to {count} {{
        tir.block @k(%v: spatial {count}) = [%i]
            reads(%x[%v] : {given}) writes(%signed[%v] : {made}, %unsigned[%v] : {made}) {{
          %0 = memref.load %x[%v] : {given}
          %1 = arith.fptosi %0 : {source} to {target}
          %2 = arith.fptoui %0 : {source} to {target}
          memref.store %1, %signed[%v] : {made}
          memref.store %2, %unsigned[%v] : {made}
        }}
      }}
    }}""")


@pytest.mark.parametrize(
    ("source", "width", "kind", "target"),
    [
        ("f32", 8, "", "llvm"), ("f32", 32, "vectorized", "llvm"), ("f64", 64, "", "llvm"), ("f16", 32, "", "llvm"),
        ("f16", 16, "vectorized", "llvm"), ("bf16", 64, "vectorized", "llvm"), ("f64", 32, "vectorized", "llvm"),
        in_c("f32", 32, "vectorized"), in_c("f64", 64, ""), in_c("bf16", 8, ""), in_c("f16", 16, "vectorized"),
    ],
)  # fmt: skip
def test_floats_become_the_nearest_integer_of_the_type_towards_zero(
    source: str, width: int, kind: str, target: str
) -> None:
    names = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16"}
    with np.errstate(over="ignore"):
        x = np.array(FLOATS).astype(numpy_dtype_of(names[source]))
    func = conversions(source, f"i{width}", kind)
    found = [np.empty(len(FLOATS), f"int{width}") for _ in range(2)]
    built(func, target, [x], found)
    said = Interpreter(func)([x])
    for signed, got, interpreted in zip((True, False), found, said, strict=True):
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        numbers = [0 if v != v else high if v > high else low if v < low else int(v) for v in map(float, x)]
        want = np.array([n - (1 << width) if n >> (width - 1) == 1 else n for n in numbers], f"int{width}")
        np.testing.assert_array_equal(interpreted, want, err_msg="the interpreter")
        np.testing.assert_array_equal(got, want, err_msg=target)


@pytest.mark.parametrize(
    ("bound", "shown"),
    [
        ("%cap", Misfit(low=False, high=False, nan=True)),  # the same number, spread over the lanes twice
        ("%none", Misfit(low=False, high=True, nan=True)),  # another than is compared
    ],
)
def test_lanes_that_were_clipped_fit_bytes_but_for_nan(bound: str, shown: Misfit) -> None:
    module = parse_module(
        f"""
        func.func @k(%x: vector<8xf32>) -> vector<8xi8> {{
          %zero = arith.constant 0.0 : f32
          %cap = arith.constant 255.0 : f32
          %none = arith.constant 0x7F800000 : f32
          %0 = vector.broadcast %zero : f32 to vector<8xf32>
          %1 = arith.cmpf ogt, %0, %x : vector<8xf32>
          %2 = vector.broadcast %zero : f32 to vector<8xf32>
          %3 = arith.select %1, %2, %x : vector<8xi1>, vector<8xf32>
          %4 = vector.broadcast %cap : f32 to vector<8xf32>
          %5 = arith.cmpf olt, %4, %3 : vector<8xf32>
          %6 = vector.broadcast {bound} : f32 to vector<8xf32>
          %7 = arith.select %5, %6, %3 : vector<8xi1>, vector<8xf32>
          %8 = arith.fptoui %7 : vector<8xf32> to vector<8xi8>
          func.return %8 : vector<8xi8>
        }}
        """,
        new_ir_context(),
    )
    (conversion,) = [op for op in module.walk() if op.name == "arith.fptoui"]
    assert misfit(conversion) == shown


@pytest.mark.parametrize("target", ["x86_64-linux-gnu", "thumbv7em-none-eabi -mcpu=cortex-m4", "riscv64-linux-gnu"])
@pytest.mark.parametrize("function", [relay.floor_divide, relay.mod])
def test_integers_are_divided_as_floats_only_where_vectors_of_these_are(function: Any, target: str) -> None:
    """Without floats of 64 bits, each would be three calls of a library."""
    x, y = (relay.var(name, shape=(64,), dtype="int32") for name in "xy")
    exe = weft.compile(relay.Function([x, y], function(x, y)), target=f"llvm -mtriple={target}")
    text = exe.asm
    assert ("divpd" in text or "divsd" in text) == target.startswith("x86")
    assert "__divdf3" not in text and "fdiv" not in text

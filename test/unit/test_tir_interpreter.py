"""The interpreter of `tir`: scalars as the machine has them, and every access, iterator and race checked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from tir_run import Stage, prim_func
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Attribute

from weft.dialects import te
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.dtypes import numpy_dtype, scalar_type
from weft.dialects.support.parser import LocatedParser
from weft.dialects.te.evaluate import evaluate
from weft.dialects.te.expr import BinaryKind, UnaryKind
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.dialects.tir.scalar_python import _power  # pyright: ignore[reportPrivateUsage]
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(3)

NDArray = npt.NDArray[np.generic]

FLOATS = [f16, bf16, f32, f64]
TOLERANCE: dict[Attribute, float] = {f16: 4e-3, bf16: 4e-2, f32: 1e-6, f64: 1e-12}
INTEGERS = [i1, i8, i32, i64, scalar_type("uint8"), scalar_type("uint32"), scalar_type("uint64")]


def hostile(type: Attribute) -> NDArray:
    """Zeros, ends of the range, small numbers of both signs, and what floats have besides."""
    dtype = numpy_dtype(type)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype.name)
        return np.array(
            [0, 1, 2, 3, 7, 63, 100, info.max, info.max - 1, info.min, *([-1, -2, -7] if dtype.kind == "i" else [])],
            dtype,
        )
    return np.array([0.0, -0.0, 0.5, -0.5, 1, -1, 1.5, 2.5, -2.5, 3.75, 10, np.inf, -np.inf, np.nan]).astype(dtype)


def assert_same_as_te(stage: Stage, arrays: list[NDArray], rtol: float = 0) -> None:
    expected = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
    for got, want in zip(Interpreter(prim_func(stage))(arrays), expected, strict=True):
        got = got.view(want.dtype) if want.dtype.kind == "u" else got
        assert got.dtype == want.dtype
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol)


@pytest.mark.parametrize("type", [*FLOATS, *INTEGERS], ids=str)
@pytest.mark.parametrize("kind", BinaryKind)
def test_operations_of_two_operands_give_what_tensor_expressions_define(kind: BinaryKind, type: Attribute) -> None:
    if kind in (BinaryKind.AND, BinaryKind.OR, BinaryKind.XOR, BinaryKind.SHL, BinaryKind.SHR) and type in FLOATS:
        return
    if kind in (BinaryKind.ATAN2, BinaryKind.COPYSIGN) and type not in FLOATS:
        return
    values = hostile(type)
    a, b = (x.reshape(-1).astype(values.dtype) for x in np.meshgrid(values, values))
    x, y = te.placeholder(a.shape, type), te.placeholder(b.shape, type)
    stage = [x, y], [te.compute(a.shape, lambda i: te.binary(kind, x[i], y[i]))]
    assert_same_as_te(stage, [a, b], TOLERANCE.get(type, 0))


@pytest.mark.parametrize("type", [*FLOATS, i8, i32, scalar_type("uint8")], ids=str)
@pytest.mark.parametrize("kind", UnaryKind)
def test_operations_of_one_operand_give_what_tensor_expressions_define(kind: UnaryKind, type: Attribute) -> None:
    integral = {UnaryKind.NEG, UnaryKind.NOT, UnaryKind.ABS, UnaryKind.SIGN, UnaryKind.FLOOR, UnaryKind.ISNAN}
    if (type in FLOATS) == (kind == UnaryKind.NOT) or (type not in FLOATS and kind not in integral):
        return
    values = hostile(type)
    x = te.placeholder(values.shape, type)
    stage = [x], [te.compute(values.shape, lambda i: te.unary(kind, x[i]))]
    assert_same_as_te(stage, [values], TOLERANCE.get(type, 0))


@pytest.mark.parametrize("source", [f32, f64, f16, bf16, i1, i8, i32, i64, scalar_type("uint8")], ids=str)
@pytest.mark.parametrize("target", [f32, f64, f16, bf16, i1, i8, i64, scalar_type("uint32")], ids=str)
def test_conversions_give_what_tensor_expressions_define(source: Attribute, target: Attribute) -> None:
    values = hostile(source)
    if source in FLOATS and target not in (*FLOATS, i1):
        values = values[np.isfinite(values.astype(np.float64)) & (values.astype(np.float64) >= 0)]
    x = te.placeholder(values.shape, source)
    assert_same_as_te(([x], [te.compute(values.shape, lambda i: te.cast(x[i], target))]), [values])


def func_of(text: str) -> PrimFuncOp:
    (func,) = LocatedParser(new_ir_context(), text, "given.mlir").parse_module().ops
    assert isinstance(func, PrimFuncOp)  # not verified: the verifier would refuse what the interpreter is to find
    return func


def copy(index: str = "%vi", extent: int = 8, binding: str = "%i", loops: str = "%i = 0 to 8", where: str = "") -> str:
    return f"""
    tir.prim_func @copy(%x: memref<8xf32>, %y: memref<8xf32>) {{
      tir.for {loops} {{
        tir.block @copy(%vi: spatial {extent}) = [{binding}]{where}
            reads(%x : memref<8xf32>) writes(%y : memref<8xf32>) {{
          %one = arith.constant 1 : index
          %two = arith.constant 2 : index
          %next = arith.addi %vi, %one : index
          %back = arith.subi %vi, %one : index
          %0 = memref.load %x[{index}] : memref<8xf32>
          memref.store %0, %y[%vi] : memref<8xf32>
        }}
      }}
    }}
    """


X = np.arange(8, dtype=np.float32)


def test_a_block_runs_for_each_value_of_its_loops() -> None:
    np.testing.assert_array_equal(Interpreter(func_of(copy()))([X])[0], X)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (copy("%next"), r"'memref.load': index 8 lies outside of dimension 0 of %x, whose extent is 8"),
        (copy("%back"), r"index -1 lies outside of dimension 0 of %x"),
        (copy(loops="%i = 0 to 9"), r"iterator %vi of block @copy is 8, but its extent is 8"),
        (copy(extent=9, loops="%i = 0 to 9"), r"'memref.load': index 8 lies outside"),
        (copy(binding="%i - 1"), r"iterator %vi of block @copy is -1"),
        (copy(loops="%i = 0 to 7"), r"@copy does not write %y\[7\]"),
        (copy(where=" where [%i - 1]"), r"@copy does not write %y\[0\]"),
    ],
)
def test_what_leaves_a_buffer_or_an_extent_is_refused(text: str, message: str) -> None:
    with pytest.raises(Diagnostic, match=message) as error:
        Interpreter(func_of(text))([X])
    assert error.value.place is not None and error.value.place.line > 0


def summing(kind: str = "", k: int = 8, init: bool = True) -> str:
    start = "init(%wi, %wk) { %z = arith.constant 0.0 : f32 memref.store %z, %y[%wi] : memref<2xf32> }" if init else ""
    return f"""
    tir.prim_func @sum(%x: memref<2x8xf32>, %y: memref<2xf32>) {{
      tir.for %i = 0 to 2 {{
        tir.for {kind} %k = 0 to {k} {{
          tir.block @sum(%vi: spatial 2, %vk: reduce 8) = [%i, %k]
              reads(%x : memref<2x8xf32>) writes(%y : memref<2xf32>) {{
            %0 = memref.load %y[%vi] : memref<2xf32>
            %1 = memref.load %x[%vi, %vk] : memref<2x8xf32>
            %2 = arith.addf %0, %1 : f32
            memref.store %2, %y[%vi] : memref<2xf32>
          }} {start}
        }}
      }}
    }}
    """


XX = np.arange(16, dtype=np.float32).reshape(2, 8)


def test_init_runs_at_the_first_step_of_a_reduction() -> None:
    np.testing.assert_array_equal(Interpreter(func_of(summing()))([XX])[0], XX.sum(1))
    with pytest.raises(Diagnostic, match=r"'memref.load': %y\[0\] is read before it is written"):
        Interpreter(func_of(summing(init=False)))([XX])


@pytest.mark.parametrize("kind", ["parallel", "vectorized", 'thread_binding "blockIdx.x"'])
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_a_race_is_found_in_whatever_order_iterations_run(kind: str, seed: int | None) -> None:
    race = r"iteration \d of %k, a .* loop, touches %y\[\d\], as (iteration \d|others) did"
    with pytest.raises(Diagnostic, match=rf"{race}|%y\[\d\] is read before it is written"):
        Interpreter(func_of(summing(kind)))([XX], seed)


def choosing(x: str, y: str) -> str:
    """A parallel loop that reads and writes elements that data says, and asserts that it may."""
    return f"""
    tir.prim_func @k(%i: memref<4xi64>, %x: memref<4xf32>, %y: memref<4xf32>) {{
      tir.for %f = 0 to 4 {{
        tir.block @fill(%v: spatial 4) = [%f] reads(%x[%v] : memref<4xf32>) writes(%y[%v] : memref<4xf32>) {{
          %0 = memref.load %x[%v] : memref<4xf32>
          memref.store %0, %y[%v] : memref<4xf32>
        }}
      }}
      tir.for parallel %j = 0 to 4 annotations {{independent}} {{
        tir.block @move(%v: spatial 4) = [%j]
            reads(%i[%v] : memref<4xi64>, %x : memref<4xf32>, %y : memref<4xf32>) writes(%y : memref<4xf32>) {{
          %0 = memref.load %i[%v] : memref<4xi64>
          %at = arith.index_cast %0 : i64 to index
          %1 = memref.load %x[{x}] : memref<4xf32>
          %2 = memref.load %y[{y}] : memref<4xf32>
          %3 = arith.addf %1, %2 : f32
          memref.store %3, %y[%at] : memref<4xf32>
        }}
      }}
    }}
    """


def test_what_a_loop_asserts_is_tried() -> None:
    x = np.arange(4, dtype=np.float32)
    scattering = Interpreter(func_of(choosing("%v", "%at")))
    found = scattering([np.array([2, 0, 3, 1]), x])[0]
    np.testing.assert_array_equal(found, x + x[[1, 3, 0, 2]])
    with pytest.raises(Diagnostic, match=r"'memref.load': iteration 3 of %j, .* touches %y\[2\], as iteration 0 did"):
        scattering([np.array([2, 0, 3, 2]), x])
    with pytest.raises(Diagnostic, match=r"'memref.store': iteration 3 of %j, .* touches %y\[0\], as iteration 0 did"):
        Interpreter(func_of(choosing("%v", "%v")))([np.array([0, 1, 2, 0]), x])


def test_a_write_of_what_several_iterations_have_read_is_a_race() -> None:
    reading_one = choosing("%v", "%zero").replace("%1 =", "%zero = arith.constant 0 : index %1 =")
    with pytest.raises(Diagnostic, match=r"'memref.store': iteration 3 of %j, .* touches %y\[0\], as others did"):
        Interpreter(func_of(reading_one))([np.array([1, 2, 3, 0]), np.arange(4, dtype=np.float32)])


def through_a_buffer(scope: str) -> str:
    return f"""
    tir.prim_func @twice(%x: memref<8xf32>, %y: memref<8xf32>) {{
      %b = tir.alloc_buffer "{scope}" : memref<8xf32>
      tir.for %i = 0 to 8 {{
        tir.block @first(%vi: spatial 8) = [%i] reads(%x : memref<8xf32>) writes(%b : memref<8xf32>) {{
          %0 = memref.load %x[%vi] : memref<8xf32>
          memref.store %0, %b[%vi] : memref<8xf32>
        }}
      }}
      tir.for parallel %j = 0 to 8 {{
        tir.block @second(%vj: spatial 8) = [%j] reads(%b : memref<8xf32>) writes(%y : memref<8xf32>) {{
          %1 = memref.load %b[%vj] : memref<8xf32>
          memref.store %1, %y[%vj] : memref<8xf32>
        }}
      }}
    }}
    """


def test_a_local_buffer_does_not_reach_another_nest() -> None:
    np.testing.assert_array_equal(Interpreter(func_of(through_a_buffer("global")))([X])[0], X)
    with pytest.raises(Diagnostic, match=r"%b\[0\] is read before it is written"):
        Interpreter(func_of(through_a_buffer("local")))([X])


def scalar_text(body: str) -> str:
    return f"""
    tir.prim_func @k(%x: memref<2xi32>, %y: memref<1xi32>) {{
      tir.block @k(%v: spatial 1) = [0] reads(%x : memref<2xi32>) writes(%y : memref<1xi32>) {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %a = memref.load %x[%c0] : memref<2xi32>
        %b = memref.load %x[%c1] : memref<2xi32>
        {body}
        memref.store %r, %y[%c0] : memref<1xi32>
      }}
    }}
    """


def test_an_unknown_operation_is_refused() -> None:
    text = scalar_text("%s = arith.addi %a, %b : i32 %t = math.ctpop %a : i32 %r = arith.addi %s, %t : i32")
    with pytest.raises(Diagnostic, match=r"'math.ctpop': the interpreter does not know this operation"):
        Interpreter(func_of(text))


def test_an_input_that_does_not_fit_is_refused() -> None:
    with pytest.raises(Diagnostic, match=r"%x is memref<8xf32>, not float32\[7\]"):
        Interpreter(func_of(copy()))([X[:7]])
    with pytest.raises(Diagnostic, match=r"not float64\[8\]"):
        Interpreter(func_of(copy()))([X.astype(np.float64)])


def test_a_buffer_for_which_there_is_no_memory_is_a_diagnostic() -> None:
    text = copy().replace("{", '{ %t = tir.alloc_buffer "global" : memref<1000000000000000xf32>', 1)
    with pytest.raises(Diagnostic, match=r"'tir\.prim_func': there is not enough memory"):
        Interpreter(func_of(text))([X])


def test_more_loops_run_than_python_nests() -> None:
    loops = " ".join(f"tir.for %i{d} = 0 to 1 {{" for d in range(30))
    text = copy().replace("tir.for %i = 0 to 8 {", f"{loops} tir.for %i = 0 to 8 {{").rstrip()
    func = func_of(text + "}" * 30)
    np.testing.assert_array_equal(Interpreter(func)([X])[0], X)


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [
        (0.0, -2.0, np.inf), (0.0, -3.0, np.inf), (-0.0, -3.0, -np.inf), (-0.0, -2.0, np.inf), (-0.0, -2.5, np.inf),
        (-8.0, 0.5, np.nan), (-1e30, 3.0, -np.inf), (-1e30, 2.0, np.inf), (1e30, 3.0, np.inf), (2.0, -1.0, 0.5),
    ],
)  # fmt: skip
def test_a_power_at_the_ends_of_what_floats_hold_is_that_of_c(base: float, exponent: float, expected: float) -> None:
    with np.errstate(all="ignore"):
        found = _power(np.float32(base), np.float32(exponent))
    np.testing.assert_array_equal(found, np.float32(expected))

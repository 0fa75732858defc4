"""The target `c`: readable, accepted without a warning, and equal to what the definitions say."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from operator_kernels import COMPILED, as_kernel
from strict_c import STRICT, needs_compiler
from te_run import assert_scheduled
from xdsl.dialects import func
from xdsl.dialects import test as xdsl_test
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import te
from weft.dialects.relay.reference import evaluate_compute
from weft.dialects.support import knobs
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.support.parser import parse_module
from weft.lowering.abi import steps_within
from weft.lowering.compiler import lower
from weft.lowering.loops_to_c.compile import NoCompilerError, compile_c, compile_c_graph, compiler_command
from weft.lowering.loops_to_c.module import emit_c
from weft.lowering.loops_to_c.scalars import HELPERS, helpers_of
from weft.lowering.machine.codegen import CodegenError
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.testing import OperatorExample, assert_close
from weft.transforms.infra import PassContext
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(6)

C = Target.parse("c")
ROOT = Path(__file__).parents[2]


RUN = {
    "relay." + name
    for name in """add floor_divide bitwise_not cast clip exp erf gelu_tanh logical_and maximum power right_shift
    rsqrt round sign take one_hot gather_nd where sum argmax cumsum topk concatenate split strided_slice
    image.resize2d nn.softmax nn.layer_norm nn.dense nn.conv2d nn.conv1d_transpose nn.max_pool2d
    nn.adaptive_avg_pool2d nn.pad vision.roi_align sort scatter_elements einsum""".split()
}
"""Operators whose C is compiled, without a warning, and run here: of every family."""


@needs_compiler
@pytest.mark.parametrize("example", [e for e in COMPILED if e.op_type.name in RUN], ids=str)
def test_c_gives_the_results_of_the_definition(example: OperatorExample) -> None:
    module = as_kernel(example.op)
    lower(module, C, "loops", "fuse")
    executable = Executable(compile_c_graph(module, C, 1, STRICT), threads=1)
    for inputs in example.trials():
        results = executable(*inputs)
        found = [results] if isinstance(results, np.ndarray) else list(results)
        for got, wanted in zip(found, evaluate_compute(example.op, inputs), strict=True):
            assert_close(got, wanted, 1e-5)


def matmul() -> tuple[te.Schedule, list[te.Tensor]]:
    """A matrix product with all that schedules do: threads, tiles, vectors with masked lanes, unrolled loops."""
    a, b = te.placeholder((12, 20), name="A"), te.placeholder((20, 30), name="B")
    k = te.reduce_axis((0, 20), "k")
    c = te.compute((12, 30), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    sums = s.cache_write(c, "local")
    io, jo, _, ji = s[c].tile(*c.op.axis, x_factor=4, y_factor=15)
    s[sums].compute_at(s[c], jo)
    row, lane = s[sums].op.axis
    s[sums].reorder(s[sums].op.reduce_axis[0], row, lane)
    s[sums].unroll(row)
    s[sums].vectorize(lane)
    s[c].vectorize(ji)
    s[c].parallel(io)
    return s, [a, b, c]


@needs_compiler
def test_a_scheduled_function_is_equal_on_threads_and_in_vectors() -> None:
    assert_scheduled(*matmul(), target="c")


def test_a_file_has_the_helpers_that_it_calls_and_those_that_they_call() -> None:
    """Clang warns of others."""
    names = [text.partition("(")[0].split()[-1] for text in helpers_of("x = weft_ceildiv(a, b) + weft_f32_bits(1);")]
    assert names == ["weft_div", "weft_rem", "weft_ceildiv", "weft_f32_bits"]
    assert helpers_of("") == [] and helpers_of("\n".join(HELPERS)) == list(HELPERS)


@needs_compiler
@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-march=native", "-fopenmp")], ids=" ".join)
def test_c_is_clean_whatever_it_is_compiled_with(flags: tuple[str, ...], tmp_path: Path) -> None:
    text = weft.build(*matmul(), target="c").get_source()
    path = tmp_path / "matmul.c"
    path.write_text(text)
    words = [*compiler_command(), "-std=c11", *STRICT, *flags, "-c", str(path), "-o", str(tmp_path / "matmul.o")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_text_is_readable() -> None:
    text = weft.build(*matmul(), target="c", name="matmul").get_source("c")
    for line in (
        "int64_t matmul(const float *A, const float *B, float *out, int64_t num_threads) {",
        "  WEFT_PARALLEL(num_threads)",
        "typedef float f32x16 __attribute__((vector_size(64)));",
        "          float v_1 = A[i * 80 + vk + vi_c_1 * 20];",
    ):
        assert line in text, text
    assert max(map(len, text.splitlines())) < 170


PROGRAM = """
#include <stdint.h>
#include <stdio.h>
int64_t matmul(const float *A, const float *B, float *C, int64_t num_threads);
int main(void) {
  static float a[12 * 20], b[20 * 30], c[12 * 30];
  for (int n = 0; n < 12 * 20; ++n) a[n] = (float)(n % 7);
  for (int n = 0; n < 20 * 30; ++n) b[n] = (float)(n % 5);
  if (matmul(a, b, c, 2)) return 1;
  double sum = 0;
  for (int n = 0; n < 12 * 30; ++n) sum += c[n] * (n % 3 + 1);
  printf("%.0f\\n", sum);
  return 0;
}
"""


@needs_compiler
def test_a_program_in_c_calls_the_entry(tmp_path: Path) -> None:
    (tmp_path / "matmul.c").write_text(weft.build(*matmul(), target="c", name="matmul").get_source())
    (tmp_path / "main.c").write_text(PROGRAM)
    made = tmp_path / "program"
    words = [*compiler_command(), "-std=c11", *STRICT, "-O1", str(tmp_path / "matmul.c"), str(tmp_path / "main.c")]
    subprocess.run([*words, "-o", str(made), "-lm"], check=True)
    given = subprocess.run([str(made)], capture_output=True, text=True, check=True).stdout
    a, b = (np.arange(n) % m for n, m in ((240, 7), (600, 5)))
    product = (a.reshape(12, 20) @ b.reshape(20, 30)).reshape(-1)
    assert int(given) == int((product * (np.arange(360) % 3 + 1)).sum())


@needs_compiler
def test_a_graph_with_constants_runs_from_c() -> None:
    path = ROOT / "examples" / "perceptron.mlir"
    x = np.random.default_rng(0).standard_normal((1, 64)).astype(np.float32)
    with weft.PassContext(opt_level=2):
        wanted, got = (weft.compile(str(path), target=target, threads=2)(x) for target in ("llvm", "c"))
    assert isinstance(got, np.ndarray) and isinstance(wanted, np.ndarray)
    assert_close(got, wanted, 1e-5)


@needs_compiler
def test_a_graph_from_c_is_saved_and_exported(tmp_path: Path) -> None:
    x = te.placeholder((64,), name="x")
    y = te.compute((64,), lambda i: x[i] + 1.0, name="y")
    s = te.create_schedule(y.op)
    s[y].parallel(y.op.axis[0])
    executable = weft.build(s, [x, y], "c", threads=2).entry.executable
    executable.save(tmp_path / "y.weft")
    values = np.arange(64, dtype=np.float32)
    loaded = weft.load(tmp_path / "y.weft", threads=2)(values)
    assert isinstance(loaded, np.ndarray)
    np.testing.assert_array_equal(np.asarray(loaded, np.float32), values + 1)
    executable.export_library(tmp_path / "liby.so")
    assert b"GOMP_parallel" not in (tmp_path / "liby.so").read_bytes() or ctypes.CDLL(str(tmp_path / "liby.so"))
    with pytest.raises(UsageError, match="the assembly is the C compiler's"):
        _ = executable.asm


STEPS = """relay.func @main(%x: tensor<1x8xf32>) -> tensor<1x32xf32> {
  %w = relay.constant dense<0.5> : tensor<32x8xf32>
  %0 = relay.nn.dense %x, %w : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
  %1 = relay.nn.softmax %0 : tensor<1x32xf32>
  %2 = relay.nn.softmax %1 : tensor<1x32xf32>
  relay.return %2 : tensor<1x32xf32>
}"""


@needs_compiler
def test_kernels_in_c_are_timed_one_by_one_and_kept_with_their_entries(tmp_path: Path) -> None:
    exe = weft.compile(parsed(STEPS), target="c", threads=2)
    exe.save(tmp_path / "steps.weft")
    kernels = [step.kernel for step in steps_within(weft.compile(parsed(STEPS)).graph.steps)]
    for each in (exe, weft.load(tmp_path / "steps.weft")):
        profile = each.profile(np.ones((1, 8), np.float32), repeat=2)
        assert len(kernels) > 1 and [step.kernel for step in profile.steps] == kernels
        assert all(step.us > 0 for step in profile.steps)


@needs_compiler
def test_kernels_in_c_run_node_by_node_as_the_whole_graph_does() -> None:
    x = np.arange(8, dtype=np.float32).reshape(1, 8)
    nodes = weft.compile(parsed(STEPS), target="c", threads=2, executor="graph")
    np.testing.assert_array_equal(nodes(x), weft.compile(parsed(STEPS), target="c")(x))


@needs_compiler
def test_a_graph_with_a_kernel_that_c_calls_otherwise_runs_as_a_whole() -> None:
    kernel = """relay.func private @"a-b"(%p: tensor<4xf32>) -> tensor<4xf32> attributes {primitive} {
  %0 = relay.exp %p : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.call @"a-b"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}"""
    exe = weft.compile(parsed(kernel), target="c")
    assert_close(np.asarray(exe(np.zeros(4, np.float32))), np.ones(4, np.float32), 1e-6)
    with pytest.raises(Diagnostic, match="not known which steps"):
        exe.profile()


@needs_compiler
def test_entries_of_kernels_are_clean_c() -> None:
    module = parsed(STEPS)
    lower(module, C, "loops")
    result = Executable(compile_c_graph(module, C, 1, STRICT))(np.ones((1, 8), np.float32))
    assert_close(np.asarray(result), np.full((1, 32), 1 / 32, np.float32), 1e-5)


@needs_compiler
def test_a_pool_over_a_narrow_padded_image_is_what_it_is_elsewhere() -> None:
    """GCC 12.2 computes some of its rows wrongly where it makes conditional reads unconditional."""
    text = """
    relay.func @main(%x: tensor<1x1x15x2xf32>) -> tensor<1x1x8x1xf32> {
      %y = relay.nn.max_pool2d %x {pool_size = array<i64: 5, 5>, strides = array<i64: 2, 2>, padding = array<i64: 2, 2>}
         : (tensor<1x1x15x2xf32>) -> tensor<1x1x8x1xf32>
      relay.return %y : tensor<1x1x8x1xf32>
    }"""
    x = np.random.default_rng(1).standard_normal((1, 1, 15, 2), np.float32)
    in_c, native = (weft.compile(parse_module(text, new_ir_context(), "pool.mlir"), target=t) for t in ("c", "llvm"))
    np.testing.assert_array_equal(np.asarray(in_c(x)), np.asarray(native(x)))


@needs_compiler
def test_a_check_fails_in_c_as_elsewhere() -> None:
    x, at = te.placeholder((4,), name="x"), te.placeholder((2,), "int32", "at")
    y = te.compute((2,), lambda i: x[at[i]], name="y")
    values, result = np.arange(4, dtype=np.float32), np.zeros(2, np.float32)
    for target in ("llvm", "c"):
        with weft.PassContext(config={"tir.bounds-checks": True}):
            gather = weft.build(te.create_schedule(y.op), [x, at, y], target)
        gather(values, np.array([3, 0], np.int32), result)
        np.testing.assert_array_equal(result, [3, 0])
        with pytest.raises(weft.CheckError) as error:
            gather(values, np.array([1, 7], np.int32), result)
        assert (error.value.index, error.value.extent) == (7, 4)


def test_without_a_compiler_there_is_source_and_a_reason() -> None:
    with knobs.CC.set("no-such-compiler-anywhere"):
        built = weft.build(*matmul(), target="c")
        assert "int64_t main_(" in built.get_source()
        with pytest.raises(NoCompilerError, match="'no-such-compiler-anywhere' cannot be run"):
            built(*(np.zeros(1, np.float32) for _ in range(3)))
        with pytest.raises(NoCompilerError):
            weft.compile(str(ROOT / "examples" / "perceptron.mlir"), target="c")


@needs_compiler
def test_what_the_compiler_does_not_accept_is_told() -> None:
    with pytest.raises(CodegenError, match=r"unit\.c:1:.*error"):
        compile_c("int x = y;\n", C)


@needs_compiler
def test_source_for_another_machine_is_not_compiled_here() -> None:
    built = weft.build(*matmul(), target="c -mtriple=aarch64-unknown-linux-gnu")
    assert "typedef float f32x16" in built.get_source()
    with pytest.raises(NoCompilerError, match="is compiled there"):
        built(*(np.zeros(1, np.float32) for _ in range(3)))


def parsed(text: str) -> ModuleOp:
    return parse_module(text, new_ir_context(), "loops.mlir")


REFUSED: list[tuple[str, str]] = [
    ("relay.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { relay.return %x : tensor<2xf32> }", "at phase 'loops'"),
    ("func.func @f() { func.return }", "no graph to run"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_not_at_phase_loops_is_refused(text: str, message: str) -> None:
    with pytest.raises(Diagnostic) as error:
        emit_c(parsed(text))
    assert message in f"{error.value.message} {error.value.hint}"


MASKED = """
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %arena: memref<128xi8>, %num_threads: index)
    attributes {weft.inputs = [{name = "x", type = tensor<8xf32>}], weft.outputs = [{name = "y", type = tensor<8xf32>}],
    weft.counter_bytes = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %slots = rt.slots %arena[0] : memref<128xi8> to !rt.slots<1>
  rt.share %slots[0] {
    %all = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
    %zeros = arith.subf %all, %all : vector<8xf32>
    vector.store %zeros, %y[%c0] : memref<8xf32>, vector<8xf32>
    %mask = vector.create_mask %c3 : vector<8xi1>
    vector.maskedstore %y[%c0], %mask, %all : memref<8xf32>, vector<8xi1>, vector<8xf32>
  } : !rt.slots<1>
  func.return
}
"""


@needs_compiler
@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_mask_is_of_as_many_lanes_as_are_said(target: str) -> None:
    exe = weft.compile(parsed(MASKED), target=target, threads=1)
    assert np.array_equal(np.asarray(exe(np.arange(1, 9, dtype=np.float32))), [1, 2, 3, 0, 0, 0, 0, 0])


def test_an_operation_without_a_counterpart_is_refused_by_name() -> None:
    module = as_kernel(next(e.op for e in COMPILED if e.op_type.name == "relay.exp"))
    lower(module, C, "loops", "fuse")
    nest = next(op for op in module.ops if isinstance(op, func.FuncOp) and "nest" in op.sym_name.data)
    block = nest.body.block
    assert block.first_op is not None
    block.insert_op_before(xdsl_test.TestOp(), block.first_op)
    with pytest.raises(Diagnostic, match=r"'test\.op': has no counterpart in C"):
        emit_c(module)


STREAMING = """
relay.func @main(%x: tensor<8x64xf32>) -> tensor<8x256xf32> {
  %w = relay.constant dense<0.25> : tensor<256x64xf32>
  %0 = relay.nn.dense %x, %w : (tensor<8x64xf32>, tensor<256x64xf32>) -> tensor<8x256xf32>
  relay.return %0 : tensor<8x256xf32>
}
"""


@needs_compiler
def test_streams_are_asked_for_early() -> None:
    module, elsewhere = parsed(STREAMING), parsed(STREAMING)
    with PassContext(opt_level=3):
        lower(module, C, "loops")
        lower(elsewhere, Target.parse("c -mcpu=x86-64-v4"), "loops")
    assert "__builtin_prefetch(&" in emit_c(elsewhere)
    executable = Executable(compile_c_graph(module, C, 1, STRICT), threads=1)
    x = np.arange(512, dtype=np.float32).reshape(8, 64)
    assert_close(executable(x), np.repeat(x.sum(axis=1, keepdims=True) / 4, 256, axis=1), 1e-5)


@pytest.mark.parametrize(("kind", "unrolled"), [(" unrolled", 1), ("", 0)])
def test_only_loops_that_are_to_be_unrolled_say_so(kind: str, unrolled: int) -> None:
    note = "" if kind else " annotations {rolled}"
    text = f"""
    tir.prim_func @copy(%x: memref<4xf32>, %y: memref<4xf32>) {{
      tir.for{kind} %i = 0 to 4{note} {{
        tir.block @b(%v: spatial 4) = [%i] reads(%x[%v] : memref<4xf32>) writes(%y[%v] : memref<4xf32>) {{
          %0 = memref.load %x[%v] : memref<4xf32>
          memref.store %0, %y[%v] : memref<4xf32>
        }}
      }}
    }}"""
    assert weft.build(parse_module(text, new_ir_context()), target="c").get_source().count("  WEFT_UNROLL") == unrolled

"""Machine code that checks what was not proved: it finds what the interpreter of `tir` finds, and says it alike."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tvmscript_texts import function

import weft
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.mlir import parse_mlir
from weft.tools.weft_opt import main as weft_opt
from weft.tools.weft_run import main as weft_run
from weft.transforms.infra.remarks import collect

pytestmark = pytest.mark.sampled(3)

NDArray = npt.NDArray[Any]
CHECKED = {"tir.bounds-checks": True}

TAKE = """relay.func @main(%x: tensor<8x3xf32>, %n: tensor<64xi32>) -> tensor<64x3xf32> {
  %0 = relay.call_lowered @take(%x, %n) : (tensor<8x3xf32>, tensor<64xi32>) -> tensor<64x3xf32>
  relay.return %0 : tensor<64x3xf32>
}
tir.prim_func @take(%x: memref<8x3xf32>, %n: memref<64xi32>, %y: memref<64x3xf32>) {
  tir.for parallel %i = 0 to 64 {
    tir.for %j = 0 to 3 {
      tir.block @take(%v: spatial 64, %w: spatial 3) = [%i, %j]
          reads(%n[%v] : memref<64xi32>, %x : memref<8x3xf32>) writes(%y[%v, %w] : memref<64x3xf32>) {
        %0 = memref.load %n[%v] : memref<64xi32>
        %1 = arith.index_cast %0 : i32 to index
        %2 = memref.load %x[%1, %w] : memref<8x3xf32>
        memref.store %2, %y[%v, %w] : memref<64x3xf32>
      }
    }
  }
}
"""

PUT = """relay.func @main(%n: tensor<8xi64>) -> tensor<8xi64> {
  %0 = relay.call_lowered @put(%n) : (tensor<8xi64>) -> tensor<8xi64>
  relay.return %0 : tensor<8xi64>
}
tir.prim_func @put(%n: memref<8xi64>, %y: memref<8xi64>) {
  tir.for %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%n[%v] : memref<8xi64>) writes(%y[%v] : memref<8xi64>) {
      %0 = memref.load %n[%v] : memref<8xi64>
      memref.store %0, %y[%v] : memref<8xi64>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @put(%v: opaque 8) = [%i] reads(%n[%v] : memref<8xi64>) writes(%y : memref<8xi64>) {
      %0 = memref.load %n[%v] : memref<8xi64>
      %1 = arith.index_cast %0 : i64 to index
      memref.store %0, %y[%1] : memref<8xi64>
    }
  }
}
"""

BRANCH = """relay.func @main(%c: tensor<4xi1>, %x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = relay.call_lowered @shifted(%c, %x) : (tensor<4xi1>, tensor<8xf32>) -> tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
tir.prim_func @shifted(%c: memref<4xi1>, %x: memref<8xf32>, %y: memref<4xf32>) {
  tir.for parallel %i = 0 to 4 {
    tir.block @b(%v: spatial 4) = [%i] reads(%c[%v] : memref<4xi1>, %x[%v + 6] : memref<8xf32>)
        writes(%y[%v] : memref<4xf32>) {
      %six = arith.constant 6 : index
      %zero = arith.constant 0.0 : f32
      %0 = memref.load %c[%v] : memref<4xi1>
      %1 = arith.addi %v, %six : index
      %2 = scf.if %0 -> (f32) {
        %3 = memref.load %x[%1] : memref<8xf32>
        scf.yield %3 : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %2, %y[%v] : memref<4xf32>
    }
  }
}
"""

X = np.arange(24, dtype=np.float32).reshape(8, 3)
GOOD = np.arange(64, dtype=np.int32) % 8


def with_one(array: NDArray, place: int, value: int) -> NDArray:
    array = array.copy()
    array[place] = value
    return array


NUMBERS = np.arange(8)
VECTOR = np.arange(8, dtype=np.float32)
RIGHT = np.array([True, True, False, False])
CASES: list[tuple[str, list[NDArray], list[NDArray], int, str]] = [
    (TAKE, [X, GOOD], [X, with_one(GOOD, 40, 8)], 8, "index 8 lies outside of dimension 0 of %x, whose extent is 8"),
    (TAKE, [X, GOOD], [X, with_one(GOOD, 63, -1)], -1, "index -1 lies outside of dimension 0 of %x, whose extent is 8"),
    (TAKE, [X, GOOD], [X, with_one(GOOD, 0, -(2**31))], -(2**31), "lies outside of dimension 0 of %x"),
    (PUT, [NUMBERS], [with_one(NUMBERS, 3, 2**62)], 2**62, "'memref.store': .* outside of dimension 0 of %y"),
    (BRANCH, [RIGHT, VECTOR], [np.array([True] * 3 + [False]), VECTOR], 8, "outside of dimension 0 of %x"),
]  # fmt: skip


def compiled(text: str, threads: int) -> weft.Executable:
    with weft.PassContext(3, config=CHECKED):
        return weft.compile(parse_mlir(text, "edited.mlir"), threads=threads)


def interpreted(text: str, inputs: list[NDArray]) -> list[NDArray]:
    main = next(op for op in parse_mlir(text, "edited.mlir").ops if isinstance(op, FuncOp))
    return evaluate_function(main, inputs)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("text", "right", "wrong", "index", "message"), CASES)
def test_an_access_outside_is_found_where_the_interpreter_finds_it(
    text: str, right: list[NDArray], wrong: list[NDArray], index: int, message: str, threads: int
) -> None:
    executable = compiled(text, threads)
    (expected,) = interpreted(text, right)
    np.testing.assert_array_equal(executable(*right), expected)
    with pytest.raises(weft.CheckError, match=message) as error:
        executable(*wrong)
    with pytest.raises(weft.CheckError) as reference:
        interpreted(text, wrong)
    assert str(error.value) == str(reference.value)
    assert error.value.index == index
    binding = executable.bind(wrong)
    with pytest.raises(weft.CheckError):
        binding()
    np.testing.assert_array_equal(executable(*right), expected)  # nothing is left behind


def test_what_lies_around_the_memory_stays_as_it_is() -> None:
    executable = compiled(PUT, 1)
    memory = np.full(64, 77)
    binding = executable.bind([np.array([-9, 100, 7, 6, 5, 4, 3, -(2**60)])])
    binding.outputs = (memory[32:40],)
    binding._tables = (binding._tables[0], int(memory[32:].ctypes.data).to_bytes(8, "little"))  # pyright: ignore
    with pytest.raises(weft.CheckError):
        binding()
    assert (memory[:32] == 77).all() and (memory[40:] == 77).all()


def test_a_checked_iterator_is_told_of() -> None:
    """More iterations than the verifier looks at, whose ranges alone do not keep the iterator inside."""
    text = """relay.func @main(%x: tensor<1xi64>) -> tensor<19801xi64> {
  %0 = relay.call_lowered @k(%x) : (tensor<1xi64>) -> tensor<19801xi64>
  relay.return %0 : tensor<19801xi64>
}
tir.prim_func @k(%x: memref<1xi64>, %y: memref<19801xi64>) {
  tir.for %i = 0 to 200 {
    tir.for %j = 0 to 200 {
      tir.block @b(%v: partial spatial EXTENT) = [%i * 200 + %j] where [%i * -1 + %j * -1 + 99]
          reads(%x[0] : memref<1xi64>) writes(%y[%v] : memref<19801xi64>) {
        %zero = arith.constant 0 : index
        %0 = memref.load %x[%zero] : memref<1xi64>
        memref.store %0, %y[%v] : memref<19801xi64>
      }
    }
  }
}
"""
    zeros = np.zeros(1, np.int64)
    compiled(text.replace("EXTENT", "19801"), 1)(zeros)
    with pytest.raises(weft.CheckError, match="iterator %v of block @b is 19000, but its extent is 19000"):
        compiled(text.replace("EXTENT", "19000"), 1)(zeros)
    with pytest.raises(weft.CheckError, match="iterator %v of block @b is 19000, but its extent is 19000"):
        interpreted(text.replace("EXTENT", "19000"), [zeros])


def test_what_is_proved_is_not_checked_and_a_remark_counts_the_rest() -> None:
    with collect() as remarks:
        assert len(compiled(TAKE, 1).graph.checks) == 1
        text = "relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n  %0 = relay.nn.relu %x : tensor<8xf32>\n"
        assert not compiled(f"{text}  relay.return %0 : tensor<8xf32>\n}}", 1).graph.checks
    messages = [remark.message for remark in remarks if remark.pass_name == "insert-bounds-checks"]
    assert messages == [
        "checks made: 1, for 3 accesses; all else was proved to be inside",
        "checks made: 0, for 2 accesses; all else was proved to be inside",
    ]


def test_what_is_computed_where_it_is_read_was_looked_for_in_memory() -> None:
    """A read outside of a buffer whose block is inlined, so that neither the buffer nor the read is left."""
    text = """relay.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = relay.call_lowered @k(%x) : (tensor<16xf32>) -> tensor<16xf32>
  relay.return %0 : tensor<16xf32>
}
tir.prim_func @k(%x: memref<16xf32>, %y: memref<16xf32>) {
  %t = tir.alloc_buffer "global" : memref<4xf32>
  tir.for %i = 0 to 4 {
    tir.block @fill(%v: spatial 4) = [%i] reads() writes(%t[%v] : memref<4xf32>) {
      %one = arith.constant 1.0 : f32
      memref.store %one, %t[%v] : memref<4xf32>
    }
  }
  tir.for %i = 0 to 16 {
    tir.block @b(%v: spatial 16) = [%i] reads(%x[%v] : memref<16xf32>, %t[%v] : memref<4xf32>)
        writes(%y[%v] : memref<16xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = memref.load %x[%v] : memref<16xf32>
      %c = arith.cmpf ogt, %a, %zero : f32
      %0 = scf.if %c -> (f32) {
        %1 = memref.load %t[%v] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %0, %y[%v] : memref<16xf32>
    }
  }
}
"""
    executable = compiled(text, 1)
    right, wrong = (np.array([1.0] * count + [-1.0] * (16 - count), np.float32) for count in (4, 5))
    np.testing.assert_array_equal(executable(right), interpreted(text, [right])[0])
    for run in (lambda: executable(wrong), lambda: interpreted(text, [wrong])):
        with pytest.raises(weft.CheckError, match="index 4 lies outside of dimension 0 of %t, whose extent is 4"):
            run()


def test_without_the_option_nothing_is_checked() -> None:
    executable = weft.compile(parse_mlir(TAKE, "edited.mlir"))
    assert not executable.graph.checks and "rt.check" not in executable.ir["loops"]


def test_an_operator_whose_indices_are_clipped_is_proved_and_one_that_wraps() -> None:
    for mode in ("clip", "wrap"):
        text = f"""relay.func @main(%x: tensor<8x3xf32>, %n: tensor<64xi32>) -> tensor<64x3xf32> {{
  %0 = relay.take %x, %n {{axis = 0 : i64, mode = "{mode}"}} : (tensor<8x3xf32>, tensor<64xi32>) -> tensor<64x3xf32>
  relay.return %0 : tensor<64x3xf32>
}}"""
        assert not compiled(text, 1).graph.checks


def test_tiles_of_open_rows_in_parallel_loops_are_proved() -> None:
    """Where smaller tiles of what is left over were checked, it was not known any more that iterations do not meet."""
    text = """relay.func @main(%x: tensor<?x?x4x5x8xi1>) -> tensor<?x4x5x8xi1> {
      %0 = relay.any %x {axis = array<i64: 1>} : (tensor<?x?x4x5x8xi1>) -> tensor<?x4x5x8xi1>
      relay.return %0 : tensor<?x4x5x8xi1>
    }"""
    with weft.PassContext(opt_level=3, config=CHECKED):
        exe = weft.compile(parse_mlir(text, "test"))
    for rows in (1, 7, 15):
        x = np.random.default_rng(rows).random((rows, 3, 4, 5, 8)) > 0.8
        np.testing.assert_array_equal(np.asarray(exe(x)), x.any(axis=1))


def test_a_saved_executable_still_says_what_failed(tmp_path: Path) -> None:
    executable = compiled(TAKE, 1)
    executable.save(tmp_path / "take.weft")
    with pytest.raises(weft.CheckError) as error:
        executable(X, with_one(GOOD, 40, 8))
    with pytest.raises(weft.CheckError) as loaded:
        weft.load(tmp_path / "take.weft")(X, with_one(GOOD, 40, 8))
    assert str(loaded.value) == str(error.value)


def test_calls_at_once_fail_each_for_itself() -> None:
    executable = compiled(TAKE, 2)
    wrong: list[str] = []

    def call(number: int) -> None:
        for turn in range(50):
            bad = (turn + number) % 2 == 0
            n = with_one(GOOD, 5, 100 + number) if bad else GOOD
            try:
                if not np.array_equal(executable(X, n), X[n]) or bad:
                    wrong.append(f"{number}: no error")
            except weft.CheckError as error:
                if not bad or error.index != 100 + number:
                    wrong.append(str(error))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_each_call_of_a_kernel_tells_its_own_layer() -> None:
    """Kernels that are alike are compiled once; which of their calls failed is known even so."""
    onnx = pytest.importorskip("onnx")
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[4, 5] x, int64[3] i, int64[3] k)
        => (float[3, 5] y, float[3, 5] z)
    { [first] y = Gather <axis = 0> (x, i)  [second] z = Gather <axis = 0> (x, k) }"""
    executable = weft.compile(onnx.parser.parse_model(text))
    assert len(executable.graph.kernels) == 1
    x, good, bad = np.ones((4, 5), np.float32), np.array([0, 1, 2]), np.array([0, 1, 4])
    for feeds, layer in (((x, bad, good), "first"), ((x, good, bad), "second"), ((x, bad, bad), "first")):
        with pytest.raises(weft.CheckError) as error:
            executable(*feeds)
        assert str(error.value.place) == f'g("{layer}")'


def test_the_tools_check_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "take.mlir").write_text(TAKE)
    np.save(tmp_path / "n.npy", with_one(GOOD, 40, 8))
    np.save(tmp_path / "good.npy", GOOD)
    arguments = [str(tmp_path / "take.mlir"), "--bounds-checks", "--quiet"]
    assert weft_run([*arguments, "--input", f"n=@{tmp_path}/n.npy"]) == 1
    assert "index 8 lies outside of dimension 0 of %x, whose extent is 8" in capsys.readouterr().err
    saved = str(tmp_path / "take.weft")
    right = ["--input", f"n=@{tmp_path}/good.npy"]
    assert weft_run([*arguments, *right, "--compare", "interpreter", "--save", saved]) == 0
    assert weft_run([saved, "--bounds-checks", "--quiet", *right]) == 2
    assert weft_opt([arguments[0], "--compile-from=tir", "--compile-to=schedule", "--bounds-checks"]) == 0
    assert "tir.check" in capsys.readouterr().out


def test_the_layer_of_a_check_in_a_fused_kernel_is_known() -> None:
    onnx = pytest.importorskip("onnx")
    text = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[4, 5] x, float[6, 5] w, int64[3] i, int64[3] k) => (float[3, 5] y)
    { [words] a = Gather <axis = 0> (x, i)  [places] b = Gather <axis = 0> (w, k)  [sum] y = Add (a, b) }"""
    executable = weft.compile(onnx.parser.parse_model(text))
    x, w = np.ones((4, 5), np.float32), np.ones((6, 5), np.float32)
    with pytest.raises(weft.CheckError, match=r"index 4 .* 4 elements") as error:
        executable(x, w, np.array([0, 1, 4]), np.array([0, 1, 5]))
    assert str(error.value.place) == 'g("words")'
    with pytest.raises(weft.CheckError, match=r"index -7 .* 6 elements") as error:
        executable(x, w, np.array([0, 1, 3]), np.array([0, 1, -7]))
    assert str(error.value.place) == 'g("places")'


@pytest.mark.parametrize("phase", ["schedule", "loops", "llvm"])
def test_a_dump_of_a_phase_says_the_same_when_it_is_run(phase: str, tmp_path: Path) -> None:
    (tmp_path / "take.mlir").write_text(TAKE)
    dump = tmp_path / "dump.mlir"
    checking = ["--compile-from=tir", f"--compile-to={phase}", "--bounds-checks"]
    assert weft_opt([str(tmp_path / "take.mlir"), *checking, "-o", str(dump)]) == 0
    executable = weft.compile(dump)
    np.testing.assert_array_equal(executable(X, GOOD), X[GOOD])
    with pytest.raises(weft.CheckError, match="index 9 lies outside of dimension 0 of %x, whose extent is 8"):
        executable(X, with_one(GOOD, 40, 9))


def test_what_is_scheduled_is_checked_and_what_is_lowered_says_that_it_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "take.mlir").write_text(TAKE)
    dump, checked, loops = (tmp_path / f"{name}.mlir" for name in ("dump", "checked", "loops"))
    assert weft_opt([str(tmp_path / "take.mlir"), "--compile-from=tir", "--compile-to=schedule", "-o", str(dump)]) == 0
    for source, made in ((dump, checked), (checked, loops)):
        options = ["--compile-from=schedule", f"--compile-to={'loops' if made is loops else 'schedule'}"]
        assert weft_opt([str(source), *options, *(["--bounds-checks"] if made is loops else []), "-o", str(made)]) == 0
    assert loops.read_text().count("rt.check") == 1
    with weft.PassContext(config=CHECKED):
        executable = weft.compile(dump, phase="schedule")
    np.testing.assert_array_equal(executable(X, GOOD), X[GOOD])
    with pytest.raises(weft.CheckError, match="index 9 lies outside of dimension 0 of %x, whose extent is 8"):
        executable(X, with_one(GOOD, 40, 9))
    lowered = tmp_path / "lowered.mlir"
    options = ["--compile-from=loops", "--compile-to=llvm", "--bounds-checks"]
    assert weft_opt([str(loops), *options, "-o", str(lowered)]) == 0
    assert weft_run([str(lowered), "--bounds-checks", "--quiet"]) == 2
    assert "at the phase 'llvm' cannot be checked any more" in capsys.readouterr().err


def test_attention_of_open_lengths_computes_the_same_with_checks() -> None:
    """Indices that are checked are none that follow from the iterators: the scores of a tile stand in memory of the
    share that computes them all the same."""
    from weft import relay

    batch, length = relay.Any(), relay.Any()
    q, k = (relay.var(name, shape=(batch, length, 4)) for name in "qk")
    scores = relay.nn.softmax(relay.nn.batch_matmul(q, k))
    function = relay.Function([q, k], relay.nn.batch_matmul(scores, k, transpose_b=False))
    with weft.PassContext(opt_level=3, config=CHECKED):
        executable = weft.compile(function, threads=1)
    random = np.random.default_rng(0)
    for shape in ((3, 7, 4), (10, 18, 4)):
        x, y = random.standard_normal((2, *shape)).astype(np.float32)
        powers = np.exp(x @ y.transpose(0, 2, 1))
        expected = powers / powers.sum(-1, keepdims=True) @ y
        computed: Any = executable(x, y)
        np.testing.assert_allclose(computed, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bounds", ["i, i", "0, n - n"])
def test_functions_of_any_sizes_are_checked_once(bounds: str) -> None:
    text = f"""
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int32):
    A = T.match_buffer(a, (20, 20), "int32")
    B = T.match_buffer(b, (20, 20), "int32")
    for p, q in T.grid(20, 20):
        B[p, q] = A[q, p]
    for i in range(20):
        for j in range({bounds}):
            B[i, A[i, j]] = j
"""
    with weft.transform.PassContext(config=CHECKED):
        built = weft.build(function(text))
    array, result = np.arange(400, dtype=np.int32).reshape(20, 20), np.zeros((20, 20), np.int32)
    built(array, result, 3)
    np.testing.assert_array_equal(result, array.T)

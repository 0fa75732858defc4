"""`weft-run` and `weft-bench`: values on the command line, comparisons, files, models, timing."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.lowering.abi import TensorSpec
from weft.testing.tolerance import Tolerance
from weft.tools.bench_limits import Limits
from weft.tools.bench_report import KernelResult, Result, columns, table
from weft.tools.bench_timing import Timing, interleaved
from weft.tools.run_comparison import Allowance, compare
from weft.tools.run_values import complete, random_array, read_input, read_npz, write_npz
from weft.tools.weft_bench import main as weft_bench
from weft.tools.weft_run import main as weft_run

NDArray = npt.NDArray[Any]

GRAPH = """
relay.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = relay.exp %x : tensor<2x3xf32>
  relay.return %0 : tensor<2x3xf32>
}
"""


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "graph.mlir"
    path.write_text(GRAPH)
    return str(path)


def spec(dtype: str, *shape: int) -> TensorSpec:
    return TensorSpec("x", dtype, shape)


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("2x2xf32=[[1, 2], [3, 4]]", "float32", [[1, 2], [3, 4]]),
        ("2x2xf64=[1, 2.5, -3e2, 4]", "float64", [[1, 2.5], [-300, 4]]),
        ("3xf32=[nan, inf, -inf]", "float32", [np.nan, np.inf, -np.inf]),
        ("3xi1=[true, false, 1]", "bool", [True, False, True]),
        ("f32=7", "float32", 7),
        ("2xi8=-128", "int8", [-128, -128]),
        ("2xui64=[0, 18446744073709551615]", "uint64", [0, 2**64 - 1]),
        ("2xi64=[-9223372036854775808, 9223372036854775807]", "int64", [-(2**63), 2**63 - 1]),
        ("2xf16=0.5", "float16", [0.5, 0.5]),
        ("0x4xf32=[]", "float32", np.empty((0, 4))),
    ],
)
def test_a_value_is_read_from_the_command_line(text: str, dtype: str, expected: Sequence[float] | NDArray) -> None:
    name, array = read_input(f"x={text}")
    assert name == "x" and array.dtype == dtype
    np.testing.assert_array_equal(array, np.array(expected, dtype))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "'x' is not an input"),
        ("=f32=1", "is not an input"),
        ("x=2xf32", "is not an input"),
        ("x=2xf33=1", "'2xf33' is not a tensor type"),
        ("x=-2xf32=1", "'-2xf32' is not a tensor type"),
        ("x=2xf32=[1, 2", "is not a list of numbers"),
        ("x=2xf32=[1, null]", "is not a list of numbers"),
        ("x=2xf32=" + "[" * 100_000, r"'\[+\.\.\.' is not a list of numbers"),
        ("x=2xf32=[1, [2]]", "is not a list of numbers"),
        ("x=2xf32=[1, 2, 3]", r"the values have shape \[3\], the type \[2\]"),
        ("x=2x2xf32=[[1, 2, 3, 4]]", r"the values have shape \[1, 4\], the type \[2, 2\]"),
        ("x=i8=128", "not of type int8"),
        ("x=ui8=-1", "not of type uint8"),
        ("x=i32=0.5", "not of type int32"),
        ("x=i32=nan", "not of type int32"),
        ("x=i1=2", "not of type bool"),
    ],
)
def test_a_malformed_value_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_input(text)


def test_what_is_not_given_is_random_and_the_same_for_a_seed() -> None:
    specs = [TensorSpec("a", "float32", (3,)), TensorSpec("b", "float32", (3,))]
    first, again, other = (complete(specs, {}, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first["a"], again["a"])
    assert not np.array_equal(first["a"], other["a"])
    assert not np.array_equal(first["a"], first["b"])
    given = np.ones(3, np.float32)
    assert complete(specs, {"b": given}, 0)["b"] is given


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
)
def test_random_values_have_their_dtype(dtype: str) -> None:
    array = random_array(spec(dtype, 100), np.random.default_rng(0))
    assert array.dtype.name == dtype and len(np.unique(array)) > 1
    if dtype in ("int32", "int64"):
        assert array.min() >= 0 and array.max() < 10


def test_arrays_go_through_a_file(tmp_path: Path) -> None:
    arrays = {"a/b": np.arange(3), "c": np.ones((2, 0), np.float16)}
    write_npz(str(tmp_path / "x.npz"), arrays)
    found = read_npz(str(tmp_path / "x.npz"))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


def f(*values: float) -> dict[str, NDArray]:
    return {"y": np.array(values, np.float32)}


@pytest.mark.parametrize("text", ["no numbers", ""])
def test_a_file_of_another_kind_holds_no_inputs(text: str, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_text(text)
    with pytest.raises(Diagnostic) as error:
        read_npz(str(tmp_path / "model.onnx"))
    assert error.value.place is not None and "pickle" not in str(error.value)


def test_equal_values_are_equal_whatever_they_are() -> None:
    assert compare(f(1, np.nan, np.inf, -0.0), f(1, np.nan, np.inf, 0.0), "it", Allowance(0, 0)) == 0
    assert compare(f(1 + 1e-5), f(1), "it") == pytest.approx(1e-5, rel=0.1)


@pytest.mark.parametrize(
    ("got", "wanted", "message"),
    [
        (f(1, 2), f(1, 3), r"in 1 of 2 elements; at \[1\] it is 2.0, not 3.0"),
        (f(np.nan), f(1), "it is nan, not 1.0"),
        (f(1), f(np.nan), "it is 1.0, not nan"),
        (f(np.inf), f(-np.inf), "it is inf, not -inf"),
        (f(3e38), f(np.inf), "not inf"),
        (f(1, 2), f(1), r"is float32\[2\], but it gives float32\[1\]"),
        ({"y": np.ones(1, np.float64)}, f(1), r"is float64\[1\]"),
        ({}, f(1), "there is no output 'y', which it has"),
        ({**f(1), "z": np.ones(1)}, f(1), "it has no output 'z'; its outputs: y"),
        ({"y": np.array([2**62 + 1])}, {"y": np.array([2**62])}, "in 1 of 1"),
        ({"y": np.array([True])}, {"y": np.array([False])}, "it is True, not False"),
    ],
)
def test_a_difference_is_reported(got: dict[str, NDArray], wanted: dict[str, NDArray], message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        compare(got, wanted, "it")


@pytest.mark.parametrize(
    ("limits", "within"),
    [
        (Allowance(), False),
        (Allowance(rtol=0.1), True),
        (Allowance(rtol=0.01), False),
        (Allowance(atol=0.1), True),
        (Allowance(atol=0.01), False),
        (Allowance(atol=0.04, rtol=0.02), True),
    ],
)
def test_what_a_user_allows_takes_the_place_of_what_the_graph_says(limits: Allowance, within: bool) -> None:
    """Each of the two alike, whatever the graph says."""
    for graph in (Tolerance(1e-3, mixed=True), Tolerance(1e-6)):
        if within:
            compare(f(1.05, 1000), f(1, 1000), "it", limits, {"y": graph})
        else:
            with pytest.raises(Diagnostic, match="differs from it in 1 of 2"):
                compare(f(1.05, 10), f(1, 10), "it", limits, {"y": graph})


@pytest.mark.parametrize("flag", ["--rtol", "--atol"])
@pytest.mark.parametrize("text", ["nan", "-1", "inf", "little"])
def test_a_tolerance_is_a_number_from_0_on(
    graph: str, flag: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With NaN, all would be equal to all."""
    assert weft_run([graph, f"{flag}={text}"]) == 2
    assert f"'{text}' is no tolerance" in capsys.readouterr().err


def test_outputs_are_printed_written_and_compared(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "x.npy", np.zeros((2, 3), np.float32))
    out = str(tmp_path / "out.npz")
    assert weft_run([graph, "--input", f"x=@{tmp_path}/x.npy", "--outputs", out]) == 0
    np.testing.assert_array_equal(read_npz(out)["out"], np.ones((2, 3), np.float32))
    np.savez(tmp_path / "in.npz", x=np.zeros((2, 3), np.float32))
    assert weft_run([graph, "--inputs", f"{tmp_path}/in.npz", "--expect", out, "--quiet"]) == 0
    assert capsys.readouterr().out == f"equal to {out}: greatest difference 0\n"
    assert weft_run([graph, "--seed", "1", "--expect", out, "--quiet"]) == 1
    assert "differs from" in capsys.readouterr().err
    assert weft_run([graph, "--seed", "1", "--expect", out, "--quiet", "--atol", "100"]) == 0


def test_a_model_is_compared_with_onnx_runtime(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 4] x) => (float[N, 4] y) { y = Softmax <axis = 1> (x) }'
    )
    path = str(tmp_path / "model.onnx")
    onnx.save(model, path)
    assert weft_run([path, "--shape", "x=3x4", "--compare", "onnxruntime,interpreter", "--quiet"]) == 0
    assert capsys.readouterr().out.count("equal to") == 2
    assert weft_bench([path, "--shape", "x=3x4", "--rounds", "1", "--threads", "1", "--against", "onnxruntime"]) == 0
    assert "onnxruntime ms" in capsys.readouterr().out
    assert weft_run([path]) == 2
    assert "--shape x=" in capsys.readouterr().err


def test_a_saved_executable_cannot_be_interpreted(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = str(tmp_path / "graph.weft")
    assert weft_run([graph, "--save", saved, "--quiet"]) == 0
    assert weft_run([saved, "--threads", "2", "--quiet"]) == 0
    assert weft_run([saved, "--executor", "interpreter"]) == 2
    assert "holds no graph to interpret" in capsys.readouterr().err
    assert weft_run([saved, "--executor", "graph"]) == 2
    assert "holds no graph to run node by node" in capsys.readouterr().err
    assert weft_bench([saved, "--kernels", "--warm"]) == 2
    assert "--warm: error: " in capsys.readouterr().err
    for flag in (["--target", "llvm"], ["-O", "2"], ["--tuning-records", "none"]):
        for tool in (weft_run, weft_bench):
            assert tool([saved, *flag]) == 2
            assert f"{flag[0]}: error: a saved executable is compiled already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["graph.bin", "graph", "graph.mlir"])
def test_a_saved_executable_is_known_by_what_it_holds(
    name: str, graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "saved").mkdir()
    saved = str(tmp_path / "saved" / name)
    assert weft_run([graph, "--save", saved, "--input", "x=2x3xf32=0"]) == 0
    printed = capsys.readouterr().out
    assert weft_run([saved, "--input", "x=2x3xf32=0"]) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "x=2x3xf32=0", "--input", "x=2x3xf32=1"], "--input: error: 'x' is given twice"),
        (["--shape", "x=2x3", "--shape", "x=3x3"], "--shape: error: 'x' is given twice"),
        (["--rtol", "1e-3"], "--rtol: error: nothing is compared"),
    ],
)
def test_nothing_that_is_asked_for_is_left_out(
    graph: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert weft_run([graph, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_another_archive_is_no_saved_executable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "model.bin", "w") as archive:
        archive.writestr("weights", b"0")
    assert weft_run([str(tmp_path / "model.bin")]) == 2
    assert "unknown kind of model '.bin'" in capsys.readouterr().err


def test_systems_take_turns() -> None:
    order: list[str] = []
    systems = {name: lambda name=name: order.append(name) for name in "ab"}
    timings = interleaved(systems, rounds=2, min_runs=2, min_seconds=0)
    assert "".join(order) == "aaabbbaaabbb"
    assert {name: len(timing.seconds) for name, timing in timings.items()} == {"a": 4, "b": 4}


def test_the_table_has_medians_minima_and_ratios() -> None:
    timings = {"weft": Timing((0.002, 0.001, 0.004)), "peer": Timing((0.004, 0.008, 0.016))}
    lines = table([Result("one", 1, 0.5, timings), Result("two", 2, 0.5, timings)]).split("\n")
    assert lines[0].split() == ["model", "threads", "compile", "s", "weft", "ms", "min", "peer", "ms", "min", "ratio"]
    assert lines[1].split() == ["one", "1", "0.50", "2.000", "1.000", "8.000", "4.000", "0.25"]
    assert lines[3].split() == ["geometric", "mean", "0.25"]


def test_of_several_peers_the_table_says_how_far_the_best_is() -> None:
    timings = {name: Timing((seconds,)) for name, seconds in (("weft", 0.002), ("one", 0.004), ("other", 0.001))}
    head, row = table([Result("model", 1, 0.5, timings)]).split("\n")
    assert head.endswith("to the best") and row.split()[-1] == "2.00"


def test_a_kernel_is_given_credit_for_the_memory_that_its_data_stands_in() -> None:
    limits = Limits(100.0, (1 << 10, 1 << 20), (50.0, 5.0))
    assert [limits.bandwidth(size) for size in (1, 1 << 10, 1 << 19, 1 << 20, 1 << 30)] == [50, 50, 50, 5, 5]
    near, far = (KernelResult("k", 1, 1.0, 10**7, 10**6, (), ((10**6, size),)) for size in (1 << 10, 1 << 20))
    assert near.share_of(limits) == pytest.approx(0.1) and far.share_of(limits) == pytest.approx(0.2)


def test_columns_are_aligned() -> None:
    assert columns([["a", "bb"], ["ccc", "d"]]) == "a    bb\nccc   d"


def test_results_are_written_as_json(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert weft_bench([graph, "--threads", "1", "--rounds", "1", "--kernels", "--json", str(out)]) == 0
    report = json.loads(out.read_text())
    (result,) = report["results"]
    assert result["model"] == "graph" and result["threads"] == 1
    (kernel,) = result["kernels"]
    assert kernel["name"] == "fused_exp" and kernel["flops"] == 6 and kernel["bytes"] == 48
    assert result["systems"]["weft"]["runs"] >= 3
    assert "fused_exp" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threads", "0"], "are not numbers of threads"),
        (["--threads", "two"], "are not numbers of threads"),
        (["--rounds", "0"], "at least one is needed"),
        (["--warm"], "kernels are not timed"),
        (["--against", "tensorrt"], "there is no peer 'tensorrt'"),
        (["--against", "onnxruntime"], "runs .onnx files only"),
    ],
)
def test_wrong_usage_of_weft_bench_is_refused(
    graph: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "onnxruntime" in arguments:
        pytest.importorskip("onnxruntime")
    assert weft_bench([graph, *arguments]) == 2
    assert message in capsys.readouterr().err

"""ONNX's own tests of single operators (`onnx.backend.test`): imported, evaluated by the reference and by machine code.

Node tests are of the newest opset, those that define an operator by others among them; `simple` and those converted
from PyTorch are of opsets 6 to 9. Which cases are declined, and why, stands in `DECLINED`; no other may be.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")

from onnx import ModelProto, TensorProto, numpy_helper  # noqa: E402
from onnx.backend.test.loader import load_model_tests  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402

from weft.dialects.relay.core import FuncOp  # noqa: E402
from weft.dialects.relay.interpreter import evaluate_function  # noqa: E402
from weft.dialects.support.diagnostics import Diagnostic  # noqa: E402
from weft.frontend.onnx import from_onnx  # noqa: E402
from weft.lowering.compiler import compile_graph  # noqa: E402
from weft.lowering.machine.target import Target  # noqa: E402
from weft.runtime.executable import Executable  # noqa: E402

if TYPE_CHECKING:
    from onnx import ValueInfoProto
    from onnx.backend.test.case.test_case import TestCase

NDArray = npt.NDArray[np.generic]

KNOWN_AT_IMPORT = {
    "CenterCropPad": {1}, "Clip": {1, 2}, "ConstantOfShape": {0}, "CumProd": {1}, "CumSum": {1}, "Dropout": {1, 2},
    "Expand": {1}, "If": {0}, "Loop": {0, 1}, "OneHot": {1, 2}, "Pad": {1, 2, 3}, "Range": {0, 1, 2}, "Reshape": {1},
    "Resize": {1, 2, 3}, "Slice": {1, 2, 3, 4}, "Split": {1}, "Squeeze": {1}, "Tile": {1}, "TopK": {1}, "Trilu": {1},
    "Unsqueeze": {1}, "Upsample": {1}, "AffineGrid": {1}, "HannWindow": {0}, "HammingWindow": {0},
    "BlackmanWindow": {0},
    **{f"Reduce{kind}": {1} for kind in (
        "L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")},
}  # fmt: skip
"""Inputs that the results' types depend on: these become weights of the model."""

DECLINED = Path(__file__).parents[1] / "Inputs" / "onnx_declined.txt"
"""Cases that the importer declines, and what it says: `NAME: MESSAGE`, written anew by running this file."""

LEAST = 0.82
"""The share of cases that must run, whatever `onnx` package is installed."""


def declined() -> dict[str, str]:
    """Name -> reason."""
    lines = DECLINED.read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


def folder_of(case: "TestCase") -> Path:
    return Path(cast(str, case.model_dir))


def model_of(case: "TestCase") -> ModelProto:
    return case.model or onnx.load(str(folder_of(case) / "model.onnx"))  # pyright: ignore[reportUnknownMemberType]


def data_of(case: "TestCase") -> tuple[list[Any], list[Any]]:
    """Inputs and outputs of the first data set, which is kept in memory or in files."""
    if case.data_sets is not None:
        inputs, outputs = (list(values) for values in case.data_sets[0])
    else:
        inputs, outputs = (
            [
                TensorProto.FromString((folder_of(case) / "test_data_set_0" / f"{kind}_{i}.pb").read_bytes())
                for i in range(len(values))
            ]
            for kind, values in (("input", arguments_of(model_of(case))), ("output", model_of(case).graph.output))
        )
    return [array_of(value) for value in inputs], [array_of(value) for value in outputs]


def array_of(value: object) -> object:
    """Tensors as arrays; sequences stay as they are."""
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if np.isscalar(value) else value


def with_known_inputs(model: ModelProto, arrays: list[NDArray]) -> tuple[ModelProto, list[NDArray]]:
    """The model with the inputs that types depend on as weights, and the arrays of the others."""
    result = ModelProto()
    result.CopyFrom(model)
    arguments: list[NDArray] = []
    known = {
        name
        for node in model.graph.node
        for i, name in enumerate(node.input)
        if i in KNOWN_AT_IMPORT.get(node.op_type, ())
    }
    for value, array in zip(arguments_of(model), arrays, strict=True):
        if value.name in known:
            result.graph.initializer.append(numpy_helper.from_array(array, value.name))
        else:
            arguments.append(array)
    return result, arguments


def arguments_of(model: ModelProto) -> "list[ValueInfoProto]":
    """The inputs that are no weights."""
    weights = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in weights]


def imported(case: "TestCase") -> tuple[ModuleOp, list[NDArray], list[NDArray]]:
    """The case as a module, its inputs, and the outputs that are wanted.

    Raises:
        Diagnostic: it cannot be imported.
    """
    model = model_of(case)
    inputs, outputs = data_of(case)
    model, arguments = with_known_inputs(model, inputs)
    return from_onnx(model), arguments, outputs


def reason(error: Diagnostic) -> str:
    """What is said of a model that is declined: of each operator, or of the model; shortened to a line."""
    text = "; ".join(sorted({note.message for note in error.notes})) or error.message
    return re.sub(r"\s+", " ", text)[:150].strip()


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ONNX makes its node tests while it is imported, and overflows on purpose
    CASES = [
        case
        for kind in ("node", "simple", "pytorch-operator", "pytorch-converted")
        for case in load_model_tests(kind=kind)
    ]
EXPECTED = declined()
TARGET = Target.parse("llvm -mcpu=native")


@pytest.fixture(scope="module", autouse=True)
def kernels_are_kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The pool of threads is the same in all, and takes longer to compile than most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEFT_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_operator_means_what_onnx_says(case: "TestCase"):
    try:
        module, arguments, outputs = imported(case)
    except Diagnostic as error:
        assert EXPECTED.get(case.name) == reason(error), f"declined otherwise than {DECLINED} says: {error}"
        pytest.skip(error.message)
    assert case.name not in EXPECTED, f"is imported now; `python {__file__}` takes it out of {DECLINED}"
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    hold(evaluate_function(function, arguments), outputs, case)
    if case.name.startswith("test_linear_attention") and case.name.endswith("_expanded"):
        return  # the same kernels, many of them, as of the case whose definition this is
    hold(run_machine_code(module, arguments), outputs, case)


def run_machine_code(module: ModuleOp, arguments: list[NDArray]) -> list[NDArray]:
    """What machine code gives. LLVM's own optimisations are not what is tested: few of them save half of the time."""
    executable = Executable(compile_graph(module, TARGET, codegen_level=1, jobs=1), threads=1)
    results = executable(*arguments)
    return list(results) if isinstance(results, tuple) else [results]


def hold(found: Sequence[NDArray], outputs: Sequence[NDArray], case: "TestCase") -> None:
    """Results against those that ONNX wants, as exactly as it wants them."""
    for got, wanted in zip(found, outputs, strict=True):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        half = wanted.dtype.itemsize == 2
        np.testing.assert_allclose(
            got.astype(np.float64),
            wanted.astype(np.float64),
            rtol=1e-2 if half else case.rtol,
            atol=1e-2 if half else max(case.atol, 1e-6),
        )


def test_most_cases_run():
    run = [case for case in CASES if case.name not in EXPECTED]
    assert len(run) > LEAST * len(CASES), f"{len(run)} of {len(CASES)}"


def write_declined() -> None:
    """Write `DECLINED` anew."""
    lines = ["# ONNX's tests that the importer declines, and what it says; made by test/unit/test_onnx_nodes.py"]
    for case in CASES:
        try:
            imported(case)
        except Diagnostic as error:
            lines.append(f"{case.name}: {reason(error)}")
    DECLINED.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write_declined()

"""ONNX's own tests of single operators (`onnx.backend.test`): imported, evaluated by the reference, compared.

Node tests are of the newest opset, `simple` and those converted from PyTorch of opsets 6 to 9. A model may be declined
only for what `LEFT_OUT` and `DECLINED` name.
"""

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")

from onnx import ModelProto, TensorProto, numpy_helper  # noqa: E402
from onnx.backend.test.loader import load_model_tests  # noqa: E402

from weft.dialects.relay.core import FuncOp  # noqa: E402
from weft.dialects.relay.reference import evaluate_function  # noqa: E402
from weft.dialects.support.diagnostics import Diagnostic  # noqa: E402
from weft.frontend.onnx import from_onnx, supported_operators  # noqa: E402

if TYPE_CHECKING:
    from onnx import ValueInfoProto
    from onnx.backend.test.case.test_case import TestCase

NDArray = npt.NDArray[np.generic]

KNOWN_AT_IMPORT = {
    "CenterCropPad": {1}, "Clip": {1, 2}, "ConstantOfShape": {0}, "CumSum": {1}, "Dropout": {1, 2}, "Expand": {1},
    "If": {0}, "OneHot": {1, 2}, "Pad": {1, 2, 3}, "Range": {0, 1, 2}, "Reshape": {1}, "Resize": {1, 2, 3},
    "Slice": {1, 2, 3, 4}, "Split": {1}, "Squeeze": {1}, "Tile": {1}, "TopK": {1}, "Trilu": {1}, "Unsqueeze": {1},
    "Upsample": {1}, "AffineGrid": {1}, "HannWindow": {0}, "HammingWindow": {0}, "BlackmanWindow": {0},
    **{f"Reduce{kind}": {1} for kind in (
        "L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")},
}  # fmt: skip
"""Inputs that the results' types depend on: these become weights of the model."""

LEFT_OUT = {
    "control flow, sequences, optionals": "If Loop Scan SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
        "SequenceInsert SequenceLength SequenceMap SplitToSequence ConcatFromSequence OptionalGetElement "
        "OptionalHasElement Optional LinearAttention",
    "results whose shapes depend on data": "Compress NonMaxSuppression NonZero Unique",
    "random numbers": "Bernoulli RandomUniformLike",
    "recurrence": "GRU LSTM RNN",
    "signals and vision": "Col2Im DFT DeformConv Det GridSample ImageDecoder MaxUnpool MelWeightMatrix RoiAlign STFT",
    "integer products": "ConvInteger MatMulInteger QLinearConv QLinearMatMul",
    "text": "TfIdfVectorizer",
    "operators after opset 23": "BitCast CumProd TensorScatter",
}  # fmt: skip
"""Operators without a counterpart, and why."""

DECLINED = (
    r"ai\.onnx\.(ml|preview\.training)\.",
    r"the element type (FLOAT8|FLOAT4|INT4|UINT4|INT2|UINT2|STRING|COMPLEX)",
    r"a value of (sequence|optional) type",
    r"training_mode|the outputs of training",
    r"the second output \(indices of the maxima\)",
    r"a scale for each block",
    r"which take .* to no whole size|antialias|keep_aspect_ratio_policy|coordinate_transformation_mode|resampling",
    r"mode 'wrap'",
    r"opsets up to 23 are understood",
    r"its revision \d is older than opset 7",
    r'\'mode\' is "update" or "add"',
    r"must be known at import",
)
"""What else a model may be declined for."""

SUFFIXES_OF_EXPANSIONS = ("_expanded", "_expanded_ver18", "_expanded_ver26")
"""Of tests of operators that ONNX defines by others: the importer expands these itself."""


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


def is_declined_rightly(error: Diagnostic) -> bool:
    """Whether every operator that could not be imported is one that is left out."""
    left_out = {name for names in LEFT_OUT.values() for name in names.split()}
    notes = [note.message for note in error.notes] or [error.message]
    return all(note.split(",")[0] in left_out or any(re.search(p, note) for p in DECLINED) for note in notes)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ONNX makes its node tests while it is imported, and overflows on purpose
    CASES = [
        case
        for kind in ("node", "simple", "pytorch-operator", "pytorch-converted")
        for case in load_model_tests(kind=kind)
        if not case.name.endswith(SUFFIXES_OF_EXPANSIONS)
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_operator_means_what_onnx_says(case: "TestCase"):
    model = model_of(case)
    try:
        inputs, outputs = data_of(case)
        model, arguments = with_known_inputs(model, inputs)
        module = from_onnx(model)
    except Diagnostic as error:
        assert is_declined_rightly(error), str(error)
        pytest.skip(error.message)
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    for got, wanted in zip(evaluate_function(function, arguments), outputs, strict=True):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        half = wanted.dtype.itemsize == 2
        np.testing.assert_allclose(
            got.astype(np.float64),
            wanted.astype(np.float64),
            rtol=1e-2 if half else case.rtol,
            atol=1e-2 if half else max(case.atol, 1e-6),
        )


def test_no_operator_is_both_imported_and_left_out():
    assert not {name for names in LEFT_OUT.values() for name in names.split()} & set(supported_operators())

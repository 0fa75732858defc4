"""ONNX's own tests of single operators (`onnx.backend.test`): imported, evaluated by the reference and by machine code.

The graphs of a group become one program, which costs a third of a program each; a group fails with the names of its
cases that are wrong.

Node tests are of the newest opset, those that define an operator by others among them; `simple` and those converted
from PyTorch are of opsets 6 to 9. Which cases are declined, and why, stands in `DECLINED`; no other may be.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")

from onnx import ModelProto, TensorProto, numpy_helper
from onnx_cases import cases_of, groups
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.rewriter import InsertPoint, Rewriter

from weft.dialects.relay.core import FuncOp, ReturnOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.testing.tolerance import Tolerance, tolerances_of

if TYPE_CHECKING:
    from onnx import ValueInfoProto
    from onnx.backend.test.case.test_case import TestCase

NDArray = npt.NDArray[np.generic]

KNOWN_AT_IMPORT = {
    "CenterCropPad": {1}, "Clip": {1, 2}, "ConstantOfShape": {0}, "CumProd": {1}, "CumSum": {1}, "Dropout": {1, 2},
    "Expand": {1}, "If": {0}, "Loop": {0, 1}, "OneHot": {1, 2}, "Pad": {1, 2, 3}, "Range": {0, 1, 2}, "Reshape": {1},
    "Resize": {1, 2, 3}, "Slice": {1, 2, 3, 4}, "Split": {1}, "Squeeze": {1}, "Tile": {1}, "Trilu": {1},
    "Unsqueeze": {1}, "Upsample": {1}, "AffineGrid": {1}, "HannWindow": {0}, "HammingWindow": {0},
    "BlackmanWindow": {0}, "SequenceAt": {1}, "SequenceErase": {1},
    "SequenceInsert": {2}, "SplitToSequence": {1},
    "DFT": {1, 2}, "MelWeightMatrix": {0, 1, 2, 3, 4}, "Col2Im": {1, 2}, "MaxUnpool": {2},
    "STFT": {1, 3},
    **{f"Reduce{kind}": {1} for kind in (
        "L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")},
}  # fmt: skip
"""Inputs that the results' types depend on: these become weights of the model."""

DEFINED_BY_OTHERS = {
    "test_affine_grid": "affinegrid", "test_blackmanwindow": "blackmanwindow", "test_range_": "rangeop",
    "test_center_crop_pad": "center_crop_pad", "test_hammingwindow": "hammingwindow", "test_hannwindow": "hannwindow",
}  # fmt: skip
"""Operators with such inputs whose definitions take them through others: the beginning of their cases' names, and their
groups."""

DECLINED = Path(__file__).parents[1] / "Inputs" / "onnx_declined.txt"
"""Cases that the importer declines, and what it says: `NAME: MESSAGE`, written anew by running this file, below a line
that counts all cases."""

DRAWN = {f"test_training_dropout{suffix}" for suffix in ("", "_mask", "_default", "_default_mask")}
"""Cases that drop what random numbers say."""

LEAST = 0.95
"""The share of cases that must run."""

SHARDS = {
    "attention": 6, "softmax_cross_entropy_loss": 2, "linear_attention": 3, "layernormalization": 3,
    "flexattention": 2, "negativeloglikelihoodloss": 2, "castlike": 2, "pytorch-converted": 3, "pytorch-operator": 2,
    "cast": 2, "causal_conv_with_state": 2, "rmsnormalization": 2, "resize": 2,
}  # fmt: skip
"""Into how many tests a group is divided that would take some seconds; the others are one."""

WITH_MACHINE_CODE = 8
"""Of the cases that define an operator by others, which have cases of their own, one in so many is compiled too; the
rest are compiled by `make large`."""

COMPOSED = {
    "attention": 16, "linear_attention": 8, "flexattention": 6, "softmax_cross_entropy_loss": 10,
    "negativeloglikelihoodloss": 6, "layernormalization": 5, "rmsnormalization": 5, "causal_conv_with_state": 4,
    "gru": 3, "lstm": 3, "rnn": 3, "lppool": 4, "qlinearmatmul": 4, "rotaryembedding": 4, "affinegrid": 3,
    "pytorch-converted": 4, "pytorch-operator": 4,
}  # fmt: skip
"""Groups of many cases of one operator that the importer makes of others, and of models of old opsets that it makes the
same of as of new ones; those have cases of their own, so that one in so many is compiled, and the rest by `make large`.
"""

EVERY_OTHER = 2
"""Of the other groups one case in so many is compiled, the first one always: the reference judges the import of each
case, and test_compiled_operators.py machine code of each operator."""


def declined() -> dict[str, str]:
    """Name -> reason."""
    lines = DECLINED.read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


def folder_of(case: "TestCase") -> Path:
    return Path(cast(str, case.model_dir))


def model_of(case: "TestCase") -> ModelProto:
    return case.model or onnx.load(str(folder_of(case) / "model.onnx"))


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


def with_known_inputs(
    model: ModelProto, arrays: list[NDArray], shown: ModelProto | None = None
) -> tuple[ModelProto, list[NDArray]]:
    """The model with the inputs that types depend on as weights, and the arrays of the others. `shown` is a model with
    the operator that this one has the definition of."""
    result = ModelProto()
    result.CopyFrom(model)
    arguments: list[NDArray] = []
    known = {
        name
        for graph in (model.graph, *([] if shown is None else [shown.graph]))
        for node in graph.node
        for i, name in enumerate(node.input)
        if i in KNOWN_AT_IMPORT.get(node.op_type, ())
    }
    for value, array in zip(arguments_of(model), arrays, strict=True):
        if value.name in known and not isinstance(array, list):
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
    model, arguments = with_known_inputs(model, inputs, unexpanded(case.name))
    takes = arguments_of(model)
    shapes = {value.name: shapes_of(given) for value, given in zip(takes, arguments, strict=True)}
    if all(value.type.WhichOneof("value") == "tensor_type" for value in takes):
        shapes = {}  # else how many tensors there are must be known
    return from_onnx(model, shapes), tensors_in(arguments), tensors_in(outputs)


def shapes_of(given: Any) -> Any:
    """The shape of a tensor, those of a sequence, or `None` of what is not there."""
    if given is None:
        return None
    return [np.shape(each) for each in cast("list[Any]", given)] if isinstance(given, list) else np.shape(given)


def tensors_in(values: Sequence[Any]) -> list[NDArray]:
    """Tensors, and those of sequences and tuples."""
    found: list[NDArray] = []
    for value in values:
        if isinstance(value, list | tuple):
            found += tensors_in(cast("Sequence[Any]", value))
        elif value is not None:
            found.append(np.asarray(value))
    return found


def unexpanded(name: str) -> ModelProto | None:
    """The model of an operator whose definition does not say which of its inputs types depend on."""
    name, expanded, _ = name.partition("_expanded")
    group = next((group for begin, group in DEFINED_BY_OTHERS.items() if name.startswith(begin)), None)
    if not expanded or group is None:
        return None
    return next(model_of(case) for case in cases_of(group) if case.name == name)


def reason(error: Diagnostic) -> str:
    """What is said of a model that is declined: of each operator, or of the model; shortened to a line."""
    text = "; ".join(sorted({note.message for note in error.notes})) or error.message
    return re.sub(r"\s+", " ", text)[:150].strip()


EXPECTED = declined()
TARGET = Target.parse("llvm -mcpu=native")
WRITTEN_SHORT = {
    "test_averagepool_2d_ceil_last_window_starts_on_pad",
    "test_gridsample_bicubic",
    "test_roialign_aligned_false",
    "test_roialign_aligned_true",
}
"""Cases whose results are written with four digits or five."""


def is_compiled(group: str, name: str) -> bool:
    """Whether a case goes through machine code here, or in `make large`."""
    every = WITH_MACHINE_CODE if "_expanded" in name else COMPOSED.get(group, EVERY_OTHER)
    return place_of(group, name) % every == 0


def place_of(group: str, name: str) -> int:
    """The number of a case in its group, those that run first, and those that define an operator by others apart."""
    is_expanded = "_expanded" in name
    alike = [case.name for case in cases_of(group) if ("_expanded" in case.name) is is_expanded]
    return sorted(alike, key=EXPECTED.__contains__).index(name)


@dataclass
class Graph:
    """A case that was imported."""

    group: str
    case: "TestCase"
    module: ModuleOp
    inputs: list[NDArray]
    outputs: list[NDArray]

    def __post_init__(self) -> None:
        self.tolerances = tolerances_of(self.function)
        if self.case.name in WRITTEN_SHORT:
            self.tolerances = [Tolerance(1e-3, mixed=True) for _ in self.tolerances]

    @property
    def function(self) -> FuncOp:
        function = self.module.body.block.first_op
        assert isinstance(function, FuncOp)
        return function

    @property
    def is_compiled(self) -> bool:
        return is_compiled(self.group, self.case.name)

    @property
    def stands_alone(self) -> bool:
        """Whether the function needs others, or its attributes say more than names."""
        return len(self.module.ops) > 1 or bool({*self.function.attributes} - {"input_names", "output_names"})


PARTS = [pytest.param(group, i, id=f"{group}-{i}") for group in groups() for i in range(SHARDS.get(group, 1))]


def cases_in(group: str, shard: int) -> "tuple[TestCase, ...]":
    cases, count = cases_of(group), SHARDS.get(group, 1)
    cases = cases[len(cases) * shard // count : len(cases) * (shard + 1) // count]
    assert cases
    return cases


@pytest.mark.sampled(6)
@pytest.mark.parametrize("group, shard", PARTS)
def test_operators_mean_what_onnx_says(group: str, shard: int) -> None:
    wrong: dict[str, str] = {}
    graphs: list[Graph] = []
    for case in cases_in(group, shard):
        try:
            graph = Graph(group, case, *imported(case))
        except Diagnostic as error:
            if EXPECTED.get(case.name) != reason(error):
                wrong[case.name] = f"declined otherwise than {DECLINED} says: {error}"
            continue
        if case.name in EXPECTED:
            wrong[case.name] = f"is imported now; `python {__file__}` takes it out of {DECLINED}"
        graph.module.verify()
        if difference := differs(evaluate_function(graph.function, graph.inputs), graph):
            wrong[case.name] = f"by the reference: {difference}"
        elif graph.is_compiled:
            graphs.append(graph)
    wrong |= wrong_by_machine_code(graphs)
    assert not wrong, "\n".join(f"{name}: {what}" for name, what in wrong.items())
    assert graphs or SHARDS.get(group, 1) > 1 or all(case.name in EXPECTED for case in cases_of(group))


@pytest.mark.large
@pytest.mark.parametrize("group, shard", PARTS)
def test_operators_made_of_others_mean_what_onnx_says(group: str, shard: int) -> None:
    """The cases that the test above does not compile."""
    graphs = [Graph(group, case, *imported(case)) for case in cases_in(group, shard) if case.name not in EXPECTED]
    wrong = wrong_by_machine_code([graph for graph in graphs if not graph.is_compiled])
    assert not wrong, "\n".join(f"{name}: {what}" for name, what in wrong.items())


def wrong_by_machine_code(graphs: Sequence[Graph]) -> dict[str, str]:
    """The names of the cases that machine code gets wrong, and how."""
    wrong: dict[str, str] = {}
    for together in batches(graphs):
        for graph, found in zip(together, run_machine_code(together), strict=True):
            if difference := differs(found, graph):
                wrong[graph.case.name] = f"by machine code: {difference}"
    return wrong


def batches(graphs: Sequence[Graph]) -> list[list[Graph]]:
    """The graphs that can be one program, and each of the others."""
    joined = [graph for graph in graphs if not graph.stands_alone]
    return [*([joined] if joined else []), *([graph] for graph in graphs if graph.stands_alone)]


def program_of(graphs: Sequence[Graph]) -> ModuleOp:
    """One module that computes what all `graphs` do, which are taken apart."""
    if len(graphs) == 1:
        return graphs[0].module
    functions = [graph.function for graph in graphs]
    types = [function.function_type for function in functions]
    main = FuncOp(
        "main",
        FunctionType.from_lists(
            [t for type in types for t in type.inputs], [t for type in types for t in type.outputs]
        ),
    )
    block, results = main.body.block, list[Any]()
    arguments = iter(block.args)
    for function in functions:
        body = function.body.block
        Rewriter.inline_block(body, InsertPoint.at_end(block), [next(arguments) for _ in body.args])
        end = block.last_op
        assert isinstance(end, ReturnOp)
        results += end.arguments
        end.detach()
        end.erase()
    block.add_op(ReturnOp(*results))
    return ModuleOp([main])


def run_machine_code(graphs: Sequence[Graph]) -> Iterator[list[NDArray]]:
    """What machine code gives for each. LLVM's own optimisations are not what is tested: few of them save half of the
    time."""
    module = program_of(graphs)
    executable = Executable(compile_graph(module, TARGET, codegen_level=1, jobs=1), threads=1)
    found = executable(*(array for graph in graphs for array in graph.inputs))
    results = iter(tensors_in(found if isinstance(found, tuple) else [found]))
    for graph in graphs:
        yield [next(results) for _ in graph.outputs]


def differs(found: Sequence[NDArray], graph: Graph) -> str:
    """How results differ from those that ONNX wants, by more than their operators may; nothing where they do not."""
    if len(found) != len(graph.outputs):
        return f"{len(found)} results, not {len(graph.outputs)}"
    for got, wanted, tolerance in zip(found, graph.outputs, graph.tolerances, strict=True):
        if (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
            return f"{got.dtype}{list(got.shape)}, not {wanted.dtype}{list(wanted.shape)}"
        if graph.group == "bernoulli" or graph.case.name in DRAWN:
            continue  # ONNX's numbers are NumPy's; test_onnx_drawing.py asks how ours are spread
        excess = tolerance.excess(got, wanted)
        if excess.any():
            place = tuple(np.argwhere(excess)[0])
            return f"{got[place]} instead of {wanted[place]} at {place}, {tolerance}"
    return ""


def test_most_cases_run() -> None:
    all_cases = int(DECLINED.read_text().split()[1])
    assert len(EXPECTED) < (1 - LEAST) * all_cases, f"{len(EXPECTED)} of {all_cases} do not"


def write_declined() -> None:
    """Write `DECLINED` anew."""
    cases = [case for group in groups() for case in cases_of(group)]
    head = "of ONNX's tests: those that the importer declines, and what it says; made by test/unit/test_onnx_nodes.py"
    lines = [f"# {len(cases)} {head}"]
    for case in cases:
        try:
            imported(case)
        except Diagnostic as error:
            lines.append(f"{case.name}: {reason(error)}")
    DECLINED.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write_declined()

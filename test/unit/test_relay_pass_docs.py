"""docs/relay-passes.md says what is so: its example runs, its passes and analyses exist under both names."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest

from weft import relay
from weft.dialects.relay.core import ConstantOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import UsageError
from weft.transforms.infra.registry import get_pass_type
from weft.transforms.relay import PASSES

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENT = (DOCS / "relay-passes.md").read_text()
PASS_TABLE, _, ANALYSIS_TABLE = DOCUMENT.partition("## Analyses of TVM")
BUILT_TABLE, _, LEFT_OUT_TABLE = PASS_TABLE.partition("Left out, with what stands for them")
LINES = [line for line in BUILT_TABLE.splitlines() if line.startswith("| `")]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES]
BUILT = [(tvm.strip("`"), ours.strip("`")) for tvm, ours, _ in ROWS if re.fullmatch("`[a-z0-9-]+`", ours)]

RENAMED = {"ManifestAlloc", "ManifestLifetimes", "MemoryPlan", "RemoveStandaloneReshapes"}
"""TVM's passes that do what passes of other names do here."""
WITH_TVMS_ARGUMENTS: dict[str, tuple[object, ...]] = {
    "BackwardFoldScaleAxis": (), "ChangeBatch": ({"x": 0}, 4), "Conv2dToSparse": ([], []),
    "FlexibleShapeDispatch": ([1],),
    "Conv2dToSparse2": ("NHWC", 1, (1, 1), 0.5), "DeadCodeElimination": (), "Defunctionalization": (),
    "DenseToSparse": ([], []), "EliminateCommonSubexpr": (), "FoldScaleAxis": (), "ForwardFoldScaleAxis": (),
    "PlanDevices": (), "RemoveUnusedFunctions": (),
}  # fmt: skip
"""TVM's passes whose arguments, or defaults, are others there, with arguments that each takes."""


def test_the_examples_run() -> None:
    example = "".join(re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL))
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(example, "relay-passes.md", "exec", dont_inherit=True), {})
    assert out.getvalue().splitlines()[1] == str(8 * 8 * 4 * 27) and "'nn.conv2d': 1" in out.getvalue()
    assert "relay.qnn.conv2d" in out.getvalue()


@pytest.mark.parametrize(("tvm", "ours"), BUILT, ids=[tvm for tvm, _ in BUILT])
def test_a_pass_is_found_by_both_names(tvm: str, ours: str) -> None:
    found = get_pass_type(ours)
    assert found.name == ours
    if tvm in WITH_TVMS_ARGUMENTS:
        assert type(getattr(relay.transform, tvm)(*WITH_TVMS_ARGUMENTS[tvm])) is found
    elif tvm not in RENAMED:
        assert getattr(relay.transform, tvm) is found


def test_what_is_left_out_is_not_there() -> None:
    first = [line.split("|")[1] for line in LEFT_OUT_TABLE.splitlines() if "|" in line]
    names = re.findall(r"`([A-Za-z0-9]+)`", "".join(first))
    assert len(names) > 10
    assert not [name for name in names if hasattr(relay.transform, name)]


def test_every_pass_of_graphs_is_in_the_documents() -> None:
    texts = "\n".join(path.read_text() for path in DOCS.glob("*.md"))
    assert not [name for name in PASSES if not re.search(rf"(?<![\w-]){name}(?![\w-])", texts)]


def test_every_analysis_in_the_table_exists() -> None:
    names = re.findall(
        r"`([A-Za-z_]+)`", "".join(line.split("|")[1] for line in ANALYSIS_TABLE.splitlines() if "|" in line)
    )
    assert len(names) > 15
    for name in names:
        assert hasattr(relay.analysis, name), name


def test_an_expression_is_folded_by_itself() -> None:
    x = relay.var("x", shape=())
    folded = relay.transform.FoldConstantExpr(x + (relay.const(2.0) + relay.const(3.0)))
    assert relay.transform.InferTypeLocal(folded) == x.checked_type
    assert [v.name_hint for v in relay.analysis.free_vars(folded)] == ["x"]
    (constant,) = (each.owner for each in folded.value.owner.operands if isinstance(each.owner, ConstantOp))  # pyright: ignore
    assert constant.numpy() == np.float32(5)
    alone = relay.transform.FoldConstantExpr(relay.const(2) * relay.const(4))
    assert relay.analysis.check_constant(alone)


def test_a_function_is_defunctionalized_in_its_module() -> None:
    x = relay.var("x", shape=(2,))
    f = relay.var("f", relay.FuncType([x.checked_type], x.checked_type))
    twice = relay.GlobalVar("twice")
    module = relay.IRModule(
        {twice: relay.Function([f, x], f(f(x))), "main": relay.Function([x], twice(relay.Function([x], x + x), x))}
    )
    function = relay.transform.Defunctionalization(module["main"], module)
    assert function is module["main"] and "relay.adt @function" in str(module) and "relay.apply" not in str(module)
    (y,) = evaluate_function(function, [np.ones(2, np.float32)])
    assert isinstance(y, np.ndarray) and y.tolist() == [4, 4]
    with pytest.raises(UsageError, match="@main is no function of the module"):
        relay.transform.Defunctionalization(function, relay.IRModule())

"""Every operator has the traits that TVM v0.10 registers for it: those recorded beside the tests, and elsewhere."""

from __future__ import annotations

import gzip
import json
import os
import runpy
from pathlib import Path
from typing import Any

import pytest

from weft.dialects.relay import Relay
from weft.dialects.relay.base import Fusion, NonComputational, RelayOp, ReshapeLike, Stateful, fusion_pattern

REPOSITORY = Path(__file__).resolve().parents[2]
SHIPPED = REPOSITORY / "test" / "oracle" / "data" / "op_table.json.gz"
RECORDED = Path(os.environ.get("WEFT_ORACLE_DIR", REPOSITORY.parent / "shared" / "oracle")) / "op_table.json"

PATTERNS = {
    "elemwise": Fusion.ELEMWISE,
    "broadcast": Fusion.BROADCAST,
    "injective": Fusion.INJECTIVE,
    "comm_reduce": Fusion.COMM_REDUCE,
    "out_elemwise_fusable": Fusion.OUT_ELEMWISE_FUSABLE,
    "opaque": Fusion.OPAQUE,
}
OPERATORS = {op.name: op for op in Relay.operations if issubclass(op, RelayOp)}


@pytest.fixture(scope="module", params=[SHIPPED, RECORDED], ids=["shipped", "recorded"])
def table(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    path: Path = request.param
    if path.suffix == ".gz":
        return json.loads(gzip.decompress(path.read_bytes()))
    if not path.exists():
        pytest.skip(f"there is no {path}")
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_has_the_traits_that_tvm_registers(name: str, table: dict[str, dict[str, Any]]):
    op = OPERATORS[name]
    registered = table.get(name.removeprefix("relay."))
    if registered is None:
        pytest.skip("TVM v0.10 has no such operator")
    pattern = registered.get("TOpPattern")
    assert fusion_pattern(op) == (None if pattern is None else PATTERNS[pattern])
    for trait, key in (
        (ReshapeLike, "TReshapeOp"),
        (NonComputational, "TNonComputational"),
        (Stateful, "TOpIsStateful"),
    ):
        assert op.has_trait(trait) == bool(registered.get(key)), key


def test_the_page_says_of_every_other_operator_of_tvm_what_stands_for_it(table: dict[str, dict[str, Any]]):
    page = runpy.run_path(str(REPOSITORY / "docs" / "operator_tables.py"))
    said = [name for row in page["OTHERS"] for name in row.names]
    here = {op.name.removeprefix("relay.") for op in Relay.operations}
    there = {name for name in table if not name.startswith("tir.")}
    assert len(said) == len(set(said)) and not here & set(said)
    assert there - here <= set(said)

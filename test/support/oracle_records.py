"""TVM's results on given graphs: where the records lie, and what is in them.

Records are shipped in `test/oracle/data`; others are looked for in `../shared/oracle` beside the repository. Where
`WEFT_ORACLE_DIR` is set, it takes the place of both. A file may be compressed (`.jsonl.gz`).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "test" / "oracle" / "data"

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
Record: TypeAlias = Mapping[str, Json]
Shape: TypeAlias = "Sequence[int | str | Shape]"
DType: TypeAlias = "str | Sequence[DType]"


def _folders() -> list[Path]:
    if given := os.environ.get("WEFT_ORACLE_DIR"):
        return [Path(given)]
    return [SHIPPED, ROOT.parent / "shared" / "oracle"]


def records(name: str) -> Iterator[Record]:
    """The records of `name.jsonl` or `name.jsonl.gz`, wherever it is found first; none where it is not."""
    for folder in _folders():
        for path in (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"):
            if path.is_file():
                with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
                    yield from (json.loads(line) for line in file)
                return


@dataclass(frozen=True)
class Node:
    """A node of a recorded graph; shapes and dtypes are nested lists for tuples, `None` for functions."""

    id: int
    op: str
    inputs: tuple[int, ...]
    attrs: Mapping[str, Json]
    pattern: str | None
    shape: Shape | None
    dtype: DType | None
    value: Json
    index: int
    inner: tuple[int, ...]
    """Parameters and body of a nested function."""


@dataclass(frozen=True)
class Graph:
    """A recorded graph; the nodes are in the order of their ids, which is TVM's depth-first order."""

    params: tuple[int, ...]
    output: int
    nodes: tuple[Node, ...]


def graph_of(record: Record) -> Graph:
    """The graph of a record."""
    graph = cast("Mapping[str, Json]", record["graph"])
    nodes = [_node(node) for node in cast("Sequence[Mapping[str, Json]]", graph["nodes"])]
    params = tuple(cast("Sequence[int]", graph["params"]))
    return Graph(params, cast(int, graph["output"]), tuple(sorted(nodes, key=lambda node: node.id)))


def _node(node: Mapping[str, Json]) -> Node:
    attrs = cast("Mapping[str, Json]", node.get("attrs") or {})
    body = [cast(int, node["body"])] if "body" in node else []
    return Node(
        id=cast(int, node["id"]),
        op=cast(str, node["op"]),
        inputs=tuple(cast("Sequence[int]", node["inputs"])),
        attrs=attrs,
        pattern=cast("str | None", node.get("pattern")),
        shape=cast("Shape | None", node.get("shape")),
        dtype=cast("DType | None", node.get("dtype")),
        value=node.get("value"),
        index=cast(int, node.get("index", attrs.get("index", 0))),
        inner=(*cast("Sequence[int]", node.get("params") or ()), *body),
    )

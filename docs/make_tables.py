"""Write the tables of docs/ that follow from the code: `python docs/make_tables.py`.

`docs/onnx.md` says which ONNX operators are imported, and how; `docs/operators.md` lists the operators of relay;
`docs/numbers.md` says how exactly they are computed, after its text, `numbers.in.md`; `docs/machines.md` says what is
known of processors and what follows from it, after its text, `machines.in.md`; `docs/tir.md` says where what
TVM's TIR has is, after its text, `tir.in.md`; `docs/reading.md` leads through the code and ends with its folders, after
its text, `reading.in.md`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import onnx
from xdsl.dialects.builtin import bf16, f16, f32, f64
from xdsl.ir import Attribute

from weft.dialects.relay import Relay
from weft.dialects.relay.base import Fusion, NonComputational, Pointwise, RelayOp, fusion_pattern
from weft.dialects.relay.precision import Accuracy
from weft.frontend.onnx.control import WITH_GRAPHS
from weft.frontend.onnx.registry import CONVERTERS, FIRST_OPSET, LAST_OPSET
from weft.testing.tolerance import USUAL, epsilon_of

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import house_tables  # noqa: E402
import machine_tables  # noqa: E402
import operator_tables  # noqa: E402
import tir_tables  # noqa: E402

OPERATORS = [op for op in Relay.operations if issubclass(op, RelayOp)]


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def table(head: Sequence[str], rows: Iterator[str]) -> str:
    return "\n".join([row(*head), f"|{'---|' * len(head)}", *rows])


def schemas() -> list[onnx.defs.OpSchema]:
    """The operators of ONNX's own domain, each in its newest form that is understood."""
    newest: dict[str, onnx.defs.OpSchema] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= LAST_OPSET:
            last = newest.get(schema.name)
            if last is None or schema.since_version > last.since_version:
                newest[schema.name] = schema
    return [newest[name] for name in sorted(newest) if not newest[name].deprecated]


def how(schema: onnx.defs.OpSchema) -> str:
    """How an operator is imported."""
    for op in OPERATORS:
        if schema.name in op.ONNX:
            return f"`{op.name}`"
    if schema.name in CONVERTERS:
        return "as relay operators"
    if schema.name in WITH_GRAPHS:
        return "as control flow of relay ([language.md](language.md))"
    if getattr(schema, "has_function") or getattr(schema, "has_context_dependent_function"):  # noqa: B009  untyped
        return "by ONNX's definition of it, where its operators are imported"
    return "-"


def onnx_page() -> str:
    rows = [(schema, how(schema)) for schema in schemas()]
    own = sum(text.startswith(("`", "as")) for _, text in rows)
    return f"""# ONNX operators

Made by `python docs/make_tables.py` with onnx {onnx.__version__}; a test holds it to the code.

Weft itself imports {own} of the {len(rows)} operators of ONNX's own domain, opsets {FIRST_OPSET} to {LAST_OPSET}.
An operator that ONNX defines by others is imported as its definition says. What cannot be imported is refused with the
node's name. A later opset will do where it left the operator as it was. Of domains that Weft does not know:
`docs/extending.md`.

{table(("operator", "as of opset", "imported"), (row(s.name, str(s.since_version), text) for s, text in rows))}

## Other domains

What ONNX Runtime's quantizer and its optimisers write (`com.microsoft`), and parts of two of ONNX's own. An attribute
that changes what an operator means and is not read is refused.

{table(("domain", "operators"), (row(f"`{domain}`", ", ".join(names)) for domain, names in other_domains()))}
"""


def other_domains() -> Iterator[tuple[str, list[str]]]:
    """The operators of domains that are not ONNX's default one."""
    names = sorted(name for name in CONVERTERS if "." in name)
    for domain, found in groupby(names, lambda name: name.rpartition(".")[0]):
        yield domain, [name.rpartition(".")[2] for name in found]


def pattern(op: type[RelayOp]) -> str:
    kind = fusion_pattern(op)
    return "-" if kind is None else Fusion(kind).name.lower()


def facets(op: type[RelayOp]) -> str:
    """What an operator's class says of itself beside its type relation."""
    found = {
        "compute": op.has_compute(),
        "NumPy": op.numpy is not RelayOp.numpy,
        "gradient": op.has_gradient(),
        "layout": op.has_layout_rule() and not op.has_trait(Pointwise),
        "pointwise": op.has_trait(Pointwise),
        "not computed": op.has_trait(NonComputational),
    }
    return ", ".join(what for what, there in found.items() if there) or "-"


def accuracy(op: type[RelayOp]) -> str:
    found = op.accuracy()
    return "-" if found is None else found.name.lower()


ELEMENTS = {"f64": f64, "f32": f32, "f16": f16, "bf16": bf16}


def numbers_page() -> str:
    """After its text: what each accuracy comes to, by element type, and which operators have it."""

    def ulps(each: Accuracy) -> str:
        return f"{each.ulps()}" if each is not Accuracy.SUMMED else f"{each.ulps(0) - 2} + 2 * sqrt(n)"

    def error(each: Accuracy, element: Attribute) -> str:
        return f"{each.error(epsilon_of(element), 64):.1g}" if each.ulps() else "0"

    def named(each: Accuracy) -> str:
        return ", ".join(f"`{op.name.removeprefix('relay.')}`" for op in OPERATORS if op.accuracy() is each)

    kinds = [
        row(each.name.lower(), each.value, ulps(each), *(error(each, element) for element in ELEMENTS.values()))
        for each in Accuracy
    ]
    lists = [row(each.name.lower(), named(each)) for each in Accuracy]
    usual = [row(name, f"{number:.1g}") for name, number in USUAL.items()]
    parts = [
        (DOCS / "numbers.in.md").read_text().rstrip(),
        table(("accuracy", "why", "ulps", *ELEMENTS), iter(kinds)),
        table(("accuracy", "operators"), iter(lists)),
        "Where no graph is at hand, of a saved program or of loops, the element type decides:",
        table(("results of", "part of the largest element"), iter(usual)),
    ]
    return "\n\n".join(parts) + "\n"


def operators_page() -> str:
    named = sorted(OPERATORS, key=lambda op: op.name)
    rows = (row(f"`{op.name}`", pattern(op), facets(op), accuracy(op), ", ".join(op.ONNX) or "-") for op in named)
    return f"""# Operators of relay

Made by `python docs/make_tables.py`; a test holds it to the code. What an operator does, its class says: its docstring
has a formula and an example that the tests run.

There are {len(named)}. The fusion pattern is TVM's. The facets: `compute` is the meaning as tensor expressions, from
which machine code comes; `NumPy` a direct evaluation beside it; with a `gradient` it can be
[differentiated](gradients.md); `layout` is a rule for channels in blocks or packed weights, which `pointwise` operators
have for free. One without `compute` is replaced by others, or runs as control flow. The accuracy says by how much two
computations may differ: [numbers.md](numbers.md).

{table(("operator", "fusion pattern", "facets", "accuracy", "ONNX, one to one"), rows)}

## Of TVM's

These are operators in TVM and none here: something else is the same, or they are left out.

{table(("TVM", "here", "how, or why not"), map(other_row, operator_tables.OTHERS))}
"""


def other_row(each: operator_tables.Other) -> str:
    names = ", ".join(f"`{name}`" for name in each.names)
    return row(names, "made of others" if each.is_there else "left out", each.what)


def node_row(each: tir_tables.Row) -> str:
    names = ", ".join(f"`{name}`" for name in each.names)
    by = ", ".join(f"`{name}`" for name in each.by if name != "builtin.module")
    return row(names, each.state.value, "; ".join(text for text in (by, each.note) if text) or "-")


def tir_page() -> str:
    parts = [(DOCS / "tir.in.md").read_text().rstrip()]
    for title, rows in tir_tables.NODE_TABLES.items():
        parts.append(f"### {title}\n\n{table(('TVM', 'here', 'as'), map(node_row, rows))}")
    count = sum(len(each.names) for each in tir_tables.PASSES)
    parts.append(f"## Passes\n\n{(DOCS / 'tir_passes.in.md').read_text().rstrip()}\n\nTVM's passes on TIR, {count}:")
    parts.append(table(("TVM", "here", "as"), map(node_row, tir_tables.PASSES)))
    return "\n\n".join(parts) + "\n"


def machines_page() -> str:
    """After its text: what is known of processors, then what they choose."""
    of, kernels, layers = machine_tables.PROCESSORS, machine_tables.KERNELS, machine_tables.LAYERS
    near = [each.machine.kept_near >> 10 for each in of.values()]
    known = (row(name, f"`{each.machine}`") for name, each in of.items())
    tiles = (row(name, *(machine_tables.tile(make, each) for each in of.values())) for name, make in kernels.items())
    filterings = (row(str(layer), *map(layer.filtering, of.values())) for layer in layers)
    kept = (row(what, *(f"{size // part} KiB" for size in near)) for what, part in machine_tables.KEPT.items())
    parts = [
        (DOCS / "machines.in.md").read_text().rstrip(),
        table(("processor", "machine"), known),
        "## Register tiles\n\nRows and vectors of the tile that a product of each kind has:",
        table(("kernel", *of), tiles),
        "## Minimal filtering\n\nThe tiles of results by which convolutions of 3x3 taps are computed:",
        table(("layer", *of), filterings),
        "## What stays near\n\nAt most so much is kept in the second cache, and on a thread's stack:",
        table(("of", *of), kept),
    ]
    return "\n\n".join(parts) + "\n"


def reading_page() -> str:
    """After its text: every folder, and what it is for."""
    rows = (row(f"[{each}](../{each})", house_tables.purpose(each)) for each in house_tables.folders())
    return f"{(DOCS / 'reading.in.md').read_text().rstrip()}\n\n{table(('folder', 'holds'), rows)}\n"


PAGES = {
    "machines.md": machines_page,
    "numbers.md": numbers_page,
    "onnx.md": onnx_page,
    "operators.md": operators_page,
    "reading.md": reading_page,
    "tir.md": tir_page,
}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page())


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()

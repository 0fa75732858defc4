"""A module as a graph in Graphviz's language: `weft-opt --emit=dot model.mlir | dot -Tsvg -o model.svg`.

Each operation is a node, with its attributes and the types of its results; what has regions is a box around what stands
in them, and the arguments of their blocks are nodes of their own. An edge goes from what makes a value to each use of
it; that of an operation of several operands, or of several results, says by number which. Counterpart of mlir-opt's
`--view-op-graph`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

HIDDEN = ("function_type", "operandSegmentSizes", "resultSegmentSizes")
"""Attributes that say what the graph shows."""

LONGEST = 48
"""An attribute with more characters than that is cut off; weights are not for reading here."""


def dot(module: ModuleOp) -> str:
    """The graph of a module, as text. What is equal in the module is equal in the text."""
    drawing = _Drawing()
    drawing.line("digraph module {")
    drawing.line("  compound=true;")
    drawing.line('  node [shape=box, fontname="Helvetica", fontsize=10];')
    for block in module.body.blocks:
        drawing.block(block, "  ")
    drawing.edges(module)
    drawing.line("}")
    return "\n".join(drawing.lines) + "\n"


@dataclass
class _Drawing:
    lines: list[str] = field(default_factory=list[str])
    names: dict[SSAValue | Operation, str] = field(default_factory=dict["SSAValue | Operation", str])
    clusters: dict[Operation, str] = field(default_factory=dict[Operation, str])

    def line(self, text: str) -> None:
        self.lines.append(text)

    def block(self, block: Block, indent: str) -> None:
        for argument in block.args:
            name = self._named(argument)
            label = _lines(f"%{argument.name_hint or argument.index}", str(argument.type))
            self.line(f'{indent}{name} [label="{label}", shape=ellipse];')
        for op in block.ops:
            self.operation(op, indent)

    def operation(self, op: Operation, indent: str) -> None:
        name = self._named(op)
        label = _lines(op.name, *_attributes(op), *(_short(str(result.type)) for result in op.results))
        if not op.regions:
            self.line(f'{indent}{name} [label="{label}"];')
            return
        self.clusters[op] = f"cluster_{name}"
        self.line(f"{indent}subgraph cluster_{name} {{")
        self.line(f'{indent}  label="{label}"; labeljust=l; fontname="Helvetica"; fontsize=10;')
        self.line(f'{indent}  {name} [label="", shape=point, style=invis];')
        for number, region in enumerate(op.regions):
            self.region(region, name, number if len(op.regions) > 1 else None, f"{indent}  ")
        self.line(f"{indent}}}")

    def region(self, region: Region, owner: str, number: int | None, indent: str) -> None:
        if number is not None:
            self.line(f'{indent}subgraph cluster_{owner}_{number} {{ label="region {number}"; style=dashed;')
        for block in region.blocks:
            self.block(block, indent)
        if number is not None:
            self.line(f"{indent}}}")

    def edges(self, module: ModuleOp) -> None:
        for op in module.walk():
            for number, operand in enumerate(op.operands):
                owner = operand.owner
                attributes: list[str] = []
                if isinstance(owner, Block):
                    source = self.names[operand]
                else:
                    source = self.names[owner]
                    if len(owner.results) > 1:
                        attributes.append(f'taillabel="{owner.results.index(operand)}"')
                    if owner in self.clusters:
                        attributes.append(f"ltail={self.clusters[owner]}")
                if len(op.operands) > 1:
                    attributes.append(f'headlabel="{number}"')
                if op in self.clusters:
                    attributes.append(f"lhead={self.clusters[op]}")
                said = f" [{', '.join(attributes)}]" if attributes else ""
                self.line(f"  {source} -> {self.names[op]}{said};")

    def _named(self, what: SSAValue | Operation) -> str:
        return self.names.setdefault(what, f"n{len(self.names)}")


def _attributes(op: Operation) -> list[str]:
    """What is said of an operation, an attribute a line; its symbol first, as the name that it is known by."""
    said = {name: value for name, value in {**op.properties, **op.attributes}.items() if name not in HIDDEN}
    symbol = said.pop("sym_name", None)
    first = [f"@{symbol.data}"] if isinstance(symbol, StringAttr) else []
    return [*first, *(_short(f"{name} = {value}") for name, value in said.items())]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _lines(*parts: str) -> str:
    return "\\l".join(part.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for part in parts) + "\\l"

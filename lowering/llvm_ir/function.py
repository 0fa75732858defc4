"""Names, blocks and phis of one function's LLVM IR, and what its module shares with the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from xdsl.dialects import llvm
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.extensions.llvm_loop_annotation import (
    ACCESS_GROUPS,
    LOOP_ANNOTATION,
    AccessGroupAttr,
    LoopAnnotationAttr,
)
from ..loops_to_llvm.types import LoweringError
from .text import loop_properties, type_text

OpEmitter = Callable[["FunctionEmitter", Operation], None]


class ModuleContext:
    """The parts of a module's text that functions share: declarations of intrinsics, attribute groups, metadata."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}
        self.groups: dict[str, int] = {}
        self.metadata: list[str] = []
        self._nodes: dict[str, int] = {}
        self._access_groups: dict[AccessGroupAttr, int] = {}
        self._types: dict[int, str] = {}

    def loop(self, annotation: LoopAnnotationAttr) -> int:
        """The number of new loop metadata: every loop has its own."""
        properties = [self.node(text) for text in loop_properties(annotation)]
        group = annotation.hints().get("parallelAccesses")
        if isinstance(group, AccessGroupAttr):
            properties.append(self.node(f'!"llvm.loop.parallel_accesses", !{self.access_group(group)}'))
        number = len(self.metadata)
        self.metadata.append(f"distinct !{{{', '.join(f'!{node}' for node in (number, *properties))}}}")
        return number

    def access_group(self, group: AccessGroupAttr) -> int:
        """The number of the metadata node of a group of accesses."""
        if group not in self._access_groups:
            self._access_groups[group] = len(self.metadata)
            self.metadata.append("distinct !{}")
        return self._access_groups[group]

    def node(self, text: str) -> int:
        """The number of the metadata node with this content."""
        if text not in self._nodes:
            self._nodes[text] = len(self.metadata)
            self.metadata.append(f"!{{{text}}}")
        return self._nodes[text]

    def group(self, text: str) -> str:
        """The reference to a group of function attributes; none for no attributes."""
        return f" #{self.groups.setdefault(text, len(self.groups))}" if text else ""

    def type(self, type: Attribute) -> str:
        """The text of a type, remembered by the object: hashing a type costs more than printing most."""
        text = self._types.get(id(type))
        if text is None:
            text = self._types[id(type)] = type_text(type)
        return text


class FunctionEmitter:
    """Lines, names and phis of one function."""

    def __init__(self, module: ModuleContext, emitters: Mapping[type[Operation], OpEmitter]):
        self.module = module
        self.type = module.type
        self._emitters = emitters
        self.names: dict[SSAValue, str] = {}
        self.lines: list[str] = []
        self.block = ""
        self._labels: dict[Block, str] = {}
        self._phis: dict[Block, list[tuple[str, list[str]]]] = {}
        self._next = 0

    def emit(self, function: llvm.FuncOp, argument_names: Sequence[str]) -> str:
        order = reverse_postorder(function.body.blocks[0])
        self.names.update(zip(order[0].args, argument_names, strict=True))
        for number, block in enumerate(order):
            self._labels[block] = f"b{number}"
        self._phis = {block: [(self.define(argument), []) for argument in block.args] for block in order[1:]}
        texts: list[tuple[Block, list[str]]] = []
        for block in order:
            self.block, self.lines = self._labels[block], []
            for op in block.ops:
                emitter = self._emitters.get(type(op))
                if emitter is None:
                    raise LoweringError(op, "has no LLVM IR")
                if op.attributes:
                    refuse_unknown(op, op.attributes, _written(op))
                try:
                    emitter(self, op)
                except LoweringError as error:
                    raise error if error.op is not None else LoweringError(op, error.message) from None
            texts.append((block, self.lines))
        return "\n".join(line for block, lines in texts for line in self._block_text(block, lines))

    def _block_text(self, block: Block, lines: list[str]) -> Iterable[str]:
        yield f"{self._labels[block]}:"
        for (name, incoming), argument in zip(self._phis.get(block, ()), block.args, strict=False):
            yield f"  {name} = phi {self.type(argument.type)} {', '.join(incoming)}"
        yield from lines

    def define(self, value: SSAValue) -> str:
        """A new name: the value's hint and a number."""
        name = self.names[value] = self.fresh(value.name_hint or "v")
        return name

    def fresh(self, hint: str) -> str:
        """A name that no other value has."""
        self._next += 1
        return f"%{hint}.{self._next}"

    def typed(self, value: SSAValue) -> str:
        return f"{self.type(value.type)} {self.names[value]}"

    def label(self, block: Block) -> str:
        return f"label %{self._labels[block]}"

    def branch_to(self, block: Block, values: Iterable[str]) -> None:
        """Note what this block hands to the arguments of `block`."""
        for (_, incoming), value in zip(self._phis[block], values, strict=True):
            incoming.append(f"[ {value}, %{self.block} ]")

    def declare(self, name: str, returned: str, arguments: Sequence[str]) -> None:
        if name not in self.module.declarations:
            self.module.declarations[name] = f"declare {returned} @{name}({', '.join(arguments)})"


def refuse_unknown(op: Operation, attributes: Iterable[str], known: Iterable[str]) -> None:
    """Accept the attributes that are written, and Weft's own, which say nothing to LLVM.

    Raises:
        LoweringError: there is another one.
    """
    for key in attributes:
        if key not in known and not key.startswith("weft."):
            raise LoweringError(op, f"the attribute '{key}' has no LLVM IR")


def _written(op: Operation) -> tuple[str, ...]:
    """The attributes of an operation that its emitter writes."""
    if op.name in ("llvm.load", "llvm.store"):
        return (ACCESS_GROUPS,)
    return (LOOP_ANNOTATION,) if op.successors else ()


def reverse_postorder(entry: Block) -> list[Block]:
    """The blocks that can be reached, each after the blocks that dominate it."""
    order: list[Block] = []
    seen, stack = {entry}, [(entry, iter(_successors(entry)))]
    while stack:
        block, successors = stack[-1]
        following = next((successor for successor in successors if successor not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(_successors(following))))
    order.reverse()
    return order


def _successors(block: Block) -> list[Block]:
    """Last first, so that the order has the first successor nearest."""
    return list(reversed(block.last_op.successors)) if block.last_op is not None else []

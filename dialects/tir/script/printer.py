"""From `tir.prim_func` to TVMScript: what is printed parses back to the same function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.dialects.builtin import AffineMapAttr, MemRefType, NoneAttr, StringAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr

from ...support.dense import array_of
from ...support.diagnostics import Diagnostic
from ..affine import simplify
from ..argument_scopes import ARGUMENT_SCOPES, GLOBAL, scope_of_argument
from ..axis_separators import ARGUMENT_SEPARATORS, AXIS_SEPARATORS, axis_separators_of
from ..blocks import BlockOp, IterKind
from ..buffers import AllocBufferOp, memref_of, shape_of
from ..loops import ForKind, ForOp
from ..outer_blocks import OuterBlockOp
from ..storage_sync import StorageSyncOp
from ..symbols import ASSUMED, Extent, as_affine, as_extent, assumed_around, is_symbol, positive_divisors
from . import words
from .attributes import literal_of_all
from .body_printer import BodyPrinter, element_text
from .lone_blocks import is_one_statement, loops_alone
from .texts import affine_text, condition_text, free_python_name, infix

HEADER = "from weft.script import tir as T\n"
WIDTH = 120

_OF_ARGUMENTS = (ARGUMENT_SEPARATORS, ARGUMENT_SCOPES)
"""The attributes of a function that stand with its parameters."""
_AXES = {IterKind.SPATIAL: ("spatial", "S"), IterKind.REDUCE: ("reduce", "R"), IterKind.OPAQUE: ("opaque", "O")}
_LOOPS = {
    ForKind.SERIAL: "serial", ForKind.PARALLEL: "parallel", ForKind.VECTORIZED: "vectorized",
    ForKind.UNROLLED: "unroll", ForKind.THREAD_BINDING: "thread_binding",
}  # fmt: skip


class Function(Protocol):
    """What is printed of a `tir.prim_func`."""

    @property
    def sym_name(self) -> StringAttr: ...
    @property
    def attributes(self) -> dict[str, Attribute]: ...
    @property
    def region(self) -> Region: ...


def script(func: Function) -> str:
    """TVMScript of a function, with the import that it needs.

    Raises:
        Diagnostic: something has no form in TVMScript.
    """
    return f"{HEADER}\n\n{function_text(func)}"


def function_text(func: Function) -> str:
    """One function, with its decorator."""
    return "\n".join(FunctionPrinter(func).lines()) + "\n"


class FunctionPrinter:
    """Prints one function."""

    def __init__(self, func: Function):
        self.func = func
        owner = func.region.parent_op()
        assert owner is not None
        self._op = owner
        self.names: dict[SSAValue, str] = {}
        self.symbols: list[str] = []
        """What the function's arguments are called, by their numbers; then other names that are taken."""

    def lines(self) -> list[str]:
        """The lines of the function."""
        arguments = self.func.region.block.args
        name = free_python_name(self.func.sym_name.data, set())
        for number, argument in enumerate(arguments):
            self._name(argument, argument.name_hint or f"A{number}")
        self.symbols = [self.names[argument] for argument in arguments]
        matches: list[str] = []
        parameters = [self._parameter(argument, matches) for argument in arguments]
        head = f"def {name}({', '.join(parameters)}):"
        if len(head) > WIDTH:
            lines = ["@T.prim_func", f"def {name}(", *(f"    {each}," for each in parameters), "):"]
        else:
            lines = ["@T.prim_func", head]
        attributes = {key: each for key, each in self.func.attributes.items() if key not in _OF_ARGUMENTS}
        if not attributes.pop(ASSUMED, None) or set(assumed_around(self._op)) - set(positive_divisors(self._op)):
            attributes = {key: each for key, each in self.func.attributes.items() if key not in _OF_ARGUMENTS}
        symbol = {"global_symbol": self.func.sym_name} if name != self.func.sym_name.data else {}
        if attributes or symbol:
            lines.append(f"    T.func_attr({literal_of_all({**symbol, **attributes})})")
        body = matches + self._statements(list(self.func.region.block.ops))
        return lines + [f"    {line}" for line in body or ["pass"]]

    def _name(self, value: SSAValue, wanted: str) -> str:
        self.names[value] = free_python_name(wanted, set(self.names.values()))
        return self.names[value]

    def _parameter(self, argument: SSAValue, matches: list[str]) -> str:
        """A buffer, a size, or a handle of a buffer whose extents are sizes, for which `matches` gets a statement."""
        name = self.names[argument]
        if is_symbol(argument):
            return f"{name}: T.int64"
        type = self._type(argument, self._op)
        separators = list(axis_separators_of(argument))
        told = f", {AXIS_SEPARATORS}={separators}" if separators else ""
        if (scope := scope_of_argument(argument)) != GLOBAL:
            told += f', scope="{scope}"'
        if all(isinstance(extent, int) for extent in shape_of(argument)):
            return f"{name}: T.Buffer({type}{told})" if told else f"{name}: T.Buffer[{type}]"
        handle = free_python_name(f"{name}_handle", set(self.names.values()) | set(self.symbols))
        self.symbols.append(handle)
        matches.append(f"{name} = T.match_buffer({handle}, {type}{told})")
        return f"{handle}: T.handle"

    def _extent(self, extent: Extent) -> str:
        return str(affine_text(as_affine(extent), (), self.symbols))

    def _type(self, buffer: SSAValue, op: Operation) -> str:
        """`(16, 16), "float32"`."""
        if not isinstance(buffer.type, MemRefType):
            raise Diagnostic.at(op, f"has no form in TVMScript: an argument is of type {buffer.type}, and no buffer")
        type = memref_of(buffer)
        if not isinstance(type.layout, NoneAttr) or not isinstance(type.memory_space, NoneAttr):
            raise Diagnostic.at(
                op, f"a buffer of type {type} has no form in TVMScript: it has a layout or memory space"
            )
        try:
            return f'{self._shape(shape_of(buffer))}, "{words.type_name(type.element_type)}"'
        except TypeError as error:
            raise Diagnostic.at(op, f"a buffer has no form in TVMScript: {error}") from error

    def _shape(self, extents: Sequence[Extent]) -> str:
        """`(16, n)`."""
        texts = [self._extent(each) for each in extents]
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"

    # statements

    def _statements(self, ops: Sequence[Operation]) -> list[str]:
        lines: list[str] = []
        for op in ops:
            match op:
                case AllocBufferOp() if op.value is not None:
                    shape, _, dtype = self._type(op.buffer, op).rpartition(", ")
                    name = self._name(op.buffer, op.buffer.name_hint or "constant")
                    values = [element_text(each) for each in array_of(op.value).reshape(-1)]
                    said = self._annotations(op)
                    lines.append(f"{name} = T.allocate_const([{', '.join(values)}], {dtype}, {shape}{said})")
                case AllocBufferOp():
                    scope = "" if op.scope.data == "global" else f', scope="{op.scope.data}"'
                    type = self._type(op.buffer, op)
                    separators = f", {AXIS_SEPARATORS}={list(op.axis_separators)}" if op.axis_separators else ""
                    name = self._name(op.buffer, op.buffer.name_hint or "buffer")
                    said = self._annotations(op)
                    word = "allocate" if said else "alloc_buffer"
                    lines.append(f"{name} = T.{word}({type}{scope}{separators}{said})")
                case ForOp():
                    lines += self._loop(op)
                case BlockOp():
                    lines += self._block(op)
                case OuterBlockOp():
                    lines += self._outer_block(op)
                case StorageSyncOp():
                    lines.append(f'T.tvm_storage_sync("{op.scope.data}")')
                case _:
                    raise Diagnostic.at(op, "has no form in TVMScript outside of a block")
        return lines

    def _no_attributes(self, op: Operation) -> None:
        if op.attributes:
            raise Diagnostic.at(op, f"has no form in TVMScript with attributes: {', '.join(op.attributes)}")

    def _annotations(self, op: AllocBufferOp) -> str:
        """What is said of memory, as the last argument."""
        said = op.annotations
        return f", annotations={literal_of_all(said)}" if said else ""

    def _loop(self, op: ForOp) -> list[str]:
        """A loop; those of which each holds nothing but the next are one T.grid."""
        saved = dict(self.names)
        nest = [op]
        while _is_plain(nest[-1]) and isinstance(inner := nest[-1].body.block.first_op, ForOp):
            if inner.next_op is not None or not _is_plain(inner):
                break
            nest.append(inner)
        for loop in nest:
            self._no_attributes(loop)
            self._name(loop.var, loop.var.name_hint or "i")
        variables = ", ".join(self.names[loop.var] for loop in nest)
        if len(nest) > 1:
            over = f"T.grid({', '.join(self._extent(loop.size) for loop in nest)})"
        else:
            over = self._single(op)
        lines = [f"for {variables} in {over}:"]
        body = self._statements(list(nest[-1].body.block.ops))
        self.names = saved
        return lines + [f"    {line}" for line in body or ["pass"]]

    def _single(self, op: ForOp) -> str:
        bounds = [str(op.start)] if op.start else []
        end = as_extent(simplify(as_affine(op.size) + AffineConstantExpr(op.start)))
        arguments = [*bounds, self._extent(end)]
        if op.thread is not None:
            arguments.append(f'thread="{op.thread.data}"')
        if op.annotations is not None:
            arguments.append(f"annotations={literal_of_all(op.annotations.data)}")
        if _is_plain(op):
            return f"range({', '.join(arguments)})"
        return f"T.{_LOOPS[op.for_kind]}({', '.join(arguments)})"

    # blocks

    def _block(self, op: BlockOp) -> list[str]:
        if (statement := self._alone(op)) is not None:
            return statement
        saved = dict(self.names)
        taken = set(self.names.values())
        for number, iterator in enumerate(op.iters):
            self._name(iterator, iterator.name_hint or f"v{number}")
        lines = [f'with T.block("{op.block_name}"):']
        body = self._axes(op)
        if op.conditions:
            variables = [self.names[v] for v in op.loop_vars]
            conditions = [condition_text(each, variables, self.symbols) for each in op.conditions]
            text = conditions[0]
            for each in conditions[1:]:
                text = infix("and", text, each)
            body.append(f"T.where({text})")
        for word, buffers, maps in (("reads", op.reads, op.read_maps), ("writes", op.writes, op.write_maps)):
            regions = [self._region(op, *pair) for pair in zip(buffers, maps, strict=True)]
            body.append(f"T.{word}({', '.join(regions)})")
        if op.attributes:
            body.append(f"T.block_attr({literal_of_all(op.attributes)})")
        if op.init is not None:
            for argument, iterator in zip(op.init.block.args, op.iters, strict=True):
                self.names[argument] = self.names[iterator]
            init = BodyPrinter(op, op.init, self.names, taken | set(self.names.values())).lines()
            body += ["with T.init():", *(f"    {line}" for line in init or ["pass"])]
        body += BodyPrinter(op, op.body, self.names, taken | set(self.names.values())).lines()
        self.names = saved
        return lines + [f"    {line}" for line in body or ["pass"]]

    def _alone(self, op: BlockOp) -> list[str] | None:
        """A block that is a statement among loops, as that: what is read of it is the same block."""
        if (loops := loops_alone(op)) is None:
            return None
        saved, names = dict(self.names), [self.names[loop.var] for loop in loops]
        self.names |= dict(zip(op.iters, names, strict=True))
        lines = BodyPrinter(op, op.body, self.names, set(self.names.values())).lines()
        self.names = saved
        return lines if is_one_statement(lines, names) else None

    def _outer_block(self, op: OuterBlockOp) -> list[str]:
        """A block of loops and blocks; it needs no iterators, as what is in it is bound to loops."""
        saved = dict(self.names)
        body = [f"T.block_attr({literal_of_all(op.attributes)})"] if op.attributes else []
        body += self._statements(list(op.body.block.ops))
        self.names = saved
        return [f'with T.block("{op.block_name}"):', *(f"    {line}" for line in body)]

    def _axes(self, op: BlockOp) -> list[str]:
        """The iterators: in one line where each is a loop's variable and takes all of its values."""
        variables = [self.names[v] for v in op.loop_vars]
        names = [self.names[v] for v in op.iters]
        if not names:
            return []
        texts = [affine_text(binding, variables, self.symbols) for binding in op.bindings.data.results]
        loops = {self.names[v]: v for v in op.loop_vars}
        if all(self._covers(op, number, loops.get(str(text))) for number, text in enumerate(texts)):
            letters = "".join(_AXES[kind][1] for kind in op.kinds)
            return [f'{", ".join(names)} = T.axis.remap("{letters}", [{", ".join(str(each) for each in texts)}])']
        lines: list[str] = []
        for number, (name, text) in enumerate(zip(names, texts, strict=True)):
            partial = ", partial=True" if number in op.partial_iters else ""
            word = _AXES[op.kinds[number]][0]
            lines.append(f"{name} = T.axis.{word}({self._extent(op.sizes[number])}, {text}{partial})")
        return lines

    def _covers(self, op: BlockOp, number: int, var: SSAValue | None) -> bool:
        """Whether an iterator is the variable of a loop that starts at 0 and has the iterator's extent."""
        if var is None or number in op.partial_iters:
            return False
        loop = var.owner.parent_op()
        return isinstance(loop, ForOp) and loop.start == 0 and loop.size == op.sizes[number]

    def _region(self, op: BlockOp, buffer: SSAValue, map: Attribute) -> str:
        """`A[vi, vk]`; all of the buffer where the place depends on data."""
        if isinstance(map, AffineMapAttr):
            names = [self.names[v] for v in op.iters]
            indices = [str(affine_text(each, names, self.symbols)) for each in map.data.results]
        else:
            indices = [f"0:{self._extent(extent)}" for extent in shape_of(buffer)]
        return f"{self.names[buffer]}[{', '.join(indices) or '()'}]"


def _is_plain(loop: ForOp) -> bool:
    """Whether a loop is serial and starts at 0, and nothing is said of it."""
    return loop.for_kind == ForKind.SERIAL and loop.start == 0 and loop.annotations is None and not loop.attributes

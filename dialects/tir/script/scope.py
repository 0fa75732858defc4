"""What names mean in a function's text: its own loops, iterators, buffers and values, else Python's."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from ...support.dense import dense_of
from ...support.diagnostics import did_you_mean
from ..blocks import IterKind
from ..buffers import AllocBufferOp, memref_of, memref_type
from ..loops import ForOp
from ..symbols import Extent
from .emitter import Value
from .source import Source

MARK = "__tvmscript__"
"""What a module or object has whose attributes are TVMScript's words: `T`."""


VARIABLE = "__tvmscript_var__"
"""What a function beside these words has that gives a variable: `te.var`."""


class Words:
    """Stands for the namespace `T` where its module is not at hand."""

    __tvmscript__ = True


@dataclass(frozen=True)
class Handle:
    """A parameter that `T.match_buffer` has not been told of yet."""

    name: str


@dataclass(frozen=True)
class Buffer:
    """A buffer, and whether its integers have no sign."""

    ssa: SSAValue
    unsigned: bool = False
    is_scalar: bool = False
    """Whether its name means its only element."""

    @property
    def type(self) -> MemRefType[Attribute]:
        return memref_of(self.ssa)

    @property
    def extents(self) -> list[int | None]:
        """Its extents; `None` for those that depend on sizes."""
        return [None if extent == DYNAMIC_INDEX else extent for extent in self.type.get_shape()]


@dataclass(frozen=True)
class Symbol:
    """A size that is known when the function is called: an index argument, by its number."""

    position: int
    ssa: SSAValue | None = None


@dataclass(frozen=True)
class Iterator:
    """An iterator of the block that is being read, by number."""

    number: int
    start: int = 0
    """Its first value in the text: iterators of blocks begin at 0."""


@dataclass(frozen=True)
class OuterIterator:
    """An iterator of a block of loops and blocks around, or the variable of a loop that begins at a size: an expression
    over the variables of loops."""

    kind: IterKind
    extent: Extent
    """Where its values end, which begin at `start`."""
    expr: AffineExpr
    variables: tuple[SSAValue, ...]
    start: int = 0
    is_partial: bool = False
    """Whether it does not take all of them."""


@dataclass(frozen=True)
class Constant:
    """A Python value that the text has given a name."""

    value: object


Local: TypeAlias = ForOp | Handle | Buffer | Iterator | OuterIterator | Symbol | Value | Constant


class NotStatic(Exception):
    """An expression has no value before the function runs."""


_HARMLESS = {
    name: getattr(builtins, name)
    for name in ("abs", "bool", "float", "int", "len", "list", "max", "min", "range", "str", "sum", "tuple", "zip")
}
"""Python's functions that text without a module may use."""


@dataclass
class Scope:
    """Names and their meanings."""

    source: Source
    python: Mapping[str, object]
    local: dict[str, Local] = field(default_factory=dict[str, Local])
    layouts: frozenset[str] = frozenset()
    """Names of strides and offsets of buffers (`layouts`)."""
    declared: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    """The types of variables that `T.let` gives their values (`plain`)."""
    texts: dict[str, AllocBufferOp] = field(default_factory=dict[str, AllocBufferOp])
    """Texts that functions of C are handed, as their bytes and a 0: the constants of the function."""

    @staticmethod
    def of_function(function: Callable[..., object]) -> Mapping[str, object]:
        """The Python names that a function sees."""
        closure = inspect.getclosurevars(function)
        # what is only used in annotations or nested functions is no closure variable: the module's names are all here
        module = getattr(function, "__globals__", {})
        return {**vars(builtins), **module, **closure.nonlocals}

    def is_words(self, node: ast.expr) -> bool:
        """Whether a node is the namespace `T`."""
        try:
            found = self._python(node)
        except NotStatic:
            return False
        return getattr(found, MARK, False) is True

    def _python(self, node: ast.expr) -> object:
        """What a name or an attribute of one is in Python."""
        match node:
            case ast.Name(id=name) if name not in self.local and name in self.python:
                return self.python[name]
            case ast.Attribute(value=inner, attr=name):
                found = self._python(inner)
                try:
                    return getattr(found, name)
                except AttributeError as error:
                    raise NotStatic from error
            case _:
                raise NotStatic

    def word(self, node: ast.expr) -> str | None:
        """`T.axis.remap` as `axis.remap`; `None` for what is no word of TVMScript."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.append(node.attr)
            node = node.value
            if self.is_words(node):
                return ".".join(reversed(path))
        return None

    def gives_variable(self, function: ast.expr) -> bool:
        """Whether a function is `T.var`, or `te.var`."""
        if self.word(function) == "var":
            return True
        try:
            return getattr(self._python(function), VARIABLE, False) is True
        except NotStatic:
            return False

    def static(self, node: ast.expr) -> object:
        """The Python value of an expression.

        Raises:
            NotStatic: it needs what is known only when the function runs.
            Diagnostic: Python fails to compute it.
        """
        if isinstance(node, ast.Constant):
            return node.value
        names: dict[str, object] = {}
        bound = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for inner in ast.walk(node):
            if not isinstance(inner, ast.Name) or inner.id in bound:
                continue
            found = self.local.get(inner.id)
            if isinstance(found, Constant):
                names[inner.id] = found.value
            elif found is not None or inner.id not in self.python or self.is_words(inner):
                raise NotStatic
            else:
                names[inner.id] = self.python[inner.id]
        names["__builtins__"] = {}
        try:
            return eval(compile(ast.Expression(body=node), self.source.file, "eval"), names)
        except Exception as error:
            raise self.source.error(node, f"Python cannot compute this: {type(error).__name__}: {error}") from error

    def text(self, text: str) -> SSAValue:
        """The constant that a text is to a function of C."""
        if (found := self.texts.get(text)) is None:
            data = np.frombuffer(text.encode() + b"\0", np.int8)
            type = memref_type(IntegerType(8), (len(data),))
            found = self.texts[text] = AllocBufferOp(type, value=dense_of(data, type.element_type))
            found.buffer.name_hint = "text"
        return found.buffer

    def unknown(self, node: ast.Name) -> Exception:
        """That a name means nothing."""
        hint = did_you_mean(node.id, [*self.local, *self.python])
        return self.source.error(node, f"'{node.id}' is not defined", hint)


def harmless() -> Mapping[str, object]:
    """The Python names that text sees which stands in no module."""
    return dict(_HARMLESS)

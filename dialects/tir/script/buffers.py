"""Buffers in the text: `T.Buffer[(16, 16), "float32"]`, `T.match_buffer`, `T.alloc_buffer`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ...support.dense import dense_of
from ...support.diagnostics import did_you_mean
from ...support.dtypes import numpy_dtype
from ...support.python_values import attribute_of
from ..axis_separators import AXIS_SEPARATORS, separators_in, verify_separators
from ..buffers import memref_type
from ..symbols import Extent
from . import words
from .arguments import Arguments
from .layouts import dense_strides
from .loop_indices import ShapeExtents
from .scope import Constant, NotStatic, Scope

PARAMETERS = (
    "data", "strides", "elem_offset", "scope", "align", "offset_factor", "buffer_type", "axis_separators",
)  # fmt: skip
"""What else a buffer is described by in TVM. A buffer of Weft's is dense and starts where its memory does."""
DENSE: dict[str, tuple[object, ...]] = {
    "data": (None,), "strides": (None, []), "elem_offset": (None, 0), "align": (None, -1, 0, 4, 8, 16, 32, 64),
    "offset_factor": (None,), "buffer_type": (None, "", "default", "auto"),
}  # fmt: skip
"""The values that say nothing else than that."""


@dataclass(frozen=True)
class Described:
    """What the text says of a buffer."""

    element: Attribute
    shape: tuple[Extent, ...]
    unsigned: bool
    axis_separators: tuple[int, ...] = ()
    """The dimensions at which others of memory begin."""
    scope: str = "global"

    @property
    def type(self) -> MemRefType[Attribute]:
        return memref_type(self.element, self.shape)


def _shape(scope: Scope, node: ast.expr) -> tuple[Extent, ...]:
    """The extents of a buffer."""
    if not isinstance(node, ast.Tuple | ast.List):
        try:
            given = scope.static(node)
        except NotStatic:
            given = None
        if isinstance(given, tuple | list):
            node = ast.copy_location(ast.Tuple([ast.Constant(each) for each in given], ast.Load()), node)  # pyright: ignore
            ast.fix_missing_locations(node)
    extents: list[Extent] = []
    for each in node.elts if isinstance(node, ast.Tuple | ast.List) else [node]:
        extent = ShapeExtents(scope).extent(each)
        if isinstance(extent, int) and extent < 0:
            raise scope.source.error(each, f"an extent is not negative: {extent}")
        extents.append(extent)
    return tuple(extents)


def _is_layout(scope: Scope, arguments: Arguments, parameter: str, first: Sequence[str]) -> bool:
    """Whether strides or an offset are those of a dense buffer, by numbers or by names, which are these numbers then;
    of a part of a buffer, names say nothing."""
    node = arguments.given.get(parameter)
    if node is None:
        return False
    given = list(node.elts) if isinstance(node, ast.List | ast.Tuple) else [node]
    named = [each.id for each in given if isinstance(each, ast.Name) and each.id in scope.layouts]
    if "buffer" in first:
        return bool(named) and len(named) == len(given)
    dense: list[int | None] = (
        [0] if parameter == "elem_offset" else dense_strides(_shape(scope, arguments.given["shape"]))
    )
    if len(given) != len(dense) or not given:
        return False
    for each, value in zip(given, dense, strict=True):
        if isinstance(each, ast.Name) and each.id in scope.layouts:
            if value is not None:
                scope.local[each.id] = Constant(value)
        elif value is None or arguments.literal(each) != value:
            return False
    return True


def _is_promise(arguments: Arguments) -> bool:
    """Whether `offset_factor` says that an offset is a multiple of a number: of a dense buffer, it is."""
    given = arguments.static("offset_factor", None)
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0


def constant_of(data: object, type: MemRefType[Attribute]) -> DenseIntOrFPElementsAttr:
    """A value for a buffer from Python's lists or an array; a list that is not nested holds the elements in order.

    Raises:
        TypeError, ValueError, OverflowError: it does not fit.
    """
    dtype = numpy_dtype(type.element_type)
    array = np.asarray(data)
    if array.dtype.kind == "f" and dtype.kind in "iu":
        raise TypeError("it has fractions")
    if array.dtype.kind in "iu" and dtype.kind in "iu" and array.itemsize > dtype.itemsize:
        wide = np.dtype(dtype.name.removeprefix("u"))
        low, high = np.iinfo(wide).min, 2 * np.iinfo(wide).max + 1
        if array.size and not low <= int(array.min()) <= int(array.max()) <= high:
            raise OverflowError(f"a number does not fit {dtype.name}")
    return dense_of(array.astype(dtype).reshape(type.get_shape()), type.element_type)


SIZES = ("int32", "int64", "index")
"""What parameters that are sizes are annotated with."""


def is_size(scope: Scope, node: ast.expr | None) -> bool:
    """Whether a parameter is a size that extents may speak of."""
    return node is not None and scope.word(node) in SIZES


def _is_text(scope: Scope, node: ast.expr) -> bool:
    """Whether an expression is a text that is known here, as a dtype is and an extent is not."""
    try:
        return isinstance(scope.static(node), str)
    except NotStatic:
        return False


def annotated(scope: Scope, node: ast.expr) -> Described | None:
    """The buffer that a parameter is annotated with; `None` where it is a handle.

    Raises:
        Diagnostic: it is annotated with something else.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.copy_location(ast.parse(node.value, mode="eval").body, node)
    match node:
        case ast.Subscript(value=base) if scope.word(base) == "Buffer":
            given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if len(given) == 2 and isinstance(given[0], ast.Tuple | ast.List):
                call = ast.Call(base, list(given), [])
            else:  # T.Buffer[16, "float32"], T.Buffer[(16,)]
                last = given[-1]
                named = len(given) > 1 and _is_text(scope, last)
                shape = (
                    given[0] if len(given) - named == 1 else ast.Tuple(list(given[: len(given) - named]), ast.Load())
                )
                call = ast.Call(base, [shape, last] if named else [shape], [])
            return described(scope, ast.copy_location(call, node), "T.Buffer", ())
        case ast.Call(func=base) if scope.word(base) == "Buffer":
            return described(scope, node, "T.Buffer", ())
        case _ if scope.word(node) == "handle":
            return None
        case ast.Call(func=base) if scope.word(base) == "handle":
            return None
        case _ if (word := scope.word(node)) is not None and words.ALIASES.get(word, word) in words.DTYPES:
            word = words.ALIASES.get(word, word)
            return Described(words.element_type(word), (), word.startswith("uint"))
        case _:
            hint = 'such as T.Buffer[(16, 16), "float32"], or T.handle and T.match_buffer'
            raise scope.source.error(node, f"a parameter is a buffer, not {ast.unparse(node)}", hint)


def described(scope: Scope, call: ast.Call, name: str, first: Sequence[str]) -> Described:
    """The buffer that the arguments of a call describe, after those named `first`.

    Raises:
        Diagnostic: it is none, or laid out in a way that Weft has no buffers of.
    """
    arguments = Arguments(scope, call, name)
    arguments.nodes(*first, "shape", optional=("dtype", *PARAMETERS))
    for parameter, values in DENSE.items():
        if parameter in ("strides", "elem_offset") and _is_layout(scope, arguments, parameter, first):
            continue
        if parameter == "offset_factor" and _is_promise(arguments):
            continue
        given = arguments.static(parameter, None)
        if not any(given == value and type(given) is type(value) for value in values):
            node = arguments.given[parameter]
            raise scope.source.error(node, f"{name}: {parameter} = {given!r}, but a buffer is dense and starts at 0")
    storage = arguments.static("scope", "global") or "global"
    if not isinstance(storage, str):
        raise scope.source.error(arguments.given["scope"], f"{name}: a scope has a name, and {storage!r} is none")
    dtype = arguments.static("dtype", "float32")
    if not isinstance(dtype, str) or dtype not in words.DTYPES:
        hint = did_you_mean(str(dtype), words.DTYPES) or f"known: {', '.join(words.DTYPES)}"
        raise scope.source.error(call, f"there is no dtype {dtype!r}", hint)
    shape = _shape(scope, arguments.given["shape"])
    separators = () if "buffer" in first else _separators(arguments, name, len(shape))  # of a part they say nothing
    return Described(words.element_type(dtype), shape, dtype.startswith("uint"), separators, storage)


def _separators(arguments: Arguments, name: str, rank: int) -> tuple[int, ...]:
    """What is said of the dimensions of memory.

    Raises:
        Diagnostic: it is no list of dimensions.
    """
    given = arguments.static(AXIS_SEPARATORS, None)
    if given is None:
        return ()
    try:
        found = separators_in(attribute_of(given))
        verify_separators(found, rank)
    except (TypeError, VerifyException):
        hint = f"numbers that ascend from 1 to below the rank, {rank}"
        message = f"{name}: {AXIS_SEPARATORS} = {given!r} are no dimensions of the buffer"
        raise arguments.scope.source.error(arguments.given[AXIS_SEPARATORS], message, hint) from None
    return found

"""The heap and the frames of a program that branches and calls: `heap.mlir` beside this file, and its layout."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from importlib.resources import files

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from ...dialects.extensions.llvm import Llvm
from ...dialects.support.alignment import aligned

NEW, RELEASE, END, GROW = "weft_heap_new", "weft_heap_release", "weft_heap_end", "weft_heap_grow"

TAG_AT, DATA_AT, ELEMENTS_AT = 24, 32, 64
"""Where in a value its tag, the address of a tensor's elements or the first field, and a tensor's own elements are."""
BACK_AT, FIRST_AT, FRAMES_AT, FRAMES_END_AT, CHUNKS_AT, ROOM_AT, ROOM_END_AT, KEPT_AT = 8, 16, 24, 32, 40, 48, 56, 64
"""Where in a machine what is."""
MACHINE_BYTES = KEPT_AT + 8 * 32
ROOM_BYTES = 4096
"""The bytes on the stack that a call's first values are cut from."""
FIELDS_LIMIT = 1 << 24
"""So many other values, and more, no value refers to."""
DIMS_AT, SHORT_RANK = 40, 3
"""Where in a tensor its extents are, in a program with open ones; its own elements stand further behind where there are
more than so many."""
FRAMES_LIMIT = 1 << 28
"""The bytes that frames may take: a recursion without an end fails when it has come so deep."""


def elements_at(rank: int) -> int:
    """Where the elements of a tensor of a rank stand."""
    return ELEMENTS_AT if rank <= SHORT_RANK else aligned(DIMS_AT + 8 * rank)


@lru_cache(maxsize=1)
def _module() -> ModuleOp:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Llvm)
    name = "heap.mlir"
    text = files(__name__.rpartition(".")[0]).joinpath(name).read_text("utf-8")
    return Parser(context, text, name).parse_module()


def heap_functions(taken: Collection[str]) -> list[llvm.FuncOp]:
    """The functions of the heap, without what a module has `taken` already."""
    return [op.clone() for op in _module().ops if isinstance(op, llvm.FuncOp) and op.sym_name.data not in taken]

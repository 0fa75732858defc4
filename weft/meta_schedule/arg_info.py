"""What a function is called with (`tvm.meta_schedule.arg_info`): for measuring it on arrays of those shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.arguments import checked, checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.dtypes import dtype_name
from ..dialects.support.hints import isa
from ..dialects.tir.buffers import memref_of, shape_of
from ..dialects.tir.functions import PrimFuncOp
from ..dialects.tir.script.modules import IRModule
from ..dialects.tir.symbols import is_symbol

Json: TypeAlias = "list[str | list[int]]"
"""A word for the kind, a dtype and a shape."""


class ArgInfo:
    """What an argument is. Counterpart of TVM's `ArgInfo`."""

    def as_json(self) -> Json:
        """As a list that JSON can hold."""
        raise NotImplementedError

    @staticmethod
    @checked
    def from_json(json_obj: Sequence[object]) -> ArgInfo:
        """What `as_json` has given.

        Raises:
            UsageError: it has given no such list.
        """
        match json_obj:
            case [TensorInfo.WORD, str(dtype), shape] if isa(shape, list[int]):
                return TensorInfo(dtype, shape)
            case _:
                raise UsageError(f"{list(json_obj)} describes no argument", hint=f'["{TensorInfo.WORD}", dtype, shape]')

    @staticmethod
    @checked
    def from_prim_func(func: PrimFuncOp) -> list[TensorInfo]:
        """The arguments of a function, in order.

        Raises:
            UsageError: a shape is known only when the function is called.
        """
        found: list[TensorInfo] = []
        for argument in func.region.block.args:
            if is_symbol(argument):
                continue
            shape = [extent for extent in shape_of(argument) if isinstance(extent, int)]
            if len(shape) < len(shape_of(argument)):
                name = argument.name_hint or argument.index
                raise UsageError(
                    f"the shape of '{name}' is known only when the function is called", hint="specialize it"
                )
            found.append(TensorInfo(dtype_name(memref_of(argument).element_type), shape))
        return found

    @staticmethod
    @checked
    def from_entry_func(mod: ModuleOp, remove_preproc: bool = True) -> list[TensorInfo]:
        """The arguments of a module's only function, or of its `main`.

        Raises:
            UsageError: it has none of these, or `from_prim_func` refuses it.
        """
        functions = IRModule.of(mod).functions
        if (entry := functions.get("main") if len(functions) != 1 else next(iter(functions.values()))) is None:
            raise UsageError("the module has several functions, and none is called main")
        return ArgInfo.from_prim_func(entry)


@checked_methods
@dataclass(frozen=True)
class TensorInfo(ArgInfo):
    """An argument that is a tensor.

    Args:
        dtype: of an element.
        shape: the extents.
    """

    WORD: ClassVar[str] = "TENSOR"

    dtype: str
    shape: tuple[int, ...]

    def __init__(self, dtype: str, shape: Sequence[int]):
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "shape", tuple(shape))

    def as_json(self) -> Json:
        return [self.WORD, self.dtype, list(self.shape)]

    def __str__(self) -> str:
        return f'TensorInfo("{self.dtype}", {list(self.shape)})'

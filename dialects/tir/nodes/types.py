"""TVM's types of variables (`tvm.ir`): of numbers, and of the memory that handles lead to."""

from __future__ import annotations

from dataclasses import dataclass

from ...support.arguments import checked
from ...te.element_types import vector_type


@dataclass(frozen=True)
class PrimType:
    """The type of a number, or of a vector of them: `PrimType("float32")`.

    Raises:
        UsageError: there is no such dtype.
    """

    dtype: str

    @checked
    def __init__(self, dtype: str):
        if dtype not in ("handle", "void"):
            vector_type(dtype)
        object.__setattr__(self, "dtype", dtype)

    def script(self, *, verbose_expr: bool = False) -> str:
        """The type in TVMScript, which names nothing that `verbose_expr` would have to define."""
        return f"T.{self.dtype}"


@dataclass(frozen=True)
class PointerType:
    """The type of a handle: memory of elements of a type, in a storage scope. `tir.Var("p", PointerType(...))`."""

    element_type: PrimType
    storage_scope: str

    @checked
    def __init__(self, element_type: PrimType, storage_scope: str = ""):
        object.__setattr__(self, "element_type", element_type)
        object.__setattr__(self, "storage_scope", storage_scope)

    def script(self, *, verbose_expr: bool = False) -> str:
        """The type in TVMScript, which names nothing that `verbose_expr` would have to define."""
        scope = f', "{self.storage_scope}"' if self.storage_scope else ""
        return f'T.Ptr("{self.element_type.dtype}"{scope})'

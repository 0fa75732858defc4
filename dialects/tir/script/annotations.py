"""What Python evaluates of a function's text before it is read: the types of its parameters."""

from __future__ import annotations

from typing import Any


class Buffer:
    """`T.Buffer[(16, 16), "float32"]` or `T.Buffer((16, 16), "float32")`: the type of a parameter that is a buffer."""

    def __init__(self, shape: object, dtype: str = "float32", **how: object):
        self.shape = shape
        self.dtype = dtype
        self.how = how

    def __class_getitem__(cls, described: object) -> Any:
        return cls(*described) if isinstance(described, tuple) and len(described) == 2 else cls(described)  # pyright: ignore

    def __getitem__(self, place: object) -> Any:
        raise TypeError("a buffer's elements are read where @T.prim_func reads the text, and not by Python")


class handle:
    """`T.handle`: the type of a parameter that `T.match_buffer` describes."""


class int32(int):
    """`T.int32`: the type of a parameter that is a size; where Python computes, `T.int32(8)` is the number."""


class int64(int):
    """`T.int64`: the type of a parameter that is a size; where Python computes, `T.int64(8)` is the number."""

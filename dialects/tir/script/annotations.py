"""What Python evaluates of a function's text before it is read: the types of its parameters."""

from __future__ import annotations

import builtins
from typing import Any, ClassVar


class Buffers(type):
    """The class of `T.Buffer`."""

    nodes: ClassVar[tuple[type, ...]] = ()
    """What else is a buffer (`nodes.buffers`)."""

    def __instancecheck__(cls, value: object) -> builtins.bool:
        return super().__instancecheck__(value) or isinstance(value, cls.nodes)


class Buffer(metaclass=Buffers):
    """`T.Buffer[(16, 16), "float32"]` or `T.Buffer((16, 16), "float32")`: the type of a parameter that is a buffer.
    `isinstance(A, tir.Buffer)` tells nodes that are buffers, too."""

    READ: ClassVar[int] = 1
    WRITE: ClassVar[int] = 2
    """TVM's numbers of what is done with memory, in `access_ptr`; their sum is both."""

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


class Ptr:
    """`T.Ptr("float32")` or `T.Ptr[T.float32]`: the type of a parameter that is memory, of which a buffer's declaration
    (`T.Buffer((16,), data=A)`) says how large it is."""

    def __init__(self, dtype: object, storage_scope: str = "global"):
        self.dtype = dtype
        self.storage_scope = storage_scope

    def __class_getitem__(cls, described: object) -> Any:
        return cls(*described) if isinstance(described, tuple) and len(described) == 2 else cls(described)  # pyright: ignore


class int32(int):
    """`T.int32`: the type of a parameter that is a size; where Python computes, `T.int32(8)` is the number."""


class int64(int):
    """`T.int64`: the type of a parameter that is a size; where Python computes, `T.int64(8)` is the number."""


class int8(int):
    """`T.int8`: where Python computes, `T.int8(8)` is the number."""


class int16(int):
    """`T.int16`: where Python computes, `T.int16(8)` is the number."""


class uint8(int):
    """`T.uint8`: where Python computes, `T.uint8(8)` is the number."""


class uint16(int):
    """`T.uint16`: where Python computes, `T.uint16(8)` is the number."""


class uint32(int):
    """`T.uint32`: where Python computes, `T.uint32(8)` is the number."""


class uint64(int):
    """`T.uint64`: where Python computes, `T.uint64(8)` is the number."""


class bool(int):
    """`T.bool`: where Python computes, `T.bool(True)` is the number."""


class float16(float):
    """`T.float16`: where Python computes, `T.float16(0.5)` is the number."""


class float32(float):
    """`T.float32`: where Python computes, `T.float32(0.5)` is the number."""


class float64(float):
    """`T.float64`: where Python computes, `T.float64(0.5)` is the number."""


boolean = bool

"""The annotations of loops and blocks that have a meaning, with the types of their values.

What TVM says by an attribute statement around a part of a function (`AttrStmt`) is said here by the loop or block
itself. Other keys may stand beside these; they are kept, and mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ..support.hints import isa

LAYOUT_FREE_BUFFERS = "layout_free_buffers"
"""The attribute of a function that says which of its parameters, by number, may lie in memory in any order."""


def _is_natural(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and value.value.data >= 0


def _is_power(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and (n := value.value.data) >= 2 and n & (n - 1) == 0


def _is_flag(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and value.value.data in (0, 1, -1)


def _are_integers(value: Attribute) -> bool:
    return isa(value, ArrayAttr[IntegerAttr])


_NATURAL = ("a number that is not negative", _is_natural)
_FLAG = ("0 or 1", _is_flag)
_INTEGERS = ("an array of integers", _are_integers)

KEYS: Mapping[str, tuple[str, Callable[[Attribute], bool]]] = {
    "lanes": ("a power of two from 2 on", _is_power),
    "pragma_auto_unroll_max_step": _NATURAL,
    "pragma_unroll_explicit": _FLAG,
    "pragma_loop_partition_hint": _FLAG,
    "software_pipeline_stage": _INTEGERS,
    "software_pipeline_order": _INTEGERS,
    "software_pipeline_async_stages": _INTEGERS,
    "double_buffer_scope": _NATURAL,
    "tir.manifest_shared_memory_local_stage": _FLAG,
}
"""Each key with what its value is, in words and as a test."""


def verify_annotations(annotations: Mapping[str, Attribute]) -> None:
    """Check the values of the keys that have a meaning.

    Raises:
        VerifyException: one is of another type.
    """
    for key, value in annotations.items():
        known = KEYS.get(key)
        if known is not None and not known[1](value):
            raise VerifyException(f"the annotation '{key}' is {known[0]}, not {value}")

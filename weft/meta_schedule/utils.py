"""What classes of one's own need under TVM's names (`tvm.meta_schedule.utils`)."""

from __future__ import annotations

from typing import TypeVar, cast
from weakref import ref

Class = TypeVar("Class", bound=type)


def derived_object(cls: Class) -> Class:
    """A decorator for a class that is derived from one of TVM's (`PyScheduleRule`, `PyDatabase`): `cls`, in which what
    TVM calls otherwise has Weft's name too. Without it such a class is as good, as long as it uses Weft's names.

    `_initialize_with_tune_context` is `initialize_with_tune_context`; `self._outer()` is the object itself.
    """
    members = cast("dict[str, object]", vars(cls))
    if "_initialize_with_tune_context" in members and "initialize_with_tune_context" not in members:
        setattr(cls, "initialize_with_tune_context", members["_initialize_with_tune_context"])  # noqa: B010
    if "_outer" not in members:
        setattr(cls, "_outer", property(ref))  # noqa: B010
    return cls

"""Tags: what a person says of computations, for schedules of their own to tell them by.

with te.tag_scope("conv2d"):
    y = te.compute(...)
y.op.tag                                # "conv2d"
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from ..support.arguments import checked
from ..support.diagnostics import UsageError
from .tensor import Tensor

ELEMWISE, BROADCAST, INJECTIVE, COMM_REDUCE = "elemwise", "broadcast", "injective", "comm_reduce"
"""What computations of whole tensors are tagged with: each element is made of one of another tensor, or of several; is
one, at another place; or is combined from many."""

_current: ContextVar[str] = ContextVar("tag", default="")


class NestedTagError(UsageError, ValueError):
    """A `tag_scope` stands within another one."""


@checked
@contextmanager
def tag_scope(tag: str) -> Generator[None]:
    """Give computations that are made within it a tag, if they do not say one; a `with`, or a decorator.

    Raises:
        NestedTagError: it stands within another one.
    """
    if before := _current.get():
        raise NestedTagError(f"te.tag_scope({tag!r}) stands within te.tag_scope({before!r})", hint="tags do not nest")
    token = _current.set(tag)
    try:
        yield
    finally:
        _current.reset(token)


def current_tag() -> str:
    """That of the `tag_scope` around, or nothing."""
    return _current.get()


def tagged(tensor: Tensor, tag: str, attrs: Mapping[str, object] | None) -> Tensor:
    """A tensor of which these are said; without a tag that of the `tag_scope` around."""
    tag = tag or _current.get()
    if tensor.producer is None or not (tag or attrs):
        return tensor
    return replace(tensor, producer=replace(tensor.producer, tag=tag, attrs=dict(attrs or {})))

"""Passes by name, ready to be called: xDSL's and plug-ins' come as Weft's do."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from ...dialects.support.arguments import checked
from .passes import Pass
from .registry import get_pass_type

if TYPE_CHECKING:
    from .registry import PassType


@checked
def get_pass(name: str, **options: str | bool | float | tuple[str | bool | float, ...] | None) -> Pass:
    """An instance of a pass by name, with options as keyword arguments; xDSL's passes come adapted to `Pass`.

    Raises:
        UnknownPassError: there is no such pass.
    """
    return adapted(get_pass_type(name))(**options)


@cache
def adapted(cls: PassType) -> type[Pass]:
    """`cls` itself, or for a pass from elsewhere a subclass that can be called on a module as Weft's can."""
    if issubclass(cls, Pass):
        return cls
    namespace = {"__doc__": cls.__doc__, "__module__": cls.__module__}
    return cast("type[Pass]", type(cls.__name__, (cls, Pass), namespace))  # pyright: ignore[reportGeneralTypeIssues]

"""What Weft adds to xDSL: found by `xdsl-opt`, `weft-opt` and any xDSL tool through the `xdsl.universe` entry point."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass
from xdsl.universe import Universe

from . import lowering
from .dialects import get_all_dialects
from .transforms import mem as mem_passes
from .transforms import relay as relay_passes
from .transforms import tir as tir_passes
from .transforms.infra.registry import add_universe


def _loader(package: str, where: str) -> Callable[[], type[ModulePass]]:
    module, name = where.split(":")
    return lambda: getattr(import_module(f"{package}.{module}"), name)


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Weft's own passes: name -> function that imports and returns the class."""
    return {
        name: _loader(package.__name__, where)
        for package in (relay_passes, tir_passes, mem_passes, lowering)
        for name, where in package.PASSES.items()
    }


WEFT_UNIVERSE = Universe(all_dialects=get_all_dialects(), all_passes=get_all_passes())
add_universe(WEFT_UNIVERSE)

"""Where TVM has it: `from weft.script import tir as T`, `@ir_module` on a class of functions, and `ir_builder`."""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from .. import tir as tir
    from ..dialects.tir.script.modules import ir_module as ir_module
    from ..dialects.tir.script.parser import from_source as from_source
    from . import ir_builder as ir_builder
    from . import parser as parser

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)

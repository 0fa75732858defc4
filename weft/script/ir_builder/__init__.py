"""Functions of TVMScript's words, run as Python (`tvm.script.ir_builder`).

from weft.script.ir_builder import IRBuilder
from weft.script.ir_builder import tir as T

with IRBuilder() as ib:
    with T.prim_func():
        A = T.arg("A", T.Buffer((16,), "float32"))
        with T.serial(16) as i:
            T.buffer_store(A, 0.0, [i])
function = ib.get()
"""

from typing import TYPE_CHECKING

from ...dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from ...dialects.tir.nodes.frames import IRBuilder as IRBuilder
    from . import ir as ir
    from . import tir as tir

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)

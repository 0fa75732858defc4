"""Tensor intrinsics of processors under TVM's names (`tvm.tir.tensor_intrin`): what each computes at once, as a
function that says what, and one that says how."""

from typing import TYPE_CHECKING

from ...dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from . import arm_cpu as arm_cpu
    from . import cuda as cuda
    from . import hexagon as hexagon
    from . import rocm as rocm
    from . import x86 as x86

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)

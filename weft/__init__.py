"""Weft: a tensor compiler whose every stage is an xDSL dialect.

    exe = weft.compile("model.onnx")
    y = exe(x)

Names are imported from their modules when they are first asked for: `import weft` loads neither NumPy nor LLVM.
"""

from typing import TYPE_CHECKING

from .dialects.support.lazy import lazy_names
from .dialects.support.provided import provide

if TYPE_CHECKING:
    from . import _ffi as _ffi
    from . import arith as arith
    from . import error as error
    from . import frontend as frontend
    from . import graph_executor as graph_executor
    from . import instrument as instrument
    from . import ir as ir
    from . import meta_schedule as meta_schedule
    from . import nd as nd
    from . import parser as parser
    from . import relay as relay
    from . import runtime as runtime
    from . import schedules as schedules
    from . import strategies as strategies
    from . import targets as targets
    from . import te as te
    from . import tir as tir
    from . import topi as topi
    from . import transform as transform
    from .building import build as build
    from .building import lower as lower
    from .compiler import compile as compile
    from .devices import cpu as cpu
    from .devices import cuda as cuda
    from .devices import device as device
    from .dialects.support.arguments import ArgumentError as ArgumentError
    from .dialects.support.checks import CheckError as CheckError
    from .dialects.support.data_type import DataType as DataType
    from .dialects.support.diagnostics import Diagnostic as Diagnostic
    from .dialects.support.packed import get_global_func as get_global_func
    from .dialects.support.packed import list_global_func_names as list_global_func_names
    from .dialects.support.packed import load_library as load_library
    from .dialects.support.packed import register_func as register_func
    from .dialects.support.packed import remove_global_func as remove_global_func
    from .dialects.te.conversion import convert as convert
    from .error import TVMError as TVMError
    from .instrument import DumpIR as DumpIR
    from .instrument import PassInstrument as PassInstrument
    from .instrument import PassStatistics as PassStatistics
    from .instrument import PassTimingInstrument as PassTimingInstrument
    from .instrument import PrintIRAfter as PrintIRAfter
    from .instrument import PrintIRBefore as PrintIRBefore
    from .instrument import VerifyEach as VerifyEach
    from .instrument import pass_instrument as pass_instrument
    from .ir import container as container
    from .ir_module import IRModule as IRModule
    from .loading import load as load
    from .lowering.machine.target import Target as Target
    from .runtime.executable import Executable as Executable
    from .transform import PassContext as PassContext
    from .transforms.mem.usmp import ConstantInfo as ConstantInfo
    from .transforms.mem.usmp import ConstantPoolInfo as ConstantPoolInfo
    from .transforms.mem.usmp import PoolInfoProperties as PoolInfoProperties
    from .transforms.mem.usmp import WorkspacePoolInfo as WorkspacePoolInfo
    from .transforms.relay.backends import Backend as Backend
    from .transforms.relay.backends import ExternalKernel as ExternalKernel
    from .transforms.relay.backends import register_backend as register_backend
    from .transforms.relay.backends import remove_backend as remove_backend
    from .tuning.tune import tune as tune

__version__: str

provide("relay.present_devices", f"{__name__}.enabled_targets")
provide("relay.trees", f"{__name__}.frontend.relay")
provide("runtime.targets", f"{__name__}.enabled_targets")
provide("runtime.vm", f"{__name__}.relay_vm")
provide("tir.scripts", f"{__name__}.dialects.tir.nodes.node_script")
provide("tir.trees", f"{__name__}.dialects.tir.nodes.tree")

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return [*_names(), "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("weft")
    return _find(name)

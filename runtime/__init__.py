"""Running compiled graphs: memory, threads, loaded code, artefacts on disk.

What TVM has in `tvm.runtime` is here by its names, imported when it is first asked for.
"""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from collections.abc import Callable as PackedFunc  # noqa: F401  # pyright: ignore[reportUnusedImport]

    from ..dialects.support.data_type import DataType as DataType
    from ..dialects.support.nd import NDArray as NDArray
    from ..dialects.te.conversion import convert as convert
    from ..dialects.te.forms import const as const
    from ..dialects.tir.nodes.object_path import ObjectPath as ObjectPath
    from . import aot_library as executor  # noqa: F401  # pyright: ignore[reportUnusedImport]
    from . import container as container
    from . import profiler_vm as profiler_vm
    from . import vm as vm
    from .aot_library import AotLibrary as AotLibrary
    from .aot_library import AotModule as AotModule
    from .benchmark import BenchmarkResult as BenchmarkResult
    from .container import ShapeTuple as ShapeTuple
    from .container import String as String
    from .graph_library import Library as Library
    from .loading import enabled as enabled
    from .loading import load_module as load_module
    from .loading import load_static_library as load_static_library
    from .loading import num_threads as num_threads
    from .module import Module as Module
    from .param_dict import load_param_dict as load_param_dict
    from .param_dict import save_param_dict as save_param_dict
    from .system_library import system_lib as system_lib

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

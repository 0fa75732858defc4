"""The pass infrastructure under TVM's names (`tvm.transform`), and every pass by its CamelCase name.

from weft import transform
module = transform.Sequential([transform.SimplifyInference(), transform.FuseOps(max_depth=4)])(module)
"""

from typing import TYPE_CHECKING

from .dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from .transforms.infra.adapt import get_pass as get_pass
    from .transforms.infra.config import ConfigOption as ConfigOption
    from .transforms.infra.config import register_config_option as register_config_option
    from .transforms.infra.context import PassContext as PassContext
    from .transforms.infra.decorators import Apply as Apply
    from .transforms.infra.decorators import Filter as Filter
    from .transforms.infra.decorators import function_pass as function_pass
    from .transforms.infra.decorators import module_pass as module_pass
    from .transforms.infra.decorators import prim_func_pass as prim_func_pass
    from .transforms.infra.driver import RewriteDriver as RewriteDriver
    from .transforms.infra.driver import RewriteListener as RewriteListener
    from .transforms.infra.driver import observed_by as observed_by
    from .transforms.infra.info import PassInfo as PassInfo
    from .transforms.infra.passes import FunctionPass as FunctionPass
    from .transforms.infra.passes import ModulePass as ModulePass
    from .transforms.infra.passes import Pass as Pass
    from .transforms.infra.passes import PatternPass as PatternPass
    from .transforms.infra.passes import PrimFuncPass as PrimFuncPass
    from .transforms.infra.pattern_table import PatternStatistics as PatternStatistics
    from .transforms.infra.pipeline import parse_pipeline as parse_pipeline
    from .transforms.infra.registry import register_pass as register_pass
    from .transforms.infra.sequential import Sequential as Sequential
    from .transforms.tir.hoist_expression import HoistedConditionals as HoistedConditionals
    from .transforms.tir.hoist_expression import HoistedLetBindings as HoistedLetBindings

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    from . import universe as universe  # makes the passes of all packages known
    from .transforms.infra.registry import own_passes

    return [*_names(), *(name.title().replace("-", "") for name in own_passes())]


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module 'weft.transform' has no attribute '{name}'")
    from . import universe as universe  # makes the passes of all packages known

    if name in __all__:
        return _find(name)
    from .transforms.infra.adapt import adapted
    from .transforms.infra.errors import UnknownPassError
    from .transforms.infra.registry import get_pass_type

    try:
        return adapted(get_pass_type(name))
    except UnknownPassError as error:
        hint = f"; {error.hint}" if error.hint else ""
        raise AttributeError(f"weft.transform has no '{name}', and no pass is named so{hint}") from None

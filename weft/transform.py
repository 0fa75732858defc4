"""The pass infrastructure under TVM's names (`tvm.transform`), and every pass by its CamelCase name.

from weft import transform
module = transform.Sequential([transform.SimplifyInference(), transform.FuseOps(max_depth=4)])(module)
"""

from typing import TYPE_CHECKING

from .transforms.infra.lazy import lazy_names

if TYPE_CHECKING:
    from .transforms.infra.adapt import get_pass
    from .transforms.infra.config import ConfigOption, register_config_option
    from .transforms.infra.context import PassContext
    from .transforms.infra.decorators import function_pass, module_pass, prim_func_pass
    from .transforms.infra.driver import RewriteDriver, RewriteListener, observed_by
    from .transforms.infra.info import PassInfo
    from .transforms.infra.passes import FunctionPass, ModulePass, Pass, PatternPass, PrimFuncPass
    from .transforms.infra.pattern_table import PatternStatistics
    from .transforms.infra.pipeline import parse_pipeline
    from .transforms.infra.registry import register_pass
    from .transforms.infra.sequential import Sequential

__all__ = [
    "ConfigOption", "function_pass", "FunctionPass", "get_pass", "module_pass", "ModulePass", "observed_by",
    "parse_pipeline", "Pass",
    "PassContext", "PassInfo", "PatternPass", "PatternStatistics", "prim_func_pass", "PrimFuncPass",
    "register_config_option", "register_pass", "RewriteDriver", "RewriteListener", "Sequential",
]  # fmt: skip

_MODULES = {
    "config": ("ConfigOption", "register_config_option"),
    "context": ("PassContext",),
    "decorators": ("function_pass", "module_pass", "prim_func_pass"),
    "driver": ("observed_by", "RewriteDriver", "RewriteListener"),
    "info": ("PassInfo",),
    "passes": ("FunctionPass", "ModulePass", "Pass", "PatternPass", "PrimFuncPass"),
    "pattern_table": ("PatternStatistics",),
    "pipeline": ("parse_pipeline",),
    "adapt": ("get_pass",),
    "registry": ("register_pass",),
    "sequential": ("Sequential",),
}

_find = lazy_names(
    "weft", {name: f".transforms.infra.{module}" for module, names in _MODULES.items() for name in names}
)


def __dir__() -> list[str]:
    from . import universe as universe
    from .transforms.infra.registry import own_passes

    return [*__all__, *(name.title().replace("-", "") for name in own_passes())]


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

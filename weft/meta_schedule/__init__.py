"""Design spaces of schedules under TVM's names (`tvm.meta_schedule`): rules, postprocessors, mutators, generators.

context = weft.meta_schedule.TuneContext(function, "llvm -num-cores=8")
for design in context.generate_design_space():
    context.postprocess(design)
    kernel = weft.build(design.mod)

A design is a `weft.tir.Schedule` with decisions in its trace, which mutators change. There is one search of designs,
whoever gives them (`weft.tuning`): `tune_tir` searches those of a function, `weft.tune` those of a model's kernels.
"""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from . import arg_info as arg_info
    from . import builder as builder
    from . import database as database
    from . import mutator as mutator
    from . import postproc as postproc
    from . import relay_integration as relay_integration
    from . import schedule_rule as schedule_rule
    from . import space_generator as space_generator
    from . import tir_integration as tir_integration
    from .database import Database as Database
    from .mutator import Mutator as Mutator
    from .postproc import Postproc as Postproc
    from .schedule_rule import ScheduleRule as ScheduleRule
    from .space_generator import SpaceGenerator as SpaceGenerator
    from .tir_integration import compile_tir as compile_tir
    from .tir_integration import tune_tir as tune_tir
    from .tune_context import TuneContext as TuneContext

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)

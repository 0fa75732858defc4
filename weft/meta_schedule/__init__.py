"""Design spaces of schedules under TVM's names (`tvm.meta_schedule`): schedule rules, postprocessors, generators.

context = weft.meta_schedule.TuneContext(function, "llvm -num-cores=8")
for design in context.generate_design_space():
    context.postprocess(design)
    kernel = weft.build(design.mod)

A design is a `weft.tir.Schedule` with decisions in its trace, which `Trace.with_decision` draws anew. `weft.tune`
searches the designs of Weft's own rules, which know more of Weft's code than these.
"""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from . import postproc as postproc
    from . import schedule_rule as schedule_rule
    from . import space_generator as space_generator
    from .postproc import Postproc as Postproc
    from .schedule_rule import ScheduleRule as ScheduleRule
    from .space_generator import SpaceGenerator as SpaceGenerator
    from .tune_context import TuneContext as TuneContext

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)

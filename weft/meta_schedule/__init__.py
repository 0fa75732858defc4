"""Design spaces of schedules under TVM's names (`tvm.meta_schedule`): rules, postprocessors, mutators, generators.

context = weft.meta_schedule.TuneContext(function, "llvm -num-cores=8")
for design in context.generate_design_space():
    context.postprocess(design)
    kernel = weft.build(design.mod)

A design is a `weft.tir.Schedule` with decisions in its trace, which mutators change. `tune_tir` searches those of a
function and `weft.tune` those of a model's kernels, both by `weft.tuning`. Who measures in one's own way has TVM's
parts: a `TaskScheduler` takes candidates from the `SearchStrategy` of each context, which asks a `CostModel`, has a
`Builder` and a `Runner` measure them, and tells `MeasureCallback`s.
"""

from typing import TYPE_CHECKING

from ..dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from . import arg_info as arg_info
    from . import builder as builder
    from . import cost_model as cost_model
    from . import database as database
    from . import extracted_task as extracted_task
    from . import feature_extractor as feature_extractor
    from . import measure_callback as measure_callback
    from . import mutator as mutator
    from . import postproc as postproc
    from . import profiler as profiler
    from . import relay_integration as relay_integration
    from . import runner as runner
    from . import schedule_rule as schedule_rule
    from . import search_strategy as search_strategy
    from . import space_generator as space_generator
    from . import task_scheduler as task_scheduler
    from . import testing as testing
    from . import tir_integration as tir_integration
    from . import tune as tune
    from . import utils as utils
    from .builder import Builder as Builder
    from .cost_model import CostModel as CostModel
    from .database import Database as Database
    from .extracted_task import ExtractedTask as ExtractedTask
    from .feature_extractor import FeatureExtractor as FeatureExtractor
    from .measure_callback import MeasureCallback as MeasureCallback
    from .mutator import Mutator as Mutator
    from .postproc import Postproc as Postproc
    from .profiler import Profiler as Profiler
    from .records import MeasureCandidate as MeasureCandidate
    from .records import TuningRecord as TuningRecord
    from .records import Workload as Workload
    from .runner import Runner as Runner
    from .schedule_rule import ScheduleRule as ScheduleRule
    from .search_strategy import SearchStrategy as SearchStrategy
    from .space_generator import SpaceGenerator as SpaceGenerator
    from .task_scheduler import TaskScheduler as TaskScheduler
    from .tir_integration import compile_tir as compile_tir
    from .tir_integration import tune_tir as tune_tir
    from .tune import tune_tasks as tune_tasks
    from .tune_context import TuneContext as TuneContext
    from .utils import derived_object as derived_object

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)

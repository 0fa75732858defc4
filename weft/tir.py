"""TIR under TVM's names (`tvm.tir`): schedules.

from weft import tir
schedule = tir.Schedule(module)
"""

from typing import TYPE_CHECKING

from .transforms.infra.lazy import lazy_names

if TYPE_CHECKING:
    from .dialects.tir.interpreter import Interpreter as Interpreter
    from .transforms.tir.schedule.errors import ScheduleError as ScheduleError
    from .transforms.tir.scheduling.schedule import BlockRV as BlockRV
    from .transforms.tir.scheduling.schedule import ExprRV as ExprRV
    from .transforms.tir.scheduling.schedule import LoopRV as LoopRV
    from .transforms.tir.scheduling.schedule import Schedule as Schedule
    from .transforms.tir.scheduling.trace import Trace as Trace

_find, _names, __all__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return _names()


def __getattr__(name: str) -> object:
    return _find(name)

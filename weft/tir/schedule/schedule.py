"""A function as it is scheduled (`tvm.tir.schedule.schedule`)."""

from ...transforms.tir.schedule.errors import ScheduleError as ScheduleError
from ...transforms.tir.scheduling.handles import BlockRV as BlockRV
from ...transforms.tir.scheduling.handles import ExprRV as ExprRV
from ...transforms.tir.scheduling.handles import LoopRV as LoopRV
from ...transforms.tir.scheduling.schedule import Schedule as Schedule

"""A module with its blocks' scopes (`tvm.tir.schedule.state`)."""

from ...transforms.tir.analysis.block_scopes import CachedFlags as CachedFlags
from ...transforms.tir.scheduling.schedule_state import ScheduleDebugMask as ScheduleDebugMask
from ...transforms.tir.scheduling.schedule_state import ScheduleState as ScheduleState

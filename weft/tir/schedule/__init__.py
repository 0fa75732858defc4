"""Schedules of functions, where TVM has them (`tvm.tir.schedule`)."""

from ...transforms.tir.analysis.block_scopes import DepKind as DepKind
from ...transforms.tir.schedule.errors import ScheduleError as ScheduleError
from ...transforms.tir.scheduling.handles import BlockRV as BlockRV
from ...transforms.tir.scheduling.handles import ExprRV as ExprRV
from ...transforms.tir.scheduling.handles import LoopRV as LoopRV
from ...transforms.tir.scheduling.instruction import Instruction as Instruction
from ...transforms.tir.scheduling.instruction import InstructionKind as InstructionKind
from ...transforms.tir.scheduling.schedule import Schedule as Schedule
from ...transforms.tir.scheduling.schedule_state import ScheduleDebugMask as ScheduleDebugMask
from ...transforms.tir.scheduling.schedule_state import ScheduleState as ScheduleState
from ...transforms.tir.scheduling.state import BlockScope as BlockScope
from ...transforms.tir.scheduling.state import Dependency as Dependency
from ...transforms.tir.scheduling.state import StmtSRef as StmtSRef
from ...transforms.tir.scheduling.trace import Trace as Trace
from . import analysis as analysis
from . import block_scope as block_scope
from . import instruction as instruction
from . import schedule as schedule
from . import state as state
from . import trace as trace
from . import transform as transform

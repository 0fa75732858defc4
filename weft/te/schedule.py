"""Schedules of stages, where TVM defines them (`tvm.te.schedule`)."""

from ..dialects.te.expr import IterVar as IterVar
from ..dialects.tir.script.annotations import Buffer as Buffer
from ..lowering.te_schedule.auto_inline import AutoInlineBroadcast as AutoInlineBroadcast
from ..lowering.te_schedule.auto_inline import AutoInlineElemWise as AutoInlineElemWise
from ..lowering.te_schedule.auto_inline import AutoInlineInjective as AutoInlineInjective
from ..lowering.te_schedule.graph import CreateReadGraph as CreateReadGraph
from ..lowering.te_schedule.graph import PostDFSOrder as PostDFSOrder
from ..lowering.te_schedule.infer_bound import InferBound as InferBound
from ..lowering.te_schedule.relations import Fuse as Fuse
from ..lowering.te_schedule.relations import Singleton as Singleton
from ..lowering.te_schedule.relations import Split as Split
from ..lowering.te_schedule.schedule import Schedule as Schedule
from ..lowering.te_schedule.schedule import create_schedule as create_schedule
from ..lowering.te_schedule.schedule_ops import ScheduleOps as ScheduleOps
from ..lowering.te_schedule.schedule_ops import SchedulePostProcToPrimFunc as SchedulePostProcToPrimFunc
from ..lowering.te_schedule.stage import Stage as Stage

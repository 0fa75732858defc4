"""What was done to a function (`tvm.tir.schedule.trace`)."""

from ...transforms.tir.scheduling.trace import Trace as Trace

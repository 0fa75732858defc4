"""Schedule rules that users add: see `lowering/relay_to_tir/schedules.py`."""

from .lowering.relay_to_tir.schedules import ScheduleRule as ScheduleRule
from .lowering.relay_to_tir.schedules import add as add
from .lowering.relay_to_tir.schedules import register as register
from .lowering.relay_to_tir.schedules import remove as remove
from .lowering.relay_to_tir.schedules import rules as rules

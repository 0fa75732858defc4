"""What makes design spaces (`tvm.meta_schedule.space_generator`)."""

from .tune_context import PostOrderApply as PostOrderApply
from .tune_context import ScheduleFn as ScheduleFn
from .tune_context import SpaceGenerator as SpaceGenerator

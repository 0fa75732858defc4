"""The schedule rules (`tvm.meta_schedule.schedule_rule`)."""

from . import defaults as defaults
from .custom_rule import ApplyCustomRule as ApplyCustomRule
from .locations import AutoInline as AutoInline
from .locations import InlineConstantScalars as InlineConstantScalars
from .locations import RandomComputeLocation as RandomComputeLocation
from .multi_level_tiling import MultiLevelTiling as MultiLevelTiling
from .multi_level_tiling import ReuseType as ReuseType
from .parallelize_vectorize_unroll import ParallelizeVectorizeUnroll as ParallelizeVectorizeUnroll
from .reductions import AddRFactor as AddRFactor
from .rule import ScheduleRule as ScheduleRule
from .tensor_cores import MultiLevelTilingTensorCore as MultiLevelTilingTensorCore
from .tensor_intrinsics import MultiLevelTilingWithIntrin as MultiLevelTilingWithIntrin
from .threads import AutoBind as AutoBind
from .threads import CrossThreadReduction as CrossThreadReduction

PyScheduleRule = ScheduleRule
"""TVM's name of what one's own are derived from."""

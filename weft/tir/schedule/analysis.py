"""What schedules ask of blocks (`tvm.tir.schedule.analysis`)."""

from ...transforms.tir.analysis.suggest_index_map import suggest_index_map as suggest_index_map
from ...transforms.tir.scheduling.tensorizing import AutoTensorizeMappingInfo as AutoTensorizeMappingInfo
from ...transforms.tir.scheduling.tensorizing import TensorizeInfo as TensorizeInfo
from ...transforms.tir.scheduling.tensorizing import get_auto_tensorize_mapping_info as get_auto_tensorize_mapping_info
from ...transforms.tir.scheduling.tensorizing import get_tensorize_loop_mapping as get_tensorize_loop_mapping
from ...transforms.tir.scheduling.tensorizing import has_block as has_block

"""Several steps at once (`tvm.tir.schedule.transform`)."""

from ...transforms.tir.scheduling.tensorizing import tile_with_tensor_intrin as tile_with_tensor_intrin

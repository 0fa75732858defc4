"""What functions hold in memory, and when (`tvm.tir.usmp.analysis`)."""

from ...transforms.mem.buffer_infos import BufferInfoAnalysis as BufferInfoAnalysis
from ...transforms.mem.buffer_infos import extract_buffer_info as extract_buffer_info

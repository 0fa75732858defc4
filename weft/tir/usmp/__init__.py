"""The static memory planner (`tvm.tir.usmp`)."""

from ...transforms.mem.usmp import BufferInfo as BufferInfo
from . import analysis as analysis
from . import utils as utils

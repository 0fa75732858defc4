"""The postprocessors (`tvm.meta_schedule.postproc`)."""

from .postprocs import DisallowDynamicLoop as DisallowDynamicLoop
from .postprocs import RewriteParallelVectorizeUnroll as RewriteParallelVectorizeUnroll
from .postprocs import RewriteReductionBlock as RewriteReductionBlock
from .rule import Postproc as Postproc

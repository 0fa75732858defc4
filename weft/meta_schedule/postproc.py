"""The postprocessors (`tvm.meta_schedule.postproc`)."""

from . import defaults as defaults
from .gpu_postprocs import RewriteCooperativeFetch as RewriteCooperativeFetch
from .gpu_postprocs import VerifyGPUCode as VerifyGPUCode
from .postprocs import DisallowDynamicLoop as DisallowDynamicLoop
from .postprocs import RewriteParallelVectorizeUnroll as RewriteParallelVectorizeUnroll
from .postprocs import RewriteReductionBlock as RewriteReductionBlock
from .rewrite_layout import RewriteLayout as RewriteLayout
from .rule import Postproc as Postproc
from .tensor_intrinsics import RewriteTensorize as RewriteTensorize
from .threads import RewriteUnboundBlock as RewriteUnboundBlock

PyPostproc = Postproc
"""TVM's name of what one's own are derived from."""

"""What can be told of functions of `tir` without changing them; by TVM's names (`tvm.tir.analysis`) it is
`weft.tir.analysis`."""

from typing import TYPE_CHECKING

from ....dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from ....dialects.tir.nodes.equality import expr_deep_equal as expr_deep_equal
    from .functions import OOBChecker as OOBChecker
    from .functions import calculate_allocated_bytes as calculate_allocated_bytes
    from .functions import calculate_constant_bytes as calculate_constant_bytes
    from .functions import calculate_workspace_bytes as calculate_workspace_bytes
    from .functions import detect_buffer_access_lca as detect_buffer_access_lca
    from .functions import estimate_tir_flops as estimate_tir_flops
    from .functions import find_anchor_block as find_anchor_block
    from .functions import get_block_access_region as get_block_access_region
    from .functions import get_block_read_write_region as get_block_read_write_region
    from .functions import verify_gpu_code as verify_gpu_code
    from .functions import verify_memory as verify_memory
    from .functions import verify_well_formed as verify_well_formed

_find, __dir__, __all__ = lazy_names(__name__, __file__)


def __getattr__(name: str) -> object:
    return _find(name)

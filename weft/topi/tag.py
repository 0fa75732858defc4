"""What `weft.topi` tags tensors with (`tvm.topi.tag`), and whether a tag says so."""

from ..dialects.support.arguments import checked
from ..dialects.te.tags import BROADCAST as BROADCAST
from ..dialects.te.tags import COMM_REDUCE as COMM_REDUCE
from ..dialects.te.tags import ELEMWISE as ELEMWISE
from ..dialects.te.tags import INJECTIVE as INJECTIVE


@checked
def is_broadcast(tag: str) -> bool:
    """Whether each element is computed from one of each tensor."""
    return tag in (ELEMWISE, BROADCAST) or tag.startswith((f"{ELEMWISE},", f"{BROADCAST},"))


@checked
def is_injective(tag: str) -> bool:
    """The same, or each element is one of a tensor, at another place."""
    return is_broadcast(tag) or tag == INJECTIVE or tag.startswith(f"{INJECTIVE},")

"""Names of the pool's functions: what compiled graphs call, and what a loader links them with.

The number is the version of the pool's state and of these functions. Pools of one version are one pool in a process:
the first that is loaded serves all. Whoever changes what the functions take, or the state, counts it up.
"""

POOL = "weft_pool_1"
"""The pointer to the pool's state. An object file that mentions this name is the pool's."""

RUN, WAIT, WAKE, LIMIT = f"{POOL}_run", f"{POOL}_wait", f"{POOL}_wake", f"{POOL}_limit"
FUTEX = f"{POOL}_futex"

FUNCTIONS = (RUN, WAIT, WAKE, LIMIT)
"""What objects outside the pool may call."""

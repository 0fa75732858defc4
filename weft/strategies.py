"""Ways to compute operators, and to lower kernels, that users add: see `lowering/relay_to_tir/strategies.py`."""

from .lowering.relay_to_tir.strategies import OWN_PRIORITY as OWN_PRIORITY
from .lowering.relay_to_tir.strategies import Implementation as Implementation
from .lowering.relay_to_tir.strategies import add as add
from .lowering.relay_to_tir.strategies import implementations as implementations
from .lowering.relay_to_tir.strategies import register as register
from .lowering.relay_to_tir.strategies import register_lowering as register_lowering
from .lowering.relay_to_tir.strategies import remove as remove
from .lowering.relay_to_tir.strategies import remove_lowering as remove_lowering

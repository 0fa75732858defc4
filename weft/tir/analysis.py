"""What can be told of functions (`tvm.tir.analysis`)."""

from typing import TYPE_CHECKING

from ..transforms.tir.analysis import __all__ as __all__
from ..transforms.tir.analysis import __dir__ as __dir__

if TYPE_CHECKING:
    from ..transforms.tir.analysis import *  # noqa: F403
else:
    from ..transforms.tir.analysis import __getattr__ as __getattr__

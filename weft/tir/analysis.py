"""What can be told of functions (`tvm.tir.analysis`)."""

from ..transforms.tir.analysis import __all__ as __all__
from ..transforms.tir.analysis import __dir__ as __dir__
from ..transforms.tir.analysis import __getattr__ as __getattr__

"""What watches passes (`tvm.ir.instrument`)."""

from ..instrument import __all__ as __all__
from ..instrument import __dir__ as __dir__
from ..instrument import __getattr__ as __getattr__

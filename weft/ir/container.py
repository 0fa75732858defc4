"""What holds several things (`tvm.ir.container`): Python's own mappings and sequences."""

from collections.abc import Mapping as Map
from collections.abc import Sequence as Array

__all__ = ["Array", "Map"]

"""The ONNX importer. `from_onnx` is the way in; converters are kept by family of operators, in tables by opset."""

from .importer import from_onnx, from_onnx_with_weights
from .registry import FIRST_OPSET, LAST_OPSET, supported_operators

__all__ = ["FIRST_OPSET", "LAST_OPSET", "from_onnx", "from_onnx_with_weights", "supported_operators"]

"""Types of tensors (`tvm.ir.tensor_type`)."""

from ..frontend.relay.ty import TensorType as TensorType

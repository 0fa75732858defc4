"""ONNX tensors and types -> NumPy arrays and xDSL types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ...dialects.relay.base import DYNAMIC, Tensor
from ...dialects.support.dtypes import numpy_dtype, scalar_type
from .errors import Malformed, Unsupported

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnx import TensorProto, TypeProto

    NDArray: TypeAlias = npt.NDArray[np.generic]


def element_name(code: int) -> str:
    """ONNX's word for an element type, as in `FLOAT`."""
    import onnx

    return onnx.TensorProto.DataType.Name(code) if code in onnx.TensorProto.DataType.values() else f"number {code}"


def element_type(code: int) -> Attribute:
    """The scalar type that an ONNX element type stands for.

    Raises:
        Unsupported: Weft has none.
    """
    import onnx

    try:
        return scalar_type(onnx.helper.tensor_dtype_to_np_dtype(code))
    except (TypeError, KeyError):
        raise Unsupported(f"the element type {element_name(code)}") from None


def element_code(type: Attribute) -> int:
    """The inverse of `element_type`."""
    import onnx

    return onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(type))


def declared_type(proto: TypeProto, shape: Sequence[int] | None = None) -> TensorType[Attribute]:
    """The tensor type of a `TypeProto`; dimensions without a value are dynamic. `shape` stands in for a missing one.

    Raises:
        Unsupported: it is not a tensor, or has no rank.
    """
    kind = proto.WhichOneof("value")
    if kind != "tensor_type":
        raise Unsupported(f"a value of {(kind or 'no type').replace('_', ' ')}")
    element = element_type(proto.tensor_type.elem_type)
    if shape is not None:
        return TensorType(element, shape)
    if not proto.tensor_type.HasField("shape"):
        raise Unsupported("a tensor without a rank", "give its shape: `--shape NAME=1x3x224x224`")
    return TensorType(
        element, [d.dim_value if d.HasField("dim_value") else DYNAMIC for d in proto.tensor_type.shape.dim]
    )


def type_proto(type: Tensor) -> TypeProto:
    """The `TypeProto` of a tensor type."""
    import onnx

    shape = [None if n == DYNAMIC else n for n in type.get_shape()]
    return onnx.helper.make_tensor_type_proto(element_code(type.element_type), shape)


def decode(tensor: TensorProto, directory: Path | None) -> NDArray:
    """The array of a `TensorProto`. Data in a file beside the model (in `directory`) is mapped, not read.

    Raises:
        Unsupported: Weft has no such element type.
        Malformed: the data does not fill the shape, or its file is missing or outside of `directory`.
    """
    import onnx

    element_type(tensor.data_type)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return _map_external(tensor, directory)
    try:
        return onnx.numpy_helper.to_array(tensor)
    except (ValueError, TypeError) as error:
        raise Malformed(f"tensor '{tensor.name}' is broken: {error}") from None


def _map_external(tensor: TensorProto, directory: Path | None) -> NDArray:
    import numpy as np

    entries = {entry.key: entry.value for entry in tensor.external_data}
    where = entries.get("location", "")
    if directory is None:
        raise Malformed(
            f"tensor '{tensor.name}' is in file '{where}', but the model was not read from a file",
            "pass the model's path, or load its external data first",
        )
    path = (directory / where).resolve()
    if not path.is_relative_to(directory.resolve()):
        raise Malformed(f"tensor '{tensor.name}' is in file '{where}', outside of the model's folder")
    shape = tuple(tensor.dims)
    dtype = numpy_dtype(element_type(tensor.data_type))
    try:
        if 0 in shape:
            return np.zeros(shape, dtype)
        return np.memmap(path, dtype, "r", int(entries.get("offset", "0")), shape)
    except (OSError, ValueError) as error:
        raise Malformed(f"tensor '{tensor.name}' cannot be read from '{where}': {error}") from None

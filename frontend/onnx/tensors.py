"""ONNX tensors and types -> NumPy arrays and xDSL types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute

from ...dialects.relay.base import DYNAMIC, Tensor, flatten_types, tensor
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import byte_width, numpy_dtype, scalar_type
from ...dialects.support.mapped_files import mapped
from .errors import Malformed, Unsupported

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnx import SparseTensorProto, TensorProto, TypeProto

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
        raise Unsupported(f"the element type {element_name(code)} has no counterpart") from None


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
        raise Unsupported("a tensor without a rank", give_shapes())
    return TensorType(element, declared_shape(proto))


def declared_shape(proto: TypeProto) -> list[int]:
    """The dimensions of a tensor's type; those without a value, or with -1 as some exporters write it, are dynamic."""
    dims = proto.tensor_type.shape.dim
    return [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else DYNAMIC for d in dims]


def type_proto(type: Attribute) -> TypeProto:
    """The `TypeProto` of a tensor type, or of a sequence, which is a tuple."""
    import onnx

    if isinstance(type, TupleType):
        fields = flatten_types([type])
        code = element_code(fields[0].element_type) if fields else onnx.TensorProto.FLOAT
        return onnx.helper.make_sequence_type_proto(onnx.helper.make_tensor_type_proto(code, None))
    of = tensor(type)
    shape = [None if n == DYNAMIC else n for n in of.get_shape()]
    return onnx.helper.make_tensor_type_proto(element_code(of.element_type), shape)


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
    except (ValueError, TypeError, OverflowError) as error:
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
    shape = tuple(tensor.dims)
    dtype = numpy_dtype(element_type(tensor.data_type))
    wanted = prod(shape) * dtype.itemsize
    offset = _number(tensor, entries, "offset", 0)
    length = _number(tensor, entries, "length", wanted)
    if length != wanted:
        raise Malformed(f"tensor '{tensor.name}' takes {wanted} bytes, but its data is {length} bytes long")
    try:
        path = (directory / where).resolve()
        if not path.is_relative_to(directory.resolve()):
            raise Malformed(f"tensor '{tensor.name}' is in file '{where}', outside of the model's folder")
        if not wanted:
            return np.zeros(shape, dtype)
        status = path.stat()
        if not S_ISREG(status.st_mode):  # a pipe would be waited for
            raise Malformed(f"tensor '{tensor.name}' cannot be read from '{where}': it is no ordinary file")
        if status.st_size < offset + wanted:
            raise Malformed(
                f"tensor '{tensor.name}' takes bytes {offset} to {offset + wanted} of '{where}', "
                f"which has {status.st_size}"
            )
        return mapped(path, dtype, offset, shape)
    except (OSError, ValueError) as error:
        reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)
        hint = "the files that hold a model's tensors go with it" if isinstance(error, FileNotFoundError) else None
        raise Malformed(f"tensor '{tensor.name}' cannot be read from '{where}': {reason}", hint) from None


def _number(tensor: TensorProto, entries: Mapping[str, str], key: str, default: int) -> int:
    """A number of bytes among what is said about external data."""
    text = entries.get(key)
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise Malformed(f"tensor '{tensor.name}': '{text}' is no {key} of its data")
    return int(text)


MAX_BYTES = 1 << 46
"""The largest tensor that is imported, in bytes: 64 TiB, half of what a process can address."""


def check_fits(type: Tensor) -> Tensor:
    """`type`, unless no memory holds such a tensor, whatever its dynamic dimensions are.

    Raises:
        Malformed: so it is.
    """
    check_memory(prod(n for n in type.get_shape() if n != DYNAMIC) * byte_width(type.element_type))
    return type


def check_memory(size: float) -> None:
    """Refuse what no memory holds before it is asked for.

    Raises:
        Malformed: a tensor would take `size` bytes.
    """
    if size > MAX_BYTES:
        raise Malformed(f"a tensor of {size:.3g} bytes fits into no memory")


def dense_of(sparse: SparseTensorProto, decode: Callable[[TensorProto], NDArray]) -> NDArray:
    """A tensor from its elements that are not 0 and their places: counted through, or an index for each dimension.

    Raises:
        Malformed: a place is not in the tensor, or they are not as many as elements.
        Unsupported: the tensor fits into no memory.
    """
    import numpy as np

    shape, values, places = list(sparse.dims), decode(sparse.values), decode(sparse.indices)
    if min(shape, default=0) < 0:
        raise Malformed(f"the shape {shape}")
    check_memory(prod(shape) * values.dtype.itemsize)
    count = len(values) if values.ndim == 1 else -1
    if places.dtype != np.int64 or places.shape not in ((count,), (count, len(shape))):
        raise Malformed(f"places of shape {list(places.shape)} for elements of shape {list(values.shape)}")
    at = places.astype(np.int64).reshape(count, -1)
    limits = np.array(shape if places.ndim == 2 else [prod(shape)], np.int64)
    if ((at < 0) | (at >= limits)).any():
        raise Malformed(f"a place outside of the shape {shape}")
    strides = np.array([prod(shape[axis + 1 :]) for axis in range(len(shape))] if places.ndim == 2 else [1], np.int64)
    found = np.zeros(prod(shape), values.dtype)
    found[(at * strides).sum(axis=1)] = values
    return found.reshape(shape)

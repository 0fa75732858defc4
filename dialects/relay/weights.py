"""The data of resources, in a file beside the text: `MODEL.mlir` has its arrays in `MODEL.weights.npz`.

The file is an uncompressed `.npz`, key -> array, that `numpy.load` reads. Of an array whose elements are all equal, one
element is held, and its shape under `KEY.shape`; `bfloat16` is held as the two bytes that NumPy takes it for. NumPy is
imported only where a module has resources.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation

from ..support.diagnostics import Diagnostic, Place
from ..support.element_types import STORAGE_NAMES, numpy_dtype_of
from ..support.files import replacing
from ..support.hints import isa
from .attributes import Resource, ResourceAttr
from .npz import headers, is_dtype

if TYPE_CHECKING:
    from .attributes import NDArray


_SHAPE = ".shape"
_DTYPE = ".dtype"  # of an array whose dtype NumPy cannot write


def weights_path(mlir_path: Path) -> Path:
    """The file that holds the arrays of a module in `mlir_path`."""
    return mlir_path.with_suffix(".weights.npz")


def resources(module: ModuleOp) -> dict[str, NDArray]:
    """The arrays of all resources of `module` that are in memory."""
    found: dict[str, NDArray] = {}
    for attribute in _all(module):
        if attribute.data.array is not None:
            found[attribute.data.key] = attribute.data.array
    return found


def missing_resources(module: ModuleOp) -> set[str]:
    """The keys of resources whose arrays are not in memory."""
    return {attribute.data.key for attribute in _all(module) if not attribute.data.is_known}


def check_loaded(module: ModuleOp) -> None:
    """Nothing that `module` computes with is missing.

    Raises:
        Diagnostic: the data of a constant was not loaded; it stands at the first such.
    """
    for op, _, _, attribute in _uses(module):
        if (resource := next((r for r in _resources_in(attribute) if r.data.array is None), None)) is None:
            continue
        place = Place.of_location(op.location)
        file = weights_path(Path(place.file)).name if place is not None and place.file.endswith(".mlir") else None
        hint = (
            f"it stands in {file}, which goes with the text" if file else "keep the .weights.npz file beside the text"
        )
        raise Diagnostic.at(op, f"the data of '{resource.data.key}' was not loaded", hint=hint)


def bind_resources(module: ModuleOp, arrays: Mapping[str, NDArray]) -> None:
    """Give every resource of `module` whose key is in `arrays` its array; others stay as they are.

    Raises:
        Diagnostic: an array has not the shape or the element type of the constant that it is for.
    """
    from ..support.dtypes import numpy_dtype

    for op, place, name, attribute in list(_uses(module)):
        type = op.results[0].type if op.results else None
        if isa(type, TensorType[Attribute]) and type.has_static_shape() and isinstance(attribute, ResourceAttr):
            array = arrays.get(attribute.data.key)
            if array is not None and (array.shape != type.get_shape() or array.dtype != numpy_dtype(type.element_type)):
                raise Diagnostic.at(op, f"the weights hold {array.dtype}{list(array.shape)} for "
                    f"'{attribute.data.key}', but the type is {type}")  # fmt: skip
        place[name] = _bound(attribute, arrays)


def _bound(attribute: Attribute, arrays: Mapping[str, NDArray]) -> Attribute:
    """`attribute` with those of its resources whose keys are in `arrays` given their arrays."""
    if isinstance(attribute, ResourceAttr):
        key = attribute.data.key
        return ResourceAttr(Resource(key, arrays[key])) if key in arrays else attribute
    if isinstance(attribute, ArrayAttr):
        return ArrayAttr([_bound(element, arrays) for element in cast("ArrayAttr[Attribute]", attribute)])
    return attribute


def load_weights(module: ModuleOp, mlir_path: Path, *, later: bool = False) -> None:
    """Bind the resources of a module that was read from `mlir_path`; nothing happens where there is no such file.

    `later`: have each array read when it is asked for, where the file says that it fits.

    Raises:
        Diagnostic: the file cannot be read, or does not fit the module.
    """
    path = weights_path(mlir_path)
    missing = missing_resources(module)
    if missing and path.exists() and not (later and _bound_later(module, path, missing)):
        bind_resources(module, _read(path, missing))


def _read(path: Path, keys: Collection[str]) -> dict[str, NDArray]:
    return _arrays(path, keys, str(path))


def unpacked(data: bytes, keys: Collection[str], name: str) -> dict[str, NDArray]:
    """The arrays of these keys in what `packed_weights` has made; `name` is what messages call it.

    Raises:
        Diagnostic: it is nothing such.
    """
    return _arrays(BytesIO(data), keys, name)


def _arrays(file: Path | BytesIO, keys: Collection[str], name: str) -> dict[str, NDArray]:
    import numpy as np

    try:
        with np.load(file, allow_pickle=False) as archive:
            return {key: _restored(key, archive) for key in archive.files if key in keys}
    except Exception as error:  # whatever the readers of archives and of NumPy's headers meet in what is damaged
        raise Diagnostic(f"cannot be read as weights: {error}", Place(name)) from error


def _bound_later(module: ModuleOp, path: Path, missing: Collection[str]) -> bool:
    """Bind resources to what reads them; says whether that can be done: all are there, and as they are declared."""
    try:
        found = headers(path)
    except (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return False
    uses = list(_uses(module))
    for op, _, _, attribute in uses:
        type = op.results[0].type if op.results else None
        header = found.get(attribute.data.key) if isinstance(attribute, ResourceAttr) else None
        if not isa(type, TensorType[Attribute]) or header is None:
            return False
        if header.shape != type.get_shape() or not is_dtype(header.dtype, type.element_type):
            return False
    for _, place, name, attribute in uses:
        assert isinstance(attribute, ResourceAttr)
        if (key := attribute.data.key) in missing:
            place[name] = ResourceAttr(Resource(key, later=partial(_array, path, key)))
    return True


def _array(path: Path, key: str) -> NDArray:
    try:
        return _read(path, {key})[key]
    except KeyError:
        raise Diagnostic(f"cannot be read as weights: it has no '{key}' any more", Place(str(path))) from None


def save_weights(module: ModuleOp, mlir_path: Path) -> None:
    """Write the arrays of `module` to the file that goes with `mlir_path`, whole or not at all; no file where the
    module has none.

    Raises:
        Diagnostic: the file cannot be written.
    """
    write_weights(resources(module), weights_path(mlir_path))


def write_weights(arrays: Mapping[str, NDArray], path: Path) -> None:
    """Write `arrays` to `path`, whole or not at all; nothing where there are none.

    Raises:
        Diagnostic: the file cannot be written.
    """
    if not arrays:
        return
    try:
        with replacing(path) as file:
            _write_archive(arrays, file)
    except OSError as error:
        raise Diagnostic(f"cannot be written: {(error.strerror or str(error)).lower()}", Place(str(path))) from error


def packed_weights(arrays: Mapping[str, NDArray]) -> bytes:
    """What a file of these weights holds."""
    _write_archive(arrays, file := BytesIO())
    return file.getvalue()


def _write_archive(arrays: Mapping[str, NDArray], file: IO[bytes]) -> None:
    import numpy as np

    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for key, array in arrays.items():
            if array.size > 1 and not any(array.strides):
                _write_member(archive, key + _SHAPE, np.array(array.shape, np.int64))
                array = array[(slice(0, 1),) * array.ndim]
            if array.dtype.name in STORAGE_NAMES:
                _write_member(archive, key + _DTYPE, np.array(array.dtype.name))
                array = array.view(np.uint8)
            _write_member(archive, key, array)


def _write_member(archive: zipfile.ZipFile, key: str, array: NDArray) -> None:
    import numpy as np

    with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def _restored(key: str, file: Mapping[str, NDArray]) -> NDArray:
    import numpy as np

    array = file[key]
    if not isinstance(array, np.ndarray):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"'{key}' is no array")  # but bytes, where NumPy does not know its own mark
    if array.dtype.kind == "V":
        import ml_dtypes

        array = array.view(ml_dtypes.bfloat16)
    if key + _DTYPE in file:
        if (name := str(file[key + _DTYPE])) not in STORAGE_NAMES:
            raise ValueError(f"'{name}' is no element type")
        array = array.view(numpy_dtype_of(name))
    return np.broadcast_to(array, tuple(file[key + _SHAPE])) if key + _SHAPE in file else array


def _uses(module: ModuleOp) -> Iterator[tuple[Operation, dict[str, Attribute], str, Attribute]]:
    """Every attribute that is a resource, or an array with one: the operation, the dictionary that holds it, its name
    there, the attribute."""
    for op in module.walk():
        for place in (op.properties, op.attributes):
            for name, attribute in place.items():
                if next(_resources_in(attribute), None) is not None:
                    yield op, place, name, attribute


def _resources_in(attribute: Attribute) -> Iterator[ResourceAttr]:
    if isinstance(attribute, ResourceAttr):
        yield attribute
    elif isinstance(attribute, ArrayAttr):
        for element in cast("ArrayAttr[Attribute]", attribute):
            yield from _resources_in(element)


def _all(module: ModuleOp) -> Iterator[ResourceAttr]:
    """Every resource."""
    for _, _, _, attribute in _uses(module):
        yield from _resources_in(attribute)

"""The data of a constant that a module refers to."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import Attribute, Operation

from ..dialects.relay.attributes import attribute_to_array
from ..dialects.relay.base import flatten_types
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.dtypes import numpy_dtype

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]


def constant_data(op: Operation, value: Attribute, type: Attribute) -> NDArray:
    """The array that `value` stands for, a tensor of `type`, of which `op` speaks.

    Raises:
        Diagnostic: it was not loaded, or is another array.
    """
    described = flatten_types([type])[0]
    array = attribute_to_array(value, described)
    if array is None:
        raise Diagnostic.at(
            op, f"the data of {value} was not loaded", hint="keep the .weights.npz file beside the .mlir file"
        )
    if array.shape != described.get_shape() or array.dtype != numpy_dtype(described.element_type):
        raise Diagnostic.at(op, f"the weights hold {array.dtype}{list(array.shape)} for {value}, which is {described}")
    return array

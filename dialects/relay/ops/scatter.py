"""Operators that write at indices which are data: scatter and its kin.

A negative index counts from the end, once; an update whose index lies outside the data even so is lost, or makes the
run fail where `out_of_range` is "error". The updates are brought in one after the other, in the order of their indices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    compatible,
    integer,
    normalize_axis,
    shape_of,
    shape_text,
    string,
    tensor,
)
from ..indexing import (
    OutOfRange,
    as_indices,
    check_indices,
    checked,
    from_the_end,
    out_of_range,
    outside_text,
)
from ..precision import Accuracy
from .broadcast import LogicalAndOp
from .elementwise import integers
from .gather import GatherNdOp, GatherOp
from .reduce import AllOp
from .slicing import merge_dims

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..base import NDArray
    from ..gradient import Gradient, Term, Terms

    Indices: TypeAlias = npt.NDArray[np.int64]


_REDUCTIONS: dict[str, te.ReduceKind] = {"add": "sum", "mul": "prod", "min": "min", "max": "max"}
_WAYS = ("update", *_REDUCTIONS)


def _way(given: StringAttr, name: str) -> str:
    """
    Raises:
        VerifyException: `given` is not one of the ways in which updates are brought in.
    """
    if given.data not in _WAYS:
        raise VerifyException(f"'{name}' is one of {', '.join(_WAYS)}, not {given}")
    return given.data


class _ScatterOp(RelayOp, ABC):
    """`data` with `updates` written, or added, at `indices`. Of several updates of one element, the last is written.

    `out_of_range` says what becomes of an update whose index lies outside: it is lost ("drop"), or the run fails
    ("error").
    """

    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    result = result_def(TensorType)

    out_of_range = string(OutOfRange.DROP)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    @property
    def checks(self) -> bool:
        """Whether an index outside of the data makes the run fail."""
        return self.out_of_range.data == OutOfRange.ERROR

    @abstractmethod
    def axes(self, data: Sequence[int], indices: Sequence[int]) -> list[int]:
        """The extents that the indices belong to: one for all, or one for each part along their first dimension."""

    @abstractmethod
    def how(self) -> str:
        """What happens to an element and its updates: "update", "add", "mul", "min" or "max"."""

    @abstractmethod
    def check(self, data: Sequence[int], indices: Sequence[int], updates: Sequence[int]) -> None:
        """
        Raises:
            VerifyException: the three shapes do not go together.
        """

    @abstractmethod
    def apart(self, indices: te.Tensor) -> int:
        """How many of the first dimensions of the indices are such that updates at others go to other elements."""

    @abstractmethod
    def points(self, indices: te.Tensor) -> Sequence[te.Dim]:
        """The extents of what there is an index, or a vector of indices, for each of."""

    @abstractmethod
    def begin(self, indices: te.Tensor, point: Sequence[te.Expr]) -> dict[int, te.Expr]:
        """The indices of data that stand at a point, by the dimension of the data."""

    def place(self, point: Sequence[te.Expr], found: Mapping[int, te.Expr]) -> tuple[te.Expr, ...]:
        """The first indices of the element, or of the slice, that the update at a point goes to."""
        return tuple(found.get(d, at) for d, at in enumerate(point))

    def infer(self) -> Sequence[Attribute]:
        data, indices, updates = tensor(self.data), integers(tensor(self.indices)), tensor(self.updates)
        if data.element_type != updates.element_type:
            raise VerifyException(f"{data} cannot be updated from {updates}: the element types differ")
        self.how()
        out_of_range(self.out_of_range, (OutOfRange.DROP, OutOfRange.ERROR), "out_of_range")
        self.check(data.get_shape(), indices.get_shape(), updates.get_shape())
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        data, indices, updates = inputs
        if self.checks and (axes := self.axes(data.shape, indices.shape)):
            indices = checked(indices, axes, outside_text(self.name))
        kind = _REDUCTIONS.get(self.how())

        def fill(do: te.Steps, result: te.Tensor) -> None:
            over = self.apart(indices)
            with do.loops(self.points(indices)[over:]) as rest:
                point = (*do.axes, *rest)
                found = {
                    d: do.let(te.cast(i, te.index) if self.checks else from_the_end(i, data.shape[d]), "at")
                    for d, i in self.begin(indices, point).items()
                }
                lies = [(at >= 0) & (at < te.dim_expr(data.dims[d])) for d, at in found.items()]
                with do.when(te.all_of([] if self.checks else lies)):
                    place = self.place(point, found)
                    with do.loops(data.dims[len(place) :]) as behind:
                        element, update = result[(*place, *behind)], updates[(*point, *behind)]
                        do.store(element, update if kind is None else te.binary(te.COMBINER[kind], element, update))

        over = self.points(indices)[: self.apart(indices)]
        return te.procedure([(data.dims, data.element_type, "scatter")], fill, over=over, begin=[data])[0]

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        data, indices, updates = inputs
        if self.checks and (axes := self.axes(data.shape, indices.shape)):
            indices = check_indices(indices, axes, outside_text(self.name))
        where = self.where(as_indices(indices))
        valid = np.ones(where[0].shape, np.bool_)
        for d, at in enumerate(where):
            at = where[d] = np.where(at < 0, at + data.shape[d], at)
            valid &= (at >= 0) & (at < data.shape[d])
        result: npt.NDArray[Any] = data.copy()
        target = tuple(at[valid] for at in where)
        if self.how() == "update":
            result[target] = updates[valid]
        else:
            add = np.logical_xor if data.dtype == np.bool_ else np.add
            combine = {"add": add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[self.how()]
            combine.at(result, target, updates[valid])
        return result

    def gradient(self, g: Gradient) -> Terms:
        if self.how() not in ("update", "add"):
            raise VerifyException(f"updates are brought in by {self.how()}")
        if self.how() == "update":
            return g.moved((0, 2))
        indices = g.inputs[1]
        read = self.read(g.grad, indices)
        return [g.grad, None, read.where(self.inside(indices, g.inputs[2]))]

    @abstractmethod
    def read(self, data: Term, indices: Term) -> Term:
        """The elements of `data` to which the updates go, in their shape; anything where one goes nowhere."""

    @abstractmethod
    def inside(self, indices: Term, updates: Term) -> Term:
        """Where the updates go into the data, in a shape that broadcasts to theirs."""

    @abstractmethod
    def where(self, indices: Indices) -> list[Indices]:
        """For every update, or slice of updates, the index into each of the first dimensions of the data."""


class _ScatterAlongAxis(_ScatterOp, ABC):
    """Each update goes to its own place in the data, but for `axis`, where its index stands."""

    axis = integer(0)

    def read(self, data: Term, indices: Term) -> Term:
        return data.op(GatherOp, indices, axis=self.axis)

    def inside(self, indices: Term, updates: Term) -> Term:
        shape = shape_of(self.data)
        extent = shape[normalize_axis(self.axis.value.data, len(shape))]
        return (indices >= -extent).op(LogicalAndOp, indices < extent)

    def check(self, data: Sequence[int], indices: Sequence[int], updates: Sequence[int]) -> None:
        axis = normalize_axis(self.axis.value.data, len(data))
        if len(indices) != len(updates) or len(indices) != len(data):
            raise VerifyException(
                f"data of rank {len(data)} is updated with indices of rank {len(indices)} and updates of rank "
                f"{len(updates)}"
            )
        for d, (m, n, k) in enumerate(zip(data, indices, updates, strict=True)):
            merge_dims(n, k, f"dimension {d} of indices and updates")
            if d != axis and DYNAMIC not in (m, n) and n > m:
                raise VerifyException(f"the indices reach beyond the data in dimension {d}: {n} > {m}")

    def axes(self, data: Sequence[int], indices: Sequence[int]) -> list[int]:
        return [data[normalize_axis(self.axis.value.data, len(data))]]

    def apart(self, indices: te.Tensor) -> int:
        return normalize_axis(self.axis.value.data, indices.rank)

    def points(self, indices: te.Tensor) -> Sequence[te.Dim]:
        return indices.dims

    def begin(self, indices: te.Tensor, point: Sequence[te.Expr]) -> dict[int, te.Expr]:
        return {normalize_axis(self.axis.value.data, indices.rank): indices[tuple(point)]}

    def where(self, indices: Indices) -> list[Indices]:
        import numpy as np

        grid: npt.NDArray[Any] = np.indices(indices.shape)
        places: list[Indices] = [grid[d] for d in range(indices.ndim)]
        places[normalize_axis(self.axis.value.data, indices.ndim)] = indices
        return places


@irdl_op_definition
class ScatterOp(_ScatterAlongAxis):
    """The data with each update written in its own place but for `axis`, where its index stands.

    ```mlir
    %y = relay.scatter %x, %i, %u {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
    """  # noqa: E501

    name = "relay.scatter"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    def how(self) -> str:
        return "update"


@irdl_op_definition
class ScatterAddOp(_ScatterAlongAxis):
    """The data with each update added in its own place but for `axis`, where its index stands.

    ```mlir
    %y = relay.scatter_add %x, %i, %u {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
    """  # noqa: E501

    name = "relay.scatter_add"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED

    def how(self) -> str:
        return "add"


@irdl_op_definition
class ScatterElementsOp(_ScatterAlongAxis):
    """The data with each update brought in in its own place but for `axis`, where its index stands.

    `reduction` says how: written ("update"), added ("add"), multiplied ("mul"), or where it is smaller ("min") or
    larger ("max"). TVM has this operator from v0.11 on, in place of `scatter` and `scatter_add`.

    ```mlir
    %y = relay.scatter_elements %x, %i, %u {axis = 1 : i64, reduction = "mul"} : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
    """  # noqa: E501

    name = "relay.scatter_elements"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED

    reduction = string("update")

    def how(self) -> str:
        return _way(self.reduction, "reduction")


@irdl_op_definition
class ScatterNdOp(_ScatterOp):
    """The data with slices brought in at index vectors: "update", "add", "mul", "min" or "max" in `mode`.

    The vectors stand along the first dimension of the indices: `[m, *places]`; updates are `[*places, *slice]`.

    ```mlir
    %y = relay.scatter_nd %x, %i, %u {mode = "add"} : (tensor<4x5x3xf32>, tensor<2x6xi64>, tensor<6x3xf32>) -> tensor<4x5x3xf32>
    ```
    """  # noqa: E501

    name = "relay.scatter_nd"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED

    mode = string("update")

    def how(self) -> str:
        return _way(self.mode, "mode")

    def read(self, data: Term, indices: Term) -> Term:
        return data.op(GatherNdOp, indices)

    def inside(self, indices: Term, updates: Term) -> Term:
        count = indices.shape[0]
        ends = indices.constant(shape_of(self.data)[:count], indices.type.element_type)
        ends = ends.reshape([count, *(1,) * (len(indices.shape) - 1)])
        inside = (indices >= -ends).op(LogicalAndOp, indices < ends).op(AllOp, axis=[0])
        return inside.reshape([*inside.shape, *(1,) * (len(updates.shape) - len(inside.shape))])

    def check(self, data: Sequence[int], indices: Sequence[int], updates: Sequence[int]) -> None:
        if not indices or indices[0] == DYNAMIC or indices[0] > len(data):
            raise VerifyException(
                f"indices of shape {shape_text(indices)} do not name dimensions of data of rank {len(data)}"
            )
        element = tensor(self.data).element_type
        wanted = TensorType(element, [*indices[1:], *data[indices[0] :]])
        if not compatible(wanted, TensorType(element, updates)):
            raise VerifyException(
                f"updates of shape {shape_text(updates)} do not fit; expected {shape_text(wanted.get_shape())}"
            )

    def axes(self, data: Sequence[int], indices: Sequence[int]) -> list[int]:
        return [*data[: indices[0]]]

    def apart(self, indices: te.Tensor) -> int:
        return 0

    def points(self, indices: te.Tensor) -> Sequence[te.Dim]:
        return indices.dims[1:]

    def begin(self, indices: te.Tensor, point: Sequence[te.Expr]) -> dict[int, te.Expr]:
        return {m: indices[(te.const(m, te.index), *point)] for m in range(indices.shape[0])}

    def place(self, point: Sequence[te.Expr], found: Mapping[int, te.Expr]) -> tuple[te.Expr, ...]:
        return tuple(found.values())

    def where(self, indices: Indices) -> list[Indices]:
        return [*indices]


OPS: list[type[Operation]] = [ScatterOp, ScatterAddOp, ScatterElementsOp, ScatterNdOp]
"""The operators that write at indices which are data."""

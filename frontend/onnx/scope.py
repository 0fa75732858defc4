"""What names mean in a graph that is being imported."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import SSAValue

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnx import TensorProto

    NDArray: TypeAlias = npt.NDArray[np.generic]


class Poison:
    """Stands for a value that could not be imported; what depends on it is skipped."""


POISON = Poison()


@dataclass
class Scope:
    """The values that a graph can name: its own, then those around it."""

    values: dict[str, SSAValue | Poison | None]
    weights: dict[str, TensorProto]
    opsets: Mapping[str, int]
    outer: Scope | None = None
    made: Collection[str] = ()
    """The values that the graph makes somewhere, for a better message."""
    read: Collection[str] = ()
    """The values that something reads."""
    arrays: Mapping[str, NDArray] = field(default_factory=dict[str, "NDArray"])
    """Weights whose data their tensors do not hold."""
    place: str | None = None
    """The node whose definition this is: its nodes are placed there."""

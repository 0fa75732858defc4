"""What makes two modules one workload (`tvm.meta_schedule`'s `ModuleEquality`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DenseResourceAttr, ModuleOp
from xdsl.ir import Operation

from ..dialects.support.dense import dense_of
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..dialects.support.dtypes import numpy_dtype
from ..structural import structural_equal, structural_hash
from ..transforms.tir.analysis.functions import find_anchor_block


class ModuleEquality:
    """Whether two modules are one, and a number that is the same for such.

    Args:
        name: `"structural"`, what they compute but for names; `"ignore-ndarray"`, that but for numbers in constants;
            `"anchor-block"`, their anchor blocks (`find_anchor_block`) where both have one, else as `"ignore-ndarray"`.

    Raises:
        UsageError: there is no such equality.
    """

    def __init__(self, name: str):
        if name not in _VIEWS:
            hint = did_you_mean(name, _VIEWS) or f"one of {', '.join(_VIEWS)}"
            raise UsageError(f"modules are not compared by '{name}'", hint=hint)
        self.name = name

    def equal(self, lhs: ModuleOp, rhs: ModuleOp) -> bool:
        """Whether two modules are one."""
        view = _VIEWS[self.name]
        a, b = view(lhs), view(rhs)
        if isinstance(a, ModuleOp) != isinstance(b, ModuleOp):
            return False
        return structural_equal(a, b, map_free_vars=not isinstance(a, ModuleOp))

    def hash(self, mod: ModuleOp) -> int:
        """A number that is the same for modules that are one; of one process."""
        seen = _VIEWS[self.name](mod)
        return structural_hash(seen, map_free_vars=not isinstance(seen, ModuleOp))


def _whole(mod: ModuleOp) -> Operation:
    return mod


def _without_data(mod: ModuleOp) -> Operation:
    """The module with zeros for the numbers in its constants."""
    copy = mod.clone()
    for op in copy.walk():
        for attributes in (op.properties, op.attributes):
            for key, value in list(attributes.items()):
                if isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr):
                    element = value.type.element_type  # pyright: ignore
                    zeros = np.zeros(value.type.get_shape(), numpy_dtype(element))  # pyright: ignore
                    attributes[key] = dense_of(zeros, element)  # pyright: ignore
    return copy


def _anchor(mod: ModuleOp) -> Operation:
    """The anchor block, or the module where it has none."""
    bare = _without_data(mod)
    assert isinstance(bare, ModuleOp)
    block = find_anchor_block(bare)
    return bare if block is None else block


_VIEWS: Mapping[str, Callable[[ModuleOp], Operation]] = {
    "structural": _whole, "ignore-ndarray": _without_data, "anchor-block": _anchor,
}  # fmt: skip
"""What is compared of a module."""

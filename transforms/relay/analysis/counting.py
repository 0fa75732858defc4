"""How much there is of what: multiplications, operators, layers, element types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ....dialects.relay.base import RelayOp, tensors_in
from ....dialects.relay.core import FuncOp
from ....dialects.support.dtypes import dtype_name
from ...infra.walk import walk


def total_macs(root: Operation) -> int:
    """The multiplications with addition of convolutions and matrix products, in all of `root`, each counted once.

    Raises:
        Diagnostic: the number depends on an extent that is not known.
    """
    return sum(op.macs() for op in walk(root) if isinstance(op, RelayOp))


def op_frequencies(root: Operation) -> dict[str, int]:
    """How often each operator stands in `root`, by its name without `relay.`."""
    return dict(Counter(op.name.removeprefix("relay.") for op in walk(root) if isinstance(op, RelayOp)))


def layer_depth(root: Operation, names: Collection[str]) -> int:
    """How many operators of these names stand behind one another at most."""
    wanted = {f"relay.{name.removeprefix('relay.')}" for name in names}
    depth: dict[SSAValue, int] = {}
    deepest = 0
    for op in walk(root):
        here = max((depth.get(value, 0) for value in op.operands), default=0) + (op.name in wanted)
        depth.update(dict.fromkeys(op.results, here))
        deepest = max(deepest, here)
    return deepest


def element_types(root: Operation) -> set[str]:
    """The names of the element types of all tensors in `root`."""
    found: set[str] = set()
    for op in walk(root):
        arguments = [arg for region in op.regions for block in region.blocks for arg in block.args]
        types = tensors_in(*(value.type for value in (*op.results, *arguments)))
        found.update(dtype_name(type.element_type) for type in types)
    return found


def main_function(root: Operation) -> Operation:
    """`@main` of a module, or what is given."""
    if isinstance(root, ModuleOp):
        return next((op for op in root.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"), root)
    return root

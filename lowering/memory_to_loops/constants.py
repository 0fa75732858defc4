"""The constants of a module of graphs, as globals: what the code is given beside it, one for each different value."""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp, SymbolRefAttr, i64
from xdsl.ir import Attribute, Operation

from ...dialects.extensions.memref import GlobalOp
from ...dialects.mem.core import ConstantOp
from ...dialects.relay.attributes import glance
from ...dialects.relay.base import tensor
from ...dialects.relay.core import ConstantOp as RelayConstantOp
from ...dialects.support.interned import flat_memref
from ..relay_to_tir.te_expressions import signless

ADDRESS = "address"
"""Attribute of a constant that a program hands on: the function that gives its address."""


class Constants:
    """The module's constant globals, one for each different value."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.addresses: set[str] = set()
        self.globals: dict[tuple[tuple[object, ...], Attribute], GlobalOp] = {}

    def reference(self, constant: ConstantOp | RelayConstantOp) -> GlobalOp:
        """The global that holds a constant's data; the data itself is passed beside the code, as `weft.value`."""
        value = constant.value
        key = glance(value), value
        if (known := self.globals.get(key)) is None:
            number = len(self.globals)
            described = constant.type if isinstance(constant, ConstantOp) else tensor(constant.result)
            type = flat_memref(signless(tensor(described).element_type), prod(tensor(described).get_shape()))
            known = GlobalOp(f"constant_{number}", type, constant=True)
            known.attributes["weft.constant_index"] = IntegerAttr(number, i64)
            known.attributes["weft.value"] = value
            known.attributes["weft.type"] = described
            self.globals[key] = known
            first = self.module.body.block.first_op
            assert first is not None
            self.module.body.block.insert_op_before(known, first)
        return known


def address_function(constant: RelayConstantOp, constants: Constants) -> list[Operation]:
    """A function that says where a constant is that a program hands on, unless there is one; the constant names it."""
    held = constants.reference(constant)
    name = f"{held.sym_name.data}_address"
    constant.attributes[ADDRESS] = SymbolRefAttr(name)
    if name in constants.addresses:
        return []
    constants.addresses.add(name)
    get = memref.GetGlobalOp(held.sym_name.data, held.type)
    pointer = memref.ExtractAlignedPointerAsIndexOp.get(get.memref)
    cast = arith.IndexCastOp(pointer.aligned_pointer, i64)
    function = func.FuncOp(name, FunctionType.from_lists([], [i64]), visibility="private")
    function.body.block.add_ops([get, pointer, cast, func.ReturnOp(cast.result)])
    return [function]

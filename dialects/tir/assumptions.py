"""What a program promises and what it leaves open: `tir.assume`, and `tir.undef`, a value that may be any."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class AssumeOp(IRDLOperation):
    """The condition holds here: whoever wrote the function promises so, and passes may rely on it. No code is made for
    it, and only the interpreter looks whether it is true. Counterpart of TVM's `assume`.

    ```mlir
    %1 = arith.cmpf oeq, %x, %x : f32
    tir.assume %1
    ```
    """

    name = "tir.assume"

    condition = operand_def(i1)

    assembly_format = "$condition attr-dict"

    def __init__(self, condition: SSAValue):
        super().__init__(operands=[condition])


@irdl_op_definition
class UndefOp(IRDLOperation):
    """A value that may be any: an element that it is stored to, or that what is computed from it is stored to, is as if
    nothing had been written to it. It serves nothing else. Counterpart of TVM's `undef`.

    ```mlir
    %0 = tir.undef : f32
    memref.store %0, %y[%vi] : memref<4xf32>
    ```
    """

    name = "tir.undef"

    result = result_def()

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: Attribute):
        super().__init__(result_types=[type])

    def verify_(self) -> None:
        for value in values_of(self):
            for use in value.uses:
                if not _is_stored(use.operation, value) and not _computes(use.operation):
                    raise VerifyException("a value that may be any is stored, and decides nothing")


def _computes(op: Operation) -> bool:
    return op.name.startswith(("arith.", "math.")) and not op.regions


def _is_stored(op: Operation, value: SSAValue) -> bool:
    return isinstance(op, memref.StoreOp) and op.value is value and value not in op.indices


def values_of(undefined: UndefOp) -> set[SSAValue]:
    """What is computed from a value that may be any, itself among it: it may be any, too."""
    found: set[SSAValue] = {undefined.result}
    pending: list[SSAValue] = [undefined.result]
    while pending:
        for use in pending.pop().uses:
            if _computes(use.operation):
                pending += (result for result in use.operation.results if result not in found)
                found.update(use.operation.results)
    return found


def undefined_stores(region: Region) -> list[memref.StoreOp]:
    """The stores under `region` of values that may be any."""
    found: dict[memref.StoreOp, None] = {}
    for op in region.walk():
        if isinstance(op, UndefOp):
            for value in values_of(op):
                stores = (
                    use.operation
                    for use in value.uses
                    if isinstance(use.operation, memref.StoreOp) and _is_stored(use.operation, value)
                )
                found.update(dict.fromkeys(stores))
    return list(found)

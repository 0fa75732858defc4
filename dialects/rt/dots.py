"""Dot products of narrow numbers, as one instruction of a processor does them for all lanes of a vector."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, VectorType, bf16, f32, i8, i16, i32
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class Instruction(StrEnum):
    """Which instruction; they differ in the signs that they take."""

    VNNI = "vnni"
    """x86's `vpdpbusd`: the left bytes without a sign, the right ones with one."""
    SDOT = "sdot"
    """AArch64's `sdot`: both with a sign."""
    UDOT = "udot"
    """AArch64's `udot`: both without one."""
    PMADDWD = "pmaddwd"
    """x86's `pmaddwd`: pairs of 16 bits with a sign."""
    BF16 = "bf16"
    """x86's `vdpbf16ps`: pairs of bf16, summed in f32."""


LANES = {
    Instruction.VNNI: (4, 8, 16),
    Instruction.SDOT: (2, 4),
    Instruction.UDOT: (2, 4),
    Instruction.PMADDWD: (4, 8, 16),
    Instruction.BF16: (4, 8, 16),
}
"""How many sums an instruction makes at once."""
_PARTS = {
    Instruction.BF16: (f32, bf16, 2, "two products of bf16"),
    Instruction.PMADDWD: (i32, i16, 2, "two products of 16 bits"),
}
"""Instructions that do not sum products of bytes -> the types of sums and parts, and how many of these fill a lane."""


@irdl_op_definition
class DotOp(IRDLOperation):
    """Each lane's sum and the products of its four bytes, or two numbers of 16 bits, on both sides, in 32 bits, which
    wrap; or of its two bf16, in f32, rounded to nearest after each, where what is too small for a normal number counts
    as 0.

    `result[n] = acc[n] + sum_{m < p} lhs[p n + m] * rhs[p n + m]`, where `p` numbers fill 32 bits.

    ```mlir
    %0 = rt.dot "vnni" %acc, %a, %b : vector<16xi32>, vector<64xi8>
    ```
    """

    SUMS: ClassVar = VarConstraint("SUMS", base(VectorType))
    PARTS: ClassVar = VarConstraint("PARTS", base(VectorType))

    name = "rt.dot"
    instruction = prop_def(StringAttr)
    acc = operand_def(SUMS)
    lhs = operand_def(PARTS)
    rhs = operand_def(PARTS)
    result = result_def(SUMS)
    assembly_format = "$instruction $acc `,` $lhs `,` $rhs attr-dict `:` type($acc) `,` type($lhs)"
    traits = traits_def(Pure())

    def __init__(self, instruction: Instruction, acc: SSAValue, lhs: SSAValue, rhs: SSAValue):
        super().__init__(
            operands=[acc, lhs, rhs],
            result_types=[acc.type],
            properties={"instruction": StringAttr(instruction.value)},
        )

    def verify_(self) -> None:
        if self.instruction.data not in tuple(Instruction):
            raise VerifyException(f'there is no "{self.instruction.data}"; known: {", ".join(Instruction)}')
        instruction = Instruction(self.instruction.data)
        known = LANES[instruction]
        sums, parts, count, what = _PARTS.get(instruction, (i32, i8, 4, "four products of bytes"))
        types = [(VectorType(sums, [n]), VectorType(parts, [count * n])) for n in known]
        if (self.acc.type, self.lhs.type) not in types:
            raise VerifyException(f"makes {' or '.join(map(str, known))} sums of {what} each")

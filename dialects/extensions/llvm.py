"""What xDSL's llvm dialect lacks, spelled as upstream MLIR 22 spells it.

`Llvm` is xDSL's dialect with these operations and attributes added, with `llvm.fcmp`, `llvm.icmp`, `llvm.select`
and `llvm.intr.masked.store` replaced by forms that take every type upstream takes, and `llvm.store` by one that can be
atomic (`llvm_atomics`). Tools register it under the name
`llvm` in place of xDSL's.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    BoolAttr,
    IntegerAttr,
    SignlessIntegerConstraint,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from ..support.vector_types import i1_like
from .llvm_atomics import ATOMICS
from .llvm_intrinsics import INTRINSICS, NO_FLAGS
from .llvm_loop_annotation import (
    AccessGroupAttr,
    LoopAnnotationAttr,
    LoopInterleaveAttr,
    LoopUnrollAttr,
    LoopVectorizeAttr,
)

_FLOAT = AnyFloatConstr | VectorType.constr(AnyFloatConstr)
_COMPARED = SignlessIntegerConstraint | base(llvm.LLVMPointerType) | VectorType.constr(SignlessIntegerConstraint)
_BIT = eq(i1) | VectorType.constr(i1)


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """A value that must not be used.

    ```mlir
    %0 = llvm.mlir.poison : vector<16xf32>
    ```
    """

    name = "llvm.mlir.poison"
    res = result_def(Attribute)
    assembly_format = "attr-dict `:` type($res)"
    traits = traits_def(Pure())


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """One element of a vector.

    ```mlir
    %1 = llvm.extractelement %v[%i : i64] : vector<16xf32>
    ```
    """

    name = "llvm.extractelement"
    T: ClassVar = VarConstraint("T", AnyAttr())
    vector = operand_def(VectorType.constr(T))
    position = operand_def(SignlessIntegerConstraint)
    res = result_def(T)
    assembly_format = "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"
    traits = traits_def(Pure())


@irdl_op_definition
class FCmpOp(IRDLOperation):
    """Comparison of floats or of vectors of floats.

    ```mlir
    %0 = llvm.fcmp "olt" %a, %b : vector<16xf32>
    ```
    """

    name = "llvm.fcmp"
    T: ClassVar = VarConstraint("T", _FLOAT)
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(_BIT)
    predicate = prop_def(IntegerAttr)
    fastmathFlags = prop_def(llvm.FastMathAttr, default_value=NO_FLAGS)
    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue, predicate: int, flags: llvm.FastMathAttr = NO_FLAGS):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[i1_like(lhs.type)],
            properties={"predicate": IntegerAttr(predicate, i64), "fastmathFlags": flags},
        )

    @classmethod
    def parse(cls, parser: Parser) -> FCmpOp:
        flag = llvm.FCmpPredicateFlag(parser.parse_str_literal())
        lhs, _, rhs = (
            parser.parse_unresolved_operand(),
            parser.parse_punctuation(","),
            parser.parse_unresolved_operand(),
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        operands = parser.resolve_operands([lhs, rhs], [type, type], parser.pos)
        flags = attributes.pop("fastmathFlags", NO_FLAGS)
        assert isinstance(flags, llvm.FastMathAttr)
        op = cls(operands[0], operands[1], flag.to_int(), flags)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{llvm.FCmpPredicateFlag.from_int(self.predicate.value.data)}" ')
        printer.print_list(self.operands, printer.print_operand)
        flags = {} if self.fastmathFlags == NO_FLAGS else {"fastmathFlags": self.fastmathFlags}
        printer.print_op_attributes(flags | self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)


@irdl_op_definition
class ICmpOp(IRDLOperation):
    """Comparison of integers or of pointers, or of vectors of integers.

    ```mlir
    %0 = llvm.icmp "eq" %a, %b : !llvm.ptr
    ```
    """

    name = "llvm.icmp"
    T: ClassVar = VarConstraint("T", _COMPARED)
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(_BIT)
    predicate = prop_def(IntegerAttr)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> ICmpOp:
        flag = llvm.ICmpPredicateFlag(parser.parse_str_literal())
        names = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        names.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(names, [type, type], parser.pos),
            result_types=[i1_like(type)],
            properties={"predicate": IntegerAttr(flag.to_int(), i64)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{llvm.ICmpPredicateFlag.from_int(self.predicate.value.data)}" ')
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)


@irdl_op_definition
class SelectOp(IRDLOperation):
    """One of two values, by a bit or, lane by lane, by a vector of bits.

    ```mlir
    %0 = llvm.select %mask, %a, %b : vector<16xi1>, vector<16xf32>
    ```
    """

    name = "llvm.select"
    T: ClassVar = VarConstraint("T", AnyAttr())
    cond = operand_def(_BIT)
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(llvm.FastMathAttr, default_value=NO_FLAGS)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$cond `,` $lhs `,` $rhs attr-dict `:` type($cond) `,` type($res)"
    traits = traits_def(Pure())


class CastOp(llvm.GenericCastOp, ABC):
    """A conversion between scalars or between vectors."""


@irdl_op_definition
class FPToSIOp(CastOp):
    """Float to signed integer: `%0 = llvm.fptosi %a : f32 to i32`."""

    name = "llvm.fptosi"


@irdl_op_definition
class FPToUIOp(CastOp):
    """Float to unsigned integer: `%0 = llvm.fptoui %a : f32 to i32`."""

    name = "llvm.fptoui"


@irdl_op_definition
class UIToFPOp(CastOp):
    """Unsigned integer to float: `%0 = llvm.uitofp %a : i32 to f32`."""

    name = "llvm.uitofp"


@irdl_op_definition
class MaskedLoadOp(IRDLOperation):
    """Lanes whose mask bit is set are loaded, the others come from `pass_thru`.

    ```mlir
    %0 = llvm.intr.masked.load %p, %mask, %pass {alignment = 4 : i32}
       : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
    ```
    """

    name = "llvm.intr.masked.load"
    data = operand_def(llvm.LLVMPointerType)
    mask = operand_def(VectorType.constr(i1))
    pass_thru = var_operand_def(VectorType)
    res = result_def(VectorType)
    alignment = prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"
    traits = traits_def(MemoryReadEffect())


@irdl_op_definition
class MaskedStoreOp(IRDLOperation):
    """Lanes whose mask bit is set are stored.

    ```mlir
    llvm.intr.masked.store %v, %p, %mask {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
    ```
    """

    name = "llvm.intr.masked.store"
    value = operand_def(VectorType)
    data = operand_def(llvm.LLVMPointerType)
    mask = operand_def(VectorType.constr(i1))
    alignment = prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$value `,` $data `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($data)"
    traits = traits_def(MemoryWriteEffect())


@irdl_op_definition
class MemcpyOp(IRDLOperation):
    """Copies `len` bytes between regions that do not overlap.

    ```mlir
    "llvm.intr.memcpy"(%to, %from, %bytes) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    ```
    """

    name = "llvm.intr.memcpy"
    dst = operand_def(llvm.LLVMPointerType)
    src = operand_def(llvm.LLVMPointerType)
    len = operand_def(SignlessIntegerConstraint)
    isVolatile = prop_def(BoolAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Asks for the memory at an address to be brought near, since it will be read (`rw` 0) or written (1) soon.

    `hint` is from 0, where it is not used again, to 3, to be kept as near as can be; `cache` is 1 for data.

    ```mlir
    "llvm.intr.prefetch"(%address) <{rw = 0 : i32, hint = 3 : i32, cache = 1 : i32}> : (!llvm.ptr) -> ()
    ```
    """

    name = "llvm.intr.prefetch"
    addr = operand_def(llvm.LLVMPointerType)
    rw = prop_def(IntegerAttr.constr(i32))
    hint = prop_def(IntegerAttr.constr(i32))
    cache = prop_def(IntegerAttr.constr(i32))
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class AddrSpaceCastOp(IRDLOperation):
    """The same place, as a pointer of another address space.

    ```mlir
    %1 = llvm.addrspacecast %0 : !llvm.ptr<3> to !llvm.ptr
    ```
    """

    name = "llvm.addrspacecast"
    arg = operand_def(llvm.LLVMPointerType)
    res = result_def(llvm.LLVMPointerType)
    assembly_format = "$arg attr-dict `:` type($arg) `to` type($res)"
    traits = traits_def(Pure())


_REPLACED = {"llvm.fcmp", "llvm.icmp", "llvm.select", "llvm.intr.masked.store", "llvm.store"}

OPERATIONS: list[type[Operation]] = [
    AddrSpaceCastOp,
    PoisonOp,
    ExtractElementOp,
    FCmpOp,
    ICmpOp,
    SelectOp,
    FPToSIOp,
    FPToUIOp,
    UIToFPOp,
    MaskedLoadOp,
    MaskedStoreOp,
    MemcpyOp,
    PrefetchOp,
]

Llvm = Dialect(
    "llvm",
    [*(op for op in llvm.LLVM.operations if op.name not in _REPLACED), *OPERATIONS, *ATOMICS, *INTRINSICS],
    [
        *llvm.LLVM.attributes,
        AccessGroupAttr,
        LoopAnnotationAttr,
        LoopInterleaveAttr,
        LoopUnrollAttr,
        LoopVectorizeAttr,
    ],
)

"""Atomic operations of the llvm dialect, which xDSL lacks, spelled as upstream MLIR 22 spells them.

    %old = llvm.atomicrmw add %p, %v monotonic : !llvm.ptr, i64
    %r = llvm.cmpxchg %p, %old, %new acq_rel monotonic : !llvm.ptr, i32
    llvm.store %v, %p atomic release {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.fence seq_cst

What the orderings mean is LLVM's memory model, which is that of C11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import ClassVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    StringAttr,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..support.interned import integer_attribute


class Ordering(IntEnum):
    """How an access is ordered with others, by upstream's numbers."""

    not_atomic = 0
    unordered = 1
    monotonic = 2
    acquire = 4
    release = 5
    acq_rel = 6
    seq_cst = 7


class AtomicBinOp(IntEnum):
    """What `llvm.atomicrmw` does to the memory, by upstream's numbers; `_and` is LLVM's `and`."""

    xchg = 0
    add = 1
    sub = 2
    _and = 3
    nand = 4
    _or = 5
    _xor = 6
    max = 7
    min = 8
    umax = 9
    umin = 10
    fadd = 11
    fsub = 12
    fmax = 13
    fmin = 14
    uinc_wrap = 15
    udec_wrap = 16
    usub_cond = 17
    usub_sat = 18

    @property
    def word(self) -> str:
        """The word of LLVM IR."""
        return self.name.removeprefix("_")


_FLOATING = (AtomicBinOp.fadd, AtomicBinOp.fsub, AtomicBinOp.fmax, AtomicBinOp.fmin)


def _number(value: int) -> IntegerAttr[IntegerType]:
    return integer_attribute(int(value), 64)


def _parse_ordering(parser: Parser) -> IntegerAttr[IntegerType]:
    place = parser.pos
    word = parser.parse_identifier()
    if word not in Ordering.__members__:
        parser.raise_error(f"'{word}' is no atomic ordering; they are {', '.join(Ordering.__members__)}", place)
    return _number(Ordering[word])


def _parse_syncscope(parser: Parser) -> StringAttr | None:
    if parser.parse_optional_keyword("syncscope") is None:
        return None
    with parser.in_parens():
        return StringAttr(parser.parse_str_literal())


def _print_syncscope(printer: Printer, scope: StringAttr | None) -> None:
    if scope is not None:
        printer.print_string(" syncscope(")
        printer.print_attribute(scope)
        printer.print_string(")")


def _ordering(value: IntegerAttr[IntegerType]) -> Ordering:
    try:
        return Ordering(value.value.data)
    except ValueError:
        raise VerifyException(f"{value.value.data} is no atomic ordering") from None


def _print_tail(printer: Printer, op: Operation, alignment: Attribute | None, types: Sequence[Attribute]) -> None:
    extra = {} if alignment is None else {"alignment": alignment}
    printer.print_op_attributes(extra | op.attributes)
    printer.print_string(" : ")
    printer.print_list(types, printer.print_attribute)


def _given(properties: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    return {key: value for key, value in properties.items() if value is not None}


@irdl_op_definition
class AtomicRMWOp(IRDLOperation):
    """Changes memory in one step that no other thread can come between; gives what was there before.

    ```mlir
    %0 = llvm.atomicrmw add %p, %v monotonic : !llvm.ptr, i64
    ```
    """

    name = "llvm.atomicrmw"
    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint | AnyFloatConstr | base(llvm.LLVMPointerType))
    bin_op = prop_def(IntegerAttr[IntegerType])
    ptr = operand_def(llvm.LLVMPointerType)
    val = operand_def(T)
    ordering = prop_def(IntegerAttr[IntegerType])
    syncscope = opt_prop_def(StringAttr)
    alignment = opt_prop_def(IntegerAttr[IntegerType])
    volatile_ = opt_prop_def(UnitAttr)
    res = result_def(T)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, kind: AtomicBinOp, ptr: SSAValue, val: SSAValue, ordering: Ordering):
        super().__init__(
            operands=[ptr, val],
            result_types=[val.type],
            properties={"bin_op": _number(kind), "ordering": _number(ordering)},
        )

    def kind(self) -> AtomicBinOp:
        """What is done to the memory."""
        return AtomicBinOp(self.bin_op.value.data)

    @classmethod
    def parse(cls, parser: Parser) -> AtomicRMWOp:
        volatile = parser.parse_optional_keyword("volatile") is not None
        place = parser.pos
        word = parser.parse_identifier()
        if word not in AtomicBinOp.__members__:
            parser.raise_error(f"'{word}' is no atomic operation; they are {', '.join(AtomicBinOp.__members__)}", place)
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        val = parser.parse_unresolved_operand()
        scope, ordering = _parse_syncscope(parser), _parse_ordering(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation(",")
        type = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(ptr, ptr_type), parser.resolve_operand(val, type)],
            result_types=[type],
            properties=_given(
                {
                    "bin_op": _number(AtomicBinOp[word]),
                    "ordering": ordering,
                    "syncscope": scope,
                    "alignment": attributes.pop("alignment", None),
                    "volatile_": UnitAttr() if volatile else None,
                }
            ),
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" volatile " if self.volatile_ is not None else " ")
        printer.print_string(f"{self.kind().name} ")
        printer.print_list(self.operands, printer.print_operand)
        _print_syncscope(printer, self.syncscope)
        printer.print_string(f" {_ordering(self.ordering).name}")
        _print_tail(printer, self, self.alignment, [self.ptr.type, self.val.type])

    def verify_(self, verify_nested_ops: bool = True) -> None:
        try:
            kind = self.kind()
        except ValueError:
            raise VerifyException(f"{self.bin_op.value.data} is no atomic operation") from None
        floating = AnyFloatConstr.verifies(self.val.type)
        if kind is not AtomicBinOp.xchg and floating is not (kind in _FLOATING):
            raise VerifyException(f"{kind.name} does not work on {self.val.type}")
        if kind is not AtomicBinOp.xchg and isinstance(self.val.type, llvm.LLVMPointerType):
            raise VerifyException(f"{kind.name} does not work on {self.val.type}")
        if _ordering(self.ordering) < Ordering.monotonic:
            raise VerifyException("the ordering must be monotonic or stronger")


@irdl_op_definition
class CmpXchgOp(IRDLOperation):
    """Stores `val` where `cmp` is found; gives what was found and whether it was `cmp`.

    ```mlir
    %0 = llvm.cmpxchg %p, %old, %new acq_rel monotonic : !llvm.ptr, i32
    ```
    """

    name = "llvm.cmpxchg"
    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint | base(llvm.LLVMPointerType))
    ptr = operand_def(llvm.LLVMPointerType)
    cmp = operand_def(T)
    val = operand_def(T)
    success_ordering = prop_def(IntegerAttr[IntegerType])
    failure_ordering = prop_def(IntegerAttr[IntegerType])
    syncscope = opt_prop_def(StringAttr)
    alignment = opt_prop_def(IntegerAttr[IntegerType])
    weak = opt_prop_def(UnitAttr)
    volatile_ = opt_prop_def(UnitAttr)
    res = result_def(llvm.LLVMStructType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @classmethod
    def parse(cls, parser: Parser) -> CmpXchgOp:
        weak, volatile = (parser.parse_optional_keyword(word) is not None for word in ("weak", "volatile"))
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        scope = _parse_syncscope(parser)
        success, failure = _parse_ordering(parser), _parse_ordering(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation(",")
        type = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(operands, [ptr_type, type, type], parser.pos),
            result_types=[llvm.LLVMStructType.from_type_list([type, i1])],
            properties=_given(
                {
                    "success_ordering": success,
                    "failure_ordering": failure,
                    "syncscope": scope,
                    "alignment": attributes.pop("alignment", None),
                    "weak": UnitAttr() if weak else None,
                    "volatile_": UnitAttr() if volatile else None,
                }
            ),
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" weak" if self.weak is not None else "")
        printer.print_string(" volatile " if self.volatile_ is not None else " ")
        printer.print_list(self.operands, printer.print_operand)
        _print_syncscope(printer, self.syncscope)
        success, failure = _ordering(self.success_ordering), _ordering(self.failure_ordering)
        printer.print_string(f" {success.name} {failure.name}")
        _print_tail(printer, self, self.alignment, [self.ptr.type, self.val.type])

    def verify_(self, verify_nested_ops: bool = True) -> None:
        if self.res.type != llvm.LLVMStructType.from_type_list([self.val.type, i1]):
            raise VerifyException(f"the result must be a struct of {self.val.type} and i1, not {self.res.type}")
        if min(_ordering(self.success_ordering), _ordering(self.failure_ordering)) < Ordering.monotonic:
            raise VerifyException("both orderings must be monotonic or stronger")
        if _ordering(self.failure_ordering) in (Ordering.release, Ordering.acq_rel):
            raise VerifyException("a failed exchange stores nothing: its ordering cannot be release or acq_rel")


@irdl_op_definition
class FenceOp(IRDLOperation):
    """Orders the accesses before it with those after it.

    ```mlir
    llvm.fence seq_cst
    ```
    """

    name = "llvm.fence"
    ordering = prop_def(IntegerAttr[IntegerType])
    syncscope = opt_prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @classmethod
    def parse(cls, parser: Parser) -> FenceOp:
        scope = _parse_syncscope(parser)
        return cls.create(
            properties=_given({"syncscope": scope, "ordering": _parse_ordering(parser)}),
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        _print_syncscope(printer, self.syncscope)
        printer.print_string(f" {_ordering(self.ordering).name}")
        printer.print_op_attributes(self.attributes)

    def verify_(self, verify_nested_ops: bool = True) -> None:
        if _ordering(self.ordering) < Ordering.acquire:
            raise VerifyException("the ordering must be acquire or stronger")


@irdl_op_definition
class StoreOp(IRDLOperation):
    """A store, atomic or not. xDSL's prints an atomic one as if it were not.

    ```mlir
    llvm.store %v, %p atomic release {alignment = 8 : i64} : i64, !llvm.ptr
    ```
    """

    name = "llvm.store"
    value = operand_def(AnyAttr())
    ptr = operand_def(llvm.LLVMPointerType)
    alignment = opt_prop_def(IntegerAttr[IntegerType])
    ordering = opt_prop_def(IntegerAttr[IntegerType])
    volatile_ = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)
    traits = traits_def(MemoryWriteEffect())

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        volatile = parser.parse_optional_keyword("volatile") is not None
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        ptr = parser.parse_unresolved_operand()
        atomic = parser.parse_optional_keyword("atomic") is not None
        ordering = _parse_ordering(parser) if atomic else _number(Ordering.not_atomic)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_punctuation(",")
        ptr_type = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(value, type), parser.resolve_operand(ptr, ptr_type)],
            properties=_given(
                {
                    "alignment": attributes.pop("alignment", None),
                    "nontemporal": attributes.pop("nontemporal", None),
                    "ordering": ordering,
                    "volatile_": UnitAttr() if volatile else None,
                }
            ),
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" volatile " if self.volatile_ is not None else " ")
        printer.print_list(self.operands, printer.print_operand)
        if self.ordering is not None and self.ordering.value.data:
            printer.print_string(f" atomic {_ordering(self.ordering).name}")
        extra = {key: value for key in ("alignment", "nontemporal") if (value := self.properties.get(key)) is not None}
        printer.print_op_attributes(extra | self.attributes)
        printer.print_string(" : ")
        printer.print_list([self.value.type, self.ptr.type], printer.print_attribute)

    def verify_(self, verify_nested_ops: bool = True) -> None:
        ordering = Ordering.not_atomic if self.ordering is None else _ordering(self.ordering)
        if ordering is Ordering.not_atomic:
            return
        if ordering in (Ordering.acquire, Ordering.acq_rel):
            raise VerifyException(f"a store cannot be {ordering.name}")
        if self.alignment is None:
            raise VerifyException("an atomic store must say its alignment")


ATOMICS: list[type[Operation]] = [AtomicRMWOp, CmpXchgOp, FenceOp, StoreOp]

"""Calls out of a block: of C functions, of Python functions, of LLVM's intrinsics; and addresses of elements for them.

A call takes scalars and buffers. Of each buffer it says what the function does with it, since nothing else can know:
read it, write it, or both. It may touch all of a buffer, so a block that hands one to a call declares no place for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    Float32Type,
    Float64Type,
    FunctionType,
    IntegerType,
    MemRefType,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..support.hints import isa
from ..support.interned import index
from .buffers import memref_of


class Convention(StrEnum):
    """What is called: a function of C, a Python function by the name that it is registered with (`weft.register_func`),
    or one of LLVM's intrinsics."""

    EXTERN = "extern"
    PACKED = "packed"
    INTRIN = "intrin"


class Effect(StrEnum):
    """What a call does with a buffer."""

    READ = "r"
    WRITE = "w"
    READ_WRITE = "rw"

    @property
    def reads(self) -> bool:
        return self is not Effect.WRITE

    @property
    def writes(self) -> bool:
        return self is not Effect.READ


def is_passed(type: Attribute) -> bool:
    """Whether a call takes or gives scalars of a type: those that C passes in one way everywhere."""
    return type in (index, i32, i64) or isinstance(type, Float32Type | Float64Type)


def root_of(buffer: SSAValue) -> SSAValue:
    """The buffer that an operand of a call is, or is an element of."""
    return buffer.owner.memref if isinstance(buffer.owner, AddressOfOp) else buffer


@irdl_op_definition
class AddressOfOp(IRDLOperation):
    """Where an element stands, for a call to go on from there. Counterpart of TVM's `address_of` and `access_ptr`.

    ```mlir
    %p = tir.address_of %a[%vi, %c0] : memref<4x16xf32>
    ```
    """

    name = "tir.address_of"

    memref = operand_def(MemRefType)
    indices = var_operand_def(index)
    result = result_def(MemRefType)

    traits = traits_def(Pure())

    def __init__(self, buffer: SSAValue, indices: Sequence[SSAValue]):
        super().__init__(operands=[buffer, indices], result_types=[MemRefType(memref_of(buffer).element_type, [])])

    def verify_(self) -> None:
        type = memref_of(self.memref)
        if len(self.indices) != len(type.get_shape()):
            raise VerifyException(f"{len(self.indices)} indices for {type}")
        if self.result.type != MemRefType(type.element_type, []):
            raise VerifyException(f"an element of {type} is {MemRefType(type.element_type, [])}")
        if isinstance(self.memref.owner, AddressOfOp):
            raise VerifyException("an address is of a buffer's element")
        if any(not isinstance(use.operation, CallOp) for use in self.result.uses):
            raise VerifyException("an address is for calls only")

    @classmethod
    def parse(cls, parser: Parser) -> AddressOfOp:
        buffer = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        resolved = parser.resolve_operand(buffer, parser.parse_type())
        if not isinstance(resolved.type, MemRefType):
            parser.raise_error("an address is of a buffer's element")
        op = AddressOfOp(resolved, parser.resolve_operands(indices, [index] * len(indices), parser.pos))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)


@irdl_op_definition
class CallOp(IRDLOperation):
    """Call a function with scalars (`index`, `i32`, `i64`, `f32`, `f64`) and buffers. Counterpart of TVM's
    `call_extern`, `call_packed`, `call_llvm_intrin` and their pure forms.

    * `extern`: the C function of that name, in the process or in a library that it has loaded (`weft.load_library`). It
      takes a buffer as the address of its first element, or of the one given.
    * `packed`: the Python function of that name (`weft.register_func`), when the call is made. It takes a buffer as a
      NumPy array, which it may not keep. If it raises an exception, the run fails with that.
    * `intrin`: an intrinsic of LLVM's, on scalars.

    A `pure` call gives a result that depends on its operands alone: it is left out where nothing needs that.

    ```mlir
    %0 = tir.call pure extern "cosf"(%x) : (f32) -> f32
    tir.call extern "fill"(w %row, %n) : (memref<16xf32>, i32) -> ()
    tir.call packed "show"(r %row) : (memref<16xf32>) -> ()
    ```
    """

    name = "tir.call"

    callee = prop_def(StringAttr)
    convention = prop_def(StringAttr)
    effects = prop_def(ArrayAttr[StringAttr])
    pure = opt_prop_def(UnitAttr)
    arguments = var_operand_def()
    result = opt_result_def()

    def __init__(
        self,
        convention: Convention,
        callee: str,
        arguments: Sequence[SSAValue],
        effects: Sequence[Effect] = (),
        result: Attribute | None = None,
        *,
        pure: bool = False,
    ):
        """`effects` are those on the buffers among the arguments, in order."""
        super().__init__(
            operands=[arguments],
            result_types=[result],
            properties={
                "callee": StringAttr(callee),
                "convention": StringAttr(convention.value),
                "effects": ArrayAttr([StringAttr(effect.value) for effect in effects]),
                "pure": UnitAttr() if pure else None,
            },
        )

    @property
    def kind(self) -> Convention:
        return Convention(self.convention.data)

    @property
    def buffers(self) -> list[tuple[SSAValue, Effect]]:
        """The buffers that are handed over, each with what becomes of it."""
        taken = [value for value in self.arguments if isinstance(value.type, MemRefType)]
        return [(root_of(v), Effect(effect.data)) for v, effect in zip(taken, self.effects, strict=True)]

    @property
    def is_pure(self) -> bool:
        """Whether the call may be left out where its result is not used."""
        return self.pure is not None

    def verify_(self) -> None:
        if self.convention.data not in tuple(Convention):
            raise VerifyException(f'what is called is one of {", ".join(Convention)}, not "{self.convention.data}"')
        if not self.callee.data or "|" in self.callee.data:
            raise VerifyException("a function has a name, without '|'")
        types = [value.type for value in self.arguments]
        taken = sum(isinstance(type, MemRefType) for type in types)
        if taken != len(self.effects) or any(each.data not in tuple(Effect) for each in self.effects):
            raise VerifyException("a call says of each buffer that it is read (r), written (w) or both (rw)")
        if self.is_pure and any(Effect(each.data).writes for each in self.effects):
            raise VerifyException("a pure call writes no buffer")
        scalars = [type for type in types if not isinstance(type, MemRefType)]
        for type in (*scalars, *(r.type for r in self.results)):
            if not is_passed(type) and not (self.kind == Convention.INTRIN and isa(type, IntegerType)):
                raise VerifyException(f"a call takes and gives index, i32, i64, f32 and f64, not {type}: convert it")
        if self.kind == Convention.INTRIN and (taken or not self.callee.data.startswith("llvm.")):
            raise VerifyException('an intrinsic is called "llvm. ...", and takes scalars')
        if self.kind == Convention.PACKED and any(isinstance(v.owner, AddressOfOp) for v in self.arguments):
            raise VerifyException("a packed function takes whole buffers, not addresses")

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        pure = parser.parse_optional_keyword("pure") is not None
        convention = parser.parse_str_enum(Convention)
        name = parser.parse_str_literal()
        effects: list[Effect] = []

        def argument() -> object:
            for effect in (Effect.READ_WRITE, Effect.READ, Effect.WRITE):
                if parser.parse_optional_keyword(effect.value) is not None:
                    effects.append(effect)
                    break
            return parser.parse_unresolved_operand()

        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = cast("FunctionType", parser.parse_type())
        if not isinstance(type, FunctionType) or len(type.outputs) > 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            parser.raise_error("a call has the type of a function with at most one result")
        operands = parser.resolve_operands(arguments, list(type.inputs), parser.pos)  # pyright: ignore
        result = type.outputs.data[0] if type.outputs.data else None
        op = CallOp(convention, name, operands, effects, result, pure=pure)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {'pure ' if self.is_pure else ''}{self.convention.data} ")
        printer.print_string_literal(self.callee.data)
        remaining = iter(self.effects)

        def argument(value: SSAValue) -> None:
            if isinstance(value.type, MemRefType):
                printer.print_string(f"{next(remaining).data} ")
            printer.print_ssa_value(value)

        with printer.in_parens():
            printer.print_list(self.arguments, argument)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(
            FunctionType.from_lists([v.type for v in self.arguments], [r.type for r in self.results])
        )


@dataclass(frozen=True)
class Handed:
    """What a call does with a buffer that it is handed: an access at no known place, as `Access` is one at a place."""

    op: CallOp
    buffer: SSAValue
    is_write: bool
    is_sure: bool
    """Whether that is certain, or what the call may do."""
    map: None = None


def handed(op: CallOp) -> list[Handed]:
    """What a call does with its buffers: what it reads, then what it writes."""
    reads = [Handed(op, buffer, False, not effect.writes) for buffer, effect in op.buffers if effect.reads]
    return reads + [Handed(op, buffer, True, False) for buffer, effect in op.buffers if effect.writes]

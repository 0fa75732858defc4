"""How operations of the llvm dialect are written in LLVM IR: values and control flow; `memory` has the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.extensions import llvm as llvmx
from ...dialects.extensions import llvm_intrinsics as intr
from ...dialects.extensions.llvm_loop_annotation import LOOP_ANNOTATION, LoopAnnotationAttr
from ...dialects.support.vector_types import lanes
from ..loops_to_llvm.types import LoweringError
from .function import FunctionEmitter, OpEmitter
from .rules import emits, register
from .text import constant_text, escaped_bytes, flag_text, mangled, symbol


def _flags(op: Operation) -> str:
    fastmath = op.properties.get("fastmathFlags")
    return flag_text(fastmath) if isinstance(fastmath, llvm.FastMathAttr) and fastmath.data else ""


# Constants are written where they are used.


@emits(llvm.ConstantOp)
def constant(f: FunctionEmitter, op: llvm.ConstantOp) -> None:
    f.names[op.result] = constant_text(op.value, op.result.type)


@emits(llvm.ZeroOp)
def zero(f: FunctionEmitter, op: llvm.ZeroOp) -> None:
    f.names[op.res] = "null" if isinstance(op.res.type, llvm.LLVMPointerType) else "zeroinitializer"


@emits(llvm.UndefOp)
def undef(f: FunctionEmitter, op: llvm.UndefOp) -> None:
    f.names[op.res] = "undef"


@emits(llvmx.PoisonOp)
def poison(f: FunctionEmitter, op: llvmx.PoisonOp) -> None:
    f.names[op.res] = "poison"


@emits(llvm.AddressOfOp)
def address_of(f: FunctionEmitter, op: llvm.AddressOfOp) -> None:
    f.names[op.result] = symbol(op.global_name.root_reference.data)


# Arithmetic


def _binary(word: str, flags: Callable[[Operation], str] | None = None) -> OpEmitter:
    def emit(f: FunctionEmitter, op: Operation) -> None:
        lhs, rhs = op.operands
        written = flags(op) if flags is not None else ""
        result = f.define(op.results[0])
        f.lines.append(f"  {result} = {word} {written}{f.type(lhs.type)} {f.names[lhs]}, {f.names[rhs]}")

    return emit


def _overflow(op: Operation) -> str:
    value = op.properties.get("overflowFlags")
    return ("", "nsw ", "nuw ", "nuw nsw ")[value.value.data] if isinstance(value, IntegerAttr) else ""


def _exact(op: Operation) -> str:
    return "exact " if "isExact" in op.properties else ""


def _disjoint(op: Operation) -> str:
    return "disjoint " if "isDisjoint" in op.properties else ""


register(
    {
        llvm.AddOp: _binary("add", _overflow),
        llvm.SubOp: _binary("sub", _overflow),
        llvm.MulOp: _binary("mul", _overflow),
        llvm.ShlOp: _binary("shl", _overflow),
        llvm.UDivOp: _binary("udiv", _exact),
        llvm.SDivOp: _binary("sdiv", _exact),
        llvm.LShrOp: _binary("lshr", _exact),
        llvm.AShrOp: _binary("ashr", _exact),
        llvm.URemOp: _binary("urem"),
        llvm.SRemOp: _binary("srem"),
        llvm.AndOp: _binary("and"),
        llvm.OrOp: _binary("or", _disjoint),
        llvm.XOrOp: _binary("xor"),
        llvm.FAddOp: _binary("fadd", _flags),
        llvm.FSubOp: _binary("fsub", _flags),
        llvm.FMulOp: _binary("fmul", _flags),
        llvm.FDivOp: _binary("fdiv", _flags),
        llvm.FRemOp: _binary("frem", _flags),
    }
)


@emits(llvm.FNegOp)
def fneg(f: FunctionEmitter, op: llvm.FNegOp) -> None:
    f.lines.append(f"  {f.define(op.res)} = fneg {_flags(op)}{f.typed(op.arg)}")


@emits(llvmx.ICmpOp, llvm.ICmpOp)
def icmp(f: FunctionEmitter, op: llvmx.ICmpOp | llvm.ICmpOp) -> None:
    word = llvm.ICmpPredicateFlag.from_int(op.predicate.value.data).value
    f.lines.append(f"  {f.define(op.res)} = icmp {word} {f.typed(op.lhs)}, {f.names[op.rhs]}")


@emits(llvmx.FCmpOp, llvm.FCmpOp)
def fcmp(f: FunctionEmitter, op: llvmx.FCmpOp | llvm.FCmpOp) -> None:
    word = llvm.FCmpPredicateFlag.from_int(op.predicate.value.data).value.removeprefix("_")
    f.lines.append(f"  {f.define(op.res)} = fcmp {_flags(op)}{word} {f.typed(op.lhs)}, {f.names[op.rhs]}")


@emits(llvmx.SelectOp, llvm.SelectOp)
def select(f: FunctionEmitter, op: llvmx.SelectOp | llvm.SelectOp) -> None:
    operands = f"{f.typed(op.cond)}, {f.typed(op.lhs)}, {f.typed(op.rhs)}"
    f.lines.append(f"  {f.define(op.res)} = select {_flags(op)}{operands}")


def _cast(word: str) -> OpEmitter:
    def emit(f: FunctionEmitter, op: Operation) -> None:
        source, result = op.operands[0], op.results[0]
        f.lines.append(f"  {f.define(result)} = {word} {f.typed(source)} to {f.type(result.type)}")

    return emit


def _truncate_flags(op: Operation) -> str:
    return f"trunc {_overflow(op)}".rstrip()


register(
    {
        llvm.TruncOp: lambda f, op: _cast(_truncate_flags(op))(f, op),
        llvm.ZExtOp: lambda f, op: _cast("zext nneg" if "nonNeg" in op.properties else "zext")(f, op),
        llvm.SExtOp: _cast("sext"),
        llvm.FPExtOp: _cast("fpext"),
        llvm.FPTruncOp: _cast("fptrunc"),
        llvm.SIToFPOp: _cast("sitofp"),
        llvmx.UIToFPOp: _cast("uitofp"),
        llvmx.FPToSIOp: _cast("fptosi"),
        llvmx.FPToUIOp: _cast("fptoui"),
        llvm.BitcastOp: _cast("bitcast"),
        llvm.IntToPtrOp: _cast("inttoptr"),
        llvm.PtrToIntOp: _cast("ptrtoint"),
        llvmx.AddrSpaceCastOp: _cast("addrspacecast"),
    }
)


# Vectors and structs


@emits(llvmx.ExtractElementOp)
def extract_element(f: FunctionEmitter, op: llvmx.ExtractElementOp) -> None:
    f.lines.append(f"  {f.define(op.res)} = extractelement {f.typed(op.vector)}, {f.typed(op.position)}")


@emits(llvm.InsertElementOp)
def insert_element(f: FunctionEmitter, op: llvm.InsertElementOp) -> None:
    operands = ", ".join(f.typed(operand) for operand in op.operands)
    f.lines.append(f"  {f.define(op.results[0])} = insertelement {operands}")


@emits(llvm.ShuffleVectorOp)
def shuffle_vector(f: FunctionEmitter, op: llvm.ShuffleVectorOp) -> None:
    mask = cast(Sequence[int], op.mask.get_values())
    if any(mask):
        written = f"<{', '.join('i32 poison' if lane < 0 else f'i32 {lane}' for lane in mask)}>"
    else:
        written = "zeroinitializer"
    operands = f"{f.typed(op.v1)}, {f.typed(op.v2)}, <{len(mask)} x i32> {written}"
    f.lines.append(f"  {f.define(op.res)} = shufflevector {operands}")


@emits(llvm.ExtractValueOp)
def extract_value(f: FunctionEmitter, op: llvm.ExtractValueOp) -> None:
    position = ", ".join(map(str, op.position.iter_values()))
    f.lines.append(f"  {f.define(op.res)} = extractvalue {f.typed(op.container)}, {position}")


@emits(llvm.InsertValueOp)
def insert_value(f: FunctionEmitter, op: llvm.InsertValueOp) -> None:
    position = ", ".join(map(str, op.position.iter_values()))
    operands = f"{f.typed(op.container)}, {f.typed(op.value)}, {position}"
    f.lines.append(f"  {f.define(op.res)} = insertvalue {operands}")


# Control flow


@emits(llvm.ReturnOp)
def return_(f: FunctionEmitter, op: llvm.ReturnOp) -> None:
    f.lines.append("  ret void" if op.arg is None else f"  ret {f.typed(op.arg)}")


@emits(llvm.UnreachableOp)
def unreachable(f: FunctionEmitter, op: llvm.UnreachableOp) -> None:
    f.lines.append("  unreachable")


@emits(llvm.BrOp)
def branch(f: FunctionEmitter, op: llvm.BrOp) -> None:
    f.branch_to(op.successor, [f.names[value] for value in op.arguments])
    f.lines.append(f"  br {f.label(op.successor)}{_loop(f, op)}")


@emits(llvm.CondBrOp)
def conditional_branch(f: FunctionEmitter, op: llvm.CondBrOp) -> None:
    """Both edges to one block are one edge, on which the condition selects the values."""
    if op.then_block is op.else_block:
        pairs = zip(op.then_arguments, op.else_arguments, strict=True)
        f.branch_to(op.then_block, [_choose(f, op.cond, lhs, rhs) for lhs, rhs in pairs])
        f.lines.append(f"  br {f.label(op.then_block)}{_loop(f, op)}")
        return
    f.branch_to(op.then_block, [f.names[value] for value in op.then_arguments])
    f.branch_to(op.else_block, [f.names[value] for value in op.else_arguments])
    edges = f"{f.label(op.then_block)}, {f.label(op.else_block)}"
    f.lines.append(f"  br {f.typed(op.cond)}, {edges}{_loop(f, op)}")


def _choose(f: FunctionEmitter, condition: SSAValue, lhs: SSAValue, rhs: SSAValue) -> str:
    if lhs is rhs:
        return f.names[lhs]
    name = f.fresh("choice")
    f.lines.append(f"  {name} = select {f.typed(condition)}, {f.typed(lhs)}, {f.typed(rhs)}")
    return name


def _loop(f: FunctionEmitter, op: Operation) -> str:
    annotation = op.attributes.get(LOOP_ANNOTATION)
    if annotation is None:
        return ""
    if not isinstance(annotation, LoopAnnotationAttr):
        raise LoweringError(op, f"'{LOOP_ANNOTATION}' is not a loop annotation: {annotation}")
    return f", !llvm.loop !{f.module.loop(annotation)}"


@emits(llvm.CallOp)
def call(f: FunctionEmitter, op: llvm.CallOp) -> None:
    if op.op_bundle_operands or op.op_bundle_sizes.get_values():
        raise LoweringError(op, "operand bundles have no LLVM IR here")
    callee = f.names[op.args[0]] if op.callee is None else symbol(op.callee.root_reference.data)
    arguments = op.args[1:] if op.callee is None else op.args
    convention = "" if op.CConv.convention.data == "ccc" else f"{op.CConv.convention.data} "
    tail = _tail_call(op.TailCallKind)
    returned = "void" if op.returned is None else f.type(op.returned.type)
    if op.var_callee_type is not None:
        fixed = [f.type(type) for type in op.var_callee_type.inputs]
        returned += f" ({', '.join([*fixed, '...'])})"
    operands = ", ".join(f.typed(argument) for argument in arguments)
    result = "" if op.returned is None else f"{f.define(op.returned)} = "
    f.lines.append(f"  {result}{tail}call {_flags(op)}{convention}{returned} {callee}({operands})")


def _tail_call(kind: llvm.TailCallKindAttr) -> str:
    return "" if kind.data == llvm.TailCallKind.NONE else f"{kind.data.value} "


@emits(llvm.InlineAsmOp)
def inline_asm(f: FunctionEmitter, op: llvm.InlineAsmOp) -> None:
    words = "sideeffect " if op.has_side_effects is not None else ""
    words += "alignstack " if op.is_align_stack is not None else ""
    words += "inteldialect " if op.asm_dialect is not None and op.asm_dialect.value.data == 1 else ""
    returned = "void" if not op.results else f.type(op.results[0].type)
    operands = ", ".join(f.typed(operand) for operand in op.operands)
    text, constraints = (escaped_bytes(part.data.encode()) for part in (op.asm_string, op.constraints))
    result = "" if not op.results else f"{f.define(op.results[0])} = "
    f.lines.append(
        f'  {result}{_tail_call(op.tail_call_kind)}call {returned} asm {words}"{text}", "{constraints}"({operands})'
    )


# Intrinsics


def intrinsic(f: FunctionEmitter, op: Operation, extra: str = "") -> None:
    """`llvm.intr.x(...)` is `@llvm.x.<type of the first operand>(...)`."""
    result, types = op.results[0], [operand.type for operand in op.operands]
    named = next((type for type in types if lanes(type)), types[0])
    name = f"llvm.{op.name.removeprefix('llvm.intr.')}.{mangled(named)}"
    returned = f.type(result.type)
    declared = [f.type(type) for type in types] + (["i1 immarg"] if extra else [])
    f.declare(name, returned, declared)
    operands = ", ".join([f.typed(operand) for operand in op.operands] + ([extra] if extra else []))
    f.lines.append(f"  {f.define(result)} = call {_flags(op)}{returned} @{name}({operands})")


@emits(llvm.CallIntrinsicOp)
def call_intrinsic(f: FunctionEmitter, op: llvm.CallIntrinsicOp) -> None:
    """An intrinsic by its whole name, such as a processor's own."""
    if op.op_bundle_operands:
        raise LoweringError(op, f"{op.intrin.data} has operand bundles")
    returned = f.type(op.results[0].type) if op.results else "void"
    f.declare(op.intrin.data, returned, [f.type(operand.type) for operand in op.args])
    operands = ", ".join(f.typed(operand) for operand in op.args)
    result = f"{f.define(op.results[0])} = " if op.results else ""
    f.lines.append(f"  {result}call {_flags(op)}{returned} @{op.intrin.data}({operands})")


def _with_bit(key: str) -> OpEmitter:
    def emit(f: FunctionEmitter, op: Operation) -> None:
        bit = op.properties.get(key)
        set_bit = isinstance(bit, IntegerAttr) and bool(bit.value.data)
        intrinsic(f, op, f"i1 {'true' if set_bit else 'false'}")

    return emit


_PLAIN_INTRINSICS: list[type[Operation]] = [
    llvm.FAbsOp,
    llvm.FCeilOp,
    llvm.FCopySignOp,
    llvm.FCosOp,
    llvm.FExp2Op,
    llvm.FExpOp,
    llvm.FFloorOp,
    llvm.FLog2Op,
    llvm.FLogOp,
    llvm.FMAOp,
    llvm.FPowOp,
    llvm.FSinOp,
    llvm.FSqrtOp,
    llvm.VectorFMaxOp,
    llvm.VectorFMinOp,
    llvm.VectorReduceFAddOp,
    llvm.VectorReduceFMulOp,
    *intr.INTRINSICS,
]

register(dict.fromkeys(_PLAIN_INTRINSICS, intrinsic))
register(
    {
        intr.AbsOp: _with_bit("is_int_min_poison"),
        intr.CtlzOp: _with_bit("is_zero_poison"),
        intr.CttzOp: _with_bit("is_zero_poison"),
    }
)

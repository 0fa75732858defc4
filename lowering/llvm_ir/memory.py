"""How operations on memory are written in LLVM IR; pointers carry their address space, and so do intrinsics' names."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, IntAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.extensions import llvm as llvmx
from ...dialects.extensions import llvm_atomics as atomics
from ...dialects.extensions.llvm_atomics import Ordering
from ...dialects.extensions.llvm_loop_annotation import ACCESS_GROUPS, AccessGroupAttr
from ...dialects.support.hints import isa
from ..loops_to_llvm.types import LoweringError, byte_size
from .function import FunctionEmitter
from .rules import emits
from .text import escaped_bytes, mangled


@emits(llvm.GEPOp)
def getelementptr(f: FunctionEmitter, op: llvm.GEPOp) -> None:
    dynamic = iter(op.ssa_indices)
    parts = [f.type(op.elem_type), f.typed(op.ptr)]
    for index in op.rawConstantIndices.iter_values():
        parts.append(f.typed(next(dynamic)) if index == llvm.GEP_USE_SSA_VAL else f"i32 {index}")
    f.lines.append(f"  {f.define(op.result)} = getelementptr {_no_wrap(op)}{', '.join(parts)}")


_INBOUNDS, _NUSW, _NUW = 1, 2, 4


def _no_wrap(op: llvm.GEPOp) -> str:
    """What is promised of the address: `inbounds` (which xDSL keeps apart), `nusw`, `nuw`."""
    flags = op.noWrapFlags.value.data
    words = "inbounds " if op.inbounds is not None or flags & _INBOUNDS else "nusw " if flags & _NUSW else ""
    return words + ("nuw " if flags & _NUW else "")


def _align(alignment: IntegerAttr | None) -> str:
    return f", align {alignment.value.data}" if alignment is not None else ""


MAX_ELEMENTS = (1 << 32) - 1
"""Of memory on the stack: LLVM can give a function as many bytes."""


@emits(llvm.AllocaOp)
def alloca(f: FunctionEmitter, op: llvm.AllocaOp) -> None:
    count = f.names[op.size]
    given = op.size.owner.value if isinstance(op.size.owner, llvm.ConstantOp) else None
    if isinstance(given, IntegerAttr) and not 0 <= given.value.data <= MAX_ELEMENTS:
        raise LoweringError(op, f"takes {given.value.data} elements on the stack, which has not as many")
    many = "" if count == "1" else f", {f.typed(op.size)}"
    space = f", addrspace({number})" if (number := address_space(op.res)) else ""
    f.lines.append(f"  {f.define(op.res)} = alloca {f.type(op.elem_type)}{many}{_align(op.alignment)}{space}")


def address_space(pointer: SSAValue) -> int:
    """The number of the address space that a pointer points into."""
    type = pointer.type
    return (
        type.addr_space.data if isinstance(type, llvm.LLVMPointerType) and isinstance(type.addr_space, IntAttr) else 0
    )


def _atomic(ordering: IntegerAttr | None, alignment: IntegerAttr | None, type: Attribute) -> tuple[str, str]:
    """The words of an access in front of its type and behind its pointer; an atomic one says its alignment."""
    if ordering is None or not ordering.value.data:
        return "", _align(alignment)
    align = _align(alignment) or f", align {byte_size(type)}"
    return "atomic ", f" {Ordering(ordering.value.data).name}{align}"


@emits(llvm.LoadOp)
def load(f: FunctionEmitter, op: llvm.LoadOp) -> None:
    result = op.dereferenced_value
    atomic, tail = _atomic(op.ordering, op.alignment, result.type)
    text = f"{f.define(result)} = load {atomic}{f.type(result.type)}, {f.typed(op.ptr)}{tail}{_groups(f, op)}"
    f.lines.append(f"  {text}")


@emits(llvm.StoreOp, atomics.StoreOp)
def store(f: FunctionEmitter, op: llvm.StoreOp | atomics.StoreOp) -> None:
    atomic, tail = _atomic(op.ordering, op.alignment, op.value.type)
    volatile = "volatile " if op.volatile_ is not None else ""
    streaming = f", !nontemporal !{f.module.node('i32 1')}" if op.nontemporal is not None else ""
    words = f"{f.typed(op.value)}, {f.typed(op.ptr)}{tail}{streaming}{_groups(f, op)}"
    f.lines.append(f"  store {atomic}{volatile}{words}")


def _groups(f: FunctionEmitter, op: Operation) -> str:
    """The group of accesses that one belongs to."""
    group = op.attributes.get(ACCESS_GROUPS)
    if group is None:
        return ""
    if not isa(group, ArrayAttr[AccessGroupAttr]) or len(group) != 1:
        raise LoweringError(op, f"'{ACCESS_GROUPS}' is not a list of one access group: {group}")
    return f", !llvm.access.group !{f.module.access_group(group.data[0])}"


def _scope(scope: StringAttr | None) -> str:
    return "" if scope is None else f'syncscope("{escaped_bytes(scope.data.encode())}") '


@emits(atomics.AtomicRMWOp)
def atomic_rmw(f: FunctionEmitter, op: atomics.AtomicRMWOp) -> None:
    volatile = "volatile " if op.volatile_ is not None else ""
    operands = f"{f.typed(op.ptr)}, {f.typed(op.val)} {_scope(op.syncscope)}"
    ordering = Ordering(op.ordering.value.data).name
    result = f.define(op.res)
    f.lines.append(f"  {result} = atomicrmw {volatile}{op.kind().word} {operands}{ordering}{_align(op.alignment)}")


@emits(atomics.CmpXchgOp)
def compare_and_exchange(f: FunctionEmitter, op: atomics.CmpXchgOp) -> None:
    words = ("weak " if op.weak is not None else "") + ("volatile " if op.volatile_ is not None else "")
    operands = ", ".join(f.typed(operand) for operand in op.operands)
    success, failure = (Ordering(o.value.data).name for o in (op.success_ordering, op.failure_ordering))
    tail = f"{_scope(op.syncscope)}{success} {failure}{_align(op.alignment)}"
    f.lines.append(f"  {f.define(op.res)} = cmpxchg {words}{operands} {tail}")


@emits(atomics.FenceOp)
def fence(f: FunctionEmitter, op: atomics.FenceOp) -> None:
    f.lines.append(f"  fence {_scope(op.syncscope)}{Ordering(op.ordering.value.data).name}")


@emits(llvmx.MaskedLoadOp)
def masked_load(f: FunctionEmitter, op: llvmx.MaskedLoadOp) -> None:
    if len(op.pass_thru) > 1:
        raise LoweringError(op, "takes the lanes that are not loaded from one value")
    result = op.res.type
    name = f"llvm.masked.load.{mangled(result)}.{mangled(op.data.type)}"
    others = f.typed(op.pass_thru[0]) if op.pass_thru else f"{f.type(result)} poison"
    pointer = f.type(op.data.type)
    returned, mask = f.type(result), f.type(op.mask.type)
    f.declare(name, returned, [pointer, mask, returned])
    operands = f"{pointer} align {op.alignment.value.data} {f.names[op.data]}, {f.typed(op.mask)}, {others}"
    f.lines.append(f"  {f.define(op.res)} = call {returned} @{name}({operands})")


@emits(llvmx.MaskedStoreOp, llvm.MaskedStoreOp)
def masked_store(f: FunctionEmitter, op: llvmx.MaskedStoreOp | llvm.MaskedStoreOp) -> None:
    name = f"llvm.masked.store.{mangled(op.value.type)}.{mangled(op.data.type)}"
    pointer = f.type(op.data.type)
    f.declare(name, "void", [f.type(op.value.type), pointer, f.type(op.mask.type)])
    place = f"{pointer} align {op.alignment.value.data} {f.names[op.data]}"
    f.lines.append(f"  call void @{name}({f.typed(op.value)}, {place}, {f.typed(op.mask)})")


@emits(llvmx.MemcpyOp)
def memcpy(f: FunctionEmitter, op: llvmx.MemcpyOp) -> None:
    size = f.type(op.len.type)
    name = f"llvm.memcpy.{mangled(op.dst.type)}.{mangled(op.src.type)}.{size}"
    f.declare(name, "void", [f.type(op.dst.type), f.type(op.src.type), size, "i1 immarg"])
    volatile = "true" if op.isVolatile.value.data else "false"
    operands = f"{f.typed(op.dst)}, {f.typed(op.src)}, {f.typed(op.len)}, i1 {volatile}"
    f.lines.append(f"  call void @{name}({operands})")


@emits(llvmx.PrefetchOp)
def prefetch(f: FunctionEmitter, op: llvmx.PrefetchOp) -> None:
    name = f"llvm.prefetch.{mangled(op.addr.type)}"
    f.declare(name, "void", [f.type(op.addr.type), *["i32 immarg"] * 3])
    kind = ", ".join(f"i32 {attribute.value.data}" for attribute in (op.rw, op.hint, op.cache))
    f.lines.append(f"  call void @{name}({f.typed(op.addr)}, {kind})")


@emits(llvm.StackSaveOp)
def stack_save(f: FunctionEmitter, op: llvm.StackSaveOp) -> None:
    pointer, name = f.type(op.res.type), f"llvm.stacksave.{mangled(op.res.type)}"
    f.declare(name, pointer, [])
    f.lines.append(f"  {f.define(op.res)} = call {pointer} @{name}()")


@emits(llvm.StackRestoreOp)
def stack_restore(f: FunctionEmitter, op: llvm.StackRestoreOp) -> None:
    name = f"llvm.stackrestore.{mangled(op.ptr.type)}"
    f.declare(name, "void", [f.type(op.ptr.type)])
    f.lines.append(f"  call void @{name}({f.typed(op.ptr)})")

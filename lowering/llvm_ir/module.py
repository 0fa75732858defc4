"""From the llvm dialect to the text of LLVM IR, for LLVM 22.

One pass over each function in reverse postorder, so that a value is named before it is used; constants are written
where they are used; block arguments become phis once all branches have been seen. Unreachable blocks are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation

from ...dialects.extensions import llvm as llvmx
from ..loops_to_llvm.types import LoweringError
from .function import FunctionEmitter, ModuleContext
from .ops import EMITTERS
from .text import constant_text, escaped_bytes, symbol, type_text


def emit_llvm_ir(module: ModuleOp, triple: str = "", data_layout: str = "") -> str:
    """The text of a module that holds only operations of the llvm dialect.

    Raises:
        LoweringError: an operation, type or attribute has no LLVM IR.
    """
    context = ModuleContext()
    parts = [f'target datalayout = "{data_layout}"'] if data_layout else []
    if triple:
        parts.append(f'target triple = "{triple}"')
    for op in module.ops:
        if isinstance(op, llvm.FuncOp):
            parts.append(_function(context, op))
        elif isinstance(op, llvm.GlobalOp):
            parts.append(_global(op))
        else:
            raise LoweringError(op, "is not an operation of the llvm dialect that may stand at module level")
    parts += context.declarations.values()
    parts += [f"attributes #{number} = {{ {text} }}" for text, number in context.groups.items()]
    parts += [f"!{number} = {text}" for number, text in enumerate(context.metadata)]
    return "\n".join(parts) + "\n"


def _function(context: ModuleContext, op: llvm.FuncOp) -> str:
    type = op.function_type
    linkage = op.linkage.linkage.data
    words = "" if linkage == "external" else f"{linkage} "
    if op.CConv.convention.data != "ccc":
        words += f"{op.CConv.convention.data} "
    attributes = op.arg_attrs.data if op.arg_attrs else ()
    blocks = op.body.blocks
    names = [f"%a{number}" for number in range(len(type.inputs))] if blocks else [""] * len(type.inputs)
    arguments = [
        f"{type_text(input)}{_argument_attributes(attributes, number)} {name}".rstrip()
        for number, (input, name) in enumerate(zip(type.inputs, names, strict=True))
    ]
    if type.is_variadic:
        arguments.append("...")
    group = context.group(_function_attributes(op))
    head = f"{words}{type_text(type.output)} {symbol(op.sym_name.data)}({', '.join(arguments)}){group}"
    if not blocks:
        return f"declare {head}"
    return f"define {head} {{\n{FunctionEmitter(context, EMITTERS).emit(op, names)}\n}}"


def _argument_attributes(attributes: Sequence[DictionaryAttr], number: int) -> str:
    if number >= len(attributes):
        return ""
    words: list[str] = []
    for key, value in attributes[number].data.items():
        word = _ARGUMENT_WORDS.get(key)
        if word is None:
            raise LoweringError(None, f"argument attribute '{key}' has no LLVM IR")
        if isinstance(value, IntegerAttr):
            bytes = value.value.data
            words.append(f"{word} {bytes}" if word == "align" else f"{word}({bytes})")
        elif isinstance(value, UnitAttr):
            words.append(word)
    return "".join(f" {word}" for word in words)


_ARGUMENT_WORDS = {
    "llvm.noalias": "noalias",
    "llvm.align": "align",
    "llvm.nonnull": "nonnull",
    "llvm.noundef": "noundef",
    "llvm.readonly": "readonly",
    "llvm.writeonly": "writeonly",
    "llvm.readnone": "readnone",
    "llvm.nocapture": "captures(none)",
    "llvm.nofree": "nofree",
    "llvm.returned": "returned",
    "llvm.signext": "signext",
    "llvm.zeroext": "zeroext",
    "llvm.dereferenceable": "dereferenceable",
}


def _function_attributes(op: llvm.FuncOp) -> str:
    given = op.attributes | op.properties
    words = [word for key, word in _FUNCTION_WORDS.items() if key in given]
    for key, word in (("target_cpu", "target-cpu"), ("tune_cpu", "tune-cpu")):
        if isinstance(value := given.get(key), StringAttr):
            words.append(f'"{word}"="{value.data}"')
    if isinstance(features := given.get("target_features"), llvm.TargetFeaturesAttr):
        words.append(f'"target-features"="{",".join(feature.data for feature in features.features)}"')
    if isinstance(pointer := given.get("frame_pointer"), llvm.FramePointerKindAttr):
        words.append(f'"frame-pointer"="{pointer.data.value}"')
    if isinstance(passed := given.get("passthrough"), ArrayAttr):
        words += [_passed_through(word) for word in cast(ArrayAttr[Attribute], passed)]
    return " ".join(words)


def _passed_through(word: Attribute) -> str:
    if isinstance(word, ArrayAttr):
        key, value = (part.data for part in cast(ArrayAttr[StringAttr], word))
        return f'"{key}"="{value}"'
    return word.data if isinstance(word, StringAttr) else str(word)


_FUNCTION_WORDS = {
    "no_unwind": "nounwind",
    "no_inline": "noinline",
    "always_inline": "alwaysinline",
    "optimize_none": "optnone",
    "will_return": "willreturn",
}


def _global(op: llvm.GlobalOp) -> str:
    linkage = op.linkage.linkage.data
    words = [] if linkage == "external" and _has_value(op) else [linkage]
    if op.thread_local_ is not None:
        words.append("thread_local")
    if op.unnamed_addr is not None and (word := llvm.UNNAMED_ADDR_KEYWORD_BY_KEY.get(op.unnamed_addr.value.data)):
        words.append(word)
    words.append("constant" if op.constant is not None else "global")
    words.append(_initial_value(op))
    tail = f', section "{op.section.data}"' if op.section else ""
    tail += f", align {op.alignment.value.data}" if op.alignment else ""
    return f"{symbol(op.sym_name.data)} = {' '.join(words)}{tail}"


def _has_value(op: llvm.GlobalOp) -> bool:
    return op.value is not None or bool(op.body.blocks)


def _initial_value(op: llvm.GlobalOp) -> str:
    """The type and, unless the global is defined elsewhere, the value."""
    type = type_text(op.global_type)
    if op.body.blocks:
        first, last = op.body.blocks[0].first_op, op.body.blocks[0].last_op
        if first is None or last is not first.next_op or not isinstance(last, llvm.ReturnOp):
            raise LoweringError(op, "the initialiser is not one constant")
        if isinstance(first, llvm.AddressOfOp):
            return f"{type} {symbol(first.global_name.root_reference.data)}"
        return f"{type} {_constant_of(first)}"
    if op.value is None:
        return type
    data = stored_bytes(op.value)
    if data is not None:
        return f'[{len(data)} x i8] c"{escaped_bytes(data)}"'
    return f"{type} {constant_text(op.value, op.global_type)}"


def stored_bytes(value: Attribute) -> bytes | None:
    """The bytes of a string or of dense elements; they are written as such, whatever their type."""
    if isinstance(value, StringAttr):
        return value.data.encode()
    return cast(BytesAttr, value.parameters[1]).data if isinstance(value, DenseIntOrFPElementsAttr) else None


def _constant_of(op: Operation) -> str:
    if isinstance(op, llvm.ConstantOp):
        return constant_text(op.value, op.result.type)
    if isinstance(op, llvm.ZeroOp):
        return "null" if isinstance(op.res.type, llvm.LLVMPointerType) else "zeroinitializer"
    if isinstance(op, llvm.UndefOp):
        return "undef"
    if isinstance(op, llvmx.PoisonOp):
        return "poison"
    raise LoweringError(op, "is not a constant")

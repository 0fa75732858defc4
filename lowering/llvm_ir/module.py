"""From the llvm dialect to the text of LLVM IR, for LLVM 22.

One pass over each function in reverse postorder, so that a value is named before it is used; constants are written
where they are used; block arguments become phis once all branches have been seen. Unreachable blocks are left out.
"""

from __future__ import annotations

import re
from typing import TypeVar, cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation

from ...dialects.extensions import llvm as llvmx
from ...dialects.rt.sources import SourceOp
from ...dialects.support.hints import isa
from ..loops_to_llvm.types import LoweringError
from . import memory, ops
from .function import FunctionEmitter, ModuleContext, refuse_unknown
from .rules import EMITTERS
from .text import constant_text, escaped_bytes, symbol, type_text

EMITTER_MODULES = (memory, ops)
"""Where the emitters stand; importing them fills `EMITTERS`."""


def emit_llvm_ir(module: ModuleOp) -> str:
    """The text of a module that holds only operations of the llvm dialect. Sources for other compilers are comments.

    Raises:
        LoweringError: an operation, type or attribute has no LLVM IR.
    """
    context = ModuleContext()
    refuse_unknown(module, module.attributes, (_DATA_LAYOUT, _TRIPLE))
    parts: list[str] = []
    for word, key in (("datalayout", _DATA_LAYOUT), ("triple", _TRIPLE)):
        if text := _module_text(module, key):
            parts.append(f'target {word} = "{escaped_bytes(text.encode())}"')
    for op in module.ops:
        if isinstance(op, llvm.FuncOp):
            parts.append(_function(context, op))
        elif isinstance(op, llvm.GlobalOp):
            parts.append(_global(op))
        elif isinstance(op, SourceOp):
            parts.append("\n".join(f"; {line}" for line in (f"{op.language.data}:", *op.text.data.splitlines())))
        else:
            raise LoweringError(op, "is not an operation of the llvm dialect that may stand at module level")
    parts += context.declarations.values()
    parts += [f"attributes #{number} = {{ {text} }}" for text, number in context.groups.items()]
    parts += [f"!{number} = {text}" for number, text in enumerate(context.metadata)]
    return "\n".join(parts) + "\n"


_DATA_LAYOUT, _TRIPLE = "llvm.data_layout", "llvm.target_triple"


def _module_text(module: ModuleOp, key: str) -> str:
    value = module.attributes.get(key)
    if value is None:
        return ""
    if not isinstance(value, StringAttr):
        raise LoweringError(module, f"'{key}' is not a string: {value}")
    return value.data


def _function(context: ModuleContext, op: llvm.FuncOp) -> str:
    type = op.function_type
    blocks = op.body.blocks
    try:
        arguments = _arguments(op)
        results = "".join(f"{word} " for word in _value_attributes(op.res_attrs, 0))
        output = type_text(type.output)
    except LoweringError as error:
        raise error if error.op is not None else LoweringError(op, error.message) from None
    words = _head_words(op)
    group = context.group(_function_attributes(op))
    unnamed = _unnamed(op)
    unnamed = f" {unnamed}" if unnamed else ""
    head = f"{words}{results}{output} {symbol(op.sym_name.data)}({', '.join(arguments)}){unnamed}{group}"
    if not blocks:
        return f"declare {head}"
    names = [f"%a{number}" for number in range(len(type.inputs))]
    return f"define {head} {{\n{FunctionEmitter(context, EMITTERS).emit(op, names)}\n}}"


def _head_words(op: llvm.FuncOp) -> str:
    """Linkage, visibility and calling convention."""
    linkage, convention = op.linkage.linkage.data, op.CConv.convention.data
    words = [] if linkage == "external" else [linkage]
    words += ["ptx_kernel"] if KERNEL in op.attributes else []
    words += [word] if (word := _visibility(op, op.visibility_)) else []
    words += [convention] if convention != "ccc" else []
    return "".join(f"{word} " for word in words)


def _visibility(op: Operation, value: Attribute | None) -> str:
    number = value.value.data if isa(value, IntegerAttr) else 0 if value is None else -1
    if number not in range(len(_VISIBILITIES)):
        raise LoweringError(op, f"{value} is no visibility")
    return _VISIBILITIES[number]


KERNEL, THREADS = "nvvm.kernel", "nvvm.reqntid"
"""Attributes of a function that a GPU is launched with: that it is one, and the threads of a block along x, y and z."""

_VISIBILITIES = ("", "hidden", "protected")


def _unnamed(op: llvm.FuncOp | llvm.GlobalOp) -> str:
    number = op.unnamed_addr.value.data if op.unnamed_addr is not None else 0
    return llvm.UNNAMED_ADDR_KEYWORD_BY_KEY.get(number) or ""


def _arguments(op: llvm.FuncOp) -> list[str]:
    type = op.function_type
    arguments: list[str] = []
    for number, input in enumerate(type.inputs):
        words = [type_text(input), *_value_attributes(op.arg_attrs, number)]
        arguments.append(" ".join([*words, f"%a{number}"] if op.body.blocks else words))
    return [*arguments, "..."] if type.is_variadic else arguments


def _value_attributes(attributes: ArrayAttr[DictionaryAttr] | None, number: int) -> list[str]:
    """The words for what is known of an argument or of the result."""
    if attributes is None or number >= len(attributes):
        return []
    words: list[str] = []
    for key, value in attributes.data[number].data.items():
        word = _ARGUMENT_WORDS.get(key)
        if word is None:
            raise LoweringError(None, f"argument attribute '{key}' has no LLVM IR")
        if isinstance(value, IntegerAttr):
            bytes = value.value.data
            words.append(f"{word} {bytes}" if word == "align" else f"{word}({bytes})")
        elif isinstance(value, UnitAttr):
            words.append(word)
        else:
            raise LoweringError(None, f"argument attribute '{key}' = {value} has no LLVM IR")
    return words


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
    refuse_unknown(op, given, _KNOWN)
    words: list[str] = []
    for key, word in _FUNCTION_WORDS.items():
        if key in given:
            _expect(op, key, UnitAttr)
            words.append(word)
    for key, word in _FUNCTION_STRINGS.items():
        if (value := _expect(op, key, StringAttr)) is not None:
            words.append(f'"{word}"="{escaped_bytes(value.data.encode())}"')
    if (features := _expect(op, "target_features", llvm.TargetFeaturesAttr)) is not None:
        words.append(f'"target-features"="{",".join(feature.data for feature in features.features)}"')
    if (pointer := _expect(op, "frame_pointer", llvm.FramePointerKindAttr)) is not None:
        words.append(f'"frame-pointer"="{pointer.data.value}"')
    if isa(threads := _expect(op, THREADS, DenseArrayBase), DenseArrayBase[IntegerType]):
        words.append(f'"{THREADS}"="{",".join(map(str, threads.iter_values()))}"')
    if (passed := _expect(op, "passthrough", ArrayAttr)) is not None:
        words += [_passed_through(op, word) for word in passed]
    return " ".join(words)


AttrT = TypeVar("AttrT", bound=Attribute)


def _expect(op: llvm.FuncOp, key: str, kind: type[AttrT]) -> AttrT | None:
    """The attribute of this name, which may be a property or, where it was parsed, an attribute."""
    value = op.properties.get(key, op.attributes.get(key))
    if value is not None and not isinstance(value, kind):
        raise LoweringError(op, f"the attribute '{key}' = {value} has no LLVM IR")
    return value


def _passed_through(op: llvm.FuncOp, word: Attribute) -> str:
    if isinstance(word, StringAttr):
        if not _WORD.fullmatch(word.data):
            raise LoweringError(op, f"the attribute {word} is no word of LLVM's")
        return word.data
    if isa(word, ArrayAttr[StringAttr]) and len(word) == 2:
        key, value = (escaped_bytes(part.data.encode()) for part in word)
        if key != _STACK_ALIGNMENT:
            return f'"{key}"="{value}"'
        if value not in _STACK_ALIGNMENTS:
            raise LoweringError(op, f"a stack is aligned to a power of two up to 256 bytes, not to {value}")
        return f"{key}={value}"
    raise LoweringError(op, f"the attribute {word} is neither a word nor a pair of a word and its value")


_FUNCTION_WORDS = {
    "no_unwind": "nounwind",
    "no_inline": "noinline",
    "always_inline": "alwaysinline",
    "optimize_none": "optnone",
    "will_return": "willreturn",
    "cold": "cold",
    "hot": "hot",
    "noreturn": "noreturn",
    "minsize": "minsize",
    "optsize": "optsize",
}
_STACK_ALIGNMENT = "alignstack"
"""LLVM's own attribute with a number, of those that are passed through; other pairs are strings to it."""
_STACK_ALIGNMENTS = frozenset(str(1 << exponent) for exponent in range(9))
"""What LLVM takes; it ends the process at another one, and says nothing that a person can use."""
_WORD = re.compile("[a-z_]+")
_FUNCTION_STRINGS = {"target_cpu": "target-cpu", "tune_cpu": "tune-cpu"}
_KNOWN = frozenset(
    (
        *_FUNCTION_WORDS,
        *_FUNCTION_STRINGS,
        *("target_features", "frame_pointer", "passthrough", "arg_attrs", "res_attrs"),
        *(KERNEL, THREADS),
        *("sym_name", "sym_visibility", "function_type", "CConv", "linkage", "visibility_", "unnamed_addr"),
    )
)
"""What is written of a function; `sym_visibility` is MLIR's own, and says nothing to LLVM."""


def _global(op: llvm.GlobalOp) -> str:
    refuse_unknown(op, op.attributes, ("sym_visibility", "visibility_"))
    linkage = op.linkage.linkage.data
    words = [] if linkage == "external" and _has_value(op) else [linkage]
    words += ["dso_local"] if op.dso_local is not None else []
    visibility = op.properties.get("visibility_", op.attributes.get("visibility_"))
    words += [_visibility(op, visibility)]
    words += ["thread_local"] if op.thread_local_ is not None else []
    words += [_unnamed(op)]
    words += [f"addrspace({op.addr_space.value.data})"] if op.addr_space.value.data else []
    words.append("constant" if op.constant is not None else "global")
    try:
        words.append(_initial_value(op))
    except LoweringError as error:
        raise error if error.op is not None else LoweringError(op, error.message) from None
    tail = f', section "{escaped_bytes(op.section.data.encode())}"' if op.section else ""
    tail += f", align {op.alignment.value.data}" if op.alignment else ""
    return f"{symbol(op.sym_name.data)} = {' '.join(word for word in words if word)}{tail}"


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

"""Functions of the llvm dialect in C: what a program is that branches and calls, and the heap that its values are on.

Their blocks become labels, jumps become `goto`, arguments of blocks become variables that are set before the jump. A
word is unsigned, so that what wraps is defined; what is signed, a comparison or a quotient, says so. Constants,
and what is used once, are written where they are used. Only what `control_to_llvm` makes is known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.extensions.llvm import ICmpOp
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dominance import reached_blocks
from ...dialects.support.hints import isa
from .types import IN_HEADERS, Names
from .unit import ATOM, OTHER, PRODUCT, SUM, NoCounterpartError, Text, Unit

CALLABLE = IN_HEADERS | {"aligned_alloc", "realloc"}
"""What such functions call of the C library."""


class ControlText:
    """Writes one function of the llvm dialect. `calls` says what else it may call: of a name and the texts of the
    arguments, the text of the call."""

    def __init__(self, function: llvm.FuncOp, name: str, calls: Mapping[str, Callable[[Sequence[str]], str]]):
        self.function = function
        self.name = name
        self.calls = calls
        self.live = live_values(function)
        self.names = Names([name, *calls, *CALLABLE])
        self.values: dict[SSAValue, Text] = {}
        self.lines: list[str] = []
        self.labels = {block: f"b{number}" for number, block in enumerate(function.body.blocks)}
        self.starts: dict[Block, int] = {}
        """The lines that blocks begin at."""
        self.jumped_to: set[Block] = set()
        self.indent = "  "
        self.following: Block | None = None
        """The block that stands behind the one that is being written."""

    def write(self) -> str:
        """The function's definition.

        Raises:
            Diagnostic: an operation has no counterpart in C.
        """
        written = reached_blocks(self.function.body)
        first, *others = written
        for argument in first.args:
            self._name(argument)
        body = [f"static {self.signature()} {{"]
        body += [f"  (void){self.values[a].text};" for a in first.args if a not in self.live]
        for block in others:
            for value in [*block.args, *(r for op in block.ops for r in op.results if _is_shared(r))]:
                if value not in self.live:
                    continue
                body.append(f"  {c_type(value.type)}{self._name(value)};")
        for block, self.following in zip(written, [*written[1:], None], strict=True):
            self._block(block, block is not first)
        for block in self.jumped_to:
            self.lines[self.starts[block]] = f"{self.labels[block]}: {{"
        return "\n".join([*body, *self.lines, "}"])

    def signature(self) -> str:
        """The function's type and name."""
        types = self.function.function_type
        arguments = [f"{c_type(a.type)}{self.values[a].text}" for a in self.function.body.blocks[0].args]
        return f"{c_type(types.output)}{self.name}({', '.join(arguments) or 'void'})"

    def _name(self, value: SSAValue) -> str:
        name = self.names.new(value.name_hint or "v")
        self.values[value] = Text(name)
        return name

    def _line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def _block(self, block: Block, is_labelled: bool) -> None:
        if is_labelled:
            self.starts[block] = len(self.lines)
            self.lines.append("  {")
            self.indent = "    "
        for op in block.ops:
            rule = _RULES.get(op.name)
            if rule is None:
                raise NoCounterpartError.at(op, "has no counterpart in C")
            if op.name in _EFFECTS or not op.results or op.results[0] in self.live:
                rule(self, op)
        if is_labelled:
            self.indent = "  "
            self.lines.append("  }")

    # Values

    def _text(self, value: SSAValue, level: int = OTHER) -> str:
        return self.values[value].within(level)

    def _define(self, result: SSAValue, text: str, level: int = OTHER, *, is_pure: bool = True) -> None:
        """Give a value its text: where it is used, if that does not matter; else a variable's."""
        if result in self.values:
            self._line(f"{self.values[result].text} = {text};")
        elif is_pure and result.has_one_use() and len(text) <= _LONGEST:
            self.values[result] = Text(text, level)
        else:
            self._line(f"{c_type(result.type)}{self._name(result)} = {text};")

    def constant(self, op: llvm.ConstantOp) -> None:
        assert isinstance(op.value, IntegerAttr)
        number, width = op.value.value.data, _width(op.result.type)
        if width == 1:
            text = "true" if number else "false"
        else:
            text = str(number) if 0 <= number < 1 << 31 else f"(uint{width}_t){number}"
        self.values[op.result] = Text(text, ATOM if text[0] != "(" else PRODUCT)

    def null(self, op: llvm.ZeroOp) -> None:
        self.values[op.res] = Text("NULL")

    def arithmetic(self, op: Operation) -> None:
        sign, level = _SIGNS[op.name]
        lhs, rhs = op.operands
        inner = ATOM if level == OTHER else level
        if sign == "/":
            signed = f"(int64_t){self._text(lhs, ATOM)} / (int64_t){self._text(rhs, ATOM)}"
            return self._define(op.results[0], f"(uint64_t)({signed})", PRODUCT)
        self._define(op.results[0], f"{self._text(lhs, inner)} {sign} {self._text(rhs, min(inner + 1, ATOM))}", level)

    def compare(self, op: ICmpOp) -> None:
        predicate = op.predicate.value.data
        lhs, rhs = self._text(op.lhs, ATOM), self._text(op.rhs, ATOM)
        if 2 <= predicate <= 5:
            lhs, rhs = f"(int64_t){lhs}", f"(int64_t){rhs}"
        self._define(op.results[0], f"{lhs} {_TESTS[predicate]} {rhs}")

    def select(self, op: llvm.SelectOp) -> None:
        condition, yes, no = (self._text(value, ATOM) for value in op.operands)
        self._define(op.results[0], f"{condition} ? {yes} : {no}")

    def convert(self, op: Operation) -> None:
        value, result = op.operands[0], op.results[0]
        text = self._text(value, ATOM)
        match op:
            case llvm.SExtOp():
                text = f"(int{_width(value.type)}_t){text}"
                text = f"(uint64_t)(int64_t){text}"
            case llvm.IntToPtrOp():
                text = f"(char *)(uintptr_t){text}"
            case llvm.PtrToIntOp():
                text = f"(uint64_t)(uintptr_t){text}"
            case _:
                text = f"({c_type(result.type).strip()}){text}"
        self._define(result, text, PRODUCT)

    def address(self, op: llvm.GEPOp) -> None:
        """The address so many bytes, or words, on."""
        (at,) = op.rawConstantIndices.get_values()
        width = _width(op.elem_type) // 8
        if op.ssa_indices:
            (index,) = op.ssa_indices
            offset = self._text(index, SUM + 1) if width == 1 else f"{width} * {self._text(index, ATOM)}"
        elif at < 0:
            return self._define(op.result, f"{self._text(op.ptr, SUM)} - {-at * width}", SUM)
        else:
            offset = str(at * width)
        self._define(op.result, f"{self._text(op.ptr, SUM)} + {offset}", SUM)

    # Memory

    def reserve(self, op: llvm.AllocaOp) -> None:
        aligned = op.alignment.value.data if op.alignment is not None else 8
        self._line(f"_Alignas({aligned}) char {self._name(op.res)}[{self._text(op.size)}] = {{0}};")

    def load(self, op: llvm.LoadOp) -> None:
        self._define(op.dereferenced_value, self._place(op.ptr, op.dereferenced_value.type), is_pure=False)

    def store(self, op: llvm.StoreOp) -> None:
        self._line(f"{self._place(op.ptr, op.value.type)} = {self._text(op.value)};")

    def _place(self, pointer: SSAValue, type: Attribute) -> str:
        return f"*({c_type(type)}*)(void *){self._text(pointer, ATOM)}"

    def call(self, op: llvm.CallOp) -> None:
        assert op.callee is not None
        name = op.callee.root_reference.data
        arguments = [self._text(value) for value in op.args]
        if (written := self.calls.get(name)) is not None:
            text = written(arguments)
        elif name in CALLABLE:
            text = f"{name}({', '.join(arguments)})"
        else:
            raise NoCounterpartError.at(op, f"there is no function @{name} here to call")
        if op.results and op.results[0] in self.live:
            self._define(op.results[0], text, is_pure=False)
        else:
            self._line(f"{text};")

    # Jumps

    def jump(self, op: llvm.BrOp) -> None:
        for line in self._going(op.successors[0], op.operands):
            self._line(line)

    def jump_if(self, op: llvm.CondBrOp) -> None:
        then, otherwise = (
            self._going(op.successors[0], op.then_arguments),
            self._going(op.successors[1], op.else_arguments),
        )
        condition = self._text(op.cond)
        if not then:
            condition, then, otherwise = f"!({condition})", otherwise, then
        if len(then) == 1:
            self._line(f"if ({condition}) {then[0]}")
        elif then:
            self._line(f"if ({condition}) {{")
            for line in then:
                self._line(f"  {line}")
            self._line("}")
        for line in otherwise:
            self._line(line)

    def _going(self, to: Block, values: Sequence[SSAValue]) -> list[str]:
        """How to go to a block with values for its arguments; nothing where it comes next and has none."""
        given = [(argument, value) for argument, value in zip(to.args, values, strict=True) if argument in self.live]
        names = [self.values[argument].text for argument, _ in given]
        texts = [self._text(value) for _, value in given]
        lines: list[str] = []
        if len(names) > 1 and any(name in _WORD.findall(text) for text in texts for name in names):
            for position, ((argument, _), text) in enumerate(zip(given, texts, strict=True)):
                held = self.names.new("next")
                lines.append(f"{c_type(argument.type)}{held} = {text};")
                texts[position] = held
        lines += [f"{name} = {text};" for name, text in zip(names, texts, strict=True) if name != text]
        if to is self.following and not lines:
            return []
        self.jumped_to.add(to)
        return [*lines, f"goto {self.labels[to]};"]

    def leave(self, op: llvm.ReturnOp) -> None:
        self._line(f"return {self._text(op.arg)};" if op.arg is not None else "return;")

    def never(self, op: Operation) -> None:
        self._line("abort();")


def address_of(function: func.FuncOp, unit: Unit) -> int | None:
    """The number of the constant whose address a function gives, if that is what it does."""
    ops = list(function.body.block.ops)
    if not any(isinstance(op, memref.ExtractAlignedPointerAsIndexOp) for op in ops):
        return None
    held = next((op for op in ops if isinstance(op, memref.GetGlobalOp)), None)
    return None if held is None else unit.constant_number(held)


def c_type(type: Attribute) -> str:
    """A type in C, such that the name may follow.

    Raises:
        Diagnostic: C has none.
    """
    match type:
        case llvm.LLVMPointerType():
            return "char *"
        case llvm.LLVMVoidType():
            return "void "
        case IntegerType() if type.width.data in (1, 8, 32, 64):
            return "bool " if type.width.data == 1 else f"uint{type.width.data}_t "
        case _:
            raise Diagnostic(f"a value of type {type} has no type in C")


def live_values(function: llvm.FuncOp) -> set[SSAValue]:
    """The values of a function that what it does depends on."""
    given: dict[SSAValue, list[SSAValue]] = {}
    pending: list[SSAValue] = []
    for block in reached_blocks(function.body):
        for op in block.ops:
            match op:
                case llvm.BrOp():
                    jumps = [(op.successors[0], op.operands)]
                case llvm.CondBrOp():
                    jumps = list(zip(op.successors, (op.then_arguments, op.else_arguments), strict=True))
                    pending.append(op.cond)
                case _:
                    jumps = []
                    if op.name in _EFFECTS:
                        pending += op.operands
            for to, values in jumps:
                for argument, value in zip(to.args, values, strict=True):
                    given.setdefault(argument, []).append(value)
    live: set[SSAValue] = set()
    while pending:
        if (value := pending.pop()) not in live:
            live.add(value)
            owner = value.owner
            pending += given.get(value, []) if isinstance(owner, Block) else owner.operands
    return live


def _width(type: Attribute) -> int:
    if not isa(type, IntegerType):
        raise Diagnostic(f"{type} is no integer in C")
    return type.width.data


def _is_shared(value: SSAValue) -> bool:
    """Whether a value is used in another block than the one that makes it, and so stands in a variable of all."""
    if isinstance(value.owner, llvm.ConstantOp | llvm.ZeroOp | Block):
        return False
    return any(use.operation.parent is not value.owner.parent for use in value.uses)


_EFFECTS = frozenset({"llvm.store", "llvm.call", "llvm.return"})
"""Operations whose operands are needed, whoever uses what they give."""
_WORD = re.compile(r"\w+")
_LONGEST = 60
_TESTS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_SIGNS = {
    "llvm.add": ("+", SUM),
    "llvm.sub": ("-", SUM),
    "llvm.mul": ("*", PRODUCT),
    "llvm.sdiv": ("/", PRODUCT),
    "llvm.and": ("&", OTHER),
    "llvm.lshr": (">>", OTHER),
}
_RULES: dict[str, Callable[..., None]] = {
    llvm.ConstantOp.name: ControlText.constant,
    llvm.ZeroOp.name: ControlText.null,
    llvm.AddOp.name: ControlText.arithmetic,
    llvm.SubOp.name: ControlText.arithmetic,
    llvm.MulOp.name: ControlText.arithmetic,
    llvm.SDivOp.name: ControlText.arithmetic,
    llvm.AndOp.name: ControlText.arithmetic,
    llvm.LShrOp.name: ControlText.arithmetic,
    ICmpOp.name: ControlText.compare,
    llvm.SelectOp.name: ControlText.select,
    llvm.SExtOp.name: ControlText.convert,
    llvm.ZExtOp.name: ControlText.convert,
    llvm.IntToPtrOp.name: ControlText.convert,
    llvm.PtrToIntOp.name: ControlText.convert,
    llvm.GEPOp.name: ControlText.address,
    llvm.AllocaOp.name: ControlText.reserve,
    llvm.LoadOp.name: ControlText.load,
    llvm.StoreOp.name: ControlText.store,
    llvm.CallOp.name: ControlText.call,
    llvm.BrOp.name: ControlText.jump,
    llvm.CondBrOp.name: ControlText.jump_if,
    llvm.ReturnOp.name: ControlText.leave,
    llvm.UnreachableOp.name: ControlText.never,
}

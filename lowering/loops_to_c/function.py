"""One function of the `loops` phase as a function in C, statement by statement.

Values become variables, called as they are in the module; constants and arithmetic on indices, which are cheap, are
written where they are used. What nothing uses is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import cast

from xdsl.dialects import func, memref, scf, vector
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    VectorType,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects.extensions.llvm_loop_annotation import LOOP_ANNOTATION, HintAttr, LoopAnnotationAttr
from ...dialects.extensions.memref import PrefetchOp
from ...dialects.rt.calls import CallOp
from ...dialects.rt.checks import CheckOp, RecordOp, RecordType
from ...dialects.rt.constants import ConstantOp as HeldConstantOp
from ...dialects.rt.core import ShareOp, SlotsOp
from ...dialects.support.dense import array_of
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.core import memref_of
from ..abi import CONSTANTS_TABLE
from ..tir_to_loops.in_place import MAY_ALIAS
from . import scalars
from .types import IN_HEADERS, element, float_literal, int_literal, is_float, lanes, pointee, scalar
from .unit import ATOM, OTHER, PRODUCT, SUM, NoCounterpartError, Text, Unit, is_pure
from .vectors import VectorText

SHARES = 4
"""Shares of a loop for each thread, as the other targets have."""

_LONGEST = 60
"""Characters of an index that is written where it is used; a longer one becomes a variable."""


class FunctionText(VectorText):
    """Writes one function."""

    def __init__(self, unit: Unit, function: func.FuncOp):
        super().__init__(unit, function)
        self.parameters = [function.body.block.args[place] for place in unit.taken(function.sym_name.data)]

    def write(self) -> str:
        """The function's definition.

        Raises:
            Diagnostic: an operation has no counterpart in C.
        """
        for value in self.parameters:
            self.name(value)
        self.depth = 1
        self.block(self.function.body.block)
        return "\n".join([f"static {self.signature()} {{", *self.lines, "}"])

    def signature(self) -> str:
        """The function's type and name."""
        written = self.unit.written(self.function.sym_name.data)
        arguments = [self._parameter(value, value.index in written) for value in self.parameters]
        name = self.unit.functions[self.function.sym_name.data]
        head, indent = f"void {name}(", "    "
        one = head + (", ".join(arguments) or "void") + ")"
        if len(one) <= 100:
            return one
        return head + "\n" + indent + f",\n{indent}".join(arguments) + ")"

    def _parameter(self, value: BlockArgument, is_written: bool) -> str:
        name = self.values[value].text
        match value.type:
            case MemRefType():
                said = (self.function.arg_attrs or ArrayAttr([])).data[value.index : value.index + 1]
                aliases = any(MAY_ALIAS in attributes.data for attributes in said)
                restrict = "" if aliases or _shares(self.function) else "restrict "
                return f"{'' if is_written else 'const '}{pointee(value.type)} *{restrict}{name}"
            case RecordType():
                return f"int64_t *{name}"
            case _:
                return f"{scalar(value.type)} {name}"

    # text

    def block(self, block: Block) -> None:
        """The operations of a block; its terminator is whoever asks's."""
        for op in block.ops:
            if isinstance(op, scf.YieldOp | scf.ConditionOp | func.ReturnOp):
                if isinstance(op, func.ReturnOp) and op.operands:
                    raise Diagnostic("a function that returns values has no counterpart in C")
                continue
            self.statement(op)

    def statement(self, op: Operation) -> None:
        """One operation.

        Raises:
            Diagnostic: it has no counterpart in C.
        """
        if is_pure(op) and self.live.isdisjoint(op.results):
            return
        rule = _STATEMENTS.get(type(op))
        try:
            if rule is not None:
                rule(self, op)
            elif scalars.is_pure(op.name):
                self._compute(op)
            else:
                raise Diagnostic("has no counterpart in C")
        except NoCounterpartError:
            raise
        except Diagnostic as error:
            raise NoCounterpartError.at(op, error.message, hint=error.hint) from None

    def _compute(self, op: Operation) -> None:
        if len(op.results) != 1:
            raise Diagnostic("has no counterpart in C")
        result = op.results[0]
        if lanes(result.type):
            self.compute_lanes(op, result)
            return
        if isinstance(result.type, IndexType) and (sign := _INDEX_SIGNS.get(op.name)) is not None:
            level = PRODUCT if sign == "*" else SUM
            lhs, rhs = (self.values[value] for value in op.operands)
            match sign, lhs.text, rhs.text:
                case ("+", "0", _) | ("*", "1", _) | ("*", _, "0"):
                    text = rhs
                case ("+" | "-", _, "0") | ("*", _, "1") | ("*", "0", _):
                    text = lhs
                case _:
                    text = Text(f"{lhs.within(level)} {sign} {rhs.within(level + 1)}", level)
            if len(text.text) <= _LONGEST:
                self.values[result] = text
                return
            self.define(result, text.text)
            return
        operands = [scalars.widened(self.atom(value), value.type) for value in op.operands]
        self.define(result, scalars.narrowed(scalars.expression(op, operands), result.type))

    # vectors

    def loop(self, op: scf.ForOp) -> None:
        carried: list[str] = []
        for result, first in zip(op.results, op.iter_args, strict=True):
            name = self.name(result)
            self.line(f"{self.unit.vectors.of(result.type)} {name} = {self.whole(first)};")
            carried.append(name)
        variable, *arguments = op.body.block.args
        for argument, name in zip(arguments, carried, strict=True):
            self.values[argument] = Text(name)
        annotation = op.attributes.get(LOOP_ANNOTATION)
        hints = annotation.hints() if isinstance(annotation, LoopAnnotationAttr) else {}
        unroll = hints.get("unroll")
        if "parallelAccesses" in hints:
            self.line("WEFT_APART")
        elif annotation is not None and not (isinstance(unroll, HintAttr) and unroll.flag("disable")):
            self.line("WEFT_UNROLL")
        name = self.name(variable)
        low, high, step = self.whole(op.lb), self.values[op.ub].within(SUM), self.whole(op.step)
        advance = f"++{name}" if step == "1" else f"{name} += {step}"
        self.line(f"for (int64_t {name} = {low}; {name} < {high}; {advance}) {{")
        self._body(op.body.block, carried)
        self.line("}")

    def condition(self, op: scf.IfOp) -> None:
        names: list[str] = []
        for result in op.results:
            names.append(self.declare(result))
        self.line(f"if ({self.whole(op.cond)}) {{")
        self._body(op.true_region.block, names)
        if op.false_region.blocks:
            self.line("} else {")
            self._body(op.false_region.block, names)
        self.line("}")

    def _body(self, block: Block, names: Sequence[str]) -> None:
        """A block's operations, and what it yields put into variables."""
        self.depth += 1
        self.block(block)
        last = block.last_op
        if isinstance(last, scf.YieldOp) and names:
            given = [self.whole(value) for value in last.operands]
            if len(given) > 1 and any(text in names for text in given):
                held = [self.names.new("next") for _ in given]
                for name, value, text in zip(held, last.operands, given, strict=True):
                    self.line(f"{self.unit.vectors.of(value.type)} {name} = {text};")
                given = held
            for name, text in zip(names, given, strict=True):
                self.line(f"{name} = {text};")
        self.depth -= 1

    def call(self, op: func.CallOp) -> None:
        if op.results:
            raise Diagnostic("a call that gives values has no counterpart in C")
        callee = op.callee.root_reference.data
        arguments = [self.whole(op.operands[place]) for place in self.unit.taken(callee)]
        self.line(f"{self.unit.functions[callee]}({', '.join(arguments)});")

    def repeat(self, op: scf.WhileOp) -> None:
        """`scf.while` as an endless loop that is left where the condition does not hold."""
        before, after = op.before_region.block, op.after_region.block
        carried = [self.declare(argument) for argument in before.args]
        for name, value in zip(carried, op.arguments, strict=True):
            self.line(f"{name} = {self.whole(value)};")
        results = [self.declare(result) for result in op.results]
        self.line("for (;;) {")
        self.depth += 1
        self.block(before)
        end = before.last_op
        assert isinstance(end, scf.ConditionOp)
        for name, argument, value in zip(results, after.args, end.args, strict=True):
            self.line(f"{name} = {self.whole(value)};")
            self.values[argument] = Text(name)
        self.line(f"if (!{self.values[end.condition].within(ATOM)}) break;")
        self.depth -= 1
        self._body(after, carried)
        self.line("}")

    def call_extern(self, op: CallOp) -> None:
        """A call of a function that the program is linked with; what is declared says of it what the call does."""
        name = op.callee.data
        if name.startswith("llvm."):
            raise Diagnostic(f"the intrinsic '{name}' is LLVM's, and has no counterpart in C")
        types = [
            f"{pointee(memref_of(value))} *" if isinstance(value.type, MemRefType) else scalar(value.type)
            for value in op.arguments
        ]
        result = scalar(op.results[0].type) if op.results else "void"
        if name not in IN_HEADERS:
            self.unit.declare(name, f"extern {result} {name}({', '.join(types) or 'void'});")
        given = [self.whole(value) for value in op.arguments]
        given = [
            f"({type})({text})" if isinstance(value.type, MemRefType) else text
            for type, text, value in zip(types, given, op.arguments, strict=True)
        ]
        call = f"{name}({', '.join(given)})"
        if op.results and op.results[0] in self.live:
            self.define(op.results[0], call)
        else:
            self.line(f"(void){call};" if op.results else f"{call};")

    def subview(self, op: memref.SubviewOp) -> None:
        """Memory from an element on."""
        offsets = list(op.static_offsets.get_values())
        if len(offsets) != 1 or len(op.offsets) != 1:
            raise Diagnostic("a view of memory with several dimensions has no counterpart in C")
        if op.result in self.live:
            place = self.values[op.offsets[0]].within(SUM)
            self.line(f"{pointee(memref_of(op.source))} *{self.name(op.result)} = {self.atom(op.source)} + {place};")

    def share(self, op: ShareOp) -> None:
        if op.extent is None or op.threads is None:
            self.block(op.body.block)
            return
        extent, threads = self.values[op.extent].within(PRODUCT), self.values[op.threads].within(PRODUCT)
        shares, share = self.names.new("shares"), self.names.new("share")
        first, last = op.body.block.args
        self.line(f"int64_t {shares} = {threads} * {SHARES} < {extent} ? {threads} * {SHARES} : {extent};")
        self.line(f"WEFT_PARALLEL({threads})")
        self.line(f"for (int64_t {share} = 0; {share} < {shares}; ++{share}) {{")
        self.values[first] = Text(f"{share} * {extent} / {shares}", PRODUCT)
        self.values[last] = Text(f"({share} + 1) * {extent} / {shares}", PRODUCT)
        self._body(op.body.block, ())
        self.line("}")

    def record(self, op: RecordOp) -> None:
        if op.result not in self.live:
            return
        offset = op.offset.value.data
        self.line(f"int64_t *{self.name(op.result)} = (int64_t *)(void *)({self.atom(op.memory)} + {offset});")

    def check(self, op: CheckOp) -> None:
        at, given, record = (self.whole(value) for value in (op.at, op.given, op.record))
        if op.bound is not None:
            extent = self.atom(op.bound)
            extent = f"{extent} < 0 ? 0 : {extent}"
        else:
            assert op.extent is not None
            extent = str(op.extent.value.data)
        call = f"weft_check({at}, {given}, {extent}, {record}, {op.number.value.data})"
        if op.result in self.live:
            self.define(op.result, call)
        else:
            self.line(f"(void){call};")

    def nothing(self, op: Operation) -> None:
        """Counters are OpenMP's concern."""

    # memory

    def constant(self, op: ConstantOp) -> None:
        (result,) = op.results
        match op.value:
            case IntegerAttr():
                text = int_literal(op.value.value.data, result.type)
                self.values[result] = Text(text, OTHER if text.startswith("-") else ATOM)
            case FloatAttr():
                text = float_literal(op.value.value.data, result.type)
                self.values[result] = Text(text, OTHER if text[0] in "-(" else ATOM)
            case DenseIntOrFPElementsAttr() as dense if isinstance(result.type, VectorType):
                self._dense(result, dense)
            case _:
                raise Diagnostic(f"a constant given by {op.value} has no counterpart in C")

    def _dense(self, result: SSAValue, dense: DenseIntOrFPElementsAttr) -> None:
        if result not in self.live:
            return
        of, count = element(result.type), lanes(result.type)
        given = cast("Sequence[float]", dense.get_values())
        values = [*given] * (count if len(given) == 1 else 1)
        if all(value == 0 for value in values):
            self.define(result, "{0}")
            return
        if is_float(of):
            texts = [float_literal(float(value), of) for value in values]
        elif scalar(of) == "bool":
            texts = ["-1" if value else "0" for value in values]
        else:
            texts = [int_literal(int(value), of) for value in values]
        self.define(result, f"{{{', '.join(texts)}}}")

    def load(self, op: memref.LoadOp) -> None:
        self.define(op.res, self._element(op.memref, op.indices))

    def store(self, op: memref.StoreOp) -> None:
        self.line(f"{self._element(op.memref, op.indices)} = {self.whole(op.value)};")

    def prefetch(self, op: PrefetchOp) -> None:
        """GCC's and Clang's; an instruction is not asked for, since C has no address of one in memory."""
        write, locality = int(bool(op.isWrite)), op.localityHint.value.data
        self.line(f"__builtin_prefetch(&{self._element(op.memref, op.indices)}, {write}, {locality});")

    def _element(self, memory: SSAValue, indices: Sequence[SSAValue]) -> str:
        if len(indices) != 1:
            raise Diagnostic(f"an element of {memory.type} has {len(indices)} indices, and memory is flat here")
        return f"{self.atom(memory)}[{self.whole(indices[0])}]"

    def alloca(self, op: memref.AllocaOp) -> None:
        if op.memref not in self.live:
            return
        shape = memref_of(op.memref).get_shape()
        size = prod(shape)
        if any(extent < 0 for extent in shape):
            raise Diagnostic("memory of a size that is known only at run time has no counterpart in C")
        self.line(f"WEFT_ALIGNED {pointee(op.memref.type)} {self.name(op.memref)}[{max(1, size)}];")

    def held(self, op: HeldConstantOp) -> None:
        """Memory that holds constants from the start."""
        if op.result not in self.live:
            return
        of, values = op.value.type.element_type, array_of(op.value).reshape(-1)
        if isinstance(of, BFloat16Type):
            texts = [str(int(each)) for each in values.view("uint16")]
        else:
            texts = [float_literal(float(x), of) if is_float(of) else int_literal(int(x), of) for x in values]
        count = len(texts)
        name = self.name(op.result)
        self.line(f"static const {pointee(op.result.type)} {name}[{max(1, count)}] = {{{', '.join(texts) or '0'}}};")

    def get_global(self, op: memref.GetGlobalOp) -> None:
        if op.memref not in self.live:
            return
        number = self.unit.constant_number(op)
        name, of = self.name(op.memref), pointee(op.memref.type)
        self.line(f"const {of} *{name} = (const {of} *){CONSTANTS_TABLE}[{number}];")

    def view(self, op: memref.ViewOp) -> None:
        result = op.results[0]
        if result not in self.live:
            return
        name, of = self.name(result), pointee(result.type)
        source, shift = op.operands[0], op.operands[1]
        self.line(f"{of} *{name} = ({of} *)(void *)({self.atom(source)} + {self.values[shift].within(SUM)});")

    def same_memory(self, op: memref.CastOp | memref.ReinterpretCastOp) -> None:
        """Memory of which something else is said."""
        if isinstance(op, memref.ReinterpretCastOp) and (op.offsets or any(op.static_offsets.get_values())):
            raise Diagnostic("memory that begins elsewhere has no counterpart in C")
        self.values[op.results[0]] = self.values[op.operands[0]]

    def copy(self, op: memref.CopyOp) -> None:
        type, source = memref_of(op.source), op.source.owner
        size = str(prod(type.get_shape()))
        if DYNAMIC_INDEX in type.get_shape():
            if not isinstance(source, memref.ReinterpretCastOp) or len(source.sizes) != 1:
                raise Diagnostic("a copy of a size that nothing says has no counterpart in C")
            size = f"(size_t){self.values[source.sizes[0]].within(ATOM)}"
        to, given = self.whole(op.destination), self.whole(op.source)
        self.line(f"memcpy({to}, {given}, {size} * sizeof({pointee(type)}));")


_INDEX_SIGNS = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}

_STATEMENTS: dict[type[Operation], Callable[..., None]] = {
    ConstantOp: FunctionText.constant,
    memref.LoadOp: FunctionText.load,
    memref.StoreOp: FunctionText.store,
    PrefetchOp: FunctionText.prefetch,
    memref.AllocaOp: FunctionText.alloca,
    memref.GetGlobalOp: FunctionText.get_global,
    memref.ViewOp: FunctionText.view,
    memref.CopyOp: FunctionText.copy,
    memref.SubviewOp: FunctionText.subview,
    memref.CastOp: FunctionText.same_memory,
    memref.ReinterpretCastOp: FunctionText.same_memory,
    scf.WhileOp: FunctionText.repeat,
    CallOp: FunctionText.call_extern,
    HeldConstantOp: FunctionText.held,
    vector.LoadOp: FunctionText.vector_load,
    vector.StoreOp: FunctionText.vector_store,
    vector.MaskedLoadOp: FunctionText.masked_load,
    vector.MaskedStoreOp: FunctionText.masked_store,
    vector.BroadcastOp: FunctionText.broadcast,
    vector.CreateMaskOp: FunctionText.create_mask,
    vector.InsertOp: FunctionText.insert,
    vector.ShuffleOp: FunctionText.shuffle,
    vector.ReductionOp: FunctionText.reduction,
    scf.ForOp: FunctionText.loop,
    scf.IfOp: FunctionText.condition,
    func.CallOp: FunctionText.call,
    ShareOp: FunctionText.share,
    SlotsOp: FunctionText.nothing,
    RecordOp: FunctionText.record,
    CheckOp: FunctionText.check,
}


def _shares(function: func.FuncOp) -> bool:
    """Whether other threads may change what a function reads while it runs."""
    return any(isinstance(op, ShareOp | SlotsOp | func.CallOp) for op in function.body.walk())

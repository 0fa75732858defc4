"""The bodies of blocks as Python: statements, and expressions as trees.

Which values get a name, `x: T.float32 = ...`, `named_values` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, MemRefType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import is_side_effect_free

from ...support.diagnostics import Diagnostic
from ...support.dtypes import numpy_dtype
from ...support.interned import index
from ..asserts import AssertOp
from ..assumptions import AssumeOp, UndefOp
from ..blocks import BlockOp
from ..calls import AddressOfOp, CallOp, Convention
from ..checks import CheckOp
from ..dot import DotOp
from ..symbols import arguments_around
from . import words
from .counting import counted_by, is_zero
from .named_values import FLOAT_PREDICATES, INTEGER_PREDICATES, NamedValues, is_constant
from .texts import NOT, SIGN, Text, affine_text, free_python_name, infix, number, quoted

LONGEST = 20_000
"""An expression whose text is longer is refused."""

_INFIX: Mapping[str, str] = {
    op.name: words.SYMBOLS[symbol] for symbol, ops in words.BINARY.items() for op in ops[:2] if op is not None
}
_CALLS: Mapping[str, str] = {
    **{op.name: name for name, ops in words.CALLS.items() for op in ops[:2] if op is not None},
    **{op.name: name for name, ops in words.UNARY.items() for op in ops if op is not None},
}


class BodyPrinter:
    """Prints the body or the init of one block."""

    def __init__(self, block: BlockOp, region: Region, names: Mapping[SSAValue, str], taken: set[str]):
        self.block = block
        self.region = region
        self.names = dict(names)
        self.taken: set[str] = set(taken)
        self.symbols = [self.names.get(v, "") for v in arguments_around(block)]
        self.iter_names = [self.names[v] for v in region.block.args]
        self.values = NamedValues(block, region)
        self.named = self.values.named

    def lines(self) -> list[str]:
        """The statements; none where there is nothing to say.

        Raises:
            Diagnostic: something has no form in TVMScript.
        """
        return self._statements(self.region.block)

    # statements

    def _statements(self, block: Block) -> list[str]:
        lines: list[str] = []
        for op in block.ops:
            match op:
                case memref.StoreOp():
                    buffer = self._element(op.memref, op.indices)
                    lines.append(f"{buffer} = {self._stored(op)}")
                case scf.IfOp() if not op.results:
                    lines += self._branch(op)
                case scf.WhileOp():
                    lines += self._while(op)
                case AssertOp():
                    lines.append(f"assert {self.text(op.condition)}, {quoted(op.text.data)}")
                case AssumeOp():
                    lines.append(f"T.evaluate(T.assume({self.text(op.condition)}))")
                case CallOp() if not any(result.uses for result in op.results):
                    lines.append(f"T.evaluate({self._own(op)})")
                case scf.YieldOp():
                    pass
                case CheckOp() if not op.result.uses:
                    lines.append(f"T.evaluate({self._own(op)})")
                case _ if self.values.is_read_for_nothing(op):
                    lines.append(f"T.evaluate({self._own(op, op.results[0])})")
                case _:
                    lines += self._value_statement(op)
        return lines

    def _stored(self, op: memref.StoreOp) -> Text:
        """What is stored; an integer that an index is made to fit the buffer needs no cast."""
        value = op.value
        if isinstance(value.owner, arith.IndexCastOp) and value.owner.input.type == index and value not in self.named:
            return self.text(value.owner.input)
        return self.text(value)

    def _value_statement(self, op: Operation) -> list[str]:
        if not isinstance(op, memref.LoadOp | CheckOp | scf.IfOp | CallOp) and not is_side_effect_free(op):
            if not op.name.startswith(("arith.", "math.")):
                raise Diagnostic.at(op, "has no form in TVMScript")
        lines: list[str] = []
        for result in op.results:
            if result in self.named:
                text = self._own(op, result)
                name = free_python_name(result.name_hint or f"v{len(self.names)}", self.taken)
                lines.append(f"{name}: T.{self._type(op, result.type)} = {text}")
                self.names[result] = name
                self.taken.add(name)
        return lines

    def _while(self, op: scf.WhileOp) -> list[str]:
        if (loop := counted_by(op)) is not None:
            return self._count(op, *loop)
        if op.operands or op.results:
            raise Diagnostic.at(
                op, "has no form in TVMScript with values that it carries", hint="keep them in a buffer"
            )
        condition = op.before_region.block.last_op
        assert isinstance(condition, scf.ConditionOp)
        for inner in op.before_region.block.ops:
            if inner is not condition and not (isinstance(inner, memref.LoadOp) or is_side_effect_free(inner)):
                if not isinstance(inner, CallOp) or not inner.is_pure:
                    raise Diagnostic.at(inner, "stands in a loop's condition, which TVMScript has no form for")
        names, taken = dict(self.names), set(self.taken)
        lines = [f"while {self.text(condition.condition)}:"]
        inner_lines = self._statements(op.after_region.block)
        self.names, self.taken = names, taken
        return lines + [f"    {line}" for line in inner_lines or ["pass"]]

    def _count(self, op: scf.WhileOp, low: SSAValue, end: SSAValue) -> list[str]:
        """`for i in range(n):`."""
        (index_here,) = op.after_region.block.args
        names, taken = dict(self.names), set(self.taken)
        name = free_python_name(index_here.name_hint or "i", self.taken)
        start = "" if is_zero(low) else f"{self.text(low)}, "
        lines = [f"for {name} in range({start}{self.text(end)}):"]
        self.names[index_here] = name
        self.taken.add(name)
        inner = self._statements(op.after_region.block)
        self.names, self.taken = names, taken
        return lines + [f"    {line}" for line in inner or ["pass"]]

    def _call(self, op: CallOp) -> Text:
        """A call out of the block."""
        effects = iter(op.effects)
        given: list[str] = []
        for value in op.arguments:
            if not isinstance(value.type, MemRefType):
                given.append(
                    self._standing_alone(value) if value.type != index else f'T.cast({self.text(value)}, "index")'
                )
                continue
            mask = next(effects).data
            if isinstance(value.owner, AddressOfOp):
                given.append(f'T.address_of({self._element(value.owner.memref, value.owner.indices)}, "{mask}")')
            else:
                given.append(f'{self.names[value]}.access_ptr("{mask}")')
        dtype = self._type(op, op.results[0].type) if op.results else ""
        name = quoted(op.callee.data)
        if op.kind == Convention.PACKED:
            last = [f'dtype="{dtype}"'] if dtype else []
            return Text(f"T.call_packed({', '.join([name, *given, *last])})")
        word = "call_llvm" if op.kind == Convention.INTRIN else "call"
        word += "_pure" if op.is_pure else ""
        word += "_intrin" if op.kind == Convention.INTRIN else "_extern"
        return Text(f"T.{word}({', '.join([quoted(dtype), name, *given])})")

    def _branch(self, op: scf.IfOp) -> list[str]:
        lines = [f"if {self.text(op.cond)}:"]
        for region, word in ((op.true_region, None), (op.false_region, "else:")):
            if not region.blocks and word is not None:
                continue
            names, taken = dict(self.names), set(self.taken)
            inner = self._statements(region.block) if region.blocks else []
            self.names, self.taken = names, taken
            if word is not None and not inner:
                continue
            lines += ([word] if word is not None else []) + [f"    {line}" for line in inner or ["pass"]]
        return lines

    # expressions

    def text(self, value: SSAValue) -> Text:
        """A value as an expression."""
        if value in self.names:
            return Text(self.names[value])
        if (affine := self.values.affine(value)) is not None and not isinstance(value.owner, arith.ConstantOp):
            return affine_text(affine, self.iter_names, self.symbols)
        if not isinstance(value, OpResult):
            raise Diagnostic.at(self.block, "its body uses a value from outside that is no buffer")
        result = self._own(value.op, value)
        if len(result.text) > LONGEST:
            raise Diagnostic.at(value.op, "is part of an expression that is too long for TVMScript")
        return result

    def _index(self, value: SSAValue) -> str:
        """An index: integers are cast to one by themselves."""
        if value not in self.names and isinstance(cast := value.owner, arith.IndexCastOp):
            if cast.input.type not in (i1, index):
                return self.text(cast.input).text
        if isinstance(value.owner, arith.ConstantOp) and value not in self.names:
            assert isinstance(value.owner.value, IntegerAttr)
            return str(value.owner.value.value.data)
        return self.text(value).text

    def _element(self, buffer: SSAValue, indices: Sequence[SSAValue]) -> Text:
        return Text(f"{self.names[buffer]}[{', '.join(self._index(each) for each in indices) or '()'}]")

    def _own(self, op: Operation, result: SSAValue | None = None) -> Text:
        """The expression of an operation, whether or not its result has a name."""
        match op:
            case arith.ConstantOp():
                return self._constant(op)
            case memref.LoadOp():
                return self._element(op.memref, op.indices)
            case CheckOp():
                at, given = self._index(op.at), self._index(op.given)
                end = str(op.limit) if isinstance(op.limit, int) else self._index(op.limit)
                return Text(f"T.check({at}, {given}, {end}, {op.text.data!r})")
            case DotOp():
                return self._dot(op)
            case UndefOp():
                return Text(f'T.undef(dtype="{self._type(op, op.result.type)}")')
            case CallOp():
                return self._call(op)
            case scf.IfOp() if isinstance(result, OpResult):
                return self._choice(op, result.index)
            case _ if len(op.results) == 1 and words.is_usual(op) and (text := self._usual(op)) is not None:
                return text
            case _:
                return self._spelled(op)

    def _dot(self, op: DotOp) -> Text:
        sides = (f"[{', '.join(self.text(v).text for v in side)}]" for side in (op.lhs, op.rhs))
        flags = [
            f"{side}_unsigned=True" for side, unsigned in zip(("lhs", "rhs"), op.unsigned, strict=True) if unsigned
        ]
        return Text(f"T.dot({', '.join([self.text(op.acc).text, *sides, *flags])})")

    def _choice(self, op: scf.IfOp, number: int) -> Text:
        sides: list[str] = []
        for region in (op.true_region, op.false_region):
            for inner in region.block.ops:
                if isinstance(inner, memref.StoreOp) or (isinstance(inner, scf.IfOp) and not inner.results):
                    raise Diagnostic.at(inner, "stands in a branch with a result, which TVMScript has no form for")
            end = region.block.last_op
            assert isinstance(end, scf.YieldOp)
            sides.append(self._standing_alone(end.operands[number]))
        return Text(f"T.if_then_else({self.text(op.cond)}, {', '.join(sides)})")

    def _constant(self, op: arith.ConstantOp) -> Text:
        value, type = op.value, op.result.type
        if isinstance(value, FloatAttr):
            return Text(f"T.{self._type(op, type)}({_float_text(value)})")
        if not isinstance(value, IntegerAttr):
            raise Diagnostic.at(op, "has no form in TVMScript", hint="constants are scalars there")
        data = value.value.data
        if type == i1:
            return Text(str(bool(data)))
        return number(data) if type == i32 else Text(f"T.{self._type(op, type)}({data})")

    def _type(self, op: Operation, type: Attribute) -> str:
        try:
            return words.type_name(type)
        except TypeError as error:
            raise Diagnostic.at(op, f"has no form in TVMScript: {error}") from error

    def _standing_alone(self, value: SSAValue) -> str:
        """A value where no other one gives a literal its type."""
        return self.text(value).text

    def _pair(self, op: Operation) -> tuple[Text, Text]:
        """Two operands; a literal takes the type of the other one, and of two literals the first says its own."""
        left, right = op.operands
        if left.type == i32 and all(isinstance(v.owner, arith.ConstantOp) and v not in self.names for v in op.operands):
            return Text(f"T.int32({self.text(left)})"), self.text(right)
        return self._beside(left, right), self._beside(right, left)

    def _beside(self, value: SSAValue, other: SSAValue) -> Text:
        if value not in self.names and isinstance(value.owner, arith.ConstantOp) and value.type == index:
            if not isinstance(other.owner, arith.ConstantOp):
                assert isinstance(value.owner.value, IntegerAttr)
                return number(value.owner.value.value.data)
        return self.text(value)

    def _usual(self, op: Operation) -> Text | None:
        """An operation that the tables have a word for, if it is one that the word gives."""
        match op:
            case arith.NegfOp():
                return Text(f"-{self.text(op.operand).within(SIGN)}", SIGN)
            case arith.XOrIOp() if op.lhs.type == i1 and is_constant(op.rhs, (1, -1)):
                return Text(f"not {self.text(op.lhs).within(NOT)}", NOT)
            case arith.AndIOp() | arith.OrIOp() if op.lhs.type == i1:
                return infix("and" if isinstance(op, arith.AndIOp) else "or", *self._pair(op))
            case arith.CmpiOp() | arith.CmpfOp():
                return self._comparison(op)
            case arith.SelectOp():
                return self._select(op)
            case arith.FloorDivSIOp() if not self.values.is_without_sign(op):
                return infix("//", *self._pair(op))
            case arith.DivUIOp() | arith.RemUIOp() if self.values.is_without_sign(op):
                return infix("//" if isinstance(op, arith.DivUIOp) else "%", *self._pair(op))
            case arith.MaximumfOp() | arith.MinimumfOp() if any(
                isinstance(each.owner, arith.ConstantOp) for each in op.operands
            ):
                return None  # the word stands for a comparison and a selection then
            case arith.BitcastOp():
                return Text(f'T.reinterpret("{self._type(op, op.result.type)}", {self.text(op.input)})')
            case _:
                return self._by_table(op)

    def _by_table(self, op: Operation) -> Text | None:
        if (symbol := _INFIX.get(op.name)) is not None:
            return infix(symbol, *self._pair(op))
        if (name := _CALLS.get(op.name)) is not None:
            if op.name in ("arith.minsi", "arith.maxsi", "math.ipowi") and op.operands[0].type == i1:
                return None
            operands = self._pair(op) if len(op.operands) == 2 else [self.text(v) for v in op.operands]
            return Text(f"T.{name}({', '.join(str(each) for each in operands)})")
        if len(op.operands) == 1 and len(op.results) == 1:
            inner = op.operands[0].owner
            if isinstance(op, arith.SIToFPOp) and isinstance(inner, arith.IndexCastOp) and inner.input.type == index:
                if op.input.type == i64 and op.input not in self.names:  # what the cast of an index is made of
                    return Text(f'T.cast({self.text(inner.input)}, "{self._type(op, op.result.type)}")')
            source, target = op.operands[0].type, op.results[0].type
            if type(op) is words.conversion(source, target, False, False):
                return Text(f'T.cast({self.text(op.operands[0])}, "{self._type(op, target)}")')
        return None

    def _comparison(self, op: arith.CmpiOp | arith.CmpfOp) -> Text | None:
        predicate = op.predicate.value.data
        if isinstance(op, arith.CmpfOp) and FLOAT_PREDICATES[predicate] == "uno" and op.lhs is op.rhs:
            return Text(f"T.isnan({self.text(op.lhs)})")
        for symbol, (floats, signed, unsigned) in words.COMPARE.items():
            if isinstance(op, arith.CmpfOp):
                usual = floats == FLOAT_PREDICATES[predicate]
            else:
                usual = (unsigned if op.lhs.type == i1 else signed) == INTEGER_PREDICATES[predicate]
            if usual:
                return infix(words.COMPARE_SYMBOLS[symbol], *self._pair(op))
        return None

    def _select(self, op: arith.SelectOp) -> Text:
        word = None if op.cond in self.names else words.chosen_extremum(op)
        if word is not None:
            return Text(f"T.{word}({self.text(op.rhs)}, {self.text(op.lhs)})")
        sides = self._beside(op.lhs, op.rhs), self._beside(op.rhs, op.lhs)
        return Text(f"T.Select({self.text(op.cond)}, {sides[0]}, {sides[1]})")

    def _spelled(self, op: Operation) -> Text:
        """An operation by its own name."""
        if op.name not in words.SPELLED or len(op.results) != 1 or op.attributes:
            raise Diagnostic.at(op, "has no form in TVMScript")
        arguments = [self._standing_alone(each) for each in op.operands]
        for name, value in op.properties.items():
            if name == "predicate" and isinstance(value, IntegerAttr):
                texts = FLOAT_PREDICATES if isinstance(op, arith.CmpfOp) else INTEGER_PREDICATES
                arguments.insert(0, repr(texts[value.value.data]).replace("'", '"'))
            elif name == "fastmath":
                if value != words.usual_flags(op):
                    arguments.append(f'fastmath="{str(value).partition("<")[2].rstrip(">")}"')
            elif not words.is_usual(op):
                raise Diagnostic.at(op, f"has no form in TVMScript with {name} = {value}")
        if len(op.operands) == 1 and op.operands[0].type != op.results[0].type:
            arguments.append(f'dtype="{self._type(op, op.results[0].type)}"')
        return Text(f"T.{op.name}({', '.join(arguments)})")


def element_text(value: np.generic) -> str:
    """A number of a constant so that reading it gives the same bits."""
    if value.dtype.kind in "biu":
        return str(int(value))
    wide = float(value)
    return repr(wide) if abs(wide) < float("inf") else f'float("{wide}")'


def _float_text(value: FloatAttr[AnyFloat]) -> str:
    """A float so that reading it gives the same bits."""
    data = value.value.data
    if data != data:
        return '"nan"'
    if data in (float("inf"), float("-inf")):
        return f'"{data}"'
    try:
        short = str(np.array(data).astype(numpy_dtype(value.type)))
    except TypeError:
        return repr(data)
    exact = FloatAttr(float(short), value.type).value.data == data
    text = short if exact else repr(data)
    return text.removesuffix(".0") if text not in ("-0.0",) else text
